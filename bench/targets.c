/* targets.c -- what a verified step costs on targets: in batches, alone, in this process, and
 * through FUSE, where the daemon's answers are so many turns of two processes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "bench/turn.h"
#include "target/target.h"
#include "trace/script.h"

enum { STEPS = 64 };

static const double seconds = 1;

/* Ten objects to walk over. */
static const char *const objects[] = {
	"mkdir(\"a\", 0755)",
	"mkdir(\"a/b\", 0755)",
	"mkdir(\"c\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 4096), 4096, 0)",
	"write_file(\"a/b/f\", O_CREAT|O_WRONLY, data(2, 100), 100, 0)",
	"write_file(\"c/f\", O_CREAT|O_WRONLY, data(3, 5000), 5000, 0)",
	"link(\"c/f\", \"c/g\")",
	"symlink(\"a/f\", \"s\")",
	"create_file(\"e\", O_CREAT|O_WRONLY, 0644)",
};

/* A round that ends where it began. */
static const char *const round_trip[] = {
	"mkdir(\"d\", 0755)",
	"rename(\"e\", \"d/e\")",
	"rename(\"d/e\", \"e\")",
	"rmdir(\"d\")",
};

struct target_bench {
	struct target *target;
	struct model model;
	struct state state;
	struct arena arena;
};

static struct plan_step make_plan_step(struct target_bench *b, const char *text)
{
	struct plan_step step = { .exact = true, .observe = true };
	struct err err = { 0 };

	must(!call_parse(&step.call, text, &b->arena, &err));
	model_run(&b->model, &b->state, &step.call, &step.expected);
	step.expected = outcome_copy(&step.expected, &b->arena);
	step.tree = tree_hash(&b->state.tree);
	return step;
}

static void follow_plan(struct target_bench *b, const struct plan_step *steps, size_t count)
{
	struct plan_report end;
	struct err err = { 0 };

	must(!target_follow(b->target, steps, count, &end, &err));
	must(end.done == count);
}

/* Steps a second, so many at a time: of the fastest of many short runs, the others were
 * disturbed. */
static double best_rate(struct target_bench *b, const struct plan_step *steps, size_t at_a_time)
{
	double end = clock_seconds() + seconds, least = 1e9, start, spent;

	do {
		start = clock_seconds();
		for (size_t i = 0; i < STEPS; i += at_a_time)
			follow_plan(b, steps + i, at_a_time);
		spent = clock_seconds() - start;
		least = spent < least ? spent : least;
	} while (clock_seconds() < end);
	return STEPS / least;
}

static void measure_target(const char *spec, double turn)
{
	struct target_bench b = { .arena = ARENA_INIT };
	struct plan_step steps[STEPS], step;
	struct err err = { 0 };
	double batch, alone;

	if (target_open(&b.target, spec, NULL, &err)) {
		printf("%-16s %s\n", spec, err.text);
		return;
	}
	model_init(&b.model, PLATFORM_LINUX, KERNEL_CURRENT);
	b.model.traits = b.target->traits;
	must(!target_initial_state(b.target, &b.state, &err));
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		step = make_plan_step(&b, objects[i]);
		follow_plan(&b, &step, 1);
	}
	for (size_t i = 0; i < STEPS; i++)
		steps[i] = make_plan_step(&b, round_trip[i % ARRAY_LEN(round_trip)]);
	batch = best_rate(&b, steps, STEPS);
	alone = best_rate(&b, steps, 1);
	printf("%-16s %9.0f steps/s in batches of %d, %9.0f alone: %.1f times; %.1f turns\n", spec,
	       batch, STEPS, alone, batch / alone, 1 / batch / turn);
	state_free(&b.state);
	target_close(b.target);
	arena_free(&b.arena);
}

/* In a process of its own, which is bound. */
static double bound_turn_seconds(void)
{
	double *turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	pid_t pid = fork();

	if (!pid) {
		stay_on_one_cpu();
		*turn = turn_seconds();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *turn;
}

int main(void)
{
	static const char *const specs[] = { "reffs",   "tmpfs",    "ext4",   "xfs",    "btrfs",
					     "overlay", "dir:/tmp", "bindfs", "fuse2fs" };
	double turn = bound_turn_seconds();

	for (size_t i = 0; i < ARRAY_LEN(specs); i++)
		measure_target(specs[i], turn);
	return 0;
}
