/* pair.c -- workloads of two processes and one fsync: tables, and every combination of their rows.
 */
#include "workload/pair.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"

enum { CALLS_MAX = 16, LINE_MAX_BYTES = 128, NAME_MAX_BYTES = 160 };

static const char directories[] =
	"mkdir(\"A\", 0755)\nmkdir(\"B\", 0755)\n"
	"write_file(\"B/bar\", O_WRONLY|O_CREAT, data(7, 2000), 2000, 0)\n";

/* The file is durable, or process 1 makes it. */
static const struct {
	const char *name, *setup, *open;
} files[] = {
	{ "durable", "write_file(\"A/foo\", O_WRONLY|O_CREAT, data(1, 6000), 6000, 0)\n",
	  "open(\"A/foo\", O_RDWR)\n" },
	{ "new", "", "open(\"A/foo\", O_RDWR|O_CREAT, 0644)\n" },
};

/* What process 1 does by its descriptor. */
static const char *const changes[] = {
	"pwrite(3, data(2, 5000), 5000, 3000)\n",
	"ftruncate(3, 2500)\n",
};

/* What process 2 does. */
static const char *const actions[] = {
	"rename(\"A/foo\", \"A/bar\")\n",
	"rename(\"A/foo\", \"B/foo\")\n",
	"rename(\"A\", \"C\")\n",
	"unlink(\"A/foo\")\n",
	"unlink(\"A/foo\")\nwrite_file(\"A/foo\", O_WRONLY|O_CREAT, data(3, 3000), 3000, 0)\n",
	"rename(\"B/bar\", \"A/foo\")\n",
	"link(\"A/foo\", \"B/foo\")\n",
	"link(\"A/foo\", \"A/bar\")\nunlink(\"A/foo\")\n",
	"renameat2(AT_FDCWD, \"A/foo\", AT_FDCWD, \"B/bar\", RENAME_EXCHANGE)\n",
	"write_file(\"A/foo\", O_WRONLY, data(4, 4000), 4000, 1000)\n",
	"truncate(\"A/foo\", 100)\n",
	"chmod(\"A/foo\", 0600)\n",
	"setxattr(\"A/foo\", \"user.a\", \"v\", 1, 0)\n",
	"mkdir(\"A/d\", 0755)\n",
};

/* The one that is made, and by whom. */
static const struct {
	unsigned pid;
	const char *calls;
} syncs[] = {
	{ 1, "fsync(3)\n" },
	{ 1, "fdatasync(3)\n" },
	{ 2, "open(\"A\", O_RDONLY|O_DIRECTORY)\nfsync(3)\n" },
};

struct pair_parts {
	struct call *calls;
	size_t count;
	struct arena *arena;
};

uint64_t pair_count(void)
{
	return ARRAY_LEN(files) * ARRAY_LEN(changes) * ARRAY_LEN(actions) * 2 * ARRAY_LEN(syncs);
}

/* Calls of a process, each on its line. */
static void pair_add(struct pair_parts *p, unsigned pid, const char *lines)
{
	for (size_t len; (len = strcspn(lines, "\n")) > 0; lines += len + 1) {
		struct err err = { 0 };
		char line[LINE_MAX_BYTES];

		must(p->count < CALLS_MAX && len < sizeof(line));
		memcpy(line, lines, len);
		line[len] = '\0';
		must(!call_parse(&p->calls[p->count], line, p->arena, &err));
		p->calls[p->count++].pid = (uint16_t)pid;
	}
}

void pair_workload(uint64_t index, struct arena *arena, struct workload *ret)
{
	struct pair_parts p = { .arena = arena };
	size_t file = index % ARRAY_LEN(files), change, action, sync;
	char *name = arena_alloc(arena, NAME_MAX_BYTES);
	bool first;

	index /= ARRAY_LEN(files);
	change = index % ARRAY_LEN(changes);
	index /= ARRAY_LEN(changes);
	action = index % ARRAY_LEN(actions);
	index /= ARRAY_LEN(actions);
	first = index % 2;
	sync = index / 2;
	p.calls = arena_alloc(arena, CALLS_MAX * sizeof(*p.calls));
	pair_add(&p, 2, "create_process(0, 0)\n");
	pair_add(&p, 1, directories);
	pair_add(&p, 1, files[file].setup);
	pair_add(&p, 1, "sync()\n");
	*ret = (struct workload){ .name = name, .calls = p.calls, .setup_count = p.count };
	pair_add(&p, 1, files[file].open);
	if (first)
		pair_add(&p, 2, actions[action]);
	pair_add(&p, 1, changes[change]);
	if (!first)
		pair_add(&p, 2, actions[action]);
	pair_add(&p, syncs[sync].pid, syncs[sync].calls);
	ret->count = p.count;
	snprintf(name, NAME_MAX_BYTES, "pair/%s file, action %zu %s change %zu, sync %zu",
		 files[file].name, action, first ? "before" : "behind", change, sync);
}
