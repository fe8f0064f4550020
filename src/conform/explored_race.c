/* explored_race.c -- races that a search draws: which calls may be in one, and one as a family. */
#include "conform/explored_race.h"

#include <sys/stat.h>

#include "base/must.h"
#include "trace/script.h"

const char explored_race_name[] = "explored/race";

/* Reads of more than a byte, copies, and what reports sizes or holes may see other calls half done;
 * the families have what can be said of those. */
bool explored_race_allows(const struct call *c)
{
	switch (c->op) {
	case OP_open:
	case OP_open_close:
	case OP_creat:
	case OP_close:
	case OP_write:
	case OP_pwrite:
	case OP_truncate:
	case OP_ftruncate:
	case OP_fallocate:
	case OP_mkdir:
	case OP_rmdir:
	case OP_link:
	case OP_unlink:
	case OP_rename:
	case OP_renameat2:
	case OP_chmod:
	case OP_fchmod:
	case OP_setxattr:
	case OP_fsetxattr:
	case OP_removexattr:
	case OP_fsync:
	case OP_fdatasync:
	case OP_sync:
		return true;
	default:
		return false;
	}
}

static bool race_path_is_directory(const struct model *m, const struct state *s,
				   const struct arg *path, unsigned pid)
{
	struct call look = { .op = OP_lstat, .pid = (uint16_t)pid };
	struct state copy = state_copy(s);
	struct outcome outcome;

	look.lstat.path = *path;
	model_run(m, &copy, &look, &outcome);
	state_free(&copy);
	return !outcome.error && S_ISDIR(outcome.stat.mode);
}

static bool race_moves_directory(const struct model *m, const struct state *s, const struct call *c)
{
	if (c->op == OP_rename)
		return race_path_is_directory(m, s, &c->rename.from, c->pid);
	return c->op == OP_renameat2 && (race_path_is_directory(m, s, &c->renameat2.from, c->pid) ||
					 race_path_is_directory(m, s, &c->renameat2.to, c->pid));
}

static bool race_has_two_paths(const struct call *c)
{
	return c->op == OP_rename || c->op == OP_renameat2 || c->op == OP_link;
}

static bool race_changes(const struct model *m, const struct state *s, const struct call *c)
{
	struct state copy = state_copy(s);
	struct outcome outcome;
	bool changes;

	model_run(m, &copy, c, &outcome);
	changes = !hash_equal(tree_hash(&copy.tree), tree_hash(&s->tree));
	state_free(&copy);
	return changes;
}

bool explored_race_is_worth(const struct model *m, const struct state *s, const struct call *calls,
			    size_t count)
{
	bool changes = false;

	for (size_t i = 0; i < count; i++) {
		changes |= race_changes(m, s, &calls[i]);
		for (size_t j = 0; j < count && race_has_two_paths(&calls[i]); j++)
			if (j != i && race_moves_directory(m, s, &calls[j]))
				return false;
	}
	return changes;
}

/* The tree that two calls leave, and which errors they return. */
static struct hash race_effect(const struct model *m, const struct state *s,
			       const struct call *first, const struct call *second, bool swapped)
{
	struct state copy = state_copy(s);
	struct outcome outcomes[2];
	struct hash effect;
	int errors[2];

	model_run(m, &copy, first, &outcomes[swapped]);
	model_run(m, &copy, second, &outcomes[!swapped]);
	errors[0] = outcomes[0].error;
	errors[1] = outcomes[1].error;
	effect = hash_add(tree_hash(&copy.tree), hash128(errors, sizeof(errors), 0));
	state_free(&copy);
	return effect;
}

bool explored_race_shows_order(const struct model *m, const struct state *s,
			       const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (!hash_equal(race_effect(m, s, &calls[j], &calls[i], false),
					race_effect(m, s, &calls[i], &calls[j], true)))
				return true;
	return false;
}

static void race_print_lines(const char *key, const struct call *calls, size_t count,
			     struct buf *out)
{
	buf_addf(out, "%s = ", key);
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, i ? "\t" : "");
		call_print(&calls[i], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

void explored_race_print(const struct call *calls, size_t count, size_t overlaps, struct buf *out)
{
	size_t setup = count - overlaps;

	buf_adds(out, "[explored]\n"
		      "summary = calls that overlap in a state that a search has reached\n"
		      "races = named\n");
	race_print_lines("setup", calls, setup, out);
	buf_adds(out, "script = {calls}\n\n[explored.calls]\n");
	race_print_lines("race", calls + setup, overlaps, out);
}
