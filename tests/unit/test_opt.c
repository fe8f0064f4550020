/* test_opt.c -- options from the command line and from INI keys, and what help says of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/opt.h"
#include "settings/scdoc.h"
#include "tests/harness/unit.h"

struct settings {
	bool json, color;
	uint64_t calls, size;
	double seconds;
	const char *out;
	int strategy;
	struct opt_list traits;
};

static const struct opt opts[] = {
	{ "json", OPT_FLAG, offsetof(struct settings, json), NULL, "Prints one object", 0, 0 },
	{ "color", OPT_FLAG, offsetof(struct settings, color), NULL, "Colours", 0, 0 },
	{ "calls", OPT_U64, offsetof(struct settings, calls), "N", "Stops after N calls", 1, 1000 },
	{ "size", OPT_U64, offsetof(struct settings, size), "BYTES", "Size", 0, 0 },
	{ "seconds", OPT_DOUBLE, offsetof(struct settings, seconds), "S", "Stops", 0, 60 },
	{ "out", OPT_TEXT, offsetof(struct settings, out), "DIR", "Where", 0, 0 },
	{ "strategy", OPT_CHOICE, offsetof(struct settings, strategy), "tour|dfs|df", "How", 0, 0 },
	{ "trait", OPT_LIST, offsetof(struct settings, traits), "NAME", "Which", 0, 0 },
	OPT_END,
};

static const struct settings defaults = { .color = true, .size = 256 << 20, .seconds = 1.5 };

/* Parses words separated by spaces; argv[0] is the command's name. */
static int parse(struct settings *s, const char *words, int *argc, char **argv, struct err *err)
{
	static char name[] = "command", text[256];

	strcpy(text, words);
	*argc = 1;
	argv[0] = name;
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[(*argc)++] = word;
	argv[*argc] = NULL;
	*s = defaults;
	return opt_parse(opts, s, argc, argv, err);
}

static void every_type_is_taken(void **state)
{
	struct err err = { 0 };
	struct settings s;
	char *argv[32];
	int argc;

	assert_int_equal(parse(&s,
			       "--json --no-color --calls 0x10 --size=3k --seconds 2.5 --out=a=b "
			       "--strategy df --trait x --trait=y",
			       &argc, argv, &err),
			 0);
	assert_int_equal(argc, 1);
	assert_true(s.json && !s.color);
	assert_int_equal(s.calls, 16);
	assert_int_equal(s.size, 3072);
	assert_true(s.seconds == 2.5);
	assert_string_equal(s.out, "a=b");
	assert_int_equal(s.strategy, 2);
	assert_int_equal(s.traits.count, 2);
	assert_string_equal(s.traits.items[0], "x");
	assert_string_equal(s.traits.items[1], "y");
	free(s.traits.items);
}

static void operands_are_left_in_order(void **state)
{
	struct settings s;
	char *argv[32];
	int argc;

	assert_int_equal(parse(&s, "a --json - b --calls 5 -- --json -x", &argc, argv, NULL), 0);
	assert_int_equal(argc, 6);
	assert_string_equal(argv[0], "command");
	assert_string_equal(argv[1], "a");
	assert_string_equal(argv[2], "-");
	assert_string_equal(argv[3], "b");
	assert_string_equal(argv[4], "--json");
	assert_string_equal(argv[5], "-x");
	assert_null(argv[6]);
	assert_int_equal(parse(&s, "a b", &argc, argv, NULL), 0);
	assert_int_equal(argc, 3);
	assert_null(argv[3]);
}

static void errors_name_the_option(void **state)
{
	static const struct {
		const char *words, *error;
	} cases[] = {
		{ "--nonsense=3", "--nonsense: no such option" },
		{ "-j", "-j: no such option" },
		{ "--no-out", "--no-out: no such option" },
		{ "--secnods=3", "--secnods: no such option; did you mean --seconds?" },
		{ "-json", "-json: no such option; did you mean --json?" },
		{ "--strategy tuor",
		  "--strategy tuor: not one of tour|dfs|df; did you mean tour?" },
		{ "--json=yes", "--json takes no value" },
		{ "--calls", "--calls needs a value: N" },
		{ "--calls x", "--calls x: not a whole number" },
		{ "--calls -1", "--calls -1: not a whole number" },
		{ "--calls 5Q", "--calls 5Q: not a whole number" },
		{ "--calls 5KK", "--calls 5KK: not a whole number" },
		{ "--calls 0", "--calls 0: not between 1 and 1000" },
		{ "--calls 1001", "--calls 1001: not between 1 and 1000" },
		{ "--size 99999999999999999999", "--size 99999999999999999999: too large" },
		{ "--size 99999999T", "--size 99999999T: too large" },
		{ "--seconds 1x", "--seconds 1x: not a number" },
		{ "--seconds nan", "--seconds nan: not a number" },
		{ "--seconds inf", "--seconds inf: not a number" },
		{ "--seconds 61", "--seconds 61: not between 0 and 60" },
		{ "--seconds -1", "--seconds -1: not between 0 and 60" },
		{ "--strategy d", "--strategy d: not one of tour|dfs|df" },
		{ "--seconds -1", "--seconds -1: not between 0 and 60" },
		{ "--strategy dfs|df", "--strategy dfs|df: not one of tour|dfs|df" },
	};
	struct settings s;
	char *argv[32];
	int argc;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = { 0 };

		assert_int_equal(parse(&s, cases[i].words, &argc, argv, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].error);
	}
}

static void a_command_without_options(void **state)
{
	char name[] = "command", operand[] = "a", option[] = "--x";
	char *argv[] = { name, operand, NULL };
	struct err err = { 0 };
	int argc = 2;

	assert_int_equal(opt_parse(NULL, NULL, &argc, argv, &err), 0);
	assert_int_equal(argc, 2);
	argv[1] = option;
	assert_int_equal(opt_parse(NULL, NULL, &argc, argv, &err), -EINVAL);
}

static void keys_of_a_file(void **state)
{
	struct settings s = defaults;
	struct err err = { 0 };

	assert_int_equal(opt_set(opts, &s, "json", "yes", &err), 0);
	assert_true(s.json);
	assert_int_equal(opt_set(opts, &s, "json", "off", &err), 0);
	assert_false(s.json);
	assert_int_equal(opt_set(opts, &s, "calls", "7", &err), 0);
	assert_int_equal(s.calls, 7);
	assert_int_equal(opt_set(opts, &s, "json", "maybe", &err), -EINVAL);
	assert_string_equal(err.text, "--json maybe: neither yes nor no");
	err = (struct err){ 0 };
	assert_int_equal(opt_set(opts, &s, "jsonx", "yes", &err), -EINVAL);
	assert_string_equal(err.text, "jsonx: no such setting; did you mean json?");
}

static void help_shows_defaults_and_wraps(void **state)
{
	static const struct opt long_opts[] = {
		{ "json", OPT_FLAG, offsetof(struct settings, json), NULL,
		  "One sentence that is so long that it does not fit into a line of eighty columns",
		  0, 0 },
		{ "strategy", OPT_CHOICE, offsetof(struct settings, strategy),
		  "one|another|and-yet-another", "How", 0, 0 },
		OPT_END,
	};
	struct settings s = defaults;
	struct buf out = BUF_INIT;
	const char *items[] = { "a", "b" };

	s.traits = (struct opt_list){ items, 2 };
	s.out = "runs";
	opt_help(opts, &s, &out);
	assert_string_equal(out.data, "  --json                  Prints one object\n"
				      "  --[no-]color            Colours (default on)\n"
				      "  --calls N               Stops after N calls\n"
				      "  --size BYTES            Size (default 256M)\n"
				      "  --seconds S             Stops (default 1.5)\n"
				      "  --out DIR               Where (default runs)\n"
				      "  --strategy tour|dfs|df  How (default tour)\n"
				      "  --trait NAME            Which (default a, b)\n");
	buf_clear(&out);
	opt_help(long_opts, &defaults, &out);
	assert_string_equal(
		out.data,
		"  --json  One sentence that is so long that it does not fit into a line of\n"
		"          eighty columns\n"
		"  --strategy one|another|and-yet-another\n"
		"          How (default one)\n");
	buf_free(&out);
}

static void man_page_and_completion(void **state)
{
	static const struct opt few[] = {
		{ "color", OPT_FLAG, offsetof(struct settings, color), NULL, "A_b", 0, 0 },
		{ "strategy", OPT_CHOICE, offsetof(struct settings, strategy), "a|b", "How", 0, 0 },
		OPT_END,
	};
	struct buf out = BUF_INIT;

	opt_scdoc(few, &defaults, &out);
	assert_string_equal(out.data, "*--color*, *--no-color*\n\tA\\_b (default on).\n\n"
				      "*--strategy* _a\\|b_\n\tHow (default a).\n\n");
	buf_clear(&out);
	opt_completion(few, &out);
	assert_string_equal(out.data, "--color --strategy");
	buf_free(&out);
}

static void markup_comes_off(void **state)
{
	struct buf marked = BUF_INIT, plain = BUF_INIT;

	scdoc_plain("*bold* _under_ snake_case a\\*b _x", &plain);
	assert_string_equal(plain.data, "bold under snake_case a*b x");
	buf_clear(&plain);
	scdoc_escape("_a_ *b* \\ [c|d] #1", &marked);
	scdoc_plain(marked.data, &plain);
	assert_string_equal(plain.data, "_a_ *b* \\ [c|d] #1");
	buf_free(&marked);
	buf_free(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_taken),
		cmocka_unit_test(operands_are_left_in_order),
		cmocka_unit_test(errors_name_the_option),
		cmocka_unit_test(a_command_without_options),
		cmocka_unit_test(keys_of_a_file),
		cmocka_unit_test(help_shows_defaults_and_wraps),
		cmocka_unit_test(man_page_and_completion),
		cmocka_unit_test(markup_comes_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
