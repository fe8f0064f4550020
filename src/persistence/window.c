/* window.c -- what was promised of each name, attribute and byte when the power failed.
 */
#include "persistence/window.h"

#include "base/must.h"

struct crash_window crash_window(const struct persistence *p, size_t done, size_t begun)
{
	struct crash_window w = { .p = p, .base = done, .done = done, .begun = begun };

	must(done < p->count && begun < p->count && begun >= done);
	while (w.base && p->steps[w.base].promise.kind != PROMISE_ALL)
		w.base--;
	return w;
}

const struct tree *window_tree(const struct crash_window *w, size_t step)
{
	return &w->p->steps[step].tree;
}

const struct inode *window_inode(const struct crash_window *w, size_t step, uint64_t ino)
{
	return ino ? tree_inode(window_tree(w, step), ino) : NULL;
}

uint64_t window_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
		     size_t len)
{
	const struct inode *inode = window_inode(w, step, dir);
	const struct entry *entry = NULL;

	if (inode && S_ISDIR(inode->mode))
		entry = tree_find(window_tree(w, step), dir, name, len);
	return entry ? entry->ino : 0;
}

/* Is the directory, or one below it, one that has a name of the object? */
static bool leads_to(const struct crash_window *w, size_t step, uint64_t dir, uint64_t ino)
{
	const struct tree *t = window_tree(w, step);
	const struct inode *object = tree_inode(t, ino);
	uint64_t key, cookie;

	if (object && S_ISDIR(object->mode))
		return tree_is_ancestor(t, dir, ino);
	for (bool first = true; pmap_next(&t->inodes, first, &key); first = false) {
		const struct inode *holder = tree_inode(t, key);
		const struct entry *entry;

		if (!S_ISDIR(holder->mode) || !tree_is_ancestor(t, dir, key))
			continue;
		for (cookie = 0; (entry = tree_next_entry(t, key, &cookie));)
			if (entry->ino == ino)
				return true;
	}
	return false;
}

bool window_is_durable(const struct crash_window *w, uint64_t ino, size_t last)
{
	if (window_inode(w, w->base, ino))
		return true;
	for (size_t i = w->base + 1; i <= last; i++)
		if (w->p->steps[i].promise.ino == ino &&
		    w->p->steps[i].promise.kind >= PROMISE_INODE)
			return true;
	return false;
}

/* Has the directory had this name ever since it was there? */
static bool always_had_name(const struct crash_window *w, size_t step, uint64_t dir,
			    const char *name, size_t len, uint64_t ino)
{
	for (size_t i = w->base; i <= step; i++)
		if (window_inode(w, i, ino) && window_name(w, i, dir, name, len) != ino)
			return false;
	return true;
}

/* Whether a call has changed the object or, of that, its data; to open it is no change. */
static bool object_changes(const struct crash_window *w, size_t step, uint64_t ino, bool data)
{
	const struct inode *now = window_inode(w, step, ino),
			   *before = window_inode(w, step - 1, ino);

	return !now != !before || (now && (now->times.modify != before->times.modify ||
					   (!data && now->times.change != before->times.change)));
}

/* The last step up to this one that has changed it; the base: none since. */
static size_t last_change(const struct crash_window *w, size_t step, uint64_t ino, bool data)
{
	while (step > w->base && !object_changes(w, step, ino, data))
		step--;
	return step;
}

/* Was it a name of the object, and of no other since everything was promised? */
static bool was_name_of(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
			size_t len, uint64_t ino)
{
	bool ever = false;

	for (size_t i = w->base; i < step; i++) {
		uint64_t then = window_name(w, i, dir, name, len);

		if (then && then != ino)
			return false;
		ever |= then == ino;
	}
	return ever;
}

bool window_keeps_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
		       size_t len)
{
	const struct promise *promise = &w->p->steps[step].promise;
	const struct inode *inode;
	size_t changed;
	bool unchanged;
	uint64_t now;

	if (promise->kind < PROMISE_INODE ||
	    (promise->ino != dir && !w->p->rules.fsync_keeps_names))
		return false;
	now = window_name(w, step, dir, name, len);
	/* A durable name of an object that is not durable itself says nothing. */
	if (promise->ino == dir && promise->kind != PROMISE_RANGE)
		return w->p->rules.fsync_keeps_names || !now || window_is_durable(w, now, w->done);
	/* fdatasync keeps what is needed to read the data: a name, if there is no durable one. */
	if (promise->kind != PROMISE_INODE && window_is_durable(w, promise->ino, step - 1))
		return false;
	/* What has not changed since can have been made durable at any time after that, with the
	 * names of then. */
	changed = last_change(w, step, promise->ino, promise->kind != PROMISE_INODE);
	unchanged = now == window_name(w, changed, dir, name, len);
	if (now == promise->ino)
		return unchanged;
	/* Its old name is gone; what has that name now is for others to promise. Of an object that
	 * has no name left nothing is promised: it could not be found. */
	inode = window_inode(w, step, promise->ino);
	if (!now)
		return unchanged && inode && inode->nlink &&
		       was_name_of(w, step, dir, name, len, promise->ino);
	/* A directory above, also when the object was changed last. One that was renamed can have
	 * been made durable before, and be found by its old name (log_new_ancestors of Btrfs logs
	 * those of the present transaction only). */
	inode = window_inode(w, step, now);
	return inode && S_ISDIR(inode->mode) && leads_to(w, changed, now, promise->ino) &&
	       leads_to(w, step, now, promise->ino) &&
	       always_had_name(w, step, dir, name, len, now);
}

size_t window_left_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
			size_t len)
{
	uint64_t ino = window_name(w, step, dir, name, len);

	for (size_t i = w->done; ino && i > step && w->p->rules.fsync_keeps_names; i--) {
		const struct inode *inode = window_inode(w, i, ino);

		/* As in window_keeps_name(): with the names that it had at its last change. */
		if (window_keeps_attributes(w, i, ino) && inode && inode->nlink &&
		    window_name(w, i, dir, name, len) != ino &&
		    window_name(w, last_change(w, i, ino, false), dir, name, len) != ino)
			return i;
	}
	return 0;
}

size_t window_name_floor(const struct crash_window *w, uint64_t dir, const char *name, size_t len)
{
	for (size_t i = w->done; i > w->base; i--)
		if (window_keeps_name(w, i, dir, name, len))
			return i;
	return w->base;
}

bool window_keeps_attributes(const struct crash_window *w, size_t step, uint64_t ino)
{
	const struct promise *promise = &w->p->steps[step].promise;

	return promise->kind == PROMISE_INODE && promise->ino == ino;
}

size_t window_attribute_floor(const struct crash_window *w, uint64_t ino)
{
	for (size_t i = w->done; i > w->base; i--)
		if (window_keeps_attributes(w, i, ino))
			return i;
	return w->base;
}

size_t window_data_floor(const struct crash_window *w, uint64_t ino, uint64_t from, uint64_t to)
{
	for (size_t i = w->done; i > w->base; i--) {
		const struct promise *promise = &w->p->steps[i].promise;

		if (promise->ino == ino && promise->kind >= PROMISE_INODE &&
		    (promise->kind != PROMISE_RANGE ||
		     (promise->from <= from && to <= promise->to)))
			return i;
	}
	return w->base;
}

bool window_has_unsynced_data(const struct crash_window *w, uint64_t ino)
{
	return last_change(w, w->begun, ino, true) > window_data_floor(w, ino, 0, UINT64_MAX);
}

bool window_keeps_size(const struct crash_window *w, size_t step, uint64_t ino)
{
	const struct promise *promise = &w->p->steps[step].promise;
	const struct inode *before;

	if (promise->ino != ino || promise->kind < PROMISE_INODE)
		return false;
	before = window_inode(w, step - 1, ino);
	return promise->kind != PROMISE_RANGE || !before || promise->to > before->size;
}

size_t window_size_floor(const struct crash_window *w, uint64_t ino)
{
	for (size_t i = w->done; i > w->base; i--)
		if (window_keeps_size(w, i, ino))
			return i;
	return w->base;
}

size_t window_order_floor(const struct crash_window *w, size_t *ret_promise)
{
	size_t floor = w->base;

	*ret_promise = w->base;
	for (size_t i = w->base + 1; i <= w->done; i++) {
		const struct promise *promise = &w->p->steps[i].promise;
		size_t changed;

		if (promise->kind != PROMISE_INODE)
			continue;
		changed = last_change(w, i, promise->ino, false);
		if (changed > floor) {
			floor = changed;
			*ret_promise = i;
		}
	}
	return floor;
}
