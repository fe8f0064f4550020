/* daemon_crash.c -- workloads on a file system whose daemon is killed and started again. */
#include "crash/daemon_crash.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "crash/crash.h"

const char *const kill_moment_names[KILL_MOMENTS] = { "promises", "calls", "during" };

int daemon_crash_open(struct daemon_crash_session *s, struct target *t,
		      const struct daemon_crash_options *o, struct err *err)
{
	*s = (struct daemon_crash_session){ .target = t, .options = *o };
	rng_seed(&s->rng, o->seed);
	target_model(t, &s->model);
	return target_initial_state(t, &s->start, err);
}

void daemon_crash_close(struct daemon_crash_session *s)
{
	state_free(&s->start);
	buf_free(&s->not_judged_for);
}

/* ---- carrying out ---- */

/* Whether files, streams or mappings may be open behind the setup. */
static bool setup_leaves_open(const struct call *calls, size_t count)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		open += (op_table[calls[i].op].traits & TRAIT_OPENS) != 0;
		if (calls[i].op == OP_close || calls[i].op == OP_munmap ||
		    calls[i].op == OP_closedir)
			open -= open > 0;
	}
	return open > 0;
}

/* The calls with the one that makes durable what is there before the first crash: behind the setup,
 * or before it where that leaves files open, which a remount would close. */
static void case_prepare(struct daemon_crash_case *c, const struct target *t,
			 const struct call *calls, size_t count, size_t setup_count)
{
	*c = (struct daemon_crash_case){ .setup_count = setup_count + 1 };
	c->remount_at = setup_leaves_open(calls, setup_count) ? 0 : setup_count;
	c->calls = arena_alloc(&c->arena, (count + 1) * sizeof(*c->calls));
	c->outcomes = arena_alloc(&c->arena, (count + 1) * sizeof(*c->outcomes));
	c->duration_ns = arena_alloc(&c->arena, (count + 1) * sizeof(*c->duration_ns));
	for (size_t i = 0; i <= count; i++) {
		if (i == c->remount_at)
			c->calls[c->count++] = (struct call){
				.op = t->caps & TARGET_REMOUNT ? OP_remount : OP_sync, .pid = 1
			};
		if (i < count)
			c->calls[c->count++] = call_copy(&calls[i], &c->arena);
	}
}

void daemon_crash_case_free(struct daemon_crash_case *c)
{
	persistence_free(&c->history);
	arena_free(&c->arena);
}

static void session_leave(struct daemon_crash_session *s, const struct call *c, const char *why)
{
	crash_leave(&s->figures.not_judged, &s->not_judged_for, c, why);
}

/* Call i beside the model: 1 if it went as that allows. */
static int case_call(struct daemon_crash_session *s, struct daemon_crash_case *c, size_t i,
		     struct state *state, struct err *err)
{
	int64_t from_ns = clock_ns();
	const char *why = NULL;
	int judged = crash_make_call(s->target, &s->model, &c->calls[i], state, &c->history,
				     &c->arena, &c->outcomes[i], &why, err);

	c->duration_ns[i] = clock_ns() - from_ns;
	if (!judged)
		session_leave(s, &c->calls[i], why);
	return judged;
}

int daemon_crash_execute(struct daemon_crash_session *s, const struct call *calls, size_t count,
			 size_t setup_count, struct daemon_crash_case *ret, struct err *err)
{
	struct state state = state_copy(&s->start);
	int status, judged = 1;

	case_prepare(ret, s->target, calls, count, setup_count);
	persistence_begin(&ret->history, &s->options.rules, &s->start.tree);
	status = target_reset(s->target, err);
	for (size_t i = 0; i < ret->count && !status && judged > 0; i++)
		judged = case_call(s, ret, i, &state, err);
	state_free(&state);
	return status ? status : judged;
}

/* Whether the tree is the one of the model, too: 1, 0 or a negative errno. */
static int case_compare(struct daemon_crash_session *s, const struct daemon_crash_case *c,
			struct err *err)
{
	const char *why = NULL;
	int same = crash_compare_tree(s->target, &persistence_behind(&c->history, c->count)->tree,
				      &why, err);

	if (!same)
		session_leave(s, NULL, why);
	return same;
}

/* ---- judging ---- */

void daemon_violation_free(struct daemon_violation *v)
{
	broken_promise_free(&v->broken);
	buf_free(&v->text);
	if (v->has_tree)
		tree_free(&v->tree);
}

static void violation_sign(struct daemon_violation *v, const struct daemon_crash_case *c)
{
	const char *promised = "none";

	if (v->broken.call)
		promised = op_table[op_table[c->calls[v->broken.call - 1].op].base].name;
	if (v->broken.what)
		snprintf(v->signature, sizeof(v->signature), "LOST %s %s (daemon killed)", promised,
			 v->broken.what);
	else
		snprintf(v->signature, sizeof(v->signature), "RECOVERY %s (daemon killed)",
			 recovery_end_names[v->end]);
}

/* What is there may be in a cache of the kernel, which has not crashed. */
static int restarted_drop_caches(struct target *t, enum target_fate *ret_fate, struct err *err)
{
	struct call drop = { .op = OP_drop_caches, .pid = 1 };
	struct outcome outcome;

	if (!(t->caps & TARGET_DROP_CACHES) || t->caps & TARGET_REMOUNT)
		return 0;
	return target_call(t, &drop, &outcome, ret_fate, err);
}

/* A directory can be made and removed. */
static int restarted_use(struct target *t, struct daemon_violation *v, struct err *err)
{
	static const enum op ops[] = { OP_mkdir, OP_rmdir };
	static const char name[] = "assay-probe";
	int ret = 0;

	for (size_t i = 0; i < ARRAY_LEN(ops) && !ret && v->end == RECOVERY_FINE; i++) {
		struct call c = { .op = (uint16_t)ops[i], .pid = 1 };
		enum target_fate fate = FATE_FINE;
		struct outcome outcome;

		c.arg[0] = (struct arg){ .text = name, .len = sizeof(name) - 1 };
		c.arg[1].num = 0755;
		ret = target_call(t, &c, &outcome, &fate, err);
		if (!ret && fate != FATE_FINE)
			v->end = fate == FATE_HUNG ? RECOVERY_HUNG : RECOVERY_DIED;
		else if (!ret && outcome.error)
			v->end = RECOVERY_UNUSABLE;
		if (!ret && fate_answers(fate) && outcome.error)
			buf_addf(&v->text, "%s gives %s\n", op_table[ops[i]].name,
				 errno_name(outcome.error));
	}
	return ret;
}

/* The first file of the tree that a removed and open file has become: libfuse renames one until it
 * is closed, and a daemon that was killed cannot remove it. */
static const struct entry *hidden_find(const struct tree *t, uint64_t *ret_dir)
{
	static const char prefix[] = ".fuse_hidden";
	uint64_t key;

	for (bool first = true; pmap_next(&t->inodes, first, &key); first = false) {
		const struct inode *dir = tree_inode(t, key);
		const struct entry *entry;
		uint64_t cookie = 0;

		while (S_ISDIR(dir->mode) && (entry = tree_next_entry(t, key, &cookie)))
			if (!strncmp(entry->name, prefix, sizeof(prefix) - 1)) {
				*ret_dir = key;
				return entry;
			}
	}
	return NULL;
}

/* Counted, not judged: that is so of every daemon by the high-level interface of libfuse. */
static void restarted_drop_hidden(struct daemon_crash_session *s, struct tree *t)
{
	const struct entry *entry;
	char name[NAME_MAX + 1];
	uint64_t dir, dropped = 0;

	while ((entry = hidden_find(t, &dir))) {
		size_t len = entry->len;

		memcpy(name, entry->name, len);
		tree_unlink(t, dir, name, len);
		dropped++;
	}
	s->figures.hidden += dropped > 0;
}

/* Kills it, unless that was done, starts it and looks. */
static int restarted_look(struct daemon_crash_session *s, struct daemon_violation *v,
			  struct err *err)
{
	struct target *t = s->target;
	enum target_fate fate = FATE_FINE;
	int error = 0, ret = t->kind->kill(t, &error, &v->text, err);

	if (ret)
		return ret;
	s->figures.restarts++;
	if (error) {
		v->end = RECOVERY_REFUSED;
		return 0;
	}
	ret = restarted_drop_caches(t, &fate, err);
	if (!ret && fate == FATE_FINE)
		ret = target_observe(t, &v->tree, &fate, err);
	if (ret)
		return ret;
	v->has_tree = fate == FATE_FINE;
	if (!v->has_tree)
		v->end = fate == FATE_HUNG ? RECOVERY_HUNG : RECOVERY_DIED;
	if (!v->has_tree)
		return 0;
	restarted_drop_hidden(s, &v->tree);
	return restarted_use(t, v, err);
}

static int judge_restarted(struct daemon_crash_session *s, const struct daemon_crash_case *c,
			   size_t done, size_t begun, struct daemon_violation *ret, struct err *err)
{
	int status;

	*ret = (struct daemon_violation){ .kill = { done, begun } };
	status = restarted_look(s, ret, err);
	s->figures.crash_states++;
	if (!status && ret->has_tree)
		status = !persistence_allows(&c->history, done, begun, &ret->tree, &ret->broken);
	if (status >= 0 && ret->end != RECOVERY_FINE)
		status = 1;
	if (status > 0)
		violation_sign(ret, c);
	else
		daemon_violation_free(ret);
	return status;
}

int daemon_crash_judge(struct daemon_crash_session *s, const struct daemon_crash_case *c,
		       struct daemon_violation *ret, struct err *err)
{
	return judge_restarted(s, c, c->count, c->count, ret, err);
}

/* The calls before the last, as they went before: 1, or 0 where they go in another way now. */
static int case_repeat(struct daemon_crash_session *s, const struct daemon_crash_case *c,
		       struct err *err)
{
	int status = target_reset(s->target, err);
	bool same = true;

	for (size_t i = 0; i + 1 < c->count && same && !status; i++) {
		enum target_fate fate = FATE_FINE;
		struct outcome outcome;

		status = target_call(s->target, &c->calls[i], &outcome, &fate, err);
		same = !status && fate == FATE_FINE && outcome_equal(&outcome, &c->outcomes[i]);
	}
	return status ? status : same;
}

int daemon_crash_judge_during(struct daemon_crash_session *s, const struct daemon_crash_case *c,
			      struct daemon_violation *ret, struct err *err)
{
	uint64_t within_ns = (uint64_t)c->duration_ns[c->count - 1] + 1;
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	int status = case_repeat(s, c, err);

	if (status <= 0)
		return status;
	s->target->kind->kill_during(s->target, (int64_t)rng_below(&s->rng, within_ns));
	status = target_call(s->target, &c->calls[c->count - 1], &outcome, &fate, err);
	if (status)
		return status;
	/* It may have returned before: what it promised it has promised. */
	if (fate == FATE_FINE)
		return outcome_equal(&outcome, &c->outcomes[c->count - 1])
			     ? judge_restarted(s, c, c->count, c->count, ret, err)
			     : 0;
	s->figures.during++;
	return judge_restarted(s, c, c->count - 1, c->count, ret, err);
}

/* ---- all crashes of a workload ---- */

struct daemon_round {
	struct daemon_crash_session *s;
	const struct call *calls;
	size_t setup_count;
	daemon_crash_visit *visit;
	void *to;
	struct str_map met; /* signatures */
	bool ended;
	struct err *err;
};

/* The first `count` calls and a crash behind or during the last of them. */
static int round_crash(struct daemon_round *x, size_t count, bool during)
{
	struct daemon_violation v;
	struct daemon_crash_case c;
	bool is_new;
	int status = daemon_crash_execute(x->s, x->calls, count, x->setup_count, &c, x->err);

	if (status > 0)
		status = during ? daemon_crash_judge_during(x->s, &c, &v, x->err)
				: daemon_crash_judge(x->s, &c, &v, x->err);
	if (status > 0) {
		str_map_put(&x->met, v.signature, &is_new);
		if (is_new)
			x->ended |= !x->visit(x->to, &c, &v);
		daemon_violation_free(&v);
	}
	daemon_crash_case_free(&c);
	return status < 0 ? status : 0;
}

/* Call i of the workload is one behind which the daemon is killed. */
static bool is_moment(const struct daemon_crash_session *s, const struct daemon_crash_case *c,
		      size_t i)
{
	/* The case has one call more, and it is not behind these. */
	return s->options.moments & 1u << KILL_CALL ||
	       (s->options.moments & 1u << KILL_PROMISE &&
		persistence_behind(&c->history, i + 2)->promise.kind != PROMISE_NONE);
}

int daemon_crash_each(struct daemon_crash_session *s, const struct call *calls, size_t count,
		      size_t setup_count, daemon_crash_visit *visit, void *to, struct err *err)
{
	struct daemon_round x = { s, calls, setup_count, visit, to, .err = err };
	struct daemon_crash_case whole;
	int status = daemon_crash_execute(s, calls, count, setup_count, &whole, err);

	if (status > 0)
		status = case_compare(s, &whole, err);
	if (status <= 0)
		goto out;
	status = 0;
	s->figures.workloads++;
	for (size_t i = setup_count; i < count; i++)
		s->figures.promises +=
			persistence_behind(&whole.history, i + 2)->promise.kind != PROMISE_NONE;
	for (size_t i = count; i-- > setup_count && !status && !x.ended;)
		if (is_moment(s, &whole, i))
			status = round_crash(&x, i + 1, false);
	if (s->options.moments & 1u << KILL_DURING && !status && !x.ended)
		status = round_crash(&x, setup_count + 1 + rng_below(&s->rng, count - setup_count),
				     true);
out:
	daemon_crash_case_free(&whole);
	str_map_free(&x.met);
	return status;
}
