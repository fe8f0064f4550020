/* race_step.c -- races as a step of a search: calls overlap in states that it reaches. */
#include "conform/race_step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "conform/cause_finding.h"
#include "conform/explored_race.h"
#include "plan/nearby.h"

/* Of one state, so that the set-up is worth its time. */
enum { STEP_RACES = 8, STEP_DRAWS = 400, STEP_FINDINGS = 4 };

/* One in so many calls need not have anything in common that the model knows. */
enum { STEP_STRANGERS = 4 };

int race_step_open(struct race_step *s, const char *target, const struct target_options *o,
		   const struct universe *u, struct run *run, uint64_t seed, struct err *err)
{
	struct target *t;
	int status;

	*s = (struct race_step){
		.universe = u,
		.options = {
			.session = {
				.target = target,
				.target_options = *o,
				.platform = PLATFORM_LINUX,
				.schedules = { .preemptions = 1, .examines = true },
			},
			.jobs = 1,
		},
	};
	must(u->processes > 2);
	rng_seed(&s->rng, seed);
	status = target_open(&t, target, o, err);
	if (status)
		return status;
	if (!(t->caps & TARGET_SCHEDULES))
		status = err_set(err, ENOTSUP, "%s: cannot be given schedules", t->name);
	else
		status = target_initial_state(t, &s->start, err);
	session_model(&s->options.session, t, &s->model);
	target_close(t);
	if (!status)
		s->run = run;
	return status;
}

void race_step_close(struct race_step *s)
{
	const struct session_figures *f = &s->figures;
	json_t *figures =
		json_pack("{s:I s:I s:I s:I s:I}", "paths", (json_int_t)s->paths, "pairs",
			  (json_int_t)f->pairs, "schedules", (json_int_t)f->schedules, "outcomes",
			  (json_int_t)f->outcomes, "unsteady", (json_int_t)f->unsteady);

	must(figures);
	json_object_set_new(s->run->figures, "races", figures);
	state_free(&s->start);
}

static void step_print(const struct call *calls, size_t count, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < count; i++) {
		call_print(&calls[i], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

/* One call of each process but the first; false if none was drawn that may race. */
static bool step_draw(struct race_step *s, const struct state *state, struct arena *arena,
		      struct call ret[SCHEDULE_PROCESSES_MAX])
{
	unsigned count = (unsigned)s->universe->processes - 1, drawn = 0;

	for (unsigned tries = 0; tries < STEP_DRAWS && drawn < count; tries++) {
		uint64_t number = universe_draw(s->universe, &s->rng);

		if (nearby_call(s->universe, number, state, arena, &ret[drawn]) &&
		    ret[drawn].pid == drawn + 2 && explored_race_allows(&ret[drawn]))
			drawn++;
	}
	return drawn == count && explored_race_is_worth(&s->model, state, ret, count) &&
	       (explored_race_shows_order(&s->model, state, ret, count) ||
		!rng_below(&s->rng, STEP_STRANGERS));
}

/* Some races behind one set-up, and what became of them. */
struct step_races {
	struct suite suite;
	struct surveyed result;
};

static void step_races_free(struct step_races *r)
{
	causes_free(&r->result.causes);
	conform_result_free(&r->result.result);
	suite_free(&r->suite);
}

static int step_add_race(struct step_races *r, const struct call *setup, size_t setup_count,
			 const struct call *racing, size_t racing_count, struct err *err)
{
	struct buf before = BUF_INIT, text = BUF_INIT;
	int status;

	step_print(setup, setup_count, &before);
	step_print(racing, racing_count, &text);
	status = suite_add_race(&r->suite, explored_race_name, buf_str(&before), buf_str(&text),
				err);
	buf_free(&before);
	buf_free(&text);
	return status;
}

/* The races of the state that these calls lead to. */
static int step_add_races(struct race_step *s, const struct call *calls, size_t count,
			  struct step_races *r, struct err *err)
{
	struct state state = state_copy(&s->start);
	struct call racing[SCHEDULE_PROCESSES_MAX];
	struct arena arena = ARENA_INIT;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct outcome outcome;

		model_run(&s->model, &state, &calls[i], &outcome);
	}
	for (unsigned i = 0; i < STEP_DRAWS && r->suite.count < STEP_RACES && !status; i++)
		if (step_draw(s, &state, &arena, racing))
			status = step_add_race(r, calls, count, racing, s->universe->processes - 1,
					       err);
	arena_free(&arena);
	state_free(&state);
	return status;
}

/* What the set-up shows is for the search to report. */
static void step_forget_setups(struct conform_result *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->deviation_count; i++) {
		if (r->deviations[i].in_setup)
			deviation_free(&r->deviations[i]);
		else
			r->deviations[kept++] = r->deviations[i];
	}
	r->deviation_count = kept;
}

static int step_run(struct race_step *s, struct step_races *r, struct err *err)
{
	const struct session_figures *f = &r->result.result.figures;
	int status = conform_run(&r->result.result, &r->suite, &s->options, err);

	s->figures.pairs += f->pairs;
	s->figures.schedules += f->schedules;
	s->figures.outcomes += f->outcomes;
	s->figures.unsteady += f->unsteady;
	step_forget_setups(&r->result.result);
	causes_gather(&r->result.causes, &r->result.result);
	causes_mark_known(&r->result.causes, &s->run->known, s->options.session.target);
	return status;
}

/* One race again, with another set-up. *ret_shows: it shows the same. The races are to be freed. */
static int step_try(struct race_step *s, const struct call *setup, size_t count,
		    const struct suite_script *race, const char *cause, struct step_races *ret,
		    bool *ret_shows, struct err *err)
{
	int status;

	*ret = (struct step_races){ 0 };
	*ret_shows = false;
	status = step_add_race(ret, setup, count, race->calls, race->count, err);
	if (!status)
		status = step_run(s, ret, err);
	if (!status)
		*ret_shows = causes_find(&ret->result.causes, cause);
	return status;
}

/* Leaves out what the set-up does not need, the last calls first. Returns how many are left. */
static size_t step_shrink(struct race_step *s, struct call *setup, size_t count,
			  const struct suite_script *race, const char *cause)
{
	for (size_t i = count; i-- > 0 && !stop_requested;) {
		struct call without = setup[i];
		struct step_races tried;
		struct err ignored = { 0 };
		bool shows;

		if (op_table[without.op].traits & TRAIT_PROC)
			continue;
		memmove(&setup[i], &setup[i + 1], (--count - i) * sizeof(*setup));
		if (step_try(s, setup, count, race, cause, &tried, &shows, &ignored) || !shows) {
			memmove(&setup[i + 1], &setup[i], (count++ - i) * sizeof(*setup));
			setup[i] = without;
		}
		step_races_free(&tried);
	}
	return count;
}

static int step_report_cause(struct race_step *s, const struct step_races *r,
			     const struct cause *cause, struct err *err)
{
	const struct suite_script *race = &r->suite.scripts[cause->example->script];
	const struct setup *begin = &r->suite.setups[race->setup];
	struct call *setup = must_alloc((begin->count + 1) * sizeof(*setup));
	struct step_races least;
	bool shows;
	size_t count;
	int status;

	memcpy(setup, begin->calls, begin->count * sizeof(*setup));
	count = step_shrink(s, setup, begin->count, race, cause->text);
	status = step_try(s, setup, count, race, cause->text, &least, &shows, err);
	if (!status) {
		const struct survey survey = {
			.suite = &least.suite,
			.targets = &least.result,
			.count = 1,
		};

		status = tell_causes(&survey, &least.result, &s->options.session, STEP_FINDINGS,
				     s->run, err);
	}
	step_races_free(&least);
	free(setup);
	return status;
}

int race_step_take(void *step, const struct call *calls, size_t count, struct err *err)
{
	struct race_step *s = step;
	struct step_races r = { 0 };
	int status = step_add_races(s, calls, count, &r, err);

	s->paths++;
	if (!status && r.suite.count)
		status = step_run(s, &r, err);
	for (size_t i = 0; i < r.result.causes.count && !status; i++)
		if (!r.result.causes.items[i].reason)
			status = step_report_cause(s, &r, &r.result.causes.items[i], err);
	step_races_free(&r);
	return status;
}
