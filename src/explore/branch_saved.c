/* branch_saved.c -- saving, restoring and dropping open states, within a bound.
 *
 * How many there is room for follows from the memory that the search was given and from what one
 * costs the target; where the target runs out of something before that, the bound is lowered. */
#include "base/err.h"
#include "explore/branch.h"

/* What a state costs where the target does not say: the model's own. */
enum { SAVED_BYTES = 16 << 10, SAVED_MIN = 8 };

/* No open state's. */
enum { START_KEY = 0 };

static uint64_t saved_bytes(const struct explorer *x)
{
	uint64_t bytes = SAVED_BYTES;

	for (size_t i = 0; i < x->follower_count; i++)
		bytes += x->followers[i].target->saved_bytes;
	return bytes;
}

void branch_saved_init(struct branch *b)
{
	const struct explore_options *o = b->x->options;
	uint64_t max = o->saved_max ? o->saved_max : o->memory_max / saved_bytes(b->x);

	if (!o->saved_max && max < SAVED_MIN)
		max = SAVED_MIN;
	b->saved = (struct saved_list){ .list = &b->x->list, .max = max };
}

/* All targets are saved, restored, or forget what was saved. */
static int saved_put(const struct explorer *x, uint64_t key, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < x->follower_count && status >= 0; i++) {
		struct target *t = x->followers[i].target;

		status = t->kind->save(t, key, err);
	}
	return status;
}

static int saved_get(const struct explorer *x, uint64_t key, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < x->follower_count && status >= 0; i++) {
		struct target *t = x->followers[i].target;

		status = t->kind->restore(t, key, err);
	}
	return status;
}

static void saved_drop(const struct explorer *x, uint64_t key)
{
	for (size_t i = 0; i < x->follower_count; i++) {
		struct target *t = x->followers[i].target;

		if (t->kind->drop)
			t->kind->drop(t, key);
	}
}

void branch_unsave(struct branch *b, struct open_state *o)
{
	saved_list_remove(&b->saved, o);
	saved_drop(b->x, o->key);
	state_free(&o->state);
}

/* Saves under a key; while the target has no room, half of the others have to go. */
static int saved_make(struct branch *b, uint64_t key, struct err *err)
{
	struct err why = { 0 };
	int status;

	while ((status = saved_put(b->x, key, &why)) < 0) {
		saved_drop(b->x, key); /* some of the targets may have it */
		if (!explorer_is_shortage(status) || !b->saved.count)
			return err_set(err, -status, "%s", why.text);
		b->saved.max = b->saved.count / 2 + 1;
		while (b->saved.count > b->saved.max - 1)
			branch_unsave(b, saved_list_last(&b->saved));
		why = (struct err){ 0 };
	}
	return 0;
}

int branch_save(struct branch *b, struct open_state *o, struct err *err)
{
	struct open_state *last;
	int status;

	while (b->saved.count >= b->saved.max) {
		last = saved_list_last(&b->saved);
		/* Whose turn it is must be saved: every call in it begins with restoring it. */
		if (o != open_list_first(&b->x->list) &&
		    open_list_promise(&b->x->list, last) >= open_list_promise(&b->x->list, o))
			return 0;
		branch_unsave(b, last);
	}
	status = saved_make(b, o->key, err);
	if (status < 0)
		return status;
	o->state = state_copy(&b->x->state);
	saved_list_add(&b->saved, o);
	return 0;
}

int branch_restore(struct branch *b, const struct open_state *o, struct err *err)
{
	return saved_get(b->x, o->key, err);
}

int branch_go_to_start(struct branch *b, struct err *err)
{
	struct explorer *x = b->x;
	struct err why = { 0 };
	int status;

	if (!b->start_saved) {
		status = explorer_reset(x, err);
		/* Without it every path begins with a fresh file system. */
		b->start_saved = status >= 0 && saved_put(x, START_KEY, &why) >= 0;
		return status;
	}
	status = saved_get(x, START_KEY, err);
	if (status >= 0)
		explorer_restart(x);
	return status;
}

void branch_saved_free(struct branch *b)
{
	while (b->saved.count)
		branch_unsave(b, saved_list_last(&b->saved));
	if (b->start_saved)
		saved_drop(b->x, START_KEY);
	saved_list_free(&b->saved);
}
