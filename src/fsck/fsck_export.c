/* fsck_export.c -- a finding as a test of the checker's own.
 *
 * e2fsprogs runs `e2fsck -yf -N test_filesys` twice on image.gz, leaves out the line with the
 * version, adds the exit status, and compares with expect.1 and expect.2. */
#include "fsck/fsck_export.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "fsck/evidence.h"
#include "storage/program.h"

enum { SAME_NAME_MAX = 1000 };

/* What the disk is called, by us and by these tests. */
static const char disk_path[] = "/proc/self/fd/3";
static const char test_name[] = "test_filesys";

/* "e2fsck 1.47.0 (5-Feb-2023)" */
static bool is_version(const char *line, const char *program)
{
	size_t len = strlen(program);

	return !strncmp(line, program, len) && line[len] == ' ' &&
	       isdigit((unsigned char)line[len + 1]);
}

static void add_line(struct buf *out, const char *line, size_t len)
{
	const char *end = line + len, *found;

	while ((found = memmem(line, (size_t)(end - line), disk_path, strlen(disk_path)))) {
		buf_add(out, line, (size_t)(found - line));
		buf_adds(out, test_name);
		line = found + strlen(disk_path);
	}
	buf_add(out, line, (size_t)(end - line));
}

static void print_expected(const char *output, int status, const char *command, struct buf *out)
{
	char program[64];

	snprintf(program, sizeof(program), "%.*s", (int)strcspn(command, " "), command);
	for (size_t len; *output; output += len) {
		len = strcspn(output, "\n");
		len += output[len] == '\n';
		if (!is_version(output, program))
			add_line(out, output, len);
	}
	buf_addf(out, "Exit status is %d\n", status);
}

/* "f_inode_i_flags_inconsistent", and a number where there is one already. */
static int make_folder(const struct fsck_test *t, const char *directory, char ret[PATH_MAX],
		       struct err *err)
{
	struct buf name = BUF_INIT;
	int r = 0;

	buf_adds(&name, "f_");
	if (t->corruption.count)
		corruption_print_fields(&t->corruption, &name);
	else
		buf_adds(&name, "disk");
	buf_addf(&name, "_%s", fsck_fault_names[t->fault]);
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.data[i]))
			name.data[i] = '_';
	snprintf(ret, PATH_MAX, "%.3500s/%.200s", directory, name.data);
	for (unsigned i = 2; mkdir(ret, 0777) && !r; i++) {
		if (errno != EEXIST || i > SAME_NAME_MAX)
			r = err_sys(err, errno, "cannot make %s", ret);
		snprintf(ret, PATH_MAX, "%.3500s/%.200s_%u", directory, name.data, i);
	}
	buf_free(&name);
	return r;
}

static int write_expected(const struct fsck_session *s, const struct fsck_test *t, unsigned number,
			  const char *output, int status, const char *folder, struct err *err)
{
	struct buf text = BUF_INIT;
	char name[16];
	int r;

	print_expected(output, status, s->program->modes[t->mode].command, &text);
	snprintf(name, sizeof(name), "expect.%u", number);
	r = evidence_write_text(folder, name, &text, err);
	buf_free(&text);
	return r;
}

/* What it said here. A run that has changed nothing would be repeated by the next. */
static int write_runs(const struct fsck_session *s, const struct fsck_test *t, const char *folder,
		      struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < 2 && !r; i++) {
		const struct checker_run *run = &t->runs[i < t->run_count ? i : 0];

		r = write_expected(s, t, i + 1, buf_str(&run->output),
				   checker_run_shell_status(run), folder, err);
	}
	return r;
}

/* What it says as its own tests run it. */
static int write_own_runs(const struct fsck_session *s, const struct fsck_test *t,
			  const char *folder, struct err *err)
{
	const struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT, output = BUF_INIT;
	struct image disk = { 0 };
	int r = image_make(&disk, s->damaged.size, err), status;

	if (!r)
		memcpy(disk.bytes, s->damaged.bytes, s->damaged.size);
	program_fill(&command, s->program->own_tests, &value, 1);
	for (unsigned i = 0; i < 2 && !r; i++) {
		buf_clear(&output);
		r = program_run(command.data, disk.fd, 2 * s->program->seconds + 1, &status,
				&output, err);
		if (!r)
			r = write_expected(s, t, i + 1, buf_str(&output), status, folder, err);
	}
	image_free(&disk);
	buf_free(&command);
	buf_free(&output);
	return r;
}

static int write_texts(const struct fsck_session *s, const struct fsck_test *t, const char *folder,
		       struct err *err)
{
	struct buf text = BUF_INIT;
	int r;

	buf_addf(&text, "%s %s\n", s->program->name, buf_str(&t->text));
	r = evidence_write_text(folder, "name", &text, err);
	buf_free(&text);
	if (r)
		return r;
	return s->program->own_tests && t->fault != FSCK_HUNG ? write_own_runs(s, t, folder, err)
							      : write_runs(s, t, folder, err);
}

int fsck_export(struct fsck_session *s, const struct fsck_test *t, const char *directory,
		struct err *err)
{
	char folder[PATH_MAX];
	int r;

	if (!t->run_count)
		return 0;
	if (mkdir(directory, 0777) && errno != EEXIST)
		return err_sys(err, errno, "cannot make %s", directory);
	r = make_folder(t, directory, folder, err);
	if (!r)
		r = write_texts(s, t, folder, err);
	if (!r)
		r = evidence_write_disk(folder, "image.gz", s->damaged.bytes, s->damaged.size, err);
	return r;
}
