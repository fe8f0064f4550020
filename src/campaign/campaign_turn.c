/* campaign_turn.c -- one turn of an arm: a command of ours in a process. */
#include "campaign/campaign_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "process/owner.h"

enum { ERRORS_MAX = 1 << 16, CODE_UNKNOWN = 2, CODE_USAGE = 64, CODE_NOT_STARTED = 127 };

/* What was found last is still shrunk and verified when the slice is over. One that does not know
 * of the slice may take several. */
static const double patience_factor = 2, patience_factor_untimed = 5, patience_least_seconds = 30,
		    end_seconds = 60;

/* ---- the command line ---- */

static void turn_word(struct buf *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void turn_word(struct buf *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vaddf(words, format, args);
	va_end(args);
	buf_add(words, "", 1);
}

/* Options of the process that is started here: the command, or the one that hands it to workers. */
static void turn_own_words(const struct campaign_turn *t, struct buf *words)
{
	turn_word(words, "--known=%s/known", t->path);
	turn_word(words, "--%s=%s", t->resumed ? "resume" : "out", t->path);
	turn_word(words, "--json");
}

/* The whole turn is one part, for one worker. */
static void turn_swarm_words(const struct campaign_turn *t, struct buf *words)
{
	turn_word(words, "swarm");
	turn_word(words, "start");
	turn_word(words, "--parts=1");
	turn_word(words, "--await");
	turn_own_words(t, words);
	turn_word(words, "--");
}

/* The options of the arm come behind --jobs, which they may set. */
static void turn_words(const struct campaign_turn *t, const struct campaign_arm *m,
		       const char *config, struct buf *words)
{
	const struct instrument *instrument = m->instrument;

	turn_word(words, "assay");
	if (t->on_swarm)
		turn_swarm_words(t, words);
	turn_word(words, "%s", instrument->command);
	turn_word(words, "%s", m->target);
	for (size_t i = 0; instrument->words[i]; i++)
		turn_word(words, "%s", instrument->words[i]);
	if (!t->on_swarm)
		turn_word(words, "--jobs=1");
	buf_add(words, buf_str(&m->options), m->options.len);
	if (instrument->timed) {
		turn_word(words, "--seconds=%g", t->slice_seconds);
		turn_word(words, "--seed=%llu", (unsigned long long)t->seed);
	}
	if (instrument->in_parts)
		turn_word(words, "--part=%llu/%llu", (unsigned long long)m->part + 1,
			  (unsigned long long)m->section->parts);
	if (config)
		turn_word(words, "--config=%s", config);
	if (!t->on_swarm)
		turn_own_words(t, words);
}

static char **turn_vector(const struct buf *words)
{
	size_t count = 0;
	char **vector;

	for (size_t at = 0; at < words->len; at += strlen(words->data + at) + 1)
		count++;
	vector = must_alloc((count + 1) * sizeof(*vector));
	count = 0;
	for (size_t at = 0; at < words->len; at += strlen(words->data + at) + 1)
		vector[count++] = words->data + at;
	vector[count] = NULL;
	return vector;
}

/* ---- the process ---- */

/* In the child. Signals that we catch are the usual ones again after execve(2); those that are
 * ignored stay so. */
static _Noreturn void turn_main(int program_fd, char **words, int errors_fd, pid_t parent)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	owner_follow(parent, SIGKILL);
	if (setpgid(0, 0) || null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 ||
	    dup2(errors_fd, 2) < 0)
		_exit(CODE_NOT_STARTED);
	fexecve(program_fd, words, environ);
	dprintf(2, "cannot start assay: %s\n", strerror(errno));
	_exit(CODE_NOT_STARTED);
}

int campaign_turn_start(struct campaign_turn *t, const struct campaign_arm *m, int program_fd,
			const char *config, struct err *err)
{
	struct buf words = BUF_INIT, errors = BUF_INIT;
	pid_t parent = getpid();
	char **vector;
	int fd, status = 0;

	buf_addf(&errors, "%s/errors", t->path);
	fd = open(errors.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		status = err_sys(err, errno, "cannot write %s", errors.data);
	buf_free(&errors);
	if (status)
		return status;
	turn_words(t, m, config, &words);
	vector = turn_vector(&words);
	fflush(NULL);
	t->asked = t->killed = t->stopped = false;
	t->started_seconds = clock_seconds();
	t->pid = fork();
	if (!t->pid)
		turn_main(program_fd, vector, fd, parent);
	if (t->pid < 0)
		status = err_sys(err, errno, "cannot start a process");
	else
		t->pid_fd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	close(fd);
	free(vector);
	buf_free(&words);
	return status;
}

/* ---- its end ---- */

json_t *campaign_turn_report(const char *path)
{
	struct buf file = BUF_INIT;
	json_t *run;

	buf_addf(&file, "%s/run.json", path);
	run = json_load_file(file.data, 0, NULL);
	buf_free(&file);
	if (!json_is_object(run)) {
		json_decref(run);
		run = NULL;
	}
	return run;
}

/* The last line of what it said: an error comes behind remarks. */
static void turn_read_errors(const char *path, char *ret, size_t size)
{
	struct buf file = BUF_INIT, text = BUF_INIT;
	const char *line;

	*ret = '\0';
	buf_addf(&file, "%s/errors", path);
	if (!buf_read_file(&text, file.data, ERRORS_MAX, NULL) && text.len) {
		while (text.len && text.data[text.len - 1] == '\n')
			text.data[--text.len] = '\0';
		line = strrchr(text.data, '\n');
		snprintf(ret, size, "%s", line ? line + 1 : text.data);
	}
	buf_free(&file);
	buf_free(&text);
}

static double turn_patience(const struct campaign_turn *t, const struct instrument *instrument)
{
	if (!instrument->timed)
		return t->slice_seconds * patience_factor_untimed;
	return fmax(t->slice_seconds * patience_factor, t->slice_seconds + patience_least_seconds);
}

static void turn_press(struct campaign_turn *t, bool stop, const struct instrument *instrument)
{
	double now = clock_seconds();

	if (!t->asked && (stop || now > t->started_seconds + turn_patience(t, instrument))) {
		t->asked = !kill(t->pid, SIGTERM);
		t->stopped = stop;
		t->kill_seconds = now + end_seconds;
	} else if (t->asked && !t->killed && now > t->kill_seconds) {
		t->killed = !kill(-t->pid, SIGKILL);
	}
}

/* Exit status 2 (could not tell) is no failure, unless it says why and was not asked to end. One
 * that was asked before it could listen has done nothing, which is no failure either. */
static enum turn_end turn_judge(const struct campaign_turn *t, const struct turn_result *r)
{
	if (t->asked && r->signal == SIGTERM)
		return TURN_OK;
	switch (r->signal ? CODE_NOT_STARTED : r->exit_code) {
	case 0:
	case 1:
		return r->run ? TURN_OK : TURN_FAILED;
	case CODE_UNKNOWN:
		return r->run && (t->asked || !*r->reason) ? TURN_OK : TURN_FAILED;
	case CODE_USAGE:
		return TURN_CANNOT;
	default:
		return TURN_FAILED;
	}
}

static void turn_name_reason(const struct campaign_turn *t, struct turn_result *r)
{
	if (r->end == TURN_OK && t->asked && !t->stopped)
		snprintf(r->reason, sizeof(r->reason), "cut off after %.0f s", r->seconds);
	else if (r->end == TURN_OK)
		*r->reason = '\0';
	else if (t->killed)
		snprintf(r->reason, sizeof(r->reason), "did not end in time");
	else if (r->signal)
		snprintf(r->reason, sizeof(r->reason), "ended by signal %d (%s)", r->signal,
			 strsignal(r->signal));
	else if (!*r->reason && r->exit_code > 1)
		snprintf(r->reason, sizeof(r->reason), "exit status %d", r->exit_code);
	else if (!*r->reason)
		snprintf(r->reason, sizeof(r->reason), "left no run.json");
}

bool campaign_turn_ended(struct campaign_turn *t, bool stop, const struct instrument *instrument,
			 struct turn_result *ret)
{
	struct rusage usage;
	int status;

	turn_press(t, stop, instrument);
	if (wait4(t->pid, &status, WNOHANG, &usage) != t->pid)
		return false;
	if (t->pid_fd >= 0)
		close(t->pid_fd);
	*ret = (struct turn_result){
		.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.seconds = clock_seconds() - t->started_seconds,
		.cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		.run = campaign_turn_report(t->path),
	};
	turn_read_errors(t->path, ret->reason, sizeof(ret->reason));
	ret->end = turn_judge(t, ret);
	turn_name_reason(t, ret);
	/* Processes that were not waited for are counted by the command itself, if at all. */
	if (ret->end == TURN_OK)
		ret->cpu_seconds =
			fmax(ret->cpu_seconds,
			     json_number_value(json_object_get(ret->run, "cpu_seconds")));
	return true;
}
