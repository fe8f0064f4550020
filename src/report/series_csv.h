/* series_csv.h -- the time series of a run, read from its series.csv (run/series.h). */
#ifndef REPORT_SERIES_CSV_H
#define REPORT_SERIES_CSV_H

#include <stddef.h>

enum { SERIES_CSV_COLUMNS = 32 };

/* The first column is the time. */
struct series_csv {
	char *names[SERIES_CSV_COLUMNS];
	double *values[SERIES_CSV_COLUMNS]; /* below zero: none */
	size_t columns, rows;
};

/* Of a run's directory; empty where there is none, and without rows that cannot be read. */
void series_csv_read(struct series_csv *c, const char *dir);
void series_csv_free(struct series_csv *c);
/* NULL: there is no such column. */
const double *series_csv_column(const struct series_csv *c, const char *name);

#endif
