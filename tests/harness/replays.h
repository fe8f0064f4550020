/* replays.h -- a script on a target, to be replayed and judged. */
#ifndef TESTS_REPLAYS_H
#define TESTS_REPLAYS_H

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "finding/finding.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

struct fixture {
	struct target *target;
	struct model model;
	struct script script;
	struct call *calls;
	size_t count;
};

static inline void begin(struct fixture *f, const char *target, const char *text)
{
	struct err err = { 0 };

	*f = (struct fixture){ 0 };
	if (target_open(&f->target, target, NULL, &err) ||
	    script_parse(&f->script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	model_init(&f->model, PLATFORM_LINUX, KERNEL_CURRENT);
	f->model.traits = f->target->traits;
	f->calls = calloc(f->script.count + 1, sizeof(*f->calls));
	for (size_t i = 0; i < f->script.count; i++)
		if (f->script.items[i].type == ITEM_CALL)
			f->calls[f->count++] = f->script.items[i].call;
}

static inline void end(struct fixture *f)
{
	free(f->calls);
	script_free(&f->script);
	target_close(f->target);
}

static inline struct replay_on where(const struct fixture *f, double until_seconds)
{
	return (struct replay_on){
		.target = f->target,
		.model = &f->model,
		.until_seconds = until_seconds,
	};
}

#endif
