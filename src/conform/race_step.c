/* race_step.c -- races as a step of a search: calls overlap in states that it reaches. */
#include "conform/race_step.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

/* The races of the state that these calls lead to. */
static int step_add_races(struct race_step *s, const struct call *calls, size_t count,
			  struct suite *suite, struct err *err)
{
	struct state state = state_copy(&s->start);
	struct buf setup = BUF_INIT, text = BUF_INIT;
	struct call racing[SCHEDULE_PROCESSES_MAX];
	struct arena arena = ARENA_INIT;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct outcome outcome;

		model_run(&s->model, &state, &calls[i], &outcome);
	}
	step_print(calls, count, &setup);
	for (unsigned i = 0; i < STEP_DRAWS && suite->count < STEP_RACES && !status; i++) {
		if (!step_draw(s, &state, &arena, racing))
			continue;
		step_print(racing, s->universe->processes - 1, &text);
		status = suite_add_race(suite, explored_race_name, buf_str(&setup), buf_str(&text),
					err);
	}
	buf_free(&setup);
	buf_free(&text);
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

static int step_report(struct race_step *s, struct surveyed *t, struct suite *suite,
		       struct err *err)
{
	const struct survey survey = { .suite = suite, .targets = t, .count = 1 };

	step_forget_setups(&t->result);
	causes_gather(&t->causes, &t->result);
	causes_mark_known(&t->causes, &s->run->known, s->options.session.target);
	return tell_causes(&survey, t, &s->options.session, STEP_FINDINGS, s->run, err);
}

int race_step_take(void *step, const struct call *calls, size_t count, struct err *err)
{
	struct race_step *s = step;
	struct suite suite = { 0 };
	struct surveyed t = { 0 };
	int status = step_add_races(s, calls, count, &suite, err);

	if (!status && suite.count)
		status = conform_run(&t.result, &suite, &s->options, err);
	if (!status && suite.count)
		status = step_report(s, &t, &suite, err);
	s->paths++;
	s->figures.pairs += t.result.figures.pairs;
	s->figures.schedules += t.result.figures.schedules;
	s->figures.outcomes += t.result.figures.outcomes;
	s->figures.unsteady += t.result.figures.unsteady;
	causes_free(&t.causes);
	conform_result_free(&t.result);
	suite_free(&suite);
	return status;
}
