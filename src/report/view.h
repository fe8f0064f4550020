/* view.h -- inside a page: what its template shows, as JSON, each part from files of a run.
 *
 * Everything in a run's directory is foreign input. A part that is not there gives NULL, and the
 * page is without it. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

enum { VIEW_TEXT_MAX = 1 << 16 };

/* Any bytes as text: those that are not UTF-8 become escapes. */
json_t *view_text(const char *text);
/* The same of a part of a text. */
json_t *view_text_part(const char *text, size_t len);
/* A text of finding.json, whose characters are bytes. */
json_t *view_bytes(const json_t *object, const char *key);
/* A file, clipped; NULL where there is none. */
json_t *view_file(const char *dir, const char *name);
/* A count of an object, 0 where it has none. */
long long view_count(const json_t *o, const char *key);
/* A sum of counts, which are foreign input: at most what the type holds. */
long long view_sum(long long a, long long b);
/* "states_per_second" as words. */
json_t *view_words(const char *key);
/* "1 h 02 min", "3.2 s". */
json_t *view_seconds(double seconds);

/* view_findings.c: a list of findings, with their evidence. `prefix` is for their anchors. */
json_t *view_findings(const char *dir, const json_t *rows, const char *prefix);
/* view_calls.c: the calls of a trace; objects whose paths are listed are marked. */
json_t *view_calls(const char *trace, const json_t *paths, long long *ret_left_out);
/* The paths that the last call of a trace names. */
json_t *view_last_paths(const char *trace);
/* view_diff.c: two texts side by side, line by line. */
json_t *view_diff(const char *expected, const char *seen);
/* view_lanes.c: pictures of overlapping calls, and of what reached a disk before a crash. */
json_t *view_lanes(const char *history);
json_t *view_timeline(const char *writes);
/* view_series.c: pictures of series.csv, and its last row. */
json_t *view_charts(const char *dir, json_t **ret_last);
/* view_cover.c: coverage of inputs and outcomes, of one or several tools. */
json_t *view_cover(const char *dir, const json_t *run);
/* view_tables.c */
json_t *view_code(const json_t *run);
json_t *view_learned(const json_t *run);
json_t *view_fields(const json_t *run);
json_t *view_sweep(const json_t *run);
/* view_graph.c: the states of a small search. */
json_t *view_graph(const json_t *run);
/* view_survey.c */
json_t *view_survey(const json_t *run);

#endif
