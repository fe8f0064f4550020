/* ace_build.c -- from operations to calls: what they depend on, the calls, what persists them. */
#include "crash/ace_build.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "crash/ace_need.h"
#include "workload/workload.h"

enum { SETUP_MAX = 64, RUN_MAX = 192 };
/* The only mapping at a time. */
enum { MAP_FIRST = 1 };

/* Operations. Each says in the name of the workload what it does. */

typedef void operation(struct ace_builder *b, const struct ace_use *use);

static void say_mode(struct ace_builder *b, int64_t mode)
{
	if (b->values->wide)
		buf_addf(b->name, " 0%03o", (unsigned)mode);
}

static void say_extent(struct ace_builder *b, const struct ace_use *use, struct ace_extent extent)
{
	if (use->mode)
		buf_addf(b->name, " %s", use->mode->name);
	if (!b->values->wide)
		buf_addf(b->name, " %s", use->range->name);
	else if (use->op == ACE_OP_truncate)
		buf_addf(b->name, " %llu", (unsigned long long)extent.length);
	else
		buf_addf(b->name, " %llu at %llu", (unsigned long long)extent.length,
			 (unsigned long long)extent.offset);
}

static void say_flags(struct ace_builder *b, int64_t flags)
{
	static const struct {
		int64_t flag;
		const char *name;
	} names[] = { { O_APPEND, "append" }, { O_TRUNC, "trunc" } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (flags & names[i].flag)
			buf_addf(b->name, " o_%s", names[i].name);
	if (flags & O_DSYNC)
		buf_adds(b->name, (flags & O_SYNC) == O_SYNC ? " o_sync" : " o_dsync");
}

static void build_creat(struct ace_builder *b, const struct ace_use *use)
{
	const char *path = ace_paths[use->paths[0]].text;
	int64_t flags = values_flags(b->values), mode = values_mode(b->values, ACE_FILE_MODE);
	struct ace_name *name;

	ace_need_absent(b, path);
	name = files_add_file(&b->files, path);
	ace_fd_open(b, name, O_RDWR | O_CREAT | flags, mode);
	name->flags = flags;
	say_flags(b, flags);
	say_mode(b, mode);
}

static void build_mkdir(struct ace_builder *b, const struct ace_use *use)
{
	const char *path = ace_paths[use->paths[0]].text;
	int64_t mode = values_mode(b->values, ACE_DIR_MODE);

	ace_need_absent(b, path);
	ace_add_mkdir(b, &b->run, path, mode);
	files_add_dir(&b->files, path);
	say_mode(b, mode);
}

/* The file of an operation on data, with as many bytes as that needs. */
static struct ace_name *need_bytes(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = ace_need_file(b, ace_paths[use->paths[0]].text);
	uint64_t needs = ace_ops[use->op].needs;

	ace_need_data(b, name, needs > use->range->needs ? needs : use->range->needs);
	return name;
}

/* The same, opened for the operation. */
static struct ace_name *need_open_bytes(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	int64_t flags = values_flags(b->values);

	ace_name_reopen(b, name, flags);
	say_flags(b, flags);
	return name;
}

static void file_grow(struct ace_builder *b, const struct ace_name *name, uint64_t end)
{
	struct ace_file *file = ace_file_of(b, name);

	if (file->size < end)
		file->size = end;
}

static void build_falloc(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, ace_file_of(b, name)->size);
	struct call *call = ace_run_add(b, OP_fallocate);

	call->fallocate.fd = ace_num(name->fd);
	call->fallocate.mode = ace_num(use->mode->mode);
	call->fallocate.offset = ace_num((int64_t)extent.offset);
	call->fallocate.length = ace_num((int64_t)extent.length);
	if (!(use->mode->mode & FALLOC_FL_KEEP_SIZE))
		file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

/* On Linux, pwrite appends where the file was opened so. */
static void build_write(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	uint64_t size = ace_file_of(b, name)->size;
	struct ace_extent extent = values_extent(b->values, use, size);
	struct call *call = ace_run_add(b, OP_pwrite);

	if (name->flags & O_APPEND)
		extent.offset = size;
	call->pwrite.fd = ace_num(name->fd);
	call->pwrite.data = values_data(b->values, extent.length);
	call->pwrite.count = ace_num((int64_t)extent.length);
	call->pwrite.offset = ace_num((int64_t)extent.offset);
	file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

static void build_dwrite(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, ace_file_of(b, name)->size);
	struct call *call = ace_run_add(b, OP_direct_write);

	call->direct_write.path = ace_text(b, name->path);
	call->direct_write.data = values_data(b->values, extent.length);
	call->direct_write.count = ace_num((int64_t)extent.length);
	call->direct_write.offset = ace_num((int64_t)extent.offset);
	file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

/* A store behind the end of the file would be a SIGBUS. The mapping stays until it is clear how the
 * data is persisted. */
static void build_mmapwrite(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, ace_file_of(b, name)->size);
	uint64_t end = extent.offset + extent.length;
	struct call *call;

	if (ace_file_of(b, name)->size < end) {
		call = ace_run_add(b, OP_ftruncate);
		call->ftruncate.fd = ace_num(name->fd);
		call->ftruncate.length = ace_num((int64_t)end);
		file_grow(b, name, end);
	}
	call = ace_run_add(b, OP_mmap);
	call->mmap.length = ace_num((int64_t)end);
	call->mmap.prot = ace_num(PROT_READ | PROT_WRITE);
	call->mmap.flags = ace_num(MAP_SHARED);
	call->mmap.fd = ace_num(name->fd);
	call = ace_run_add(b, OP_map_write);
	call->map_write.map = ace_num(MAP_FIRST);
	call->map_write.data = values_data(b->values, extent.length);
	call->map_write.count = ace_num((int64_t)extent.length);
	call->map_write.offset = ace_num((int64_t)extent.offset);
	b->mapped = end;
	say_extent(b, use, extent);
}

static void build_link(struct ace_builder *b, const struct ace_use *use)
{
	const char *from = ace_paths[use->paths[0]].text, *to = ace_paths[use->paths[1]].text;
	unsigned file = ace_need_file(b, from)->file;
	struct call *call;

	ace_need_absent(b, to);
	call = ace_run_add(b, OP_link);
	call->link.from = ace_text(b, from);
	call->link.to = ace_text(b, to);
	files_add_link(&b->files, to, file);
}

static void build_unlink(struct ace_builder *b, const struct ace_use *use)
{
	ace_name_remove(b, ace_need_file(b, ace_paths[use->paths[0]].text));
}

/* By what it does the same as unlink. Here the file is open meanwhile, and stays so: if that was
 * its last name, the file system has an orphan inode when it crashes. */
static void build_remove(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = ace_need_file(b, ace_paths[use->paths[0]].text);
	struct call *call;

	ace_name_fd(b, name);
	call = ace_run_add(b, OP_unlinkat);
	call->unlinkat.dirfd = ace_num(AT_FDCWD);
	call->unlinkat.path = ace_text(b, name->path);
	name->exists = false;
}

/* Of two names of one file, rename leaves both. */
static void build_rename(struct ace_builder *b, const struct ace_use *use)
{
	const char *from = ace_paths[use->paths[0]].text, *to = ace_paths[use->paths[1]].text;
	bool is_dir = ace_is_dir(use->paths[0]);
	struct ace_name *name = is_dir ? ace_need_dir(b, from) : ace_need_file(b, from);
	struct ace_name *replaced;
	struct call *call;

	ace_need_parent(b, to);
	if (is_dir)
		ace_need_empty(b, to);
	replaced = files_find(&b->files, to);
	ace_name_close(b, name);
	if (replaced)
		ace_name_close(b, replaced);
	call = ace_run_add(b, OP_rename);
	call->rename.from = ace_text(b, from);
	call->rename.to = ace_text(b, to);
	if (is_dir || !replaced || replaced->file != name->file)
		files_rename(&b->files, from, to);
}

static void build_fsetxattr(struct ace_builder *b, const struct ace_use *use)
{
	ace_set_xattr(b, ace_need_file(b, ace_paths[use->paths[0]].text));
}

static void build_removexattr(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = ace_need_file(b, ace_paths[use->paths[0]].text);
	struct call *call;

	ace_need_xattr(b, name);
	call = ace_run_add(b, OP_removexattr);
	call->removexattr.path = ace_text(b, name->path);
	call->removexattr.name = ace_text(b, ace_xattr_name);
	ace_file_of(b, name)->has_xattr = false;
}

static void build_truncate(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, ace_file_of(b, name)->size);
	struct call *call = ace_run_add(b, OP_truncate);

	call->truncate.path = ace_text(b, name->path);
	call->truncate.length = ace_num((int64_t)extent.length);
	ace_file_of(b, name)->size = extent.length;
	say_extent(b, use, extent);
}

static operation *const operations[ACE_OPS] = {
#define ACE_OP(name, first, second, modes, ranges, align, needs) build_##name,
#include "crash/ace.def"
};

/* Persistence. */

static void mapping_end(struct ace_builder *b)
{
	if (b->mapped)
		ace_run_add(b, OP_munmap)->munmap.map = ace_num(MAP_FIRST);
	b->mapped = 0;
}

static void persist_mapping(struct ace_builder *b, enum ace_path path)
{
	struct call *call = ace_run_add(b, OP_msync);

	call->msync.map = ace_num(MAP_FIRST);
	call->msync.length = ace_num((int64_t)b->mapped);
	call->msync.flags = ace_num(MS_SYNC);
	buf_addf(b->name, ", msync %s", ace_paths[path].text);
}

static void persist_path(struct ace_builder *b, enum ace_path path)
{
	const char *text = ace_paths[path].text;
	struct ace_name *name = ace_is_dir(path) ? ace_need_dir(b, text) : ace_need_file(b, text);
	int64_t fd = ace_name_fd(b, name);
	enum op op = !name->is_dir && values_fdatasync(b->values) ? OP_fdatasync : OP_fsync;

	ace_run_add(b, op)->arg[0] = ace_num(fd);
	buf_addf(b->name, ", %s %s", op_table[op].name, text);
}

static void build_persist(struct ace_builder *b, const struct ace_step *step)
{
	if (step->persist == ACE_SYNC) {
		ace_run_add(b, OP_sync);
		buf_adds(b->name, ", sync");
	} else if (b->mapped && step->persist == step->use.paths[0]) {
		persist_mapping(b, step->use.paths[0]);
	} else if (step->persist != ACE_NOTHING) {
		persist_path(b, step->persist);
	}
	mapping_end(b);
}

static struct ace_name *name_of(struct ace_builder *b, enum ace_path path)
{
	return files_find(&b->files, ace_paths[path].text);
}

/* What was used is no longer as the setup has made it. */
static void mark_used(struct ace_builder *b, unsigned path)
{
	struct ace_name *name = path < ACE_PATHS ? name_of(b, path) : NULL;

	if (name && !name->is_dir)
		ace_file_of(b, name)->used = true;
}

static void build_step(struct ace_builder *b, const struct ace_step *step)
{
	const struct ace_use *use = &step->use;

	buf_adds(b->name, ace_ops[use->op].name);
	for (size_t i = 0; i < ARRAY_LEN(use->paths); i++)
		if (use->paths[i] != ACE_NO_PATH)
			buf_addf(b->name, " %s", ace_paths[use->paths[i]].text);
	operations[use->op](b, use);
	mark_used(b, use->paths[0]);
	mark_used(b, use->paths[1]);
	build_persist(b, step);
	mark_used(b, step->persist);
}

static void builder_close_all(struct ace_builder *b)
{
	for (int fd = 0; fd < ACE_FDS_MAX; fd++)
		if (b->files.fd_is_open[fd])
			ace_fd_close(b, fd);
}

void ace_build(const struct ace_skeleton *skeleton, struct ace_values *values, struct arena *arena,
	       struct buf *name, struct workload *ret)
{
	struct call setup[SETUP_MAX], run[RUN_MAX], *calls;
	struct ace_builder b = {
		.values = values,
		.arena = arena,
		.name = name,
		.setup = { .calls = setup, .cap = ARRAY_LEN(setup) },
		.run = { .calls = run, .cap = ARRAY_LEN(run) },
		.in_place = skeleton->in_place,
	};

	files_init(&b.files);
	for (unsigned i = 0; i < skeleton->length; i++) {
		if (i)
			buf_adds(name, ", ");
		build_step(&b, &skeleton->steps[i]);
	}
	builder_close_all(&b);
	if (b.setup.count)
		ace_calls_add(&b.setup, OP_sync);
	ret->setup_count = b.setup.count;
	ret->count = b.setup.count + b.run.count;
	calls = arena_alloc(arena, ret->count * sizeof(*calls));
	memcpy(calls, setup, b.setup.count * sizeof(*calls));
	memcpy(calls + b.setup.count, run, b.run.count * sizeof(*calls));
	ret->calls = calls;
}
