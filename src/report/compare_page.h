/* compare_page.h -- runs side by side as one self-contained page: curves over time, findings,
 * figures. */
#ifndef REPORT_COMPARE_PAGE_H
#define REPORT_COMPARE_PAGE_H

#include <jansson.h>
#include <stddef.h>

struct buf;
struct report_run;

/* findings: [{"target", "title", "severity", "runs": [DIR...]}]; figures: [{"figure": NAME,
 * "cells": [TEXT for each run]}]. Takes over both. */
void compare_page(const struct report_run *runs, size_t count, json_t *findings, json_t *figures,
		  const char *version, struct buf *out);

#endif
