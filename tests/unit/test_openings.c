/* test_openings.c -- scripts that are played before a search: they can be read, a correct file
 * system does as the model says in all of them, and a known deviation hides nothing that comes
 * later. */
#include "explore/openings.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "finding/finding.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

struct played {
	struct target *target;
	struct model model;
	const char *known; /* a signature, or NULL */
	struct finding finding;
};

static bool knows(void *to, const struct finding *f)
{
	const struct played *p = to;

	return p->known && !strcmp(p->known, f->discrepancy.signature);
}

/* Whether the calls show something; of an opening, those that there are. */
static bool shows(struct played *p, const struct script *s)
{
	struct replay_on on = {
		.target = p->target, .model = &p->model, .knows = knows, .knows_to = p
	};
	struct call *calls = calloc(s->count, sizeof(*calls));
	struct err err = { 0 };
	size_t count = 0;
	int status;

	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].type == ITEM_CALL)
			calls[count++] = s->items[i].call;
	status = judge_replay(&on, calls, count, NULL, &p->finding, &err);
	if (status < 0)
		fail_msg("%s", err.text);
	free(calls);
	return status;
}

static void open_played(struct played *p, const char *spec)
{
	struct target_options options = { .deadline_seconds = 60 };
	struct err err = { 0 };

	*p = (struct played){ 0 };
	if (target_open(&p->target, spec, &options, &err))
		fail_msg("%s", err.text);
	target_model(p->target, &p->model);
}

/* The first opening that shows something, or the number of all. */
static size_t first_that_shows(struct played *p)
{
	struct script s = { 0 };
	size_t i;
	bool shown = false;

	for (i = 0; i < openings_count(); i++) {
		openings_read(i, &s);
		shown = shows(p, &s);
		script_free(&s);
		s = (struct script){ 0 };
		if (shown)
			break;
	}
	return i;
}

static void a_correct_file_system_passes(void **state)
{
	struct played p;
	size_t i;

	open_played(&p, "reffs");
	i = first_that_shows(&p);
	if (i < openings_count())
		fail_msg("opening %zu: %s", i, p.finding.discrepancy.signature);
	assert_true(openings_count() >= 30);
	target_close(p.target);
}

static void a_broken_one_does_not(void **state)
{
	struct played p;

	open_played(&p, "reffs!truncate_stale");
	assert_true(first_that_shows(&p) < openings_count());
	finding_free(&p.finding);
	target_close(p.target);
}

/* What is known is stepped over, and what comes behind it is seen. */
static void what_is_known_hides_nothing(void **state)
{
	static const char text[] = "write_file(\"a\", O_WRONLY|O_CREAT, \"ab\", 2, 0)\n"
				   "truncate(\"a\", 0)\n"
				   "truncate(\"a\", 1)\n"
				   "mkdir(\"d\", 0755)\n";
	char signature[SIGNATURE_MAX];
	struct script s = { 0 };
	struct err err = { 0 };
	struct played p;

	open_played(&p, "reffs!truncate_stale");
	assert_int_equal(script_parse(&s, "test", text, strlen(text), &err), 0);
	assert_true(shows(&p, &s));
	memcpy(signature, p.finding.discrepancy.signature, sizeof(signature));
	finding_free(&p.finding);
	p.known = signature;
	assert_false(shows(&p, &s));
	script_free(&s);
	target_close(p.target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_correct_file_system_passes),
		cmocka_unit_test(a_broken_one_does_not),
		cmocka_unit_test(what_is_known_hides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
