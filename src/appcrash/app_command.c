/* app_command.c -- a command of the user's, in a directory. */
#include "appcrash/app_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "process/owner.h"
#include "storage/program.h"

enum { OUTPUT_MAX = 64 * 1024 };

static _Noreturn void app_command_execute(const struct app_command *c, const char *text,
					  int output_fd, pid_t owner)
{
	int null_fd = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	owner_follow(owner, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(c->dir))
		_exit(127);
	dup2(null_fd, STDIN_FILENO);
	dup2(c->stdout_fd >= 0 ? c->stdout_fd : output_fd, STDOUT_FILENO);
	dup2(c->stderr_fd >= 0 ? c->stderr_fd : output_fd, STDERR_FILENO);
	setenv("PWD", c->dir, 1);
	if (c->printed)
		setenv("ASSAY_PRINTED", c->printed, 1);
	if (c->in_child)
		c->in_child(c->own);
	execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	_exit(127);
}

static void app_command_read(int fd, struct buf *output)
{
	char chunk[4096];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET))
		return;
	while (output->len < OUTPUT_MAX && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(output, chunk, (size_t)n);
}

int app_command_run(const struct app_command *c, int *ret_status, struct buf *output,
		    struct err *err)
{
	const struct program_value values[] = { { "dir", c->dir } };
	int output_fd = memfd_create("output", MFD_CLOEXEC), status;
	struct buf text = BUF_INIT;
	pid_t owner = getpid(), pid;
	double cpu_seconds;

	if (output_fd < 0)
		return err_sys(err, errno, "cannot keep what a command writes");
	program_fill(&text, c->text, values, ARRAY_LEN(values));
	pid = fork();
	if (!pid)
		app_command_execute(c, buf_str(&text), output_fd, owner);
	status = pid < 0 ? err_sys(err, errno, "cannot run %s", c->text)
			 : program_await(pid, c->seconds, ret_status, &cpu_seconds, err);
	if (pid > 0)
		kill(-pid, SIGKILL); /* whatever it left behind */
	if (output)
		app_command_read(output_fd, output);
	close(output_fd);
	buf_free(&text);
	return status;
}
