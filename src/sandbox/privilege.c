/* privilege.c -- giving up capabilities, and user namespaces where there are none. */
#include "sandbox/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

/* What it takes to look at, and to remove, whatever there is. */
static const cap_value_t scan_caps[] = { CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER };

static void privilege_set_effective(cap_flag_value_t effective)
{
	cap_t caps = cap_init();

	must(caps && !cap_set_flag(caps, CAP_PERMITTED, ARRAY_LEN(scan_caps), scan_caps, CAP_SET));
	must(!cap_set_flag(caps, CAP_EFFECTIVE, ARRAY_LEN(scan_caps), scan_caps, effective));
	must(!cap_set_proc(caps));
	cap_free(caps);
}

void privilege_drop(void)
{
	privilege_set_effective(CAP_CLEAR);
}

void privilege_take_back(void)
{
	privilege_set_effective(CAP_SET);
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
