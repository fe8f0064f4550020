/* gave_up.c -- is what differs a consequence of giving up? The file system is asked: one that still
 * makes a directory has not given up, and has to be as the model says. */
#include "judge/gave_up.h"

#include <errno.h>
#include <string.h>

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

/* Does the file show what the disk has: what was synced, or zeros where nothing was? */
static bool shows_disk(const struct state *s, uint64_t ino, const struct tree *seen,
		       uint64_t seen_ino)
{
	uint8_t shown[TREE_BLOCK], wanted[TREE_BLOCK], synced[TREE_BLOCK];
	bool is_synced = tree_inode(&s->synced, ino);
	uint64_t at = 0;
	size_t len;

	while (at = tree_seek(seen, seen_ino, at, true),
	       (len = tree_read(seen, seen_ino, at, shown, sizeof(shown)))) {
		memset(wanted, 0, len);
		memset(synced, 0, len);
		tree_read(&s->tree, ino, at, wanted, len);
		if (is_synced)
			tree_read(&s->synced, ino, at, synced, len);
		for (size_t i = 0; i < len; i++)
			if (shown[i] && shown[i] != wanted[i] && shown[i] != synced[i])
				return false;
		at += len;
	}
	return true;
}

/* Pages whose writeback has failed are clean, only fsync(2) reports it, and the data are gone once
 * the pages are: "Handling errors during writeback" in Documentation/filesystems/vfs.rst of Linux.
 */
static bool lost_only_data(const struct state *s, const struct call *c, const struct discrepancy *d,
			   const struct tree *seen)
{
	if (c->op != OP_drop_caches || d->code != PROBLEM_TREE || !d->fact_count ||
	    d->fact_count == FACTS_MAX || !s->watches_sync || !s->writes_failed)
		return false;
	for (size_t i = 0; i < d->fact_count; i++) {
		uint64_t ino = fact_inode(&s->tree, d->facts[i].path);
		uint64_t seen_ino = fact_inode(seen, d->facts[i].path);

		if (d->facts[i].kind != FACT_DATA || !ino || !seen_ino ||
		    tree_inode(&s->tree, ino) == tree_inode(&s->synced, ino) ||
		    !shows_disk(s, ino, seen, seen_ino))
			return false;
	}
	return true;
}

int judge_gave_up(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, const struct discrepancy *d, struct err *err)
{
	bool remounted = s->health == HEALTH_RECOVERED, refuses;
	int error = d->code == PROBLEM_OUTCOME ? d->answer.error : 0, status;
	enum target_fate fate;
	struct tree seen;

	if (!giving_up_possible(m, s))
		return 0;
	refuses = !remounted && refuses_changes(t);
	if (!remounted && !refuses && c->op != OP_drop_caches)
		return 0;
	status = target_observe(t, &seen, &fate, err);
	if (status < 0)
		return status;
	/* One that was shut down does not even show its root. */
	if (fate != FATE_FINE)
		return fate == FATE_DIED && refuses;
	status = remounted || refuses ? giving_up_explains(s, &seen)
				      : lost_only_data(s, c, d, &seen);
	if (status && remounted && error && !s->files.count && !s->streams)
		status = tree_explains_error(m, s, c, error, &seen);
	tree_free(&seen);
	return status;
}
