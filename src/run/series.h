/* series.h -- how the figures of a run grew: DIR/series.csv, a row about every second.
 *
 * A column is a figure of run.json, by the table in series.c; one that the instrument lacks is
 * absent. The number of rows is bounded: where they become too many, every other one is dropped and
 * the next ones come at twice the distance. Costs a write of one line. */
#ifndef RUN_SERIES_H
#define RUN_SERIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

#define SERIES_FILE "series.csv"
enum { SERIES_COLUMNS = 21, SERIES_ROWS_MAX = 600 };

struct series_row {
	double seconds;
	int64_t values[SERIES_COLUMNS]; /* -1: the instrument had no such figure then */
};

struct series {
	struct series_row *rows;
	size_t count, room;
	double interval_seconds, next_seconds;
	double before_seconds; /* of the parts of a run that was resumed */
	uint32_t columns;      /* those that have a value in some row, as bits */
	size_t written;        /* rows that are in the file */
};

/* The name of a column, in the file. */
const char *series_column(size_t number);
/* The number of a column; -1: there is none of this name. */
int series_find_column(const char *name);

/* Reads what DIR holds of it; that may be nothing. Fails for what is no series. */
int series_read(struct series *s, const char *dir, struct err *err);
void series_free(struct series *s);

/* Whether a row is due so many seconds after the begin of the run, or of its resumed part. */
bool series_is_due(const struct series *s, double seconds);
/* Adds the row of these figures, and of so many findings; writes it. What cannot be written is left
 * out: the run matters more. */
void series_add(struct series *s, const char *dir, double seconds, const json_t *figures,
		size_t findings);
/* Adds what several processes did at the same time, each with a series in DIR/job-N: their sums,
 * and of what they reach, the greatest. */
void series_add_jobs(struct series *s, const char *dir, unsigned jobs);

void series_print(const struct series *s, struct buf *out);

#endif
