/* path_process.c -- paths_explore() in a process of its own.
 *
 * It writes to a pipe: a row for each path, with its bytes, and a last one with the result. One
 * that is no longer listened to ends. */
#include "symbolic/path_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

enum row_kind { ROW_PATH, ROW_RESULT, ROW_FAILURE };

struct row {
	enum row_kind kind;
	uint32_t len;               /* of what follows: bytes of the path, why it is incomplete */
	struct hash path;           /* ROW_PATH */
	struct paths_result result; /* ROW_RESULT, but for its text */
	struct err err;             /* ROW_FAILURE */
};

struct speaker {
	int fd;
	uint32_t len; /* of the inputs */
};

static bool write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

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

/* ---- there ---- */

static bool speaker_found(void *to, const uint8_t *values, struct hash path)
{
	const struct speaker *s = to;
	struct row row = { .kind = ROW_PATH, .len = s->len, .path = path };

	return write_all(s->fd, &row, sizeof(row)) && write_all(s->fd, values, s->len);
}

static _Noreturn void speaker_main(const struct paths_options *o, int fd, pid_t parent)
{
	struct speaker s = { .fd = fd };
	struct row row = { .kind = ROW_RESULT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < o->range_count; i++)
		s.len += (uint32_t)o->ranges[i].len;
	if (paths_explore(o, speaker_found, &s, &row.result, &row.err))
		row.kind = ROW_FAILURE;
	else
		row.len = (uint32_t)row.result.why_not.len;
	write_all(fd, &row, sizeof(row));
	write_all(fd, buf_str(&row.result.why_not), row.len);
	_exit(0);
}

/* ---- here ---- */

/* Until the last row; false: it ended before. */
static bool listen(int fd, bool (*found)(void *to, const uint8_t *values, struct hash path),
		   void *to, struct row *ret, struct buf *text)
{
	for (;;) {
		char bytes[PATH_INPUTS_MAX];

		if (!read_all(fd, ret, sizeof(*ret)) || ret->len > sizeof(bytes) ||
		    !read_all(fd, bytes, ret->len))
			return false;
		if (ret->kind != ROW_PATH) {
			buf_add(text, bytes, ret->len);
			return true;
		}
		if (!found(to, (const uint8_t *)bytes, ret->path)) {
			*ret = (struct row){ .kind = ROW_RESULT };
			buf_adds(text, "it was stopped");
			return true;
		}
	}
}

int paths_explore_apart(const struct paths_options *o,
			bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
			struct paths_result *ret, struct err *err)
{
	pid_t pid, parent = getpid();
	struct buf why = BUF_INIT;
	struct row last;
	int ends[2], r;
	bool heard;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	pid = fork();
	if (!pid) {
		close(ends[0]);
		speaker_main(o, ends[1], parent);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_sys(err, errno, "cannot start the search for paths");
	}
	heard = listen(ends[0], found, to, &last, &why);
	close(ends[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (heard && last.kind == ROW_RESULT) {
		*ret = last.result;
		ret->why_not = why;
		return 0;
	}
	buf_free(&why);
	if (!heard)
		return err_set(err, EIO, "the search for paths has died");
	r = last.err.code;
	if (err)
		*err = last.err;
	return r;
}
