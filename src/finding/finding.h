/* finding.h -- a discrepancy with its evidence: the calls that lead to it, their outcomes, how
 * often replays have shown it, and a program that reproduces it. */
#ifndef FINDING_FINDING_H
#define FINDING_FINDING_H

#include "base/arena.h"
#include "base/buf.h"
#include "finding/proof.h"
#include "judge/judge.h"
#include "model/model.h"
#include "op/op.h"
#include "target/target.h"

/* What is known of the outcome of a call. Only an observed one is ever printed as an outcome. */
enum evidence {
	EVIDENCE_NONE,      /* not recorded */
	EVIDENCE_PREDICTED, /* what the model says; not observed */
	EVIDENCE_OBSERVED,
	EVIDENCES
};

struct finding {
	struct discrepancy discrepancy;
	struct buf target;        /* what it was found on */
	struct call *calls;       /* the last one shows it */
	struct outcome *outcomes; /* of each of them, as far as is known */
	enum evidence *evidence;  /* what is known of each outcome */
	size_t count;
	size_t before;       /* calls made before these and left out; 0: from a fresh file system */
	struct buf seen_on;  /* kernels that have shown it, besides the target's: "Linux 6.1" */
	struct buf upstream; /* "fixed by 0123abc", "reported"; empty: unknown */
	struct buf notes;    /* what else is to be said of it, a line each */
	unsigned tries, shown; /* replays of these calls on a fresh file system: shown in so many */
	bool shrunk;           /* to the end: nothing simpler shows it */
	size_t overlaps; /* so many last calls do: only a schedule shows it, which the notes name */
	bool expects;    /* no finding: a script with the outcomes that it expects */
	bool unseen;     /* in these the tree was observed after the last call only */
	struct program_proof proof; /* what its own program showed */
	struct arena arena;
};

void finding_init(struct finding *f);
void finding_free(struct finding *f);
/* Room in the arena for this many calls, whose outcomes are not known yet. */
void finding_reserve(struct finding *f, size_t count);
/* The outcome of call i, where it was observed; else NULL. */
const struct outcome *finding_observed(const struct finding *f, size_t i);
/* True if a replay has shown it again, or the kernel's log is evidence enough. What is not
 * confirmed is kept aside, not reported (run.h). */
bool finding_is_confirmed(const struct finding *f);
/* Whether only a power failure shows it: replays of its calls do not. */
bool finding_is_by_crash(const struct finding *f);
/* Whether only a damaged disk shows it: it has no calls. */
bool finding_is_by_damage(const struct finding *f);
/* The group that it belongs to (judge/group.h). All hangs that no replay shows are one: on a busy
 * machine any call may be slow. */
void finding_group(const struct finding *f, char ret[SIGNATURE_MAX]);

/* Where and how calls are replayed. */
struct replay_on {
	struct target *target;
	const struct model *model;
	/* Of clock_seconds(); work on a finding ends then, and when the run is stopped (run.h). 0:
	 * never. */
	double until_seconds;
	bool unseen; /* the tree is observed after the last call only, not after each */
	/* Whether a discrepancy is known, and stepped over as one that is not sought. NULL: none
	 * is. */
	bool (*knows)(void *to, const struct finding *f);
	void *knows_to;
};

/* Runs calls on a freshly reset target beside the model, judging every outcome and the trees. Fills
 * *ret, shown in 1 of 1, and returns 1 if there is a discrepancy of the signature that is sought,
 * or any if that is NULL; others are stepped over (judge/step_over.h). 0 if not, -ETIME if it had
 * to end before, or another negative errno for failures of ours. */
int judge_replay(const struct replay_on *on, const struct call *calls, size_t count,
		 const char *sought, struct finding *ret, struct err *err);

/* Fewest calls, then simplest arguments, keeping the signature; bounded by tries_max replays.
 * Ended early it is as far as it got. */
int finding_shrink(struct finding *f, const struct replay_on *on, unsigned tries_max,
		   struct err *err);
/* Replays it from a fresh file system until that was done `times` times, with the replay that it
 * comes from; less often if ended early. Counts in tries and shown. */
int finding_verify(struct finding *f, const struct replay_on *on, unsigned times, struct err *err);
/* Both, for a finding that a replay has shown; and its program is run (finding_prove). Where what
 * it shrank to does not show any more, it stays as it was. On failure, too, it is as far as it
 * got. */
int finding_improve(struct finding *f, const struct replay_on *on, unsigned tries_max,
		    unsigned times, struct err *err);
/* The standalone C program (cc alone) and shell script; exit 1 where the bug shows, 0 if not,
 * 2 if the calls before went differently. */
void finding_repro_c(const struct finding *f, struct buf *out);
/* The same of calls that overlap: it makes them at once, again and again, and counts how often no
 * order of theirs explains what came of it. */
void finding_race_c(const struct finding *f, struct buf *out);
void finding_repro_sh(const struct finding *f, const struct target *t, struct buf *out);
/* The same of one that shows when the daemon was killed behind the calls and started again:
 * crash.c and crash.sh. look: shell text that sets $result to 1 where the bug shows in $ASSAY_ROOT,
 * or to 0; $ASSAY_WORK is for its files. False: no script can kill what serves this target. */
void finding_crash_c(const struct finding *f, struct buf *out);
bool finding_crash_sh(const struct finding *f, const struct target *t, const char *look,
		      struct buf *out);
/* Writes dir/{README.md,trace,finding.json}, and {repro.c,repro.sh} where the calls lead to it
 * from a fresh file system. t: where it was found; may be NULL. */
int finding_write(const struct finding *f, const struct target *t, const char *dir,
		  struct err *err);
/* Writes dir/{fsck.txt,image}, of the target's present state, where it has them. */
void finding_keep_evidence(struct target *t, const char *dir);
/* Of more calls a program or a page is of no use: they are to be shrunk first. */
enum { FINDING_CALLS_TOLD = 1 << 13 };
/* Whether its folder has a program: of calls that begin on a fresh file system and showed it. */
bool finding_has_program(const struct finding *f);
/* The same, and that program was not run, or did not contradict: else it is not kept. */
bool finding_has_reproducer(const struct finding *f);
/* The calls, each with its outcome where that was observed; predictions as comments. */
void finding_print_calls(const struct finding *f, struct buf *out);
/* Takes over what people have written to the trace of another one: kernels, upstream status. */
void finding_take_remarks(struct finding *f, const struct finding *from);
/* README.md: where, steps, expected, actual, cause. */
void finding_print_readme(const struct finding *f, const struct target *t, struct buf *out);
/* Reads dir/trace (or a trace itself) back for replay and shrink: calls, observed outcomes, target,
 * signature. Where the trace is only the end of a longer history, that is read. */
int finding_read(struct finding *f, const char *dir, struct err *err);
/* The same with everything that its program is made of, from dir/finding.json. */
int finding_read_whole(struct finding *f, const char *dir, struct err *err);
/* A script in place of a finding: its last call is to end as the trace says. For exports. */
int finding_read_script(struct finding *f, const char *path, struct err *err);

#endif
