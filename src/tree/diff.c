/* diff.c -- what differs between two trees, as text.
 *
 * Both trees are listed by path and merged. A line is "PATH: what is seen, expected what"; an
 * object that differs in several ways gets several lines and counts once. */
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/data.h"
#include "tree/inode.h"
#include "tree/list.h"
#include "tree/remark.h"

enum { BYTES_SHOWN = 8 };

struct tree_differ {
	const struct tree *expected, *seen;
	struct path_list e, s;
	size_t limit, lines;
	struct buf *out;
	struct buf line;              /* being written */
	const struct path_list *list; /* and index: the object being compared */
	size_t index;
	bool differs;              /* it does */
	bool *e_paired, *s_paired; /* items that both trees have */
};

/* Begins a line, which diff_line_end() ends; beyond the limit lines go nowhere. */
static struct buf *diff_line_begin(struct tree_differ *d)
{
	d->differs = true;
	buf_clear(&d->line);
	if (d->lines < d->limit)
		add_item_path(&d->line, d->list, d->index);
	buf_adds(&d->line, ": ");
	return &d->line;
}

static void diff_line_end(struct tree_differ *d)
{
	if (d->lines++ >= d->limit)
		return;
	buf_add(d->out, d->line.data, d->line.len);
	buf_addch(d->out, '\n');
}

static void add_what(struct buf *b, const struct inode *inode)
{
	if (!(inode->mode & S_IFMT)) {
		buf_addf(b, "an object whose %s fails with ", inode->error.call);
		add_errno(b, inode->error.code);
		return;
	}
	buf_addf(b, "a %s", inode_kind(inode));
	if (S_ISREG(inode->mode))
		buf_addf(b, " of %llu bytes", (unsigned long long)inode->size);
}

static void compare_numbers(struct tree_differ *d, const char *what, uint64_t seen,
			    uint64_t expected)
{
	if (seen == expected)
		return;
	buf_addf(diff_line_begin(d), "%s %llu, expected %llu", what, (unsigned long long)seen,
		 (unsigned long long)expected);
	diff_line_end(d);
}

static void add_bytes(struct buf *b, const struct tree *t, const struct inode *file,
		      uint64_t offset)
{
	unsigned char bytes[BYTES_SHOWN];
	size_t len = tree_read(t, file->ino, offset, bytes, sizeof(bytes));

	for (size_t i = 0; i < len; i++)
		buf_addf(b, " %02x", bytes[i]);
}

static void diff_data(struct tree_differ *d, const struct inode *e, const struct inode *s)
{
	uint64_t offset = data_difference(e, s);
	struct buf *b;

	compare_numbers(d, "size", s->size, e->size);
	if (offset >= e->size || offset >= s->size)
		return;
	b = diff_line_begin(d);
	buf_addf(b, "data differs from byte %llu on:", (unsigned long long)offset);
	add_bytes(b, d->seen, s, offset);
	buf_adds(b, ", expected");
	add_bytes(b, d->expected, e, offset);
	diff_line_end(d);
}

static void compare_targets(struct tree_differ *d, const struct blob *e, const struct blob *s)
{
	struct buf *b;

	if (e->len == s->len && memcmp(e->bytes, s->bytes, e->len) == 0)
		return;
	b = diff_line_begin(d);
	buf_adds(b, "target ");
	add_quoted(b, s->bytes, s->len);
	buf_adds(b, ", expected ");
	add_quoted(b, e->bytes, e->len);
	diff_line_end(d);
}

static void compare_contents(struct tree_differ *d, const struct inode *e, const struct inode *s)
{
	unsigned fields = d->expected->fields;

	if (fields & TREE_DATA && S_ISREG(e->mode))
		diff_data(d, e, s);
	if (fields & TREE_DATA && S_ISLNK(e->mode) && e->target && s->target)
		compare_targets(d, e->target, s->target);
	if (fields & TREE_RDEV && e->rdev != s->rdev) {
		buf_addf(diff_line_begin(d), "device %u:%u, expected %u:%u", major(s->rdev),
			 minor(s->rdev), major(e->rdev), minor(e->rdev));
		diff_line_end(d);
	}
}

static void add_value(struct buf *b, const struct xattr *x)
{
	add_quoted(b, x->bytes + x->name_len + 1, x->value_len);
}

static void compare_xattr(struct tree_differ *d, const struct xattr *e, const struct xattr *s)
{
	const struct xattr *shown = s ? s : e;
	struct buf *b;

	must(shown);
	if (e && s && e->value_len == s->value_len &&
	    memcmp(e->bytes, s->bytes, e->name_len + 1 + (size_t)e->value_len) == 0)
		return;
	b = diff_line_begin(d);
	buf_adds(b, s ? "attribute " : "attribute missing: ");
	add_path(b, shown->bytes);
	buf_adds(b, s ? " is " : ", expected ");
	add_value(b, shown);
	if (s && e) {
		buf_adds(b, ", expected ");
		add_value(b, e);
	} else if (s) {
		buf_adds(b, ", expected none");
	}
	diff_line_end(d);
}

static void diff_xattrs(struct tree_differ *d, const struct inode *e, const struct inode *s)
{
	struct arena arena = ARENA_INIT;
	size_t count;
	const struct xattr **xattrs = sorted_xattrs(e, &arena, &count);

	for (size_t i = 0; i < count; i++)
		compare_xattr(d, xattrs[i], tree_xattr(s, xattrs[i]->bytes));
	xattrs = sorted_xattrs(s, &arena, &count);
	for (size_t i = 0; i < count; i++) {
		if (!tree_xattr(e, xattrs[i]->bytes))
			compare_xattr(d, NULL, xattrs[i]);
	}
	arena_free(&arena);
}

static void compare_owners(struct tree_differ *d, const struct inode *e, const struct inode *s)
{
	if (e->uid == s->uid && e->gid == s->gid)
		return;
	buf_addf(diff_line_begin(d), "owner %u:%u, expected %u:%u", s->uid, s->gid, e->uid, e->gid);
	diff_line_end(d);
}

static void compare_times(struct tree_differ *d, const char *what, int64_t seen, int64_t expected)
{
	if (seen == expected)
		return;
	buf_addf(diff_line_begin(d), "%s %lld ns, expected %lld ns", what, (long long)seen,
		 (long long)expected);
	diff_line_end(d);
}

static void compare_inodes(struct tree_differ *d, const struct inode *e, const struct inode *s)
{
	unsigned fields = d->expected->fields;
	bool is_link = S_ISLNK(e->mode);

	if (fields & (is_link ? TREE_SYMLINK_MODE : TREE_MODE) && e->mode != s->mode) {
		buf_addf(diff_line_begin(d), "mode %04o, expected %04o", s->mode & 07777,
			 e->mode & 07777);
		diff_line_end(d);
	}
	if (fields & TREE_OWNER)
		compare_owners(d, e, s);
	if (fields & (S_ISDIR(e->mode) ? TREE_NLINK_DIR : TREE_NLINK))
		compare_numbers(d, "link count", s->nlink, e->nlink);
	if (fields & TREE_FLAGS)
		compare_numbers(d, "flags", s->flags, e->flags);
	compare_contents(d, e, s);
	if (fields & TREE_XATTR)
		diff_xattrs(d, e, s);
	if (fields & TREE_TIMES && !is_link)
		compare_times(d, "access time", s->times.access, e->times.access);
	if (fields & TREE_TIMES)
		compare_times(d, "modification time", s->times.modify, e->times.modify);
}

static bool same_error(const struct inode *a, const struct inode *b)
{
	return !(a->mode & S_IFMT) && a->error.code == b->error.code &&
	       strcmp(a->error.call, b->error.call) == 0;
}

/* If this is one object with an earlier name in one tree, it must be so in the other. */
static void compare_identity(struct tree_differ *d, const struct path_item *e,
			     const struct path_item *s)
{
	bool e_again = e != &d->e.items[e->first], s_again = s != &d->s.items[s->first];
	const struct inode *expected = s_again ? item_lookup(&d->s, s->first, d->expected) : NULL;
	const struct inode *seen = e_again ? item_lookup(&d->e, e->first, d->seen) : NULL;

	if (expected && expected != e->inode) {
		buf_adds(diff_line_begin(d), "one object with ");
		add_item_path(&d->line, &d->s, s->first);
		buf_adds(&d->line, ", expected two");
		diff_line_end(d);
	}
	if (seen && seen != s->inode) {
		buf_adds(diff_line_begin(d), "not one object with ");
		add_item_path(&d->line, &d->e, e->first);
		buf_adds(&d->line, ", expected so");
		diff_line_end(d);
	}
}

static void compare_items(struct tree_differ *d, const struct path_item *e,
			  const struct path_item *s)
{
	struct buf *b;

	if ((e->inode->mode & S_IFMT) != (s->inode->mode & S_IFMT) ||
	    (!(e->inode->mode & S_IFMT) && !same_error(e->inode, s->inode))) {
		b = diff_line_begin(d);
		add_what(b, s->inode);
		buf_adds(b, ", expected ");
		add_what(b, e->inode);
		diff_line_end(d);
		return;
	}
	compare_identity(d, e, s);
	/* Differences are printed for the first name only. */
	if (e->inode->mode & S_IFMT && e->inode != s->inode &&
	    (e == &d->e.items[e->first] || s == &d->s.items[s->first]))
		compare_inodes(d, e->inode, s->inode);
}

/* ---- names with other attributes ---- */

static void add_attribute(struct buf *b, const struct inode *inode, unsigned field)
{
	switch (field) {
	case TREE_MODE:
	case TREE_SYMLINK_MODE:
		buf_addf(b, "mode %04o", inode->mode & 07777);
		break;
	case TREE_OWNER:
		buf_addf(b, "owner %u:%u", inode->uid, inode->gid);
		break;
	case TREE_NLINK:
		buf_addf(b, "link count %u", inode->nlink);
		break;
	case TREE_FLAGS:
		buf_addf(b, "flags %u", inode->flags);
		break;
	case TREE_RDEV:
		buf_addf(b, "device %u:%u", major(inode->rdev), minor(inode->rdev));
		break;
	default:
		buf_addf(b, "size %llu", (unsigned long long)inode->size);
	}
}

/* The item beside a remark that the remark is about; 0: none. */
static size_t item_remarked(const struct path_list *list, const struct path_item *remark,
			    const char *about)
{
	for (size_t i = 1; i < list->count; i++)
		if (list->items[i].parent == remark->parent && !strcmp(list->items[i].name, about))
			return i;
	return 0;
}

/* The name by which the attributes of an object were first seen: it has no remark. */
static size_t item_first_seen(const struct path_list *list, const struct inode *inode)
{
	size_t ret = 0;

	for (size_t i = 1; i < list->count && !ret; i++) {
		bool remarked = false;

		if (list->items[i].inode != inode)
			continue;
		for (size_t j = 1; j < list->count && !remarked; j++) {
			enum remark remark;
			const char *about;

			remarked = list->items[j].parent == list->items[i].parent &&
				   remark_parse(list->items[j].name, &remark, &about) &&
				   remark == REMARK_NAME && !strcmp(about, list->items[i].name);
		}
		if (!remarked)
			ret = i;
	}
	return ret;
}

/* What an object has by one of its names, as the remark says; false: the object is not there. */
static bool diff_name(struct tree_differ *d, const struct path_item *remark, const char *about)
{
	size_t index = item_remarked(d->list, remark, about);
	const struct inode *inode = d->list->items[index].inode;
	struct inode by_name = *remark->inode;
	unsigned differ;

	if (!index)
		return false;
	by_name.mode |= inode->mode & S_IFMT;
	differ = inode_attributes_differ(inode, &by_name, d->seen->fields);
	for (unsigned field = 1; field <= differ; field <<= 1) {
		if (!(differ & field))
			continue;
		d->index = index;
		add_attribute(diff_line_begin(d), &by_name, field);
		buf_adds(&d->line, " by this name, but ");
		add_attribute(&d->line, inode, field);
		buf_adds(&d->line, " by ");
		add_item_path(&d->line, d->list, item_first_seen(d->list, inode));
		buf_adds(&d->line, ", the same inode");
		diff_line_end(d);
	}
	return true;
}

static void diff_one_sided(struct tree_differ *d, const struct path_item *item, bool missing)
{
	enum remark remark;
	const char *about;
	struct buf *b;

	if (remark_parse(item->name, &remark, &about) && remark == REMARK_NAME &&
	    diff_name(d, item, about))
		return;
	if (remark_parse(item->name, &remark, &about)) {
		d->index = item->parent;
		remark_print(remark, about, diff_line_begin(d));
		diff_line_end(d);
		return;
	}
	b = diff_line_begin(d);
	buf_adds(b, missing ? "missing, expected " : "unexpected: ");
	add_what(b, item->inode);
	diff_line_end(d);
}

/* Which of two items comes first, by its sign; 0: they have the same path. What lies in a directory
 * that the other tree has not comes before all that is left there; so does what is deeper, since
 * the other is done with that directory. Else both are in the same one. */
static int item_order(const struct tree_differ *d, size_t e, size_t s)
{
	const struct path_item *expected = &d->e.items[e], *seen = &d->s.items[s];

	if (e == d->e.count || s == d->s.count)
		return e == d->e.count ? 1 : -1;
	if (!d->e_paired[expected->parent] || !d->s_paired[seen->parent])
		return d->e_paired[expected->parent] ? 1 : -1;
	if (expected->depth != seen->depth)
		return expected->depth > seen->depth ? -1 : 1;
	return strcmp(expected->name, seen->name);
}

/* Compares or prints the next entries of the two lists. */
static void differ_step(struct tree_differ *d, size_t *e, size_t *s)
{
	int order = item_order(d, *e, *s);

	d->list = order <= 0 ? &d->e : &d->s;
	d->index = order <= 0 ? *e : *s;
	d->differs = false;
	if (order == 0) {
		d->e_paired[*e] = d->s_paired[*s] = true;
		compare_items(d, &d->e.items[(*e)++], &d->s.items[(*s)++]);
	} else if (order < 0) {
		diff_one_sided(d, &d->e.items[(*e)++], true);
	} else {
		diff_one_sided(d, &d->s.items[(*s)++], false);
	}
}

size_t tree_diff(const struct tree *expected, const struct tree *seen, size_t limit,
		 struct buf *out)
{
	struct tree_differ d = { .expected = expected, .seen = seen, .limit = limit, .out = out };
	size_t e = 0, s = 0, differing = 0;

	path_list_make(&d.e, expected);
	path_list_make(&d.s, seen);
	d.e_paired = must_alloc(d.e.count * sizeof(bool));
	d.s_paired = must_alloc(d.s.count * sizeof(bool));
	d.e_paired[0] = d.s_paired[0] = true;
	while (e < d.e.count || s < d.s.count) {
		differ_step(&d, &e, &s);
		differing += d.differs;
	}
	free(d.e_paired);
	free(d.s_paired);
	path_list_free(&d.e);
	path_list_free(&d.s);
	buf_free(&d.line);
	return differing;
}
