/* examine.c -- fsck() and seek_space(): a file system examined from outside.
 *
 * What is removed becomes free again, but not always at once, and not all of it: directories do not
 * shrink, trees keep their height, inodes come in chunks. But what the same calls lose every time
 * that they are made, from an empty file system to an empty one, they lose for ever: on the disk,
 * or in counters that are right again after the next mount. */
#include "target/examine.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/must.h"
#include "target/checker.h"
#include "target/description.h"
#include "target/recent_calls.h"
#include "tree/list.h"

enum {
	ROUNDS_FIRST = 3,
	ROUNDS = ROUNDS_FIRST + 4,
	/* Counters that are wrong soon leave no space at all. */
	ROUNDS_MOUNTED_FIRST = 1,
	ROUNDS_MOUNTED_LAST = 4,
	PROBE_BYTES = 256 << 10, /* of a file that must fit in each of these rounds, at most */
	REFUSED_MIN = 2,         /* rounds in which it does not */
	PROBER = 2,              /* the process that writes it, and its user */
	PROBER_ID = 1000,
	RELEASED = 32, /* descriptors, and directory streams, that the calls may leave open */
	FD_FIRST = 3,
	STEPS_MIN = 64,
};
/* No state that a search saves has this key. */
static const uint64_t space_key = UINT64_MAX;

/* ---- fsck ---- */

/* What the checker says of a disk that mkfs has just made. Where it does not find that clean, its
 * verdict means nothing. */
static int examine_fresh_disk(struct target *t, struct err *err)
{
	struct checker checker;
	struct image image;
	enum verdict verdict;
	int r;

	if (t->fresh_is_clean)
		return 0;
	buf_clear(&t->fresh_report);
	r = t->kind->fresh_disk(t, &image, err);
	if (!r)
		r = checker_start(&checker, t->description, &image, err);
	if (!r)
		r = checker_finish(&checker, &verdict, &t->fresh_report, NULL, err);
	if (r)
		return r;
	t->fresh_is_clean = verdict == VERDICT_OK;
	return t->fresh_is_clean
		     ? 0
		     : err_set(err, ENOTSUP, "%s: %s does not find a fresh file system clean",
			       t->name, t->description->fsck);
}

int target_check_disk(struct target *t, struct checker *ret, int *ret_error,
		      enum target_fate *ret_fate, struct err *err)
{
	struct image image;
	int r = examine_fresh_disk(t, err);

	if (!r)
		r = t->kind->unmounted_disk(t, &image, ret_error, ret_fate, err);
	if (r || *ret_error || *ret_fate != FATE_FINE)
		return r;
	return checker_start(ret, t->description, &image, err);
}

int target_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct checker checker;
	int error, r;

	if (!(t->caps & TARGET_FSCK))
		return err_set(err, ENOTSUP, "%s: there is no checker for it", t->name);
	r = target_check_disk(t, &checker, &error, &fate, err);
	if (!r && (error || fate != FATE_FINE))
		r = err_sys(err, error ? error : EIO, "%s: cannot unmount it", t->name);
	return r ? r : checker_finish(&checker, ret, report, NULL, err);
}

static int examine_fsck(struct target *t, struct outcome *ret, enum target_fate *ret_fate,
			struct err *err)
{
	enum verdict verdict;
	struct checker checker;
	int r = target_check_disk(t, &checker, &ret->error, ret_fate, err);

	if (r || ret->error || *ret_fate != FATE_FINE)
		return r;
	buf_clear(&t->report);
	r = checker_finish(&checker, &verdict, &t->report, NULL, err);
	if (!r && verdict == VERDICT_BAD)
		ret->error = EUCLEAN;
	return r;
}

/* ---- seek_space ---- */

struct space_search {
	struct target *target;
	enum target_fate fate;
	/* From the first to the last of these rounds it may not shrink; what is free after each. */
	unsigned first, last;
	struct statfs_result free[ROUNDS];
	bool is_mounted; /* all the time, until it is remounted behind the last round */
	struct statfs_result remounted;
	uint64_t probe_bytes;
	uint16_t prober;      /* process */
	bool is_full[ROUNDS]; /* a file of so many bytes finds no space after the round */
};

/* False if the target did not survive it. */
static bool space_call(struct space_search *s, const struct call *c, struct outcome *ret)
{
	struct err why = { 0 };

	if (target_call(s->target, c, ret, &s->fate, &why) < 0)
		return false;
	return s->fate == FATE_FINE;
}

static bool space_remount(struct space_search *s)
{
	struct call c = { .op = OP_remount, .pid = 1 };
	struct outcome outcome;

	return space_call(s, &c, &outcome) && !outcome.error;
}

/* Calls on their way to the target together: one message for each takes longer than most calls. */
struct space_calls {
	struct plan_step *steps;
	size_t count, cap;
	struct arena arena; /* of paths */
};

static void space_calls_free(struct space_calls *list)
{
	free(list->steps);
	arena_free(&list->arena);
}

static struct plan_step *space_calls_add(struct space_calls *list, const struct call *c)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : STEPS_MIN;
		list->steps = must_realloc(list->steps, list->cap * sizeof(*list->steps));
	}
	list->steps[list->count] = (struct plan_step){ .call = *c, .unjudged = true };
	return &list->steps[list->count++];
}

/* One that has to succeed. */
static void space_calls_add_sure(struct space_calls *list, const struct call *c)
{
	struct plan_step *step = space_calls_add(list, c);

	step->unjudged = false;
	step->exact = true;
	step->expected = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
}

/* False if the target did not survive one of them, or one does not return what it has to. */
static bool space_make(struct space_search *s, const struct space_calls *list)
{
	struct plan_report report;
	struct err why = { 0 };

	if (target_follow(s->target, list->steps, list->count, &report, &why) < 0)
		return false;
	s->fate = report.fate;
	return s->fate == FATE_FINE && report.done == list->count;
}

static bool space_repeat(struct space_search *s, const struct recent_calls *calls)
{
	struct space_calls list = { 0 };
	const struct call *c;
	bool whole;

	for (size_t i = 0; (c = recent_calls_get(calls, i)); i++)
		space_calls_add(&list, c);
	whole = space_make(s, &list);
	space_calls_free(&list);
	return whole;
}

/* What a search made can be removed; what cannot be (immutable files) ends the search. */
static void space_calls_add_removal(struct space_calls *list, const struct path_list *paths,
				    size_t item)
{
	bool is_dir = S_ISDIR(paths->items[item].inode->mode);
	struct call c = { .op = is_dir ? OP_rmdir : OP_unlink, .pid = 1 };
	struct buf path = BUF_INIT;

	for (size_t at = item; at; at = paths->items[at].parent) {
		struct buf longer = BUF_INIT;

		buf_addf(&longer, "/%s%s", paths->items[at].name, buf_str(&path));
		buf_free(&path);
		path = longer;
	}
	c.arg[0] = (struct arg){ .text = buf_str(&path), .len = (uint32_t)path.len };
	c = call_copy(&c, &list->arena);
	buf_free(&path);
	space_calls_add_sure(list, &c);
}

static bool space_remove_all(struct space_search *s)
{
	struct space_calls list = { 0 };
	struct err why = { 0 };
	struct path_list paths;
	struct tree tree;
	bool removed;

	if (target_observe(s->target, &tree, &s->fate, &why) < 0 || s->fate != FATE_FINE)
		return false;
	path_list_make(&paths, &tree);
	for (size_t i = paths.count; i-- > 1;)
		space_calls_add_removal(&list, &paths, i);
	removed = space_make(s, &list);
	space_calls_free(&list);
	path_list_free(&paths);
	tree_free(&tree);
	return removed;
}

static bool space_ask(struct space_search *s, struct statfs_result *ret)
{
	struct call c = { .op = OP_statfs, .pid = 1 };
	struct outcome outcome;

	c.statfs.path = (struct arg){ .text = "/", .len = 1 };
	if (!space_call(s, &c, &outcome) || outcome.error)
		return false;
	*ret = outcome.statfs;
	return true;
}

bool examine_emptied(struct target *t, struct statfs_result *ret)
{
	struct space_search s = { .target = t };
	struct call sync = { .op = OP_sync, .pid = 1 };
	struct outcome outcome;

	return space_remove_all(&s) && space_call(&s, &sync, &outcome) && space_ask(&s, ret);
}

/* Open files are closed before: removed files are still there until then. What is freed late is
 * freed when it is unmounted. */
static bool space_round(struct space_search *s, const struct recent_calls *calls, unsigned round)
{
	return space_repeat(s, calls) && space_remount(s) && space_remove_all(s) &&
	       space_remount(s) && space_ask(s, &s->free[round]);
}

/* Closes what the repeated calls left open, and leaves the directory that they went to. */
static bool space_release(struct space_search *s)
{
	struct call root = { .op = OP_chdir, .pid = 1 };
	struct space_calls list = { 0 };
	bool released;

	root.chdir.path = (struct arg){ .text = "/", .len = 1 };
	for (int64_t i = 0; i < RELEASED; i++) {
		struct call file = { .op = OP_close, .pid = 1 },
			    dir = { .op = OP_closedir, .pid = 1 };

		file.close.fd.num = FD_FIRST + i;
		dir.closedir.dh.num = 1 + i;
		space_calls_add(&list, &file);
		space_calls_add(&list, &dir);
	}
	space_calls_add_sure(&list, &root);
	released = space_make(s, &list);
	space_calls_free(&list);
	return released;
}

/* Whether a file finds space that takes a quarter of what was free at first: a file of root's that
 * an ordinary user writes to, since root may have reserves. */
static bool space_probe(struct space_search *s, unsigned round)
{
	static const struct arg name = { .text = "/probe", .len = 6 };
	struct call make = { .op = OP_create_file, .pid = 1 },
		    open_up = { .op = OP_chmod, .pid = 1 };
	struct call write = { .op = OP_write_file, .pid = s->prober };
	struct call remove = { .op = OP_unlink, .pid = 1 };
	struct outcome made, written, removed;

	make.create_file.path = open_up.chmod.path = write.write_file.path = remove.unlink.path =
		name;
	make.create_file.flags.num = O_WRONLY | O_CREAT;
	open_up.chmod.mode.num = 0666;
	write.write_file.flags.num = O_WRONLY;
	write.write_file.data.num = 1;
	write.write_file.count.num = (int64_t)s->probe_bytes;
	if (!space_call(s, &make, &made) || !space_call(s, &open_up, &written) ||
	    !space_call(s, &write, &written) || !space_call(s, &remove, &removed))
		return false;
	s->is_full[round] = made.error == ENOSPC || written.error == ENOSPC ||
			    (!written.error && written.num < (int64_t)s->probe_bytes);
	return true;
}

/* The same without unmounting: what is free is what the file system counts in memory. */
static bool space_round_mounted(struct space_search *s, const struct recent_calls *calls,
				unsigned round)
{
	struct call sync = { .op = OP_sync, .pid = 1 };
	struct outcome outcome;

	return space_repeat(s, calls) && space_release(s) && space_remove_all(s) &&
	       space_probe(s, round) && space_call(s, &sync, &outcome) &&
	       space_ask(s, &s->free[round]);
}

/* Mappings keep a file, too, and do not end with a descriptor. */
static bool space_can_release(const struct recent_calls *calls)
{
	const struct call *c;

	for (size_t i = 0; (c = recent_calls_get(calls, i)); i++)
		if (op_table[c->op].base == OP_mmap)
			return false;
	return true;
}

static int64_t space_free(const struct statfs_result *statfs, size_t field)
{
	return *(const int64_t *)((const char *)statfs + field);
}

/* By how much it shrank in each round before `last`, at least; 0: it did not in one of them. */
static int64_t space_loss_until(const struct space_search *s, size_t field, unsigned last)
{
	int64_t least = INT64_MAX, before, now;

	for (unsigned i = s->first; i < last; i++) {
		before = space_free(&s->free[i - 1], field);
		now = space_free(&s->free[i], field);
		if (now >= before)
			return 0;
		least = before - now < least ? before - now : least;
	}
	return least;
}

static int64_t space_loss(const struct space_search *s, size_t field)
{
	/* What the disk has lost is not counted wrong. */
	if (s->is_mounted &&
	    space_free(&s->remounted, field) < space_free(&s->free[s->first - 1], field))
		return 0;
	return space_loss_until(s, field, s->last);
}

/* What did not shrink in one of the rounds is not lost, whatever the others show. */
static bool space_is_kept(const struct space_search *s, unsigned round)
{
	return round >= s->first &&
	       !space_loss_until(s, offsetof(struct statfs_result, bfree), round + 1) &&
	       !space_loss_until(s, offsetof(struct statfs_result, ffree), round + 1);
}

/* What fits at first does not fit later, though as much is free. */
static bool space_is_refused(const struct space_search *s)
{
	const size_t blocks = offsetof(struct statfs_result, bfree);
	unsigned refused = 0;

	for (unsigned i = 1; i < ROUNDS; i++)
		refused += s->is_full[i] &&
			   space_free(&s->free[i], blocks) >= space_free(&s->free[0], blocks);
	return !s->is_full[0] && refused >= REFUSED_MIN;
}

/* "2 blocks, 1 inodes" */
static void space_report(const struct space_search *s, struct buf *out)
{
	int64_t blocks = space_loss(s, offsetof(struct statfs_result, bfree));
	int64_t inodes = space_loss(s, offsetof(struct statfs_result, ffree));

	if (blocks)
		buf_addf(out, "%lld blocks", (long long)blocks);
	if (inodes)
		buf_addf(out, "%s%lld inodes", blocks ? ", " : "", (long long)inodes);
	if (!out->len && s->is_mounted && space_is_refused(s))
		buf_addf(out, "%llu bytes of an empty file system",
			 (unsigned long long)s->probe_bytes);
	if (s->is_mounted && out->len)
		buf_adds(out, " until it is mounted again");
}

static bool space_begin_mounted(struct space_search *s)
{
	struct call user = { .op = OP_create_process, .pid = PROBER };
	struct statfs_result fresh;
	struct outcome outcome;
	uint64_t bytes;

	if (!space_ask(s, &fresh))
		return false;
	s->prober = 1;
	if (s->target->caps & TARGET_PROCESSES) {
		s->prober = PROBER;
		user.create_process.uid.num = user.create_process.gid.num = PROBER_ID;
		if (!space_call(s, &user, &outcome))
			return false;
	}
	bytes = (uint64_t)fresh.bfree * (uint64_t)fresh.bsize / 4;
	s->probe_bytes = bytes < PROBE_BYTES ? bytes : PROBE_BYTES;
	return true;
}

/* The rounds, on a fresh file system. What cannot be done to the end says nothing. */
static void space_seek(struct space_search *s, const struct recent_calls *calls)
{
	struct err why = { 0 };
	bool whole = s->target->kind->reset(s->target, &why) >= 0;

	if (s->is_mounted)
		whole = whole && space_begin_mounted(s);
	for (unsigned i = 0; i < ROUNDS && whole; i++) {
		whole = s->is_mounted ? space_round_mounted(s, calls, i) : space_round(s, calls, i);
		if (whole && !s->is_mounted && space_is_kept(s, i))
			return;
	}
	if (s->is_mounted)
		whole = whole && space_remount(s) && space_ask(s, &s->remounted);
	if (whole)
		space_report(s, &s->target->report);
}

static int space_search(struct target *t, const struct recent_calls *calls,
			enum target_fate *ret_fate, struct err *err)
{
	struct space_search s = { .target = t, .first = ROUNDS_FIRST, .last = ROUNDS };

	space_seek(&s, calls);
	if (s.fate == FATE_FINE && !t->report.len && space_can_release(calls)) {
		s = (struct space_search){ .target = t,
					   .first = ROUNDS_MOUNTED_FIRST,
					   .last = ROUNDS_MOUNTED_LAST,
					   .is_mounted = true };
		space_seek(&s, calls);
	}
	*ret_fate = s.fate;
	return t->kind->restore(t, space_key, err);
}

static int examine_space(struct target *t, struct outcome *ret, enum target_fate *ret_fate,
			 struct err *err)
{
	struct recent_calls *calls = t->recent;
	struct err why = { 0 };
	int r = 0;

	buf_clear(&t->report);
	/* The calls that are repeated are not remembered once more. */
	t->recent = NULL;
	if (calls && recent_calls_get(calls, 0) && t->kind->save(t, space_key, &why) >= 0) {
		r = space_search(t, calls, ret_fate, err);
		t->kind->drop(t, space_key);
	}
	t->recent = calls;
	ret->bytes = buf_str(&t->report);
	ret->len = (uint32_t)t->report.len;
	return r;
}

int examine_call(struct target *t, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	*ret_fate = FATE_FINE;
	if (target_needs(c->op) & ~t->caps) {
		ret->error = ENOSYS;
		return 0;
	}
	return c->op == OP_fsck ? examine_fsck(t, ret, ret_fate, err)
				: examine_space(t, ret, ret_fate, err);
}
