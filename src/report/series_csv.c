/* series_csv.c -- the time series of a run, read from its series.csv. */
#include "report/series_csv.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"

enum { CSV_MAX = 1 << 20, CSV_ROWS = 4096 };

void series_csv_free(struct series_csv *c)
{
	for (size_t i = 0; i < c->columns; i++) {
		free(c->names[i]);
		free(c->values[i]);
	}
}

static void csv_header(struct series_csv *c, char *line)
{
	char *rest = line, *name;

	while ((name = strsep(&rest, ",")) && c->columns < SERIES_CSV_COLUMNS) {
		c->names[c->columns] = must_strdup(name);
		c->values[c->columns++] = must_alloc(CSV_ROWS * sizeof(double));
	}
}

/* A row whose time does not go on, or that was cut short, is left out. */
static void csv_row(struct series_csv *c, char *line)
{
	char *rest = line, *cell;
	size_t i = 0;

	for (; i < c->columns && (cell = strsep(&rest, ",")); i++) {
		char *end;
		double value = strtod(cell, &end);

		c->values[i][c->rows] =
			*cell && !*end && isfinite(value) && value >= 0 ? value : -1;
	}
	if (i == c->columns && c->values[0][c->rows] >= 0 &&
	    (!c->rows || c->values[0][c->rows] > c->values[0][c->rows - 1]))
		c->rows++;
}

void series_csv_read(struct series_csv *c, const char *dir)
{
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	char path[PATH_MAX], *rest, *line;

	*c = (struct series_csv){ .columns = 0 };
	snprintf(path, sizeof(path), "%.4000s/series.csv", dir);
	if (!buf_read_file(&text, path, CSV_MAX, &none) && text.len) {
		rest = text.data;
		csv_header(c, strsep(&rest, "\n"));
		while ((line = strsep(&rest, "\n")) && c->rows < CSV_ROWS)
			if (*line)
				csv_row(c, line);
	}
	buf_free(&text);
}

const double *series_csv_column(const struct series_csv *c, const char *name)
{
	for (size_t i = 1; i < c->columns; i++)
		if (!strcmp(c->names[i], name))
			return c->values[i];
	return NULL;
}
