/* recorder.h -- a loop device on an image, and a log of what was written to it.
 *
 * The checker opens the recorder and starts it on an image; a process that is forked then attaches
 * the device and makes calls. */
#ifndef STORAGE_RECORDER_H
#define STORAGE_RECORDER_H

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct err;
struct image;
struct recorder;

/* How requests are seen. The best is the fastest that works. */
enum recorder_means {
	RECORDER_BEST,
	RECORDER_BPF,  /* by a program in the kernel (disk_tracer.h) */
	RECORDER_FUSE, /* the device is on a file whose server we are (fuse_disk.h) */
};

/* Whether any works here, as far as that is known without trying. */
bool recorder_possible(void);

/* ---- the checker ---- */

int recorder_open(struct recorder **ret, enum recorder_means means, struct err *err);
void recorder_close(struct recorder *r); /* NULL is none */
/* How it records: "BPF"; or "FUSE", and why not by BPF, where the best was asked for. */
void recorder_describe(const struct recorder *r, struct buf *out);
/* For a process that is to be forked now. The log is empty once it mounts. */
int recorder_start(struct recorder *r, const struct image *image, struct err *err);
/* The descriptor that process is to keep; -1: none. */
int recorder_fd(const struct recorder *r);
/* Once it has attached the device. */
void recorder_started(struct recorder *r);
/* The process that serves the disk; 0: none does. */
pid_t recorder_server(const struct recorder *r);
/* After its end. */
void recorder_stop(struct recorder *r);

/* The log is emptied before the next mount. */
void recorder_restart(struct recorder *r);
/* The image was changed otherwise: there is no log until it is emptied. */
void recorder_spoil(struct recorder *r, const char *why);
/* Adds the log (write_log.h); fails where it does not have everything. */
int recorder_copy(struct recorder *r, struct buf *out, struct err *err);

/* ---- the process that makes calls ---- */

/* As loop_attach() does. `place` is a directory of a private mount namespace. */
int recorder_attach(struct recorder *r, const char *place, struct buf *device, int *ret_loop_fd,
		    struct err *err);
/* The disk as a file, for what needs no device; only by FUSE. */
int recorder_attach_file(struct recorder *r, const char *place, int *ret_fd, struct err *err);
/* Before mounting, while the device is not used. */
void recorder_begin(struct recorder *r);
/* Whether what serves the disk is gone: the disk answers errors, which are not its own. */
bool recorder_is_gone(struct recorder *r);
/* A call has returned. */
void recorder_mark(struct recorder *r);

#endif
