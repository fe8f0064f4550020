/* recorder.c -- a loop device on an image, and a log of what was written to it. */
#include "storage/recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "storage/fuse_disk.h"
#include "storage/mounting.h"
#include "storage/recording.h"
#include "storage/write_log.h"

struct recorder {
	struct recording *recording;
	struct fuse_disk disk;
	pid_t owner;
};

void recorder_lacks(struct buf *out)
{
	if (!fuse_disk_possible())
		buf_adds(out, "/dev/fuse cannot be opened");
}

int recorder_open(struct recorder **ret, enum recorder_means means, struct err *err)
{
	struct recorder *r = must_alloc(sizeof(*r));
	int error;

	r->disk.connection_fd = -1;
	r->owner = getpid();
	error = recording_new(&r->recording, err);
	if (error)
		recorder_close(r);
	else
		*ret = r;
	return error;
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	recorder_stop(r);
	recording_free(r->recording);
	free(r);
}

int recorder_start(struct recorder *r, const struct image *image, struct err *err)
{
	recording_ask_restart(r->recording);
	return fuse_disk_start(&r->disk, image, r->recording, err);
}

int recorder_fd(const struct recorder *r)
{
	return r->disk.connection_fd;
}

void recorder_started(struct recorder *r)
{
	fuse_disk_handed_over(&r->disk);
}

void recorder_stop(struct recorder *r)
{
	fuse_disk_stop(&r->disk);
}

void recorder_restart(struct recorder *r)
{
	recording_ask_restart(r->recording);
}

void recorder_spoil(struct recorder *r, const char *why)
{
	recording_spoil(r->recording, why);
}

int recorder_copy(struct recorder *r, struct buf *out, struct err *err)
{
	return recording_copy(r->recording, out, err);
}

int recorder_attach(struct recorder *r, const char *place, struct buf *device, int *ret_loop_fd,
		    struct err *err)
{
	int fd, error = fuse_disk_mount(&r->disk, place, r->owner, &fd, err);

	if (error)
		return error;
	error = loop_attach(fd, device, ret_loop_fd, err);
	close(fd);
	return error;
}

void recorder_begin(struct recorder *r)
{
	recording_begin(r->recording);
}

void recorder_mark(struct recorder *r)
{
	recording_add(r->recording, RECORD_MARK, 0, NULL, 0);
}
