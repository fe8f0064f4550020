/* map.c -- mappings of files: made, read, written, written back, ended.
 *
 * Memory that is not of the mapping is never touched: an access that begins behind its last page is
 * a SIGSEGV, one that reaches there ends with that page. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall/caller.h"
#include "syscall/fault.h"

enum { PAGE = 4096 };

/* What a script may ask for: others would take the place of memory of ours, or be of no file. */
static const int64_t flags_known = MAP_SHARED_VALIDATE | MAP_POPULATE;

/* A mapping the script does not have is this one: it has no memory. */
static struct caller_map no_map;

static struct caller_map *map_of(struct caller *self, const struct arg *map)
{
	return map->num >= 1 && map->num <= SYSCALL_MAPS_MAX ? &self->maps[map->num - 1] : &no_map;
}

void caller_unmap_all(struct caller *self)
{
	for (size_t i = 0; i < SYSCALL_MAPS_MAX; i++) {
		if (self->maps[i].at)
			syscall(SYS_munmap, self->maps[i].at, self->maps[i].length);
		self->maps[i] = no_map;
	}
}

/* The memory itself. errno where it is not to be had. */
static int map_make(struct caller_map *map, int fd, int64_t length, int64_t prot, int64_t flags,
		    int64_t offset)
{
	long at;

	errno = EINVAL;
	if (flags & ~flags_known)
		return -1;
	at = syscall(SYS_mmap, NULL, (size_t)length, (int)prot, (int)flags, fd, (long)offset);
	if (at == -1)
		return -1;
	*map = (struct caller_map){ (char *)at, (size_t)length };
	return 0;
}

static int map_end(struct caller_map *map)
{
	struct caller_map ended = *map;

	*map = no_map;
	return (int)syscall(SYS_munmap, ended.at, ended.length);
}

SYSCALL(mmap)
{
	struct caller_map *map = self->maps;

	while (map < self->maps + SYSCALL_MAPS_MAX && map->at)
		map++;
	if (map == self->maps + SYSCALL_MAPS_MAX) {
		ret->error = ENOMEM;
		return;
	}
	answer_num(ret, map_make(map, fd_real(self, &c->mmap.fd), c->mmap.length.num,
				 c->mmap.prot.num, c->mmap.flags.num, c->mmap.offset.num));
	if (!ret->error)
		ret->num = map - self->maps + 1;
}

SYSCALL(munmap)
{
	answer_none(ret, map_end(map_of(self, &c->munmap.map)));
}

SYSCALL(msync)
{
	uintptr_t at = (uintptr_t)map_of(self, &c->msync.map)->at;

	answer_none(ret, syscall(SYS_msync, at + (uint64_t)c->msync.offset.num,
				 (size_t)c->msync.length.num, (int)c->msync.flags.num));
}

/* How much of a mapping lies behind an offset, of this many bytes. */
static size_t map_room(const struct caller_map *map, int64_t offset, int64_t count)
{
	uint64_t pages = ((uint64_t)map->length + PAGE - 1) / PAGE * PAGE;
	uint64_t room = (uint64_t)offset < pages ? pages - (uint64_t)offset : 0;

	if (room > SYSCALL_DATA_MAX)
		room = SYSCALL_DATA_MAX;
	return (uint64_t)count < room ? (size_t)count : (size_t)room;
}

/* The signal counts only where nothing was moved. */
static long map_moved(size_t moved, int64_t count, int error, struct outcome *ret)
{
	if (count && !moved)
		ret->error = error ? error : ERROR_SIGSEGV;
	return (long)moved;
}

static void map_load(struct caller *self, const struct caller_map *map, int64_t count,
		     int64_t offset, struct outcome *ret)
{
	struct room room = room_take(self, (int64_t)map_room(map, offset, count));
	int error = 0;
	size_t moved = 0;

	if (room.count)
		moved = fault_load(room.at, map->at + offset, room.count, &error);
	answer_bytes(self, ret, map_moved(moved, count, error, ret), &room);
}

static void map_store(struct caller *self, const struct caller_map *map, const struct arg *data,
		      int64_t count, int64_t offset, struct outcome *ret)
{
	struct room room = room_of_data(self, data, (int64_t)map_room(map, offset, count));
	int error = 0;
	size_t moved = 0;

	if (room.count)
		moved = fault_store(map->at + offset, room.at, room.count, &error);
	ret->num = map_moved(moved, count, error, ret);
	room_drop(&room);
}

SYSCALL(map_read)
{
	map_load(self, map_of(self, &c->map_read.map), c->map_read.count.num,
		 c->map_read.offset.num, ret);
}

SYSCALL(map_write)
{
	map_store(self, map_of(self, &c->map_write.map), &c->map_write.data, c->map_write.count.num,
		  c->map_write.offset.num, ret);
}

/* The kernel faults on the mapping inside pwrite. Where the range is not all of the mapping, it
 * gets a null pointer. */
SYSCALL(write_mapped)
{
	const struct caller_map *map = map_of(self, &c->write_mapped.map);
	int64_t from = c->write_mapped.from.num, count = c->write_mapped.count.num;
	bool whole = (uint64_t)count == map_room(map, from, count);

	answer_num(ret, syscall(SYS_pwrite64, fd_real(self, &c->write_mapped.fd),
				whole && map->at ? map->at + from : NULL, (size_t)count,
				c->write_mapped.offset.num));
}

/* Opens and maps the pages of a range; the offset becomes that in the mapping. */
static int map_file(struct caller *self, const struct arg *path, int64_t open_flags, int64_t flags,
		    int64_t count, int64_t *offset, struct caller_map *ret, struct outcome *out)
{
	int64_t head = *offset & (PAGE - 1);
	int prot = open_flags == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ;
	int64_t length = count ? (int64_t)((uint64_t)head + (uint64_t)count) : 0;
	int fd = open_at(at_cwd(self, path), open_flags, 0);

	if (fd < 0 || map_make(ret, fd, length, prot, flags, *offset - head))
		out->error = errno;
	*offset = head;
	return fd;
}

static void unmap_file(struct caller_map *map, int fd, struct outcome *ret)
{
	if (map->at && map_end(map) && !ret->error)
		ret->error = errno;
	if (fd >= 0 && close(fd) && !ret->error)
		ret->error = errno;
}

SYSCALL(map_read_file)
{
	int64_t count = c->map_read_file.count.num, offset = c->map_read_file.offset.num;
	struct caller_map map = no_map;
	int fd = map_file(self, &c->map_read_file.path, O_RDONLY, c->map_read_file.flags.num, count,
			  &offset, &map, ret);

	if (!ret->error)
		map_load(self, &map, count, offset, ret);
	unmap_file(&map, fd, ret);
}

SYSCALL(map_write_file)
{
	int64_t count = c->map_write_file.count.num, offset = c->map_write_file.offset.num;
	struct caller_map map = no_map;
	int fd = map_file(self, &c->map_write_file.path, O_RDWR, c->map_write_file.flags.num, count,
			  &offset, &map, ret);

	if (!ret->error)
		map_store(self, &map, &c->map_write_file.data, count, offset, ret);
	unmap_file(&map, fd, ret);
}

/* Extends the file to length if it is shorter. */
static int extend(int fd, int64_t length)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	return st.st_size < length ? ftruncate(fd, length) : 0;
}

/* A page the file system cannot provide (no space, an I/O error) is a SIGBUS; what was copied
 * before it stays. */
static int write_mapped_file(int fd, const struct room *room, int64_t offset)
{
	size_t head = (uint64_t)offset % PAGE;
	size_t length = room->count ? head + room->count : 0;
	struct caller_map map;
	int64_t end;
	int error;

	if (room->mapped && room->count > room->mapped)
		return ENOMEM;
	if (map_make(&map, fd, (int64_t)length, PROT_READ | PROT_WRITE, MAP_SHARED,
		     (int64_t)((uint64_t)offset - head)))
		return errno;
	if (__builtin_add_overflow(offset, (int64_t)room->count, &end))
		error = EOVERFLOW;
	else if (extend(fd, end))
		error = errno;
	else
		fault_store(map.at + head, room->at, room->count, &error);
	if (!error && syscall(SYS_msync, map.at, length, MS_SYNC))
		error = errno;
	map_end(&map);
	return error;
}

/* Through a shared mapping (ENOMEM for a count beyond any transfer). It is made before anything
 * else, since it checks descriptor and access; then the file is extended to where the data ends,
 * filled and written back. */
SYSCALL(mmap_write)
{
	struct room room = room_of_data(self, &c->mmap_write.data, c->mmap_write.count.num);

	ret->error = write_mapped_file(fd_real(self, &c->mmap_write.fd), &room,
				       c->mmap_write.offset.num);
	if (!ret->error)
		ret->num = (int64_t)room.count;
	room_drop(&room);
}
