/* checker_session.h -- running a checker again and again on a disk in memory.
 *
 * The program is started once for each mode, up to where it opens the disk, and copied from there
 * by fork for every run; its reads and writes of the disk are served from shared memory, without
 * system calls (preload/). A program that cannot be run so is started again each time. A run is
 * confined: it can write to nothing but the disk, and its memory, time and processes are bounded.
 * It is repeatable: the time is always the same, and random numbers are the same in every run.
 *
 * The disk is a regular file for it, and can grow by some MiB, or shrink. */
#ifndef CHECKER_CHECKER_SESSION_H
#define CHECKER_CHECKER_SESSION_H

#include "base/buf.h"
#include "checker/checker_program.h"

struct err;
struct image;

enum { CHECKER_DISK_PAGE = 4096 };

enum checker_end {
	CHECKER_EXITED,
	CHECKER_SIGNALED, /* not by ours */
	CHECKER_HUNG,     /* longer than its time limit */
};

struct checker_run {
	enum checker_end end;
	int status;        /* exit code, or signal */
	int caught;        /* the signal by which it failed, where it caught that and exited; 0 */
	bool wrote;        /* the disk is not as it was before */
	uint64_t writes;   /* calls that write to it, also what was there; 0 where not counted */
	struct buf output; /* stdout and stderr, bounded */
	double cpu_seconds;
	uint64_t max_rss_kb;
};
void checker_run_free(struct checker_run *r);
/* Its exit status for a shell, where what does not end is killed. */
int checker_run_shell_status(const struct checker_run *r);

struct checker_session;

/* base: the disk that every test begins with; copied. The program has to live longer. */
struct checker_session *checker_session_open(const struct checker_program *p,
					     const struct image *base, struct err *err);
void checker_session_close(struct checker_session *s);

/* The disk as it is now, to be read. */
const uint8_t *checker_disk(const struct checker_session *s, uint64_t *ret_size);
/* Changes it. */
void checker_disk_write(struct checker_session *s, uint64_t at, const void *bytes, size_t len);
/* As it was at the beginning. Costs what was changed. */
void checker_disk_restore(struct checker_session *s);
/* The pages that are not as at the beginning, by number; valid until the next call of this. */
const uint64_t *checker_disk_changed(struct checker_session *s, size_t *ret_count);

/* One run of a mode (checker_program.h), on the disk as it is now. What *ret held is freed. */
int checker_session_run(struct checker_session *s, int mode, struct checker_run *ret,
			struct err *err);
/* How it is run: copied, or started again for each run; for reports. */
bool checker_session_copies(const struct checker_session *s, int mode);

#endif
