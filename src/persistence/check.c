/* check.c -- is a recovered tree one that a crash may leave?
 *
 * The recovered tree is walked from its root beside the objects of the history that its names can
 * mean. An object of the history is known by its number in the model's trees, which stays the same
 * through all of them; a name can have meant several. Numbers of the recovered tree mean nothing.
 *
 * Each of these has a floor: the last step that promised it. Every value from that step on may be
 * there. At the level `ordered`, names and attributes must in addition be those of one step. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "persistence/check.h"
#include "tree/list.h"

/* Steps behind the floor of everything that a set of them can hold, and calls whose atomicity is
 * tried in all combinations. What is beyond is not judged. */
enum { STEPS_MAX = 64, ATOMIC_MAX = 10 };

void check_report(struct check *x, const char *what, size_t step, const char *seen,
		  const char *reason)
{
	if (x->found)
		return;
	x->found = true;
	x->broken->what = what;
	x->broken->call = x->w.p->steps[step].calls;
	buf_addf(&x->broken->seen, "%s %s", x->path.len ? x->path.data : "/", seen);
	buf_adds(&x->broken->reason, reason);
}

static void forget_report(struct check *x)
{
	x->found = false;
	buf_clear(&x->broken->seen);
	buf_clear(&x->broken->reason);
	x->broken->exposed = false;
}

/* ---- one object ---- */

static bool xattr_equal(const struct inode *a, const struct inode *b, const char *name)
{
	const struct xattr *in_a = a ? tree_xattr(a, name) : NULL;
	const struct xattr *in_b = b ? tree_xattr(b, name) : NULL;

	if (!in_a || !in_b)
		return in_a == in_b;
	return in_a->value_len == in_b->value_len &&
	       !memcmp(in_a->bytes + in_a->name_len + 1, in_b->bytes + in_b->name_len + 1,
		       in_a->value_len);
}

/* Of those that one of the two has. */
static bool xattrs_equal(const struct inode *a, const struct inode *b)
{
	const struct xattr *xattr;

	for (uint64_t cookie = 0; (xattr = tree_next_xattr(a, &cookie));)
		if (!xattr_equal(a, b, xattr->bytes))
			return false;
	return a->xattrs.count == b->xattrs.count;
}

static bool mode_equal(unsigned fields, const struct inode *a, const struct inode *b)
{
	return !(fields & TREE_MODE) || a->mode == b->mode ||
	       (S_ISLNK(a->mode) && !(fields & TREE_SYMLINK_MODE));
}

static bool owner_equal(unsigned fields, const struct inode *a, const struct inode *b)
{
	return !(fields & TREE_OWNER) || (a->uid == b->uid && a->gid == b->gid);
}

/* What never changes as long as an object lives. */
static bool kind_equal(unsigned fields, const struct inode *a, const struct inode *b)
{
	if ((a->mode & S_IFMT) != (b->mode & S_IFMT))
		return false;
	if (S_ISLNK(a->mode))
		return a->size == b->size && a->target && b->target &&
		       !memcmp(a->target->bytes, b->target->bytes, a->size);
	if (S_ISCHR(a->mode) || S_ISBLK(a->mode))
		return !(fields & TREE_RDEV) || a->rdev == b->rdev;
	return true;
}

enum attribute { ATTRIBUTE_MODE, ATTRIBUTE_OWNER, ATTRIBUTE_XATTR };

/* Has the object this attribute at one of the steps from the floor on? */
static bool attribute_was(const struct check *x, uint64_t ino, const struct inode *seen,
			  enum attribute attribute, const char *xattr)
{
	unsigned fields = x->seen->fields;

	for (size_t i = window_attribute_floor(&x->w, ino); i <= x->w.begun; i++) {
		const struct inode *inode = window_inode(&x->w, i, ino);

		if (inode && (attribute == ATTRIBUTE_MODE    ? mode_equal(fields, inode, seen)
			      : attribute == ATTRIBUTE_OWNER ? owner_equal(fields, inode, seen)
							     : xattr_equal(inode, seen, xattr)))
			return true;
	}
	return false;
}

static bool xattrs_allowed(struct check *x, uint64_t ino, const struct inode *seen)
{
	const struct xattr *xattr;
	size_t floor = window_attribute_floor(&x->w, ino);

	for (uint64_t cookie = 0; (xattr = tree_next_xattr(seen, &cookie));)
		if (!attribute_was(x, ino, seen, ATTRIBUTE_XATTR, xattr->bytes)) {
			check_report(
				x, "attribute wrong", floor,
				"has an extended attribute, or a value of one, that it should not "
				"have",
				"fsync makes extended attributes durable");
			return false;
		}
	for (size_t i = floor; i <= x->w.begun; i++) {
		const struct inode *inode = window_inode(&x->w, i, ino);

		for (uint64_t cookie = 0; inode && (xattr = tree_next_xattr(inode, &cookie));)
			if (!attribute_was(x, ino, seen, ATTRIBUTE_XATTR, xattr->bytes)) {
				check_report(x, "attribute missing", floor,
					     "has lost an extended attribute",
					     "fsync makes extended attributes durable");
				return false;
			}
	}
	return true;
}

static bool attributes_allowed(struct check *x, uint64_t ino, const struct inode *seen)
{
	if (!attribute_was(x, ino, seen, ATTRIBUTE_MODE, NULL)) {
		check_report(x, "mode wrong", window_attribute_floor(&x->w, ino),
			     "has a wrong mode", "fsync makes the mode of a file durable");
		return false;
	}
	if (!attribute_was(x, ino, seen, ATTRIBUTE_OWNER, NULL)) {
		check_report(x, "owner wrong", window_attribute_floor(&x->w, ino),
			     "has a wrong owner or group",
			     "fsync makes the owner of a file durable");
		return false;
	}
	return !(x->seen->fields & TREE_XATTR) || xattrs_allowed(x, ino, seen);
}

/* ---- names ---- */

static bool directory_allowed(struct check *x, uint64_t dir, const struct inode *seen);

/* Whether the object was made or removed since it was promised. Where nothing is in order, its
 * inode may not have been written yet, or again as that of another object. */
static bool inode_is_stale(const struct check *x, uint64_t ino)
{
	size_t i = window_attribute_floor(&x->w, ino);

	while (i <= x->w.begun && window_inode(&x->w, i, ino))
		i++;
	return i <= x->w.begun;
}

/* A file whose inode may lead to blocks that were not written yet: a checker may have removed it.
 */
static bool file_may_be_damaged(const struct check *x, uint64_t ino)
{
	const struct inode *inode = window_inode(&x->w, check_first_step(x, ino, x->w.base), ino);

	return x->w.p->rules.stale_blocks && inode && S_ISREG(inode->mode) &&
	       window_has_unsynced_data(&x->w, ino);
}

static void report_unreadable(struct check *x, const struct inode *seen)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "cannot be read: %s fails with ", seen->error.call);
	add_errno(&text, seen->error.code);
	check_report(x, "cannot be read", x->w.base, text.data,
		     "what is there after recovery can be read");
	buf_free(&text);
}

static bool object_allowed(struct check *x, uint64_t ino, const struct inode *seen)
{
	size_t step = check_first_step(x, ino, x->w.base);

	if ((x->w.p->rules.stale_inodes && inode_is_stale(x, ino)) || file_may_be_damaged(x, ino))
		return true;
	if (!(seen->mode & S_IFMT)) {
		report_unreadable(x, seen);
		return false;
	}
	if (step > x->w.begun ||
	    !kind_equal(x->seen->fields, window_inode(&x->w, step, ino), seen)) {
		check_report(x, "another object", x->w.base, "is another object than it should be",
			     "a name means what it meant before or after the calls since");
		return false;
	}
	return attributes_allowed(x, ino, seen) &&
	       (!S_ISREG(seen->mode) || check_data(x, ino, seen)) &&
	       (!S_ISDIR(seen->mode) || directory_allowed(x, ino, seen));
}

static void names_add(struct check *x, uint64_t dir, const char *name, size_t len, uint64_t steps)
{
	if (x->name_count == x->name_cap) {
		x->name_cap = x->name_cap ? 2 * x->name_cap : 16;
		x->names = must_realloc(x->names, x->name_cap * sizeof(*x->names));
	}
	x->names[x->name_count++] = (struct name_steps){ dir, name, len, steps };
}

static uint64_t step_bit(const struct check *x, size_t step)
{
	size_t bit = step - x->w.base;

	return UINT64_C(1) << (bit < STEPS_MAX ? bit : STEPS_MAX - 1);
}

static void report_name(struct check *x, bool there, size_t floor, bool ever)
{
	if (!there)
		check_report(
			x, "name missing", floor, "is missing",
			floor == x->w.base
				? "a name that is durable stays until a call removes it"
				: "fsync of a file or of its directory makes the name durable");
	else if (ever)
		check_report(
			x, "name is back", floor, "is there again, although it was removed",
			"the removal of a name is durable when its file or directory was synced");
	else
		check_report(x, "name from nowhere", floor, "is there, and no call has made it",
			     "recovery makes no names");
}

/* Whether the name was made, removed or changed since it was promised, and what it means was not
 * synced since. Where nothing is in order, what is there may be half of that, or what a checker
 * makes of it. */
static bool name_is_stale(const struct check *x, uint64_t dir, const char *name, size_t len,
			  size_t floor)
{
	uint64_t now = window_name(&x->w, x->w.begun, dir, name, len);
	size_t changed = x->w.begun;

	while (changed > floor && window_name(&x->w, changed - 1, dir, name, len) == now)
		changed--;
	return x->w.p->rules.stale_inodes && changed > floor &&
	       (!now || x->w.p->rules.damage ||
		window_data_floor(&x->w, now, 0, UINT64_MAX) < changed);
}

/* A name in the recovered directory (seen), or one that is not there (NULL). */
static bool name_allowed(struct check *x, uint64_t dir, const char *name, size_t len,
			 const struct inode *seen)
{
	size_t path_len = x->path.len, floor = window_name_floor(&x->w, dir, name, len);
	size_t first_mark = x->name_count, mark = first_mark;
	uint64_t steps = 0, tried = 0;
	uint64_t lost = 0;    /* steps at which it means what may be lost as a whole */
	unsigned objects = 0; /* that it may be */
	size_t left = 0;      /* the step that has promised that it is not what it seems to be */
	bool allowed, fits = false, counts = false, ever = false;

	if (seen && name_is_stale(x, dir, name, len, floor))
		return true;
	buf_addf(&x->path, "/%.*s", (int)len, name);
	for (size_t i = 0; i <= x->w.begun && seen; i++)
		ever |= window_name(&x->w, i, dir, name, len) != 0;
	for (size_t i = floor; i <= x->w.begun; i++) {
		uint64_t ino = window_name(&x->w, i, dir, name, len);
		size_t gone;

		if (!seen && ino &&
		    (!window_is_durable(&x->w, ino, x->w.done) || file_may_be_damaged(x, ino)))
			lost |= step_bit(x, i);
		if (!seen != !ino)
			continue;
		if (seen && ino != tried) {
			tried = ino;
			mark = x->name_count;
			forget_report(x); /* of what the name meant last is reported */
			fits = object_allowed(x, ino, seen);
			counts = false;
		}
		gone = seen && fits ? window_left_name(&x->w, i, dir, name, len) : 0;
		if (gone)
			left = gone;
		else if (!seen || fits)
			steps |= step_bit(x, i);
		objects += seen && fits && !gone && !counts;
		counts |= seen && fits && !gone;
		if (!counts)
			x->name_count = mark;
	}
	/* Names below one of these say nothing where it is another. */
	if (objects > 1)
		x->name_count = first_mark;
	allowed = steps || (lost && (x->w.p->rules.stale_inodes || x->w.p->rules.stale_blocks));
	if (allowed || left)
		forget_report(x); /* another object of that name fits */
	if (!allowed)
		report_name(x, seen, left ? left : floor, ever);
	x->path.len = path_len;
	if (x->path.data)
		x->path.data[path_len] = '\0';
	if (allowed)
		names_add(x, dir, name, len, steps | lost);
	return allowed;
}

static bool directory_allowed(struct check *x, uint64_t dir, const struct inode *seen)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(x->seen, seen->ino, &cookie)))
		if (!name_allowed(x, dir, entry->name, entry->len, tree_inode(x->seen, entry->ino)))
			return false;
	for (size_t i = x->w.base; i <= x->w.begun; i++) {
		const struct inode *inode = window_inode(&x->w, i, dir);

		if (!inode || (i > x->w.base && inode == window_inode(&x->w, i - 1, dir)))
			continue;
		for (cookie = 0; (entry = tree_next_entry(window_tree(&x->w, i), dir, &cookie));)
			if (!tree_find(x->seen, seen->ino, entry->name, entry->len) &&
			    !name_allowed(x, dir, entry->name, entry->len, NULL))
				return false;
	}
	return true;
}

/* ---- calls that change several names ---- */

static bool name_changes(const struct check *x, const struct name_steps *n, size_t step)
{
	return window_name(&x->w, step, n->dir, n->name, n->len) !=
	       window_name(&x->w, step - 1, n->dir, n->name, n->len);
}

static bool is_atomic_step(const struct check *x, size_t step)
{
	unsigned changes = 0;

	for (size_t i = 0; i < x->name_count; i++)
		changes += name_changes(x, &x->names[i], step);
	return changes > 1;
}

/* Does the call take an object from this name to another? */
static bool name_is_source(const struct check *x, const struct name_steps *n, size_t step)
{
	uint64_t ino = window_name(&x->w, step - 1, n->dir, n->name, n->len);

	for (size_t i = 0; i < x->name_count && ino; i++) {
		const struct name_steps *to = &x->names[i];

		if (to != n && window_name(&x->w, step, to->dir, to->name, to->len) == ino &&
		    name_changes(x, to, step))
			return true;
	}
	return false;
}

/* The steps that a name can be of where the call has not happened: those before it and, where it
 * gives the name to an object, also those after the name was changed again. */
static uint64_t steps_without(const struct check *x, const struct name_steps *n, size_t step)
{
	uint64_t before = step_bit(x, step) - 1, ino;
	size_t next = step + 1;

	if (name_is_source(x, n, step))
		return before;
	ino = window_name(&x->w, step, n->dir, n->name, n->len);
	while (next <= x->w.begun && window_name(&x->w, next, n->dir, n->name, n->len) == ino)
		next++;
	return next <= x->w.begun ? before | ~(step_bit(x, next) - 1) : before;
}

/* Where it has happened: those from it on and, where it takes an object from the name, also those
 * before the name meant that. */
static uint64_t steps_with(const struct check *x, const struct name_steps *n, size_t step)
{
	uint64_t after = ~(step_bit(x, step) - 1), ino;
	size_t first = step - 1;

	if (!name_is_source(x, n, step))
		return after;
	ino = window_name(&x->w, first, n->dir, n->name, n->len);
	while (first > x->w.base && window_name(&x->w, first - 1, n->dir, n->name, n->len) == ino)
		first--;
	return after | (step_bit(x, first) - 1);
}

/* Are there steps for all names such that each call from `step` on, which changes several of them,
 * has changed all or none? Names have those that calls before leave to them, and keep them. */
static bool steps_agree(const struct check *x, size_t step, unsigned tried)
{
	size_t end = x->w.base + STEPS_MAX - 1;
	bool agree = false;
	uint64_t *kept;

	while (step <= x->w.begun && step < end && !is_atomic_step(x, step))
		step++;
	if (step > x->w.begun || step >= end || tried == ATOMIC_MAX)
		return true;
	kept = must_alloc(x->name_count * sizeof(*kept));
	for (size_t i = 0; i < x->name_count; i++)
		kept[i] = x->names[i].steps;
	for (unsigned side = 0; side < 2 && !agree; side++) {
		agree = true;
		for (size_t i = 0; i < x->name_count; i++) {
			x->names[i].steps = kept[i];
			if (name_changes(x, &x->names[i], step))
				x->names[i].steps &= side ? steps_with(x, &x->names[i], step)
							  : steps_without(x, &x->names[i], step);
			agree &= x->names[i].steps != 0;
		}
		if (agree)
			agree = steps_agree(x, step + 1, tried + 1);
	}
	for (size_t i = 0; i < x->name_count; i++)
		x->names[i].steps = kept[i];
	free(kept);
	return agree;
}

/* The first call on which the names do not agree: without what follows it they do. */
static size_t disagreeing_step(struct check *x)
{
	size_t step = x->w.base + 1, end = x->w.begun;

	for (x->w.begun = step; x->w.begun < end && steps_agree(x, step, 0); x->w.begun++)
		;
	step = x->w.begun;
	x->w.begun = end;
	return step;
}

/* Has the call taken an object from a name, and given it none? */
static bool rename_lost_object(const struct check *x, size_t step)
{
	bool taken = false, given = false;

	for (size_t i = 0; i < x->name_count; i++) {
		const struct name_steps *n = &x->names[i];

		if (!name_changes(x, n, step))
			continue;
		if (name_is_source(x, n, step))
			taken |= !(n->steps & (step_bit(x, step) - 1));
		else
			given |= (n->steps & ~(step_bit(x, step) - 1)) != 0;
	}
	return taken && !given;
}

static bool names_agree(struct check *x)
{
	size_t step;

	if (!x->w.p->rules.rename_is_atomic || steps_agree(x, x->w.base + 1, 0))
		return true;
	step = disagreeing_step(x);
	buf_clear(&x->path);
	if (rename_lost_object(x, step))
		check_report(x, "lost by rename", step,
			     "has lost an object by a rename: neither name is there",
			     "a rename has happened as a whole or not at all");
	else
		check_report(x, "rename in part", step,
			     "has one name of a rename as before it and the other as after it",
			     "a rename has happened as a whole or not at all");
	return false;
}

/* ---- one moment ---- */

static bool directory_is(const struct check *x, size_t step, uint64_t dir,
			 const struct inode *seen);

/* Are all but data as at the step? With `strict`, data too. */
static bool object_is(const struct check *x, size_t step, uint64_t ino, const struct inode *seen)
{
	const struct inode *inode = window_inode(&x->w, step, ino);
	unsigned fields = x->seen->fields;

	if (!kind_equal(fields, inode, seen) || !mode_equal(fields, inode, seen) ||
	    !owner_equal(fields, inode, seen) ||
	    (fields & TREE_XATTR && !xattrs_equal(inode, seen)))
		return false;
	if (S_ISREG(seen->mode) && x->w.p->rules.level == PERSIST_STRICT && fields & TREE_DATA &&
	    (inode->size != seen->size || !hash_equal(inode->file.data, seen->file.data)))
		return false;
	return !S_ISDIR(seen->mode) || directory_is(x, step, ino, seen);
}

static bool directory_is(const struct check *x, size_t step, uint64_t dir, const struct inode *seen)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	if (window_inode(&x->w, step, dir)->dir.entries.count != seen->dir.entries.count)
		return false;
	while ((entry = tree_next_entry(x->seen, seen->ino, &cookie))) {
		uint64_t ino = window_name(&x->w, step, dir, entry->name, entry->len);

		if (!ino || !object_is(x, step, ino, tree_inode(x->seen, entry->ino)))
			return false;
	}
	return true;
}

static bool tree_is(const struct check *x, size_t step)
{
	return object_is(x, step, TREE_ROOT, tree_inode(x->seen, TREE_ROOT));
}

/* The tree is that of a step before the floor, or of none. */
static void report_order(struct check *x, size_t floor, size_t promise)
{
	struct buf text = BUF_INIT;
	size_t older = floor;

	while (older > x->w.base && !tree_is(x, older))
		older--;
	buf_clear(&x->path);
	if (tree_is(x, older))
		buf_addf(&text, "is as after call %zu, although later changes were made durable:\n",
			 x->w.p->steps[older].calls);
	else
		buf_adds(&text, "has names or attributes of different moments; compared with the "
				"tree before the crash:\n");
	tree_diff(window_tree(&x->w, x->w.done), x->seen, 5, &text);
	check_report(
		x, tree_is(x, older) ? "too old" : "order", promise, text.data,
		"names and attributes become durable in the order of the calls, up to what was "
		"synced");
	buf_free(&text);
}

static bool order_allowed(struct check *x)
{
	size_t promise, floor = window_order_floor(&x->w, &promise);

	for (size_t i = floor; i <= x->w.begun; i++)
		if (tree_is(x, i))
			return true;
	report_order(x, floor, promise);
	return false;
}

bool persistence_allows(const struct persistence *p, size_t done, size_t begun,
			const struct tree *seen, struct broken_promise *ret)
{
	const struct persist_step *last = persistence_behind(p, done);
	const struct persist_step *next = persistence_behind(p, begun);
	struct check x = { .w = crash_window(p, (size_t)(last - p->steps),
					     (size_t)(next - p->steps)),
			   .seen = seen,
			   .broken = ret };
	bool allowed;

	*ret = (struct broken_promise){ 0 };
	allowed = object_allowed(&x, TREE_ROOT, tree_inode(seen, TREE_ROOT)) && names_agree(&x) &&
		  (p->rules.level == PERSIST_POSIX || order_allowed(&x));
	free(x.names);
	buf_free(&x.path);
	return allowed;
}
