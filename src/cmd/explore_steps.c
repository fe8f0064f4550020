/* explore_steps.c -- what else is done in the states that a search reaches: crashes, or races. */
#include "cmd/explore_steps.h"

#include "cli/overlap_name.h"

static const double steps_share = 0.5;

int explore_steps_crash(struct explore_steps *s, const struct target *t,
			const struct target_options *options, struct run *run,
			struct explore_options *o, struct err *err)
{
	o->paths = (struct path_visitor){ crash_step_take, &s->crashes, steps_share };
	return crash_step_open(&s->crashes, t->name, options, run, o->seed, err);
}

int explore_steps_race(struct explore_steps *s, const struct target *t,
		       const struct target_options *options, const struct universe *u,
		       struct run *run, struct explore_options *o, struct err *err)
{
	o->paths = (struct path_visitor){ race_step_take, &s->races, steps_share };
	overlap_name(t->name, &s->races_target);
	return race_step_open(&s->races, buf_str(&s->races_target), options, u, run, o->seed, err);
}

void explore_steps_close(struct explore_steps *s)
{
	if (s->crashes.run)
		crash_step_close(&s->crashes);
	if (s->races.run)
		race_step_close(&s->races);
	buf_free(&s->races_target);
}
