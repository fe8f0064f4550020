/* discrepancy.h -- one difference between a file system and the model, as the judge fills it.
 *
 * The signature is problem, base call and what differs ("OUTCOME rename ENOENT for EEXIST", "TREE
 * truncate data (stale)", signature.h). It holds no path and no number, so that one cause keeps one
 * signature while its calls are shrunk. */
#ifndef JUDGE_DISCREPANCY_H
#define JUDGE_DISCREPANCY_H

#include "base/arena.h"
#include "base/buf.h"
#include "judge/fact.h"
#include "judge/kernel_log.h"
#include "judge/problem.h"
#include "model/model.h"
#include "op/op.h"

enum { SIGNATURE_MAX = 160 };

struct discrepancy {
	enum problem code;
	char signature[SIGNATURE_MAX];
	struct buf title;      /* one line, with no more than some bytes of data */
	struct call call;      /* that showed it */
	struct outcome answer; /* of that call, */
	bool answered;         /* where it was observed */
	struct errset allowed; /* errors, and success with this value */
	bool success_allowed;
	struct outcome value;
	uint16_t rules[ENVELOPE_RULES_MAX]; /* of the model, that the allowed errors come from */
	unsigned rule_count;
	struct fact *facts; /* what should be so afterwards and is not, heaviest first */
	size_t fact_count;
	enum reach reach;
	bool is_cached;    /* the kernel caches what this file system serves (FUSE) */
	bool has_names;    /* the call is about a file with several names */
	bool is_stale;     /* the size that was seen is that from before the call */
	bool is_only_made; /* no discrepancy: a call made its file, then ran out of space */
	bool in_log;       /* the kernel log shows it: so it is, replayed or not */
	char place[KERNEL_PLACE_MAX]; /* what the kernel log names: function, or file and line */
	struct buf expected, seen, diff, rule; /* text for people */
	/* Of many that differ by a detail: what is wrong without it, the detail, and what is said
	 * of it. Reports list them under one heading. "": the title says it all. */
	struct buf heading, detail, said;
	bool has_severity; /* it is known here, */
	enum severity severity;
	/* DEATH, as far as it is known: "signal 11 (SIGSEGV)", and the last lines that the daemon
	 * wrote. */
	struct buf ended, output;
	struct arena arena;
};

/* Do two values of a field of stat differ, and are both known? */
bool stat_differs(int64_t expected, int64_t seen);
/* The fields that differ, if the type does not: "nlink=1 size=0". */
bool stat_print_difference(const struct stat_result *allowed, const struct stat_result *seen,
			   struct buf *ret_allowed, struct buf *ret_seen);

void discrepancy_init(struct discrepancy *d);
void discrepancy_free(struct discrepancy *d);

/* Words that many discrepancies share, without names and numbers: what was seen ("EEXIST",
 * "wrong mode"), what is allowed ("ENOENT or ENOTDIR"), the rule that says so ("" where none
 * does). */
void discrepancy_print_seen(const struct discrepancy *d, struct buf *out);
void discrepancy_print_allowed(const struct discrepancy *d, struct buf *out);
const char *discrepancy_rule(const struct discrepancy *d);

#endif
