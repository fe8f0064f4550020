/* test_shrink.c -- findings of long histories become short. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "finding/finding.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

/* Shrinks what a script shows on a target, with so many replays; returns how many calls are left.
 */
static size_t shrunk(const char *target, const char *text, unsigned tries, char *ret_signature)
{
	struct script script = { 0 };
	struct replay_on on;
	struct finding finding;
	struct model model;
	struct target *t;
	struct call *calls;
	struct err err = { 0 };
	size_t count = 0;

	if (target_open(&t, target, NULL, &err) ||
	    script_parse(&script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	target_model(t, &model);
	calls = calloc(script.count + 1, sizeof(*calls));
	for (size_t i = 0; i < script.count; i++)
		if (script.items[i].type == ITEM_CALL)
			calls[count++] = script.items[i].call;
	on = (struct replay_on){ .target = t, .model = &model };
	assert_int_equal(judge_replay(&on, calls, count, NULL, &finding, &err), 1);
	if (finding_improve(&finding, &on, tries, 1, &err))
		fail_msg("%s", err.text);
	strcpy(ret_signature, finding.discrepancy.signature);
	count = finding.count;
	finding_free(&finding);
	script_free(&script);
	target_close(t);
	free(calls);
	return count;
}

/* What group it is in is not in its signature, but in what was seen. */
static void a_cause_that_was_seen_is_kept(void **state)
{
	char signature[SIGNATURE_MAX];
	size_t count = shrunk("reffs!stat_size",
			      "mkdir(\"d\", 0755)\nmkdir(\"e\", 0755)\nrename(\"d\", \"f\")\n"
			      "write_file(\"a\", O_CREAT|O_WRONLY, \"xyz\", 3, 0)\n"
			      "chmod(\"a\", 0600)\nsymlink(\"a\", \"b\")\nstat(\"a\")\n",
			      1000, signature);

	assert_string_equal(signature, "OUTCOME stat value (size)");
	assert_int_equal(count, 2);
}

/* Each line many times, with the number of the round for '#'. */
static void add_rounds(struct buf *out, const char *text, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		for (const char *at = text; *at; at++)
			if (*at == '#')
				buf_addf(out, "%u", i);
			else
				buf_addch(out, *at);
}

/* Hundreds of calls are left out by the model, not by a replay for each. */
static void long_histories_need_few_replays(void **state)
{
	char signature[SIGNATURE_MAX];
	struct buf text = BUF_INIT;

	buf_adds(&text, "write_file(\"c\", O_CREAT|O_WRONLY, \"d\", 1, 0)\n");
	add_rounds(&text,
		   "mkdir(\"d#\", 0700)\nwrite_file(\"d#/f\", O_CREAT|O_WRONLY, \"x\", 1, 5)\n"
		   "rename(\"d#/f\", \"f#\")\nchmod(\"f#\", 0600)\n",
		   60);
	buf_adds(&text, "truncate(\"c\", 0)\n");
	add_rounds(&text, "link(\"f#\", \"g#\")\nrmdir(\"d#\")\n", 60);
	buf_adds(&text, "truncate(\"c\", 1)\n");
	assert_true(shrunk("reffs!truncate_stale", buf_str(&text), 20, signature) <= 4);
	assert_string_equal(signature, "TREE truncate data (stale)");
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cause_that_was_seen_is_kept),
		cmocka_unit_test(long_histories_need_few_replays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
