/* judge.c -- is the outcome allowed, is the tree the model's? */
#include "judge/judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "history/envelope.h"
#include "judge/examined.h"
#include "judge/gave_up.h"
#include "judge/half_done.h"
#include "judge/kernel_log.h"
#include "judge/signature.h"
#include "trace/script.h"
#include "tree/list.h"

enum { DIFF_LINES_MAX = 40 };
/* Of what a title quotes: it is one line, whatever data the call and its outcome have. */
enum { TITLE_CALL_MAX = 120, TITLE_OUTCOME_MAX = 60, TITLE_DIFF_MAX = 160, TITLE_BYTES_MAX = 8 };

static const char *base_name(const struct call *c)
{
	return op_table[op_table[c->op].base].name;
}

static void title_add_call(struct discrepancy *d, const struct call *c)
{
	struct buf text = BUF_INIT;

	call_print(c, DIALECT_NATIVE, &text);
	buf_add_clipped(&d->title, buf_str(&text), TITLE_CALL_MAX);
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

static void judge_fill_rules(const struct envelope *env, struct discrepancy *ret)
{
	ret->rule_count = env->rule_count;
	memcpy(ret->rules, env->rules, env->rule_count * sizeof(*env->rules));
	for (unsigned i = 0; i < env->rule_count; i++)
		buf_addf(&ret->rule, "%s%s: %s", i ? "\n" : "", rule_table[env->rules[i]].name,
			 rule_table[env->rules[i]].text);
}

/* Of stat, only what is wrong. */
static void title_add_outcomes(struct discrepancy *d, const struct envelope *env)
{
	struct buf seen = BUF_INIT, expected = BUF_INIT;
	bool short_ones =
		env->success && !errset_count(&env->errors) && !d->answer.error &&
		d->answer.result == RESULT_STAT &&
		stat_print_difference(&env->value.stat, &d->answer.stat, &expected, &seen);

	buf_adds(&d->title, " returned ");
	buf_add_clipped(&d->title, buf_str(short_ones ? &seen : &d->seen), TITLE_OUTCOME_MAX);
	buf_adds(&d->title, ", expected ");
	buf_add_clipped(&d->title, buf_str(short_ones ? &expected : &d->expected),
			TITLE_OUTCOME_MAX);
	buf_free(&seen);
	buf_free(&expected);
}

static void judge_fill_outcome(const struct call *c, const struct state *before,
			       const struct envelope *env, struct discrepancy *ret)
{
	const char *want = expected_class(env), *got = outcome_class(&ret->answer);

	ret->code = PROBLEM_OUTCOME;
	ret->call = call_copy(c, &ret->arena);
	if (strcmp(want, got))
		snprintf(ret->signature, sizeof(ret->signature), "OUTCOME %s %s for %s",
			 base_name(c), got, want);
	else
		signature_of_value(ret->signature, c, before, &env->value, &ret->answer);
	envelope_print(env, c->op, DIALECT_NATIVE, &ret->expected);
	outcome_print(&ret->answer, c->op, DIALECT_NATIVE, &ret->seen);
	judge_fill_rules(env, ret);
	title_add_call(ret, c);
	title_add_outcomes(ret, env);
	ret->allowed = env->errors;
	ret->success_allowed = env->success;
	ret->value = outcome_copy(&env->value, &ret->arena);
}

/* Would POSIX, too, forbid it? `s`, the state before the call, is used up. */
static enum reach judge_reach(const struct model *m, struct state *s, const struct call *c,
			      const struct outcome *seen)
{
	struct model posix = *m;
	struct envelope env;

	posix.platform = PLATFORM_POSIX;
	posix.rule_hits = NULL;
	return model_step(&posix, s, c, seen, &env) == VERDICT_BAD ? REACH_OUTSIDE_POSIX
								   : REACH_INSIDE_POSIX;
}

uint64_t judge_object(const struct state *s, const struct call *c, unsigned i)
{
	const struct process *process = state_process(s, c->pid);
	enum kind kind = op_table[c->op].arg[i].kind;
	const struct open_file *file;

	if (kind == KIND_PATH && process && process->cwd == TREE_ROOT && c->arg[i].text)
		return fact_inode(&s->tree, c->arg[i].text);
	file = kind == KIND_FD ? state_file(s, c->pid, c->arg[i].num) : NULL;
	return file ? file->ino : 0;
}

/* Is the call about a file with several names? */
static bool judge_has_names(const struct state *s, const struct call *c)
{
	for (unsigned i = 0; i < op_table[c->op].args; i++) {
		uint64_t ino = judge_object(s, c, i);
		const struct inode *inode = ino ? tree_inode(&s->tree, ino) : NULL;

		if (inode && inode->nlink > 1 && S_ISREG(inode->mode))
			return true;
	}
	return false;
}

/* Observing and the next call may overwrite an outcome. */
static void judge_keep_answer(const struct outcome *seen, struct discrepancy *ret)
{
	ret->answer = outcome_copy(seen, &ret->arena);
	ret->answered = true;
}

enum verdict judge_outcome(const struct model *m, struct state *s, const struct call *c,
			   const struct outcome *seen, struct envelope *ret_env,
			   struct discrepancy *ret)
{
	struct state before = state_copy(s);
	enum verdict verdict = model_step(m, s, c, seen, ret_env);

	if (verdict == VERDICT_BAD) {
		judge_keep_answer(seen, ret);
		judge_fill_outcome(c, &before, ret_env, ret);
		ret->is_cached = m->traits.times_cached;
		ret->has_names = judge_has_names(&before, c);
		ret->reach = judge_reach(m, &before, c, &ret->answer);
	}
	state_free(&before);
	return verdict;
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

/* What differs, in one word. */
static const char *tree_class(const struct discrepancy *d)
{
	return d->fact_count ? fact_names[d->facts[0].kind] : "tree";
}

/* The first line of the difference that is about the heaviest fact's object, or the first of all:
 * what the signature is about. */
static const char *title_line(const struct discrepancy *d, size_t *ret_len)
{
	const char *path = d->fact_count ? d->facts[0].path : "";
	const char *line = buf_str(&d->diff);
	size_t len = strlen(path);

	while (*line && (strncmp(line, path, len) || strncmp(line + len, ": ", 2))) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	if (!*line)
		line = buf_str(&d->diff);
	*ret_len = strcspn(line, "\n");
	return line;
}

/* What was read instead of the data, by the signature. */
static const char *title_data_words(const char *signature)
{
	static const struct {
		const char *how, *words;
	} rows[] = {
		{ " data (stale", " (stale data)" },
		{ " data (zeros", " (zeros instead of the data)" },
		{ " data (foreign", " (bytes that no call wrote)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strstr(signature, rows[i].how))
			return rows[i].words;
	return "";
}

/* One byte as a number, several as a dump of memory has them. */
static void title_add_bytes(struct buf *title, const unsigned char *bytes, size_t len)
{
	if (len == 1)
		buf_addf(title, " 0x%02x", bytes[0]);
	else
		for (size_t i = 0; i < len; i++)
			buf_addf(title, " %02x", bytes[i]);
}

/* ", byte 0 of /a is 0x73, expected 0x00 (stale data)" */
static void title_add_data(struct discrepancy *d, const struct tree *expected,
			   const struct tree *seen)
{
	const struct fact *fact = &d->facts[0];
	unsigned char e[TITLE_BYTES_MAX], s[TITLE_BYTES_MAX];
	size_t e_len =
		tree_read(expected, fact_inode(expected, fact->path), fact->offset, e, sizeof(e));
	size_t s_len = tree_read(seen, fact_inode(seen, fact->path), fact->offset, s, sizeof(s));
	bool is_one = e_len == 1 && s_len == 1;
	struct buf path = BUF_INIT;

	add_path(&path, fact->path);
	if (is_one)
		buf_addf(&d->title, ", byte %ju of ", (uintmax_t)fact->offset);
	else
		buf_adds(&d->title, ", the data of ");
	buf_add_clipped(&d->title, buf_str(&path), TITLE_CALL_MAX);
	if (!is_one)
		buf_addf(&d->title, " from byte %ju on", (uintmax_t)fact->offset);
	buf_adds(&d->title, " is");
	title_add_bytes(&d->title, s, s_len);
	buf_adds(&d->title, ", expected");
	title_add_bytes(&d->title, e, e_len);
	buf_adds(&d->title, title_data_words(d->signature));
	buf_free(&path);
}

static void title_add_diff(struct discrepancy *d)
{
	struct buf text = BUF_INIT;
	size_t len;
	const char *line = title_line(d, &len);

	buf_add(&text, line, len);
	buf_adds(&d->title, ": ");
	buf_add_clipped(&d->title, buf_str(&text), TITLE_DIFF_MAX);
	buf_free(&text);
}

enum verdict judge_tree(const struct state *s, const struct call *c, const struct tree *seen,
			struct discrepancy *ret)
{
	struct fact facts[FACTS_MAX];

	if (hash_equal(tree_hash(seen), tree_hash(&s->tree)))
		return VERDICT_OK;
	ret->code = PROBLEM_TREE;
	ret->call = call_copy(c, &ret->arena);
	ret->reach = REACH_OUTSIDE_POSIX; /* POSIX, too, says what the tree is */
	ret->fact_count = facts_find(&s->tree, seen, &ret->arena, facts);
	ret->facts = arena_copy(&ret->arena, facts, ret->fact_count * sizeof(*facts));
	signature_of_tree(ret->signature, c, ret->fact_count ? &ret->facts[0] : NULL, s, seen);
	tree_diff(&s->tree, seen, DIFF_LINES_MAX, &ret->diff);
	tree_print(&s->tree, &ret->expected);
	tree_print(seen, &ret->seen);
	buf_adds(&ret->title, "after ");
	title_add_call(ret, c);
	if (ret->fact_count && ret->facts[0].kind == FACT_DATA)
		title_add_data(ret, &s->tree, seen);
	else
		title_add_diff(ret);
	return VERDICT_BAD;
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

/* Does a file have the size by a name that it had there before the call? */
static bool judge_is_stale(const struct tree *before, const struct tree *seen,
			   const struct discrepancy *d)
{
	const struct fact *fact = d->fact_count ? d->facts : NULL;
	const struct inode *was, *is;

	if (!fact || fact->kind != FACT_SIZE || fact->by_name)
		return false;
	was = tree_inode(before, fact_inode(before, fact->path));
	is = tree_inode(seen, fact_inode(seen, fact->path));
	return was && is && S_ISREG(was->mode) && was->size == is->size;
}

static int judge_observed_tree(struct target *t, const struct model *m, const struct tree *before,
			       const struct state *s, const struct call *c, struct discrepancy *ret,
			       struct err *err)
{
	enum target_fate fate;
	enum verdict verdict;
	struct tree seen;
	bool drift = false, half_done;
	int status = target_observe(t, &seen, &fate, err);

	if (status < 0)
		return status;
	if (fate != FATE_FINE)
		return judge_fate(t, m, s, c, fate, ret, err);
	verdict = judge_tree(s, c, &seen, ret);
	ret->is_cached = m->traits.times_cached;
	ret->is_stale = verdict == VERDICT_BAD && judge_is_stale(before, &seen, ret);
	half_done = verdict == VERDICT_BAD && is_half_done(&s->tree, &seen, c, ret);
	tree_free(&seen);
	if (verdict == VERDICT_OK)
		return VERDICT_OK;
	status = is_drift(t, s, &drift, err);
	/* It came by itself, whatever call was the one before. */
	if (drift) {
		ret->code = PROBLEM_DRIFT;
		half_done = false;
		snprintf(ret->signature, sizeof(ret->signature), "DRIFT %s", tree_class(ret));
	}
	ret->is_only_made = half_done && is_only_made(ret);
	return status < 0 ? status : half_done ? VERDICT_UNKNOWN : VERDICT_BAD;
}

/* What is wrong may be the consequence of a failure; what the kernel complains of is not. */
static int excuse(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, const struct discrepancy *d, struct err *err)
{
	int status = d->code == PROBLEM_KERNEL || d->code == PROBLEM_LEAK || d->code == PROBLEM_HANG
			   ? 0
			   : judge_gave_up(t, m, s, c, d, err);

	return status < 0 ? status : status ? VERDICT_UNKNOWN : VERDICT_BAD;
}

int judge_answer(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct outcome *seen, bool observe, struct discrepancy *ret, struct err *err)
{
	struct state before = state_copy(s);
	struct envelope env;
	int status;

	judge_keep_answer(seen, ret);
	status = judge_outcome(m, s, c, &ret->answer, &env, ret);
	if (status == VERDICT_BAD && examined_found(c, &ret->answer))
		examined_describe(t, c, ret);
	if (status == VERDICT_UNKNOWN && follow_undefined(m, s, c, &ret->answer))
		status = VERDICT_OK;
	/* Nothing is mounted where mounting failed. */
	if (status == VERDICT_OK && c->op == OP_remount && ret->answer.error)
		status = VERDICT_UNKNOWN;
	if (status == VERDICT_OK && observe)
		status = judge_observed_tree(t, m, &before.tree, s, c, ret, err);
	state_free(&before);
	return status == VERDICT_BAD ? excuse(t, m, s, c, ret, err) : status;
}

static const struct {
	enum problem code;
	const char *title, *seen;
} fates[] = {
	[FATE_HUNG] = { PROBLEM_HANG, " does not return", "no return before the deadline" },
	[FATE_DIED] = { PROBLEM_DEATH, " ends the file-system daemon or its mount",
			"the daemon or the mount is gone" },
	[FATE_ALARM] = { PROBLEM_KERNEL, " makes the kernel report an error",
			 "the call returned, and the kernel log has" },
};

/* The calls before it are at fault, not the one that noticed. */
static void judge_describe_leak(const char *log, struct discrepancy *ret)
{
	ret->code = PROBLEM_LEAK;
	snprintf(ret->signature, sizeof(ret->signature), "LEAK %s", ret->place);
	buf_addf(&ret->title, "the calls leak memory: %s", ret->place);
	buf_adds(&ret->expected,
		 "the same memory usage as before, once the file system is unmounted");
	buf_addf(&ret->seen, "more memory in use each time the calls are repeated%s", log);
	buf_adds(&ret->rule, "Memory that a file system allocates is freed when it is unmounted.");
}

/* Why the daemon is gone, as far as that is known. */
static void judge_describe_end(struct target *t, struct discrepancy *ret)
{
	const char *output, *line;

	if (!t->kind->print_end)
		return;
	t->kind->print_end(t, &ret->ended, &ret->output);
	while (ret->output.len && ret->output.data[ret->output.len - 1] == '\n')
		ret->output.data[--ret->output.len] = '\0';
	output = buf_str(&ret->output);
	if (ret->ended.len) {
		buf_addf(&ret->title, ": %s", buf_str(&ret->ended));
		buf_addf(&ret->seen, "\nThe daemon ended by %s.", buf_str(&ret->ended));
	}
	if (!*output)
		return;
	line = strrchr(output, '\n');
	buf_adds(&ret->title, ": ");
	buf_add_clipped(&ret->title, line ? line + 1 : output, TITLE_OUTCOME_MAX);
	buf_addf(&ret->seen, "\nThe last lines of its output:\n%s", output);
}

void judge_describe_fate(struct target *t, const struct call *c, enum target_fate fate,
			 struct discrepancy *ret)
{
	struct buf log = BUF_INIT;

	must(fate != FATE_FINE && fate < ARRAY_LEN(fates));
	if (t->kind->log)
		t->kind->log(t, &log);
	ret->call = call_copy(c, &ret->arena);
	ret->reach = REACH_OUTSIDE_POSIX;
	if (kernel_log_first(buf_str(&log), ret->place) == ALARM_LEAK) {
		judge_describe_leak(buf_str(&log), ret);
	} else {
		ret->in_log = *ret->place;
		ret->code = fates[fate].code;
		snprintf(ret->signature, sizeof(ret->signature), "%s %s%s%s",
			 problem_table[ret->code].name, base_name(c), *ret->place ? " " : "",
			 ret->place);
		title_add_call(ret, c);
		buf_addf(&ret->title, "%s%s%s", fates[fate].title, *ret->place ? ": " : "",
			 ret->place);
		buf_adds(&ret->expected, "the call returns");
		buf_addf(&ret->seen, "%s%s", fates[fate].seen, buf_str(&log));
		if (fate == FATE_DIED)
			judge_describe_end(t, ret);
	}
	buf_free(&log);
}

int judge_fate(struct target *t, const struct model *m, const struct state *s, const struct call *c,
	       enum target_fate fate, struct discrepancy *ret, struct err *err)
{
	judge_describe_fate(t, c, fate, ret);
	return excuse(t, m, s, c, ret, err);
}

static int judge_times(struct target *t, const struct model *m, const struct state *before,
		       const struct state *after, const struct call *c,
		       const struct time_mismatch *times, struct discrepancy *ret, struct err *err)
{
	judge_describe_times(m, before, after, c, times, ret);
	return excuse(t, m, after, c, ret, err);
}

int judge_report(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct plan_report *report, bool observe, struct discrepancy *ret,
		 struct err *err)
{
	struct state before;
	int status;

	if (report->fate != FATE_FINE)
		return judge_fate(t, m, s, c, report->fate, ret, err);
	before = state_copy(s);
	status = judge_answer(t, m, s, c, &report->outcome, observe, ret, err);
	if (status == VERDICT_OK && report->times_differ)
		status = judge_times(t, m, &before, s, c, &report->times, ret, err);
	state_free(&before);
	return status;
}
