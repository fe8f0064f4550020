/* request.h -- what a server of a file system can be asked to do, and what it reports.
 *
 * The same for a sandbox on the host and for a kernel in a process: calls and outcomes, plans with
 * the predicted outcomes, races, programs. It knows nothing of the model. */
#ifndef CHANNEL_REQUEST_H
#define CHANNEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "op/op.h"
#include "tree/scan.h"
#include "tree/times.h"

/* How a call on the target can end besides an outcome. */
enum target_fate {
	FATE_FINE,
	FATE_HUNG,  /* the deadline passed; the worker was given up */
	FATE_DIED,  /* the daemon or the mount is gone */
	FATE_ALARM, /* it continues, but the kernel logged an error (log) */
};

/* Whether a call that ended so has an outcome. */
static inline bool fate_answers(enum target_fate fate)
{
	return fate == FATE_FINE || fate == FATE_ALARM;
}

/* One step of a plan, with what is expected of it. */
struct plan_step {
	struct call call;
	/* Compared only if `exact`; else the plan ends here to report it. */
	struct outcome expected;
	/* Where only a part of the tree is looked at, if `observe`: the objects (tree_scan_part()),
	 * and the bytes of that text. NULL: all of it is, and where a part is not as expected. */
	const char *part;
	size_t part_len;
	struct hash tree;            /* expected afterwards, if `observe`, */
	struct times_expected times; /* and these, where the outcome is as expected */
	bool exact, observe;
	bool later;    /* the clock is let move before the call */
	bool reported; /* the plan ends here in any case, to report the outcome */
	bool unjudged; /* whatever it returns, the plan continues; nothing is looked at */
};

/* Where a plan stopped: the first step that was not as expected or not exact, count if none. */
struct plan_report {
	size_t done; /* steps that went as expected, all before the one it ended at */
	enum target_fate fate;
	bool outcome_differs, tree_differs, times_differ;
	struct time_mismatch times; /* if times_differ */
	/* It may be of an earlier call: since then, only parts of the tree were looked at. */
	bool late;
	bool refused; /* for the caller of target_follow(), which fails where a call is not made */
	/* Of step `done`, where fate_answers(); valid until the next call of the target. */
	struct outcome outcome;
};

/* What a call that overlapped with others returned, and when. */
struct race_outcome {
	struct outcome outcome;
	int64_t called_ns, returned_ns;
};

/* How a program that ran on the file system under test ended. */
enum program_fate {
	PROGRAM_EXITED,       /* status is its exit status */
	PROGRAM_KILLED,       /* status is the signal */
	PROGRAM_HUNG,         /* killed at the deadline */
	PROGRAM_NOT_COMPILED, /* the output is the compiler's */
	PROGRAM_NO_COMPILER,
};
struct program_report {
	enum program_fate fate;
	int status;
	struct buf output; /* what it wrote, at most some KiB; program_report_free() */
};
void program_report_free(struct program_report *r);

enum { TARGET_RACE_MAX = 32 };

/* A page of a disk that is not as mkfs left it, wherever its bytes are. */
enum { DISK_PAGE_BYTES = 4096 };
struct page_change {
	uint64_t page; /* its number */
	const void *bytes;
};

/* Whether a failure has nothing to do with the file system: a process of ours was killed or
 * starved, or memory, processes or descriptors ran out. Nothing can be judged then. */
bool failure_is_ours(int failure);

#endif
