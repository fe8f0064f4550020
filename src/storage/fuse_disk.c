/* fuse_disk.c -- an image as one file of a FUSE file system, whose server records what is written.
 */
#include "storage/fuse_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "process/descriptors.h"
#include "storage/image.h"
#include "storage/mounting.h"
#include "storage/recording.h"
#include "storage/write_log.h"

enum {
	PAGE = 4096,
	WRITE_MAX = 1 << 20,
	REQUEST_MAX = WRITE_MAX + PAGE,
	LAST_S = 20,          /* for unmounting what depends on us, once the owner is gone */
	ENDING_MS = 3000,     /* the same, where the owner waits */
	MOUNTED_NS = 1000000, /* between looks whether it is mounted */
	VALID_S = 3600,
	BLOCK = 512,
};

struct disk_server {
	int fd;
	const struct image *image;
	struct recording *recording;
	char *request; /* struct fuse_in_header, and what belongs to it */
};

bool fuse_disk_possible(void)
{
	return !access("/dev/fuse", R_OK | W_OK);
}

/* ---- the server ---- */

static void server_reply(const struct disk_server *s, int error, const void *data, size_t len)
{
	const struct fuse_in_header *in = (const struct fuse_in_header *)s->request;
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + (error ? 0 : len)),
		.error = -error,
		.unique = in->unique,
	};
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, error ? 0 : len } };

	/* It fails where the one who asked has given up. */
	(void)!writev(s->fd, parts, ARRAY_LEN(parts));
}

/* What follows the header. */
static const void *server_arguments(const struct disk_server *s)
{
	return s->request + sizeof(struct fuse_in_header);
}

static void server_init(const struct disk_server *s)
{
	const struct fuse_init_in *in = server_arguments(s);
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.flags = in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_READ),
		.max_background = 16,
		.congestion_threshold = 12,
		.max_write = WRITE_MAX,
		.max_pages = WRITE_MAX / PAGE,
		.time_gran = 1,
	};

	if (in->minor < out.minor)
		out.minor = in->minor;
	server_reply(s, 0, &out, sizeof(out));
}

static void server_attributes(const struct disk_server *s)
{
	struct fuse_attr_out out = {
		.attr_valid = VALID_S,
		.attr = {
			.ino = FUSE_ROOT_ID,
			.size = s->image->size,
			.blocks = s->image->size / BLOCK,
			.mode = S_IFREG | 0600,
			.nlink = 1,
			.blksize = PAGE,
		},
	};

	server_reply(s, 0, &out, sizeof(out));
}

/* A disk has one size. */
static void server_set_attributes(const struct disk_server *s)
{
	const struct fuse_setattr_in *in = server_arguments(s);

	if (in->valid & FATTR_SIZE && in->size != s->image->size)
		server_reply(s, EPERM, NULL, 0);
	else
		server_attributes(s);
}

static void server_open(const struct disk_server *s)
{
	struct fuse_open_out out = { .open_flags = FOPEN_DIRECT_IO };

	server_reply(s, 0, &out, sizeof(out));
}

static void server_statfs(const struct disk_server *s)
{
	struct fuse_statfs_out out = {
		.st = { .blocks = s->image->size / PAGE, .bsize = PAGE, .frsize = PAGE },
	};

	server_reply(s, 0, &out, sizeof(out));
}

static bool is_on_disk(const struct disk_server *s, uint64_t offset, uint64_t size)
{
	return size <= s->image->size && offset <= s->image->size - size;
}

static void server_read(const struct disk_server *s)
{
	const struct fuse_read_in *in = server_arguments(s);
	uint64_t offset = in->offset < s->image->size ? in->offset : s->image->size;
	uint64_t size = s->image->size - offset;

	server_reply(s, 0, s->image->bytes + offset, in->size < size ? in->size : size);
}

static void server_write(const struct disk_server *s)
{
	const struct fuse_write_in *in = server_arguments(s);
	const char *data = (const char *)(in + 1);
	struct fuse_write_out out = { .size = in->size };

	if (in->size > WRITE_MAX || !is_on_disk(s, in->offset, in->size)) {
		server_reply(s, ENOSPC, NULL, 0);
		return;
	}
	memcpy(s->image->bytes + in->offset, data, in->size);
	if (in->size)
		recording_add(s->recording, RECORD_WRITE, in->offset, data, in->size);
	server_reply(s, 0, &out, sizeof(out));
}

/* A discard looks like zeroes that may be a hole; a loop device reads zeroes after either. */
static void server_fallocate(const struct disk_server *s)
{
	const struct fuse_fallocate_in *in = server_arguments(s);
	const uint32_t zeroing = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;

	if (!(in->mode & zeroing) || in->mode & ~(zeroing | FALLOC_FL_KEEP_SIZE)) {
		server_reply(s, EOPNOTSUPP, NULL, 0);
		return;
	}
	if (!in->length || !is_on_disk(s, in->offset, in->length) || in->length > UINT32_MAX) {
		server_reply(s, EINVAL, NULL, 0);
		return;
	}
	if (fallocate(s->image->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)in->offset,
		      (off_t)in->length)) {
		server_reply(s, errno, NULL, 0);
		return;
	}
	recording_add(s->recording, RECORD_ZEROES, in->offset, NULL, (uint32_t)in->length);
	server_reply(s, 0, NULL, 0);
}

static void server_serve(const struct disk_server *s)
{
	const struct fuse_in_header *in = (const struct fuse_in_header *)s->request;

	switch (in->opcode) {
	case FUSE_INIT:
		server_init(s);
		break;
	case FUSE_GETATTR:
		server_attributes(s);
		break;
	case FUSE_SETATTR:
		server_set_attributes(s);
		break;
	case FUSE_OPEN:
		server_open(s);
		break;
	case FUSE_STATFS:
		server_statfs(s);
		break;
	case FUSE_READ:
		server_read(s);
		break;
	case FUSE_WRITE:
		server_write(s);
		break;
	case FUSE_FALLOCATE:
		server_fallocate(s);
		break;
	case FUSE_FSYNC:
		recording_add(s->recording, RECORD_FLUSH, 0, NULL, 0);
		server_reply(s, 0, NULL, 0);
		break;
	case FUSE_RELEASE:
	case FUSE_DESTROY:
		server_reply(s, 0, NULL, 0);
		break;
	case FUSE_FORGET: /* these have no reply */
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		server_reply(s, ENOSYS, NULL, 0);
	}
}

static void on_owner_gone(int sig)
{
	alarm(LAST_S);
}

/* Until the file is unmounted. Before it is mounted the kernel answers EPERM. */
static _Noreturn void server_run(const struct disk_server *s, pid_t owner)
{
	const struct timespec moment = { .tv_nsec = MOUNTED_NS };
	ssize_t n;

	while ((n = read(s->fd, s->request, REQUEST_MAX)) >= 0 || errno != ENODEV) {
		if (n >= (ssize_t)sizeof(struct fuse_in_header)) {
			server_serve(s);
		} else if (n < 0 && errno == EPERM) {
			if (getppid() != owner)
				break;
			nanosleep(&moment, NULL);
		}
	}
	_exit(0);
}

/* Memory that it takes must not wait for writes to the disk that it serves. */
static _Noreturn void server_begin(struct disk_server *s, pid_t owner)
{
	int kept[] = { s->fd, s->image->fd };

	signal(SIGUSR1, on_owner_gone);
	signal(SIGALRM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (getppid() != owner)
		_exit(0);
	setsid();
	descriptors_keep(kept, ARRAY_LEN(kept));
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	recording_hold(s->recording);
	server_run(s, owner);
}

/* ---- its owner ---- */

int fuse_disk_connect(void)
{
	return open("/dev/fuse", O_RDWR | O_CLOEXEC);
}

int fuse_disk_start_on(struct fuse_disk *disk, int connection_fd, const struct image *image,
		       struct recording *recording, struct err *err)
{
	struct disk_server server = { .fd = connection_fd, .image = image, .recording = recording };
	pid_t owner = getpid();
	int error;

	*disk = (struct fuse_disk){ .connection_fd = connection_fd };
	server.request = must_alloc(REQUEST_MAX);
	disk->server = fork();
	if (!disk->server)
		server_begin(&server, owner);
	error = errno;
	free(server.request);
	if (disk->server > 0)
		return 0;
	disk->server = 0;
	fuse_disk_handed_over(disk);
	return err_sys(err, error, "cannot start a server of the disk");
}

int fuse_disk_start(struct fuse_disk *disk, const struct image *image, struct recording *recording,
		    struct err *err)
{
	int fd = fuse_disk_connect();

	*disk = (struct fuse_disk){ .connection_fd = -1 };
	if (fd < 0)
		return err_sys(err, errno, "cannot open /dev/fuse");
	return fuse_disk_start_on(disk, fd, image, recording, err);
}

void fuse_disk_handed_over(struct fuse_disk *disk)
{
	if (disk->connection_fd >= 0)
		close(disk->connection_fd);
	disk->connection_fd = -1;
}

void fuse_disk_stop(struct fuse_disk *disk)
{
	struct pollfd ended = { .events = POLLIN };

	if (!disk->server)
		return;
	fuse_disk_handed_over(disk);
	ended.fd = (int)syscall(SYS_pidfd_open, disk->server, 0);
	if (ended.fd < 0 || poll(&ended, 1, ENDING_MS) <= 0)
		kill(disk->server, SIGKILL);
	if (ended.fd >= 0)
		close(ended.fd);
	while (waitpid(disk->server, NULL, 0) < 0 && errno == EINTR)
		;
	disk->server = 0;
}

/* ---- the process that mounts ---- */

int fuse_disk_mount(const struct fuse_disk *disk, const char *place, pid_t owner, int *ret_fd,
		    struct err *err)
{
	struct buf path = BUF_INIT, options = BUF_INIT;
	int fd, r = 0;

	buf_addf(&path, "%s/" IMAGE_NAME "%d recorded", place, (int)owner);
	buf_addf(&options, "fd=%d,rootmode=%o,user_id=%u,group_id=%u", disk->connection_fd, S_IFREG,
		 (unsigned)geteuid(), (unsigned)getegid());
	fd = open(path.data, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		r = err_sys(err, errno, "cannot make %s", path.data);
	else
		close(fd);
	if (!r)
		r = mounting_mount("fuse", "assay", options.data, path.data, err);
	close(disk->connection_fd);
	if (!r) {
		*ret_fd = open(path.data, O_RDWR | O_CLOEXEC);
		if (*ret_fd < 0)
			r = err_sys(err, errno, "cannot open the recorded disk");
	}
	buf_free(&path);
	buf_free(&options);
	return r;
}
