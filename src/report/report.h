/* report.h -- the page of a run: DIR/report.html from DIR/run.json and the files beside it.
 *
 * One self-contained file, from one template (page.html) and one JSON object, its view. It needs no
 * script, except for filters, copying and folding, and follows the reader's choice of light or
 * dark. Served by HTTP it asks for data.json beside it (report_live_json), and shows what is new
 * without being loaded again. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

struct buf;
struct err;

/* A page that is served by HTTP (src/serve); NULL means a file. */
struct report_served {
	const char *nonce;    /* by which the browser knows the scripts of the page */
	const char *all_runs; /* where the list of runs is; NULL: nowhere */
	bool dead;            /* no process works on the run, even if run.json says so */
};

/* What the template shows, of a run's directory; NULL: it holds no run that can be read. */
json_t *report_page_json(const char *dir, const struct report_served *served, struct err *err);
/* The page as a whole. */
int report_page(const char *dir, const struct report_served *served, struct buf *out,
		struct err *err);
/* What a page that is open asks for: {"running": ..., "main": its new content}; NULL as above. */
json_t *report_live_json(const char *dir, const struct report_served *served, struct err *err);
/* Writes DIR/report.html. */
int report_write(const char *dir, struct err *err);
/* The style sheet of pages, for others that are to look alike. */
void report_style(struct buf *out);

#endif
