/* overlap_name.c -- the name of a target whose kernel takes schedules. */
#include "cli/overlap_name.h"

#include <string.h>

#include "base/buf.h"

void overlap_name(const char *target, struct buf *out)
{
	static const char kernel[] = "kernel:";
	size_t base = strcspn(target, "!");

	if (strncmp(target, kernel, strlen(kernel)) || strchr(target, '@')) {
		buf_adds(out, target);
		return;
	}
	buf_add(out, target, base);
	buf_addf(out, "@overlap%s", target + base);
}
