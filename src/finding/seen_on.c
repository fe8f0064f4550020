/* seen_on.c -- the kernels that have shown a finding. */
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "target/description.h"
#include "target/kernels.h"

/* "Linux 6.12.5"; nothing for a target that needs no kernel. */
static void add_kernel_name(struct buf *out, const struct target *t)
{
	struct target_description d = { 0 };
	struct err none = { 0 };
	struct utsname running;

	if (!strcmp(t->kind->name, "kernel")) {
		if (!description_find(&d, t->name, NULL, &none)) {
			buf_adds(out, "Linux ");
			kernels_version(d.argument, out);
		}
		description_free(&d);
	} else if (strcmp(t->kind->name, "reffs") && !uname(&running)) {
		buf_addf(out, "%s %s", running.sysname, running.release);
	}
}

/* Is the name one of a list "a; b; c"? */
static bool has_name(const char *list, const char *name)
{
	size_t len;

	for (; *list; list += len + strspn(list + len, "; ")) {
		len = strcspn(list, ";");
		if (len == strlen(name) && !strncmp(list, name, len))
			return true;
	}
	return false;
}

void folder_add_kernels(struct buf *out, const struct finding *f, const struct target *t)
{
	struct buf name = BUF_INIT;

	if (t)
		add_kernel_name(&name, t);
	buf_adds(out, buf_str(&f->seen_on));
	if (name.len && !has_name(buf_str(&f->seen_on), name.data))
		buf_addf(out, "%s%s", f->seen_on.len ? "; " : "", name.data);
	buf_free(&name);
}
