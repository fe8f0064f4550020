/* deviation.c -- deviations in words that other scripts share, and as JSON. */
#include "conform/deviation.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/must.h"
#include "judge/fact.h"
#include "trace/script.h"

void deviation_free(struct deviation *d)
{
	buf_free(&d->seen);
	buf_free(&d->allowed);
	buf_free(&d->rule);
	buf_free(&d->call);
	buf_free(&d->detail);
	buf_free(&d->history);
}

void deviation_clear(struct deviation *d)
{
	buf_clear(&d->seen);
	buf_clear(&d->allowed);
	buf_clear(&d->rule);
	buf_clear(&d->call);
	buf_clear(&d->detail);
	buf_clear(&d->history);
}

/* Fields of stat by which an answer is another; those that are unknown on one side are not. */
static void say_stat(const struct stat_result *seen, const struct stat_result *allowed,
		     struct buf *out)
{
	const struct {
		const char *name;
		int64_t seen, allowed;
	} fields[] = {
		{ "type", seen->mode & S_IFMT, allowed->mode & S_IFMT },
		{ "mode", seen->mode & ~S_IFMT, allowed->mode & ~S_IFMT },
		{ "nlink", seen->nlink, allowed->nlink },
		{ "uid", seen->uid, allowed->uid },
		{ "gid", seen->gid, allowed->gid },
		{ "size", seen->size, allowed->size },
	};
	const char *before = "another ";

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (fields[i].seen == fields[i].allowed || fields[i].seen == STAT_UNKNOWN ||
		    fields[i].allowed == STAT_UNKNOWN)
			continue;
		buf_addf(out, "%s%s", before, fields[i].name);
		before = ", ";
	}
}

void deviation_say_seen(const struct outcome *seen, const struct envelope *env, struct buf *out)
{
	size_t start = out->len;

	if (seen->error)
		buf_adds(out, errno_name(seen->error));
	else if (env->success && seen->result == RESULT_STAT)
		say_stat(&seen->stat, &env->value.stat, out);
	else if (!env->success)
		buf_adds(out, "success");
	if (out->len == start)
		buf_adds(out, "another value");
}

/* That space may end is said of everything, where it is. */
static bool is_about_space(const struct envelope *env, int error)
{
	if (error != ENOSPC && error != EDQUOT)
		return false;
	for (unsigned i = 0; i < env->rule_count; i++)
		if (rule_table[env->rules[i]].error == error &&
		    (env->rules[i] == RULE_space_ended || env->rules[i] == RULE_quota_ended))
			return true;
	return false;
}

void deviation_say_allowed(const struct envelope *env, struct buf *out)
{
	size_t start = out->len;

	if (env->success)
		buf_adds(out, "success");
	for (int error = 1; error < 192; error++) {
		if (!errset_has(&env->errors, error) || is_about_space(env, error))
			continue;
		if (out->len > start)
			buf_adds(out, " or ");
		buf_adds(out, errno_name(error));
	}
}

void deviation_say_tree(const struct tree *expected, const struct tree *seen, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct fact facts[FACTS_MAX];
	size_t count = facts_find(expected, seen, &arena, facts), start = out->len;

	/* Heaviest first, so that equal ones are neighbours. */
	for (size_t i = 0; i < count; i++) {
		if (i && facts[i].kind == facts[i - 1].kind)
			continue;
		if (out->len > start)
			buf_adds(out, ", ");
		buf_adds(out, fact_names[facts[i].kind]);
	}
	arena_free(&arena);
}

json_t *deviation_pack(const struct deviation *d)
{
	return json_pack("{s:i s:i s:b s:b s:i s:s s:s s:s s:s s:s s:s s:s}", "script",
			 (int)d->script, "step", (int)d->step, "in_setup", d->in_setup,
			 "outside_posix", d->outside_posix, "code", (int)d->code, "op",
			 op_table[d->op].name, "seen", buf_str(&d->seen), "allowed",
			 buf_str(&d->allowed), "rule", buf_str(&d->rule), "call", buf_str(&d->call),
			 "detail", buf_str(&d->detail), "history", buf_str(&d->history));
}

int deviation_unpack(struct deviation *d, const json_t *packed)
{
	const char *op, *seen, *allowed, *rule, *call, *detail, *history;
	int script, step, in_setup, outside_posix, code;

	if (json_unpack((json_t *)packed, "{s:i s:i s:b s:b s:i s:s s:s s:s s:s s:s s:s s:s}",
			"script", &script, "step", &step, "in_setup", &in_setup, "outside_posix",
			&outside_posix, "code", &code, "op", &op, "seen", &seen, "allowed",
			&allowed, "rule", &rule, "call", &call, "detail", &detail, "history",
			&history) ||
	    op_find(op) < 0 || code < 0 || code >= FINDING_CODES)
		return -EINVAL;
	deviation_clear(d);
	d->script = (uint32_t)script;
	d->step = (uint32_t)step;
	d->in_setup = in_setup;
	d->outside_posix = outside_posix;
	d->code = (enum finding_code)code;
	d->op = (enum op)op_find(op);
	buf_adds(&d->seen, seen);
	buf_adds(&d->allowed, allowed);
	buf_adds(&d->rule, rule);
	buf_adds(&d->call, call);
	buf_adds(&d->detail, detail);
	buf_adds(&d->history, history);
	return 0;
}
