/* app_sync.c -- sync(2) and syncfs(2) of a program become lines of its script. */
#include "appcrash/app_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0
#endif

/* ---- the program's side ---- */

static int app_sync_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_syncfs, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };
	int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);

	if (fd < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return fd;
}

union fd_message {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

void app_sync_enter(void *of)
{
	const struct app_sync *a = of;
	char byte = 0;
	struct iovec part = { &byte, 1 };
	union fd_message control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = app_sync_filter();

	if (fd < 0)
		return;
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	sendmsg(a->ends[1], &message, 0);
	close(fd);
}

/* ---- our side ---- */

/* -1: the program ended without one. */
static int app_sync_receive(const struct app_sync *a)
{
	char byte;
	struct iovec part = { &byte, 1 };
	union fd_message control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(a->ends[0], &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* Is the descriptor of the calling process one of the mount? */
static bool app_sync_is_ours(const struct app_sync *a, const struct seccomp_notif *call)
{
	char path[64];
	struct stat st;

	if (call->data.nr == SYS_sync)
		return true;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", call->pid, (int)call->data.args[0]);
	return !stat(path, &st) && st.st_dev == a->mount.st_dev;
}

static void app_sync_serve(const struct app_sync *a, int listener)
{
	static const char line[] = "sync() = 0\n";
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	int dir;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return;
	answer.id = call.id;
	if (app_sync_is_ours(a, &call)) {
		dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		syncfs(dir);
		close(dir);
		(void)!write(a->trace_fd, line, strlen(line));
	} else {
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the other end is closed. */
static void *app_sync_attend(void *of)
{
	const struct app_sync *a = of;
	int listener = app_sync_receive(a);
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
				{ .fd = a->ends[0], .events = POLLIN } };

	while (listener >= 0 && poll(fds, 2, -1) > 0 && !fds[1].revents) {
		if (fds[0].revents & POLLIN)
			app_sync_serve(a, listener);
		else if (fds[0].revents)
			fds[0].fd = -1; /* all processes of the program are gone */
	}
	if (listener >= 0)
		close(listener);
	return NULL;
}

int app_sync_start(struct app_sync *a, const char *dir, int trace_fd, struct err *err)
{
	*a = (struct app_sync){ .dir = dir, .trace_fd = trace_fd };
	if (stat(dir, &a->mount))
		return err_sys(err, errno, "%s", dir);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a->ends))
		return err_sys(err, errno, "cannot make a pair of sockets");
	if (pthread_create(&a->thread, NULL, app_sync_attend, a)) {
		close(a->ends[0]);
		close(a->ends[1]);
		return err_set(err, EAGAIN, "no thread can be started");
	}
	return 0;
}

void app_sync_stop(struct app_sync *a)
{
	close(a->ends[1]);
	pthread_join(a->thread, NULL);
	close(a->ends[0]);
}
