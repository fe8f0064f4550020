/* window.h -- the part of a history that a crash can leave: inside persistence.
 *
 * Every name, attribute, size and byte has a floor: the last step that promised it. What is there
 * after the crash is as at that step or later. */
#ifndef PERSISTENCE_WINDOW_H
#define PERSISTENCE_WINDOW_H

#include "persistence/persistence.h"

struct crash_window {
	const struct persistence *p;
	size_t base;        /* the last step that promised everything */
	size_t done, begun; /* steps: calls that have returned, and the one under way */
};

struct crash_window crash_window(const struct persistence *p, size_t done, size_t begun);

const struct tree *window_tree(const struct crash_window *w, size_t step);
/* NULL: there is no such object at that step. */
const struct inode *window_inode(const struct crash_window *w, size_t step, uint64_t ino);
/* What a name means at a step; 0: nothing. */
uint64_t window_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
		     size_t len);

/* Was the object itself promised up to this step? */
bool window_is_durable(const struct crash_window *w, uint64_t ino, size_t last);

/* Does the call of this step promise the name: does it mean what was synced or lead to it, or did
 * it mean only that before it was removed? */
bool window_keeps_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
		       size_t len);
/* The call that has synced what the name means at this step, when that had other names only:
 * whatever else the name has meant since, it does not mean this. 0: none. */
size_t window_left_name(const struct crash_window *w, size_t step, uint64_t dir, const char *name,
			size_t len);
bool window_keeps_attributes(const struct crash_window *w, size_t step, uint64_t ino);
/* Has data of the object changed since it was promised as a whole? */
bool window_has_unsynced_data(const struct crash_window *w, uint64_t ino);
/* A write that was promised has its size, too, where it made the file longer. */
bool window_keeps_size(const struct crash_window *w, size_t step, uint64_t ino);

/* The last step that promised it. */
size_t window_name_floor(const struct crash_window *w, uint64_t dir, const char *name, size_t len);
size_t window_attribute_floor(const struct crash_window *w, uint64_t ino);
/* Of the bytes in [from, to), all of which a promise of a range must have. */
size_t window_data_floor(const struct crash_window *w, uint64_t ino, uint64_t from, uint64_t to);
size_t window_size_floor(const struct crash_window *w, uint64_t ino);
/* The last change of what was promised, by *ret_promise: where names and attributes are those of
 * one step, it is not before that. */
size_t window_order_floor(const struct crash_window *w, size_t *ret_promise);

#endif
