/* version.h -- versions of Linux, as uname(2) and people write them: "6.12", "6.12.3-amd64".
 *
 * A version without a patch level means its whole series: 6.12 is equal to 6.12.3 and to
 * 6.12.9. Distributions number their patches as they like (6.1.0-13-amd64 has those of 6.1.55), so
 * that bounds are best given as series. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#include <stdbool.h>

struct buf;
struct err;

struct version {
	unsigned short major, minor;
	short patch; /* VERSION_SERIES: any */
};

enum { VERSION_SERIES = -1 };

/* An initialiser: the series 6.12 is VERSION(6, 12). */
#define VERSION(major, minor) \
	{ \
		major, minor, VERSION_SERIES \
	}

/* No version at all: a bound that is none, a kernel that is not known. */
#define VERSION_NONE \
	{ \
		0, 0, 0 \
	}

static inline bool version_known(struct version v)
{
	return v.major || v.minor;
}

/* Below 0: a is older than b; 0: the same, as far as both say; above 0: a is newer. */
static inline int version_compare(struct version a, struct version b)
{
	if (a.major != b.major)
		return a.major - b.major;
	if (a.minor != b.minor)
		return a.minor - b.minor;
	return a.patch == VERSION_SERIES || b.patch == VERSION_SERIES ? 0 : a.patch - b.patch;
}

/* The version that the text is; -EINVAL where it is anything else, or more. */
int version_parse(const char *text, struct version *ret, struct err *err);
/* The version that the text begins with, whatever follows; VERSION_NONE if there is none. */
struct version version_leading(const char *text);
/* Of the running kernel. */
struct version version_running(void);
/* "6.12.3", "6.12"; "unknown" for VERSION_NONE. */
void version_print(struct version v, struct buf *out);

#endif
