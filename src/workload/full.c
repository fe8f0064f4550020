/* full.c -- a workload on a full disk. */
#include "workload/full.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* A disk up to this size is filled with data, a larger one by fallocate: its data would have to be
 * recorded. The smallest part that is tried. */
enum { WRITTEN_MAX = 4 << 20, PART_MIN = 1024, NAME_MAX_BYTES = 32 };

static struct call fill_by_writing(const char *name, uint64_t bytes)
{
	struct call c = { .op = OP_write_file, .pid = 1 };

	c.write_file.path = (struct arg){ .text = name, .len = (uint32_t)strlen(name) };
	c.write_file.flags.num = O_WRONLY;
	c.write_file.data = (struct arg){ .seed = 5, .len = (uint32_t)bytes, .generated = true };
	c.write_file.count.num = (int64_t)bytes;
	return c;
}

static struct call fill_create(const char *name)
{
	struct call c = { .op = OP_create_file, .pid = 1 };

	c.create_file.path = (struct arg){ .text = name, .len = (uint32_t)strlen(name) };
	c.create_file.flags.num = O_WRONLY | O_CREAT;
	c.create_file.mode.num = 0644;
	return c;
}

static struct call fill_by_allocating(const char *name, uint64_t bytes)
{
	struct call c = { .op = OP_fallocate_file, .pid = 1 };

	c.fallocate_file.path = (struct arg){ .text = name, .len = (uint32_t)strlen(name) };
	c.fallocate_file.length.num = (int64_t)bytes;
	return c;
}

void full_workload(const struct workload *w, uint64_t disk_bytes, struct arena *arena,
		   struct workload *ret)
{
	size_t parts = 0, count = w->setup_count;
	struct call *calls;

	for (uint64_t part = disk_bytes / 2; part >= PART_MIN; part /= 2)
		parts++;
	calls = arena_alloc(arena, (w->count + 2 * parts + 1) * sizeof(*calls));
	memcpy(calls, w->calls, count * sizeof(*calls));
	for (size_t i = 0; i < parts; i++) {
		uint64_t bytes = disk_bytes >> (i + 1);
		char *name = arena_alloc(arena, NAME_MAX_BYTES);

		snprintf(name, NAME_MAX_BYTES, "full%zu", i);
		/* By two calls: one that fails behind half of its work has changed something. */
		calls[count++] = fill_create(name);
		calls[count++] = disk_bytes <= WRITTEN_MAX ? fill_by_writing(name, bytes)
							   : fill_by_allocating(name, bytes);
	}
	calls[count++] = (struct call){ .op = OP_sync, .pid = 1 };
	*ret = (struct workload){ .name = w->name, .calls = calls, .setup_count = count };
	memcpy(calls + count, w->calls + w->setup_count,
	       (w->count - w->setup_count) * sizeof(*calls));
	ret->count = count + w->count - w->setup_count;
}
