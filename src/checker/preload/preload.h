/* preload.h -- inside the process of a checker: the disk in shared memory, and the server of runs.
 *
 * Loaded before the C library (LD_PRELOAD), so that the program's calls come here first. What
 * the library calls within itself does not come here. */
#ifndef CHECKER_PRELOAD_PRELOAD_H
#define CHECKER_PRELOAD_PRELOAD_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/* As the compiler calls open() where the flags are known to need no mode. */
PRELOAD_EXPORT int __open_2(const char *path, int flags);
PRELOAD_EXPORT int __open64_2(const char *path, int flags);
PRELOAD_EXPORT int __openat_2(int dir, const char *path, int flags);
PRELOAD_EXPORT int __openat64_2(int dir, const char *path, int flags);

enum { PRELOAD_FDS = 256 }; /* those of the program are below */

/* NULL in a process that no session has started. */
extern struct control *preload_control;

/* The next definition of a function, as a rule that of the C library. All are found at the start,
 * where it costs nothing that runs would have to pay for again. */
#define PRELOAD_FUNCTIONS(F) \
	F(open) \
	F(open64) \
	F(openat) \
	F(openat64) \
	F(__open_2) \
	F(__open64_2) \
	F(__openat_2) \
	F(__openat64_2) \
	F(fopen) \
	F(fopen64) \
	F(fdopen) F(close) F(dup) F(dup2) F(dup3) F(read) F(write) F(readv) F(writev) F(pread) \
		F(pread64) F(pwrite) F(pwrite64) F(preadv) F(preadv64) F(pwritev) F(pwritev64) F( \
			lseek) F(lseek64) F(ftruncate) F(ftruncate64) F(fallocate) F(fallocate64) \
			F(mmap) F(mmap64) F(fsync) F(fdatasync) F(syncfs) F(sync) F(posix_fadvise) \
				F(posix_fadvise64) F(readahead) F(time) F(gettimeofday) \
					F(clock_gettime) F(getrandom) F(getentropy) F(kill) \
						F(sigaction) F(signal) F(sigprocmask) F(alarm) \
							F(setitimer) F(chdir) F(umask) F(mprotect) \
								F(fork)
struct preload_next {
#define PRELOAD_MEMBER(name) __typeof__(&(name)) name;
	PRELOAD_FUNCTIONS(PRELOAD_MEMBER)
#undef PRELOAD_MEMBER
};
extern struct preload_next preload_found;
extern bool preload_has_found;
void preload_find_all(void);

/* Other libraries may call us before we are initialised. */
static inline const struct preload_next *preload_next(void)
{
	if (!preload_has_found)
		preload_find_all();
	return &preload_found;
}

/* Stops at the first open of the disk; returns in a copy of the process, once for each run. */
void serve_runs(void);
void serve_await_request(void);
void serve_pass_turn(enum control_turn turn);
/* In a copy: whether it can serve more than one run. */
bool rewind_prepare(void);
/* Begins a run; and returns here for each one that follows. */
void rewind_begin(void);
/* Ends it, by an exit code; returns only in a process that serves a single one. */
void rewind_end(int code);
/* The run has done what cannot be undone. */
void rewind_spoil(void);
void rewind_watch_exit(void);
/* Has the pages of code and constants copied with the process. */
void warm_code(void);

void disk_map(void);
/* As read(2) and write(2) do: bytes, or -1 and errno. */
ssize_t disk_read(uint64_t at, void *to, size_t len);
ssize_t disk_write(uint64_t at, const void *from, size_t len);
int disk_resize(uint64_t size);
/* Within its size. */
int disk_zero(uint64_t at, uint64_t len);
/* From now on the program can write to it unseen. */
void disk_lose_sight(void);

#endif
