/* crash_figures.h -- the figures of `assay crash`, and its summary. */
#ifndef CMD_CRASH_FIGURES_H
#define CMD_CRASH_FIGURES_H

#include "crash/crash.h"
#include "run/run.h"

void crash_figures_set(struct run *run, const struct crash_session *s, bool during_recovery);
/* Takes over what another run has counted. */
void crash_figures_add(struct run *run, const json_t *summary, bool daemon);
/* Takes over what job number so and so has found and counted. */
int crash_figures_merge(struct run *run, unsigned job, bool daemon, struct err *err);
uint64_t crash_figure(const struct run *run, const char *name);
/* Findings, and what was done. */
void crash_figures_print(const struct run *run, bool daemon);

#endif
