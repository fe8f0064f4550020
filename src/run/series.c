/* series.c -- how the figures of a run grew: DIR/series.csv, a row about every second. */
#include "run/series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"

enum { SERIES_FILE_MAX = 1 << 20, MERGED_ROWS = 240 };
static const double interval_least_seconds = 1;

/* Columns in the order of the file. */
static const struct series_figure {
	const char *name;
	const char *figure; /* of run.json; NULL: the number of findings */
	const char *member; /* of that, where it is an object */
	bool reach;         /* of several processes the greatest counts, not the sum */
} series_figures[SERIES_COLUMNS] = {
	{ .name = "calls", .figure = "calls" },
	{ .name = "transitions", .figure = "transitions" },
	{ .name = "states", .figure = "states" },
	{ .name = "inputs", .figure = "inputs_seen", .reach = true },
	{ .name = "outcomes", .figure = "outcomes_seen", .reach = true },
	{ .name = "code_points", .figure = "kernel_coverage", .member = "reached", .reach = true },
	{ .name = "scripts", .figure = "scripts_run" },
	{ .name = "rejected", .figure = "rejected" },
	{ .name = "schedules", .figure = "schedules" },
	{ .name = "workloads", .figure = "workloads" },
	{ .name = "crash_states", .figure = "crash_states" },
	{ .name = "recoveries", .figure = "recoveries" },
	{ .name = "restarts", .figure = "restarts" },
	{ .name = "images", .figure = "images" },
	{ .name = "checker_runs", .figure = "checker_runs" },
	{ .name = "behaviours", .figure = "behaviours" },
	{ .name = "paths", .figure = "paths" },
	{ .name = "branches", .figure = "branches", .reach = true },
	{ .name = "checks", .figure = "checks" },
	{ .name = "rounds", .figure = "rounds" },
	{ .name = "findings" },
};

const char *series_column(size_t number)
{
	return series_figures[number].name;
}

int series_find_column(const char *name)
{
	for (int i = 0; i < SERIES_COLUMNS; i++)
		if (!strcmp(series_figures[i].name, name))
			return i;
	return -1;
}

void series_free(struct series *s)
{
	free(s->rows);
	*s = (struct series){ 0 };
}

/* ---- rows ---- */

static int64_t series_value(const struct series_figure *column, const json_t *figures,
			    size_t findings)
{
	const json_t *value;

	if (!column->figure)
		return (int64_t)findings;
	value = json_object_get(figures, column->figure);
	if (column->member)
		value = json_object_get(value, column->member);
	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
									: -1;
}

/* Every other row, and the last one. */
static void series_thin(struct series *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (i % 2 == 0 || i == s->count - 1)
			s->rows[kept++] = s->rows[i];
	s->count = kept;
	s->written = 0;
	s->interval_seconds *= 2;
}

/* Rows are in the order of time: one that is not later takes the place of the last. */
static void series_append(struct series *s, const struct series_row *row)
{
	if (s->count == SERIES_ROWS_MAX)
		series_thin(s);
	if (s->count && row->seconds <= s->rows[s->count - 1].seconds) {
		s->count--;
		s->written = 0;
	}
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->rows = must_realloc(s->rows, s->room * sizeof(*s->rows));
	}
	s->rows[s->count++] = *row;
	for (size_t i = 0; i < SERIES_COLUMNS; i++)
		if (row->values[i] >= 0 && !(s->columns & 1u << i)) {
			s->columns |= 1u << i;
			s->written = 0; /* its header has changed */
		}
}

bool series_is_due(const struct series *s, double seconds)
{
	return seconds >= s->next_seconds;
}

/* ---- the file ---- */

static void series_print_row(const struct series *s, const struct series_row *row, struct buf *out)
{
	buf_addf(out, "%.3f", row->seconds);
	for (size_t i = 0; i < SERIES_COLUMNS; i++) {
		if (!(s->columns & 1u << i))
			continue;
		buf_addch(out, ',');
		if (row->values[i] >= 0)
			buf_addu(out, (uint64_t)row->values[i]);
	}
	buf_addch(out, '\n');
}

void series_print(const struct series *s, struct buf *out)
{
	buf_adds(out, "seconds");
	for (size_t i = 0; i < SERIES_COLUMNS; i++)
		if (s->columns & 1u << i)
			buf_addf(out, ",%s", series_figures[i].name);
	buf_addch(out, '\n');
	for (size_t i = 0; i < s->count; i++)
		series_print_row(s, &s->rows[i], out);
}

/* Behind what is in the file; all of it where that has changed. */
static void series_write(struct series *s, const char *dir)
{
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	char path[PATH_MAX];
	bool whole = !s->written;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/" SERIES_FILE, dir);
	if (whole) {
		series_print(s, &text);
		if (!buf_write_file(&text, path, &none))
			s->written = s->count;
	} else {
		for (size_t i = s->written; i < s->count; i++)
			series_print_row(s, &s->rows[i], &text);
		fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
		/* Cut short, all of it is written again with the next row. */
		s->written = fd >= 0 && write(fd, text.data, text.len) == (ssize_t)text.len
				   ? s->count
				   : 0;
		if (fd >= 0)
			close(fd);
	}
	buf_free(&text);
}

/* The numbers of the columns that the first line names; -1 for others. */
static int series_read_header(const char *line, int columns[SERIES_COLUMNS], size_t *ret_count)
{
	static const char first[] = "seconds";
	size_t len = strlen(first);

	*ret_count = 0;
	if (strncmp(line, first, len))
		return -EINVAL;
	for (line += len; *line == ','; line += len) {
		char name[32];

		len = strcspn(++line, ",\n");
		if (len >= sizeof(name) || *ret_count == SERIES_COLUMNS)
			return -EINVAL;
		memcpy(name, line, len);
		name[len] = '\0';
		columns[(*ret_count)++] = series_find_column(name);
	}
	return *line == '\n' ? 0 : -EINVAL;
}

/* A line that was cut short is left out. */
static bool series_read_row(const char *line, const int *columns, size_t count,
			    struct series_row *ret)
{
	char *end;

	for (size_t i = 0; i < SERIES_COLUMNS; i++)
		ret->values[i] = -1;
	ret->seconds = strtod(line, &end);
	if (end == line || !(ret->seconds >= 0) || !isfinite(ret->seconds))
		return false;
	for (size_t i = 0; i < count; i++) {
		int64_t value = -1;

		if (*end != ',')
			return false;
		line = end + 1;
		if (*line != ',' && *line != '\n')
			value = strtoll(line, &end, 10);
		else
			end = (char *)line;
		if (columns[i] >= 0)
			ret->values[columns[i]] = value < 0 ? -1 : value;
	}
	return *end == '\n';
}

int series_read(struct series *s, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX], *line, *next;
	int columns[SERIES_COLUMNS], status;
	struct series_row row;
	size_t count = 0;

	*s = (struct series){ .interval_seconds = interval_least_seconds };
	snprintf(path, sizeof(path), "%.4000s/" SERIES_FILE, dir);
	if (access(path, F_OK))
		return 0;
	status = buf_read_file(&text, path, SERIES_FILE_MAX, err);
	if (!status && series_read_header(buf_str(&text), columns, &count))
		status = err_set(err, EINVAL, "%s: not a time series", path);
	line = status ? NULL : strchr(text.data, '\n');
	for (; line && *++line; line = next) {
		next = strchr(line, '\n');
		if (next && series_read_row(line, columns, count, &row))
			series_append(s, &row);
	}
	if (s->count)
		s->before_seconds = s->rows[s->count - 1].seconds;
	s->written = 0;
	buf_free(&text);
	return status;
}

void series_add(struct series *s, const char *dir, double seconds, const json_t *figures,
		size_t findings)
{
	struct series_row row = { .seconds = s->before_seconds + seconds };

	if (!(s->interval_seconds > 0))
		s->interval_seconds = interval_least_seconds;
	for (size_t i = 0; i < SERIES_COLUMNS; i++)
		row.values[i] = series_value(&series_figures[i], figures, findings);
	series_append(s, &row);
	s->next_seconds = seconds + s->interval_seconds;
	series_write(s, dir);
}

/* ---- several processes ---- */

/* What it had counted at that moment; NULL: nothing yet. */
static const struct series_row *series_at(const struct series *s, double seconds)
{
	const struct series_row *last = NULL;

	for (size_t i = 0; i < s->count && s->rows[i].seconds <= seconds; i++)
		last = &s->rows[i];
	return last;
}

static void series_row_join(struct series_row *into, const struct series_row *from)
{
	for (size_t i = 0; i < SERIES_COLUMNS; i++) {
		int64_t value = from->values[i];

		if (value < 0)
			continue;
		if (into->values[i] < 0)
			into->values[i] = value;
		else if (!series_figures[i].reach)
			into->values[i] += value;
		else if (value > into->values[i])
			into->values[i] = value;
	}
}

static void series_join(struct series *s, const struct series *parts, unsigned count, double end)
{
	for (size_t n = 1; n <= MERGED_ROWS; n++) {
		struct series_row row = { .seconds = end * (double)n / MERGED_ROWS };
		const struct series_row *part;

		for (size_t i = 0; i < SERIES_COLUMNS; i++)
			row.values[i] = -1;
		for (unsigned i = 0; i < count; i++) {
			part = series_at(&parts[i], row.seconds);
			if (part)
				series_row_join(&row, part);
		}
		series_append(s, &row);
	}
}

void series_add_jobs(struct series *s, const char *dir, unsigned jobs)
{
	struct series *parts = must_alloc((jobs + 1) * sizeof(*parts));
	double end = 0;

	for (unsigned i = 0; i < jobs; i++) {
		struct err none = { 0 };
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.4000s/job-%u", dir, i);
		if (!series_read(&parts[i], path, &none))
			end = fmax(end, parts[i].before_seconds);
	}
	series_free(s); /* what is there is of the same jobs, before they were resumed */
	s->interval_seconds = interval_least_seconds;
	if (end > 0)
		series_join(s, parts, jobs, end);
	for (unsigned i = 0; i < jobs; i++)
		series_free(&parts[i]);
	free(parts);
}
