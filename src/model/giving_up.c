/* giving_up.c -- a file system that gives up after a failure: what it may answer, what it may lose.
 */
#include "model/giving_up.h"

#include "model/internal.h"
#include "tree/inode.h"

/* Does it change something, so that it is refused with EROFS? */
static bool is_change(enum op op)
{
	return op_table[op].traits &
	       (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR | TRAIT_ALLOC | TRAIT_OPENS);
}

/* Data can still go to pages in memory through descriptors that were open before. */
static bool is_certain_change(enum op op)
{
	return op_table[op].traits & (TRAIT_NAMES | TRAIT_ATTR);
}

/* Failures are met by calls of processes; other operations only end the waiting for one. */
static bool meets_failures(enum op op)
{
	return !(op_table[op].traits & (TRAIT_ENV | TRAIT_PROC));
}

static bool is_injection(enum op op)
{
	return op == OP_fail_alloc || op == OP_fail_read || op == OP_fail_write;
}

static bool disk_fails(const struct state *s)
{
	return s->failing[FAIL_READ][0] || s->failing[FAIL_WRITE][0];
}

/* Is something to fail in the next call for which a file system may give up? */
static bool is_grave(const struct model *m, const struct state *s)
{
	return disk_fails(s) || (s->failing[FAIL_ALLOC][0] && m->traits.memory_gives_up);
}

bool giving_up_possible(const struct model *m, const struct state *s)
{
	return s->health != HEALTH_SOUND || is_grave(m, s);
}

void giving_up_watch(struct state *s)
{
	s->watches_sync = true;
	s->synced = tree_copy(&s->tree);
}

void giving_up_before(struct step *x)
{
	if (x->state->health == HEALTH_GIVEN_UP && is_certain_change(x->call->op))
		x->follow = false;
}

static void allow_failed_mount(struct step *x)
{
	may_end_with(x, RULE_gave_up);
	may_end_with(x, RULE_gave_up_read_only);
	may_end_with(x, RULE_gave_up_damaged);
	may_end_with(x, RULE_gave_up_mount);
}

void giving_up_allow(struct step *x)
{
	enum health health = x->state->health;
	enum op op = x->call->op;

	if (op == OP_remount && health != HEALTH_SOUND)
		allow_failed_mount(x);
	if (!meets_failures(op) || (health != HEALTH_DOUBTFUL && health != HEALTH_GIVEN_UP &&
				    !is_grave(x->model, x->state)))
		return;
	if (!disk_fails(x->state)) /* else it is the call's own */
		may_end_with(x, RULE_gave_up);
	may_end_with(x, RULE_gave_up_damaged);
	if (!is_change(op) || !may_end_with(x, RULE_gave_up_read_only))
		return;
	if (health == HEALTH_GIVEN_UP && is_certain_change(op) && x->env->success) {
		x->env->success = false;
		x->env->first = rule_table[RULE_gave_up_read_only].error;
	}
}

/* Nothing is known any more of an object that a call has failed to change: it may be half done. */
static void distrust_attempted(struct state *s, const struct tree *attempted)
{
	const struct inode *inode;
	uint64_t ino;

	for (bool first = true; (inode = (void *)pmap_next(&s->tree.inodes, first, &ino));
	     first = false)
		if (tree_inode(attempted, ino) != inode && tree_inode(&s->synced, ino) == inode)
			tree_edit(&s->synced, ino);
	tree_settle(&s->synced);
}

/* The call has failed, and may have been half done: by what it would have changed. */
static void doubt_objects_of(const struct model *m, struct state *s, const struct call *c)
{
	struct state attempted = state_copy(s);
	struct envelope env;

	memset(attempted.failing, 0, sizeof(attempted.failing));
	attempted.health = HEALTH_SOUND;
	model_move(m, &attempted, c, &env);
	distrust_attempted(s, &attempted.tree);
	state_free(&attempted);
}

static void note_synced(struct state *s)
{
	s->health = HEALTH_SOUND;
	s->writes_failed = false;
	if (!s->watches_sync)
		return;
	tree_free(&s->synced);
	s->synced = tree_copy(&s->tree);
}

static void note_remount(struct state *s)
{
	if (s->health == HEALTH_SOUND || s->health == HEALTH_RECOVERED)
		note_synced(s);
	else
		s->health = HEALTH_RECOVERED;
}

/* These calls do not report write errors. */
static bool is_sync(enum op op)
{
	return op == OP_sync || op == OP_syncfs;
}

void giving_up_after(const struct model *m, struct state *s, const struct call *c, int error)
{
	bool grave = is_grave(m, s);

	if (is_injection(c->op))
		return;
	if (c->op == OP_remount && !error)
		note_remount(s);
	if (meets_failures(c->op)) {
		if (grave && s->health != HEALTH_GIVEN_UP)
			s->health = HEALTH_DOUBTFUL;
		s->writes_failed |= s->failing[FAIL_WRITE][0];
		if (s->health == HEALTH_DOUBTFUL && error && s->watches_sync)
			doubt_objects_of(m, s, c);
		if (s->health == HEALTH_DOUBTFUL && error == EROFS && !s->read_only)
			s->health = HEALTH_GIVEN_UP;
		if (is_sync(c->op) && !error && s->health != HEALTH_DOUBTFUL &&
		    s->health != HEALTH_GIVEN_UP)
			note_synced(s);
	}
	memset(s->failing, 0, sizeof(s->failing));
}

/* What an object is, apart from its names and links. */
static struct hash object_hash(const struct inode *inode, unsigned fields)
{
	const struct hash nowhere = { 0, 0 };

	return inode_term(inode, fields & ~(unsigned)(TREE_NLINK | TREE_NLINK_DIR | TREE_TIMES),
			  nowhere);
}

/* All below a directory of the last sync that was not touched since is there. */
static bool is_kept_below(const struct state *s, uint64_t dir, const struct tree *seen,
			  uint64_t seen_dir)
{
	const struct entry *entry, *there;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(&s->synced, dir, &cookie))) {
		const struct inode *old = tree_inode(&s->synced, entry->ino), *now = NULL;
		bool untouched = old == tree_inode(&s->tree, entry->ino);

		there = seen_dir ? tree_find(seen, seen_dir, entry->name, entry->len) : NULL;
		if (there)
			now = tree_inode(seen, there->ino);
		if (untouched && (!now || !hash_equal(object_hash(old, s->synced.fields),
						      object_hash(now, s->synced.fields))))
			return false;
		if (S_ISDIR(old->mode) &&
		    !is_kept_below(s, old->ino, seen, now && S_ISDIR(now->mode) ? now->ino : 0))
			return false;
	}
	return true;
}

static bool has_unreadable(const struct tree *seen)
{
	const struct inode *inode;
	uint64_t ino;

	for (bool first = true; (inode = (void *)pmap_next(&seen->inodes, first, &ino));
	     first = false)
		if (!(inode->mode & S_IFMT))
			return true;
	return false;
}

/* A file system that has given up may fail any call; after a new mount it may not. */
bool giving_up_explains(const struct state *s, const struct tree *seen)
{
	if (!s->watches_sync)
		return true;
	if (has_unreadable(seen))
		return s->health != HEALTH_RECOVERED;
	return is_kept_below(s, TREE_ROOT, seen, TREE_ROOT);
}
