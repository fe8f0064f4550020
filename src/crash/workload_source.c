/* workload_source.c -- where workloads come from: a generator, or a script. */
#include "crash/workload_source.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "workload/failing.h"
#include "workload/full.h"
#include "workload/pair.h"
#include "workload/resync.h"

static bool source_is_ace(const char *name, struct ace_options *ret)
{
	struct err none = { 0 };

	return !ace_parse(ret, name, &none);
}

/* "walk", or "walk:PROFILE"; NULL: it is something else. */
static const char *source_profile(const char *name)
{
	static const char word[] = "walk";
	size_t len = sizeof(word) - 1;

	if (strncmp(name, word, len) || (name[len] && name[len] != ':'))
		return NULL;
	return name[len] ? name + len + 1 : "crash";
}

static bool source_is_resync(const char *name)
{
	return !strcmp(name, "resync");
}

bool workload_source_is_generated(const char *name)
{
	struct ace_options any;

	return source_is_ace(name, &any) || source_profile(name) || source_is_resync(name) ||
	       workload_source_has_processes(name);
}

bool workload_source_has_processes(const char *name)
{
	return !strcmp(name, "pair");
}

int workload_source_open(struct workload_source *s, const char *name,
			 const struct workload_source_options *how, const struct model *model,
			 const struct state *start, struct err *err)
{
	struct ace_options o = {
		.wide = how->wide,
		.in_place = how->in_place,
		.seed = how->seed,
		.disk_bytes = how->disk_bytes,
	};
	const char *profile = source_profile(name);

	*s = (struct workload_source){
		.name = name, .how = *how, .model = model, .start = start, .count = 1
	};
	if (profile) {
		s->kind = SOURCE_WALK;
		s->count = how->walks;
		return walk_open(&s->walk, profile, model, start, how->length, how->seed, err);
	}
	if (workload_source_has_processes(name)) {
		if (!how->processes)
			return err_set(err, ENOTSUP, "%s: several processes cannot use the target",
				       name);
		s->kind = SOURCE_PAIR;
		s->count = pair_count();
	} else if (source_is_resync(name)) {
		s->kind = SOURCE_RESYNC;
		s->count = how->resyncs;
	} else if (source_is_ace(name, &o)) {
		s->kind = SOURCE_ACE;
		ace_init(&s->ace, &o);
		s->count = s->ace.count;
	}
	return 0;
}

void workload_source_go_on(struct workload_source *s)
{
	if (s->kind == SOURCE_WALK || s->kind == SOURCE_RESYNC)
		s->count = UINT64_MAX;
}

void workload_source_close(struct workload_source *s)
{
	if (s->kind == SOURCE_ACE)
		ace_free(&s->ace);
	else if (s->kind == SOURCE_WALK)
		walk_close(&s->walk);
}

/* A crash while the file system is unmounted and mounted again belongs to the workload. */
static void workload_add_unmount(struct workload *w, struct arena *arena)
{
	struct call *calls = arena_alloc(arena, (w->count + 1) * sizeof(*calls));

	memcpy(calls, w->calls, w->count * sizeof(*calls));
	calls[w->count] = (struct call){ .op = OP_remount, .pid = 1 };
	w->calls = calls;
	w->count++;
}

/* The same on a full disk, or with a failing write. */
static void source_vary(const struct workload_source *s, uint64_t index, struct arena *arena,
			struct workload *w)
{
	struct workload varied;

	if (s->how.full) {
		full_workload(w, s->how.disk_bytes, arena, &varied);
		*w = varied;
	}
	if (s->how.faults &&
	    failing_workload(s->model, s->start, w, s->how.seed + index, arena, &varied))
		*w = varied;
}

/* All places once, if the step is prime and larger than their number. */
static uint64_t source_place(const struct workload_source *s, uint64_t index)
{
	enum { SCATTER = 2147483629 };

	return s->how.scattered ? index % s->count * SCATTER % s->count : index;
}

int workload_source_make(const struct workload_source *s, uint64_t index, struct arena *arena,
			 struct workload *ret, struct err *err)
{
	if (s->kind == SOURCE_FILE)
		return workload_read(ret, s->name, arena, err);
	if (s->kind == SOURCE_WALK)
		walk_workload(&s->walk, index, arena, ret);
	else if (s->kind == SOURCE_PAIR)
		pair_workload(source_place(s, index), arena, ret);
	else if (s->kind == SOURCE_RESYNC)
		resync_workload(s->model, s->start, index, s->how.seed, arena, ret);
	else
		ace_workload(&s->ace, source_place(s, index), arena, ret);
	source_vary(s, index, arena, ret);
	if (s->how.unmounts && !s->how.faults)
		workload_add_unmount(ret, arena);
	return 0;
}
