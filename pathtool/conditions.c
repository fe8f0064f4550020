/* conditions.c -- what the run of the checker depended on, in the log. */
#include "pathtool/conditions.h"

UChar conditions_suspended;
static Addr suspended_stack;

static UChar noted[PATH_EXPRS_MAX]; /* a bit for each kind */

void conditions_suspend(Addr stack)
{
	if (conditions_suspended && stack <= suspended_stack)
		return;
	conditions_suspended = 1;
	suspended_stack = stack;
}

void conditions_returned(Addr stack)
{
	if (stack > suspended_stack)
		conditions_suspended = 0;
}

static void condition_log(uint32_t e, enum path_condition_kind kind, ULong value, Addr at)
{
	UInt i = tool_log->condition_count;

	if (i == PATH_CONDITIONS_MAX) {
		tool_gap(GAP_CONDITIONS);
		tool_stop_following();
		return;
	}
	tool_log->conditions[i] = (struct path_condition){ e, kind, value, at };
	tool_log->expr_count = tool_store.count;
	tool_log->condition_count = i + 1;
}

void conditions_note(uint32_t e, enum path_condition_kind kind, ULong value, Addr at)
{
	const struct expr *x = &tool_store.exprs[e];

	if (!tool_following || conditions_suspended || !tool_finished(e))
		return;
	while (x->op == EXPR_XOR && x->width == 1 && expr_is_const(&tool_store, x->args[1])) {
		e = x->args[0];
		x = &tool_store.exprs[e];
		value ^= 1;
	}
	if (noted[e] & 1u << kind)
		return;
	if (kind == CONDITION_BRANCH &&
	    interval_decides(&tool_store, &tool_facts, e, &(bool){ false }))
		return;
	noted[e] |= 1u << kind;
	condition_log(e, kind, value & expr_mask(x->width), at);
	if (kind == CONDITION_BRANCH)
		interval_learn(&tool_store, &tool_facts, e, value & 1);
}
