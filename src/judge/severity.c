/* severity.c -- how bad a discrepancy is. */
#include "judge/severity.h"

#include "judge/signature.h"

enum severity severity_of_fact(enum fact_kind kind)
{
	switch (kind) {
	case FACT_MODE:
	case FACT_OWNER:
	case FACT_NLINK:
	case FACT_XATTR:
	case FACT_RDEV:
	case FACT_FLAGS:
	case FACT_DOTS:
	case FACT_ENTRY_INO:
	case FACT_ENTRY_TYPE:
	case FACT_TIMES:
		return SEVERITY_METADATA;
	default:
		return SEVERITY_DATA;
	}
}

/* A call that succeeded as it should and returned something else. */
static enum severity severity_of_value(const struct discrepancy *d)
{
	switch (d->answer.result) {
	case RESULT_STAT:
		return stat_differs(d->value.stat.size, d->answer.stat.size) ? SEVERITY_DATA
									     : SEVERITY_METADATA;
	case RESULT_BYTES:
		return op_table[d->call.op].base == OP_getxattr ? SEVERITY_METADATA : SEVERITY_DATA;
	case RESULT_NAMES:
		return op_table[d->call.op].base == OP_listxattr ? SEVERITY_METADATA
								 : SEVERITY_DATA;
	case RESULT_NAME:
	case RESULT_TARGET:
		return SEVERITY_DATA;
	default:
		return SEVERITY_OUTSIDE_POSIX;
	}
}

static enum severity severity_of_outcome(const struct discrepancy *d)
{
	enum severity value = SEVERITY_OUTSIDE_POSIX;

	if (d->answered && !d->answer.error && d->success_allowed)
		value = severity_of_value(d);
	if (value == SEVERITY_OUTSIDE_POSIX && d->reach == REACH_INSIDE_POSIX)
		return SEVERITY_UNLIKE_LINUX;
	return value;
}

enum severity severity_of(const struct discrepancy *d)
{
	if (d->has_severity)
		return d->severity;
	switch (d->code) {
	case PROBLEM_TREE:
	case PROBLEM_DRIFT:
		return severity_of_fact(signature_fact(d->signature));
	case PROBLEM_OUTCOME:
		return severity_of_outcome(d);
	default:
		return problem_table[d->code].severity;
	}
}
