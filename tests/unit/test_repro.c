/* test_repro.c -- reproducers of all kinds of calls compile without a warning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "judge/finding.h"
#include "op/script.h"
#include "op/universe.h"
#include "tests/harness/unit.h"

enum { CALLS = 400 };

static void compile(const struct buf *program)
{
	char path[] = "/tmp/assay-test-repro.XXXXXX.c", command[128];
	struct err err = { 0 };
	int fd = mkstemps(path, 2);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(buf_write_file(program, path, &err), 0);
	snprintf(command, sizeof(command), "cc -Wall -Werror -fsyntax-only %s", path);
	if (system(command))
		fail_msg("does not compile:\n%s", buf_str(program));
	unlink(path);
}

/* Facts of every kind, as if all were wrong. */
static void add_facts(struct finding *f)
{
	f->facts = arena_alloc(&f->arena, FACT_KINDS * sizeof(*f->facts));
	for (int kind = 0; kind < FACT_KINDS; kind++)
		f->facts[f->fact_count++] = (struct fact){
			.kind = (enum fact_kind)kind,
			.path = "/a",
			.mode = 0100644,
			.name = "user.x",
			.bytes = "\"\\\n\377",
			.len = 4,
		};
}

static void finish(struct finding *f, enum finding_code code)
{
	struct buf program = BUF_INIT;

	f->code = code;
	errset_add(&f->allowed, 2);
	f->success_allowed = true;
	buf_adds(&f->title, "a */ title");
	if (code == FINDING_TREE)
		add_facts(f);
	finding_repro_c(f, &program);
	compile(&program);
	buf_free(&program);
}

/* Random calls of a profile. */
static void profile_compiles(const char *profile)
{
	struct err err = { 0 };
	struct universe u;
	struct finding f;
	struct rng rng;

	if (universe_open(&u, profile, NULL, 0, &err))
		fail_msg("%s", err.text);
	rng_seed(&rng, 1);
	for (int code = 0; code < FINDING_CODES; code++) {
		finding_init(&f);
		f.count = CALLS;
		f.calls = arena_alloc(&f.arena, CALLS * sizeof(*f.calls));
		f.outcomes = arena_alloc(&f.arena, CALLS * sizeof(*f.outcomes));
		for (size_t i = 0; i < CALLS; i++)
			universe_call(&u, universe_draw(&u, &rng), &f.calls[i]);
		finish(&f, (enum finding_code)code);
		finding_free(&f);
	}
	universe_free(&u);
}

/* Every operation once, with values its kinds allow. */
static void every_operation_compiles(void **state)
{
	struct finding f;

	finding_init(&f);
	f.calls = arena_alloc(&f.arena, OP_COUNT * sizeof(*f.calls));
	f.outcomes = arena_alloc(&f.arena, OP_COUNT * sizeof(*f.outcomes));
	for (int op = 0; op < OP_COUNT; op++) {
		struct call *c = &f.calls[f.count++];

		*c = (struct call){ .op = (uint16_t)op, .pid = 1 };
		for (unsigned i = 0; i < op_table[op].args; i++)
			switch (op_table[op].arg[i].kind) {
			case KIND_PATH:
			case KIND_TARGET:
			case KIND_XATTR_NAME:
			case KIND_DATA:
			case KIND_XATTR_VALUE:
				c->arg[i] = (struct arg){ .text = "x\"y", .len = 3 };
				break;
			default:
				c->arg[i].num = 3;
			}
	}
	finish(&f, FINDING_TREE);
	finding_free(&f);
}

static void profiles_compile(void **state)
{
	profile_compiles("default");
	profile_compiles("descriptors");
	profile_compiles("permissions");
	profile_compiles("sizes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_compiles),
		cmocka_unit_test(profiles_compile),
	};

	if (system("cc --version >/dev/null 2>&1")) {
		printf("1..0 # SKIP there is no cc\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
