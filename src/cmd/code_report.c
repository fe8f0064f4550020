/* code_report.c -- coverage of a kernel's code, from the option to what is left of it. */
#include "cmd/code_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "codecov/code_map.h"
#include "target/description.h"
#include "target/kernels.h"

/* Files for the terminal: those with most that was not reached. */
enum { ROWS_MAX = 12 };

int code_spec(const char *spec, const char *config, struct buf *ret, struct err *err)
{
	struct target_description d;
	int status = description_find(&d, spec, config, err);

	if (!status && strcmp(d.kind, "kernel"))
		status = err_set(
			err, ENOTSUP,
			"%s: only a kernel in a process (kernel:ext4) records its executed code",
			spec);
	if (!status) {
		buf_addf(ret, "%s@", d.name);
		kernels_coverage_name(d.argument, ret);
	}
	description_free(&d);
	return status;
}

int code_open(struct code *c, struct target *t, struct err *err)
{
	struct buf table = BUF_INIT;
	int status;

	*c = (struct code){ 0 };
	if (!(t->caps & TARGET_CODE))
		return err_set(err, ENOTSUP,
			       "%s: its kernel was built without coverage; "
			       "use `assay kernel build --coverage`",
			       t->name);
	t->kind->code(t, &table);
	status = code_read(c, table.data, CODE_BITS_MAX, err);
	buf_free(&table);
	return status;
}

static int write_with(void (*tell)(const struct code *, const uint8_t *, struct buf *),
		      const struct code *c, const uint8_t *bits, const char *dir, const char *name,
		      struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status;

	tell(c, bits, &text);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

static int code_report_write(struct run *run, const struct code *c, const uint8_t *bits,
			     struct err *err)
{
	int status = write_with(code_lines, c, bits, run->dir, "kernel-coverage.txt", err);

	if (!status)
		status = write_with(code_info, c, bits, run->dir, "kernel-coverage.info", err);
	json_object_set_new(run->figures, "kernel_coverage", code_json(c, bits));
	return status;
}

void code_set_figures(struct run *run, const struct code *c, struct target *t)
{
	json_object_set_new(run->figures, "kernel_coverage",
			    code_json(c, t->kind->code(t, NULL)->bits));
}

int code_finish(struct run *run, const struct code *c, struct target *t, struct err *err)
{
	return code_report_write(run, c, t->kind->code(t, NULL)->bits, err);
}

static void job_dir(const struct run *run, unsigned job, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/job-%u", run->dir, job);
}

int code_merge(struct run *run, unsigned jobs, struct err *err)
{
	uint8_t *bits;
	struct buf table = BUF_INIT;
	char dir[PATH_MAX];
	struct code code = { 0 };
	unsigned first = 0;
	size_t count;
	int status;

	/* Of jobs that were killed there may be none. */
	for (; first < jobs; first++) {
		job_dir(run, first, dir);
		if (code_is_saved(dir))
			break;
	}
	if (first == jobs)
		return 0;
	bits = must_alloc(CODE_BITS_MAX / 8);
	status = code_saved_table(dir, &table, err);
	if (!status)
		status = code_read(&code, table.data, CODE_BITS_MAX, err);
	for (unsigned i = first; i < jobs && !status; i++) {
		job_dir(run, i, dir);
		if (!code_is_saved(dir))
			continue;
		status = code_load(&code, bits, dir, &count, err);
	}
	if (!status)
		status = code_save(&code, bits, run->dir, err);
	if (!status)
		status = code_report_write(run, &code, bits, err);
	code_free(&code);
	buf_free(&table);
	free(bits);
	return status;
}

/* ---- words ---- */

static json_int_t file_count(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static json_int_t points_missing(const json_t *file)
{
	return file_count(file, "points") - file_count(file, "reached");
}

static int compare_missing(const void *a, const void *b)
{
	json_int_t m = points_missing(*(json_t *const *)a), n = points_missing(*(json_t *const *)b);

	return m < n ? 1 : m > n ? -1 : 0;
}

static void add_share(json_int_t reached, json_int_t points, struct buf *out)
{
	buf_addf(out, "%6lld of %6lld points (%3lld %%)", (long long)reached, (long long)points,
		 points ? (long long)(reached * 100 / points) : 0);
}

static void add_file(const json_t *file, struct buf *out)
{
	buf_addf(out, "  %-28s ", json_text(file, "path"));
	add_share(file_count(file, "reached"), file_count(file, "points"), out);
	buf_addf(out, ", %3lld of %3lld functions\n", (long long)file_count(file, "entered"),
		 (long long)file_count(file, "functions"));
}

void code_add_files(const json_t *result, const struct str_map *paths, struct buf *out)
{
	const json_t *o = json_object_get(result, "kernel_coverage"), *file;
	size_t i;

	json_array_foreach(json_object_get(o, "files"), i,
			   file) if (str_map_get(paths, json_text(file, "path")))
		add_file(file, out);
}

void code_print(const struct run *run)
{
	json_t *o = json_object_get(run->figures, "kernel_coverage");
	json_t *files = json_object_get(o, "files"), *file, **own;
	json_int_t points = 0, reached = 0;
	struct buf out = BUF_INIT;
	size_t i, count = 0;

	if (!o)
		return;
	own = must_alloc((json_array_size(files) + 1) * sizeof(json_t *));
	json_array_foreach(files, i, file)
	{
		if (!json_is_true(json_object_get(file, "common"))) {
			own[count++] = file;
			continue;
		}
		points += file_count(file, "points");
		reached += file_count(file, "reached");
	}
	qsort(own, count, sizeof(json_t *), compare_missing);
	buf_adds(&out, "code of the file system:       ");
	add_share(file_count(o, "reached"), file_count(o, "points"), &out);
	buf_addch(&out, '\n');
	for (i = 0; i < count && i < ROWS_MAX; i++)
		add_file(own[i], &out);
	if (count > ROWS_MAX)
		buf_addf(&out, "  and %zu more files\n", count - ROWS_MAX);
	buf_adds(&out, "code of all file systems:      ");
	add_share(reached, points, &out);
	buf_addf(&out, "\nlines never reached: %s/kernel-coverage.txt\n", run->dir);
	fputs(out.data, stdout);
	buf_free(&out);
	free(own);
}
