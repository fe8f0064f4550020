/* evidence.c -- files of a finding that a damaged disk shows. */
#include "fsck/evidence.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/must.h"
#include "process/reaper.h"
#include "process/shell.h"
#include "storage/janitor.h"
#include "storage/program.h"

enum {
	TOLD_MAX = 3000,
	SCRIPT_SECONDS = 600,
	CLEANING_SECONDS = 60,
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

static void add_setting(struct buf *command, const char *name, const char *value)
{
	if (!value)
		return;
	buf_addf(command, " %s=", name);
	shell_add_quoted(command, value, strlen(value));
}

static void add_script_command(struct buf *command, const char *folder, const char *temporary)
{
	struct buf path = BUF_INIT;
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	program_search_path(&path);
	buf_adds(command, "exec setsid env -i LC_ALL=C");
	add_setting(command, "PATH", path.data);
	add_setting(command, "ASSAY", self);
	add_setting(command, "TMPDIR", temporary);
	/* By which a program finds kernels. */
	add_setting(command, "HOME", getenv("HOME"));
	add_setting(command, "XDG_CACHE_HOME", getenv("XDG_CACHE_HOME"));
	buf_addf(command, " timeout %d sh ", SCRIPT_SECONDS);
	shell_add_quoted(command, folder, strlen(folder));
	buf_adds(command, "/reproduce.sh </dev/null >/dev/null 2>&1");
	buf_free(&path);
}

/* Counts in tries and shown. */
static int run_script(const char *folder, unsigned times, struct finding *f, struct err *err)
{
	char *arguments[] = { (char *)"/bin/sh", (char *)"-c", NULL, NULL };
	const char *tmp = getenv("TMPDIR");
	struct buf command = BUF_INIT;
	struct janitor *janitor;
	int r, status;

	/* A script that is killed with us removes nothing. */
	r = janitor_open(&janitor, tmp ? tmp : "/tmp", err);
	if (r)
		return r;
	add_script_command(&command, folder, janitor_path(janitor));
	arguments[2] = command.data;
	for (unsigned i = 0; i < times && !r; i++) {
		r = reaper_run(arguments, &status, err);
		f->tries += !r;
		f->shown += !r && WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	janitor_close(janitor, CLEANING_SECONDS);
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
