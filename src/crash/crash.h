/* crash.h -- workloads on a target that records its disk, and every crash they could meet.
 *
 * A workload runs once. From what it wrote, crash disks are made (views.h), recovered (recovery.h)
 * and compared with what may be there (persistence/persistence.h). */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include "crash/disk_events.h"
#include "crash/recovery.h"
#include "crash/views.h"
#include "judge/discrepancy.h"
#include "persistence/persistence.h"
#include "target/target.h"

/* How much is tried with a workload. */
struct crash_effort {
	bool during_recovery;  /* recovery by mounting is crashed, too */
	uint64_t states_max;   /* of each workload, evenly chosen from all views; 0: no bound */
	bool all_in_order;     /* those in order are judged as well, and do not count for that */
	bool checks_calls;     /* a tree that is known counts as new behind other operations */
	unsigned check_one_in; /* of new trees, besides that of the end; 0: all */
	bool unsound;          /* what recovers need not be sound */
};

struct crash_options {
	struct views_options views;
	struct persist_rules rules;
	struct crash_effort effort;
};

struct crash_figures {
	uint64_t workloads;
	uint64_t not_judged; /* workloads that ended in another way than the model allows */
	uint64_t crash_states, unique_images;
	uint64_t recovery_states, recovery_skipped;          /* crashes during recovery */
	uint64_t repair_logs, repair_states, repair_skipped; /* the same of its checker */
};

/* A finding, after shrinking: what is wrong, and the operations that are enough for it. */
enum { CAUSE_OPS_MAX = 16 };
struct crash_cause {
	char signature[SIGNATURE_MAX]; /* of the violation */
	uint16_t ops[CAUSE_OPS_MAX];
	size_t count;
};

struct crash_session {
	struct target *target;
	struct model model;
	struct state start;
	struct recovery recovery;
	struct crash_options options;
	struct crash_figures figures;
	struct hash_map images;    /* that were met */
	struct hash_map repaired;  /* recovered trees; repairing one of their disks was crashed */
	struct buf not_judged_for; /* why the first workload was not judged; empty: all were */
	struct crash_cause *causes;
	size_t cause_count;
};

/* A workload that was carried out, and what the disk was asked for. */
struct crash_case {
	const struct call *calls; /* NULL: they are not known (logged_disk.h) */
	size_t count, setup_count;
	char *const *marks; /* of a log: their names */
	struct outcome *outcomes;
	struct persistence history;
	struct buf log;
	struct disk_events events;
	struct page_store store;
	struct arena arena;
};

/* What is wrong after one crash. */
struct crash_violation {
	char signature[SIGNATURE_MAX]; /* what is wrong, without the calls that lead to it */
	struct crash_point point;      /* its list of lost events belongs to the violation */
	struct page_disk disk;         /* that was recovered */
	enum recovery_end end;
	struct broken_promise broken; /* `what` is NULL: none is, recovery is wrong in itself */
	bool unflushed;   /* the call that promised it returned before a write was flushed */
	struct buf text;  /* what recovery said */
	struct tree tree; /* recovered, */
	bool has_tree;    /* if there is one */
	struct tree uninterrupted; /* RECOVERY_INTERRUPTED and RECOVERY_REPAIR_INTERRUPTED: what
				      recovery gives without a crash */
};

/* All views, by the rules that the traits of the target say. */
void crash_options_init(struct crash_options *o, const struct target *t);

int crash_open(struct crash_session *s, struct target *t, const struct crash_options *o,
	       enum sanity sanity, struct err *err);
void crash_close(struct crash_session *s);
/* From the next workload on. */
void crash_set_effort(struct crash_session *s, const struct crash_effort *effort);

/* Beside the model, for crashes of every sort: a call, and the tree. 1 if they are as the model
 * allows, 0 and *ret_why if not, or a negative errno. The call moves the state and is added to the
 * history; its outcome lies in the arena. */
int crash_make_call(struct target *t, const struct model *m, const struct call *c,
		    struct state *state, struct persistence *history, struct arena *arena,
		    struct outcome *ret, const char **ret_why, struct err *err);
int crash_compare_tree(struct target *t, const struct tree *expected, const char **ret_why,
		       struct err *err);
/* A workload that is not judged is counted, and the reason of the first one kept. c: NULL at the
 * end. */
void crash_leave(uint64_t *not_judged, struct buf *not_judged_for, const struct call *c,
		 const char *why);

/* Carries out the calls on a fresh file system: 1 if they can be judged, 0 if not, or a negative
 * errno. Free it in any case. */
int crash_execute(struct crash_session *s, const struct call *calls, size_t count,
		  size_t setup_count, struct crash_case *ret, struct err *err);
void crash_case_free(struct crash_case *c);

/* Visits each violation with a signature that this workload has not shown yet, in the simplest view
 * that shows it. It returns false to end. */
typedef bool crash_visit(void *to, struct crash_case *c, const struct crash_violation *v);
int crash_each(struct crash_session *s, struct crash_case *c, crash_visit *visit, void *to,
	       struct err *err);
/* Recovers and judges one crash: true if something is wrong. *ret is to be freed then. */
int crash_judge(struct crash_session *s, struct crash_case *c, const struct crash_point *p,
		const struct page_disk *d, struct crash_violation *ret, struct err *err);
void crash_violation_free(struct crash_violation *v);
/* Was a write lost that had been asked for before the call returned which promised what is broken?
 * Then it has returned without a flush. */
bool crash_was_unflushed(const struct crash_case *c, const struct crash_point *p,
			 const struct broken_promise *broken);
/* Whether recovery was crashed as well. */
bool crash_violation_is_second(const struct crash_violation *v);

#endif
