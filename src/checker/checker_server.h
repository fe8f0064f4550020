/* checker_server.h -- the process of a checker, confined: started once and copied for every run
 * (preload/), or started again for each.
 *
 * A runner is its parent, the first process of a new process namespace: when that one ends, so does
 * everything that the checker has started. */
#ifndef CHECKER_CHECKER_SERVER_H
#define CHECKER_CHECKER_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct checker_program;
struct control;
struct err;

struct checker_server {
	const struct checker_program *program;
	char *command; /* as the shell takes it */
	struct control *control;
	int control_fd, input_fd, output_fd;
	int disk_fd;    /* the session's */
	int preload_fd; /* the session's */
	const char *output;
	/* Of a copy: what the program has read and said before is a part of it. */
	off_t input_start, output_start;
	pid_t runner; /* 0: none runs */
	bool copies;  /* it has stopped at its first open of the disk before */
	bool anew;    /* is started for every run: it cannot be copied */
};

/* How a run ended that was not ours to decide. */
struct checker_ended {
	bool in_time;
	int status; /* of wait4(), where it was in time */
	double cpu_seconds;
	uint64_t max_rss_kb;
};

/* The descriptors stay the caller's. capacity: bytes that the disk can grow to. */
int checker_server_make(struct checker_server *s, const struct checker_program *p,
			const char *command, int disk_fd, int preload_fd, uint64_t capacity,
			struct err *err);
void checker_server_free(struct checker_server *s); /* also of one that was never made: all zero */

/* Up to where it opens the disk, unless it is there. One that does not stop there, and so may have
 * written to the disk, will be started again for every run. */
int checker_server_start(struct checker_server *s, struct err *err);
/* Runs it once on the disk, which is of this size, after a start, or without one: once. What it
 * says is added to output. */
int checker_server_run(struct checker_server *s, uint64_t disk_size, bool once,
		       struct checker_ended *ret, struct buf *output, struct err *err);

/* A descriptor of the library that checkers are started with. */
int checker_server_preload(struct err *err);

#endif
