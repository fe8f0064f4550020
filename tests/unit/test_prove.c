/* test_prove.c -- which programs of findings are compiled and run. */
#include <string.h>

#include "base/err.h"
#include "finding/finding.h"
#include "finding/prove.h"
#include "tests/harness/unit.h"

/* A search that was stopped before it could shrink leaves tens of thousands of calls. */
static void too_many_calls_are_not_compiled(void **unused)
{
	struct target_options options = { .deadline_seconds = 20 };
	struct target *t = NULL;
	struct finding f;
	struct err err = { 0 };

	if (target_open(&t, "tmpfs", &options, &err)) {
		print_message("# tmpfs: %s\n", err.text);
		skip();
	}
	finding_init(&f);
	finding_reserve(&f, 60000);
	f.count = 60000;
	for (size_t i = 0; i < f.count; i++) {
		f.calls[i] = (struct call){ .op = OP_mkdir, .pid = 1 };
		f.calls[i].arg[0] = (struct arg){ .text = "a", .len = 1 };
		f.calls[i].arg[1].num = 0755;
	}
	assert_int_equal(finding_prove(&f, t, 0, &err), 0);
	assert_int_equal(f.proof.end, PROOF_NOT_RUN);
	assert_non_null(strstr(f.proof.why, "60000 calls"));
	finding_free(&f);
	target_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_calls_are_not_compiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
