/* predict.c -- what the model says a call will do, kept within the bounds of a universe.
 *
 * Most calls cannot leave the bounds, whatever they do; only after the others are the bounds
 * compared. A call that allocates beyond the bounds would cost the model that memory: a model of
 * smaller files says first whether it succeeds. */
#include "plan/predict.h"

#include <errno.h>
#include <fcntl.h>

#include "plan/expect_times.h"

/* Does the call work from the end of a file, from its offset, or by moving its end? */
static bool call_is_relative(const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	for (unsigned i = 0; i < info->args; i++)
		switch (info->arg[i].kind) {
		case KIND_OPEN_FLAGS:
			if (c->arg[i].num & O_APPEND)
				return true;
			break;
		case KIND_FALLOC_MODE:
			if (c->arg[i].num & FALLOC_FL_INSERT_RANGE)
				return true;
			break;
		case KIND_FD:
			return true;
		default:
			break;
		}
	return false;
}

/* Besides the root, which is always there. */
static size_t state_objects(const struct state *s)
{
	return s->tree.inodes.count - 1;
}

/* Descriptors, directory streams and mappings of all processes. */
static size_t state_open_files(const struct state *s)
{
	const struct process *process;
	struct pmap_walk walk;
	size_t count = 0;
	uint64_t pid;

	pmap_walk(&walk, &s->processes);
	while ((process = (const struct process *)pmap_walk_next(&walk, &pid)))
		count += process->fds.count + process->streams.count + process->maps.count;
	return count;
}

static size_t predictor_objects_max(const struct predictor *p)
{
	return p->universe->nodes_max + p->objects_before;
}

static uint64_t predictor_size_max(const struct predictor *p)
{
	return p->size_before > p->universe->size_max ? p->size_before : p->universe->size_max;
}

void predictor_begin(struct predictor *p, const struct state *s)
{
	const struct inode *inode;
	uint64_t key;
	bool first = true;

	p->objects_before = state_objects(s);
	p->size_before = 0;
	for (; (inode = (const struct inode *)pmap_next(&s->tree.inodes, first, &key));
	     first = false)
		if (inode->size > p->size_before)
			p->size_before = inode->size;
}

static bool call_may_leave(const struct predictor *p, const struct state *s, const struct call *c)
{
	unsigned traits = op_table[c->op].traits;

	if ((traits & TRAIT_NAMES) && state_objects(s) >= predictor_objects_max(p))
		return true;
	if (traits & TRAIT_OPENS)
		return true;
	return (traits & TRAIT_DATA) &&
	       (call_is_relative(c) || call_extent(c) > p->universe->size_max);
}

struct size_bound {
	uint64_t max;
	bool exceeded;
};

static void size_compare(void *to, uint64_t ino, const struct ref *before, const struct ref *after)
{
	const struct inode *inode = (const struct inode *)after;
	struct size_bound *bound = to;

	bound->exceeded |= inode && inode->size > bound->max;
}

/* What a call made of a state that is within the bounds: only what it changed can be beyond. */
static bool state_is_within(const struct predictor *p, const struct state *before,
			    const struct state *after)
{
	struct size_bound sizes = { .max = predictor_size_max(p) };

	if (state_objects(after) > predictor_objects_max(p) ||
	    state_open_files(after) > p->universe->files_max)
		return false;
	pmap_diff(&before->tree.inodes, &after->tree.inodes, size_compare, &sizes);
	return !sizes.exceeded;
}

/* True if the call is defined; some that are not would wait for ever. */
static bool predict_move(const struct model *m, struct state *s, const struct call *c,
			 struct envelope *env, struct outcome *ret)
{
	model_move(m, s, c, env);
	*ret = env->value;
	ret->error = env->first;
	return !env->undefined;
}

/* True if the call would allocate more of a file than the universe has. */
static bool call_allocates_beyond(const struct predictor *p, const struct state *s,
				  const struct call *c)
{
	struct model small = *p->model;
	struct outcome outcome;
	struct envelope env;
	struct state trial;
	bool beyond;

	if (op_table[c->op].base != OP_fallocate || call_extent(c) <= p->universe->size_max ||
	    call_extent(c) > p->model->traits.file_size_max)
		return false;
	small.traits.file_size_max = p->universe->size_max;
	trial = state_copy(s);
	beyond = !predict_move(&small, &trial, c, &env, &outcome) || outcome.error == EFBIG;
	state_free(&trial);
	return beyond;
}

static bool op_is_failure(enum op op)
{
	return op == OP_fail_alloc || op == OP_fail_read || op == OP_fail_write;
}

/* Two things are worth knowing of a file system that has given up: that it refuses changes from
 * then on, and what is there after the next mount. */
static bool op_is_worthwhile_given_up(enum op op)
{
	return op == OP_mkdir || op == OP_remount;
}

/* Would all targets make the call, or does it take too much of a disk that is the user's? */
static bool call_is_admitted(const struct predictor *p, const struct call *c)
{
	for (size_t i = 0; i < p->follower_count; i++)
		if (target_admits(p->followers[i].target, c, NULL))
			return false;
	return true;
}

/* Could the call run out of space within a file that has no name? What it has done until then no
 * scan would see. */
static bool call_may_end_unseen(const struct state *s, const struct call *c,
				const struct envelope *env)
{
	const struct op_info *info = &op_table[c->op];
	const struct open_file *file;

	if (!(info->traits & TRAIT_DATA) || !errset_has(&env->errors, ENOSPC))
		return false;
	for (unsigned i = 0; i < info->args; i++) {
		file = info->arg[i].kind == KIND_FD ? state_file(s, c->pid, c->arg[i].num) : NULL;
		if (file && !tree_inode(&s->tree, file->ino)->nlink)
			return true;
	}
	return false;
}

/* What is in the file after a direct write that failed is not defined: it "should be considered
 * inconsistent" (write(2), BUGS). A direct read first writes what is in the cache, and what it
 * fails to write does not stay there (filemap_write_and_wait_range). */
static bool call_leaves_unknown_data(const struct state *s, const struct call *c)
{
	return (c->op == OP_direct_write || c->op == OP_direct_read) && s->failing[FAIL_WRITE][0];
}

/* Is it worth asking the model at all? */
static bool call_is_possible(const struct predictor *p, const struct state *s, const struct call *c,
			     bool may_leave)
{
	if (op_is_failure(c->op) && state_failures(s) >= p->failures_max)
		return false;
	if (s->health == HEALTH_GIVEN_UP && !op_is_worthwhile_given_up(c->op))
		return false;
	return !call_leaves_unknown_data(s, c) && !(may_leave && call_allocates_beyond(p, s, c)) &&
	       call_is_admitted(p, c);
}

/* Is what the call does defined on all targets? The traits of one that follows may leave it open:
 * what it leaves there would be compared with what the first target's model says. */
static bool call_is_defined_for_all(const struct predictor *p, struct state *s,
				    const struct call *c)
{
	struct envelope env;

	for (size_t i = 1; i < p->follower_count; i++) {
		model_allow(&p->followers[i].model, s, c, &env);
		if (env.undefined)
			return false;
	}
	return true;
}

bool predict_after(const struct predictor *p, const struct state *s, const struct call *c,
		   struct outcome *ret, struct times_expected *ret_times, struct state *ret_after)
{
	bool may_leave = call_may_leave(p, s, c);
	struct envelope env;
	struct state after;

	if (!call_is_possible(p, s, c, may_leave))
		return false;
	after = state_copy(s);
	if (!call_is_defined_for_all(p, &after, c) ||
	    !predict_move(p->model, &after, c, &env, ret) || call_may_end_unseen(s, c, &env) ||
	    (!ret->error && may_leave && !state_is_within(p, s, &after))) {
		state_free(&after);
		return false;
	}
	if (ret_times)
		expect_times(p->model, s, &after, c, &env, ret_times);
	*ret_after = after;
	return true;
}

bool predict(const struct predictor *p, struct state *s, const struct call *c, struct outcome *ret,
	     struct times_expected *ret_times)
{
	struct state after;

	if (!predict_after(p, s, c, ret, ret_times, &after))
		return false;
	state_free(s);
	*s = after;
	return true;
}
