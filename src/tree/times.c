/* times.c -- the times of one scan beside those of the scan before.
 *
 * Both lists are in the order of the inode map, so that comparing them is one pass over the
 * objects. Nothing is allocated once the lists are long enough. Where trees share their parts, the
 * cost follows what differs instead. */
#include "tree/times.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

const char *const time_field_names[TIME_FIELDS] = { "access", "modification", "change", "birth" };
const char *const time_wrong_names[TIME_WRONGS] = {
	[TIME_NOT_SET] = "was not updated",
	[TIME_CHANGED] = "has changed",
	[TIME_GONE_BACK] = "has gone back",
	[TIME_NOT_AS_GIVEN] = "is not the one that was given",
};

enum { STAMPS_MIN = 64 };

struct time_stamp {
	uint64_t ino, place;
	struct inode_times times;
};

/* One object in the tree that is judged. */
struct time_object {
	const struct inode *inode;
	const struct inode_times *before; /* NULL: not known */
	const struct time_change *change; /* NULL: the call does not name it */
};

/* A comparison on its way. A call sets the times of its objects in any order, so that none of them
 * bounds another: what it has set counts from the next call on. */
struct times_judge {
	const struct times_watch *watch;
	const struct times_expected *expected;
	int64_t latest_ns[TIME_FIELDS]; /* with what this call has set */
	size_t at;                      /* in the last scan */
	bool judged, fine;
	/* Trees that share: latest times of what differs; objects whose times the call has to set.
	 */
	int64_t seen_ns[TIME_FIELDS];
	unsigned met;
	struct time_mismatch *mismatch;
};

int64_t inode_time(const struct inode_times *times, enum time_field field)
{
	const int64_t all[TIME_FIELDS] = { times->access, times->modify, times->change,
					   times->birth };

	return all[field];
}

int64_t time_in_units(int64_t ns, int64_t unit_ns)
{
	int64_t units = ns / unit_ns;

	return units * unit_ns > ns ? units - 1 : units;
}

void times_watch_free(struct times_watch *w)
{
	free(w->stamps);
	free(w->spare);
	tree_free(&w->last);
	*w = (struct times_watch){ .shares = w->shares };
}

void times_call(struct times_watch *w)
{
	w->calls++;
}

void times_forget_objects(struct times_watch *w)
{
	w->is_known = false;
	tree_free(&w->last);
}

void times_forget(struct times_watch *w)
{
	times_forget_objects(w);
	memset(w->latest_ns, 0, sizeof(w->latest_ns));
	memset(w->passed_ns, 0, sizeof(w->passed_ns));
}

void times_let_pass(struct times_watch *w)
{
	memcpy(w->passed_ns, w->latest_ns, sizeof(w->passed_ns));
}

static void times_note(int64_t latest_ns[TIME_FIELDS], enum time_field field, int64_t ns)
{
	if (ns > latest_ns[field])
		latest_ns[field] = ns;
}

static void times_add(struct times_watch *w, size_t at, const struct inode *inode)
{
	if (at == w->spare_cap) {
		w->spare_cap = w->spare_cap ? 2 * w->spare_cap : STAMPS_MIN;
		w->spare = must_realloc(w->spare, w->spare_cap * sizeof(*w->spare));
	}
	w->spare[at] = (struct time_stamp){ inode->ino, inode->places.lo, inode->times };
}

/* What was gathered becomes the last scan. Change and birth times come from the clock alone,
 * whichever call set them. */
static void times_take(struct times_watch *w, size_t count)
{
	struct time_stamp *stamps = w->stamps;
	size_t cap = w->cap;

	for (size_t i = 0; i < count; i++) {
		times_note(w->latest_ns, TIME_CHANGE, w->spare[i].times.change);
		times_note(w->latest_ns, TIME_BIRTH, w->spare[i].times.birth);
	}
	w->stamps = w->spare;
	w->cap = w->spare_cap;
	w->spare = stamps;
	w->spare_cap = cap;
	w->count = count;
	w->is_known = true;
	w->calls = 0;
}

/* Whether a scan of names meets the object. */
static bool times_is_met(const struct inode *inode)
{
	return inode->mode & S_IFMT &&
	       (inode->ino == TREE_ROOT || inode->places.lo | inode->places.hi);
}

/* A tree that shares its parts with the last one becomes the last one. */
static void times_take_shared(struct times_watch *w, const struct tree *t)
{
	if (!pmap_same(&w->last.inodes, &t->inodes)) {
		tree_free(&w->last);
		w->last = tree_copy(t);
	}
	w->is_known = true;
	w->calls = 0;
}

/* The next object of a tree that a scan of names meets. */
static const struct inode *times_next(const struct tree *t, bool first, uint64_t *key)
{
	const struct inode *inode;

	do {
		inode = (const struct inode *)pmap_next(&t->inodes, first, key);
		first = false;
	} while (inode && !times_is_met(inode));
	return inode;
}

void times_record(struct times_watch *w, const struct tree *t)
{
	const struct inode *inode;
	size_t count = 0;
	uint64_t key;

	if (w->shares) {
		times_check(w, t, &(struct times_expected){ .known = false }, NULL);
		return;
	}
	for (inode = times_next(t, true, &key); inode; inode = times_next(t, false, &key))
		times_add(w, count++, inode);
	times_take(w, count);
}

static bool times_fail(struct times_judge *j, const struct time_object *o, enum time_field f,
		       enum time_wrong wrong, int64_t bound_ns)
{
	*j->mismatch = (struct time_mismatch){
		.wrong = wrong,
		.field = f,
		.place = o->inode->places.lo,
		.has_before = o->before,
		.before_ns = o->before ? inode_time(o->before, f) : 0,
		.after_ns = inode_time(&o->inode->times, f),
		.bound_ns = bound_ns,
	};
	return false;
}

/* A time that was not to be set. */
static bool times_check_left(struct times_judge *j, const struct time_object *o, enum time_field f)
{
	int64_t now = inode_time(&o->inode->times, f), before = inode_time(o->before, f);
	int64_t unit_ns = j->expected->is_read_anew ? j->expected->unit_ns : 1;

	if (j->expected->is_cached && now >= before)
		return true;
	if (time_in_units(now, unit_ns) == time_in_units(before, unit_ns))
		return true;
	return times_fail(j, o, f, now < before ? TIME_GONE_BACK : TIME_CHANGED, before);
}

/* A time that the clock has set, or was to set: not before this one. */
static bool times_check_bound(struct times_judge *j, const struct time_object *o, enum time_field f,
			      int64_t least_units)
{
	int64_t now = inode_time(&o->inode->times, f);

	if (time_in_units(now, j->expected->unit_ns) >= least_units)
		return true;
	return times_fail(j, o, f,
			  o->before && now < inode_time(o->before, f) ? TIME_GONE_BACK
								      : TIME_NOT_SET,
			  j->watch->latest_ns[f]);
}

/* A time that the call has to set. Only such times bound what is set later: reading may set access
 * times by a finer clock than that of the other calls. (Linux 6.18: of a link that is read and a
 * directory that is made next, the directory may have the earlier access time.) */
static bool times_check_set(struct times_judge *j, const struct time_object *o, enum time_field f)
{
	int64_t unit_ns = j->expected->unit_ns, passed = j->watch->passed_ns[f];
	/* A daemon reads what it makes: the access time of that is one of reading, too. */
	bool is_bound = f != TIME_ACCESS || !j->expected->is_cached;
	int64_t least = is_bound ? time_in_units(j->watch->latest_ns[f], unit_ns) : INT64_MIN;

	if (passed && least <= time_in_units(passed, unit_ns))
		least = time_in_units(passed, unit_ns) + 1;
	if (!times_check_bound(j, o, f, least))
		return false;
	times_note(j->latest_ns, f, inode_time(&o->inode->times, f));
	return true;
}

/* A time that the call was free to set has changed. The scan before the call may have set it, and
 * the access time of a link any scan that read it after it had looked at its times. */
static bool times_check_free(struct times_judge *j, const struct time_object *o, enum time_field f)
{
	bool is_read = f == TIME_ACCESS && S_ISLNK(o->inode->mode);
	int64_t least_ns = is_read ? inode_time(o->before, f) : j->watch->latest_ns[f];

	/* What the disk has may be older than what reading has set in memory. */
	return j->expected->is_read_anew || j->expected->is_cached ||
	       times_check_bound(j, o, f, time_in_units(least_ns, j->expected->unit_ns));
}

/* With relatime, a read sets an access time that is not later than those of modification and of
 * change. Nothing is wrong unless the clock has surely moved since. */
static bool times_check_read(struct times_judge *j, const struct time_object *o)
{
	int64_t unit_ns = j->expected->unit_ns, passed = j->watch->passed_ns[TIME_CHANGE];
	int64_t now = time_in_units(o->inode->times.access, unit_ns), before;

	if (!o->change || !o->change->is_read || !o->before || !passed)
		return true;
	before = time_in_units(o->before->access, unit_ns);
	if (now != before || before > time_in_units(passed, unit_ns) ||
	    (before > time_in_units(o->before->modify, unit_ns) &&
	     before > time_in_units(o->before->change, unit_ns)))
		return true;
	return times_fail(j, o, TIME_ACCESS, TIME_NOT_SET, j->watch->latest_ns[TIME_CHANGE]);
}

static bool times_check_given(struct times_judge *j, const struct time_object *o, enum time_field f)
{
	int64_t given = j->expected->given_ns[f], unit_ns = j->expected->unit_ns;

	if (time_in_units(inode_time(&o->inode->times, f), unit_ns) ==
	    time_in_units(given, unit_ns))
		return true;
	return times_fail(j, o, f, TIME_NOT_AS_GIVEN, given);
}

/* Whether the field may have been set, by the call or by the scan before it. */
static bool times_may_change(const struct times_judge *j, const struct time_object *o,
			     enum time_field f)
{
	unsigned may = j->expected->may_all | (o->change ? o->change->may : 0U);

	/* Links cannot be read without setting their access time. */
	if (f == TIME_ACCESS && S_ISLNK(o->inode->mode))
		return true;
	return may & 1U << f;
}

static bool times_check_field(struct times_judge *j, const struct time_object *o, enum time_field f)
{
	int64_t now = inode_time(&o->inode->times, f);

	/* Not all file systems know when an object was made. */
	if (f == TIME_BIRTH && !now)
		return true;
	if (o->change && o->change->given & 1U << f)
		return times_check_given(j, o, f);
	if (o->change && o->change->must & 1U << f)
		return times_check_set(j, o, f);
	if (f == TIME_ACCESS && !times_check_read(j, o))
		return false;
	if (!o->before || now == inode_time(o->before, f))
		return true;
	return times_may_change(j, o, f) ? times_check_free(j, o, f) : times_check_left(j, o, f);
}

static const struct time_change *times_change_of(const struct times_expected *e, uint64_t place)
{
	for (unsigned i = 0; i < e->count; i++)
		if (e->changes[i].place == place)
			return &e->changes[i];
	return NULL;
}

/* The times of the object in the last scan. Objects are asked for in their order. */
static const struct inode_times *times_before(struct times_judge *j, const struct inode *inode)
{
	const struct times_watch *w = j->watch;
	uint64_t order = pmap_order(inode->ino);
	const struct time_stamp *s;

	while (j->at < w->count && pmap_order(w->stamps[j->at].ino) < order)
		j->at++;
	s = j->at < w->count ? &w->stamps[j->at] : NULL;
	if (!s || s->ino != inode->ino ||
	    (j->expected->is_read_anew && s->place != inode->places.lo))
		return NULL;
	return &s->times;
}

static bool times_check_object(struct times_judge *j, const struct inode *inode,
			       const struct inode_times *before)
{
	struct time_object o = { inode, before, times_change_of(j->expected, inode->places.lo) };

	if (o.change && o.change->is_new)
		o.before = NULL;
	for (enum time_field f = 0; f < TIME_FIELDS; f++)
		if (!times_check_field(j, &o, f))
			return false;
	return true;
}

/* Does a call that leaves the object as it is do wrong? */
static bool time_change_is_wanted(const struct time_change *c)
{
	return c->must | c->given || c->is_read;
}

static void times_visit(void *to, uint64_t ino, const struct ref *in_before,
			const struct ref *in_after)
{
	const struct inode *before = (const struct inode *)in_before,
			   *after = (const struct inode *)in_after;
	struct times_judge *j = to;
	const struct time_change *change;
	bool is_known;

	if (!after || !times_is_met(after))
		return;
	times_note(j->seen_ns, TIME_CHANGE, after->times.change);
	times_note(j->seen_ns, TIME_BIRTH, after->times.birth);
	if (!j->judged || !j->fine)
		return;
	is_known = before && times_is_met(before) &&
		   !(j->expected->is_read_anew && before->places.lo != after->places.lo);
	change = times_change_of(j->expected, after->places.lo);
	j->met += change && time_change_is_wanted(change);
	j->fine = times_check_object(j, after, is_known ? &before->times : NULL);
}

/* Objects that are the same as before have the times of before, which is wrong for those that the
 * call has to set times of. */
static void times_check_same(struct times_judge *j, const struct tree *t)
{
	const struct inode *inode;
	unsigned wanted = 0;
	uint64_t key;

	for (unsigned i = 0; i < j->expected->count; i++)
		wanted += time_change_is_wanted(&j->expected->changes[i]);
	if (wanted == j->met)
		return;
	for (inode = times_next(t, true, &key); inode && j->fine;
	     inode = times_next(t, false, &key))
		if (inode == tree_inode(&j->watch->last, inode->ino))
			j->fine = times_check_object(j, inode, &inode->times);
}

static void times_check_shared(struct times_watch *w, const struct tree *t, struct times_judge *j)
{
	pmap_diff(&w->last.inodes, &t->inodes, times_visit, j);
	if (j->judged && j->fine)
		times_check_same(j, t);
	memcpy(w->latest_ns, j->latest_ns, sizeof(j->latest_ns));
	times_note(w->latest_ns, TIME_CHANGE, j->seen_ns[TIME_CHANGE]);
	times_note(w->latest_ns, TIME_BIRTH, j->seen_ns[TIME_BIRTH]);
	times_take_shared(w, t);
}

bool times_check(struct times_watch *w, const struct tree *t, const struct times_expected *e,
		 struct time_mismatch *ret)
{
	struct times_judge j = { .watch = w, .expected = e, .mismatch = ret, .fine = true };
	const struct inode *inode;
	size_t count = 0;
	uint64_t key;

	j.judged = w->is_known && w->calls == 1 && e->known;
	memcpy(j.latest_ns, w->latest_ns, sizeof(j.latest_ns));
	if (w->shares) {
		times_check_shared(w, t, &j);
		return j.fine;
	}
	for (inode = times_next(t, true, &key); inode; inode = times_next(t, false, &key)) {
		if (j.judged && j.fine)
			j.fine = times_check_object(&j, inode, times_before(&j, inode));
		times_add(w, count++, inode);
	}
	memcpy(w->latest_ns, j.latest_ns, sizeof(j.latest_ns));
	times_take(w, count);
	return j.fine;
}
