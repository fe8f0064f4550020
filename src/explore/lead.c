/* lead.c -- what the model says a call will do, kept within the bounds of the universe.
 *
 * Most calls cannot leave the bounds, whatever they do; only for the others is a copy of the
 * state kept to go back to. Allocating beyond the bounds would cost the model memory for it, so
 * that a model of smaller files is asked first. */
#include <errno.h>
#include <fcntl.h>

#include "explore/explorer.h"

/* Does the call work from the end of a file, from its offset, or by moving its end? */
static bool is_relative(const struct call *c)
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

/* The root is always there. */
static size_t objects(const struct state *s)
{
	return s->tree.inodes.count - 1;
}

/* Descriptors and directory streams of all processes. */
static size_t open_files(const struct state *s)
{
	const struct process *process;
	size_t count = 0;
	uint64_t pid;
	bool first = true;

	for (; (process = (const struct process *)pmap_next(&s->processes, first, &pid));
	     first = false)
		count += process->fds.count + process->streams.count;
	return count;
}

static bool may_leave(const struct universe *u, const struct state *s, const struct call *c)
{
	unsigned traits = op_table[c->op].traits;

	if ((traits & TRAIT_NAMES) && objects(s) >= u->nodes_max)
		return true;
	if (traits & TRAIT_OPENS)
		return true;
	return (traits & TRAIT_DATA) && (is_relative(c) || call_extent(c) > u->size_max);
}

static bool is_within(const struct universe *u, const struct state *s)
{
	const struct inode *inode;
	uint64_t key;
	bool first = true;

	if (objects(s) > u->nodes_max || open_files(s) > u->files_max)
		return false;
	for (; (inode = (const struct inode *)pmap_next(&s->tree.inodes, first, &key));
	     first = false)
		if (inode->size > u->size_max)
			return false;
	return true;
}

/* Calls that the platform leaves undefined (some would wait for ever) are not made either. */
static bool move(const struct model *m, struct state *s, const struct call *c, struct outcome *ret)
{
	struct envelope env;

	model_move(m, s, c, &env);
	*ret = env.value;
	ret->error = env.first;
	return !env.undefined;
}

/* True if the call would allocate more of a file than the universe has. */
static bool allocates_beyond(struct explorer *x, const struct state *s, const struct call *c)
{
	struct model small = x->model;
	struct outcome outcome;
	struct state trial;
	bool beyond;

	if (op_table[c->op].base != OP_fallocate || call_extent(c) <= x->universe->size_max ||
	    call_extent(c) > x->model.traits.file_size_max)
		return false;
	small.traits.file_size_max = x->universe->size_max;
	trial = state_copy(s);
	beyond = !move(&small, &trial, c, &outcome) || outcome.error == EFBIG;
	state_free(&trial);
	return beyond;
}

static bool is_failure(enum op op)
{
	return op == OP_fail_alloc || op == OP_fail_read || op == OP_fail_write;
}

/* Of a file system that has given up only two things are to be known: that it stays so, and what is
 * there when it is mounted anew. */
static bool is_worthwhile_given_up(enum op op)
{
	return op == OP_mkdir || op == OP_remount;
}

/* Would all targets make the call, or does it take too much of a disk that is the user's? */
static bool is_admitted(const struct explorer *x, const struct call *c)
{
	bool admitted = !target_admits(x->target, c, NULL);

	for (size_t i = 0; i < x->options->against_count && admitted; i++)
		admitted = !target_admits(x->options->against[i], c, NULL);
	return admitted;
}

bool lead(struct explorer *x, struct state *s, const struct call *c, struct outcome *ret)
{
	bool may = may_leave(x->universe, s, c);
	struct state before;

	if (is_failure(c->op) && state_failures(s) >= x->options->failures_max)
		return false;
	if (s->health == HEALTH_GIVEN_UP && !is_worthwhile_given_up(c->op))
		return false;
	if (may && allocates_beyond(x, s, c))
		return false;
	if (!is_admitted(x, c))
		return false;
	before = state_copy(s);
	if (move(&x->model, s, c, ret) && (ret->error || !may || is_within(x->universe, s))) {
		state_free(&before);
		return true;
	}
	state_free(s);
	*s = before;
	return false;
}
