/* finding.h -- one discrepancy, told as an argument: steps, what was expected and why, what was
 * seen; deduplicated, re-verified, shrunk, and written out with a program that reproduces it. */
#ifndef JUDGE_FINDING_H
#define JUDGE_FINDING_H

#include "base/arena.h"
#include "base/buf.h"
#include "judge/fact.h"
#include "model/model.h"
#include "op/op.h"
#include "target/target.h"

enum finding_code {
	FINDING_OUTCOME, /* an outcome the model does not allow */
	FINDING_TREE,    /* right outcome, wrong tree */
	FINDING_HANG,
	FINDING_DEATH,    /* daemon or mount died */
	FINDING_DRIFT,    /* the tree changed by itself */
	FINDING_KERNEL,   /* the kernel log: oops, BUG, WARN, hung task */
	FINDING_LEAK,     /* memory that a kernel does not give back */
	FINDING_TIMES,    /* times of files that no order of events explains */
	FINDING_CODES
};
extern const char *const finding_names[FINDING_CODES]; /* "OUTCOME", ... */

struct finding {
	enum finding_code code;
	char signature[160]; /* stable: code, operation, what differs; one cause, one signature */
	struct buf target;   /* what it was found on */
	struct buf title;    /* one sentence */
	struct call *calls;  /* from a fresh file system; the last one shows it */
	struct outcome *outcomes; /* what each of them answered */
	size_t count;
	struct errset allowed; /* of the last call: errors, and success with this value */
	bool success_allowed;
	struct outcome value;
	struct fact *facts; /* what should be so afterwards and is not */
	size_t fact_count;
	struct buf expected, seen, diff, rule; /* text for people */
	bool outside_posix;                    /* else: inside POSIX but not what Linux does */
	unsigned tries, shown;                 /* re-verification: shown in `shown` of `tries` */
	bool shrunk;                           /* to the end: nothing simpler shows it */
	struct arena arena;
};

void finding_init(struct finding *f);
void finding_free(struct finding *f);

/* JUDGE_UNDEFINED: the platform leaves the call open and it did not go as Linux does, or it ran
 * out of space half way; where it led is unknown. */
enum { JUDGE_FINE, JUDGE_BAD, JUDGE_UNDEFINED };

/* Judges what a call of `s` gave and, if `observe`, the tree of the target after it; s moves on as
 * model_step() says. JUDGE_BAD fills a finding that has no calls yet. A tree that is right at a
 * second look is a finding too: DRIFT. */
int judge_answer(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct outcome *seen, bool observe, struct finding *ret, struct err *err);
/* The finding that a call ended in this fate (not FATE_FINE). */
void judge_fate(struct target *t, const struct call *c, enum target_fate fate,
		struct finding *ret);

/* Work on a finding ends at until_seconds (of clock_seconds(); 0: never) and when the run is
 * stopped (run.h). */

/* Runs calls on a freshly reset target beside the model, judging every outcome and, after the
 * last call or after all, the tree. Fills *ret and returns 1 if there is a discrepancy, 0 if
 * not, -ETIME if it had to end before, or another negative errno for failures of ours. */
int judge_replay(struct target *t, const struct model *m, const struct call *calls, size_t count,
		 bool observe_all, double until_seconds, struct finding *ret, struct err *err);

/* Fewest calls, then simplest arguments, keeping the signature; bounded by tries_max replays.
 * Ended early it is as far as it got. */
int finding_shrink(struct finding *f, struct target *t, const struct model *m, unsigned tries_max,
		   double until_seconds, struct err *err);
/* Replays it `times` times from a fresh file system, fewer if ended early; fills tries and
 * shown. */
int finding_verify(struct finding *f, struct target *t, const struct model *m, unsigned times,
		   double until_seconds, struct err *err);
/* The standalone C program (cc alone) and shell script; exit 1 where the bug shows, 0 if not,
 * 2 if the calls before went differently. */
void finding_repro_c(const struct finding *f, struct buf *out);
void finding_repro_sh(const struct finding *f, const struct target *t, struct buf *out);
/* Writes dir/{README.md,trace,repro.c,repro.sh,...}; with a target also fsck.txt and image, of
 * its present state. */
int finding_write(const struct finding *f, struct target *t, const char *dir, struct err *err);
/* Reads dir/trace (or a trace itself) back for replay and shrink: calls, target, signature. */
int finding_read(struct finding *f, const char *dir, struct err *err);

#endif
