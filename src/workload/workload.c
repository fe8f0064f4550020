/* workload.c -- workloads as files. */
#include "workload/workload.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"

static const char run_mark[] = "# run";

bool call_prints(const struct call *c)
{
	return c->op == OP_write && c->write.fd.num == STDOUT_FILENO;
}

static int workload_take(struct workload *ret, const struct script *script, bool printed,
			 struct arena *arena, struct err *err)
{
	struct workload w = { .name = arena_strdup(arena, script->name) };
	struct call *calls = arena_alloc(arena, script->count * sizeof(*calls));

	for (size_t i = 0; i < script->count; i++) {
		const struct item *item = &script->items[i];

		if (item->type == ITEM_CALL && call_prints(&item->call) && !printed)
			continue;
		if (item->type == ITEM_CALL)
			calls[w.count++] = call_copy(&item->call, arena);
		else if (item->type == ITEM_COMMENT && !strcmp(item->text, run_mark))
			w.setup_count = w.count;
	}
	if (w.count == w.setup_count)
		return err_set(err, EINVAL, "%s: no call to test", script->name);
	if (w.count > WORKLOAD_CALLS_MAX)
		return err_set(err, E2BIG, "%s: more than %d calls", script->name,
			       WORKLOAD_CALLS_MAX);
	w.calls = calls;
	*ret = w;
	return 0;
}

static int workload_read_file(struct workload *ret, const char *path, bool printed,
			      struct arena *arena, struct err *err)
{
	struct script script = { 0 };
	int status = script_read(&script, path, err);

	if (!status)
		status = workload_take(ret, &script, printed, arena, err);
	script_free(&script);
	return status;
}

int workload_read(struct workload *ret, const char *path, struct arena *arena, struct err *err)
{
	return workload_read_file(ret, path, false, arena, err);
}

int workload_read_printed(struct workload *ret, const char *path, struct arena *arena,
			  struct err *err)
{
	return workload_read_file(ret, path, true, arena, err);
}

void workload_print(const struct workload *w, struct buf *out)
{
	buf_addf(out, "# %s\n", w->name);
	for (size_t i = 0; i < w->count; i++) {
		if (i && i == w->setup_count)
			buf_addf(out, "%s\n", run_mark);
		call_print(&w->calls[i], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

struct call *workload_without(const struct call *calls, size_t count, size_t from, size_t window,
			      size_t *setup_count)
{
	size_t left = count - window;
	struct call *less = must_alloc((left + 1) * sizeof(*less));

	memcpy(less, calls, from * sizeof(*less));
	memcpy(less + from, calls + from + window, (left - from) * sizeof(*less));
	if (from < *setup_count)
		*setup_count -= from + window < *setup_count ? window : *setup_count - from;
	return less;
}
