/* checker_session.c -- running a checker again and again on a disk in memory. */
#include "checker/checker_session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "checker/checker_disk.h"
#include "checker/checker_server.h"
#include "checker/preload/control.h"

_Static_assert((int)CHECKER_DISK_PAGE == (int)CONTROL_PAGE, "pages of one size");

struct checker_session {
	const struct checker_program *program;
	struct checker_pages disk;
	int preload_fd;
	struct checker_server
		servers[CHECKER_MODES_MAX - CHECKER_LIST]; /* by mode, from CHECKER_LIST */
};

void checker_run_free(struct checker_run *r)
{
	buf_free(&r->output);
}

int checker_run_shell_status(const struct checker_run *r)
{
	return r->end == CHECKER_EXITED   ? r->status
	     : r->end == CHECKER_SIGNALED ? 128 + r->status
					  : 128 + SIGKILL;
}

static struct checker_server *session_server(const struct checker_session *s, int mode)
{
	must(checker_program_mode(s->program, mode)->command);
	return (struct checker_server *)&s->servers[mode - CHECKER_LIST];
}

static int session_make_servers(struct checker_session *s, struct err *err)
{
	int ret = 0;

	for (int mode = CHECKER_LIST; mode < (int)s->program->mode_count && !ret; mode++) {
		const char *command = checker_program_mode(s->program, mode)->command;

		if (command)
			ret = checker_server_make(session_server(s, mode), s->program, command,
						  s->disk.fd, s->preload_fd, s->disk.capacity, err);
	}
	return ret;
}

struct checker_session *checker_session_open(const struct checker_program *p,
					     const struct image *base, struct err *err)
{
	struct checker_session *s = must_alloc(sizeof(*s));
	int ret;

	s->program = p;
	s->preload_fd = checker_server_preload(err);
	ret = s->preload_fd < 0 ? s->preload_fd : checker_pages_make(&s->disk, base, err);
	if (!ret)
		ret = session_make_servers(s, err);
	if (!ret)
		return s;
	checker_session_close(s);
	return NULL;
}

void checker_session_close(struct checker_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ARRAY_LEN(s->servers); i++)
		checker_server_free(&s->servers[i]);
	checker_pages_free(&s->disk);
	if (s->preload_fd >= 0)
		close(s->preload_fd);
	free(s);
}

const uint8_t *checker_disk(const struct checker_session *s, uint64_t *ret_size)
{
	if (ret_size)
		*ret_size = s->disk.size;
	return s->disk.bytes;
}

void checker_disk_write(struct checker_session *s, uint64_t at, const void *bytes, size_t len)
{
	checker_pages_write(&s->disk, at, bytes, len);
}

void checker_disk_restore(struct checker_session *s)
{
	checker_pages_restore(&s->disk);
}

const uint64_t *checker_disk_changed(struct checker_session *s, size_t *ret_count)
{
	return checker_pages_changed(&s->disk, ret_count);
}

bool checker_session_copies(const struct checker_session *s, int mode)
{
	return !session_server(s, mode)->anew;
}

static void session_judge_end(const struct checker_ended *ended, struct checker_run *ret)
{
	ret->cpu_seconds = ended->cpu_seconds;
	ret->max_rss_kb = ended->max_rss_kb;
	if (!ended->in_time) {
		ret->end = CHECKER_HUNG;
	} else if (WIFEXITED(ended->status)) {
		ret->end = CHECKER_EXITED;
		ret->status = WEXITSTATUS(ended->status);
	} else {
		ret->status = WTERMSIG(ended->status);
		ret->end = ret->status == SIGXCPU ? CHECKER_HUNG : CHECKER_SIGNALED;
	}
}

/* A checker that is started for the first time may run to its end instead of stopping. */
static int session_start(struct checker_session *s, struct checker_server *server, struct err *err)
{
	bool first = !server->copies && !server->anew;
	int ret;

	if (first)
		checker_pages_remember(&s->disk);
	ret = checker_server_start(server, err);
	if (first && !server->copies)
		checker_pages_put_back(&s->disk, server->control);
	return ret;
}

/* A copy was made when the disk had its first size; the program may have asked for it before. */
int checker_session_run(struct checker_session *s, int mode, struct checker_run *ret,
			struct err *err)
{
	struct checker_server *server = session_server(s, mode);
	bool resized = s->disk.size != s->disk.base_size, unseen = false, anew;
	struct checker_run run = { 0 };
	struct checker_ended ended;
	int r = resized ? 0 : session_start(s, server, err);

	if (r)
		return r;
	anew = resized || server->anew;
	if (anew)
		checker_pages_remember(&s->disk);
	else
		checker_pages_begin(&s->disk);
	buf_clear(&ret->output);
	r = checker_server_run(server, s->disk.size, anew, &ended, &ret->output, err);
	if (r)
		return r;
	run.output = ret->output;
	session_judge_end(&ended, &run);
	run.writes = server->control->writes;
	run.caught = run.end == CHECKER_EXITED ? server->control->caught : 0;
	run.wrote = anew ? checker_pages_compare(&s->disk, server->control)
			 : checker_pages_take(&s->disk, server->control, &unseen);
	server->anew |= unseen;
	*ret = run;
	return 0;
}
