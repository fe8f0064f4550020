/* test_findings_text.c -- what a run has found, as text. */
#include <stdio.h>

#include "base/buf.h"
#include "report/findings_text.h"
#include "tests/harness/unit.h"

static void assert_text(const char *target, const char *wanted)
{
	json_t *findings =
		json_pack("[{s:s, s:s, s:s, s:s, s:s}]", "target", "kernel:ext4-inline", "code",
			  "TREE", "title", "zeros", "path", "r/001", "program", "shown");
	struct buf text = BUF_INIT;

	findings_text(findings, NULL, target, &text);
	assert_string_equal(buf_str(&text), wanted);
	buf_free(&text);
	json_decref(findings);
}

/* A run searches variants of its target, too. */
static void a_finding_on_another_target_names_it(void **state)
{
	assert_text("kernel:ext4",
		    "kernel:ext4-inline TREE: zeros\n  r/001\n  its program: shown\n");
	assert_text("kernel:ext4-inline", "TREE: zeros\n  r/001\n  its program: shown\n");
}

static void of_several_targets_each_names_its_own(void **state)
{
	assert_text(NULL, "kernel:ext4-inline TREE: zeros\n  r/001\n  its program: shown\n");
}

static json_t *repair(const char *path, const char *detail, const char *said)
{
	char title[100];

	snprintf(title, sizeof(title), "lies (%s)", detail);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "target", "fsck", "code", "REPAIR",
			 "title", title, "path", path, "heading", "lies", "detail", detail, "said",
			 said);
}

static void assert_repairs(json_t *findings, const char *wanted)
{
	struct buf text = BUF_INIT;

	findings_text(findings, NULL, "fsck", &text);
	assert_string_equal(buf_str(&text), wanted);
	buf_free(&text);
	json_decref(findings);
}

static void one_with_a_heading_is_told_by_its_title(void **state)
{
	assert_repairs(json_pack("[o]", repair("r/001", "mode 1 -> 2", "no")),
		       "REPAIR: lies (mode 1 -> 2)\n  r/001\n");
}

/* One line says it of all of them, and one line is for what the same is said of. */
static void several_with_one_heading_are_told_once(void **state)
{
	assert_repairs(json_pack("[oooo]", repair("r/001", "mode 1 -> 2", "no"),
				 repair("r/002", "uid 1 -> 2", "yes"),
				 repair("r/003", "size 1 -> 2", "no"),
				 repair("r/004", "gid 1 -> 2", "")),
		       "REPAIR: lies: 4 findings\n"
		       "  r/001  mode 1 -> 2: \"no\"\n    the same: size 1 -> 2 (003)\n"
		       "  r/002  uid 1 -> 2: \"yes\"\n"
		       "  r/004  gid 1 -> 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_on_another_target_names_it),
		cmocka_unit_test(of_several_targets_each_names_its_own),
		cmocka_unit_test(one_with_a_heading_is_told_by_its_title),
		cmocka_unit_test(several_with_one_heading_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
