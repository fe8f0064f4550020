/* test_findings_text.c -- what a run has found, as text. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_on_another_target_names_it),
		cmocka_unit_test(of_several_targets_each_names_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
