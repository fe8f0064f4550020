/* evidence.c -- files of a finding that a damaged disk shows. */
#include "fsck/evidence.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/must.h"
#include "process/shell.h"
#include "storage/program.h"

enum {
	TOLD_MAX = 3000,
	SCRIPT_SECONDS = 600,
};

void evidence_add_fenced(struct buf *out, const char *text)
{
	buf_adds(out, "````\n");
	buf_add_clipped(out, text, TOLD_MAX);
	if (out->data[out->len - 1] != '\n')
		buf_addch(out, '\n');
	buf_adds(out, "````\n");
}

int evidence_write_text(const char *folder, const char *name, const struct buf *text,
			struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", folder, name);
	return buf_write_file(text, path, err);
}

int evidence_write_disk(const char *folder, const char *name, const uint8_t *disk, uint64_t size,
			struct err *err)
{
	char path[PATH_MAX];
	bool written;
	gzFile to;

	snprintf(path, sizeof(path), "%.4000s/%s", folder, name);
	to = gzopen(path, "wb1");
	if (!to)
		return err_sys(err, errno, "cannot write %s", path);
	written = gzwrite(to, disk, (unsigned)size) == (int)size;
	if (gzclose(to) != Z_OK || !written)
		return err_set(err, EIO, "cannot write %s", path);
	return 0;
}

/* Counts in tries and shown. */
static int run_script(const char *folder, unsigned times, struct finding *f, struct err *err)
{
	/* By which a program finds kernels, and places for its files. */
	static const char *const kept[] = { "HOME", "XDG_CACHE_HOME", "TMPDIR" };
	struct buf command = BUF_INIT;
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self));
	int r = 0, status;

	buf_adds(&command, "env ASSAY=");
	shell_add_quoted(&command, self, len > 0 ? (size_t)len : 0);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (getenv(kept[i])) {
			buf_addf(&command, " %s=", kept[i]);
			shell_add_quoted(&command, getenv(kept[i]), strlen(getenv(kept[i])));
		}
	buf_adds(&command, " sh ");
	shell_add_quoted(&command, folder, strlen(folder));
	buf_adds(&command, "/reproduce.sh");
	for (unsigned i = 0; i < times && !r; i++) {
		r = program_run(command.data, -1, SCRIPT_SECONDS, &status, NULL, err);
		f->tries += !r;
		f->shown += !r && status == 1;
	}
	buf_free(&command);
	return r;
}

int evidence_keep(const struct disk_evidence *e, struct run *run, struct finding *f,
		  struct err *err)
{
	int r = 0;

	run_meet(run, f, NULL);
	if (run_folder(run))
		r = e->write(e->to, run_folder(run), err);
	if (!e->script_times)
		f->tries = f->shown = 1;
	else if (!r && run_folder(run))
		r = run_script(run_folder(run), e->script_times, f, err);
	run_update(run, f, NULL);
	/* The folder has another place now, and a README that says less. */
	if (!r && run_folder(run))
		r = e->write(e->to, run_folder(run), err);
	run_settle(run);
	return r;
}
