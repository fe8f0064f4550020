/* privilege.c -- what this process may do, and user namespaces where it may not. */
#include "sandbox/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

bool privilege_has(unsigned capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !syscall(SYS_capget, &header, data) &&
	       (data[capability / 32].effective >> capability % 32 & 1);
}

static const unsigned kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER;

static void set_effective(uint32_t effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = effective, .permitted = kept },
	};

	must(!syscall(SYS_capset, &header, data));
}

void privilege_drop(void)
{
	set_effective(0);
}

void privilege_take_back(void)
{
	set_effective(kept);
}

static int try_user_namespace(void *unused)
{
	return 0;
}

bool privilege_user_namespaces(void)
{
	static int known = -1;
	char stack[4096] __attribute__((aligned(16)));
	int status = 0;
	pid_t pid;

	if (known >= 0)
		return known;
	pid = clone(try_user_namespace, stack + sizeof(stack),
		    CLONE_NEWUSER | CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	known = pid > 0 && waitpid(pid, &status, 0) == pid && !status;
	return known;
}

static int write_text(const char *path, const char *text, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error ? err_sys(err, error, "cannot write %s", path) : 0;
}

int privilege_map_user(struct user_map uid, struct user_map gid, struct err *err)
{
	char users[48], groups[48];
	int ret = write_text("/proc/self/setgroups", "deny", err);

	snprintf(users, sizeof(users), "%u %u 1", uid.inside, uid.outside);
	snprintf(groups, sizeof(groups), "%u %u 1", gid.inside, gid.outside);
	if (!ret)
		ret = write_text("/proc/self/uid_map", users, err);
	if (!ret)
		ret = write_text("/proc/self/gid_map", groups, err);
	return ret;
}
