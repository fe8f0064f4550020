/* op_flock.c -- flock: locks of whole files, held by open files. */
#include "model/io.h"

#include <sys/file.h>

enum conflict { CONFLICT_NONE, CONFLICT_MAY_BE, CONFLICT_SURE };

/* Does another open file hold a lock that this one conflicts with? The man page has it released
 * with the last descriptor, Linux with the open file, which a mapping keeps, but not on overlayfs
 * (ovl_mmap maps the file below). */
static enum conflict flock_conflict(const struct step *x, const struct open_file *f, int64_t lock)
{
	enum conflict found = CONFLICT_NONE;
	const struct open_file *other;
	uint64_t key;

	for (bool first = true; (other = (void *)pmap_next(&x->state->files, first, &key));
	     first = false) {
		if (other == f || other->ino != f->ino || !other->lock ||
		    (other->lock != LOCK_EX && lock != LOCK_EX))
			continue;
		if (state_has_descriptor(x->state, key))
			return CONFLICT_SURE;
		found = CONFLICT_MAY_BE;
	}
	return found;
}

static void set_lock(struct step *x, int64_t lock)
{
	state_edit_file(x->state, x->pid, x->call->flock.fd.num)->lock = (uint8_t)lock;
}

/* A lock that cannot be had now: a call that may not wait fails, any other one waits, which is no
 * answer at all. Either way the lock that was to be converted is gone. */
static void lock_busy(struct step *x, enum conflict conflict, bool waits)
{
	if (waits) {
		leave_undefined(x, RULE_lock_waits);
		return;
	}
	if (conflict == CONFLICT_SURE)
		refuse(x, RULE_lock_busy);
	else
		may_refuse(x, RULE_lock_busy);
	if (fails_with(x, EWOULDBLOCK) && holds(x, RULE_lock_conversion_drops))
		set_lock(x, 0);
}

void model_flock(struct step *x)
{
	int64_t operation = x->call->flock.operation.num;
	int64_t lock = operation & ~(int64_t)LOCK_NB;
	enum conflict conflict = CONFLICT_NONE;
	const struct open_file *f;

	if (lock != LOCK_SH && lock != LOCK_EX && lock != LOCK_UN)
		refuse(x, RULE_lock_operation);
	f = need_io(x, &x->call->flock.fd);
	if (!f || refused(x))
		return;
	if (lock != LOCK_UN && !is_readable(f) && !is_writable(f))
		refuse(x, RULE_lock_access);
	if (refused(x))
		return;
	if (lock != LOCK_UN && f->lock != lock)
		conflict = flock_conflict(x, f, lock);
	if (conflict)
		lock_busy(x, conflict, !(operation & LOCK_NB));
	if (proceed(x))
		set_lock(x, lock == LOCK_UN ? 0 : lock);
}
