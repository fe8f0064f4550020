/* op_mmap.c -- mmap, munmap, msync, and the operations that go through mappings.
 *
 * Writing through a mapping leaves the privilege bits alone; extending the file does not. */
#include "model/mapping.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = TREE_BLOCK };

/* Lengths that every address space has room for, and private pages that fit into memory. */
static const int64_t length_none = (int64_t)1 << 47, length_sure = (int64_t)1 << 36;
static const int64_t private_sure = 16 << 20;

/* Mappings are of whole pages. Only regular files have a maximum offset. */
static bool maps_too_far(const struct inode *inode, uint64_t count, uint64_t offset)
{
	uint64_t max = S_ISREG(inode->mode) ? INT64_MAX : UINT64_MAX;
	uint64_t length = (offset % PAGE + count + PAGE - 1) / PAGE * PAGE;

	return length > max || offset / PAGE > (max - length) / PAGE;
}

static bool is_shared(const struct map_request *r)
{
	return r->flags & MAP_SHARED;
}

static void check_length(struct step *x, const struct map_request *r)
{
	bool copies = !is_shared(r) && r->prot & PROT_WRITE;

	if (!r->length)
		refuse(x, RULE_map_empty);
	else if (r->length < 0 || r->length >= length_none)
		refuse(x, RULE_map_too_large);
	else if (r->length > (copies ? private_sure : length_sure))
		may_refuse(x, RULE_map_too_large);
}

static bool access_is_denied(const struct step *x, const struct open_file *f,
			     const struct map_request *r)
{
	bool append = file_inode(x, f)->flags & FS_APPEND_FL;

	if (is_shared(r) &&
	    ((r->prot & PROT_WRITE && !is_writable(f)) || (append && is_writable(f))))
		return true;
	return !is_readable(f);
}

static void check_file_mapping(struct step *x, const struct open_file *f,
			       const struct map_request *r)
{
	const struct inode *inode = file_inode(x, f);

	if (maps_too_far(inode, (uint64_t)r->length, (uint64_t)r->offset))
		refuse(x, RULE_map_offset);
	if (!(r->flags & (MAP_SHARED | MAP_PRIVATE)))
		refuse(x, RULE_map_type);
	if (access_is_denied(x, f, r))
		refuse(x, RULE_map_access);
	if (r->prot & PROT_EXEC)
		may_refuse(x, RULE_map_noexec);
	if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode))
		leave_undefined(x, RULE_special_contents);
	else if (!S_ISREG(inode->mode))
		refuse(x, RULE_map_kind);
	if (x->model->traits.no_map_shared && is_shared(r)) {
		may_refuse(x, RULE_map_shared_direct);
		if (is_writable(f))
			refuse(x, RULE_map_shared_unsupported);
	}
	if (r->prot & PROT_WRITE && is_shared(r))
		may_refuse_by_flags(x, inode);
}

static const struct open_file *check_map(struct step *x, const struct map_request *r)
{
	const int64_t flags = MAP_SHARED | MAP_PRIVATE | MAP_POPULATE;
	const int64_t prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	const struct open_file *f;

	if ((r->flags & ~flags || r->prot & ~prot) && leave_open(x, RULE_map_other_flags))
		return NULL;
	if (r->offset % PAGE)
		refuse(x, RULE_map_unaligned);
	f = need_io(x, r->fd);
	if (!f)
		return NULL;
	check_length(x, r);
	check_file_mapping(x, f, r);
	return refused(x) ? NULL : f;
}

int64_t map_make(struct step *x, const struct map_request *r)
{
	const struct open_file *f = check_map(x, r);
	int64_t handle;

	if (!f || !proceed(x))
		return -1;
	touch_access(x, f->ino);
	handle = state_map(x->state, x->pid, r->fd->num,
			   &(struct mapping){
				   .offset = (uint64_t)r->offset,
				   .length = ((uint64_t)r->length + PAGE - 1) / PAGE * PAGE,
				   .size_seen = file_inode(x, f)->size,
				   .prot = (uint32_t)r->prot,
				   .shared = is_shared(r),
			   });
	if (r->flags & MAP_POPULATE && r->prot & PROT_WRITE && !is_shared(r))
		map_populate(x, handle);
	return handle;
}

int64_t map_first(struct step *x, const struct map_request *r)
{
	struct step y = *x;

	y.follow = true;
	y.seen = NULL;
	return map_make(&y, r);
}

void model_mmap(struct step *x)
{
	int64_t handle = map_make(x, &(struct map_request){
					     .fd = &x->call->mmap.fd,
					     .length = x->call->mmap.length.num,
					     .prot = x->call->mmap.prot.num,
					     .flags = x->call->mmap.flags.num,
					     .offset = x->call->mmap.offset.num,
				     });

	if (handle > 0)
		give_num(x, RESULT_NUM, handle);
}

void model_munmap(struct step *x)
{
	if (!state_mapping(x->state, x->pid, x->call->munmap.map.num))
		refuse(x, RULE_munmap_absent);
	if (proceed(x))
		state_unmap(x->state, x->pid, x->call->munmap.map.num);
}

void model_msync(struct step *x)
{
	const struct mapping *map = state_mapping(x->state, x->pid, x->call->msync.map.num);
	const int64_t both = MS_ASYNC | MS_SYNC;
	int64_t flags = x->call->msync.flags.num;
	uint64_t offset = (uint64_t)x->call->msync.offset.num;
	uint64_t length = (uint64_t)x->call->msync.length.num, mapped = map ? map->length : 0;

	if (flags & ~(both | MS_INVALIDATE) || (flags & both) == both)
		refuse(x, RULE_msync_flags);
	if (offset % PAGE)
		refuse(x, RULE_msync_unaligned);
	if (!map && length && !offset && length <= PAGE)
		refuse(x, RULE_msync_unmapped);
	else if (offset > mapped || length > mapped - offset)
		leave_undefined(x, RULE_msync_outside);
	proceed(x);
}

void model_map_read(struct step *x)
{
	map_load(x, x->call->map_read.map.num, x->call->map_read.count.num,
		 x->call->map_read.offset.num);
}

void model_map_write(struct step *x)
{
	map_store(x, x->call->map_write.map.num, &x->call->map_write.data,
		  x->call->map_write.count.num, x->call->map_write.offset.num);
}

/* Does the write go where its data comes from? */
static bool written_overlaps(const struct step *x, const struct mapping *map, uint64_t from,
			     const struct open_file *f, uint64_t to, uint64_t count)
{
	uint64_t at = map->offset + from;

	return state_mapping_ino(x->state, map) == f->ino && at < to + count && to < at + count;
}

/* Data of a mapping that is all there and known, as bytes; NULL if it is not. */
static char *written_bytes(struct step *x, const struct mapping *map, uint64_t from, uint64_t count)
{
	char *bytes;

	if (!map || count > MAP_MOVED_MAX || !map->prot || map_reach(x, map, from, count) < count)
		return NULL;
	bytes = must_alloc(count + 1);
	if (map_bytes(x, map, from, bytes, count))
		return bytes;
	free(bytes);
	return NULL;
}

void model_write_mapped(struct step *x)
{
	const struct mapping *map = state_mapping(x->state, x->pid, x->call->write_mapped.map.num);
	uint64_t from = (uint64_t)x->call->write_mapped.from.num;
	int64_t count = x->call->write_mapped.count.num, offset = x->call->write_mapped.offset.num;
	const struct open_file *f = state_file(x->state, x->pid, x->call->write_mapped.fd.num);
	char *bytes = count < 0 ? NULL : written_bytes(x, map, from, (uint64_t)count);
	struct arg data = { .text = bytes, .len = (uint32_t)count };
	uint64_t to = f && f->flags & O_APPEND && holds(x, RULE_append_positioned)
			    ? file_inode(x, f)->size
			    : (uint64_t)offset;

	if (!bytes || (f && f->flags & O_DIRECT))
		leave_undefined(x, RULE_map_written_outside);
	else if (f && written_overlaps(x, map, from, f, to, (uint64_t)count))
		leave_undefined(x, RULE_map_written_overlap);
	if (bytes)
		write_data(x, &(struct transfer){
				      .fd = &x->call->write_mapped.fd,
				      .data = &data,
				      .count = count,
				      .offset = offset,
				      .positioned = true,
			      });
	free(bytes);
}

static void check_extension(struct step *x, const struct inode *inode, int64_t count,
			    int64_t offset)
{
	uint64_t end = (uint64_t)count + (uint64_t)offset;

	if (inode->flags & FS_IMMUTABLE_FL || x->space_may_end || state_failures(x->state))
		may_refuse(x, RULE_map_fault);
	if (end > inode->size)
		refuse_size(x, end, RULE_truncate_too_large);
}

void model_mmap_write(struct step *x)
{
	int64_t count = x->call->mmap_write.count.num, offset = x->call->mmap_write.offset.num;
	uint64_t end = (uint64_t)offset + (uint64_t)count;
	struct map_request r = { &x->call->mmap_write.fd, count, PROT_READ | PROT_WRITE, MAP_SHARED,
				 offset };
	const struct open_file *f;

	if (count < 0)
		refuse(x, RULE_map_too_large);
	f = need_io(x, &x->call->mmap_write.fd);
	if (!f)
		return;
	if (!count)
		refuse(x, RULE_map_empty);
	if (count >= length_none)
		refuse(x, RULE_map_too_large);
	check_file_mapping(x, f, &r);
	if (refused(x) || !S_ISREG(file_inode(x, f)->mode))
		return;
	check_extension(x, file_inode(x, f), count, offset);
	if (!proceed(x))
		return;
	if (file_inode(x, f)->size < end) {
		tree_truncate(&x->state->tree, f->ino, end);
		drop_privileges(x, f->ino);
	} else if (x->model->traits.times_cached) {
		/* A store is no request to a FUSE daemon: its attributes stay cached. */
		may_touch(x, f->ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
	}
	put_data(x, f->ino, &x->call->mmap_write.data, (uint64_t)offset, (uint64_t)count);
	touch_access(x, f->ino);
	touch_modify(x, f->ino);
	give_num(x, RESULT_NUM, count);
}

/* The pages of a range of an open file, mapped, for an access from that offset on. */
static int64_t map_range(struct step *x, const struct arg *fd, int64_t flags, int64_t prot,
			 int64_t count, int64_t *offset)
{
	int64_t head = *offset & (PAGE - 1);
	int64_t length = count ? (int64_t)((uint64_t)head + (uint64_t)count) : 0;
	struct map_request r = { fd, length, prot, flags, *offset - head };

	*offset = head;
	return map_first(x, &r);
}

void load_file(struct step *x, const struct arg *fd)
{
	int64_t count = x->call->map_read_file.count.num, at = x->call->map_read_file.offset.num;
	int64_t handle = map_range(x, fd, x->call->map_read_file.flags.num, PROT_READ, count, &at);

	if (handle < 0)
		return;
	map_load(x, handle, count, at);
	state_unmap(x->state, x->pid, handle);
}

void store_file(struct step *x, const struct arg *fd)
{
	int64_t count = x->call->map_write_file.count.num, at = x->call->map_write_file.offset.num;
	int64_t handle = map_range(x, fd, x->call->map_write_file.flags.num, PROT_READ | PROT_WRITE,
				   count, &at);

	if (handle < 0)
		return;
	map_store(x, handle, &x->call->map_write_file.data, count, at);
	state_unmap(x->state, x->pid, handle);
}
