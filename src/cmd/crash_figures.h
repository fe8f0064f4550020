/* crash_figures.h -- the figures of `assay crash`, and its summary. */
#ifndef CMD_CRASH_FIGURES_H
#define CMD_CRASH_FIGURES_H

#include "crash/crash.h"
#include "run/run.h"

/* NULL behind the last. */
extern const char *const crash_figure_names[];

void crash_figures_set(struct run *run, const struct crash_session *s, bool during_recovery);
uint64_t crash_figure(const struct run *run, const char *name);
/* Findings, and what was done. */
void crash_figures_print(const struct run *run, bool daemon);

#endif
