/* judge_times.c -- times that fit no order of the calls, in words.
 *
 * A target reports the object by the hash of its names; its path is sought in the model's tree,
 * which has the same ones. */
#include "judge/judge.h"

#include <stdio.h>
#include <string.h>

#include "trace/script.h"

enum { TITLE_CALL_MAX = 120 };

static const char rule_sets[] =
	"POSIX.1-2024, XBD 4.12 File Times Update: a function that has to change a file time marks "
	"it for update, and an update sets it to the current time. The page of each function says "
	"which times of which files it marks.";
static const char rule_leaves[] =
	"POSIX.1-2024, XBD 4.12 File Times Update: only functions that are said to mark a time for "
	"update change it; this call does not mark it.";
static const char rule_gives[] =
	"utimensat(2): the time is set to the value given, or to the nearest value that the file "
	"system can store that is not greater.";

static const char *const rules[TIME_WRONGS] = {
	[TIME_NOT_SET] = rule_sets,
	[TIME_CHANGED] = rule_leaves,
	[TIME_GONE_BACK] = rule_leaves,
	[TIME_NOT_AS_GIVEN] = rule_gives,
};

static const char *const wanted[TIME_WRONGS] = {
	[TIME_NOT_SET] = "the call sets it: not before any that an earlier call has set",
	[TIME_CHANGED] = "the call does not change it",
	[TIME_GONE_BACK] = "it never goes back by itself",
	[TIME_NOT_AS_GIVEN] = "the time that was given",
};

/* An object found by its names, and the way to it. */
struct time_path {
	const struct tree *tree;
	uint64_t place, ino; /* sought: the one or, where that is 0, the other */
	struct buf path;
};

static bool path_is_sought(const struct time_path *p, const struct inode *inode)
{
	return p->ino ? inode->ino == p->ino : inode->places.lo == p->place;
}

/* The object below a directory whose path is in the buffer; NULL if it is not there. */
static const struct inode *path_search(struct time_path *p, uint64_t dir, unsigned depth)
{
	size_t len = p->path.len;
	const struct inode *found = NULL;
	const struct entry *entry;
	uint64_t cookie = 0;

	while (!found && (entry = tree_next_entry(p->tree, dir, &cookie))) {
		const struct inode *inode = tree_inode(p->tree, entry->ino);

		p->path.len = len;
		buf_addf(&p->path, "/%s", entry->name);
		if (path_is_sought(p, inode))
			found = inode;
		else if (S_ISDIR(inode->mode) && depth < FACT_DEPTH_MAX)
			found = path_search(p, inode->ino, depth + 1);
	}
	return found;
}

static const struct inode *path_find(struct time_path *p)
{
	const struct inode *root = tree_inode(p->tree, TREE_ROOT), *found;

	if (!path_is_sought(p, root))
		return path_search(p, TREE_ROOT, 0);
	found = root;
	buf_addch(&p->path, '/');
	return found;
}

static const char *inode_kind(const struct inode *inode)
{
	return inode && S_ISDIR(inode->mode) ? "directory" : "file";
}

static void print_time(struct buf *out, int64_t ns)
{
	buf_addf(out, "%lld.%09lld", (long long)time_in_units(ns, 1000000000),
		 (long long)(ns - time_in_units(ns, 1000000000) * 1000000000));
}

static void describe_seen(const struct time_mismatch *times, struct discrepancy *ret)
{
	buf_adds(&ret->seen, "after the call: ");
	print_time(&ret->seen, times->after_ns);
	if (times->has_before) {
		buf_adds(&ret->seen, "; before it: ");
		print_time(&ret->seen, times->before_ns);
	}
	buf_addf(&ret->seen, "; %s: ",
		 times->wrong == TIME_NOT_AS_GIVEN ? "given" : "the latest that was set before");
	print_time(&ret->seen, times->bound_ns);
}

/* The object, by its path after the call and before it. */
static void describe_object(const struct model *m, const struct state *before,
			    const struct inode *inode, const char *path,
			    const struct time_mismatch *times, struct discrepancy *ret)
{
	struct time_path old = { .tree = &before->tree, .ino = inode ? inode->ino : 0 };
	struct fact *fact = arena_alloc(&ret->arena, sizeof(*fact));

	*fact = (struct fact){
		.kind = FACT_TIMES,
		.path = arena_strdup(&ret->arena, path),
		.time = times->field,
		.wrong = times->wrong,
		.given_ns = times->bound_ns,
		.unit_ns = (int64_t)m->traits.time_unit,
		.mode = inode ? inode->mode : 0,
		.nlink = inode ? inode->nlink : 0,
	};
	if (inode && path_find(&old))
		fact->path_before = arena_strdup(&ret->arena, buf_str(&old.path));
	buf_free(&old.path);
	ret->facts = fact;
	ret->fact_count = 1;
}

void judge_describe_times(const struct model *m, const struct state *before,
			  const struct state *after, const struct call *c,
			  const struct time_mismatch *times, struct discrepancy *ret)
{
	struct time_path found = { .tree = &after->tree, .place = times->place };
	const struct inode *inode = path_find(&found);
	const char *path = inode ? buf_str(&found.path) : "?";
	const char *field = time_field_names[times->field], *wrong = time_wrong_names[times->wrong];
	struct buf call = BUF_INIT;

	ret->code = PROBLEM_TIMES;
	ret->call = call_copy(c, &ret->arena);
	ret->reach = REACH_OUTSIDE_POSIX;
	ret->is_cached = m->traits.times_cached;
	snprintf(ret->signature, sizeof(ret->signature), "TIMES %s %s time of %s %s",
		 op_table[op_table[c->op].base].name, field, inode_kind(inode), wrong);
	call_print(c, DIALECT_NATIVE, &call);
	buf_adds(&ret->title, "after ");
	buf_add_clipped(&ret->title, buf_str(&call), TITLE_CALL_MAX);
	buf_addf(&ret->title, ": the %s time of %s %s", field, path, wrong);
	buf_addf(&ret->expected, "the %s time of %s: %s", field, path, wanted[times->wrong]);
	describe_seen(times, ret);
	buf_adds(&ret->rule, rules[times->wrong]);
	describe_object(m, before, inode, path, times, ret);
	buf_free(&call);
	buf_free(&found.path);
}
