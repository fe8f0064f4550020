/* errnos.c -- the names of Linux's error numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "op/op.h"

/* clang-format off */
#define E(name) [name] = #name
static const char *const names[] = {
	E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF),
	E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK), E(EBUSY), E(EEXIST),
	E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ENFILE), E(EMFILE), E(ENOTTY),
	E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS), E(EMLINK), E(EPIPE), E(EDOM),
	E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP),
	E(ENOMSG), E(EIDRM), E(ECHRNG), E(EL2NSYNC), E(EL3HLT), E(EL3RST), E(ELNRNG), E(EUNATCH),
	E(ENOCSI), E(EL2HLT), E(EBADE), E(EBADR), E(EXFULL), E(ENOANO), E(EBADRQC), E(EBADSLT),
	E(EBFONT), E(ENOSTR), E(ENODATA), E(ETIME), E(ENOSR), E(ENONET), E(ENOPKG), E(EREMOTE),
	E(ENOLINK), E(EADV), E(ESRMNT), E(ECOMM), E(EPROTO), E(EMULTIHOP), E(EDOTDOT), E(EBADMSG),
	E(EOVERFLOW), E(ENOTUNIQ), E(EBADFD), E(EREMCHG), E(ELIBACC), E(ELIBBAD), E(ELIBSCN),
	E(ELIBMAX), E(ELIBEXEC), E(EILSEQ), E(ERESTART), E(ESTRPIPE), E(EUSERS), E(ENOTSOCK),
	E(EDESTADDRREQ), E(EMSGSIZE), E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT),
	E(ESOCKTNOSUPPORT), E(EOPNOTSUPP), E(EPFNOSUPPORT), E(EAFNOSUPPORT), E(EADDRINUSE),
	E(EADDRNOTAVAIL), E(ENETDOWN), E(ENETUNREACH), E(ENETRESET), E(ECONNABORTED),
	E(ECONNRESET), E(ENOBUFS), E(EISCONN), E(ENOTCONN), E(ESHUTDOWN), E(ETOOMANYREFS),
	E(ETIMEDOUT), E(ECONNREFUSED), E(EHOSTDOWN), E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS),
	E(ESTALE), E(EUCLEAN), E(ENOTNAM), E(ENAVAIL), E(EISNAM), E(EREMOTEIO), E(EDQUOT),
	E(ENOMEDIUM), E(EMEDIUMTYPE), E(ECANCELED), E(ENOKEY), E(EKEYEXPIRED), E(EKEYREVOKED),
	E(EKEYREJECTED), E(EOWNERDEAD), E(ENOTRECOVERABLE), E(ERFKILL), E(EHWPOISON),
};
/* clang-format on */

/* Second names, and what the kernel uses inside and leaks now and then. */
static const struct {
	const char *name;
	int error;
	bool main; /* its number has no other name */
} others[] = {
	{ "EWOULDBLOCK", EWOULDBLOCK, false },
	{ "EDEADLOCK", EDEADLOCK, false },
	{ "ENOTSUP", ENOTSUP, false },
	{ "ERESTARTSYS", 512, true },
	{ "ERESTARTNOINTR", 513, true },
	{ "ENOIOCTLCMD", 515, true },
	{ "ENOTSUPP", 524, true },
};

const char *errno_name(int error)
{
	static _Thread_local char unnamed[16];

	if (error > 0 && error < (int)ARRAY_LEN(names) && names[error])
		return names[error];
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (others[i].main && others[i].error == error)
			return others[i].name;
	snprintf(unnamed, sizeof(unnamed), "E%d", error);
	return unnamed;
}

static bool is_name(const char *candidate, const char *name, size_t len)
{
	return !strncmp(candidate, name, len) && !candidate[len];
}

/* "E12345" */
static int unnamed_number(const char *name, size_t len)
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
	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		if (names[i] && is_name(names[i], name, len))
			return (int)i;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (is_name(others[i].name, name, len))
			return others[i].error;
	return unnamed_number(name, len);
}
