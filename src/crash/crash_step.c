/* crash_step.c -- a crash as a step of a search. */
#include "crash/crash_step.h"

#include "base/must.h"
#include "base/stop.h"
#include "crash/crash_report.h"
#include "workload/path.h"

/* Crashes of one state: there are many states that differ little. */
enum { STEP_STATES_MAX = 48, STEP_SUBSETS = 4 };

int crash_step_open(struct crash_step *s, struct target *t, struct run *run, uint64_t seed,
		    struct err *err)
{
	struct crash_options o;

	crash_options_init(&o, t);
	o.views.seed = seed;
	o.views.subsets = STEP_SUBSETS;
	o.states_max = STEP_STATES_MAX;
	*s = (struct crash_step){ .run = run, .seed = seed };
	return crash_open(&s->session, t, &o, SANITY_NEW, err);
}

void crash_step_close(struct crash_step *s)
{
	crash_close(&s->session);
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

int crash_step_take(struct crash_step *s, const struct call *calls, size_t count, struct err *err)
{
	struct step_visit x = { .s = s, .err = err };
	struct arena arena = ARENA_INIT;
	struct crash_case c;
	struct workload w;
	int judged;

	path_workload(&s->session.model, &s->session.start, calls, count, s->seed + s->paths++,
		      &arena, &w);
	judged = crash_execute(&s->session, w.calls, w.count, w.setup_count, &c, err);
	if (judged > 0)
		judged = crash_each(&s->session, &c, step_found, &x, err);
	crash_case_free(&c);
	arena_free(&arena);
	return judged < 0 ? judged : x.status;
}
