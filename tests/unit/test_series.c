/* test_series.c -- the time series of a run: its rows, its bound, its file, and jobs together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/series.h"
#include "tests/harness/unit.h"

static char root[] = "/tmp/assay-series-XXXXXX";

static int set_up(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return !mkdtemp(root);
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void add(struct series *s, const char *dir, double seconds, int calls, size_t findings)
{
	json_t *figures = json_pack("{s:i, s:s}", "calls", calls, "profile", "tiny");

	series_add(s, dir, seconds, figures, findings);
	json_decref(figures);
}

static void expect_file(const char *dir, const char *text)
{
	struct buf found = BUF_INIT;
	struct err err = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/series.csv", dir);
	assert_int_equal(buf_read_file(&found, path, 1 << 20, &err), 0);
	assert_string_equal(buf_str(&found), text);
	buf_free(&found);
}

static void columns_are_those_of_the_figures(void **state)
{
	struct series s = { 0 };
	json_t *more;

	add(&s, root, 0.5, 10, 0);
	add(&s, root, 1.5, 20, 1);
	expect_file(root, "seconds,calls,findings\n0.500,10,0\n1.500,20,1\n");
	/* One that comes later is empty before. */
	more = json_pack("{s:i, s:i}", "calls", 30, "states", 7);
	series_add(&s, root, 2.5, more, 1);
	json_decref(more);
	expect_file(root,
		    "seconds,calls,states,findings\n0.500,10,,0\n1.500,20,,1\n2.500,30,7,1\n");
	series_free(&s);
}

static void a_row_is_due_every_second(void **state)
{
	struct series s = { 0 };

	assert_true(series_is_due(&s, 0));
	add(&s, root, 0.25, 1, 0);
	assert_false(series_is_due(&s, 1.0));
	assert_true(series_is_due(&s, 1.25));
	series_free(&s);
}

static void rows_stay_bounded(void **state)
{
	struct series s = { 0 };
	struct series again;
	struct err err = { 0 };

	for (int i = 0; i < 5000; i++)
		add(&s, root, i, i, 0);
	assert_true(s.count <= SERIES_ROWS_MAX && s.count > SERIES_ROWS_MAX / 4);
	assert_true(s.interval_seconds > 1);
	/* From the first to the last, in order, and so is the file. */
	assert_true(s.rows[0].seconds == 0 && s.rows[s.count - 1].seconds == 4999);
	assert_int_equal(series_read(&again, root, &err), 0);
	assert_int_equal(again.count, s.count);
	for (size_t i = 0; i < s.count; i++)
		assert_true(again.rows[i].values[0] == (int64_t)s.rows[i].seconds);
	series_free(&again);
	series_free(&s);
}

static void a_resumed_run_continues(void **state)
{
	struct series s = { 0 }, again;
	struct err err = { 0 };

	add(&s, root, 3, 10, 0);
	series_free(&s);
	assert_int_equal(series_read(&again, root, &err), 0);
	add(&again, root, 2, 15, 1);
	expect_file(root, "seconds,calls,findings\n3.000,10,0\n5.000,15,1\n");
	series_free(&again);
}

static void a_line_cut_short_is_left_out(void **state)
{
	struct series s;
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/series.csv", root);
	buf_adds(&text, "seconds,calls,something,findings\n1.000,5,,0\n2.000,6,9,1\n3.000,7");
	assert_int_equal(buf_write_file(&text, path, &err), 0);
	assert_int_equal(series_read(&s, root, &err), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.rows[1].values[series_find_column("calls")], 6);
	assert_int_equal(s.rows[1].values[series_find_column("findings")], 1);
	series_free(&s);
	buf_clear(&text);
	buf_adds(&text, "no series\n");
	assert_int_equal(buf_write_file(&text, path, &err), 0);
	assert_int_not_equal(series_read(&s, root, &err), 0);
	series_free(&s);
	buf_free(&text);
}

static void jobs_add_up(void **state)
{
	struct series s = { 0 }, part = { 0 };
	const struct series_row *last;
	char dir[128];

	for (int job = 0; job < 2; job++) {
		snprintf(dir, sizeof(dir), "%s/job-%d", root, job);
		assert_int_equal(mkdir(dir, 0755), 0);
		for (int i = 0; i < 3; i++) {
			json_t *figures = json_pack("{s:i, s:i}", "calls", 100 * i, "inputs_seen",
						    10 * i + job);

			series_add(&part, dir, i, figures, (size_t)i);
			json_decref(figures);
		}
		series_free(&part);
	}
	series_add_jobs(&s, root, 2);
	last = &s.rows[s.count - 1];
	assert_true(last->seconds == 2);
	assert_int_equal(last->values[series_find_column("calls")], 400);
	assert_int_equal(last->values[series_find_column("inputs")], 21);
	assert_int_equal(last->values[series_find_column("findings")], 4);
	series_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_are_those_of_the_figures, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_row_is_due_every_second, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_stay_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_resumed_run_continues, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_cut_short_is_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(jobs_add_up, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
