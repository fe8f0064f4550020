/* err.c -- filling in why something of ours failed. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static void err_fill(struct err *err, int errno_code, const char *format, va_list args)
{
	err->code = -errno_code;
	vsnprintf(err->text, sizeof(err->text), format, args);
}

int err_set(struct err *err, int errno_code, const char *format, ...)
{
	va_list args;

	must(errno_code > 0);
	if (!err || err->code)
		return -errno_code;
	va_start(args, format);
	err_fill(err, errno_code, format, args);
	va_end(args);
	return -errno_code;
}

int err_sys(struct err *err, int errno_code, const char *format, ...)
{
	va_list args;
	size_t len;

	must(errno_code > 0);
	if (!err || err->code)
		return -errno_code;
	va_start(args, format);
	err_fill(err, errno_code, format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errno_code));
	return -errno_code;
}

int err_forget(struct err *err, int status, int errno_code)
{
	if (status != -errno_code)
		return status;
	*err = (struct err){ 0 };
	return 0;
}
