/* boot.c -- a kernel started in QEMU, and what it writes to its serial line.
 *
 * One emulated CPU: that works everywhere, also in virtual machines, and needs no privilege. The
 * guest has no network and no device but the serial line and its disk. */
#include "confirm/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/stop.h"
#include "confirm/guest.h"
#include "process/shell.h"
#include "storage/program.h"

enum { CONSOLE_MAX = 4 << 20, ROUND_MS = 200, SAID_MAX = 400 };

#define QEMU "qemu-system-x86_64"

/* All kernel messages without their times, as far as they are errors; a panic ends the guest. */
static const char kernel_arguments[] = "console=ttyS0 quiet panic=-1 printk.time=0";

void boot_lacking(struct buf *out)
{
	struct utsname machine;

	if (!uname(&machine) && strcmp(machine.machine, "x86_64"))
		buf_addf(out, "reproducers compiled here are for %s, and guests are x86_64",
			 machine.machine);
	program_lacking(QEMU, "qemu-system-x86", out);
}

/* Names are relative, so that no directory has a character that means something to QEMU. */
static void boot_add_command(struct buf *out, const char *image, const char *dir, bool has_disk)
{
	buf_adds(out, "env --chdir=");
	shell_add_quoted(out, dir, strlen(dir));
	buf_adds(out, " " QEMU " -accel tcg -cpu max -smp 1 -m 512 -nodefaults -no-user-config"
		      " -display none -monitor none -serial stdio -no-reboot"
		      " -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny"
		      " -kernel ");
	shell_add_quoted(out, image, strlen(image));
	buf_adds(out, " -initrd " GUEST_ARCHIVE " -append ");
	shell_add_quoted(out, kernel_arguments, strlen(kernel_arguments));
	if (has_disk)
		buf_adds(out, " -drive file=" GUEST_DISK ",format=raw,if=virtio,cache=unsafe");
}

/* A serial line ends lines with "\r\n". */
static void boot_add_console(struct buf *console, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\r' && text[i] != '\0')
			buf_addch(console, text[i]);
}

/* Until the guest closes its line, that is, ends: 0. -ETIME at the deadline. */
static int boot_listen(int fd, double until_seconds, struct buf *console, struct err *err)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	while (clock_seconds() < until_seconds && console->len < CONSOLE_MAX) {
		if (stop_requested)
			return err_set(err, EINTR, "interrupted");
		if (poll(&ready, 1, ROUND_MS) <= 0)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return 0;
		boot_add_console(console, chunk, (size_t)n);
	}
	return -ETIME;
}

/* QEMU says in one line why it cannot start; what a guest did is for others to judge. */
static int boot_judge_end(int status, const struct buf *console, struct err *err)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status))
		return err_set(err, EIO, QEMU " ends with status %d: %.*s", WEXITSTATUS(status),
			       SAID_MAX, buf_str(console));
	return err_set(err, EIO, QEMU " was killed by signal %d", WTERMSIG(status));
}

int boot_guest(const char *image, const char *dir, bool has_disk, double seconds,
	       struct boot_report *ret, struct err *err)
{
	double began_seconds = clock_seconds();
	struct buf command = BUF_INIT;
	int line[2], status = 0, r;
	pid_t pid;

	*ret = (struct boot_report){ 0 };
	if (pipe2(line, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	boot_add_command(&command, image, dir, has_disk);
	pid = program_start(command.data, -1, line[1]);
	close(line[1]);
	if (pid < 0) {
		r = err_sys(err, errno, "cannot start " QEMU);
	} else {
		r = boot_listen(line[0], began_seconds + seconds, &ret->console, err);
		if (r)
			kill(-pid, SIGKILL);
		waitpid(pid, &status, 0);
		ret->timed_out = r == -ETIME;
		if (!r)
			r = boot_judge_end(status, &ret->console, err);
		else if (ret->timed_out)
			r = 0;
	}
	ret->seconds = clock_seconds() - began_seconds;
	close(line[0]);
	buf_free(&command);
	if (r)
		boot_report_free(ret);
	return r;
}

void boot_report_free(struct boot_report *r)
{
	buf_free(&r->console);
}
