/* daemon_crash.h -- workloads on a file system whose daemon is killed and started again.
 *
 * What a killed daemon held in memory is lost, and so are dirty pages of its mount that the kernel
 * had not sent to it. The kernel and what lies below the daemon stay alive. So every state after a
 * crash is made for real: the calls, SIGKILL, a new daemon, a look. Model and promises are those of
 * other crashes (persistence/persistence.h).
 *
 * What must be durable before the first crash is made so by a remount, for sync does not reach a
 * FUSE daemon: the setup of a workload ends with it. A crash costs a remount and a restart, and a
 * reset, which is a restart, too, where there is an image. */
#ifndef CRASH_DAEMON_CRASH_H
#define CRASH_DAEMON_CRASH_H

#include "base/rng.h"
#include "crash/recovery.h"
#include "judge/discrepancy.h"
#include "persistence/persistence.h"
#include "target/target.h"

/* When the daemon is killed. */
enum kill_moment {
	KILL_PROMISE, /* behind every call that has promised something */
	KILL_CALL,    /* behind every call */
	KILL_DURING,  /* at a random moment of a random call */
	KILL_MOMENTS
};
extern const char *const kill_moment_names[KILL_MOMENTS];

struct daemon_crash_options {
	struct persist_rules rules;
	unsigned moments; /* bits of enum kill_moment */
	uint64_t seed;    /* of random moments */
};

struct daemon_crash_figures {
	uint64_t workloads;
	uint64_t not_judged; /* workloads that ended in another way than the model allows */
	uint64_t promises;   /* calls that have promised something, before a crash */
	uint64_t crash_states;
	uint64_t during; /* of them, in a call that did not return */
	uint64_t hidden; /* of them, with .fuse_hidden files left behind, which are not judged */
	uint64_t restarts;
};

struct daemon_crash_session {
	struct target *target;
	struct model model;
	struct state start;
	struct daemon_crash_options options;
	struct daemon_crash_figures figures;
	struct rng rng;
	struct buf not_judged_for; /* why the first workload was not judged; empty: all were */
};

/* A workload, or the beginning of one, that was carried out. */
struct daemon_crash_case {
	struct call *calls; /* with the remount that ends the setup */
	size_t count, setup_count;
	size_t remount_at; /* index of that */
	struct outcome *outcomes;
	int64_t *duration_ns; /* of each call */
	struct persistence history;
	struct arena arena;
};

/* When the daemon was killed, as numbers of calls: behind `done`, while `begun` was under way
 * unless it is the same. */
struct daemon_kill {
	size_t done, begun;
};

/* What is wrong after a restart. */
struct daemon_violation {
	char signature[SIGNATURE_MAX];
	struct daemon_kill kill;
	enum recovery_end end;
	struct broken_promise broken; /* `what` is NULL: none is, starting is wrong in itself */
	struct buf text;              /* what the daemon said */
	struct tree tree;             /* that was there then, */
	bool has_tree;                /* if it could be read */
};

int daemon_crash_open(struct daemon_crash_session *s, struct target *t,
		      const struct daemon_crash_options *o, struct err *err);
void daemon_crash_close(struct daemon_crash_session *s);

/* Carries out the calls on a fresh file system; the daemon stays alive. 1 if they can be judged, 0
 * if not, or a negative errno. Free it in any case. */
int daemon_crash_execute(struct daemon_crash_session *s, const struct call *calls, size_t count,
			 size_t setup_count, struct daemon_crash_case *ret, struct err *err);
void daemon_crash_case_free(struct daemon_crash_case *c);

/* Kills the daemon behind the calls of a case, which were carried out just now, and judges: 1 if
 * something is wrong, with *ret to be freed, 0 if not, or a negative errno. */
int daemon_crash_judge(struct daemon_crash_session *s, const struct daemon_crash_case *c,
		       struct daemon_violation *ret, struct err *err);
/* The same during the last call of the case, which was carried out once already: its other calls
 * are made again. */
int daemon_crash_judge_during(struct daemon_crash_session *s, const struct daemon_crash_case *c,
			      struct daemon_violation *ret, struct err *err);
void daemon_violation_free(struct daemon_violation *v);

/* Visits each violation of a workload with a signature that this workload has not shown yet. It
 * returns false to end. */
typedef bool daemon_crash_visit(void *to, const struct daemon_crash_case *c,
				const struct daemon_violation *v);
/* *is_over is looked at between two crashes. */
int daemon_crash_each(struct daemon_crash_session *s, const struct call *calls, size_t count,
		      size_t setup_count, daemon_crash_visit *visit, void *to, struct err *err);

#endif
