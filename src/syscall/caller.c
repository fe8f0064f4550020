/* caller.c -- calls made by this process itself: dispatch, descriptors, paths, buffers. */
#include "syscall/caller.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/must.h"
#include "syscall/taken.h"

enum { UMASK_FIRST = 022, BUFFER_KEPT = 1 << 20 };

/* More than any transfer: the kernel cuts counts to INT_MAX rounded down to pages. */
static const size_t transfer_max = (size_t)1 << 31;

static syscall_function *const functions[OP_COUNT] = {
#define A(name, kind)
#define OP(name, base, result, traits, args) [OP_##name] = syscall_##name,
#include "op/ops.def"
#undef OP
#undef A
};

static bool is_root_of_process(int root_fd)
{
	struct stat root, slash;

	return !fstat(root_fd, &root) && !stat("/", &slash) && root.st_dev == slash.st_dev &&
	       root.st_ino == slash.st_ino;
}

/* Descriptors 0 to 2 of the script, the first working directory and mask. The descriptors are an
 * empty file in memory: there may be no /dev/null below the root, and one there would be the
 * file system's under test. */
static void caller_begin(struct caller *self)
{
	self->fds[0] = memfd_create("standard", MFD_CLOEXEC);
	for (int fd = 1; fd < FD_FIRST; fd++)
		self->fds[fd] = fcntl(self->fds[0], F_DUPFD_CLOEXEC, 0);
	if (!fchdir(self->root_fd) && self->rerooted)
		self->cwd_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	umask(UMASK_FIRST);
}

int self_init(struct caller *self, int root_fd, char *shared_buffer)
{
	self->root_fd = root_fd;
	self->cwd_fd = -1;
	for (size_t i = 0; i < SYSCALL_FDS_MAX; i++)
		self->fds[i] = -1;
	for (size_t i = 0; i < SYSCALL_STREAMS_MAX; i++)
		self->streams[i].fd = -1;
	self->rerooted = !is_root_of_process(root_fd);
	self->buffer_shared = shared_buffer;
	self->buffer = shared_buffer;
	if (!shared_buffer)
		self->buffer =
			mmap(NULL, SYSCALL_DATA_MAX + SYSCALL_BUFFER_SLACK, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (self->buffer == MAP_FAILED)
		return -ENOMEM;
	caller_begin(self);
	return 0;
}

struct caller *self_alloc(void)
{
	return must_map(sizeof(struct caller));
}

void self_free(struct caller *self)
{
	must_unmap(self, sizeof(*self));
}

struct caller *caller_new(int root_fd)
{
	struct caller *self = self_alloc();
	int error = self_init(self, root_fd, NULL);

	if (!error)
		return self;
	self_free(self);
	errno = -error;
	return NULL;
}

static void caller_close_all(struct caller *self)
{
	for (size_t i = 0; i < SYSCALL_FDS_MAX; i++) {
		if (self->fds[i] >= 0)
			close(self->fds[i]);
		self->fds[i] = -1;
	}
	caller_unmap_all(self);
	for (size_t i = 0; i < SYSCALL_STREAMS_MAX; i++) {
		if (self->streams[i].fd >= 0)
			close(self->streams[i].fd);
		/* Names read ahead go, too: no stream may answer for one that is closed. */
		self->streams[i] = (struct caller_stream){ .fd = -1 };
	}
	if (self->cwd_fd >= 0)
		close(self->cwd_fd);
	self->cwd_fd = -1;
}

void caller_reset(struct caller *self)
{
	caller_close_all(self);
	handles_forget();
	caller_begin(self);
	if (self->buffer_used > BUFFER_KEPT)
		madvise(self->buffer + BUFFER_KEPT, SYSCALL_DATA_MAX - BUFFER_KEPT,
			self->buffer_shared ? MADV_REMOVE : MADV_DONTNEED);
	self->buffer_used = 0;
}

void caller_free(struct caller *self)
{
	if (!self)
		return;
	caller_close_all(self);
	if (!self->buffer_shared)
		munmap(self->buffer, SYSCALL_DATA_MAX + SYSCALL_BUFFER_SLACK);
	self_free(self);
}

void caller_call(struct caller *self, const struct call *c, struct outcome *ret)
{
	must(c->op < OP_COUNT);
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	functions[c->op](self, c, ret);
	if (self->away) {
		self->away = false;
		must(!fchdir(self->cwd_fd));
	}
}

struct at at_path(const struct caller *self, int dirfd, const struct arg *path)
{
	const char *text = path->text;

	if (!self->rerooted || !text || *text != '/')
		return (struct at){ dirfd, text };
	while (*text == '/')
		text++;
	return (struct at){ self->root_fd, *text ? text : "." };
}

const char *plain_path(struct caller *self, const struct arg *path)
{
	struct at at = at_cwd(self, path);

	if (at.dirfd == self->root_fd && !fchdir(self->root_fd))
		self->away = true;
	return at.path;
}

int open_at(struct at at, int64_t flags, mode_t mode)
{
	return (int)syscall(SYS_openat, at.dirfd, at.path, open_flags(flags), mode);
}

struct room room_take(struct caller *self, int64_t count)
{
	size_t wanted = (size_t)count;
	size_t size = wanted < transfer_max ? wanted : transfer_max;
	char *large;

	if (wanted > SYSCALL_DATA_MAX) {
		large = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (large != MAP_FAILED)
			return (struct room){ large, wanted, size };
		wanted = SYSCALL_DATA_MAX;
	}
	if (wanted > self->buffer_used)
		self->buffer_used = wanted;
	return (struct room){ self->buffer, wanted, 0 };
}

void room_drop(struct room *room)
{
	if (room->mapped)
		munmap(room->at, room->mapped);
}

struct room room_of_aligned_data(struct caller *self, const struct arg *data, int64_t count)
{
	struct room room = room_take(self, count);
	size_t filled = room.count;

	/* A mapping is all zeros already, and filling gigabytes would take memory for each. */
	if (room.mapped)
		filled = data->len < SYSCALL_DATA_MAX ? data->len : SYSCALL_DATA_MAX;
	data_bytes(data, 0, room.at, filled);
	return room;
}

struct room room_of_data(struct caller *self, const struct arg *data, int64_t count)
{
	if (!data->generated && data->text && count >= 0 && count <= data->len)
		return (struct room){ (char *)data->text, (size_t)count, 0 };
	return room_of_aligned_data(self, data, count);
}

void answer_bytes(struct caller *self, struct outcome *ret, long result, struct room *room)
{
	answer_num(ret, result);
	if (result > 0) {
		ret->len = result < SYSCALL_DATA_MAX ? (size_t)result : SYSCALL_DATA_MAX;
		if (room->mapped)
			memcpy(self->buffer, room->at, ret->len);
		self->buffer[ret->len] = '\0';
		ret->bytes = self->buffer;
	}
	room_drop(room);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void sort_names(struct caller *self, size_t len)
{
	size_t room = (len | 7) + 1; /* so that the index is aligned */
	char *copy = self->buffer + room, *to = self->buffer;
	char **names = (char **)(copy + room);
	size_t count = 0;

	must(len <= SYSCALL_NAMES_MAX);
	memcpy(copy, self->buffer, len);
	for (size_t at = 0; at < len; at += strlen(copy + at) + 1)
		names[count++] = copy + at;
	qsort(names, count, sizeof(*names), by_text);
	for (size_t i = 0; i < count; i++)
		to = stpcpy(to, names[i]) + 1;
}
