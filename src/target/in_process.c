/* in_process.c -- targets whose calls the model answers, in this process. */
#include "target/in_process.h"

void in_process_init(struct target *t,
		     void (*run)(struct target *t, const struct call *c, struct outcome *ret))
{
	struct in_process *p = t->own;

	target_model(t, &p->model);
	p->times.shares = true;
	p->run = run;
}

void in_process_free(struct target *t)
{
	struct in_process *p = t->own;

	times_watch_free(&p->times);
	state_free(&p->state);
}

void in_process_begin(struct target *t)
{
	struct in_process *p = t->own;
	struct state_options options = {
		.fields = t->fields,
		.hashed = true,
		.root_mode = IN_PROCESS_ROOT_MODE,
	};

	state_init(&p->state, &options);
	times_forget(&p->times);
}

void in_process_restore(struct target *t, const struct state *saved)
{
	struct in_process *p = t->own;

	state_free(&p->state);
	p->state = state_copy(saved);
	times_forget(&p->times);
	times_record(&p->times, &p->state.tree);
}

/* Stat reports times also where trees are compared without them. */
static void in_process_fill_times(const struct in_process *p, struct stat_result *ret)
{
	const struct inode *inode = tree_inode(&p->state.tree, (uint64_t)ret->ino);

	ret->atime = inode->times.access;
	ret->mtime = inode->times.modify;
	ret->ctime = inode->times.change;
	ret->btime = inode->times.birth;
}

static void in_process_run(struct target *t, const struct call *c, struct outcome *ret)
{
	struct in_process *p = t->own;

	p->run(t, c, ret);
	if (!ret->error && ret->result == RESULT_STAT)
		in_process_fill_times(p, &ret->stat);
	times_call(&p->times);
}

int in_process_call(struct target *t, const struct call *c, struct outcome *ret,
		    enum target_fate *ret_fate, struct err *err)
{
	in_process_run(t, c, ret);
	*ret_fate = FATE_FINE;
	return 0;
}

static void in_process_observed(struct target *t)
{
	struct in_process *p = t->own;

	if (p->observed)
		p->observed(t);
}

int in_process_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
		       struct err *err)
{
	struct in_process *p = t->own;

	in_process_observed(t);
	times_record(&p->times, &p->state.tree);
	*ret = tree_copy(&p->state.tree);
	*ret_fate = FATE_FINE;
	return 0;
}

/* Every call has its own time here. */
static void in_process_check_times(struct in_process *p, const struct plan_step *step,
				   struct plan_report *report)
{
	if (!step->observe)
		return;
	times_let_pass(&p->times);
	report->times_differ =
		!times_check(&p->times, &p->state.tree, &step->times, &report->times);
}

int in_process_follow(struct target *t, const struct plan_step *steps, size_t count,
		      struct plan_report *ret, struct err *err)
{
	struct in_process *p = t->own;

	for (; ret->done < count; ret->done++) {
		const struct plan_step *step = &steps[ret->done];

		in_process_run(t, &step->call, &ret->outcome);
		ret->outcome_differs =
			step->exact && !outcome_equal(&step->expected, &ret->outcome);
		ret->tree_differs =
			step->observe && !hash_equal(step->tree, tree_hash(&p->state.tree));
		if (step->observe)
			in_process_observed(t);
		if (!ret->outcome_differs && !ret->tree_differs)
			in_process_check_times(p, step, ret);
		if (ret->outcome_differs || ret->tree_differs || ret->times_differ ||
		    step->reported || (!step->exact && !step->unjudged))
			break;
	}
	return 0;
}
