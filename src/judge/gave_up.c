/* gave_up.c -- is what differs a consequence of giving up? The file system is asked: one that still
 * makes a directory has not given up, and has to be as the model says. */
#include "judge/gave_up.h"

#include <errno.h>

#include "base/err.h"
#include "model/giving_up.h"

static const char probe_name[] = ".assay-gave-up";

/* One that is dead says nothing. */
static bool refuses_changes(struct target *t)
{
	struct call probe = { .op = OP_mkdir, .pid = 1 };
	struct outcome outcome;
	enum target_fate fate;
	struct err why = { 0 };

	probe.mkdir.path = (struct arg){ .text = probe_name, .len = sizeof(probe_name) - 1 };
	probe.mkdir.mode.num = 0755;
	return !target_call(t, &probe, &outcome, &fate, &why) && fate == FATE_FINE &&
	       (outcome.error == EROFS || outcome.error == EIO || outcome.error == EUCLEAN);
}

/* Would the model, too, refuse the call with this error, on the tree that was found after a mount?
 * Descriptors that were opened since are not part of that tree. */
static bool tree_explains_error(const struct model *m, const struct state *s, const struct call *c,
				int error, const struct tree *seen)
{
	struct state found = state_copy(s);
	struct envelope env;
	bool explained;

	state_reset_process(&found, c->pid);
	tree_free(&found.tree);
	found.tree = tree_copy(seen);
	tree_adopt(&found.tree);
	tree_hold(&found.tree, TREE_ROOT);
	tree_settle(&found.tree);
	model_allow(m, &found, c, &env);
	explained = env.undefined || errset_has(&env.errors, error);
	state_free(&found);
	return explained;
}

int judge_gave_up(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, int error, struct err *err)
{
	bool remounted = s->health == HEALTH_RECOVERED;
	enum target_fate fate;
	struct tree seen;
	int status;

	if (!giving_up_possible(m, s) || !(remounted || refuses_changes(t)))
		return 0;
	status = target_observe(t, &seen, &fate, err);
	if (status < 0)
		return status;
	/* One that was shut down does not even show its root. */
	if (fate != FATE_FINE)
		return fate == FATE_DIED && !remounted;
	status = giving_up_explains(s, &seen);
	if (status && remounted && error && !s->files.count && !s->streams)
		status = tree_explains_error(m, s, c, error, &seen);
	tree_free(&seen);
	return status;
}
