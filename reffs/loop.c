/* loop.c -- reading requests and handing them on.
 *
 * All go to libfuse but FUSE_TMPFILE, which the library of Debian 12 does not know: it is
 * decoded and answered here, in the kernel's own format. */
#include "reffs/loop.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "reffs/caller_cpu.h"
#include "reffs/memory.h"
#include "reffs/requests.h"

static void fill_attr(struct fuse_attr *to, const struct stat *from)
{
	*to = (struct fuse_attr){
		.ino = from->st_ino,
		.size = (uint64_t)from->st_size,
		.blocks = (uint64_t)from->st_blocks,
		.atime = (uint64_t)from->st_atim.tv_sec,
		.mtime = (uint64_t)from->st_mtim.tv_sec,
		.ctime = (uint64_t)from->st_ctim.tv_sec,
		.atimensec = (uint32_t)from->st_atim.tv_nsec,
		.mtimensec = (uint32_t)from->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)from->st_ctim.tv_nsec,
		.mode = from->st_mode,
		.nlink = (uint32_t)from->st_nlink,
		.uid = from->st_uid,
		.gid = from->st_gid,
		.blksize = (uint32_t)from->st_blksize,
	};
}

static void serve_tmpfile(struct front *f, const struct fuse_in_header *in)
{
	const struct fuse_create_in *create = (const struct fuse_create_in *)(in + 1);
	struct requester caller = { in->uid, in->gid, NULL, 0 };
	struct fuse_out_header out = { .len = sizeof(out), .unique = in->unique };
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} made = { .open.open_flags = FOPEN_KEEP_CACHE };
	struct iovec parts[] = { { &out, sizeof(out) }, { &made, sizeof(made) } };
	struct stat st;
	int error = front_tmpfile(f, &caller, in->nodeid, create->mode, &st);

	out.error = -error;
	if (!error) {
		out.len += sizeof(made);
		made.entry.nodeid = st.st_ino;
		made.entry.entry_valid = made.entry.attr_valid = (uint64_t)f->timeout_seconds;
		fill_attr(&made.entry.attr, &st);
	}
	if (writev(fuse_session_fd(f->session), parts, error ? 1 : 2) < 0 && !error)
		front_tmpfile_lost(f, st.st_ino);
}

static void end_thread(void *of)
{
	free(((struct fuse_buf *)of)->mem);
	model_end_thread();
}

/* The thread can be ended while it waits for a request, and only then. */
static int loop_receive(struct fuse_session *session, struct fuse_buf *buf)
{
	int r;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	r = fuse_session_receive_buf(session, buf);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return r;
}

static void serve_next(struct front *f, struct fuse_buf *buf, struct seat *seat)
{
	const struct fuse_in_header *in = buf->mem;

	caller_cpu_follow(seat, in->pid);
	if (in->opcode == FUSE_TMPFILE)
		serve_tmpfile(f, in);
	else
		fuse_session_process_buf(f->session, buf);
	memory_settle();
}

void loop_serve(struct front *f)
{
	struct fuse_buf buf = { .mem = NULL };
	struct seat seat;
	int r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	seat_init(&seat);
	pthread_cleanup_push(end_thread, &buf);
	while (!fuse_session_exited(f->session)) {
		r = loop_receive(f->session, &buf);
		if (r > 0)
			serve_next(f, &buf, &seat);
		else if (r != -EINTR)
			break;
	}
	pthread_cleanup_pop(true);
}
