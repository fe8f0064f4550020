/* resync.c -- workloads that sync several times: tables, and what is drawn of them. */
#include "workload/resync.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "workload/growing.h"

enum { CHANGES_MAX = 4, TRIES_MAX = 32, CALLS_MAX = 64, LINES_MAX = 512, NAME_MAX_BYTES = 48 };

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

/* The lines with two of the paths for P and Q. */
static void resync_name(const char *lines, size_t p, size_t q, char ret[LINES_MAX])
{
	size_t len = 0;

	for (const char *at = lines; *at; at++) {
		char stands = resync_stands(lines, at);

		must(len + NAME_MAX_BYTES < LINES_MAX);
		if (stands)
			len += (size_t)snprintf(ret + len, NAME_MAX_BYTES, "%s",
						paths[stands == 'P' ? p : q]);
		else
			ret[len++] = *at;
	}
	ret[len] = '\0';
}

static size_t resync_path(struct resync_work *w)
{
	return rng_below(&w->g.rng, ARRAY_LEN(paths));
}

/* With this path for P. False if it fails. */
static bool resync_try(struct resync_work *w, const char *row, size_t p)
{
	size_t q = (p + 1 + rng_below(&w->g.rng, ARRAY_LEN(paths) - 1)) % ARRAY_LEN(paths);
	char lines[LINES_MAX];

	resync_name(row, p, q, lines);
	if (!growing_add_lines(&w->g, lines))
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

/* Between two changes of one file. */
static void resync_between_changes(struct resync_work *w)
{
	uint64_t kind = rng_below(&w->g.rng, 8);

	if (kind < 2)
		resync_sync_touched(w, false);
	else if (kind == 2)
		growing_add_lines(&w->g, "sync()\n");
	if (kind == 0 || kind == 3)
		growing_add_lines(&w->g, "drop_caches()\n");
}

/* Two changes of one file, or the second one alone: all pairs in turn, in an order in which each
 * row is soon there. */
static void resync_one_file(struct resync_work *w, uint64_t turn)
{
	const size_t rows = ARRAY_LEN(other_changes);
	size_t second = turn % rows, first = (turn / rows * 7 + second) % (rows + 1);
	bool changed = false;

	for (unsigned i = 0; i < TRIES_MAX && !changed; i++) {
		size_t p = resync_path(w);

		if (first < rows && resync_try(w, other_changes[first].lines, p)) {
			first = rows;
			resync_between_changes(w);
		}
		changed = resync_try(w, other_changes[second].lines, p);
	}
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
			growing_add_lines(&w->g, setup[i].line);
	growing_add_lines(&w->g, "sync()\n");
	w->durable = tree_copy(&w->g.state.tree);
}

/* Half of them change names only, twice; a quarter one file; a quarter anything. */
static void resync_run(struct resync_work *w, uint64_t index)
{
	uint64_t kind = index % 4;
	uint64_t changes = kind < 2 ? 2 : 2 + rng_below(&w->g.rng, CHANGES_MAX - 1);

	if (kind >= 2 && rng_chance(&w->g.rng, 1, 3)) {
		resync_change(w, false);
		resync_sync(w);
	}
	if (kind == 2) {
		w->touched = 0;
		resync_one_file(w, index / 4);
		if (resync_sync_touched(w, false))
			return;
		changes = 0;
	}
	for (uint64_t i = 0; i < changes; i++) {
		if (i)
			resync_between(w);
		resync_change(w, kind < 2 || !rng_chance(&w->g.rng, 1, 3));
	}
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
