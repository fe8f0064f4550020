/* prove.h -- a finding's own program as evidence: compiled, run on a fresh file system of the same
 * target, and seen to show the bug. */
#ifndef FINDING_PROVE_H
#define FINDING_PROVE_H

#include "finding/proof.h"

struct buf;
struct err;
struct finding;
struct target;

/* Makes programs, simplest first, runs each on a freshly reset target and keeps the first that
 * shows the bug, or else the simplest. Ended early (until_seconds, or the run is stopped) it is as
 * far as it got. What the file system or the program does is no failure. */
int finding_prove(struct finding *f, struct target *t, double until_seconds, struct err *err);

/* One word for run.json: "shown", "not shown", "unknown", "not run". */
const char *program_proof_word(const struct program_proof *p);
/* A sentence for people. */
void program_proof_print(const struct program_proof *p, struct buf *out);

#endif
