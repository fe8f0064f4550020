/* fact.c -- two trees side by side, from the root down.
 *
 * Objects that are in both by path are compared field by field, as far as the trees' fields go.
 * Which names are one object is compared through pairs: an inode of one tree goes with exactly
 * one of the other. */
#include "judge/fact.h"

#include <stdlib.h>
#include <string.h>

#include "tree/remark.h"

const char *const fact_names[FACT_KINDS] = {
	[FACT_UNREADABLE] = "unreadable",
	[FACT_MISSING] = "missing",
	[FACT_EXTRA] = "extra",
	[FACT_TYPE] = "type",
	[FACT_LINKS] = "links",
	[FACT_SIZE] = "size",
	[FACT_DATA] = "data",
	[FACT_TARGET] = "target",
	[FACT_MODE] = "mode",
	[FACT_OWNER] = "owner",
	[FACT_NLINK] = "nlink",
	[FACT_XATTR] = "xattr",
	[FACT_RDEV] = "rdev",
	[FACT_FLAGS] = "flags",
	[FACT_DOTS] = "dots",
	[FACT_ENTRY_INO] = "d_ino",
	[FACT_ENTRY_TYPE] = "d_type",
	[FACT_TIMES] = "times",
};

enum { PAIRS_MAX = 256 };

struct pair {
	uint64_t expected, seen;
	const char *path;
};

struct finder {
	const struct tree *expected, *seen;
	unsigned fields;
	struct arena *arena;
	struct fact *facts;
	size_t count;
	struct pair pairs[PAIRS_MAX];
	size_t pair_count;
};

static struct fact *add(struct finder *f, enum fact_kind kind, const char *path,
			const struct inode *inode)
{
	static struct fact beyond;
	struct fact *fact = f->count < FACTS_MAX ? &f->facts[f->count++] : &beyond;

	*fact = (struct fact){ .kind = kind, .path = path };
	if (inode) {
		fact->mode = inode->mode;
		fact->uid = inode->uid;
		fact->gid = inode->gid;
		fact->nlink = inode->nlink;
		fact->size = inode->size;
		fact->rdev = inode->rdev;
		fact->flags = inode->flags;
	}
	return fact;
}

static void fact_set_error(struct finder *f, struct fact *fact, const struct inode *seen)
{
	fact->call = arena_strdup(f->arena, seen->error.call);
	fact->error = seen->error.code;
}

static void add_unreadable(struct finder *f, const char *path, const struct inode *expected,
			   const struct inode *seen)
{
	fact_set_error(f, add(f, FACT_UNREADABLE, path, expected), seen);
}

static void add_extra(struct finder *f, const char *path, const struct inode *seen)
{
	struct fact *fact = add(f, FACT_EXTRA, path, NULL);

	if (!(seen->mode & S_IFMT))
		fact_set_error(f, fact, seen);
}

static void compare_links(struct finder *f, const char *path, uint64_t expected, uint64_t seen)
{
	struct fact *fact;

	for (size_t i = 0; i < f->pair_count; i++) {
		if ((f->pairs[i].expected == expected) == (f->pairs[i].seen == seen))
			continue;
		fact = add(f, FACT_LINKS, path, NULL);
		fact->name = f->pairs[i].path;
		fact->absent = f->pairs[i].expected != expected;
		return;
	}
	if (f->pair_count < PAIRS_MAX)
		f->pairs[f->pair_count++] = (struct pair){ expected, seen, path };
}

static void compare_data(struct finder *f, const char *path, const struct inode *expected,
			 const struct inode *seen)
{
	char want[TREE_BLOCK], got[TREE_BLOCK];
	size_t len, got_len, i;
	struct fact *fact;

	if (expected->size != seen->size) {
		add(f, FACT_SIZE, path, expected);
		return;
	}
	if (hash_equal(expected->file.data, seen->file.data))
		return;
	for (uint64_t at = 0; at < expected->size; at += TREE_BLOCK) {
		len = tree_read(f->expected, expected->ino, at, want, sizeof(want));
		got_len = tree_read(f->seen, seen->ino, at, got, sizeof(got));
		for (i = 0; i < len && i < got_len && want[i] == got[i]; i++)
			;
		if (i == len)
			continue;
		fact = add(f, FACT_DATA, path, expected);
		fact->offset = at + i;
		fact->len = len - i < FACT_BYTES_MAX ? len - i : FACT_BYTES_MAX;
		fact->bytes = arena_copy(f->arena, want + i, fact->len);
		return;
	}
}

static void compare_target(struct finder *f, const char *path, const struct inode *expected,
			   const struct inode *seen)
{
	const struct blob *a = expected->target, *b = seen->target;
	struct fact *fact;

	if (a->len == b->len && !memcmp(a->bytes, b->bytes, a->len))
		return;
	fact = add(f, FACT_TARGET, path, expected);
	fact->bytes = arena_copy(f->arena, a->bytes, a->len);
	fact->len = a->len;
}

static const char *xattr_value(const struct xattr *x)
{
	return x->bytes + x->name_len + 1;
}

static void compare_xattrs(struct finder *f, const char *path, const struct inode *expected,
			   const struct inode *seen)
{
	const struct xattr *x, *other;
	struct fact *fact;
	uint64_t cookie = 0;

	if (hash_equal(expected->xattr_hash, seen->xattr_hash))
		return;
	while ((x = tree_next_xattr(expected, &cookie))) {
		other = tree_xattr(seen, x->bytes);
		if (other && other->value_len == x->value_len &&
		    !memcmp(xattr_value(other), xattr_value(x), x->value_len))
			continue;
		fact = add(f, FACT_XATTR, path, expected);
		fact->name = arena_strdup(f->arena, x->bytes);
		fact->bytes = arena_copy(f->arena, xattr_value(x), x->value_len);
		fact->len = x->value_len;
	}
	for (cookie = 0; (x = tree_next_xattr(seen, &cookie));) {
		if (tree_xattr(expected, x->bytes))
			continue;
		fact = add(f, FACT_XATTR, path, expected);
		fact->name = arena_strdup(f->arena, x->bytes);
		fact->absent = true;
	}
}

static bool differ_in_times(const struct inode *a, const struct inode *b)
{
	return a->times.access != b->times.access || a->times.modify != b->times.modify ||
	       a->times.change != b->times.change;
}

/* What stat returns besides the type, the size and times. */
static void compare_stat(struct finder *f, const char *path, const struct inode *a,
			 const struct inode *b)
{
	unsigned nlink = S_ISDIR(a->mode) ? TREE_NLINK_DIR : TREE_NLINK;
	unsigned mode = S_ISLNK(a->mode) ? TREE_SYMLINK_MODE : TREE_MODE;

	if ((f->fields & mode) && a->mode != b->mode)
		add(f, FACT_MODE, path, a);
	if ((f->fields & TREE_OWNER) && (a->uid != b->uid || a->gid != b->gid))
		add(f, FACT_OWNER, path, a);
	if ((f->fields & nlink) && a->nlink != b->nlink)
		add(f, FACT_NLINK, path, a);
	if ((f->fields & TREE_RDEV) && a->rdev != b->rdev)
		add(f, FACT_RDEV, path, a);
	if ((f->fields & TREE_FLAGS) && a->flags != b->flags)
		add(f, FACT_FLAGS, path, a);
}

static void compare_attributes(struct finder *f, const char *path, const struct inode *a,
			       const struct inode *b)
{
	compare_stat(f, path, a, b);
	if (f->fields & TREE_XATTR)
		compare_xattrs(f, path, a, b);
	if ((f->fields & TREE_TIMES) && differ_in_times(a, b))
		add(f, FACT_TIMES, path, a);
}

static void compare_dirs(struct finder *f, const char *path, uint64_t expected, uint64_t seen,
			 unsigned depth);

static void compare(struct finder *f, const char *path, uint64_t expected_ino, uint64_t seen_ino,
		    unsigned depth)
{
	const struct inode *expected = tree_inode(f->expected, expected_ino);
	const struct inode *seen = tree_inode(f->seen, seen_ino);

	if (!(seen->mode & S_IFMT)) {
		add_unreadable(f, path, expected, seen);
		return;
	}
	if ((expected->mode & S_IFMT) != (seen->mode & S_IFMT)) {
		add(f, FACT_TYPE, path, expected);
		return;
	}
	compare_links(f, path, expected_ino, seen_ino);
	if (S_ISREG(expected->mode) && (f->fields & TREE_DATA))
		compare_data(f, path, expected, seen);
	if (S_ISLNK(expected->mode))
		compare_target(f, path, expected, seen);
	compare_attributes(f, path, expected, seen);
	if (S_ISDIR(expected->mode) && depth < FACT_DEPTH_MAX)
		compare_dirs(f, path, expected_ino, seen_ino, depth + 1);
}

static const char *join(struct finder *f, const char *path, const struct entry *entry)
{
	size_t len = path[1] ? strlen(path) : 0; /* the root's slash is the entry's */
	char *joined = arena_alloc(f->arena, len + 1 + entry->len + 1);

	memcpy(joined, path, len);
	joined[len] = '/';
	memcpy(joined + len + 1, entry->name, entry->len);
	return joined;
}

/* What stat returns for an object by one of its names only: the inode of a remark has it. */
static void compare_by_name(struct finder *f, const char *path, const struct entry *entry,
			    const struct inode *remark)
{
	const struct inode *expected = tree_inode(f->expected, entry->ino);
	struct inode by_name = *remark;
	size_t before = f->count;

	by_name.mode |= expected->mode & S_IFMT;
	compare_stat(f, path, expected, &by_name);
	if (S_ISREG(expected->mode) && f->fields & TREE_DATA && expected->size != by_name.size)
		add(f, FACT_SIZE, path, expected);
	for (size_t i = before; i < f->count; i++)
		f->facts[i].by_name = true;
}

/* A remark of a scan about an entry of a directory; false: it is none. */
static bool add_remark(struct finder *f, const char *path, uint64_t expected_dir,
		       const struct entry *entry)
{
	const struct entry *named;
	const char *about;
	enum remark remark;
	enum fact_kind kind;

	if (!remark_parse(entry->name, &remark, &about) || !*about)
		return false;
	if (remark == REMARK_NAME) {
		named = tree_find(f->expected, expected_dir, about, strlen(about));
		if (named)
			compare_by_name(f, join(f, path, named), named,
					tree_inode(f->seen, entry->ino));
		return true;
	}
	if (remark == REMARK_TYPE)
		kind = FACT_ENTRY_TYPE;
	else
		kind = strcmp(about, ".") && strcmp(about, "..") ? FACT_ENTRY_INO : FACT_DOTS;
	add(f, kind, path, NULL)->name = arena_strdup(f->arena, about);
	return true;
}

static void compare_dirs(struct finder *f, const char *path, uint64_t expected, uint64_t seen,
			 unsigned depth)
{
	const struct entry *entry, *other;
	uint64_t cookie = 0;
	const char *below;

	while ((entry = tree_next_entry(f->expected, expected, &cookie))) {
		below = join(f, path, entry);
		other = tree_find(f->seen, seen, entry->name, entry->len);
		if (other)
			compare(f, below, entry->ino, other->ino, depth);
		else
			add(f, FACT_MISSING, below, tree_inode(f->expected, entry->ino));
	}
	for (cookie = 0; (entry = tree_next_entry(f->seen, seen, &cookie));)
		if (!tree_find(f->expected, expected, entry->name, entry->len) &&
		    !add_remark(f, path, expected, entry))
			add_extra(f, join(f, path, entry), tree_inode(f->seen, entry->ino));
}

static int by_weight(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->path, y->path);
}

size_t facts_find(const struct tree *expected, const struct tree *seen, struct arena *arena,
		  struct fact *ret)
{
	struct finder f = {
		.expected = expected,
		.seen = seen,
		.fields = expected->fields & seen->fields,
		.arena = arena,
		.facts = ret,
	};

	compare(&f, "/", TREE_ROOT, TREE_ROOT, 0);
	qsort(ret, f.count, sizeof(*ret), by_weight);
	return f.count;
}

/* Heaviest first, so that equal ones are neighbours. */
void facts_print(const struct fact *facts, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (!i || facts[i].kind != facts[i - 1].kind)
			buf_addf(out, "%s%s", i ? ", " : "", fact_names[facts[i].kind]);
}

uint64_t fact_inode(const struct tree *t, const char *path)
{
	uint64_t ino = TREE_ROOT;
	const struct entry *entry;
	const struct inode *dir;
	size_t len;

	for (; *(path += strspn(path, "/")); path += len) {
		len = strcspn(path, "/");
		dir = tree_inode(t, ino);
		entry = S_ISDIR(dir->mode) ? tree_find(t, ino, path, len) : NULL;
		if (!entry)
			return 0;
		ino = entry->ino;
	}
	return ino;
}
