/* expect_times.c -- the differences between two states of the model, as expected times.
 *
 * The clock of the model is the number of the call: a time that is now this number was set by the
 * call. Objects without a name are not looked at, since no scan meets them. */
#include "plan/expect_times.h"

/* A visit of the objects that the call has changed. */
struct expectation {
	const struct state *after;
	struct times_expected *times;
	bool is_full; /* it changes more objects than there is room for */
};

static struct time_change *expectation_change(struct expectation *x, uint64_t place)
{
	struct times_expected *e = x->times;

	for (unsigned i = 0; i < e->count; i++)
		if (e->changes[i].place == place)
			return &e->changes[i];
	if (e->count == TIME_CHANGES_MAX) {
		x->is_full = true;
		return &e->changes[0];
	}
	e->changes[e->count] = (struct time_change){ .place = place };
	return &e->changes[e->count++];
}

static bool inode_has_name(const struct inode *inode)
{
	return inode->ino == TREE_ROOT || inode->places.lo || inode->places.hi;
}

/* Fields that are of this call and were not before it. */
static unsigned fields_set(const struct inode *before, const struct inode *after, int64_t now)
{
	unsigned set = 0;

	for (enum time_field f = 0; f < TIME_FIELDS; f++)
		if (inode_time(&after->times, f) == now && inode_time(&before->times, f) != now)
			set |= 1U << f;
	return set;
}

static void expectation_visit(void *to, uint64_t ino, const struct ref *in_before,
			      const struct ref *in_after)
{
	struct expectation *x = to;
	const struct inode *before = (const struct inode *)in_before,
			   *after = (const struct inode *)in_after;
	unsigned set;

	if (!after || !inode_has_name(after))
		return;
	if (!before) {
		*expectation_change(x, after->places.lo) = (struct time_change){
			.place = after->places.lo,
			.must = TIME_BITS_ALL,
			.is_new = true,
		};
		return;
	}
	set = fields_set(before, after, x->after->now);
	if (set)
		expectation_change(x, after->places.lo)->must |= set;
}

/* What the call may leave: reading sets access times or not, and so on. */
static void expectation_weaken(struct expectation *x, const struct model *m,
			       const struct envelope *env)
{
	for (unsigned i = 0; i < env->optional_count; i++) {
		const struct optional_times *o = &env->optional_times[i];
		const struct inode *inode = tree_inode(&x->after->tree, o->ino);
		struct time_change *change;

		if (!inode || !inode_has_name(inode))
			continue;
		change = expectation_change(x, inode->places.lo);
		change->may |= o->fields;
		change->must &= ~o->fields;
		change->is_read |= o->is_read && m->traits.relatime && !env->first;
	}
}

/* No call has to set the change time; one that sets the modification time back sets it back. */
static void expectation_without_ctime(struct expectation *x)
{
	struct times_expected *e = x->times;

	for (unsigned i = 0; i < e->count; i++)
		e->changes[i].must &= (uint8_t)~TIME_BIT_CHANGE;
	e->known &= !e->count || !(e->changes[0].given & TIME_BIT_MODIFY);
}

static int64_t time_within(const struct traits *t, int64_t ns)
{
	if (ns < (int64_t)t->time_min)
		return (int64_t)t->time_min;
	return ns > (int64_t)t->time_max ? (int64_t)t->time_max : ns;
}

/* One of the two times of utimensat, on the object whose change time it has set. */
static void expectation_give(struct expectation *x, const struct traits *t, enum time_field f,
			     int64_t ns)
{
	struct times_expected *e = x->times;

	if (ns == TIME_NOW || ns == TIME_OMIT || !e->count)
		return;
	e->given_ns[f] = time_within(t, ns);
	e->changes[0].given |= 1U << f;
	/* Before 1970 is beyond what the traits can say. */
	e->known &= ns >= 0;
}

/* Does the call write dirty pages back, as direct I/O does, or let the time pass in which the
 * kernel does? */
static bool call_writes_back(const struct call *c)
{
	return op_table[c->op].traits & (TRAIT_SYNC | TRAIT_ENV | TRAIT_META) ||
	       c->op == OP_fadvise;
}

void expect_times(const struct model *m, const struct state *before, const struct state *after,
		  const struct call *c, const struct envelope *env, struct times_expected *ret)
{
	struct expectation x = { after, ret, false };

	*ret = (struct times_expected){
		/* Without space, times that were set in memory may not reach the disk. */
		.known = !env->undefined && after->health == HEALTH_SOUND &&
			 !state_failures(before) && !before->space_ended,
		.is_read_anew = c->op == OP_remount || c->op == OP_drop_caches,
		.is_cached = m->traits.times_cached,
		.unit_ns = (int64_t)m->traits.time_unit,
	};
	if (m->traits.scan_sets_atime || (m->traits.atime_in_memory && ret->is_read_anew))
		ret->may_all |= TIME_BIT_ACCESS;
	if (m->traits.ctime_is_mtime || (m->traits.ctime_in_memory && ret->is_read_anew))
		ret->may_all |= TIME_BIT_CHANGE;
	if (m->traits.copy_up_sets_times)
		ret->may_all |= TIME_BIT_CHANGE | TIME_BIT_BIRTH;
	if (m->traits.writeback_sets_times && call_writes_back(c))
		ret->may_all |= TIME_BIT_MODIFY | TIME_BIT_CHANGE;
	if (!ret->known)
		return;
	pmap_diff(&before->tree.inodes, &after->tree.inodes, expectation_visit, &x);
	expectation_weaken(&x, m, env);
	if (op_table[c->op].base == OP_utimensat && !env->first) {
		expectation_give(&x, &m->traits, TIME_ACCESS, c->utimensat.atime.num);
		expectation_give(&x, &m->traits, TIME_MODIFY, c->utimensat.mtime.num);
	}
	if (m->traits.ctime_is_mtime)
		expectation_without_ctime(&x);
	ret->known &= !x.is_full;
}
