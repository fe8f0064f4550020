/* conform_figures.h -- the figures of `assay conform`, of all scripts and of parts of them. */
#ifndef CMD_CONFORM_FIGURES_H
#define CMD_CONFORM_FIGURES_H

#include "conform/survey.h"
#include "run/run.h"

/* Sums over all targets. */
void conform_figures_set(struct run *run, const struct survey *s, unsigned preemptions);
enum verdict conform_figures_verdict(const struct survey *s);

/* Takes over the figures of a part, and its verdict where it is worse. */
void conform_figures_add(struct run *all, const json_t *part);
/* Findings, and what was done. */
void conform_figures_print(const struct run *all);

#endif
