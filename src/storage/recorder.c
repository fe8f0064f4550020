/* recorder.c -- a loop device on an image, and a log of what was written to it. */
#include "storage/recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/disk_tracer.h"
#include "storage/fuse_disk.h"
#include "storage/image.h"
#include "storage/mounting.h"
#include "storage/recording.h"
#include "storage/write_log.h"

struct recorder {
	struct recording *recording;
	struct disk_tracer *tracer; /* NULL: by FUSE */
	struct err why_not_bpf;
	struct fuse_disk disk;
	const struct image *image;
	pid_t owner;
};

bool recorder_possible(void)
{
	return fuse_disk_possible() || disk_tracer_possible();
}

static int recorder_choose(struct recorder *r, enum recorder_means means, struct err *err)
{
	int error;

	if (means == RECORDER_FUSE)
		return 0;
	error = disk_tracer_open(&r->tracer, r->recording, &r->why_not_bpf);
	if (!error || (means == RECORDER_BEST && fuse_disk_possible()))
		return 0;
	return err_set(err, -error, "%s", r->why_not_bpf.text);
}

int recorder_open(struct recorder **ret, enum recorder_means means, struct err *err)
{
	struct recorder *r = must_alloc(sizeof(*r));
	int error;

	r->disk.connection_fd = -1;
	r->owner = getpid();
	error = recording_new(&r->recording, err);
	if (!error)
		error = recorder_choose(r, means, err);
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
	disk_tracer_close(r->tracer);
	recording_free(r->recording);
	free(r);
}

void recorder_describe(const struct recorder *r, struct buf *out)
{
	buf_adds(out, r->tracer ? "BPF" : "FUSE");
	if (r->why_not_bpf.code)
		buf_addf(out, ", not BPF: %s", r->why_not_bpf.text);
}

int recorder_start(struct recorder *r, const struct image *image, struct err *err)
{
	recording_ask_restart(r->recording);
	r->image = image;
	return r->tracer ? 0 : fuse_disk_start(&r->disk, image, r->recording, err);
}

int recorder_fd(const struct recorder *r)
{
	return r->disk.connection_fd;
}

void recorder_started(struct recorder *r)
{
	fuse_disk_handed_over(&r->disk);
}

pid_t recorder_server(const struct recorder *r)
{
	return r->disk.server;
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
	if (r->tracer)
		disk_tracer_collect_last(r->tracer);
	return recording_copy(r->recording, out, err);
}

int recorder_attach_file(struct recorder *r, const char *place, int *ret_fd, struct err *err)
{
	must(!r->tracer);
	return fuse_disk_mount(&r->disk, place, r->owner, ret_fd, err);
}

static int recorder_attach_fuse(struct recorder *r, const char *place, struct buf *device,
				int *ret_loop_fd, struct err *err)
{
	int fd, error = recorder_attach_file(r, place, &fd, err);

	if (error)
		return error;
	error = loop_attach(fd, device, ret_loop_fd, err);
	close(fd);
	return error;
}

int recorder_attach(struct recorder *r, const char *place, struct buf *device, int *ret_loop_fd,
		    struct err *err)
{
	int error;

	if (!r->tracer)
		return recorder_attach_fuse(r, place, device, ret_loop_fd, err);
	error = loop_attach(r->image->fd, device, ret_loop_fd, err);
	if (!error)
		disk_tracer_watch(r->tracer, *ret_loop_fd);
	return error;
}

void recorder_begin(struct recorder *r)
{
	if (r->tracer)
		disk_tracer_collect(r->tracer);
	recording_begin(r->recording);
}

bool recorder_is_gone(struct recorder *r)
{
	return !r->tracer && !recording_is_held(r->recording);
}

void recorder_mark(struct recorder *r)
{
	if (r->tracer)
		disk_tracer_collect(r->tracer);
	recording_add(r->recording, RECORD_MARK, 0, NULL, 0);
}
