/* guardian.c -- a process that unmounts where the daemon was killed and could not. */
#include "reffs/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

/* What the daemon says of its mount; an end without a word about it being gone is an accident. */
struct guardian_message {
	bool mounted;
	uint32_t major, minor; /* the mount's device */
};

/* Of what is mounted there, as the kernel remembers it: a dead daemon is not asked. */
static bool mount_device(const char *mountpoint, struct guardian_message *ret)
{
	struct statx st;

	if (statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st))
		return false;
	*ret = (struct guardian_message){ true, st.stx_dev_major, st.stx_dev_minor };
	return true;
}

static void guardian_unmount(const char *mountpoint, const struct guardian_message *ours)
{
	struct guardian_message now;

	if (!mount_device(mountpoint, &now) || now.major != ours->major || now.minor != ours->minor)
		return;
	if (umount2(mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW))
		execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", mountpoint, NULL);
}

/* Until the daemon's end of the pipe is closed, by whatever. */
static _Noreturn void guardian_main(int pipe, const char *mountpoint)
{
	struct guardian_message word = { .mounted = false }, last = word;
	sigset_t all;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "reffs-guardian");
	(void)!chdir("/");
	dup2(pipe, 0);
	close_range(1, ~0u, 0);
	while ((n = read(0, &word, sizeof(word))) == sizeof(word) || (n < 0 && errno == EINTR))
		last = word;
	if (last.mounted)
		guardian_unmount(mountpoint, &last);
	_exit(0);
}

int guardian_start(struct guardian *g, const char *mountpoint, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "pipe");
	g->pid = fork();
	if (g->pid < 0) {
		int error = errno;

		close(ends[0]);
		close(ends[1]);
		return err_sys(err, error, "fork");
	}
	if (!g->pid) {
		close(ends[1]);
		guardian_main(ends[0], mountpoint);
	}
	close(ends[0]);
	g->pipe = ends[1];
	return 0;
}

void guardian_watch(const struct guardian *g, const char *mountpoint)
{
	struct guardian_message word;

	if (mount_device(mountpoint, &word))
		(void)!write(g->pipe, &word, sizeof(word));
}

void guardian_end(struct guardian *g)
{
	struct guardian_message word = { .mounted = false };

	(void)!write(g->pipe, &word, sizeof(word));
	close(g->pipe);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
