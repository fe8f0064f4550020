/* op_flock.c -- flock: locks of whole files, held by open files. */
#include "model/io.h"

#include <sys/file.h>

/* Does another open file hold a lock that this one conflicts with? */
static bool flock_conflicts(const struct step *x, const struct open_file *f, int64_t lock)
{
	const struct open_file *other;
	uint64_t key;

	for (bool first = true; (other = (void *)pmap_next(&x->state->files, first, &key));
	     first = false)
		if (other != f && other->ino == f->ino && other->lock &&
		    (other->lock == LOCK_EX || lock == LOCK_EX))
			return true;
	return false;
}

static void set_lock(struct step *x, int64_t lock)
{
	state_edit_file(x->state, x->pid, x->call->flock.fd.num)->lock = (uint8_t)lock;
}

/* A lock that cannot be had now: a call that may not wait fails, any other one waits, which is no
 * answer at all. Either way the lock that was to be converted is gone. */
static void lock_busy(struct step *x, bool waits)
{
	if (waits) {
		leave_undefined(x, RULE_lock_waits);
		return;
	}
	refuse(x, RULE_lock_busy);
	if (fails_with(x, EWOULDBLOCK) && holds(x, RULE_lock_conversion_drops))
		set_lock(x, 0);
}

void model_flock(struct step *x)
{
	int64_t operation = x->call->flock.operation.num;
	int64_t lock = operation & ~(int64_t)LOCK_NB;
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
	if (lock != LOCK_UN && f->lock != lock && flock_conflicts(x, f, lock))
		lock_busy(x, !(operation & LOCK_NB));
	if (proceed(x))
		set_lock(x, lock == LOCK_UN ? 0 : lock);
}
