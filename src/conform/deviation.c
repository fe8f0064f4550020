/* deviation.c -- deviations in words that other scripts share, and as JSON. */
#include "conform/deviation.h"

#include <errno.h>
#include <string.h>

#include "judge/group.h"
#include "judge/severity.h"
#include "trace/script.h"

enum { DIFF_LINES_MAX = 8 };

void deviation_free(struct deviation *d)
{
	buf_free(&d->seen);
	buf_free(&d->allowed);
	buf_free(&d->rule);
	buf_free(&d->group);
	buf_free(&d->call);
	buf_free(&d->detail);
	buf_free(&d->history);
}

void deviation_clear(struct deviation *d)
{
	buf_clear(&d->seen);
	buf_clear(&d->allowed);
	buf_clear(&d->rule);
	buf_clear(&d->group);
	buf_clear(&d->call);
	buf_clear(&d->detail);
	buf_clear(&d->history);
}

void deviation_begin(struct deviation *d, enum problem code, unsigned step, const struct call *c)
{
	deviation_clear(d);
	d->code = code;
	d->severity = problem_table[code].severity;
	d->step = step;
	d->outside_posix = true;
	d->op = op_table[c->op].base;
	call_print(c, DIALECT_NATIVE, &d->call);
}

/* The first lines of a text. */
static void deviation_add_lines(struct buf *out, const char *text, unsigned lines)
{
	size_t len = 0;

	while (lines-- && text[len])
		len += strcspn(text + len, "\n") + 1;
	buf_add(out, text, len < strlen(text) ? len : strlen(text));
}

void deviation_fill(struct deviation *d, const struct discrepancy *found, unsigned step)
{
	char group[SIGNATURE_MAX];

	deviation_begin(d, found->code, step, &found->call);
	group_of(found, group);
	buf_adds(&d->group, group);
	d->severity = severity_of(found);
	d->outside_posix = found->reach == REACH_OUTSIDE_POSIX;
	discrepancy_print_seen(found, &d->seen);
	discrepancy_print_allowed(found, &d->allowed);
	buf_adds(&d->rule, discrepancy_rule(found));
	if (found->code == PROBLEM_OUTCOME)
		buf_addf(&d->detail, "%s, allowed: %s", buf_str(&found->seen),
			 buf_str(&found->expected));
	else
		deviation_add_lines(&d->detail, buf_str(&found->diff), DIFF_LINES_MAX);
}

json_t *deviation_pack(const struct deviation *d)
{
	return json_pack("{s:i s:i s:b s:b s:i s:i s:s s:s s:s s:s s:s s:s s:s s:s}", "script",
			 (int)d->script, "step", (int)d->step, "in_setup", d->in_setup,
			 "outside_posix", d->outside_posix, "code", (int)d->code, "severity",
			 (int)d->severity, "group", buf_str(&d->group), "op", op_table[d->op].name,
			 "seen", buf_str(&d->seen), "allowed", buf_str(&d->allowed), "rule",
			 buf_str(&d->rule), "call", buf_str(&d->call), "detail",
			 buf_str(&d->detail), "history", buf_str(&d->history));
}

int deviation_unpack(struct deviation *d, const json_t *packed)
{
	const char *op, *seen, *allowed, *rule, *call, *detail, *history, *group;
	int script, step, in_setup, outside_posix, code, severity;

	if (json_unpack((json_t *)packed,
			"{s:i s:i s:b s:b s:i s:i s:s s:s s:s s:s s:s s:s s:s s:s}", "script",
			&script, "step", &step, "in_setup", &in_setup, "outside_posix",
			&outside_posix, "code", &code, "severity", &severity, "group", &group, "op",
			&op, "seen", &seen, "allowed", &allowed, "rule", &rule, "call", &call,
			"detail", &detail, "history", &history) ||
	    op_find(op) < 0 || code < 0 || code >= PROBLEMS || severity < 0 ||
	    severity >= SEVERITIES)
		return -EINVAL;
	deviation_clear(d);
	d->script = (uint32_t)script;
	d->step = (uint32_t)step;
	d->in_setup = in_setup;
	d->outside_posix = outside_posix;
	d->code = (enum problem)code;
	d->severity = (enum severity)severity;
	buf_adds(&d->group, group);
	d->op = (enum op)op_find(op);
	buf_adds(&d->seen, seen);
	buf_adds(&d->allowed, allowed);
	buf_adds(&d->rule, rule);
	buf_adds(&d->call, call);
	buf_adds(&d->detail, detail);
	buf_adds(&d->history, history);
	return 0;
}
