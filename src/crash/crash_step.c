/* crash_step.c -- a crash as a step of a search. */
#include "crash/crash_step.h"

#include "base/must.h"
#include "base/stop.h"
#include "crash/crash_report.h"
#include "workload/path.h"

/* Crashes of one state: there are many states that differ little. Each has another tree,
 * and whether that file system is sound as a whole takes longer than the rest. */
enum { STEP_STATES_MAX = 2, STEP_SUBSETS = 1, STEP_SANITY_EVERY = 8 };

int crash_step_open(struct crash_step *s, const char *target, const struct target_options *o,
		    struct run *run, uint64_t seed, struct err *err)
{
	struct target_options recording = *o;
	struct crash_options crash;
	int status;

	*s = (struct crash_step){ .seed = seed };
	recording.record = true;
	status = target_open(&s->target, target, &recording, err);
	if (status)
		return status;
	crash_options_init(&crash, s->target);
	crash.views.seed = seed;
	crash.views.subsets = STEP_SUBSETS;
	crash.effort.states_max = STEP_STATES_MAX;
	status = crash_open(&s->session, s->target, &crash, SANITY_NEW, err);
	if (status)
		target_close(s->target);
	else
		s->run = run;
	return status;
}

static void step_set_figures(const struct crash_step *s)
{
	const struct crash_session *x = &s->session;
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "workloads", x->figures.workloads },
		{ "not_judged", x->figures.not_judged },
		{ "crash_states", x->figures.crash_states },
		{ "unique_images", x->figures.unique_images },
		{ "recoveries", x->recovery.recoveries },
		{ "memo_hits", x->recovery.memo_hits },
	};
	json_t *figures = json_object();

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(figures, counts[i].name,
				    json_integer((json_int_t)counts[i].count));
	json_object_set_new(s->run->figures, "crash", figures);
	if (x->not_judged_for.len)
		json_object_set_new(s->run->figures, "not_judged_for",
				    json_string(x->not_judged_for.data));
}

void crash_step_close(struct crash_step *s)
{
	step_set_figures(s);
	crash_close(&s->session);
	target_close(s->target);
}

struct step_visit {
	struct crash_step *s;
	int status;
	struct err *err;
};

static bool step_found(void *to, struct crash_case *c, const struct crash_violation *v)
{
	struct step_visit *x = to;

	x->status = crash_report(&x->s->session, x->s->run, c, v, x->err);
	return x->status >= 0 && !stop_requested;
}

int crash_step_take(void *step, const struct call *calls, size_t count, struct err *err)
{
	struct crash_step *s = step;
	struct step_visit x = { .s = s, .err = err };
	struct arena arena = ARENA_INIT;
	struct crash_case c;
	struct workload w;
	int judged;

	s->session.recovery.sanity = s->paths % STEP_SANITY_EVERY ? SANITY_NONE : SANITY_NEW;
	path_workload(&s->session.model, &s->session.start, calls, count, s->seed + s->paths++,
		      &arena, &w);
	judged = crash_execute(&s->session, w.calls, w.count, w.setup_count, &c, err);
	if (judged > 0)
		judged = crash_each(&s->session, &c, step_found, &x, err);
	crash_case_free(&c);
	arena_free(&arena);
	return judged < 0 ? judged : x.status;
}
