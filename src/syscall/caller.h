/* caller.h -- what one process has between calls, and what every syscall_NAME uses.
 *
 * The kernel gives the answers: a descriptor or stream that the script does not have is handed
 * on as one that is not open, a null path as NULL (so calls that take paths are made by
 * syscall(2): the library declares them never null), a wild count as it is. Nothing is allocated
 * during a call, except the address space for a count beyond SYSCALL_DATA_MAX. */
#ifndef SYSCALL_CALLER_H
#define SYSCALL_CALLER_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/types.h>

#include "syscall/syscall.h"

enum {
	SYSCALL_STREAMS_MAX = 32,
	SYSCALL_MAPS_MAX = 32,
	STREAM_BYTES = 32 << 10,
	SYSCALL_NAMES_MAX = 1 << 20, /* bytes of a list of names */
	FD_FIRST = 3, /* the smallest descriptor given out; 0 to 2 exist from the start */
	SYSCALL_BUFFER_SLACK = 4096, /* behind SYSCALL_DATA_MAX: room for the NUL behind data */
};

/* A directory stream. Numbered apart from descriptors, from 1 on. */
struct caller_stream {
	int fd;           /* -1: free */
	uint32_t at, end; /* of its entries, those not yet returned */
	uint32_t read;    /* entries returned since it was opened or rewound */
};

/* A mapping of a file, numbered as streams are. */
struct caller_map {
	char *at; /* NULL: free */
	size_t length;
};

struct caller {
	int root_fd; /* borrowed */
	int cwd_fd;  /* where the process is, if rerooted; else -1 */
	/* The root is not the process's "/" (no chroot): absolute paths start at root_fd. Exact but
	 * for absolute symbolic links, ".." in the root, and the error of calls on "/" itself. */
	bool rerooted;
	bool away;          /* rerooted: gone to the root for the time of one call */
	char *buffer;       /* SYSCALL_DATA_MAX bytes and SYSCALL_BUFFER_SLACK, page-aligned */
	bool buffer_shared; /* borrowed, and shared with another process */
	size_t buffer_used; /* high-water mark since the last reset */
	int fds[SYSCALL_FDS_MAX]; /* real descriptors, -1: free */
	struct caller_stream streams[SYSCALL_STREAMS_MAX];
	struct caller_map maps[SYSCALL_MAPS_MAX];
	/* Apart: touched only when used. */
	_Alignas(8) char entries[SYSCALL_STREAMS_MAX][STREAM_BYTES];
	off_t positions[SYSCALL_STREAMS_MAX][POSITION_MAX]; /* as telldir gave them */
};

/* Memory for one, zeroed. Most of it is never used: it is mapped, not cleared, since processes are
 * made by the thousand. */
struct caller *self_alloc(void);
void self_free(struct caller *self);
/* On such memory; with shared_buffer NULL it allocates a buffer. */
int self_init(struct caller *self, int root_fd, char *shared_buffer);

typedef void syscall_function(struct caller *self, const struct call *c, struct outcome *ret);
#define A(name, kind)
#define OP(name, base, result, traits, args) syscall_function syscall_##name;
#include "op/ops.def"
#undef OP
#undef A

/* Opens the definition of an operation's function: SYSCALL(mkdir) { ... } */
#define SYSCALL(name) \
	void syscall_##name(struct caller *self, const struct call *c, struct outcome *ret)

/* What success yields, or errno where the system call failed. */
static inline void answer_none(struct outcome *ret, long result)
{
	if (result < 0)
		ret->error = errno;
}

static inline void answer_num(struct outcome *ret, long result)
{
	if (result < 0)
		ret->error = errno;
	else
		ret->num = result;
}

/* From the script's descriptors to real ones. */
static inline int fd_real(const struct caller *self, const struct arg *fd)
{
	return fd->num >= 0 && fd->num < SYSCALL_FDS_MAX ? self->fds[fd->num] : -1;
}

/* The smallest free descriptor of the script, or -1. */
int fd_free(const struct caller *self);
/* That descriptor is the real one from now on; a negative one is an error, of errno. */
void answer_fd(struct caller *self, struct outcome *ret, int fd, long real);

/* One that is closed is passed on as one that is never open: negative ones are another case to
 * calls that take a null path. */
static inline int dirfd_real(const struct caller *self, const struct arg *dirfd)
{
	int real = fd_real(self, dirfd);

	if (dirfd->num == AT_FDCWD)
		return AT_FDCWD;
	return real < 0 && dirfd->num >= 0 ? INT_MAX : real;
}

/* A path as calls of the *at family take it. */
struct at {
	int dirfd;
	const char *path;
};
struct at at_path(const struct caller *self, int dirfd, const struct arg *path);
static inline struct at at_cwd(const struct caller *self, const struct arg *path)
{
	return at_path(self, AT_FDCWD, path);
}
/* A path for calls that have no *at form. */
const char *plain_path(struct caller *self, const struct arg *path);

/* Open flags and mode as the kernel knows them. */
static inline int open_flags(int64_t flags)
{
	return (int)(uint32_t)flags;
}

static inline mode_t mode_given(const struct arg *mode)
{
	return mode->num == MODE_ABSENT ? 0 : (mode_t)mode->num;
}

int open_at(struct at at, int64_t flags, mode_t mode);

/* Memory for one transfer: the buffer, or for larger counts a new mapping. Count is what
 * to hand to the kernel: the script's, unless even address space is short. */
struct room {
	char *at;
	size_t count;
	size_t mapped; /* 0: it is the buffer */
};
struct room room_take(struct caller *self, int64_t count);
void room_drop(struct room *room);
/* Room with the bytes that a data argument means (generated data: its first SYSCALL_DATA_MAX
 * bytes; zeros behind). Short literal data is used where it lies. */
struct room room_of_data(struct caller *self, const struct arg *data, int64_t count);
/* The same, aligned for O_DIRECT. */
struct room room_of_aligned_data(struct caller *self, const struct arg *data, int64_t count);
/* Outcome of a read into the room, which is dropped: all that was read in num, the first
 * SYSCALL_DATA_MAX bytes of it in bytes. */
void answer_bytes(struct caller *self, struct outcome *ret, long result, struct room *room);

/* Sorts the list of names, each followed by NUL, at the start of the buffer. */
void sort_names(struct caller *self, size_t len);

/* Ends all mappings (map.c). */
void caller_unmap_all(struct caller *self);

/* One system call of a transfer; the offset is left aside by those that use the position. */
typedef ssize_t transfer_step(int fd, void *at, size_t count, off_t offset);
transfer_step step_pwrite;
/* Repeats the step until all of the room is transferred or nothing more is. What was transferred
 * before an error counts: the error is the outcome only if nothing was. */
long transfer_all(transfer_step *step, int fd, const struct room *room, int64_t offset);

#endif
