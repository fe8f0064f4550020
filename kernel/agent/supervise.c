// SPDX-License-Identifier: GPL-2.0
/* supervise.c -- a program of the host whose system calls are answered here: a process with a
 * seccomp filter, and the listener of the filter. Names of the C library that the kernel has too
 * would be the kernel's, hence syscall() where in doubt. */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/must.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

enum { LOOK_MS = 50, STACK_BYTES = 64 << 10 };

/* What a process does on its own. Sleeping is not among it: time is the kernel's. */
static const int own_calls[] = {
	SYS_brk,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_arch_prctl,
	SYS_set_tid_address,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_prlimit64,
	SYS_getrandom,
	SYS_futex,
	SYS_wait4,
	SYS_waitid,
	SYS_kill,
	SYS_tgkill,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_alarm,
	SYS_setitimer,
	SYS_clock_gettime,
	SYS_restart_syscall,
	SYS_pause,
	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend,
	SYS_execveat,
};

struct start {
	int program_fd;
	char *const *argv;
	int listener, error;
};

#define STATEMENT(...) ((struct sock_filter)BPF_STMT(__VA_ARGS__))
#define BRANCH(...) ((struct sock_filter)BPF_JUMP(__VA_ARGS__))
#define FIELD(name) BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name)

/* Mapping memory is the process's own affair, too; mapping a file is not. */
static int install_filter(void)
{
	enum { OWN = ARRAY_LEN(own_calls), FRAME = 6 };
	struct sock_filter filter[OWN + FRAME], *next = filter, *allow = filter + OWN + FRAME - 1;
	struct sock_fprog program = { .filter = filter, .len = OWN + FRAME };

	*next++ = STATEMENT(FIELD(nr));
	for (size_t i = 0; i < OWN; i++, next++)
		*next = BRANCH(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)own_calls[i],
			       (unsigned char)(allow - next - 1), 0);
	*next++ = BRANCH(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2);
	*next++ = STATEMENT(FIELD(args[3]));
	*next++ = BRANCH(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0);
	*next++ = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	*next++ = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* In the child, which shares memory and descriptors until it executes. */
static int become_program(void *arg)
{
	static char *const no_environment[] = { (char *)"LC_ALL=C", NULL };
	struct start *start = arg;

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L);
	syscall(SYS_setsid);
	if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L))
		start->error = errno;
	else if ((start->listener = install_filter()) < 0)
		start->error = errno;
	else if (syscall(SYS_execveat, start->program_fd, "", start->argv, no_environment,
			 AT_EMPTY_PATH))
		start->error = errno;
	syscall(SYS_exit_group, 127L);
	__builtin_unreachable();
}

static int keep_program(const char *program, size_t len)
{
	int fd = (int)syscall(SYS_memfd_create, "program", (long)(MFD_CLOEXEC | MFD_EXEC));

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = (int)syscall(SYS_memfd_create, "program", (long)MFD_CLOEXEC);
	if (fd >= 0 && syscall(SYS_write, fd, program, len) != (long)len) {
		syscall(SYS_close, fd);
		return -ENOMEM;
	}
	return fd < 0 ? -errno : fd;
}

int supervised_start(struct supervised *ret, const char *program, size_t len, char *const *argv)
{
	static _Alignas(16) char stack[STACK_BYTES];
	struct start start = { .argv = argv, .listener = -1 };
	int pid;

	start.program_fd = keep_program(program, len);
	if (start.program_fd < 0)
		return start.program_fd;
	pid = clone(become_program, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES,
		    &start);
	if (pid < 0)
		start.error = errno;
	syscall(SYS_close, start.program_fd);
	*ret = (struct supervised){ pid, start.listener };
	if (start.error)
		supervised_end(ret);
	return -start.error;
}

int64_t supervise_now_ms(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool receive(const struct supervised *s, struct supervised_call *ret)
{
	struct seccomp_notif n = { 0 };

	if (syscall(SYS_ioctl, s->listener, SECCOMP_IOCTL_NOTIF_RECV, &n))
		return false;
	*ret = (struct supervised_call){ .id = n.id, .pid = (int)n.pid, .number = n.data.nr };
	for (int i = 0; i < 6; i++)
		ret->args[i] = (long)n.data.args[i];
	return true;
}

enum supervised_event supervised_next(const struct supervised *s, struct supervised_call *ret_call,
				      int *ret_status)
{
	struct pollfd call = { .fd = s->listener, .events = POLLIN };

	if (syscall(SYS_poll, &call, 1L, (long)LOOK_MS) > 0 && call.revents & POLLIN &&
	    receive(s, ret_call))
		return SUPERVISED_CALLS;
	if (syscall(SYS_wait4, s->pid, ret_status, (long)(__WALL | WNOHANG), 0L) == s->pid)
		return SUPERVISED_ENDED;
	return SUPERVISED_NOTHING;
}

/* The caller may have gone meanwhile, by a signal. */
static void respond(const struct supervised *s, struct seccomp_notif_resp *response)
{
	syscall(SYS_ioctl, s->listener, SECCOMP_IOCTL_NOTIF_SEND, response);
}

void supervised_answer(const struct supervised *s, const struct supervised_call *c, long result)
{
	bool failed = result < 0 && result >= -4095;
	struct seccomp_notif_resp response = {
		.id = c->id,
		.val = failed ? 0 : result,
		.error = failed ? (int)result : 0,
	};

	respond(s, &response);
}

void supervised_allow(const struct supervised *s, const struct supervised_call *c)
{
	struct seccomp_notif_resp response = {
		.id = c->id,
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	respond(s, &response);
}

void supervised_end(const struct supervised *s)
{
	if (s->pid > 0) {
		syscall(SYS_kill, -s->pid, (long)SIGKILL);
		syscall(SYS_wait4, s->pid, NULL, (long)__WALL, 0L);
	}
	if (s->listener >= 0)
		syscall(SYS_close, s->listener);
}
