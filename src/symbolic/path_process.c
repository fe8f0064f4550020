/* path_process.c -- explorations of paths in a separate process.
 *
 * It reads a request, and writes a row for each path, with its bytes, and a last one with the
 * result. One that is no longer listened to ends, and is started again when it is needed. */
#include "symbolic/path_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "process/owner.h"
#include "storage/image.h"

enum row_kind { ROW_PATH, ROW_RESULT, ROW_FAILURE };

struct row {
	enum row_kind kind;
	uint32_t len;               /* of what follows: bytes of the path, why it is incomplete */
	struct hash path;           /* ROW_PATH */
	struct paths_result result; /* ROW_RESULT, but for its text */
	struct err err;             /* ROW_FAILURE */
};

/* Ranges and seeds follow. */
struct path_request {
	struct paths_options options; /* but for what it points to */
	uint64_t seed_bytes;
};

struct path_process {
	char *command;
	const struct image *disk;
	double run_seconds;
	pid_t pid; /* 0: there is none */
	int fd;
};

static bool write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_all(int fd, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static size_t options_len(const struct paths_options *o)
{
	size_t len = 0;

	for (size_t i = 0; i < o->range_count; i++)
		len += o->ranges[i].len;
	return len;
}

/* ---- there ---- */

struct speaker {
	int fd;
	uint32_t len; /* of the inputs */
};

static bool speaker_found(void *to, const uint8_t *values, struct hash path)
{
	const struct speaker *s = to;
	struct row row = { .kind = ROW_PATH, .len = s->len, .path = path };

	return write_all(s->fd, &row, sizeof(row)) && write_all(s->fd, values, s->len);
}

/* One exploration; false: the other end is closed. */
static bool speaker_serve(const struct paths_options *o, int fd)
{
	struct speaker s = { .fd = fd, .len = (uint32_t)options_len(o) };
	struct row row = { .kind = ROW_RESULT };
	bool sent;

	if (paths_explore(o, speaker_found, &s, &row.result, &row.err))
		row.kind = ROW_FAILURE;
	else
		row.len = (uint32_t)row.result.why_not.len;
	sent = write_all(fd, &row, sizeof(row)) &&
	       write_all(fd, buf_str(&row.result.why_not), row.len);
	paths_result_free(&row.result);
	return sent;
}

static _Noreturn void speaker_main(const struct path_process *p, int fd, pid_t parent)
{
	struct paths_session *session;
	struct path_range ranges[PATH_RANGES_MAX];
	struct path_request request;
	bool listened = true;

	owner_follow(parent, SIGKILL);
	session = paths_session_open(p->command, p->disk, p->run_seconds);
	while (listened && read_all(fd, &request, sizeof(request)) &&
	       read_all(fd, ranges, request.options.range_count * sizeof(*ranges))) {
		uint8_t *seeds = must_alloc(request.seed_bytes + 1);

		request.options.session = session;
		request.options.ranges = ranges;
		request.options.seeds = seeds;
		listened = read_all(fd, seeds, request.seed_bytes) &&
			   speaker_serve(&request.options, fd);
		free(seeds);
	}
	paths_session_close(session);
	_exit(0);
}

/* ---- here ---- */

struct path_process *path_process_open(const char *command, const struct image *disk,
				       double run_seconds)
{
	struct path_process *p = must_alloc(sizeof(*p));

	*p = (struct path_process){ must_strdup(command), disk, run_seconds, 0, -1 };
	return p;
}

/* It ends by itself when it cannot write, or has nothing to read. */
static void process_stop(struct path_process *p)
{
	if (!p->pid)
		return;
	close(p->fd);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}

void path_process_close(struct path_process *p)
{
	if (!p)
		return;
	process_stop(p);
	free(p->command);
	free(p);
}

static int process_start(struct path_process *p, struct err *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (p->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "cannot make a socket");
	p->pid = fork();
	if (!p->pid) {
		close(ends[0]);
		speaker_main(p, ends[1], parent);
	}
	close(ends[1]);
	if (p->pid < 0) {
		p->pid = 0;
		close(ends[0]);
		return err_sys(err, errno, "cannot start the search for paths");
	}
	p->fd = ends[0];
	return 0;
}

static bool process_ask(const struct path_process *p, const struct paths_options *o)
{
	const struct path_request request = { .options = *o,
					      .seed_bytes = o->seed_count * options_len(o) };

	return write_all(p->fd, &request, sizeof(request)) &&
	       write_all(p->fd, o->ranges, o->range_count * sizeof(*o->ranges)) &&
	       write_all(p->fd, o->seeds, request.seed_bytes);
}

/* Until the last row; false: it ended before. */
static bool process_listen(struct path_process *p,
			   bool (*found)(void *to, const uint8_t *values, struct hash path),
			   void *to, struct row *ret, struct buf *text)
{
	for (;;) {
		char bytes[PATH_INPUTS_MAX];

		if (!read_all(p->fd, ret, sizeof(*ret)) || ret->len > sizeof(bytes) ||
		    !read_all(p->fd, bytes, ret->len))
			return false;
		if (ret->kind != ROW_PATH) {
			buf_add(text, bytes, ret->len);
			return true;
		}
		if (!found(to, (const uint8_t *)bytes, ret->path)) {
			*ret = (struct row){ .kind = ROW_RESULT };
			buf_adds(text, "it was stopped");
			process_stop(p);
			return true;
		}
	}
}

int path_process_explore(struct path_process *p, const struct paths_options *o,
			 bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
			 struct paths_result *ret, struct err *err)
{
	struct buf why = BUF_INIT;
	struct row last;
	int r;

	if (o->range_count > PATH_RANGES_MAX)
		return err_set(err, E2BIG, "paths over %zu ranges of bytes", o->range_count);
	r = process_start(p, err);
	if (r)
		return r;
	if (!process_ask(p, o) || !process_listen(p, found, to, &last, &why)) {
		buf_free(&why);
		process_stop(p);
		return err_set(err, EIO, "the search for paths has died");
	}
	if (last.kind == ROW_RESULT) {
		*ret = last.result;
		ret->why_not = why;
		return 0;
	}
	buf_free(&why);
	if (err)
		*err = last.err;
	return last.err.code;
}
