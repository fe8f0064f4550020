/* kernel_script.c -- the scripts that build kernels, where they lie and how they are run. */
#include "cli/kernel_script.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "process/reaper.h"
#include "storage/janitor.h"

enum { CLEAN_SECONDS = 10 };

/* From the program's own directory: a checkout, with or without a variant, or an installation. */
static const char *const places[] = {
	"/../kernel",
	"/../../kernel",
	"/../share/assay/kernel",
};

int kernel_script_self(struct buf *ret, struct err *err)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self));

	if (len < 0)
		return err_sys(err, errno, "/proc/self/exe");
	buf_add(ret, self, (size_t)len);
	return 0;
}

static int kernel_script_find(const char *name, struct buf *ret, struct err *err)
{
	struct buf path = BUF_INIT;
	char self[PATH_MAX];
	int r = kernel_script_self(&path, err);

	if (r)
		return r;
	snprintf(self, sizeof(self), "%s", buf_str(&path));
	buf_free(&path);
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		buf_clear(ret);
		buf_addf(ret, "%s%s/%s", self, places[i], name);
		if (!access(ret->data, X_OK))
			return 0;
	}
	return err_set(err, ENOENT, "cannot find kernel/%s, neither near %s nor installed", name,
		       self);
}

int kernel_script_run(const char *name, const char *arguments[], const char *cache, int *ret_status,
		      struct err *err)
{
	struct buf script = BUF_INIT;
	struct janitor *janitor = NULL;
	int status = 0, r = kernel_script_find(name, &script, err);

	arguments[0] = buf_str(&script);
	fflush(stdout);
	if (!r)
		r = janitor_open(&janitor, cache, err);
	if (!r && setenv("TMPDIR", janitor_path(janitor), 1))
		r = err_sys(err, errno, "cannot set TMPDIR");
	if (!r)
		r = reaper_run((char *const *)arguments, &status, err);
	janitor_close(janitor, CLEAN_SECONDS);
	buf_free(&script);
	if (r || !WIFEXITED(status))
		return EXIT_UNKNOWN;
	*ret_status = WEXITSTATUS(status);
	return EXIT_CLEAN;
}
