/* resync.c -- workloads that sync several times: tables, and what is drawn of them. */
#include "workload/resync.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "workload/growing.h"

enum { CHANGES_MAX = 4, TRIES_MAX = 32, CALLS_MAX = 512, NAME_MAX_BYTES = 48 };
/* A line with # means so many lines, with multiples of this in its place. That is more than an
 * inode has room for: extents, names. */
enum { REPEATED = 24, REPEATED_STEP = 8192 };

/* How a single change of a file is synced. */
enum { ONE_CHANGE_SYNCED, ONE_CHANGE_DATASYNC, ONE_CHANGE_EVICTED, ONE_CHANGE_WAYS };

/* More than an inode has room for. */
#define TEXT_50 "a-text-of-fifty-bytes-some-of-which-make-a-block.."
#define TEXT_400 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50

/* Few names, so that one change has to do with another. */
static const char *const paths[] = { "A/foo", "A/bar", "B/foo" };
static const char *const parents[] = { "/A", "/A", "/B" };

/* What is durable. A line that fails is left out, since a file system may lack what it needs, and
 * so is one that is not drawn: `in` of four have it. */
static const struct {
	unsigned in;
	const char *line;
} setup[] = {
	{ 4, "mkdir(\"A\", 0755)\n" },
	{ 4, "mkdir(\"B\", 0755)\n" },
	{ 4, "write_file(\"A/foo\", O_WRONLY|O_CREAT, data(1, 16384), 16384, 0)\n" },
	{ 1, "write_file(\"A/foo\", O_WRONLY, data(17, 4096), 4096, #)\n" },
	{ 3, "setxattr(\"A/foo\", \"user.a\", \"old\", 3, 0)\n" },
	{ 2, "link(\"A/foo\", \"A/bar\")\n" },
	{ 2, "write_file(\"A/bar\", O_WRONLY|O_CREAT|O_EXCL, data(2, 9000), 9000, 0)\n" },
	{ 2, "mkdir(\"A/bar\", 0755)\n"
	     "write_file(\"A/bar/x\", O_WRONLY|O_CREAT, data(11, 300), 300, 0)\n" },
	{ 2, "write_file(\"B/foo\", O_WRONLY|O_CREAT, data(3, 100), 100, 0)\n" },
	{ 1, "mkdir(\"B/foo\", 0755)\n" },
	{ 1, "mkdir(\"A/d\", 0755)\n" },
	{ 1, "write_file(\"A/d/baz\", O_WRONLY|O_CREAT, data(4, 5000), 5000, 0)\n" },
};

struct resync_work {
	struct growing g;
	struct tree durable;
	unsigned touched; /* paths that P or Q meant, as bits */
};

/* P and Q, which begin a path, stand for one of the paths; a row counts `weight` times. */
struct resync_row {
	unsigned weight;
	const char *lines;
};

static const struct resync_row name_changes[] = {
	{ 12, "rename(\"P\", \"Q\")\n" },
	{ 6, "link(\"P\", \"Q\")\n" },
	{ 5, "unlink(\"P\")\n" },
	/* Renamed by hand; replaced; and the old name used again. */
	{ 2, "link(\"P\", \"Q\")\nunlink(\"P\")\n" },
	{ 2, "unlink(\"P\")\nlink(\"Q\", \"P\")\n" },
	{ 2, "rename(\"P\", \"Q\")\n"
	     "write_file(\"P\", O_WRONLY|O_CREAT|O_EXCL, data(5, 6000), 6000, 0)\n" },
	{ 4, "create_file(\"P\", O_WRONLY|O_CREAT|O_EXCL, 0644)\n" },
	{ 5, "write_file(\"P\", O_WRONLY|O_CREAT|O_EXCL, data(5, 6000), 6000, 0)\n" },
	{ 1, "symlink(\"foo\", \"P\")\n" },
	/* A crash finds files that are open and have no name. */
	{ 2, "open(\"P\", O_RDWR)\nunlink(\"P\")\nsync()\nclose(3)\n" },
	{ 1, "open(\"A\", O_RDWR|O_TMPFILE, 0644)\npwrite(3, data(6, 5000), 5000, 0)\nsync()\n"
	     "close(3)\n" },
	/* Blocks that a journal has as those of a directory become data. */
	{ 1, "mkdir(\"A/t\", 0755)\nmkdir(\"A/t/t\", 0755)\nsync()\nrmdir(\"A/t/t\")\n"
	     "rmdir(\"A/t\")\nsync()\n"
	     "write_file(\"P\", O_WRONLY|O_CREAT, data(16, 700000), 700000, 0)\nsync()\n" },
	{ 1, "symlink(\"" TEXT_400 "\", \"A/t\")\nsync()\nunlink(\"A/t\")\nsync()\n"
	     "write_file(\"P\", O_WRONLY|O_CREAT, data(17, 4096), 4096, #)\nsync()\n" },
	{ 1, "mkdir(\"A/t\", 0755)\ncreate_file(\"A/t/" TEXT_50 "#\", O_WRONLY|O_CREAT, 0644)\n"
	     "sync()\nunlink(\"A/t/" TEXT_50 "#\")\nrmdir(\"A/t\")\nsync()\n"
	     "write_file(\"P\", O_WRONLY|O_CREAT, data(17, 4096), 4096, #)\nsync()\n" },
	/* More inodes than are made at once. */
	{ 1, "mkdir(\"A/t\", 0755)\ncreate_file(\"A/t/a#\", O_WRONLY|O_CREAT, 0644)\n"
	     "create_file(\"A/t/b#\", O_WRONLY|O_CREAT, 0644)\n"
	     "create_file(\"A/t/c#\", O_WRONLY|O_CREAT, 0644)\n" },
	{ 3, "mkdir(\"P\", 0755)\n" },
	{ 1, "rmdir(\"P\")\n" },
	{ 1, "unlink(\"P/x\")\nrmdir(\"P\")\n" },
	{ 2, "create_file(\"P/x\", O_WRONLY|O_CREAT|O_EXCL, 0644)\n" },
	{ 1, "unlink(\"P/x\")\n" },
	{ 1, "rename(\"P\", \"Q/x\")\n" },
	{ 1, "rename(\"P/x\", \"Q\")\n" },
	{ 1, "link(\"P\", \"Q/x\")\n" },
	{ 2, "rename(\"P\", \"A/tmp\")\nrename(\"Q\", \"P\")\nrename(\"A/tmp\", \"Q\")\n" },
	{ 1, "mknod(\"P\", S_IFIFO|0600, 0)\n" },
	{ 1, "renameat2(AT_FDCWD, \"P\", AT_FDCWD, \"Q\", RENAME_EXCHANGE)\n" },
	{ 1, "renameat2(AT_FDCWD, \"P\", AT_FDCWD, \"Q\", RENAME_WHITEOUT)\n" },
	{ 1, "rename(\"A\", \"C\")\n" },
	{ 1, "rename(\"A/d\", \"B/d\")\n" },
	{ 1, "mkdir(\"A/e\", 0755)\nrename(\"P\", \"A/e/foo\")\n" },
	{ 1, "mkdir(\"B/e\", 0755)\nlink(\"P\", \"B/e/foo\")\n" },
	{ 1, "unlink(\"A/d/baz\")\nrmdir(\"A/d\")\nmkdir(\"A/d\", 0755)\n" },
	{ 1, "open(\"A\", O_RDWR|O_TMPFILE, 0644)\npwrite(3, data(6, 5000), 5000, 0)\n"
	     "linkat(3, \"\", AT_FDCWD, \"P\", AT_EMPTY_PATH)\nclose(3)\n" },
	{ 1, "open(\"A\", O_RDWR|O_TMPFILE, 0644)\npwrite(3, data(6, 5000), 5000, 0)\nfsync(3)\n"
	     "linkat(3, \"\", AT_FDCWD, \"P\", AT_EMPTY_PATH)\nclose(3)\n" },
};

static const struct resync_row other_changes[] = {
	{ 3, "write_file(\"P\", O_WRONLY|O_APPEND, data(7, 4096), 4096, 0)\n" },
	{ 3, "write_file(\"P\", O_WRONLY, data(8, 8192), 8192, 0)\n" },
	{ 1, "write_file(\"P\", O_WRONLY, data(9, 1000), 1000, 40000)\n" },
	{ 1, "write_file(\"P\", O_WRONLY, data(17, 4096), 4096, #)\n" },
	{ 1, "write_file(\"P\", O_WRONLY, data(19, 4096), 4096, 4000000)\n" },
	{ 2, "direct_write(\"P\", data(12, 8192), 8192, 16384)\n" },
	/* Behind the end on the disk, below that in memory; then a journal commits without the
	   rest. */
	{ 1, "write_file(\"P\", O_WRONLY, data(9, 1000), 1000, 40000)\n"
	     "direct_write(\"P\", data(12, 8192), 8192, 24576)\n"
	     "open(\"B/c\", O_RDWR|O_CREAT, 0644)\nfsync(3)\nclose(3)\n" },
	{ 1, "open(\"P\", O_RDWR)\npwrite(3, data(10, 3000), 3000, 20000)\n"
	     "sync_file_range(3, 0, 0, SYNC_FILE_RANGE_WRITE)\nclose(3)\n" },
	{ 2, "map_write_file(\"P\", MAP_SHARED, data(13, 5000), 5000, 2000)\n" },
	{ 2, "truncate(\"P\", 3000)\n" },
	{ 2, "truncate(\"P\", 20000)\n" },
	{ 1, "truncate(\"P\", 0)\n" },
	{ 2, "truncate(\"P\", 3000)\ntruncate(\"P\", 20000)\n" },
	/* Another file may get the space, and its data be on the disk before that is free there. */
	{ 2, "write_file(\"P\", O_WRONLY, data(14, 65536), 65536, 0)\nsync()\ntruncate(\"P\", 0)\n"
	     "direct_write(\"Q\", data(15, 65536), 65536, 0)\n" },
	{ 2, "fallocate_file(\"P\", FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, 4096, 8192)\n" },
	{ 2, "fallocate_file(\"P\", FALLOC_FL_ZERO_RANGE, 2000, 7000)\n" },
	/* What was written behind the end is dropped before the disk knows of it. */
	{ 1, "write_file(\"P\", O_WRONLY|O_APPEND, data(7, 4096), 4096, 0)\n"
	     "fallocate_file(\"P\", FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, 8192, 65536)\n" },
	{ 1, "write_file(\"P\", O_WRONLY|O_APPEND, data(7, 4096), 4096, 0)\n"
	     "fallocate_file(\"P\", FALLOC_FL_ZERO_RANGE|FALLOC_FL_KEEP_SIZE, 8192, 65536)\n" },
	{ 1, "fallocate_file(\"P\", FALLOC_FL_KEEP_SIZE, 16384, 16384)\n" },
	{ 1, "fallocate_file(\"P\", 0, 12288, 12288)\n" },
	{ 1, "fallocate_file(\"P\", FALLOC_FL_COLLAPSE_RANGE, 4096, 4096)\n" },
	{ 1, "fallocate_file(\"P\", FALLOC_FL_INSERT_RANGE, 4096, 4096)\n" },
	{ 3, "open(\"P\", O_RDWR)\nopen(\"Q\", O_RDONLY)\nficlonerange(3, 4, 0, 8192, 4096)\n"
	     "close(3)\nclose(4)\n" },
	/* What is shared is written to. */
	{ 2, "open(\"P\", O_RDWR)\nopen(\"Q\", O_RDONLY)\nficlonerange(3, 4, 0, 0, 0)\n"
	     "pwrite(3, data(10, 3000), 3000, 5000)\n"
	     "sync_file_range(3, 0, 0, SYNC_FILE_RANGE_WRITE)\nclose(3)\nclose(4)\n" },
	{ 1, "open(\"P\", O_RDWR)\nopen(\"Q\", O_RDONLY)\n"
	     "copy_file_range(4, 0, 3, 12288, 8192, 0)\nclose(3)\nclose(4)\n" },
	{ 2, "setxattr(\"P\", \"user.b\", \"new\", 3, 0)\n" },
	{ 2, "setxattr(\"P\", \"user.a\", \"new\", 3, 0)\n" },
	{ 1, "setxattr(\"P\", \"user.a\", \"other\", 5, 0)\n" },
	{ 2, "removexattr(\"P\", \"user.a\")\n" },
	{ 1, "setxattr(\"P\", \"user.big\", data(20, 700), 700, 0)\n" },
	{ 1, "setxattr(\"P\", \"user.big\", data(18, 700), 700, 0)\nsync()\n"
	     "removexattr(\"P\", \"user.big\")\n" },
	{ 1, "setxattr(\"A\", \"user.a\", \"dir\", 3, 0)\n" },
	{ 1, "chmod(\"P\", 0600)\n" },
	{ 1, "chown(\"P\", 1000, 1000)\n" },
};

static const char *resync_draw(struct rng *rng, const struct resync_row *rows, size_t count)
{
	uint64_t all = 0, at;
	size_t i = 0;

	for (; i < count; i++)
		all += rows[i].weight;
	at = rng_below(rng, all);
	for (i = 0; at >= rows[i].weight; i++)
		at -= rows[i].weight;
	return rows[i].lines;
}

/* Which of the two paths begins here: 'P', 'Q' or none. */
static char resync_stands(const char *lines, const char *at)
{
	if (at == lines || at[-1] != '"' || (*at != 'P' && *at != 'Q') ||
	    (at[1] != '"' && at[1] != '/'))
		return '\0';
	return *at;
}

/* A line with two of the paths for P and Q, and a number for #. */
static void resync_name_line(const char *line, size_t len, size_t p, size_t q, unsigned number,
			     struct buf *to)
{
	for (const char *at = line; at < line + len; at++) {
		char stands = resync_stands(line, at);

		if (stands)
			buf_adds(to, paths[stands == 'P' ? p : q]);
		else if (*at == '#')
			buf_addf(to, "%u", number);
		else
			buf_add(to, at, 1);
	}
}

/* All lines, as they are carried out. False if one fails: then none is. */
static bool resync_add(struct resync_work *w, const char *lines, size_t p, size_t q)
{
	struct buf named = BUF_INIT;
	bool succeeded;

	for (size_t len; *lines; lines += len) {
		len = strcspn(lines, "\n") + 1;
		for (unsigned i = 0; i < (memchr(lines, '#', len) ? REPEATED : 1); i++)
			resync_name_line(lines, len, p, q, i * REPEATED_STEP, &named);
	}
	succeeded = growing_add_lines(&w->g, named.data);
	buf_free(&named);
	return succeeded;
}

static size_t resync_path(struct resync_work *w)
{
	return rng_below(&w->g.rng, ARRAY_LEN(paths));
}

/* With this path for P. False if it fails. */
static bool resync_try(struct resync_work *w, const char *row, size_t p)
{
	size_t q = (p + 1 + rng_below(&w->g.rng, ARRAY_LEN(paths) - 1)) % ARRAY_LEN(paths);

	if (!resync_add(w, row, p, q))
		return false;
	w->touched |= 1U << p;
	if (strstr(row, "\"Q"))
		w->touched |= 1U << q;
	return true;
}

/* A change of names, or of something else, that succeeds. */
static void resync_change(struct resync_work *w, bool names)
{
	bool changed = false;

	for (unsigned i = 0; i < TRIES_MAX && !changed; i++)
		changed = resync_try(
			w,
			names ? resync_draw(&w->g.rng, name_changes, ARRAY_LEN(name_changes))
			      : resync_draw(&w->g.rng, other_changes, ARRAY_LEN(other_changes)),
			resync_path(w));
}

/* One of the paths that a change has named, or its directory. */
static bool resync_sync_touched(struct resync_work *w, bool parent)
{
	size_t at = rng_below(&w->g.rng, ARRAY_LEN(paths));
	char path[NAME_MAX_BYTES];

	while (w->touched && !(w->touched & 1U << at))
		at = (at + 1) % ARRAY_LEN(paths);
	snprintf(path, sizeof(path), "/%s", paths[at]);
	return growing_sync_path(&w->g, parent ? parents[at] : path);
}

/* Between two changes of one file: half of them are in two logs. */
static void resync_between_changes(struct resync_work *w)
{
	uint64_t kind = rng_below(&w->g.rng, 8);

	if (kind < 4)
		resync_sync_touched(w, false);
	else if (kind == 4)
		growing_add_lines(&w->g, "sync()\n");
	if (kind == 0 || kind == 5)
		growing_add_lines(&w->g, "drop_caches()\n");
}

/* Its data is written, and the file is not in memory when it is synced. */
static void resync_evict(struct resync_work *w, size_t p)
{
	resync_add(w,
		   "open(\"P\", O_RDONLY)\n"
		   "sync_file_range(3, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|"
		   "SYNC_FILE_RANGE_WAIT_AFTER)\n"
		   "close(3)\ndrop_caches()\n",
		   p, p);
}

/* Each change of a file alone, with fsync, with fdatasync, and with fsync of a file that was read
 * again: what is forgotten behind one change, another one would make it write. */
static bool resync_one_change(struct resync_work *w, uint64_t turn)
{
	const size_t rows = ARRAY_LEN(other_changes);
	uint64_t way = (turn + turn / rows) % ONE_CHANGE_WAYS;
	char path[NAME_MAX_BYTES];
	size_t p = 0;
	bool changed = false;

	for (unsigned i = 0; i < TRIES_MAX && !changed; i++) {
		p = resync_path(w);
		changed = resync_try(w, other_changes[turn % rows].lines, p);
	}
	if (way == ONE_CHANGE_EVICTED)
		resync_evict(w, p);
	snprintf(path, sizeof(path), "/%s", paths[p]);
	return growing_sync_path_by(&w->g, path, way == ONE_CHANGE_DATASYNC);
}

/* Then all pairs in turn, in an order in which each row is soon there. True if it is synced. */
static bool resync_one_file(struct resync_work *w, uint64_t turn)
{
	const size_t rows = ARRAY_LEN(other_changes);
	size_t first, second;
	bool changed = false;

	w->touched = 0;
	if (turn < ONE_CHANGE_WAYS * rows)
		return resync_one_change(w, turn);
	turn -= ONE_CHANGE_WAYS * rows;
	second = turn % rows, first = (turn / rows * 7 + second) % rows;
	for (unsigned i = 0; i < TRIES_MAX && !changed; i++) {
		size_t p = resync_path(w);

		if (first < rows && resync_try(w, other_changes[first].lines, p)) {
			first = rows;
			resync_between_changes(w);
		}
		changed = resync_try(w, other_changes[second].lines, p);
	}
	return resync_sync_touched(w, false);
}

/* Mostly that; a file that was renamed has not changed, but its log has to. Else what has changed,
 * or anything. */
static void resync_sync(struct resync_work *w)
{
	uint64_t kind = rng_below(&w->g.rng, 8);

	if (kind >= 6 || !resync_sync_touched(w, kind >= 4))
		growing_sync_object(&w->g, kind == 6 ? &w->durable : NULL);
}

/* Between two changes: mostly nothing, which leaves both to one log. */
static void resync_between(struct resync_work *w)
{
	uint64_t kind = rng_below(&w->g.rng, 12);

	if (kind < 4)
		resync_sync(w);
	else if (kind == 4)
		growing_add_lines(&w->g, "sync()\n");
	/* What was logged, and is read again, may not be known to be in the log. */
	if (kind == 0 || kind == 5)
		growing_add_lines(&w->g, "drop_caches()\n");
}

static void resync_set_up(struct resync_work *w)
{
	for (size_t i = 0; i < ARRAY_LEN(setup); i++)
		if (rng_below(&w->g.rng, 4) < setup[i].in)
			resync_add(w, setup[i].line, 0, 0);
	growing_add_lines(&w->g, "sync()\n");
	w->durable = tree_copy(&w->g.state.tree);
}

/* A change of names that succeeds: of the row, if it does with some paths; of these `p` first. */
static void resync_change_names(struct resync_work *w, size_t row, size_t p)
{
	bool changed = resync_try(w, name_changes[row].lines, p);

	for (unsigned i = 0; i < TRIES_MAX / 2 && !changed; i++)
		changed = resync_try(w, name_changes[row].lines, resync_path(w));
	if (!changed)
		resync_change(w, true);
}

/* Two changes of names, each of them in a log of the file, or of the directory: the second one is
 * of each row in turn. */
static void resync_two_logs(struct resync_work *w, uint64_t turn)
{
	bool parent = rng_chance(&w->g.rng, 1, 2), changed = false;
	size_t p = 0;

	for (unsigned i = 0; i < TRIES_MAX && !changed; i++) {
		p = resync_path(w);
		changed = resync_try(
			w, resync_draw(&w->g.rng, name_changes, ARRAY_LEN(name_changes)), p);
	}
	if (!resync_sync_touched(w, parent))
		resync_sync(w);
	if (rng_chance(&w->g.rng, 1, 4))
		growing_add_lines(&w->g, "drop_caches()\n");
	resync_change_names(w, turn % ARRAY_LEN(name_changes), p);
	if (rng_chance(&w->g.rng, 1, 4) || !resync_sync_touched(w, parent))
		resync_sync(w);
}

/* Changes of names only, or of anything. */
static void resync_changes(struct resync_work *w, uint64_t changes, bool names)
{
	for (uint64_t i = 0; i < changes; i++) {
		if (i)
			resync_between(w);
		resync_change(w, names || !rng_chance(&w->g.rng, 1, 3));
	}
	resync_sync(w);
}

/* A quarter changes names only, twice; a quarter the same in two logs; a quarter one file; a
 * quarter anything. */
static void resync_run(struct resync_work *w, uint64_t index)
{
	uint64_t kind = index % 4;

	if (kind >= 2 && rng_chance(&w->g.rng, 1, 3)) {
		resync_change(w, false);
		resync_sync(w);
	}
	if (kind == 1)
		resync_two_logs(w, index / 4);
	else if (kind != 2)
		resync_changes(w, kind ? 2 + rng_below(&w->g.rng, CHANGES_MAX - 1) : 2, !kind);
	else if (!resync_one_file(w, index / 4))
		resync_sync(w);
}

void resync_workload(const struct model *model, const struct state *start, uint64_t index,
		     uint64_t seed, struct arena *arena, struct workload *ret)
{
	struct resync_work w = { .touched = 0 };
	char *name = arena_alloc(arena, NAME_MAX_BYTES);

	growing_begin(&w.g, model, start, CALLS_MAX,
		      seed ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15), arena);
	resync_set_up(&w);
	snprintf(name, NAME_MAX_BYTES, "resync/%llu", (unsigned long long)index);
	*ret = (struct workload){ .name = name, .setup_count = w.g.count };
	resync_run(&w, index);
	ret->calls = w.g.calls;
	ret->count = w.g.count;
	tree_free(&w.durable);
	growing_end(&w.g);
}
