/* test_family.c -- families of scripts: reading, filling, combining, proving. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "suite/family.h"
#include "tests/harness/unit.h"

static const char small[] = "[texts]\n"
			    "greet = hello {who}\n"
			    "[f]\n"
			    "summary = a family\n"
			    "setup = mkdir(\"d\", 0755)\n"
			    "script = {greet}: {what} {x*3}\n"
			    "[f.who]\n"
			    "a = Ann\n"
			    "b = Bob\n"
			    "c = Cleo\n"
			    "[f.what]\n"
			    "see = to see {who}\n"
			    "go = to go\n"
			    "[f.impossible]\n"
			    "self = who:b what:see ; because: nobody sees himself\n";

static void read_text(struct families *f, const char *text)
{
	struct err err = { 0 };

	*f = (struct families){ 0 };
	if (families_read(f, "test", text, &err))
		fail_msg("%s", err.text);
}

static void patterns_are_filled(void **state)
{
	struct combination c = { { 1, 0 } };
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	struct families f;

	read_text(&f, small);
	assert_int_equal(family_fill(&f, f.items[0], &c, f.items[0]->script, &out, &err), 0);
	assert_string_equal(out.data, "hello Bob: to see Bob xxx");
	buf_clear(&out);
	family_script_name(f.items[0], &c, &out);
	assert_string_equal(out.data, "f/b.see");
	assert_int_not_equal(family_fill(&f, f.items[0], &c, "{nothing}", &out, &err), 0);
	assert_non_null(strstr(err.text, "{nothing}"));
	buf_free(&out);
	families_free(&f);
}

/* Of two values in either order one order is enough. */
static void combinations_in_one_order(void **state)
{
	struct combination *list;
	struct families f;
	size_t count;

	read_text(&f, "[f]\nsummary = s\nscript = {x} {y}\n[f.x]\na = 1\nb = 2\nc = 3\n"
		      "[f.y]\na = 1\nb = 2\nc = 3\n[f.impossible]\nr = x>y ; because: alike\n");
	list = family_combine(f.items[0], &count);
	assert_int_equal(count, 6);
	for (size_t i = 0; i < count; i++)
		assert_true(list[i].value[0] <= list[i].value[1]);
	free(list);
	families_free(&f);
}

static void all_combinations_but_the_impossible(void **state)
{
	struct combination *list;
	struct families f;
	struct proof proof;
	size_t count;

	read_text(&f, small);
	list = family_combine(f.items[0], &count);
	assert_int_equal(count, 5);
	family_prove(f.items[0], list, count, &proof);
	assert_int_equal(proof.choices, 6);
	assert_int_equal(proof.covered, 5);
	assert_int_equal(proof.by_rule[0], 1);
	assert_int_equal(proof.missing, 0);
	/* A script that is left out is missed. */
	family_prove(f.items[0], list, count - 1, &proof);
	assert_int_equal(proof.missing, 1);
	free(list);
	families_free(&f);
}

/* Five properties of three values, any two or three together, and rules. */
static void few_combinations_cover_all_choices(void **state)
{
	static const char head[] = "[w]\nsummary = wide\nscript = {a}{b}{c}{d}{e}\n";
	struct buf text = BUF_INIT;
	struct combination *list;
	struct families f;
	struct proof proof;
	size_t count;

	for (unsigned strength = 2; strength <= 3; strength++) {
		buf_clear(&text);
		buf_addf(&text, "%sstrength = %u\n", head, strength);
		for (char p = 'a'; p <= 'e'; p++)
			buf_addf(&text, "[w.%c]\nx = 1\ny = 2\nz = 3\n", p);
		buf_adds(&text, "[w.impossible]\n"
				"one = a:x b:x ; because: a test\n"
				"two = c:!x d:y e:z ; because: a test\n"
				"three = a:z c:x ; because: a test\n"
				"four = a:z c:!x ; because: a test\n");
		read_text(&f, text.data);
		list = family_combine(f.items[0], &count);
		family_prove(f.items[0], list, count, &proof);
		assert_int_equal(proof.missing, 0);
		assert_true(proof.by_several > 0);
		assert_true(count < (strength == 2 ? 25 : 80));
		for (size_t i = 0; i < count; i++)
			assert_null(family_forbids(f.items[0], &list[i], ~0u));
		free(list);
		families_free(&f);
	}
	buf_free(&text);
}

static void expect_mistake(const char *text, const char *words)
{
	struct families f = { 0 };
	struct err err = { 0 };

	assert_int_not_equal(families_read(&f, "test", text, &err), 0);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
	families_free(&f);
}

static void mistakes_are_told(void **state)
{
	expect_mistake("[f]\nscript = x\n", "no property");
	expect_mistake("[f]\nscript = x\n[f.a]\nb = 1\nb = 2\n", "there already");
	expect_mistake("[f]\nscript = x\ncolour = red\n[f.a]\nb =\n", "colour");
	expect_mistake("[f]\nscript = x\n[f.a]\nb =\n[f.impossible]\nr = a:b\n", "reason");
	expect_mistake("[f]\nscript = x\n[f.a]\nb =\n[f.impossible]\nr = c:b ; because: x\n",
		       "property");
	expect_mistake("[f]\nscript = x\n[f.a]\nb =\n[f.impossible]\nr = a:c ; because: x\n",
		       "value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_filled),
		cmocka_unit_test(combinations_in_one_order),
		cmocka_unit_test(all_combinations_but_the_impossible),
		cmocka_unit_test(few_combinations_cover_all_choices),
		cmocka_unit_test(mistakes_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
