/* finding.h -- one discrepancy, told as an argument: steps, what was expected and why, what was
 * seen; deduplicated, re-verified, shrunk, and written out with a program that reproduces it. */
#ifndef JUDGE_FINDING_H
#define JUDGE_FINDING_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/model.h"
#include "op/op.h"
#include "target/target.h"

enum finding_code {
	FINDING_OUTCOME, /* an outcome the model does not allow */
	FINDING_TREE,    /* right outcome, wrong tree */
	FINDING_HANG,
	FINDING_DEATH,   /* daemon or mount died */
	FINDING_DRIFT,   /* the tree changed by itself */
	FINDING_DISAGREE, /* targets differ from one another */
	FINDING_KERNEL,  /* the kernel log: oops, BUG, WARN, hung task */
	FINDING_CODES
};
extern const char *const finding_names[FINDING_CODES]; /* "OUTCOME", ... */

struct finding {
	enum finding_code code;
	char signature[160]; /* stable: code, operation, what differs; one cause, one signature */
	struct buf title;    /* one sentence */
	struct call *calls;  /* from a fresh file system; the last one shows it */
	size_t count;
	struct buf expected, seen, diff, rule; /* text for people */
	bool outside_posix;  /* else: inside POSIX but not what Linux does */
	unsigned tries, shown; /* re-verification: shown in `shown` of `tries` */
	struct arena arena;
};

void finding_free(struct finding *f);

/* Runs calls on a freshly reset target beside the model, judging every outcome and, after the
 * last call or after all, the tree. Fills *ret and returns 1 if there is a discrepancy, 0 if
 * not, or a negative errno for failures of ours. */
int judge_replay(struct target *t, const struct model *m, const struct call *calls, size_t count,
		 bool observe_all, struct finding *ret, struct err *err);

/* Fewest calls, then simplest arguments, keeping the signature; bounded by tries_max replays. */
int finding_shrink(struct finding *f, struct target *t, const struct model *m, unsigned tries_max,
		   struct err *err);
/* Replays it `times` times from a fresh file system; fills tries and shown. */
int finding_verify(struct finding *f, struct target *t, const struct model *m, unsigned times,
		   struct err *err);
/* The standalone C program (cc alone) and shell script; exit 1 where the bug shows, 0 if not. */
void finding_repro_c(const struct finding *f, const char *target, struct buf *out);
/* Writes dir/{README.md,trace,repro.c,repro.sh,...}. */
int finding_write(const struct finding *f, struct target *t, const char *dir, struct err *err);
/* Reads dir/trace back for replay and shrink. */
int finding_read(struct finding *f, const char *dir, struct err *err);

#endif
