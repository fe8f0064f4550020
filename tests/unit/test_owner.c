/* test_owner.c -- a process ends with the one that made it, also if that was gone before it asked.
 */
#include "process/owner.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/unit.h"

enum { PATIENCE_MS = 20000, NO_NAMESPACE = 77 };

/* What the grandchild does, and when its parent ends. */
struct lives {
	bool by_descriptor, asks_late;
	int namespaces;
};

/* Holds the pipe open for as long as it lives. */
static _Noreturn void grandchild(const struct lives *l, pid_t parent, int parent_fd)
{
	if (l->asks_late) {
		struct pollfd gone = { .fd = parent_fd, .events = POLLIN };

		poll(&gone, 1, PATIENCE_MS);
	}
	if (l->by_descriptor)
		owner_follow_fd(parent_fd, SIGKILL);
	else
		owner_follow(parent, SIGKILL);
	for (;;)
		pause();
}

static void ends(const struct lives *l)
{
	struct pollfd end = { .events = POLLIN };
	int alive[2], status;
	pid_t child;

	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		int self_fd = owner_open();
		pid_t self = getpid();
		pid_t pid = (pid_t)syscall(SYS_clone, l->namespaces | SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			grandchild(l, self, self_fd);
		_exit(pid < 0 ? NO_NAMESPACE : 0);
	}
	close(alive[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	end.fd = alive[0];
	/* Its end of the pipe is closed: it is gone. */
	assert_int_equal(poll(&end, 1, PATIENCE_MS), 1);
	close(alive[0]);
	if (WEXITSTATUS(status) == NO_NAMESPACE)
		skip();
}

static void at_once_or_late(bool by_descriptor, int namespaces)
{
	ends(&(struct lives){ by_descriptor, false, namespaces });
	ends(&(struct lives){ by_descriptor, true, namespaces });
}

static void child_ends_with_its_parent(void **state)
{
	at_once_or_late(false, 0);
}

static void descriptor_shows_an_owner_that_is_gone(void **state)
{
	at_once_or_late(true, 0);
}

static void first_process_of_a_namespace_ends_too(void **state)
{
	at_once_or_late(true, CLONE_NEWPID | (geteuid() ? CLONE_NEWUSER : 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_ends_with_its_parent),
		cmocka_unit_test(descriptor_shows_an_owner_that_is_gone),
		cmocka_unit_test(first_process_of_a_namespace_ends_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
