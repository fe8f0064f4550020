/* portfolio.c -- several searches of one file system that take turns. */
#include "explore/portfolio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "explore/openings.h"
#include "explore/sharing.h"

/* Calls of a first turn; later turns of a search are longer, up to the maximum. */
enum { TURN_CALLS = 2048, TURN_CALLS_MAX = 1 << 16 };
/* Of searches that do not look after every call. */
enum { UNSEEN_CALLS = 12, UNSEEN_ROUNDS = 8 };
/* Where calls are slow, a turn takes at most this part of the time there is, and at least this
 * long.
 */
static const double turn_share = 0.04, turn_min_seconds = 0.5;
static const double poll_seconds = 0.02; /* where nothing can be done but wait for other workers */
/* What a new outcome of an operation counts for, compared to new features of a state; and how many
 * new points of code count as much. */
static const double outcome_worth = 16, points_worth = 4;

/* One configuration of the file system: the target itself, or a variant of it. */
struct portfolio_configuration {
	const char *name;      /* of its target */
	struct target *target; /* NULL: a variant whose turn has not come yet */
	struct oracle oracle;
	double left_seconds; /* when its last turn ended */
	bool taken_up;       /* what an earlier part of the run left is */
};

struct portfolio_member {
	struct explorer x; /* of one that is not opened yet: zero */
	struct portfolio_search *search;
	struct portfolio_configuration *configuration;
	struct explore_options options;
	char name[96];
	double cost; /* of a call, compared to that of a tour */
	uint64_t turns;
	uint64_t shapes, outcomes, calls; /* before the present turn */
	uint32_t points;
	double yield, seconds;
	bool opened;
	bool over;
	bool spared; /* another search has exhausted the same universe */
};

struct portfolio {
	const struct explore_options *options;
	struct portfolio_member *members;
	size_t count;
	struct portfolio_configuration *configurations; /* the target itself is the first */
	size_t configuration_count;
	struct explorer_visited visited;
	struct kernel_watch watch;
	struct run *run;
	uint64_t turns;
	struct portfolio_member *last; /* whose turn it is, or was */
	double deadline_seconds;
	const char *end;
};

/* ---- which searches ---- */

static const struct portfolio_row {
	const char *profile;
	enum strategy strategy;
	unsigned needs, not_with; /* enum target_cap */
	unsigned unseen_calls;
} portfolio_rows[] = {
	{ "default", STRATEGY_TOUR, 0, 0, 0 },
	{ "default", STRATEGY_RANDOM, 0, 0, 0 },
	{ "looks", STRATEGY_RANDOM, 0, 0, UNSEEN_CALLS },
	{ "sizes", STRATEGY_RANDOM, 0, 0, 0 },
	{ "descriptors", STRATEGY_TOUR, 0, 0, 0 },
	{ "permissions", STRATEGY_TOUR, TARGET_PROCESSES, 0, 0 },
	{ "xattr", STRATEGY_RANDOM, 0, 0, 0 },
	{ "descriptors", STRATEGY_RANDOM, 0, 0, 0 },
	{ "forms", STRATEGY_RANDOM, 0, 0, 0 },
	{ "wide", STRATEGY_RANDOM, 0, 0, 0 },
	{ "long", STRATEGY_RANDOM, 0, 0, 0 },
	{ "deep", STRATEGY_RANDOM, 0, 0, 0 },
	{ "sizes", STRATEGY_TOUR, 0, 0, 0 },
	{ "xattr", STRATEGY_TOUR, 0, 0, 0 },
	{ "enospc", STRATEGY_RANDOM, 0, 0, 0 },
	{ "default", STRATEGY_RANDOM, 0, 0, UNSEEN_CALLS },
	{ "tiny", STRATEGY_BFS, TARGET_SAVE, 0, 0 },
	{ "default", STRATEGY_BEST, TARGET_SAVE, 0, 0 },
	{ "default", STRATEGY_REMOUNT, TARGET_REMOUNT | TARGET_IMAGE, TARGET_SAVE, 0 },
};

/* A profile of the user's, by each strategy. */
static const struct portfolio_row strategy_rows[] = {
	{ NULL, STRATEGY_TOUR, 0, 0, 0 },
	{ NULL, STRATEGY_RANDOM, 0, 0, 0 },
	{ NULL, STRATEGY_RANDOM, 0, 0, UNSEEN_CALLS },
	{ NULL, STRATEGY_BEST, TARGET_SAVE, 0, 0 },
	{ NULL, STRATEGY_REMOUNT, TARGET_REMOUNT | TARGET_IMAGE, TARGET_SAVE, 0 },
};

/* Of a variant: walks that keep no states, since most calls do the same as in the target itself. */
static const struct portfolio_row variant_rows[] = {
	{ "sizes", STRATEGY_RANDOM, 0, 0, 0 },
	{ "default", STRATEGY_RANDOM, 0, 0, UNSEEN_CALLS },
	{ "default", STRATEGY_RANDOM, 0, 0, 0 },
	{ "xattr", STRATEGY_RANDOM, 0, 0, 0 },
	{ "descriptors", STRATEGY_RANDOM, 0, 0, 0 },
	{ "long", STRATEGY_RANDOM, 0, 0, 0 },
};

static bool portfolio_row_suits(const struct portfolio_row *row, const struct target *t,
				bool walks_only)
{
	/* Where saving is not cheap, it copies an image. */
	bool saves = t->kind->save && t->caps & (TARGET_SAVE | TARGET_IMAGE);

	if (strategy_branches(row->strategy) && (walks_only || !saves))
		return false;
	return !(row->needs & ~t->caps) && !(row->not_with & t->caps);
}

size_t portfolio_list(const struct target *t, const char *profile, bool walks_only,
		      struct portfolio_search ret[PORTFOLIO_MAX])
{
	const struct portfolio_row *rows = profile ? strategy_rows : portfolio_rows;
	size_t row_count = profile ? ARRAY_LEN(strategy_rows) : ARRAY_LEN(portfolio_rows);
	size_t count = 0;

	_Static_assert(ARRAY_LEN(portfolio_rows) <= PORTFOLIO_OWN_MAX, "they fit");
	for (size_t i = 0; i < row_count; i++)
		if (portfolio_row_suits(&rows[i], t, walks_only))
			ret[count++] = (struct portfolio_search){
				.profile = profile ? profile : rows[i].profile,
				.strategy = rows[i].strategy,
				.unseen_calls = rows[i].unseen_calls,
			};
	return count;
}

size_t portfolio_list_variants(size_t variants, struct portfolio_search *list, size_t count)
{
	_Static_assert(ARRAY_LEN(variant_rows) <= PORTFOLIO_VARIANT_MAX, "they fit");
	must(variants <= PORTFOLIO_VARIANTS);
	for (size_t v = 1; v <= variants; v++)
		for (size_t i = 0; i < ARRAY_LEN(variant_rows); i++)
			list[count++] = (struct portfolio_search){
				.profile = variant_rows[i].profile,
				.strategy = variant_rows[i].strategy,
				.unseen_calls = variant_rows[i].unseen_calls,
				.variant = v,
			};
	return count;
}

/* ---- the searches together ---- */

static void figures_add(struct explore_figures *to, const struct explore_figures *f)
{
	to->calls += f->calls;
	to->duplicates += f->duplicates;
	to->shapes += f->shapes;
	to->depth = f->depth > to->depth ? f->depth : to->depth;
	to->beyond += f->beyond;
	to->surprises += f->surprises;
	to->repeats += f->repeats;
	to->resets += f->resets;
	to->kernel_notes += f->kernel_notes;
	to->differences += f->differences;
	to->state_bytes += f->state_bytes;
	to->edge_bytes += f->edge_bytes;
}

static struct explore_figures portfolio_figures(const struct portfolio *p)
{
	struct explore_figures all = { .exhausted = p->count > 0, .end = p->end };

	for (size_t i = 0; i < p->count; i++) {
		const struct portfolio_member *m = &p->members[i];

		figures_add(&all, &m->x.figures);
		if (m->spared)
			continue;
		all.transitions += m->x.figures.transitions;
		all.edges_left += m->x.figures.edges_left;
		all.exhausted &= m->x.figures.exhausted;
	}
	all.states = p->visited.states.count; /* some were reached by several searches */
	all.states_sum = p->visited.sum;
	return all;
}

/* Inputs and outcomes that any of the searches has reached. */
static void portfolio_count_reach(const struct portfolio *p, struct explore_figures *all)
{
	struct cover cover, possible;

	cover_init(&cover);
	cover_init(&possible);
	for (size_t i = 0; i < p->count; i++) {
		if (!p->members[i].opened)
			continue;
		tally_possible(&p->members[i].x.tally, &possible);
		tally_cover(&p->members[i].x.tally, &cover);
	}
	cover_add(&possible, &cover);
	all->inputs = cover_inputs(&possible);
	all->inputs_seen = cover_inputs(&cover);
	all->outcomes_seen = cover_outcomes(&cover);
	cover_free(&cover);
	cover_free(&possible);
}

static void portfolio_progress(void *to, const struct explore_figures *one, struct run *run)
{
	const struct portfolio *p = to;
	struct explore_figures all = portfolio_figures(p);

	if (run_sample_is_due(run))
		portfolio_count_reach(p, &all);
	p->options->progress(p->options->progress_to, &all, run);
}

/* A call of a tour costs itself and a scan; the others save and restore, or unmount and mount. */
static double strategy_cost(enum strategy s)
{
	if (s == STRATEGY_REMOUNT)
		return 16;
	return strategy_branches(s) ? 4 : 1;
}

/* Where several workers make one search, a variant is not divided up: its walks count states only,
 * and may use any channel of the target's own searches. */
static unsigned member_channel(const struct portfolio *p, const struct portfolio_member *m)
{
	return m->search->variant ? 0 : (unsigned)(m - p->members);
}

static size_t portfolio_own_count(const struct portfolio *p)
{
	size_t count = 0;

	while (count < p->count && !p->members[count].search->variant)
		count++;
	return count;
}

static void member_init(struct portfolio *p, struct portfolio_member *m,
			struct portfolio_search *search)
{
	struct portfolio_configuration *c = &p->configurations[search->variant];

	*m = (struct portfolio_member){ .search = search, .configuration = c, .yield = INFINITY };
	m->options = *p->options;
	snprintf(m->name, sizeof(m->name), "%.40s-%s%s%s%.30s", search->universe.name,
		 strategy_names[search->strategy], search->unseen_calls ? "-unseen" : "",
		 search->variant ? "-" : "", search->variant ? c->name : "");
	for (char *at = m->name; *at; at++)
		if (*at == '/')
			*at = '_';
	m->options.name = m->name;
	m->options.strategy = search->strategy;
	m->options.unseen_calls = search->unseen_calls;
	m->options.seed += (uint64_t)(m - p->members);
	m->options.calls = 0;
	m->options.resume = p->options->resume && checkpoint_is_there(p->run->dir, m->name);
	m->options.progress = p->options->progress ? portfolio_progress : NULL;
	m->options.progress_to = p;
	m->cost = strategy_cost(search->strategy);
}

static int member_open(struct portfolio *p, struct portfolio_member *m, struct err *err)
{
	m->options.memory_max /= portfolio_own_count(p);
	if (explorer_open(&m->x, &m->options, m->configuration->target, &m->search->universe,
			  p->run, err))
		return -err->code;
	sharing_join(&m->x, member_channel(p, m));
	m->x.deadline_seconds = p->deadline_seconds;
	m->x.takes_turns = true;
	m->x.visited = &p->visited;
	m->x.watch = &p->watch;
	m->x.oracle = &m->configuration->oracle;
	m->opened = true;
	return 0;
}

/* The target itself is open, and so are its searches. */
static int portfolio_open(struct portfolio *p, struct portfolio_search *searches, struct target *t,
			  struct err *err)
{
	int status = 0;

	p->configurations[0].name = t->name;
	p->configurations[0].target = t;
	for (size_t i = 1; i < p->configuration_count; i++)
		p->configurations[i].name = p->options->variants[i - 1];
	for (size_t i = 0; i < p->count; i++)
		member_init(p, &p->members[i], &searches[i]);
	for (size_t i = 0; i < portfolio_own_count(p) && !status; i++)
		status = member_open(p, &p->members[i], err);
	if (!status)
		oracle_begin(&p->configurations[0].oracle, &p->members[0].x);
	return status;
}

/* A variant that this machine cannot make, or this kernel cannot mount, is left out. */
static void configuration_leave_out(struct portfolio *p, const struct portfolio_configuration *c,
				    const struct err *why)
{
	json_t *list = json_object_get(p->run->figures, "left_out");

	if (!list) {
		list = json_array();
		json_object_set_new(p->run->figures, "left_out", list);
	}
	json_array_append_new(list, json_pack("{s:s, s:s}", "target", c->name, "why", why->text));
	for (size_t i = 0; i < p->count; i++)
		if (p->members[i].configuration == c)
			p->members[i].over = p->members[i].spared = true;
}

/* Opens a variant when its first turn comes: each is a kernel, with its memory. False if it cannot
 * be used here. */
static bool configuration_open(struct portfolio *p, struct portfolio_member *m)
{
	struct portfolio_configuration *c = m->configuration;
	struct err why = { 0 };

	if (!c->target && target_open(&c->target, c->name, &p->options->variant_options, &why)) {
		c->target = NULL;
		configuration_leave_out(p, c, &why);
		return false;
	}
	if (m->opened)
		return true;
	if (member_open(p, m, &why)) {
		configuration_leave_out(p, c, &why);
		return false;
	}
	if (!c->left_seconds)
		oracle_begin(&c->oracle, &m->x);
	return true;
}

/* ---- turns ---- */

static bool member_works(const struct portfolio_member *m)
{
	return !m->over && !m->x.dry;
}

/* What its calls have cost so far. */
static double member_spent(const struct portfolio_member *m)
{
	return (double)m->x.figures.calls * m->cost;
}

/* The configuration whose turn it is: the target itself has as much as all its variants. NULL: none
 * has work. */
static const struct portfolio_configuration *portfolio_due(const struct portfolio *p)
{
	const struct portfolio_configuration *due = NULL;
	double least = 0;

	for (size_t c = 0; c < p->configuration_count; c++) {
		double spent = 0, part = c || p->configuration_count == 1
					       ? 1
					       : (double)(p->configuration_count - 1);
		bool works = false;

		for (size_t i = 0; i < p->count; i++) {
			if (p->members[i].configuration != &p->configurations[c])
				continue;
			spent += member_spent(&p->members[i]);
			works |= member_works(&p->members[i]);
		}
		if (works && (!due || spent / part < least)) {
			due = &p->configurations[c];
			least = spent / part;
		}
	}
	return due;
}

/* Every other turn is that of the search whose calls have cost the least so far, in the
 * configuration that is due; the turns between are those of the one that yields the most. */
static struct portfolio_member *portfolio_next(const struct portfolio *p)
{
	const struct portfolio_configuration *due = portfolio_due(p);
	bool by_yield = p->turns % 2;
	struct portfolio_member *next = NULL;
	double best = 0, score;

	for (size_t i = 0; i < p->count; i++) {
		struct portfolio_member *m = &p->members[i];

		if (!member_works(m) || (!by_yield && m->configuration != due))
			continue;
		score = by_yield ? m->yield : -member_spent(m);
		if (!m->turns)
			score = by_yield && m->search->variant ? -1 : INFINITY;
		if (!next || score > best) {
			next = m;
			best = score;
		}
	}
	return next;
}

static uint64_t portfolio_calls_left(const struct portfolio *p)
{
	uint64_t made = portfolio_figures(p).calls, max = p->options->calls;

	if (!max)
		return UINT64_MAX;
	return made < max ? max - made : 0;
}

static void member_set_bounds(const struct portfolio *p, struct portfolio_member *m)
{
	double seconds = p->options->seconds;
	uint64_t calls = TURN_CALLS * (m->turns + 1), left = portfolio_calls_left(p);

	if (calls > TURN_CALLS_MAX)
		calls = TURN_CALLS_MAX;
	calls = (uint64_t)((double)calls / m->cost);
	m->x.slice_calls = m->x.figures.calls + (calls < left ? calls : left);
	if (seconds > 0)
		m->x.slice_until_seconds =
			clock_seconds() + fmax(seconds * turn_share, turn_min_seconds);
}

static uint32_t member_points(const struct portfolio_member *m)
{
	return m->x.reached ? m->x.reached->count : 0;
}

/* What the last turn brought, for what it cost; earlier turns count half as much each. */
static void member_weigh(struct portfolio_member *m)
{
	double calls = (double)(m->x.figures.calls - m->calls) * m->cost;
	uint64_t outcomes = tally_outcomes(&m->x.tally);
	double gain = (double)(m->x.figures.shapes - m->shapes) +
		      (double)(outcomes - m->outcomes) * outcome_worth +
		      (double)(member_points(m) - m->points) / points_worth;
	double yield = calls > 0 ? gain / calls : 0;

	m->yield = isinf(m->yield) ? yield : (m->yield + yield) / 2;
	m->shapes = m->x.figures.shapes;
	m->outcomes = outcomes;
	m->calls = m->x.figures.calls;
	m->turns++;
}

/* States that an earlier part of the run has reached. */
static void member_recall_states(struct portfolio *p, const struct portfolio_member *m)
{
	for (uint32_t n = 0; n < m->x.graph.count; n++)
		if (graph_node(&m->x.graph, n)->reached)
			visited_add(&p->visited, graph_node(&m->x.graph, n)->hash);
}

static int member_begin(struct portfolio *p, struct portfolio_member *m, struct err *err)
{
	int status;

	if (m->turns)
		return explorer_reset(&m->x, err);
	status = explorer_begin(&m->x, err);
	if (m->options.resume)
		member_recall_states(p, m);
	if (status >= 0 && p->options->resume && !m->configuration->taken_up) {
		m->configuration->taken_up = true;
		status = explorer_take_up(&m->x, err);
	}
	m->calls = m->x.figures.calls;
	return status;
}

static int portfolio_turn(struct portfolio *p, struct portfolio_member *m, struct err *err)
{
	double from = clock_seconds();
	int status;

	if (!configuration_open(p, m))
		return 0;
	if (p->last && p->last != m)
		explorer_rest(&p->last->x);
	p->last = m;
	if (m->configuration->left_seconds > 0) /* its checks have a share of its time */
		oracle_skip(&m->configuration->oracle, from - m->configuration->left_seconds);
	status = member_begin(p, m, err);
	if (status < 0)
		return status;
	m->points = member_points(m);
	member_set_bounds(p, m);
	status = explorer_work(&m->x, err);
	/* What it has begun to check is about its own history. */
	if (status >= 0)
		status = m->x.figures.end ? oracle_end(&m->x, err) : oracle_wait(&m->x, err);
	member_weigh(m);
	m->configuration->left_seconds = clock_seconds();
	m->seconds += m->configuration->left_seconds - from;
	p->turns++;
	return status;
}

/* Has the search ended by something that is over for all of them? */
static bool member_ends_all(const struct portfolio_member *m)
{
	static const char *const own[] = { "exhausted", "unreachable", "depth", "memory" };

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (!strcmp(m->x.figures.end, own[i]))
			return false;
	return true;
}

/* The search that has made every call in every state of this one's universe. */
static const struct portfolio_member *portfolio_exhausted(const struct portfolio *p,
							  const struct portfolio_member *by)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct portfolio_member *m = &p->members[i];

		if (m->x.figures.exhausted && m->configuration == by->configuration &&
		    !strcmp(m->search->universe.name, by->search->universe.name))
			return m;
	}
	return NULL;
}

/* Where one search has made every call in every state, the others in the same universe have nothing
 * to add; but one that does not look after every call meets states that looking changes, and makes
 * some times as many calls. */
static void portfolio_spare(struct portfolio *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct portfolio_member *m = &p->members[i];
		const struct portfolio_member *exhausted = portfolio_exhausted(p, m);

		if (!exhausted || m->over ||
		    (m->options.unseen_calls &&
		     m->x.figures.calls < UNSEEN_ROUNDS * exhausted->x.figures.calls))
			continue;
		m->over = m->spared = true;
	}
}

/* Searches that had nothing to do may have got something from other workers, or nothing is left for
 * anyone. Where no other can work, one of them waits for that. *ret_waits: there are such. */
static int portfolio_poll(struct portfolio *p, bool alone, bool *ret_waits, struct err *err)
{
	int status = 0;

	*ret_waits = false;
	for (size_t i = 0; i < p->count && status >= 0; i++) {
		struct explorer *x = &p->members[i].x;

		if (!x->dry || p->members[i].over)
			continue;
		status = sharing_poll(x, alone && !*ret_waits ? poll_seconds : 0, err);
		*ret_waits = true;
		if (alone && explorer_ends(x) && x->figures.end)
			p->end = x->figures.end;
	}
	return status;
}

/* Where calls are slow, what is most likely comes first. */
static int portfolio_play_openings(struct portfolio *p, struct err *err)
{
	if (!p->options->openings || p->options->resume ||
	    !p->configurations[0].target->traits.times_cached)
		return 0;
	return openings_play(&p->members[0].x, err);
}

static int portfolio_run(struct portfolio *p, struct err *err)
{
	struct portfolio_member *m = NULL;
	bool waits;
	int status = portfolio_play_openings(p, err);

	while (status >= 0 && !p->end) {
		m = portfolio_next(p);
		status = portfolio_poll(p, !m, &waits, err);
		if (status < 0)
			break;
		if (!m) {
			if (!waits)
				p->end = "exhausted";
		} else if (!portfolio_calls_left(p)) {
			p->end = "calls";
		} else {
			status = portfolio_turn(p, m, err);
			m->over |= m->x.figures.end != NULL;
			portfolio_spare(p);
			if (m->x.figures.end && member_ends_all(m))
				p->end = m->x.figures.end;
		}
	}
	if (status < 0 && m && m->opened)
		watch_kernel(&m->x); /* its log may say what ended us */
	return status;
}

/* ---- the end ---- */

static void portfolio_report(const struct portfolio *p, struct run *run)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const struct portfolio_member *m = &p->members[i];
		const struct explore_figures *f = &m->x.figures;

		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:f}", "target",
					m->configuration->name, "profile", m->search->universe.name,
					"strategy", strategy_names[m->options.strategy],
					"unseen_calls", (int)m->options.unseen_calls, "calls",
					(json_int_t)f->calls, "transitions",
					(json_int_t)f->transitions, "states", (json_int_t)f->states,
					"shapes", (json_int_t)f->shapes, "seconds", m->seconds));
	}
	json_object_set_new(run->figures, "searches", rows);
}

static int portfolio_checkpoint(const struct portfolio *p, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < p->count && status >= 0; i++)
		if (p->members[i].turns)
			status = checkpoint_write(&p->members[i].x, err);
	return status;
}

/* What the searches have counted, and their memory. */
static void portfolio_close(struct portfolio *p, struct cover *cover, struct explore_figures *ret)
{
	struct cover possible = { 0 }; /* what the universes have */

	for (size_t i = 0; i < p->count; i++) {
		struct portfolio_member *m = &p->members[i];

		if (!m->opened)
			continue;
		tally_possible(&m->x.tally, &possible);
		explorer_close(&m->x, cover, &m->x.figures);
	}
	*ret = portfolio_figures(p);
	for (size_t i = 0; i < p->configuration_count; i++) {
		oracle_free(&p->configurations[i].oracle, ret);
		if (i && p->configurations[i].target)
			target_close(p->configurations[i].target);
	}
	cover_add(&possible, cover);
	ret->inputs = cover_inputs(&possible);
	ret->inputs_seen = cover_inputs(cover);
	ret->outcomes_seen = cover_outcomes(cover);
	cover_free(&possible);
	kernel_watch_close(&p->watch);
	hash_set_free(&p->visited.states);
	free(p->members);
	free(p->configurations);
}

int explore_portfolio(const struct explore_options *o, struct portfolio_search *searches,
		      size_t count, struct target *t, struct run *run, struct cover *cover,
		      struct explore_figures *ret, struct err *err)
{
	struct portfolio p = {
		.options = o,
		.run = run,
		.count = count,
		.configuration_count = o->variant_count + 1,
		.deadline_seconds = clock_seconds() + o->seconds,
	};
	int status;

	must(count);
	p.members = must_alloc(count * sizeof(*p.members));
	p.configurations = must_alloc(p.configuration_count * sizeof(*p.configurations));
	kernel_watch_open(&p.watch, o->kernel_log, t);
	status = portfolio_open(&p, searches, t, err);
	if (!status)
		status = portfolio_run(&p, err);
	if (status >= 0)
		status = portfolio_checkpoint(&p, err);
	portfolio_report(&p, run);
	portfolio_close(&p, cover, ret);
	return status;
}
