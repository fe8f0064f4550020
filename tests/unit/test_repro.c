/* test_repro.c -- reproducers compile without a warning, whatever the calls hold, and claim nothing
 * that they cannot see. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "finding/finding.h"
#include "op/kind.h"
#include "sandbox/compile.h"
#include "tests/harness/unit.h"
#include "trace/script.h"
#include "universe/universe.h"

enum { CALLS = 400, NASTY_CALLS = 600, NASTY_PROGRAMS = 12 };

static void compile(const struct buf *source)
{
	struct buf program = BUF_INIT;
	struct program_report end;
	struct err err = { 0 };

	if (compile_program(buf_str(source), "-Wall -Werror", &program, &end, &err))
		fail_msg("%s", err.text);
	if (end.fate != PROGRAM_EXITED)
		fail_msg("does not compile: %s", buf_str(&end.output));
	program_report_free(&end);
	buf_free(&program);
}

/* Facts of every kind, as if all were wrong. */
static void add_facts(struct finding *f, const char *text)
{
	f->discrepancy.facts = arena_alloc(&f->arena, FACT_KINDS * sizeof(*f->discrepancy.facts));
	for (int kind = 0; kind < FACT_KINDS; kind++)
		f->discrepancy.facts[f->discrepancy.fact_count++] = (struct fact){
			.kind = (enum fact_kind)kind,
			.path = text,
			.mode = 0100644,
			.name = text,
			.bytes = text,
			.len = strlen(text),
			.call = kind == FACT_UNREADABLE ? "getxattr" : NULL,
			.error = 5,
		};
}

static void finish(struct finding *f, enum problem code, const char *text)
{
	struct buf program = BUF_INIT;

	f->discrepancy.code = code;
	errset_add(&f->discrepancy.allowed, 2);
	f->discrepancy.success_allowed = true;
	buf_adds(&f->discrepancy.title, text);
	buf_adds(&f->target, text);
	buf_adds(&f->discrepancy.expected, text);
	buf_adds(&f->discrepancy.seen, text);
	snprintf(f->discrepancy.signature, sizeof(f->discrepancy.signature), "%s x fs/%s",
		 problem_table[code].name, text);
	if (code == PROBLEM_TREE)
		add_facts(f, text);
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
	for (int code = 0; code < PROBLEMS; code++) {
		finding_init(&f);
		finding_reserve(&f, CALLS);
		f.count = CALLS;
		for (size_t i = 0; i < CALLS; i++) {
			universe_call(&u, universe_draw(&u, &rng), &f.calls[i]);
			f.evidence[i] = EVIDENCE_OBSERVED;
		}
		finish(&f, (enum problem)code, "a */ title");
		finding_free(&f);
	}
	universe_free(&u);
}

/* Whatever ends strings, comments, lines or compilers' patience; and the names that reproducers use
 * themselves. */
static const char *const nasty_texts[] = {
	"x",         "a\"b",      "a\\",       "*/ int x; /*", "/* //",     "a\nb",
	"#define x", "a\\\nb",    "?\?/",      "?\?'?\?)",     "\303\244",  "\377\001\177",
	"%s%n",      "/",         "",          "//",           "..",        "a/../../b",
	"/abs/*/x",  "fd[3]",     "stream[1]", "&st)",         "remount()", "got, data",
	"'",         "$(reboot)", "`x`",       "a\rb",         "/* open ",  "SYS_ FALLOC_ ioctl(",
	"\\u0041",   "R\"x(",     "a b",       "\t",           "-",         "//twice",
};

static const int64_t nasty_numbers[] = {
	0,         1,         -1,         2,         3,        4,         255,
	256,       257,       4096,       65536,     1 << 30,  INT32_MAX, INT32_MIN,
	INT64_MAX, INT64_MIN, UINT32_MAX, 1LL << 40, AT_FDCWD, -2,        INT64_MAX - 1,
};

static struct arg nasty_arg(struct rng *rng, enum kind kind)
{
	const char *text = nasty_texts[rng_below(rng, ARRAY_LEN(nasty_texts))];
	struct arg arg = { 0 };

	if (kind_table[kind]->form == FORM_NUM) {
		arg.num = nasty_numbers[rng_below(rng, ARRAY_LEN(nasty_numbers))];
	} else if (kind_table[kind]->form == FORM_DATA && rng_below(rng, 4) == 0) {
		arg.generated = true;
		arg.seed = rng_u64(rng);
		arg.len = (uint32_t)rng_below(rng, 9000);
	} else if (rng_below(rng, 8)) {
		arg.text = text;
		arg.len = (uint32_t)strlen(text);
	}
	return arg;
}

static struct outcome nasty_outcome(struct rng *rng, enum op op)
{
	const char *text = nasty_texts[rng_below(rng, ARRAY_LEN(nasty_texts))];
	struct outcome o = { .result = op_table[op].result, .bytes = text, .len = strlen(text) };

	if (rng_below(rng, 2))
		o.error = (int)rng_below(rng, 600);
	else
		o.num = (int64_t)rng_below(rng, 300);
	return o;
}

/* Every operation, with values that nobody expects, by several processes. */
static void fill_nasty(struct finding *f, struct rng *rng)
{
	finding_reserve(f, NASTY_CALLS);
	for (size_t i = 0; i < NASTY_CALLS; i++) {
		enum op op = i < OP_COUNT ? (enum op)i : (enum op)rng_below(rng, OP_COUNT);
		struct call *c = &f->calls[f->count];

		*c = (struct call){ .op = (uint16_t)op, .pid = (uint16_t)(1 + rng_below(rng, 3)) };
		for (unsigned j = 0; j < op_table[op].args; j++)
			c->arg[j] = nasty_arg(rng, op_table[op].arg[j].kind);
		f->evidence[f->count] = (enum evidence)rng_below(rng, EVIDENCES);
		f->outcomes[f->count++] = nasty_outcome(rng, op);
	}
	f->discrepancy.value = nasty_outcome(rng, OP_readlink);
	f->discrepancy.value.error = 0;
}

static void anything_compiles(void **unused)
{
	struct finding f;
	struct rng rng;

	rng_seed(&rng, 7);
	for (int i = 0; i < NASTY_PROGRAMS; i++) {
		finding_init(&f);
		fill_nasty(&f, &rng);
		f.proof.watch = (enum repro_watch)(i % (WATCH_ALL + 1));
		finish(&f, (enum problem)(i % PROBLEMS),
		       nasty_texts[rng_below(&rng, ARRAY_LEN(nasty_texts))]);
		finding_free(&f);
	}
}

/* One call of each operation alone: its program has all that it needs and nothing else. */
static void every_operation_alone_compiles(void **unused)
{
	struct finding f;
	struct rng rng;

	rng_seed(&rng, 11);
	for (int op = 0; op < OP_COUNT; op++) {
		finding_init(&f);
		finding_reserve(&f, 1);
		f.calls[0] = (struct call){ .op = (uint16_t)op, .pid = 1 };
		for (unsigned j = 0; j < op_table[op].args; j++)
			f.calls[0].arg[j] = nasty_arg(&rng, op_table[op].arg[j].kind);
		f.evidence[0] = op % 2 ? EVIDENCE_OBSERVED : EVIDENCE_NONE;
		f.count = 1;
		finish(&f, PROBLEM_OUTCOME, "title");
		finding_free(&f);
	}
}

/* A finding that was written and read back gives the same program. */
static void round_trip(struct finding *f)
{
	char dir[] = "/tmp/assay-repro-XXXXXX";
	struct buf before = BUF_INIT, after = BUF_INIT, remove = BUF_INIT;
	struct err err = { 0 };
	struct finding again;

	assert_non_null(mkdtemp(dir));
	f->shown = f->tries = 1;
	finding_repro_c(f, &before);
	if (finding_write(f, NULL, dir, &err) || finding_read_whole(&again, dir, &err))
		fail_msg("%s", err.text);
	finding_repro_c(&again, &after);
	assert_string_equal(buf_str(&before), buf_str(&after));
	finding_free(&again);
	buf_addf(&remove, "rm -r %s", dir);
	assert_int_equal(system(remove.data), 0);
	buf_free(&remove);
	buf_free(&before);
	buf_free(&after);
}

static void add_call(struct finding *f, const char *text, int error)
{
	struct err err = { 0 };

	if (call_parse(&f->calls[f->count], text, &f->arena, &err))
		fail_msg("%s", err.text);
	f->outcomes[f->count] =
		(struct outcome){ .error = error,
				  .result = op_table[f->calls[f->count].op].result };
	f->evidence[f->count++] = EVIDENCE_OBSERVED;
}

static void folders_give_the_same_program(void **state)
{
	struct finding f;
	struct buf path = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(nasty_texts); i++) {
		finding_init(&f);
		finding_reserve(&f, 2);
		add_call(&f, "mkdir(\"a\", 0755)", 0);
		add_call(&f, "rmdir(\"a\")", 5);
		buf_clear(&path);
		buf_addf(&path, "/%s", nasty_texts[i]);
		buf_adds(&f.discrepancy.title, nasty_texts[i]);
		buf_adds(&f.discrepancy.expected, nasty_texts[i]);
		buf_adds(&f.target, "ext4");
		f.discrepancy.code = i % 2 ? PROBLEM_TREE : PROBLEM_OUTCOME;
		snprintf(f.discrepancy.signature, SIGNATURE_MAX, "%s rmdir EIO for success",
			 problem_table[f.discrepancy.code].name);
		errset_add(&f.discrepancy.allowed, 39);
		f.discrepancy.success_allowed = i % 3;
		f.proof.watch = (enum repro_watch)(i % (WATCH_ALL + 1));
		if (i % 2)
			add_facts(&f, path.data);
		for (size_t j = 0; j < f.discrepancy.fact_count; j++)
			f.discrepancy.facts[j].unit_ns = 1;
		f.discrepancy.fact_count =
			f.discrepancy.fact_count > FACTS_MAX ? FACTS_MAX : f.discrepancy.fact_count;
		round_trip(&f);
		finding_free(&f);
	}
	buf_free(&path);
}

/* FAT's access times have days: that one has changed can be seen, not that one was not set. */
static void times_in_days_are_compared(void **state)
{
	const struct {
		enum time_wrong wrong;
		const char *in_program;
	} cases[] = {
		{ TIME_CHANGED, " == before" },
		{ TIME_GONE_BACK, " >= before" },
		{ TIME_NOT_SET, "cannot_see(" },
	};
	struct buf program = BUF_INIT;
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		finding_init(&f);
		finding_reserve(&f, 1);
		add_call(&f, "unlink(\"a/f\")", 0);
		f.discrepancy.code = PROBLEM_TIMES;
		f.discrepancy.fact_count = 1;
		f.discrepancy.facts = arena_alloc(&f.arena, sizeof(*f.discrepancy.facts));
		*f.discrepancy.facts = (struct fact){
			.kind = FACT_TIMES,
			.path = "/a",
			.path_before = "/a",
			.wrong = cases[i].wrong,
			.unit_ns = 86400LL * 1000 * 1000 * 1000,
		};
		buf_clear(&program);
		finding_repro_c(&f, &program);
		assert_non_null(strstr(program.data, cases[i].in_program));
		finding_free(&f);
	}
	buf_free(&program);
}

static void profiles_compile(void **state)
{
	profile_compiles("default");
	profile_compiles("permissions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_give_the_same_program),
		cmocka_unit_test(anything_compiles),
		cmocka_unit_test(every_operation_alone_compiles),
		cmocka_unit_test(profiles_compile),
		cmocka_unit_test(times_in_days_are_compared),
	};

	if (system("cc --version >/dev/null 2>&1")) {
		printf("1..0 # SKIP there is no cc\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
