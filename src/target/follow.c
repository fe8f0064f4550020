/* follow.c -- calls and plans on a target: what serves it makes the calls, all but those that
 * examine it from outside. */
#include "base/err.h"
#include "channel/client.h"
#include "target/examine.h"
#include "target/recent_calls.h"

int target_call(struct target *t, const struct call *c, struct outcome *ret,
		enum target_fate *ret_fate, struct err *err)
{
	struct plan_step step = { .call = *c };

	if (op_examines(c->op))
		return examine_call(t, c, ret, ret_fate, err);
	recent_calls_add(t->recent, &step, 1);
	return t->kind->call ? t->kind->call(t, c, ret, ret_fate, err)
			     : channel_call(t->client, c, ret, ret_fate, err);
}

bool target_scans_parts(const struct target *t)
{
	return t->client && t->client->scans_parts;
}

/* Steps that are calls of the file system: ret->done of them are made. */
static int target_follow_calls(struct target *t, const struct plan_step *steps, size_t count,
			       struct plan_report *ret, struct err *err)
{
	int r = t->kind->follow ? t->kind->follow(t, steps, count, ret, err)
				: channel_follow(t->client, steps, count, ret, err);

	recent_calls_add(t->recent, steps, ret->done < count ? ret->done + 1 : count);
	return r;
}

/* A step that examines the file system: ret->done is 1 if it went as expected. */
static int target_follow_examining(struct target *t, const struct plan_step *step,
				   struct plan_report *ret, struct err *err)
{
	struct tree tree;
	int r = examine_call(t, &step->call, &ret->outcome, &ret->fate, err);

	if (r || ret->fate != FATE_FINE)
		return r;
	ret->outcome_differs = step->exact && !outcome_equal(&step->expected, &ret->outcome);
	if (step->observe && !ret->outcome_differs) {
		r = target_observe(t, &tree, &ret->fate, err);
		if (r || ret->fate != FATE_FINE)
			return r;
		ret->tree_differs = !hash_equal(tree_hash(&tree), step->tree);
		tree_free(&tree);
	}
	ret->done = step->exact && !ret->outcome_differs && !ret->tree_differs;
	return 0;
}

int target_follow(struct target *t, const struct plan_step *steps, size_t count,
		  struct plan_report *ret, struct err *err)
{
	size_t done = 0, part = 0;
	int r = 0;

	*ret = (struct plan_report){ 0 };
	while (!r && done < count && ret->done == part) {
		*ret = (struct plan_report){ 0 };
		for (part = 0; done + part < count && !op_examines(steps[done + part].call.op);)
			part++;
		if (part) {
			r = target_follow_calls(t, steps + done, part, ret, err);
		} else {
			part = 1;
			r = target_follow_examining(t, steps + done, ret, err);
		}
		done += ret->done;
	}
	ret->done = done;
	return r;
}
