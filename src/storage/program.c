/* program.c -- running the programs that make and check file systems. */
#include "storage/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"

enum { OUTPUT_MAX = 64 * 1024 };

static const char more_places[] = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

void program_fill(struct buf *out, const char *command, const struct program_value *values,
		  size_t count)
{
	while (*command) {
		size_t i, len = 0;

		for (i = 0; i < count; i++) {
			len = strlen(values[i].name);
			if (command[0] == '{' && !strncmp(command + 1, values[i].name, len) &&
			    command[len + 1] == '}')
				break;
		}
		if (i < count) {
			buf_adds(out, values[i].text);
			command += len + 2;
		} else {
			buf_addch(out, *command++);
		}
	}
}

static void program_add_name(const char *command, struct buf *out)
{
	command += strspn(command, " \t");
	buf_add(out, command, strcspn(command, " \t\n"));
}

void program_search_path(struct buf *out)
{
	const char *path = getenv("PATH");

	buf_addf(out, "%s%s%s", path ? path : "", path && *path ? ":" : "", more_places);
}

/* Where the command's program is. */
static bool program_find(const char *command, struct buf *ret)
{
	struct buf program = BUF_INIT, path = BUF_INIT;
	bool found = false;
	char *save = NULL;

	program_add_name(command, &program);
	program_search_path(&path);
	if (strchr(buf_str(&program), '/')) {
		buf_adds(ret, program.data);
		found = !access(program.data, X_OK);
	}
	for (char *dir = strtok_r(path.data, ":", &save); dir && !found && program.len;
	     dir = strtok_r(NULL, ":", &save)) {
		buf_clear(ret);
		buf_addf(ret, "%s/%s", dir, program.data);
		found = !access(ret->data, X_OK);
	}
	buf_free(&program);
	buf_free(&path);
	return found;
}

bool program_exists(const char *command)
{
	struct buf full = BUF_INIT;
	bool found = program_find(command, &full);

	buf_free(&full);
	return found;
}

void program_lacking(const char *command, const char *packages, struct buf *out)
{
	struct buf name = BUF_INIT;

	if (out->len || !command || program_exists(command))
		return;
	program_add_name(command, &name);
	buf_addf(out, "the program %s is missing; ", buf_str(&name));
	if (packages)
		buf_addf(out, "Debian has it in %s", packages);
	else
		buf_addf(out, "Debian may have it in a package %s", buf_str(&name));
	buf_free(&name);
}

void program_lacking_any(const char *programs, const char *packages, struct buf *out)
{
	for (; programs && *programs; programs += strcspn(programs, " ")) {
		programs += strspn(programs, " ");
		program_lacking(programs, packages, out);
	}
}

enum { WORDS_MAX = 64 };

struct program_command {
	struct buf shell;   /* what the shell is given, where there are no words */
	struct buf program; /* that the first word names */
	struct buf text;    /* of the words */
	char *words[WORDS_MAX + 1];
	struct buf path;
	char *environment[3];
};

/* Whether a shell would do nothing with the text but split it, and execute the program: that takes
 * longer than some programs. */
static bool program_is_plain(const char *text)
{
	return !strpbrk(text, "|&;<>()$`\\\"'*?[]{}#~!\n") &&
	       !memchr(text, '=', strcspn(text, " \t"));
}

static void command_split(struct program_command *c, const char *text)
{
	char *save = NULL;
	size_t count = 0;

	if (!program_is_plain(text) || !program_find(text, &c->program))
		return;
	buf_adds(&c->text, text);
	for (char *word = strtok_r(c->text.data, " \t", &save); word && count < WORDS_MAX;
	     word = strtok_r(NULL, " \t", &save))
		c->words[count++] = word;
	if (count == WORDS_MAX)
		c->words[0] = NULL;
}

static void command_init(struct program_command *c, const char *text)
{
	*c = (struct program_command){ .shell = BUF_INIT };
	buf_addf(&c->shell, "exec </dev/null; exec %s", text);
	buf_adds(&c->path, "PATH=");
	program_search_path(&c->path);
	c->environment[0] = c->path.data;
	c->environment[1] = (char *)"LC_ALL=C";
	command_split(c, text);
}

static void command_free(struct program_command *c)
{
	buf_free(&c->shell);
	buf_free(&c->program);
	buf_free(&c->text);
	buf_free(&c->path);
}

/* In the child, which shares our memory until it executes: system calls only. */
static _Noreturn void execute(const struct program_command *c, int pass_fd, int output_fd,
			      int end_signal)
{
	char *shell[] = { (char *)"sh", (char *)"-c", c->shell.data, NULL };
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, end_signal);
	dup2(output_fd, STDOUT_FILENO);
	dup2(output_fd, STDERR_FILENO);
	if (pass_fd == PROGRAM_FD)
		fcntl(pass_fd, F_SETFD, 0);
	else if (pass_fd >= 0)
		dup2(pass_fd, PROGRAM_FD);
	if (c->words[0]) {
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
		execve(c->program.data, c->words, c->environment);
	}
	execve("/bin/sh", shell, c->environment);
	_exit(127);
}

/* The signal ends it with us. */
static pid_t program_fork(const char *text, int pass_fd, int output_fd, int end_signal)
{
	struct program_command c;
	pid_t pid;

	command_init(&c, text);
	pid = vfork();
	if (!pid)
		execute(&c, pass_fd, output_fd, end_signal);
	command_free(&c);
	return pid;
}

pid_t program_start(const char *text, int pass_fd, int output_fd)
{
	return program_fork(text, pass_fd, output_fd, SIGKILL);
}

/* Reads what it says until it ends or the time is over; false for the latter. */
static bool program_listen(int fd, int64_t until_ms, struct buf *output)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char chunk[4096];
	int64_t left_ms;
	ssize_t n;

	while ((left_ms = until_ms - clock_ms()) > 0) {
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return true;
		if (output && output->len < OUTPUT_MAX)
			buf_add(output, chunk, (size_t)n);
	}
	return false;
}

/* Waits for the end itself, which may come after the last output was closed. */
static bool program_await_end(pid_t pid, int64_t until_ms, int *ret_status)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	int64_t left_ms;
	bool ok = false;

	while (!ok && (left_ms = until_ms - clock_ms()) > 0)
		ok = poll(&ended, 1, (int)left_ms) > 0;
	if (pidfd >= 0)
		close(pidfd);
	return ok && waitpid(pid, ret_status, 0) == pid;
}

bool program_has_ended(pid_t pid)
{
	siginfo_t end = { 0 };

	return !waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) && end.si_pid;
}

/* As a shell has it. */
static int program_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int program_await(pid_t pid, double seconds, int *ret_status, double *ret_cpu_seconds,
		  struct err *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status;
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	bool in_time = poll(&ended, 1, (int)(seconds * 1000)) > 0;
	struct rusage used;

	if (pidfd >= 0)
		close(pidfd);
	if (!in_time) { /* one that sleeps in the kernel would have us wait for ever */
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, WNOHANG);
		return err_set(err, ETIME, "a program takes longer than %g seconds", seconds);
	}
	if (wait4(pid, &status, 0, &used) != pid)
		return err_sys(err, errno, "cannot wait for a program");
	*ret_cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
	*ret_status = program_status(status);
	return 0;
}

static int program_run_signal(const char *command, int pass_fd, double seconds, int end_signal,
			      int *ret_status, struct buf *output, struct err *err)
{
	int64_t until_ms = clock_ms() + (int64_t)(seconds * 1000);
	int ends[2], status = 0, ret = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	pid = program_fork(command, pass_fd, ends[1], end_signal);
	close(ends[1]);
	if (pid < 0) {
		ret = err_sys(err, errno, "cannot run %s", command);
	} else if (!program_listen(ends[0], until_ms, output) ||
		   !program_await_end(pid, until_ms, &status)) {
		kill(-pid, end_signal);
		waitpid(pid, NULL, WNOHANG);
		ret = err_set(err, ETIME, "%s takes longer than %g seconds", command, seconds);
	} else {
		*ret_status = program_status(status);
	}
	close(ends[0]);
	return ret;
}

int program_run(const char *command, int pass_fd, double seconds, int *ret_status,
		struct buf *output, struct err *err)
{
	return program_run_signal(command, pass_fd, seconds, SIGKILL, ret_status, output, err);
}

int program_run_terminated(const char *command, int pass_fd, double seconds, int *ret_status,
			   struct buf *output, struct err *err)
{
	return program_run_signal(command, pass_fd, seconds, SIGTERM, ret_status, output, err);
}
