/* ace_build.c -- from operations to calls: what they depend on, the calls, what persists them. */
#include "crash/ace_build.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "crash/ace_files.h"
#include "crash/workload.h"

enum { SETUP_MAX = 64, RUN_MAX = 192, FILE_MODE = 0644, DIR_MODE = 0755 };
/* The only mapping at a time. */
enum { MAP_FIRST = 1 };

static const char xattr_name[] = "user.ace";

struct ace_calls {
	struct call *calls;
	size_t count, cap;
};

struct ace_builder {
	struct ace_files files;
	struct ace_values *values;
	struct arena *arena;
	struct buf *name;
	struct ace_calls setup, run;
	bool in_place;
	uint64_t mapped; /* bytes of the mapping; 0: there is none */
};

static struct arg arg_num(int64_t num)
{
	return (struct arg){ .num = num };
}

static struct arg arg_text(struct ace_builder *b, const char *text)
{
	return (struct arg){ .text = arena_strdup(b->arena, text), .len = (uint32_t)strlen(text) };
}

static struct call *list_add(struct ace_calls *list, enum op op)
{
	struct call *call;

	must(list->count < list->cap);
	call = &list->calls[list->count++];
	*call = (struct call){ .op = (uint16_t)op, .pid = 1 };
	return call;
}

static struct call *run_add(struct ace_builder *b, enum op op)
{
	return list_add(&b->run, op);
}

static void add_mkdir(struct ace_builder *b, struct ace_calls *list, const char *path, int64_t mode)
{
	struct call *call = list_add(list, OP_mkdir);

	call->mkdir.path = arg_text(b, path);
	call->mkdir.mode = arg_num(mode);
}

static struct ace_file *file_of(struct ace_builder *b, const struct ace_name *name)
{
	return &b->files.files[name->file];
}

static struct ace_name *name_of(struct ace_builder *b, enum ace_path path)
{
	return files_find(&b->files, ace_paths[path].text);
}

/* Descriptors. */

static void fd_open(struct ace_builder *b, struct ace_name *name, int64_t flags, int64_t mode)
{
	struct call *call = run_add(b, OP_open);

	call->open.path = arg_text(b, name->path);
	call->open.flags = arg_num(flags);
	call->open.mode = arg_num(mode);
	name->fd = files_open_fd(&b->files);
}

static void fd_close(struct ace_builder *b, int fd)
{
	run_add(b, OP_close)->close.fd = arg_num(fd);
	b->files.fd_is_open[fd] = false;
}

static void name_close(struct ace_builder *b, struct ace_name *name)
{
	if (name->fd != ACE_FD_NONE)
		fd_close(b, name->fd);
	name->fd = ACE_FD_NONE;
}

/* The descriptor of a name that exists, whatever it was opened with. */
static int64_t name_fd(struct ace_builder *b, struct ace_name *name)
{
	if (name->fd == ACE_FD_NONE) {
		fd_open(b, name, name->is_dir ? OPEN_RDONLY | O_DIRECTORY : O_RDWR, MODE_ABSENT);
		name->flags = 0;
	}
	return name->fd;
}

/* A descriptor that was opened with these flags. */
static int64_t name_reopen(struct ace_builder *b, struct ace_name *name, int64_t flags)
{
	if (name->fd != ACE_FD_NONE && name->flags == flags)
		return name->fd;
	name_close(b, name);
	fd_open(b, name, O_RDWR | flags, MODE_ABSENT);
	name->flags = flags;
	if (flags & O_TRUNC)
		file_of(b, name)->size = 0;
	return name->fd;
}

/* Dependencies. */

/* Can it be made by the setup, as if it had been there all the time? */
static bool can_precede(struct ace_builder *b, const char *path)
{
	char above[ACE_PATH_BYTES];
	const struct ace_name *dir;

	if (b->in_place || files_had(&b->files, path))
		return false;
	files_parent(path, above);
	dir = files_find(&b->files, above);
	return dir ? dir->in_setup : can_precede(b, above);
}

static struct ace_name *need_dir(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);
	char above[ACE_PATH_BYTES];
	bool precedes;

	if (name)
		return name;
	precedes = can_precede(b, path);
	files_parent(path, above);
	need_dir(b, above);
	add_mkdir(b, precedes ? &b->setup : &b->run, path, DIR_MODE);
	name = files_add_dir(&b->files, path);
	name->in_setup = precedes;
	return name;
}

static void need_parent(struct ace_builder *b, const char *path)
{
	char above[ACE_PATH_BYTES];

	files_parent(path, above);
	need_dir(b, above);
}

static struct ace_name *need_file(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);
	bool precedes;
	struct call *call;

	if (name)
		return name;
	precedes = can_precede(b, path);
	need_parent(b, path);
	name = files_add_file(&b->files, path);
	name->in_setup = precedes;
	if (!precedes) {
		fd_open(b, name, O_RDWR | O_CREAT, FILE_MODE);
		return name;
	}
	call = list_add(&b->setup, OP_create_file);
	call->create_file.path = arg_text(b, path);
	call->create_file.flags = arg_num(O_CREAT | O_WRONLY);
	call->create_file.mode = arg_num(FILE_MODE);
	return name;
}

/* Is it still as the setup has made it, so that the setup can change it? */
static bool is_of_setup(struct ace_builder *b, const struct ace_name *name)
{
	return name->in_setup && !file_of(b, name)->used;
}

static void need_data(struct ace_builder *b, struct ace_name *name, uint64_t size)
{
	struct ace_file *file = file_of(b, name);
	uint64_t length = values_filling(b->values);
	struct call *call;

	if (file->size >= size)
		return;
	if (is_of_setup(b, name)) {
		call = list_add(&b->setup, OP_write_file);
		call->write_file.path = arg_text(b, name->path);
		call->write_file.flags = arg_num(O_WRONLY);
		call->write_file.data = values_data(b->values, length);
		call->write_file.count = arg_num((int64_t)length);
		call->write_file.offset = arg_num((int64_t)file->size);
	} else {
		int64_t fd = name_fd(b, name);

		call = run_add(b, OP_pwrite);
		call->pwrite.fd = arg_num(fd);
		call->pwrite.data = values_data(b->values, length);
		call->pwrite.count = arg_num((int64_t)length);
		call->pwrite.offset = arg_num((int64_t)file->size);
	}
	file->size += length;
}

static void file_set_xattr(struct ace_builder *b, struct ace_name *name)
{
	int64_t fd = name_fd(b, name);
	struct call *call = run_add(b, OP_fsetxattr);

	call->fsetxattr.fd = arg_num(fd);
	call->fsetxattr.name = arg_text(b, xattr_name);
	call->fsetxattr.value = values_xattr(b->values);
	call->fsetxattr.size = arg_num(call->fsetxattr.value.len);
	file_of(b, name)->has_xattr = true;
}

static void need_xattr(struct ace_builder *b, struct ace_name *name)
{
	struct call *call;

	if (file_of(b, name)->has_xattr)
		return;
	if (!is_of_setup(b, name)) {
		file_set_xattr(b, name);
		return;
	}
	call = list_add(&b->setup, OP_setxattr);
	call->setxattr.path = arg_text(b, name->path);
	call->setxattr.name = arg_text(b, xattr_name);
	call->setxattr.value = values_xattr(b->values);
	call->setxattr.size = arg_num(call->setxattr.value.len);
	file_of(b, name)->has_xattr = true;
}

static void name_remove(struct ace_builder *b, struct ace_name *name)
{
	name_close(b, name);
	run_add(b, name->is_dir ? OP_rmdir : OP_unlink)->arg[0] = arg_text(b, name->path);
	name->exists = false;
}

static void need_empty(struct ace_builder *b, const char *dir)
{
	struct ace_name *name;

	while ((name = files_last_inside(&b->files, dir)))
		name_remove(b, name);
}

static void need_absent(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);

	need_parent(b, path);
	if (!name)
		return;
	if (name->is_dir)
		need_empty(b, path);
	name_remove(b, name);
}

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
	int64_t flags = values_flags(b->values), mode = values_mode(b->values, FILE_MODE);
	struct ace_name *name;

	need_absent(b, path);
	name = files_add_file(&b->files, path);
	fd_open(b, name, O_RDWR | O_CREAT | flags, mode);
	name->flags = flags;
	say_flags(b, flags);
	say_mode(b, mode);
}

static void build_mkdir(struct ace_builder *b, const struct ace_use *use)
{
	const char *path = ace_paths[use->paths[0]].text;
	int64_t mode = values_mode(b->values, DIR_MODE);

	need_absent(b, path);
	add_mkdir(b, &b->run, path, mode);
	files_add_dir(&b->files, path);
	say_mode(b, mode);
}

/* The file of an operation on data, with as many bytes as that needs. */
static struct ace_name *need_bytes(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_file(b, ace_paths[use->paths[0]].text);
	uint64_t needs = ace_ops[use->op].needs;

	need_data(b, name, needs > use->range->needs ? needs : use->range->needs);
	return name;
}

/* The same, opened for the operation. */
static struct ace_name *need_open_bytes(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	int64_t flags = values_flags(b->values);

	name_reopen(b, name, flags);
	say_flags(b, flags);
	return name;
}

static void file_grow(struct ace_builder *b, const struct ace_name *name, uint64_t end)
{
	struct ace_file *file = file_of(b, name);

	if (file->size < end)
		file->size = end;
}

static void build_falloc(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, file_of(b, name)->size);
	struct call *call = run_add(b, OP_fallocate);

	call->fallocate.fd = arg_num(name->fd);
	call->fallocate.mode = arg_num(use->mode->mode);
	call->fallocate.offset = arg_num((int64_t)extent.offset);
	call->fallocate.length = arg_num((int64_t)extent.length);
	if (!(use->mode->mode & FALLOC_FL_KEEP_SIZE))
		file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

/* On Linux, pwrite appends where the file was opened so. */
static void build_write(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	uint64_t size = file_of(b, name)->size;
	struct ace_extent extent = values_extent(b->values, use, size);
	struct call *call = run_add(b, OP_pwrite);

	if (name->flags & O_APPEND)
		extent.offset = size;
	call->pwrite.fd = arg_num(name->fd);
	call->pwrite.data = values_data(b->values, extent.length);
	call->pwrite.count = arg_num((int64_t)extent.length);
	call->pwrite.offset = arg_num((int64_t)extent.offset);
	file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

static void build_dwrite(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, file_of(b, name)->size);
	struct call *call = run_add(b, OP_direct_write);

	call->direct_write.path = arg_text(b, name->path);
	call->direct_write.data = values_data(b->values, extent.length);
	call->direct_write.count = arg_num((int64_t)extent.length);
	call->direct_write.offset = arg_num((int64_t)extent.offset);
	file_grow(b, name, extent.offset + extent.length);
	say_extent(b, use, extent);
}

/* A store behind the end of the file would be a SIGBUS. The mapping stays until it is clear how the
 * data is persisted. */
static void build_mmapwrite(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_open_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, file_of(b, name)->size);
	uint64_t end = extent.offset + extent.length;
	struct call *call;

	if (file_of(b, name)->size < end) {
		call = run_add(b, OP_ftruncate);
		call->ftruncate.fd = arg_num(name->fd);
		call->ftruncate.length = arg_num((int64_t)end);
		file_grow(b, name, end);
	}
	call = run_add(b, OP_mmap);
	call->mmap.length = arg_num((int64_t)end);
	call->mmap.prot = arg_num(PROT_READ | PROT_WRITE);
	call->mmap.flags = arg_num(MAP_SHARED);
	call->mmap.fd = arg_num(name->fd);
	call = run_add(b, OP_map_write);
	call->map_write.map = arg_num(MAP_FIRST);
	call->map_write.data = values_data(b->values, extent.length);
	call->map_write.count = arg_num((int64_t)extent.length);
	call->map_write.offset = arg_num((int64_t)extent.offset);
	b->mapped = end;
	say_extent(b, use, extent);
}

static void build_link(struct ace_builder *b, const struct ace_use *use)
{
	const char *from = ace_paths[use->paths[0]].text, *to = ace_paths[use->paths[1]].text;
	unsigned file = need_file(b, from)->file;
	struct call *call;

	need_absent(b, to);
	call = run_add(b, OP_link);
	call->link.from = arg_text(b, from);
	call->link.to = arg_text(b, to);
	files_add_link(&b->files, to, file);
}

static void build_unlink(struct ace_builder *b, const struct ace_use *use)
{
	name_remove(b, need_file(b, ace_paths[use->paths[0]].text));
}

/* By what it does the same as unlink. Here the file is open meanwhile, and stays so: if that was
 * its last name, the file system has an orphan inode when it crashes. */
static void build_remove(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_file(b, ace_paths[use->paths[0]].text);
	struct call *call;

	name_fd(b, name);
	call = run_add(b, OP_unlinkat);
	call->unlinkat.dirfd = arg_num(AT_FDCWD);
	call->unlinkat.path = arg_text(b, name->path);
	name->exists = false;
}

/* Of two names of one file, rename leaves both. */
static void build_rename(struct ace_builder *b, const struct ace_use *use)
{
	const char *from = ace_paths[use->paths[0]].text, *to = ace_paths[use->paths[1]].text;
	bool is_dir = ace_is_dir(use->paths[0]);
	struct ace_name *name = is_dir ? need_dir(b, from) : need_file(b, from);
	struct ace_name *replaced;
	struct call *call;

	need_parent(b, to);
	if (is_dir)
		need_empty(b, to);
	replaced = files_find(&b->files, to);
	name_close(b, name);
	if (replaced)
		name_close(b, replaced);
	call = run_add(b, OP_rename);
	call->rename.from = arg_text(b, from);
	call->rename.to = arg_text(b, to);
	if (is_dir || !replaced || replaced->file != name->file)
		files_rename(&b->files, from, to);
}

static void build_fsetxattr(struct ace_builder *b, const struct ace_use *use)
{
	file_set_xattr(b, need_file(b, ace_paths[use->paths[0]].text));
}

static void build_removexattr(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_file(b, ace_paths[use->paths[0]].text);
	struct call *call;

	need_xattr(b, name);
	call = run_add(b, OP_removexattr);
	call->removexattr.path = arg_text(b, name->path);
	call->removexattr.name = arg_text(b, xattr_name);
	file_of(b, name)->has_xattr = false;
}

static void build_truncate(struct ace_builder *b, const struct ace_use *use)
{
	struct ace_name *name = need_bytes(b, use);
	struct ace_extent extent = values_extent(b->values, use, file_of(b, name)->size);
	struct call *call = run_add(b, OP_truncate);

	call->truncate.path = arg_text(b, name->path);
	call->truncate.length = arg_num((int64_t)extent.length);
	file_of(b, name)->size = extent.length;
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
		run_add(b, OP_munmap)->munmap.map = arg_num(MAP_FIRST);
	b->mapped = 0;
}

static void persist_mapping(struct ace_builder *b, enum ace_path path)
{
	struct call *call = run_add(b, OP_msync);

	call->msync.map = arg_num(MAP_FIRST);
	call->msync.length = arg_num((int64_t)b->mapped);
	call->msync.flags = arg_num(MS_SYNC);
	buf_addf(b->name, ", msync %s", ace_paths[path].text);
}

static void persist_path(struct ace_builder *b, enum ace_path path)
{
	const char *text = ace_paths[path].text;
	struct ace_name *name = ace_is_dir(path) ? need_dir(b, text) : need_file(b, text);
	int64_t fd = name_fd(b, name);
	enum op op = !name->is_dir && values_fdatasync(b->values) ? OP_fdatasync : OP_fsync;

	run_add(b, op)->arg[0] = arg_num(fd);
	buf_addf(b->name, ", %s %s", op_table[op].name, text);
}

static void build_persist(struct ace_builder *b, const struct ace_step *step)
{
	if (step->persist == ACE_SYNC) {
		run_add(b, OP_sync);
		buf_adds(b->name, ", sync");
	} else if (b->mapped && step->persist == step->use.paths[0]) {
		persist_mapping(b, step->use.paths[0]);
	} else if (step->persist != ACE_NOTHING) {
		persist_path(b, step->persist);
	}
	mapping_end(b);
}

/* What was used is no longer as the setup has made it. */
static void mark_used(struct ace_builder *b, unsigned path)
{
	struct ace_name *name = path < ACE_PATHS ? name_of(b, path) : NULL;

	if (name && !name->is_dir)
		file_of(b, name)->used = true;
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
			fd_close(b, fd);
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
		list_add(&b.setup, OP_sync);
	ret->setup_count = b.setup.count;
	ret->count = b.setup.count + b.run.count;
	calls = arena_alloc(arena, ret->count * sizeof(*calls));
	memcpy(calls, setup, b.setup.count * sizeof(*calls));
	memcpy(calls + b.setup.count, run, b.run.count * sizeof(*calls));
	ret->calls = calls;
}
