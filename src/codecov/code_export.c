/* code_export.c -- what was reached of a kernel's code: as JSON, as lines never reached, for lcov.
 *
 * A line is reached if any of its points is, a function entered likewise. The export has the
 * directories of which one percent or more was reached: the file system under test, and the VFS. */
#include "codecov/code.h"

#include <stdlib.h>

#include "base/must.h"

/* Of one file; and of its functions, numbered as they follow each other by line. */
struct seen {
	size_t reached;
	uint32_t *functions; /* in order of their first lines */
	size_t function_count, entered;
};

/* What is known of all files. */
struct code_export {
	const struct code *code;
	const uint8_t *bits;
	bool *exported; /* by file */
	bool *entered;  /* by function */
	bool *listed;   /* by function */
};

/* A few functions of others are always called, to ask whether they have memory to spare. */
enum { EXPORT_SHARE = 100 };

static void choose_files(struct code_export *t)
{
	const struct code *c = t->code;
	size_t *points = must_alloc((c->directory_count + 1) * sizeof(*points));
	size_t *reached = must_alloc((c->directory_count + 1) * sizeof(*reached));
	uint32_t directory;

	for (size_t i = 0; i < c->count; i++) {
		directory = c->files[c->points[i].file].directory;
		points[directory]++;
		reached[directory] += code_has(t->bits, c->points[i].bit);
	}
	for (size_t i = 0; i < c->file_count; i++) {
		directory = c->files[i].directory;
		t->exported[i] = reached[directory] * EXPORT_SHARE >= points[directory];
	}
	free(points);
	free(reached);
}

static void export_begin(struct code_export *t, const struct code *c, const uint8_t *bits)
{
	*t = (struct code_export){
		.code = c,
		.bits = bits,
		.exported = must_alloc(c->file_count + 1),
		.entered = must_alloc(c->function_count + 1),
		.listed = must_alloc(c->function_count + 1),
	};
	for (size_t i = 0; i < c->count; i++)
		t->entered[c->points[i].function] |= code_has(bits, c->points[i].bit);
	choose_files(t);
}

static void export_free(struct code_export *t)
{
	free(t->exported);
	free(t->entered);
	free(t->listed);
}

static void export_count_file(struct code_export *t, const struct code_file *file, struct seen *ret)
{
	*ret = (struct seen){ .functions = must_alloc(file->count * sizeof(*ret->functions)) };
	for (size_t i = file->first; i < file->first + file->count; i++) {
		const struct code_point *p = &t->code->points[i];

		ret->reached += code_has(t->bits, p->bit);
		if (t->listed[p->function])
			continue;
		t->listed[p->function] = true;
		ret->entered += t->entered[p->function];
		ret->functions[ret->function_count++] = p->function;
	}
}

static json_t *file_json(struct code_export *t, const struct code_file *file, size_t *ret_reached)
{
	json_t *o, *never = json_array();
	struct seen seen;

	export_count_file(t, file, &seen);
	for (size_t i = 0; i < seen.function_count && !file->common; i++)
		if (!t->entered[seen.functions[i]])
			json_array_append_new(never,
					      json_string(t->code->functions[seen.functions[i]]));
	o = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:o}", "path", file->path, "common",
		      file->common, "points", (json_int_t)file->count, "reached",
		      (json_int_t)seen.reached, "functions", (json_int_t)seen.function_count,
		      "entered", (json_int_t)seen.entered, "never", never);
	*ret_reached = seen.reached;
	free(seen.functions);
	return o;
}

json_t *code_json(const struct code *c, const uint8_t *bits)
{
	json_t *files = json_array();
	size_t points = 0, reached = 0, own;
	struct code_export t;

	export_begin(&t, c, bits);
	for (size_t i = 0; i < c->file_count; i++) {
		if (!t.exported[i])
			continue;
		json_array_append_new(files, file_json(&t, &c->files[i], &own));
		if (c->files[i].common)
			continue;
		points += c->files[i].count;
		reached += own;
	}
	export_free(&t);
	return json_pack("{s:s, s:I, s:I, s:o}", "table", c->table, "points", (json_int_t)points,
			 "reached", (json_int_t)reached, "files", files);
}

/* ---- lines ---- */

/* The points of one line: from *at on, which moves behind them. */
static bool line_is_reached(const struct code_export *t, const struct code_file *file, size_t *at)
{
	const struct code_point *points = t->code->points;
	uint32_t line = points[*at].line;
	bool reached = false;

	for (; *at < file->first + file->count && points[*at].line == line; ++*at)
		reached |= code_has(t->bits, points[*at].bit);
	return reached;
}

static void add_range(const struct code_export *t, const struct code_file *file,
		      const struct code_point *from, const struct code_point *to, struct buf *out)
{
	buf_addf(out, "%s:%u", file->path, from->line);
	if (to->line > from->line)
		buf_addf(out, "-%u", to->line);
	buf_addf(out, " %s\n", t->code->functions[from->function]);
}

/* Lines of one function, with no line reached between them, become one range. */
static void add_lines(const struct code_export *t, const struct code_file *file, struct buf *out)
{
	const struct code_point *points = t->code->points, *from = NULL, *to = NULL, *line;

	for (size_t i = file->first; i < file->first + file->count;) {
		bool reached;

		line = &points[i];
		reached = line_is_reached(t, file, &i);
		if (from && (reached || line->function != from->function)) {
			add_range(t, file, from, to, out);
			from = NULL;
		}
		if (reached)
			continue;
		from = from ? from : line;
		to = line;
	}
	if (from)
		add_range(t, file, from, to, out);
}

void code_lines(const struct code *c, const uint8_t *bits, struct buf *out)
{
	struct seen seen;
	struct code_export t;

	export_begin(&t, c, bits);
	for (size_t i = 0; i < c->file_count; i++) {
		if (!t.exported[i])
			continue;
		export_count_file(&t, &c->files[i], &seen);
		buf_addf(out, "%s: %zu of %zu points, %zu of %zu functions\n", c->files[i].path,
			 seen.reached, c->files[i].count, seen.entered, seen.function_count);
		free(seen.functions);
		add_lines(&t, &c->files[i], out);
	}
	export_free(&t);
}

/* ---- lcov ---- */

/* In the format of lcov's tracefiles (geninfo(1)). */
static void add_info(struct code_export *t, const struct code_file *file, struct buf *out)
{
	const struct code *c = t->code;
	size_t lines = 0, reached_lines = 0;

	buf_addf(out, "TN:\nSF:%s/%s\n", c->source, file->path);
	for (size_t i = file->first; i < file->first + file->count; i++) {
		uint32_t function = c->points[i].function;

		if (t->listed[function])
			continue;
		t->listed[function] = true;
		buf_addf(out, "FN:%u,%s\nFNDA:%d,%s\n", c->points[i].line, c->functions[function],
			 t->entered[function], c->functions[function]);
	}
	for (size_t i = file->first; i < file->first + file->count; lines++) {
		uint32_t line = c->points[i].line;
		bool reached = line_is_reached(t, file, &i);

		buf_addf(out, "DA:%u,%d\n", line, reached);
		reached_lines += reached;
	}
	buf_addf(out, "LF:%zu\nLH:%zu\nend_of_record\n", lines, reached_lines);
}

void code_info(const struct code *c, const uint8_t *bits, struct buf *out)
{
	struct code_export t;

	export_begin(&t, c, bits);
	for (size_t i = 0; i < c->file_count; i++)
		if (t.exported[i])
			add_info(&t, &c->files[i], out);
	export_free(&t);
}
