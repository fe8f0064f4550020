/* version.c -- versions of Linux: read, printed, asked of the running kernel. */
#include "base/version.h"

#include <ctype.h>
#include <errno.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/err.h"

enum { PART_MAX = 9999 };

/* One number of a version; false, and *at unchanged, where there is none. */
static bool version_part(const char **at, unsigned *ret)
{
	const char *end = *at;
	unsigned number = 0;

	for (; isdigit((unsigned char)*end); end++) {
		number = 10 * number + (unsigned)(*end - '0');
		if (number > PART_MAX)
			return false;
	}
	if (end == *at)
		return false;
	*at = end;
	*ret = number;
	return true;
}

/* Reads "6.12" or "6.12.3" and moves *at behind it. */
static bool version_read(const char **at, struct version *ret)
{
	unsigned major, minor, patch;
	const char *end = *at, *behind;

	if (!version_part(&end, &major) || *end++ != '.' || !version_part(&end, &minor))
		return false;
	*ret = (struct version){ (unsigned short)major, (unsigned short)minor, VERSION_SERIES };
	behind = end + 1;
	if (*end == '.' && version_part(&behind, &patch)) {
		ret->patch = (short)patch;
		end = behind;
	}
	*at = end;
	return version_known(*ret);
}

int version_parse(const char *text, struct version *ret, struct err *err)
{
	const char *end = text;
	struct version v;

	if (!version_read(&end, &v) || *end)
		return err_set(err, EINVAL, "\"%s\": expected a kernel version like 6.18", text);
	*ret = v;
	return 0;
}

struct version version_leading(const char *text)
{
	struct version v;

	return version_read(&text, &v) ? v : (struct version)VERSION_NONE;
}

struct version version_running(void)
{
	struct utsname running;

	return uname(&running) ? (struct version)VERSION_NONE : version_leading(running.release);
}

void version_print(struct version v, struct buf *out)
{
	if (!version_known(v)) {
		buf_adds(out, "unknown");
		return;
	}
	buf_addf(out, "%u.%u", v.major, v.minor);
	if (v.patch != VERSION_SERIES)
		buf_addf(out, ".%d", v.patch);
}
