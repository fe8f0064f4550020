/* model.c -- calls per second of the model, with hashing, on a tree of about ten objects.
 *
 * Beside it the same calls without hashing, and copies of the state, which a search makes one of
 * per step. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "trace/script.h"

enum { ROUNDS = 200000 };

/* One round brings the tree back to where it began. */
static const char round_text[] = "mkdir(\"d/n\", 0755)\n"
				 "open(\"d/n/f\", O_CREAT|O_RDWR, 0644)\n"
				 "write(3, \"some bytes\", 10)\n"
				 "pread(3, 10, 0)\n"
				 "stat(\"d/n/f\")\n"
				 "mkdir(\"d\", 0755)\n"
				 "chmod(\"d/n/f\", 0600)\n"
				 "link(\"d/n/f\", \"g\")\n"
				 "close(3)\n"
				 "rename(\"g\", \"d/h\")\n"
				 "open(\"nowhere/f\", O_RDONLY)\n"
				 "truncate(\"d/h\", 4)\n"
				 "unlink(\"d/h\")\n"
				 "rmdir(\"d/n\")\n"
				 "unlink(\"d/n/f\")\n"
				 "rmdir(\"d/n\")\n";

static const char start_text[] = "mkdir(\"d\", 0755)\n"
				 "mkdir(\"e\", 0755)\n"
				 "create_file(\"e/a\", O_CREAT, 0644)\n"
				 "create_file(\"e/b\", O_CREAT, 0644)\n"
				 "symlink(\"a\", \"e/s\")\n"
				 "mkdir(\"e/f\", 0755)\n"
				 "create_file(\"e/f/c\", O_CREAT, 0644)\n";

static size_t run_text(const struct model *m, struct state *s, const char *text, unsigned rounds)
{
	struct script script = { 0 };
	struct outcome outcome;
	struct err err = { 0 };
	size_t calls = 0;

	must(!script_parse(&script, "bench", text, strlen(text), &err));
	for (unsigned round = 0; round < rounds; round++)
		for (size_t i = 0; i < script.count; i++)
			if (script.items[i].type == ITEM_CALL) {
				model_run(m, s, &script.items[i].call, &outcome);
				calls++;
			}
	script_free(&script);
	return calls;
}

static double measure_model(const struct model *m, bool hashed)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = hashed,
					 .root_mode = 0777 };
	struct state s;
	double start;
	size_t calls;

	state_init(&s, &options);
	run_text(m, &s, start_text, 1);
	start = cpu_seconds();
	calls = run_text(m, &s, round_text, ROUNDS);
	start = cpu_seconds() - start;
	state_free(&s);
	return (double)calls / start;
}

static double measure_copies(const struct model *m)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = true,
					 .root_mode = 0777 };
	struct state s, copy;
	double start;

	state_init(&s, &options);
	run_text(m, &s, start_text, 1);
	start = cpu_seconds();
	for (unsigned i = 0; i < ROUNDS; i++) {
		copy = state_copy(&s);
		must(copy.next_file == s.next_file);
		state_free(&copy);
	}
	start = cpu_seconds() - start;
	state_free(&s);
	return ROUNDS / start;
}

int main(void)
{
	struct model m;
	double hashed, plain;

	model_init(&m, PLATFORM_LINUX, KERNEL_CURRENT);
	hashed = measure_model(&m, true);
	plain = measure_model(&m, false);
	printf("model: %.2f million calls/s with hashes, %.2f without (%.2f of it)\n", hashed / 1e6,
	       plain / 1e6, hashed / plain);
	printf("model: %.2f million copies of the state per second\n", measure_copies(&m) / 1e6);
	return 0;
}
