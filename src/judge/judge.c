/* judge.c -- is the outcome allowed, is the tree the model's? What is not becomes a finding.
 *
 * A signature is code, base call and what differs ("OUTCOME rename ENOENT for EEXIST", "TREE
 * truncate data"): it holds no path and no number, so that one cause keeps one signature while
 * its calls are shrunk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "finding/finding.h"
#include "history/envelope.h"
#include "judge/gave_up.h"
#include "judge/kernel_log.h"
#include "trace/script.h"

enum { DIFF_LINES_MAX = 40 };
/* Of what a title quotes: it is one line, whatever data the call and its outcome have. */
enum { TITLE_CALL_MAX = 120, TITLE_OUTCOME_MAX = 60, TITLE_DIFF_MAX = 160 };

static const char *base_name(const struct call *c)
{
	return op_table[op_table[c->op].base].name;
}

static void title_add_call(struct finding *f, const struct call *c)
{
	struct buf text = BUF_INIT;

	call_print(c, DIALECT_NATIVE, &text);
	buf_add_clipped(&f->title, buf_str(&text), TITLE_CALL_MAX);
	buf_free(&text);
}

/* What kind of answer this is, for signatures. */
static const char *outcome_class(const struct outcome *o)
{
	return o->error ? errno_name(o->error) : "success";
}

static const char *expected_class(const struct envelope *env)
{
	return env->first ? errno_name(env->first) : "success";
}

static void print_rules(const struct envelope *env, struct buf *out)
{
	for (unsigned i = 0; i < env->rule_count; i++)
		buf_addf(out, "%s%s: %s", i ? "\n" : "", rule_table[env->rules[i]].name,
			 rule_table[env->rules[i]].text);
}

static void fill_outcome(const struct call *c, const struct outcome *seen,
			 const struct envelope *env, struct finding *ret)
{
	const char *want = expected_class(env), *got = outcome_class(seen);

	ret->code = FINDING_OUTCOME;
	if (strcmp(want, got))
		snprintf(ret->signature, sizeof(ret->signature), "OUTCOME %s %s for %s",
			 base_name(c), got, want);
	else
		snprintf(ret->signature, sizeof(ret->signature), "OUTCOME %s value", base_name(c));
	envelope_print(env, c->op, DIALECT_NATIVE, &ret->expected);
	outcome_print(seen, c->op, DIALECT_NATIVE, &ret->seen);
	print_rules(env, &ret->rule);
	title_add_call(ret, c);
	buf_adds(&ret->title, " gives ");
	buf_add_clipped(&ret->title, buf_str(&ret->seen), TITLE_OUTCOME_MAX);
	buf_adds(&ret->title, ", expected ");
	buf_add_clipped(&ret->title, buf_str(&ret->expected), TITLE_OUTCOME_MAX);
	ret->allowed = env->errors;
	ret->success_allowed = env->success;
	ret->value = outcome_copy(&env->value, &ret->arena);
}

/* An undefined call is fine where it went as the deterministic model does; what it did otherwise
 * cannot be followed. */
static bool follow_undefined(const struct model *m, struct state *s, const struct call *c,
			     const struct outcome *seen)
{
	struct state next = state_copy(s);
	struct outcome expected;

	model_run(m, &next, c, &expected);
	if (!outcome_equal(&expected, seen)) {
		state_free(&next);
		return false;
	}
	state_free(s);
	*s = next;
	return true;
}

static int judge_outcome(const struct model *m, struct state *s, const struct call *c,
			 const struct outcome *seen, struct finding *ret)
{
	struct envelope env;

	switch (model_step(m, s, c, seen, &env)) {
	case VERDICT_OK:
		return JUDGE_FINE;
	case VERDICT_UNKNOWN:
		return follow_undefined(m, s, c, seen) ? JUDGE_FINE : JUDGE_UNDEFINED;
	case VERDICT_BAD:
		break;
	}
	fill_outcome(c, seen, &env, ret);
	return JUDGE_BAD;
}

/* What differs, in one word. */
static const char *tree_class(const struct finding *f)
{
	return f->fact_count ? fact_names[f->facts[0].kind] : "tree";
}

static void title_add_diff(struct finding *f)
{
	struct buf line = BUF_INIT;

	buf_add(&line, buf_str(&f->diff), strcspn(buf_str(&f->diff), "\n"));
	buf_adds(&f->title, ": ");
	buf_add_clipped(&f->title, buf_str(&line), TITLE_DIFF_MAX);
	buf_free(&line);
}

static void fill_tree(const struct state *s, const struct tree *seen, const struct call *c,
		      struct finding *ret)
{
	struct fact facts[FACTS_MAX];

	ret->code = FINDING_TREE;
	ret->fact_count = facts_find(&s->tree, seen, &ret->arena, facts);
	ret->facts = arena_copy(&ret->arena, facts, ret->fact_count * sizeof(*facts));
	snprintf(ret->signature, sizeof(ret->signature), "TREE %s %s", base_name(c),
		 tree_class(ret));
	tree_diff(&s->tree, seen, DIFF_LINES_MAX, &ret->diff);
	tree_print(&s->tree, &ret->expected);
	tree_print(seen, &ret->seen);
	buf_adds(&ret->title, "after ");
	title_add_call(ret, c);
	title_add_diff(ret);
}

/* The tree that was wrong a moment ago is observed once more. */
static int is_drift(struct target *t, const struct state *s, bool *ret, struct err *err)
{
	enum target_fate fate;
	struct tree again;
	int status = target_observe(t, &again, &fate, err);

	if (status < 0)
		return status;
	*ret = fate == FATE_FINE && hash_equal(again.hash, s->tree.hash);
	if (fate == FATE_FINE)
		tree_free(&again);
	return 0;
}

static int judge_tree(struct target *t, const struct model *m, const struct state *s,
		      const struct call *c, struct finding *ret, struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	bool drift = false;
	int status = target_observe(t, &seen, &fate, err);

	if (status < 0)
		return status;
	if (fate != FATE_FINE)
		return judge_fate(t, m, s, c, fate, ret, err);
	if (hash_equal(seen.hash, s->tree.hash)) {
		tree_free(&seen);
		return JUDGE_FINE;
	}
	fill_tree(s, &seen, c, ret);
	tree_free(&seen);
	status = is_drift(t, s, &drift, err);
	/* It came by itself, whatever call was the one before. */
	if (drift) {
		ret->code = FINDING_DRIFT;
		snprintf(ret->signature, sizeof(ret->signature), "DRIFT %s", tree_class(ret));
	}
	return status < 0 ? status : JUDGE_BAD;
}

static bool is_of_one_object(const struct tree *t, const char *path, const char *other)
{
	uint64_t ino = fact_inode(t, path);

	return !strcmp(path, other) || (ino && ino == fact_inode(t, other));
}

/* What a call that runs out of space may leave behind: a file that is new, or as long as the
 * space was; and so may several calls in one of which something failed. */
static bool is_half_done(const struct tree *t, const struct call *c, const struct outcome *seen,
			 const struct finding *f)
{
	bool several = op_table[c->op].traits & TRAIT_META;

	if (seen->error != ENOSPC && seen->error != EDQUOT &&
	    !(several && (seen->error == ENOMEM || seen->error == EIO)))
		return false;
	for (size_t i = 0; i < f->fact_count; i++) {
		enum fact_kind kind = f->facts[i].kind;

		if (kind != FACT_EXTRA && kind != FACT_SIZE && kind != FACT_DATA)
			return false;
		if (!is_of_one_object(t, f->facts[i].path, f->facts[0].path))
			return false;
	}
	return f->fact_count > 0;
}

/* What is wrong may be the consequence of a failure; what the kernel complains of is not. */
static int excuse(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, const struct finding *f, struct err *err)
{
	int status = f->code == FINDING_KERNEL || f->code == FINDING_LEAK || f->code == FINDING_HANG
			   ? 0
			   : judge_gave_up(t, m, s, c, f, err);

	return status < 0 ? status : status ? JUDGE_UNDEFINED : JUDGE_BAD;
}

int judge_answer(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct outcome *seen, bool observe, struct finding *ret, struct err *err)
{
	int status;

	ret->answer = outcome_copy(seen, &ret->arena); /* observing may overwrite it */
	ret->answered = true;
	status = judge_outcome(m, s, c, &ret->answer, ret);
	/* Nothing is mounted where mounting failed. */
	if (status == JUDGE_FINE && c->op == OP_remount && ret->answer.error)
		return JUDGE_UNDEFINED;
	if (status == JUDGE_FINE && observe)
		status = judge_tree(t, m, s, c, ret, err);
	if (status == JUDGE_BAD && ret->code == FINDING_TREE &&
	    is_half_done(&s->tree, c, &ret->answer, ret))
		status = JUDGE_UNDEFINED;
	return status == JUDGE_BAD ? excuse(t, m, s, c, ret, err) : status;
}

static const struct {
	enum finding_code code;
	const char *title, *seen;
} fates[] = {
	[FATE_HUNG] = { FINDING_HANG, " does not return", "no answer before the deadline" },
	[FATE_DIED] = { FINDING_DEATH, " ends the file system's service",
			"the daemon or the mount is gone" },
	[FATE_ALARM] = { FINDING_KERNEL, " makes the kernel complain", "an answer" },
};

/* The calls before it are at fault, not the one that noticed. */
static void fill_leak(const char *what, const char *log, struct finding *ret)
{
	ret->code = FINDING_LEAK;
	snprintf(ret->signature, sizeof(ret->signature), "LEAK %s", what);
	buf_addf(&ret->title, "the calls leave memory behind: %s", what);
	buf_adds(&ret->expected,
		 "as much memory in use as before, once the file system is unmounted");
	buf_addf(&ret->seen, "more of it each time the calls are made%s", log);
	buf_adds(&ret->rule, "What is taken is given back.");
}

int judge_fate(struct target *t, const struct model *m, const struct state *s, const struct call *c,
	       enum target_fate fate, struct finding *ret, struct err *err)
{
	char place[KERNEL_PLACE_MAX] = "";
	struct buf log = BUF_INIT;

	must(fate != FATE_FINE && fate < ARRAY_LEN(fates));
	if (t->kind->log)
		t->kind->log(t, &log);
	if (kernel_log_first(buf_str(&log), place) == ALARM_LEAK) {
		fill_leak(place, buf_str(&log), ret);
	} else {
		ret->in_log = *place;
		ret->code = fates[fate].code;
		snprintf(ret->signature, sizeof(ret->signature), "%s %s%s%s",
			 finding_names[ret->code], base_name(c), *place ? " " : "", place);
		title_add_call(ret, c);
		buf_addf(&ret->title, "%s%s%s", fates[fate].title, *place ? ": " : "", place);
		buf_adds(&ret->expected, "an answer");
		buf_addf(&ret->seen, "%s%s", fates[fate].seen, buf_str(&log));
	}
	buf_free(&log);
	return excuse(t, m, s, c, ret, err);
}
