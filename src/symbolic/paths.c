/* paths.c -- all paths of an unmodified checker over chosen bytes of a disk. */
#include "symbolic/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "storage/image.h"
#include "symbolic/expr_hashes.h"
#include "symbolic/frontier.h"
#include "symbolic/path_server.h"
#include "symbolic/path_tree.h"
#include "symbolic/solver.h"

enum {
	RUN_SECONDS_DEFAULT = 5,
	/* Values of one address or offset, below all decisions together: they are too many. */
	PLACE_VALUES_MAX = 16,
	JUMP_VALUES_MAX = 1024, /* of one indirect jump, at one node */
	/* So many impossible decisions in a row make us ask whether only one input is left. */
	IMPOSSIBLE_ROW = 4,
};

/* Why an exploration is not complete. */
enum paths_gap {
	PATHS_TIME,
	PATHS_LIMIT,
	PATHS_STOPPED,
	PATHS_TIMED_OUT,
	PATHS_UNSOLVED,
	PATHS_VALUES,
	PATHS_DIVERGED,
	PATHS_WRONG,
	PATHS_GAPS
};

static const char *const paths_gap_text[PATHS_GAPS] = {
	[PATHS_TIME] = "inputs left when the time was up",
	[PATHS_LIMIT] = "inputs left at the limit of paths",
	[PATHS_STOPPED] = "inputs left when it was stopped",
	[PATHS_TIMED_OUT] = "runs were killed after their time",
	[PATHS_UNSOLVED] = "conditions were too hard for the solver",
	[PATHS_VALUES] = "addresses or offsets have more values than were tried",
	[PATHS_DIVERGED] = "runs did not take the path that they were made for",
	[PATHS_WRONG] = "logged conditions do not hold for their own input",
};

static const char *const log_gap_text[GAPS] = {
	[GAP_EXPRS] = "runs computed too many expressions to follow to their end",
	[GAP_CONDITIONS] = "runs had too many conditions to follow to their end",
	[GAP_LOST] = "operations on symbolic bytes are not modelled",
	[GAP_FLAGS] = "uses of processor flags are not modelled",
	[GAP_MAPPED] = "writable mappings of the disk were not followed",
	[GAP_STORED] = "stores went to addresses that depend on the input",
	[GAP_REPEATED] = "conditions of loops were left out beyond a limit",
	[GAP_HIDDEN] = "system calls took values that depend on the input",
};

struct exploration {
	const struct paths_options *o;
	struct paths_result *result;
	size_t len; /* of the inputs */
	double until;
	struct path_server *server;
	struct solver *solver;
	struct path_tree tree;
	struct frontier frontier;
	struct hash_map paths;  /* by hash */
	struct hash_map places; /* how many values of an address were tried */
	uint64_t gaps[PATHS_GAPS], log_gaps[GAPS];
};

/* A run that is looked at. */
struct walk {
	const struct path_log *log;
	const uint8_t *inputs;
	uint64_t *hashes, *values;
	struct solver_term *terms; /* what holds so far and is not implied by the others */
	size_t term_count;
	struct hash edge; /* the last that was taken */
	unsigned row;     /* of impossible decisions */
	bool pinned;      /* no other input takes this path so far */
	struct hash expected;
	bool hit;
};

void paths_result_free(struct paths_result *r)
{
	buf_free(&r->why_not);
}

bool paths_available(struct buf *ret_missing)
{
	return path_server_available(ret_missing);
}

/* --- one decision --- */

static bool time_is_up(const struct exploration *x)
{
	return x->o->seconds > 0 && clock_seconds() >= x->until;
}

/* Asks for an input that takes another direction; what is found is to be run. */
static enum edge_state walk_turn(struct exploration *x, struct walk *w,
				 const struct solver_term *others, size_t count, struct hash edge,
				 uint64_t place, uint8_t *ret_inputs)
{
	struct solver_term *terms = w->terms + w->term_count;

	memcpy(terms, others, count * sizeof(*others));
	switch (solver_ask(x->solver, w->terms, w->term_count + count, ret_inputs)) {
	case SOLVER_NO:
		return EDGE_IMPOSSIBLE;
	case SOLVER_UNKNOWN:
		if (!solver_try_bytes(x->solver, w->terms, w->term_count + count, w->inputs,
				      ret_inputs)) {
			x->gaps[PATHS_UNSOLVED]++;
			return EDGE_UNSOLVED;
		}
		break;
	case SOLVER_YES:
		break;
	}
	frontier_add(&x->frontier, ret_inputs, edge, place);
	return EDGE_TAKEN;
}

/* Whether the prefix admits no other input: then nothing below can be turned. */
static void walk_check_pinned(struct exploration *x, struct walk *w)
{
	if (++w->row % IMPOSSIBLE_ROW || !w->term_count)
		return;
	w->pinned = solver_ask_other(x->solver, w->terms, w->term_count, w->inputs) == SOLVER_NO;
}

static void walk_branch(struct exploration *x, struct walk *w, const struct path_condition *c)
{
	const struct solver_term term = { c->expr, true, c->value },
				 other = { c->expr, false, c->value };
	struct hash node = path_tree_node(w->edge, w->hashes[c->expr], c->kind),
		    taken = path_tree_edge(node, c->value),
		    turned = path_tree_edge(node, !c->value);
	enum edge_state state = path_tree_state(&x->tree, turned);
	uint8_t inputs[PATH_INPUTS_MAX];

	if (state == EDGE_NEW && !w->pinned) {
		state = walk_turn(x, w, &other, 1, turned, c->at << 1 | !c->value, inputs);
		path_tree_set(&x->tree, turned, state);
		if (state == EDGE_IMPOSSIBLE)
			walk_check_pinned(x, w);
		else
			w->row = 0;
	}
	path_tree_set(&x->tree, taken, EDGE_TAKEN);
	w->hit |= hash_equal(taken, w->expected);
	w->edge = taken;
	if (state != EDGE_IMPOSSIBLE)
		w->terms[w->term_count++] = term;
}

/* How many values may be tried at this node: of jumps many, of addresses few in all. */
static bool walk_may_try(struct exploration *x, const struct path_condition *c, uint64_t known,
			 uint64_t *tried)
{
	if (c->kind == CONDITION_JUMP)
		return known < JUMP_VALUES_MAX;
	return *tried < PLACE_VALUES_MAX;
}

/* An expression of many values: those that are not known yet are asked for, one by one. */
static void walk_values(struct exploration *x, struct walk *w, const struct path_condition *c)
{
	const struct solver_term term = { c->expr, true, c->value };
	struct hash node = path_tree_node(w->edge, w->hashes[c->expr], c->kind),
		    taken = path_tree_edge(node, c->value);
	struct hash place = { w->hashes[c->expr], c->at };
	uint64_t *asked = path_tree_counter(&x->tree, node);
	bool impossible = false;

	w->hit |= hash_equal(taken, w->expected);
	path_tree_set(&x->tree, taken, EDGE_TAKEN);
	if (!*asked && !w->pinned) {
		struct solver_term *others = must_alloc((JUMP_VALUES_MAX + 1) * sizeof(*others));
		uint64_t *tried = hash_map_put(&x->places, place, NULL), known = 0;
		uint8_t inputs[PATH_INPUTS_MAX];
		enum edge_state state = EDGE_TAKEN;

		*asked = 1;
		others[known++] = (struct solver_term){ c->expr, false, c->value };
		while (state == EDGE_TAKEN && walk_may_try(x, c, known, tried) && !time_is_up(x)) {
			uint64_t *values = must_alloc((w->log->expr_count + 1) * sizeof(*values));

			state = walk_turn(x, w, others, known, (struct hash){ 0, 0 }, c->at << 1,
					  inputs);
			if (state == EDGE_TAKEN) {
				expr_evaluate(w->log->exprs, w->log->expr_count, inputs, values);
				others[known++] =
					(struct solver_term){ c->expr, false, values[c->expr] };
				++*tried;
			}
			free(values);
		}
		if (state == EDGE_TAKEN)
			x->gaps[PATHS_VALUES]++;
		impossible = state == EDGE_IMPOSSIBLE && known == 1;
		free(others);
		/* Not asked again; but one value alone implies nothing. */
		if (impossible)
			*path_tree_counter(&x->tree, node) = 2;
	} else {
		impossible = *asked == 2;
	}
	w->edge = taken;
	if (!impossible)
		w->terms[w->term_count++] = term;
}

/* --- one run --- */

/* Every condition must have had the value that its expression has for these inputs. */
static void walk_check(struct exploration *x, const struct walk *w)
{
	for (uint32_t i = 0; i < w->log->condition_count; i++) {
		const struct path_condition *c = &w->log->conditions[i];

		if (w->values[c->expr] != c->value)
			x->gaps[PATHS_WRONG]++;
	}
}

static struct hash walk_run(struct exploration *x, const struct frontier_input *input)
{
	const struct path_log *log = path_server_log(x->server);
	struct walk w = {
		.log = log,
		.inputs = input->values,
		.hashes = must_alloc((log->expr_count + 1) * sizeof(uint64_t)),
		.values = must_alloc((log->expr_count + 1) * sizeof(uint64_t)),
		.terms = must_alloc((log->condition_count + JUMP_VALUES_MAX + 2) *
				    sizeof(struct solver_term)),
		.expected = input->edge,
		.hit = hash_equal(input->edge, (struct hash){ 0, 0 }),
	};

	expr_hashes(log->exprs, log->expr_count, w.hashes);
	expr_evaluate(log->exprs, log->expr_count, input->values, w.values);
	walk_check(x, &w);
	solver_use(x->solver, log->exprs, log->expr_count, w.hashes);
	for (uint32_t i = 0; i < log->condition_count; i++) {
		if (time_is_up(x) || stop_requested)
			break;
		if (log->conditions[i].kind == CONDITION_BRANCH)
			walk_branch(x, &w, &log->conditions[i]);
		else
			walk_values(x, &w, &log->conditions[i]);
	}
	x->gaps[PATHS_DIVERGED] += !w.hit && !time_is_up(x);
	free(w.hashes);
	free(w.values);
	free(w.terms);
	return w.edge;
}

/* The path is known by all that it decided. */
static bool explore_input(struct exploration *x, const struct frontier_input *input,
			  bool (*found)(void *to, const uint8_t *values, struct hash path),
			  void *to, int *ret_status, struct err *err)
{
	struct path_run run;
	struct hash path;
	bool new;

	*ret_status = path_server_run(x->server, input->values, &run, err);
	if (*ret_status)
		return false;
	x->result->runs++;
	x->gaps[PATHS_TIMED_OUT] += run.timed_out;
	for (int i = 0; i < GAPS; i++)
		x->log_gaps[i] += path_server_log(x->server)->gaps[i];
	path = walk_run(x, input);
	hash_map_put(&x->paths, path, &new);
	if (!new)
		return true;
	x->result->paths++;
	return found(to, input->values, path);
}

/* --- the whole --- */

static void explore_explain(struct exploration *x)
{
	struct buf *out = &x->result->why_not;

	for (int i = 0; i < PATHS_GAPS + GAPS; i++) {
		uint64_t count = i < PATHS_GAPS ? x->gaps[i] : x->log_gaps[i - PATHS_GAPS];

		if (!count)
			continue;
		buf_addf(out, "%s%ju %s", out->len ? "; " : "", (uintmax_t)count,
			 i < PATHS_GAPS ? paths_gap_text[i] : log_gap_text[i - PATHS_GAPS]);
	}
	x->result->complete = !out->len;
}

static void explore_begin(struct exploration *x)
{
	const struct paths_options *o = x->o;
	uint8_t inputs[PATH_INPUTS_MAX];
	size_t len = 0;

	for (size_t i = 0; i < o->range_count; i++) {
		memcpy(inputs + len, o->disk->bytes + o->ranges[i].at, o->ranges[i].len);
		len += o->ranges[i].len;
	}
	frontier_add(&x->frontier, inputs, (struct hash){ 0, 0 }, 0);
	for (size_t i = 0; i < o->seed_count; i++)
		frontier_add(&x->frontier, o->seeds + i * x->len, (struct hash){ 0, 0 }, 0);
}

static int explore_all(struct exploration *x,
		       bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
		       struct err *err)
{
	struct frontier_input input;
	enum paths_gap end = PATHS_STOPPED;
	bool more = true;
	int r = 0;

	while (more && !r) {
		if (stop_requested) {
			break;
		} else if (time_is_up(x)) {
			end = PATHS_TIME;
			break;
		} else if (x->o->paths_max && x->result->paths >= x->o->paths_max) {
			end = PATHS_LIMIT;
			break;
		}
		if (!frontier_take(&x->frontier, &input))
			return 0;
		more = explore_input(x, &input, found, to, &r, err);
		free(input.values);
	}
	x->result->left = x->frontier.count;
	x->gaps[end] += x->frontier.count ? x->frontier.count : 1;
	return r;
}

static int explore_check(const struct paths_options *o, size_t *ret_len, struct err *err)
{
	size_t len = 0;

	if (!o->range_count || o->range_count > PATH_RANGES_MAX)
		return err_set(err, EINVAL, "paths over %zu ranges of bytes", o->range_count);
	for (size_t i = 0; i < o->range_count; i++) {
		const struct path_range *r = &o->ranges[i];

		if (!r->len || r->len > PATH_INPUTS_MAX || r->at > o->disk->size ||
		    r->len > o->disk->size - r->at)
			return err_set(err, EINVAL, "bytes %ju to %ju are not on the disk",
				       (uintmax_t)r->at, (uintmax_t)(r->at + r->len));
		len += r->len;
	}
	if (len > PATH_INPUTS_MAX)
		return err_set(err, E2BIG, "paths over more than %d bytes", PATH_INPUTS_MAX);
	*ret_len = len;
	return 0;
}

/* A checker that never reads the bytes has one path. */
static void explore_unread(struct exploration *x,
			   bool (*found)(void *to, const uint8_t *values, struct hash path),
			   void *to)
{
	struct frontier_input input;

	frontier_take(&x->frontier, &input);
	x->result->paths = x->result->runs = 1;
	found(to, input.values, (struct hash){ 0, 0 });
	free(input.values);
}

int paths_explore(const struct paths_options *o,
		  bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
		  struct paths_result *ret, struct err *err)
{
	struct path_server_options server = { o->command, o->disk, o->ranges, o->range_count,
					      o->run_seconds > 0 ? o->run_seconds
								 : RUN_SECONDS_DEFAULT };
	struct exploration x = { .o = o, .result = ret, .until = clock_seconds() + o->seconds };
	double before = cpu_seconds();
	int r = explore_check(o, &x.len, err);

	*ret = (struct paths_result){ .why_not = BUF_INIT };
	if (r)
		return r;
	frontier_init(&x.frontier, x.len);
	explore_begin(&x);
	x.solver = solver_open((uint32_t)x.len, o->solver_max);
	r = path_server_start(&server, &x.server, err);
	if (!r && x.server)
		r = explore_all(&x, found, to, err);
	else if (!r)
		explore_unread(&x, found, to);
	if (x.server)
		ret->branches = path_server_branches(x.server);
	ret->questions = solver_questions(x.solver);
	explore_explain(&x);
	path_server_stop(x.server);
	solver_close(x.solver);
	path_tree_free(&x.tree);
	frontier_free(&x.frontier);
	hash_map_free(&x.paths);
	hash_map_free(&x.places);
	ret->cpu_seconds = cpu_seconds() - before;
	if (r)
		paths_result_free(ret);
	return r;
}
