/* reffs_race.c -- calls of several processes on RefFS, as if they overlapped. */
#include "broken/reffs_race.h"

#include <fcntl.h>
#include <string.h>

#include "base/must.h"
#include "base/rng.h"

/* The call as it would go now; the state stays as it is. */
static int error_of(struct faulty *f, const struct call *c)
{
	struct state copy = state_copy(f->state);
	struct outcome outcome;

	model_run(f->model, &copy, c, &outcome);
	state_free(&copy);
	return outcome.error;
}

/* That the name is free is found out first; it is taken later. */
static bool step_excl(struct faulty *f, const struct call *c, struct race_memory *memory,
		      struct outcome *ret)
{
	const int64_t both = O_CREAT | O_EXCL;
	struct call taking = call_without(c, KIND_OPEN_FLAGS, O_EXCL);

	if (!memory->step++ && (call_num(c, KIND_OPEN_FLAGS) & both) == both && !error_of(f, c))
		return false;
	fault_pass(f, memory->step > 1 ? &taking : c, ret);
	return true;
}

/* Where the end is is found out first; the data goes there later. */
static bool step_append(struct faulty *f, const struct call *c, struct race_memory *memory,
			struct outcome *ret)
{
	struct open_file *file = NULL;

	if (call_is(c, OP_write))
		file = state_edit_file(f->state, c->pid, call_num(c, KIND_FD));
	if (!file || !(file->flags & O_APPEND)) {
		fault_pass(f, c, ret);
		return true;
	}
	if (!memory->step++) {
		memory->size = fault_inode(f, file->ino)->size;
		return false;
	}
	file->flags &= ~(int64_t)O_APPEND;
	file->offset = (int64_t)memory->size;
	fault_pass(f, c, ret);
	state_edit_file(f->state, c->pid, call_num(c, KIND_FD))->flags |= O_APPEND;
	return true;
}

/* What has the new name is removed first. */
static bool step_rename(struct faulty *f, const struct call *c, struct race_memory *memory,
			struct outcome *ret)
{
	struct call removal = { .op = OP_unlink, .pid = c->pid };

	if (c->op == OP_rename && !memory->step++ && fault_is_file(f, call_names(f, c, 1, false)) &&
	    call_names(f, c, 0, false) != call_names(f, c, 1, false) && !error_of(f, c)) {
		removal.unlink.path = c->rename.to;
		fault_pass(f, &removal, ret);
		return false;
	}
	fault_pass(f, c, ret);
	return true;
}

const struct race_fault race_fault_table[] = {
	{ "race_excl", "O_EXCL looks whether the name is free, and takes it later", step_excl },
	{ "race_append", "O_APPEND looks for the end, and writes there later", step_append },
	{ "race_rename", "rename removes what has the new name, and moves later", step_rename },
};
const size_t race_fault_count = ARRAY_LEN(race_fault_table);

const struct race_fault *race_fault_find(const char *name)
{
	for (size_t i = 0; i < race_fault_count; i++)
		if (!strcmp(race_fault_table[i].name, name))
			return &race_fault_table[i];
	return NULL;
}

/* Where a process is in its calls. */
struct racer {
	size_t at; /* call it is in, or makes next */
	bool called, done;
	struct race_memory memory;
};

struct race {
	struct faulty *f;
	const struct race_fault *fault;
	const struct call *calls;
	size_t count;
	struct arena *arena;
	struct race_outcome *raced;
	int64_t now_ns;
};

/* The first call of that process from there on, count if there is none. */
static size_t race_next(const struct race *r, uint16_t pid, size_t from)
{
	while (from < r->count && r->calls[from].pid != pid)
		from++;
	return from;
}

static void race_step(struct race *r, struct racer *racer)
{
	const struct call *c = &r->calls[racer->at];
	struct outcome outcome;

	racer->done = true;
	if (r->fault)
		racer->done = r->fault->step(r->f, c, &racer->memory, &outcome);
	else
		fault_pass(r->f, c, &outcome);
	if (racer->done)
		r->raced[racer->at].outcome = outcome_copy(&outcome, r->arena);
}

static void race_continue(struct race *r, struct racer *racer)
{
	r->now_ns++;
	if (!racer->called) {
		r->raced[racer->at].called_ns = r->now_ns;
		racer->called = true;
	} else if (!racer->done) {
		race_step(r, racer);
	} else {
		r->raced[racer->at].returned_ns = r->now_ns;
		*racer = (struct racer){
			.at = race_next(r, r->calls[racer->at].pid, racer->at + 1),
		};
	}
}

void reffs_race(struct faulty *f, const struct race_fault *fault, const struct call *calls,
		size_t count, uint64_t seed, struct arena *arena, struct race_outcome *ret)
{
	struct race r = { f, fault, calls, count, arena, ret, 0 };
	struct racer racers[TARGET_RACE_MAX];
	size_t racing = 0, who;
	struct rng rng;

	rng_seed(&rng, seed);
	for (size_t i = 0; i < count; i++)
		if (race_next(&r, calls[i].pid, 0) == i)
			racers[racing++] = (struct racer){ .at = i };
	while (racing) {
		who = rng_below(&rng, racing);
		race_continue(&r, &racers[who]);
		if (racers[who].at == count)
			racers[who] = racers[--racing];
	}
}
