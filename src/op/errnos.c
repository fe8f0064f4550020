/* errnos.c -- the names of Linux's error numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "base/must.h"
#include "op/op.h"

/* By number, from the C library, so that finding a name needs no call for each. */
static const char *names[EHWPOISON + 1];
static once_flag names_once = ONCE_FLAG_INIT;

static void errno_names_fill(void)
{
	for (int error = 1; error < (int)ARRAY_LEN(names); error++)
		names[error] = strerrorname_np(error);
}

/* Second names, and what the kernel uses inside and leaks now and then. */
static const struct {
	const char *name;
	int error;
	bool main; /* its number has no other name */
} others[] = {
	{ "EWOULDBLOCK", EWOULDBLOCK, false },
	{ "EDEADLOCK", EDEADLOCK, false },
	{ "ENOTSUP", ENOTSUP, false },
	{ "SIGBUS", ERROR_SIGBUS, true },
	{ "SIGSEGV", ERROR_SIGSEGV, true },
	{ "ERESTARTSYS", 512, true },
	{ "ERESTARTNOINTR", 513, true },
	{ "ENOIOCTLCMD", 515, true },
	{ "ENOTSUPP", 524, true },
};

const char *errno_name(int error)
{
	static _Thread_local char unnamed[16];

	call_once(&names_once, errno_names_fill);
	if (error > 0 && error < (int)ARRAY_LEN(names) && names[error])
		return names[error];
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (others[i].main && others[i].error == error)
			return others[i].name;
	snprintf(unnamed, sizeof(unnamed), "E%d", error);
	return unnamed;
}

static bool errno_name_is(const char *candidate, const char *name, size_t len)
{
	/* Nearly all begin with E; the second letter spares most of the comparisons. */
	return len > 1 && candidate[1] == name[1] && !strncmp(candidate, name, len) &&
	       !candidate[len];
}

/* "E12345" */
static int errno_unnamed(const char *name, size_t len)
{
	int error = 0;

	if (len < 2 || len > 9 || name[0] != 'E')
		return -1;
	for (size_t i = 1; i < len; i++) {
		if (name[i] < '0' || name[i] > '9')
			return -1;
		error = error * 10 + (name[i] - '0');
	}
	return error;
}

int errno_find(const char *name, size_t len)
{
	call_once(&names_once, errno_names_fill);
	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		if (names[i] && errno_name_is(names[i], name, len))
			return (int)i;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (errno_name_is(others[i].name, name, len))
			return others[i].error;
	return errno_unnamed(name, len);
}
