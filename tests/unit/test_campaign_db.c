/* test_campaign_db.c -- the database of a campaign: made, refused, locked; findings in it. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "base/stop.h"
#include "campaign/arms_store.h"
#include "campaign/campaign_report.h"
#include "campaign/findings_store.h"
#include "run/known.h"
#include "tests/harness/unit.h"

static char dir[64], file[96];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/assay-campaign-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/campaign.db", dir);
	stop_requested = 0;
	return 0;
}

static int remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void open_db(struct campaign_db *d)
{
	struct err err = { 0 };

	if (campaign_db_open(d, dir, true, &err))
		fail_msg("%s", err.text);
}

/* Opening it fails so, with this word, for writers and readers. */
static void assert_refused(int error, const char *says)
{
	for (int write = 0; write <= 1; write++) {
		struct err err = { 0 };
		struct campaign_db d;

		assert_int_equal(campaign_db_open(&d, dir, write, &err), -error);
		if (!strstr(err.text, says))
			fail_msg("%s", err.text);
	}
}

static void run_sql(const char *sql)
{
	sqlite3 *other;

	assert_int_equal(sqlite3_open(file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
}

/* ---- the file ---- */

static void values_are_there_again(void **state)
{
	struct err err = { 0 };
	struct campaign_db d;
	double value;

	open_db(&d);
	assert_int_equal(campaign_db_set(&d, "seconds", 1, &err), 0);
	assert_int_equal(campaign_db_set(&d, "seconds", 2.5, &err), 0);
	campaign_db_close(&d);
	assert_int_equal(campaign_db_open(&d, dir, false, &err), 0);
	assert_int_equal(campaign_db_get(&d, "seconds", &value, &err), 0);
	assert_true(value == 2.5);
	assert_int_equal(campaign_db_get(&d, "nothing", &value, &err), 0);
	assert_true(value == 0);
	assert_int_not_equal(campaign_db_set(&d, "seconds", 3, &err), 0); /* a reader */
	campaign_db_close(&d);
}

static void a_reader_makes_nothing(void **state)
{
	struct err err = { 0 };
	struct campaign_db d;

	assert_int_equal(campaign_db_open(&d, dir, false, &err), -ENOENT);
	assert_int_equal(access(file, F_OK), -1);
}

static void other_files_are_refused(void **state)
{
	struct buf text = BUF_INIT, after = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&text,
		 "this is a letter, and a long one: it has more than a hundred bytes, so that "
		 "it cannot be taken for an empty database by mistake.");
	assert_int_equal(buf_write_file(&text, file, &err), 0);
	assert_refused(EINVAL, "not a database");
	assert_int_equal(buf_read_file(&after, file, 4096, &err), 0);
	assert_string_equal(after.data, text.data);
	buf_free(&text);
	buf_free(&after);
}

static void other_databases_are_refused(void **state)
{
	run_sql("CREATE TABLE bookmarks(x)");
	assert_refused(EINVAL, "not the database of a campaign");
}

static void other_versions_are_refused(void **state)
{
	struct campaign_db d;

	open_db(&d);
	campaign_db_close(&d);
	run_sql("PRAGMA user_version = 0");
	assert_refused(EINVAL, "version 0");
	run_sql("PRAGMA user_version = 99");
	assert_refused(EINVAL, "version 99");
}

static void a_file_of_others_is_refused(void **state)
{
	struct campaign_db d;

	open_db(&d);
	campaign_db_close(&d);
	assert_int_equal(chmod(file, 0666), 0);
	assert_refused(EPERM, "campaign.db");
}

static void a_link_is_refused(void **state)
{
	struct err err = { 0 };
	struct campaign_db d;

	assert_int_equal(symlink("elsewhere", file), 0);
	assert_int_not_equal(campaign_db_open(&d, dir, true, &err), 0);
	assert_int_equal(access(file, F_OK), -1);
}

/* One that another process holds is waited for, but not for ever where we are to stop; and what was
 * not committed is not there. */
static void a_locked_database_is_reported(void **state)
{
	struct err err = { 0 };
	struct campaign_db d;
	sqlite3 *other;
	double value;

	open_db(&d);
	assert_int_equal(sqlite3_open(file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT * FROM about", NULL, NULL, NULL),
			 SQLITE_OK);
	stop_requested = 1;
	assert_int_equal(campaign_db_begin(&d, &err), 0);
	assert_int_equal(campaign_db_set(&d, "seconds", 7, &err), 0);
	assert_int_equal(campaign_db_commit(&d, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another process keeps it locked"));
	sqlite3_close(other);
	err = (struct err){ 0 };
	assert_int_equal(campaign_db_get(&d, "seconds", &value, &err), 0);
	assert_true(value == 0);
	assert_int_equal(campaign_db_begin(&d, &err), 0);
	assert_int_equal(campaign_db_set(&d, "seconds", 8, &err), 0);
	assert_int_equal(campaign_db_commit(&d, &err), 0);
	campaign_db_close(&d);
}

static void a_full_disk_is_reported(void **state)
{
	char long_text[100000];
	struct err err = { 0 };
	struct campaign_db d;

	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	open_db(&d);
	/* As if there were no room for more pages. */
	assert_int_equal(sqlite3_exec(d.sql, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(campaign_db_begin(&d, &err), 0);
	assert_int_equal(campaign_db_run(&d, &err, "INSERT INTO about VALUES(?, 1)", "s",
					 long_text),
			 -ENOSPC);
	campaign_db_rollback(&d);
	err = (struct err){ 0 };
	assert_int_equal(campaign_db_set(&d, "seconds", 1, &err), 0);
	campaign_db_close(&d);
}

/* ---- arms ---- */

static const char arms_text[] =
	"[arms.a]\ninstrument = explore\ntargets = reffs reffs!mkdir_nlink\n";

static void open_arms(struct campaign_file *f, struct campaign_arms *a, const char *text)
{
	struct err err = { 0 };

	assert_int_equal(campaign_file_read_text(f, "test.ini", text, &err), 0);
	assert_int_equal(campaign_arms_list(a, f, &err), 0);
}

static void close_arms(struct campaign_file *f, struct campaign_arms *a)
{
	campaign_arms_free(a);
	campaign_file_free(f);
}

static void arms_are_there_again(void **state)
{
	const struct bandit_yield y = { 10, 8, 100, 20, 3 };
	struct err err = { 0 };
	struct campaign_file f;
	struct campaign_arms a;
	struct campaign_db d;
	double score;

	open_db(&d);
	open_arms(&f, &a, arms_text);
	assert_int_equal(arms_store_load(&d, &a, &err), 0);
	bandit_learn(&a.bandit, 1, &y);
	score = bandit_score(&a.bandit, 1);
	a.list[1].turns = 1;
	a.list[1].run_states = 100;
	a.list[1].folder = 2;
	a.list[1].failures_in_row = 3;
	campaign_arm_set_state(&a, 1, ARM_ASIDE, "it fails");
	campaign_arm_set_state(&a, 0, ARM_DONE, "all is done");
	assert_int_equal(arms_store_save(&d, &a, 0, &err), 0);
	assert_int_equal(arms_store_save(&d, &a, 1, &err), 0);
	close_arms(&f, &a);

	open_arms(&f, &a, arms_text);
	assert_int_equal(arms_store_load(&d, &a, &err), 0);
	assert_true(bandit_score(&a.bandit, 1) == score && score > 0);
	assert_true(a.bandit.arms[1].tried && a.list[1].run_states == 100);
	assert_int_equal(a.list[1].folder, 2);
	assert_int_equal(a.list[1].state, ARM_ACTIVE); /* it is tried again */
	assert_int_equal(a.list[1].failures_in_row, 0);
	assert_int_equal(a.list[0].state, ARM_DONE);
	close_arms(&f, &a);

	open_arms(&f, &a, "[arms.b]\ninstrument = explore\ntargets = reffs!mkdir_nlink\n");
	assert_int_equal(arms_store_load(&d, &a, &err), 0);
	assert_int_equal(a.list[0].turns, 1);
	close_arms(&f, &a);
	campaign_db_close(&d);
}

/* ---- findings ---- */

static struct campaign_file arms_file;
static struct campaign_arms arms;

static void open_with_arms(struct campaign_db *d)
{
	struct err err = { 0 };

	open_db(d);
	open_arms(&arms_file, &arms,
		  "[arms.a]\ninstrument = explore\ntargets = kernel:ext4@6.1\n"
		  "[arms.b]\ninstrument = conform\ntargets = kernel:ext4\n");
	assert_int_equal(arms_store_load(d, &arms, &err), 0);
}

static void close_with_arms(struct campaign_db *d)
{
	close_arms(&arms_file, &arms);
	campaign_db_close(d);
}

/* A turn reports these; returns how many findings are new. */
static unsigned take(struct campaign_db *d, size_t arm, int64_t at, bool resumed, const char *json,
		     const struct known *known)
{
	const struct sighting_place place = { .target = arms.list[arm].target,
					      .arm = arms.list[arm].id,
					      .turn = at,
					      .kernel = arm ? "6.12.9" : "6.1.1",
					      .at = at,
					      .dir = dir,
					      .folder = arm ? "turns/b" : "arms/a",
					      .resumed = resumed };
	struct sighting_counts counts = { .news = BUF_INIT };
	static const struct known none;
	struct err err = { 0 };
	json_t *run = json_loads(json, 0, NULL);

	assert_non_null(run);
	if (findings_store_take(d, run, &place, known ? known : &none, &counts, &err))
		fail_msg("%s", err.text);
	json_decref(run);
	buf_free(&counts.news);
	return counts.findings;
}

static json_t *list_findings(struct campaign_db *d, int64_t since)
{
	struct err err = { 0 };
	json_t *list = campaign_report_findings(d, dir, since, false, &err);

	assert_non_null(list);
	return list;
}

#define FINDING(target, group, calls, folder) \
	"{\"findings\":[{\"target\":\"" target "\",\"group\":\"" group \
	"\",\"signature\":\"TREE x\",\"code\":\"TREE\",\"title\":\"t\",\"severity\":\"data\"," \
	"\"met\":2,\"calls\":" calls ",\"folder\":\"" folder "\"}]}"

static void make_folder(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "mkdir -p %s/%s", dir, path);
	assert_int_equal(system(full), 0);
}

/* By two instruments, on two kernels: one row. */
static void the_same_finding_is_one_row(void **state)
{
	struct campaign_db d;
	json_t *list, *row;

	open_with_arms(&d);
	make_folder("arms/a/findings/001");
	assert_int_equal(take(&d, 0, 100, false,
			      FINDING("kernel:ext4@6.1", "nlink", "5", "findings/001"), NULL),
			 1);
	assert_int_equal(take(&d, 1, 200, false,
			      FINDING("kernel:ext4", "nlink", "9", "findings/007"), NULL),
			 0);
	list = list_findings(&d, INT64_MIN);
	assert_int_equal(json_array_size(list), 1);
	row = json_array_get(list, 0);
	assert_string_equal(json_text(row, "target"), "kernel:ext4");
	assert_string_equal(json_text(row, "first_seen"), "1970-01-01 00:01:40");
	assert_string_equal(json_text(row, "last_seen"), "1970-01-01 00:03:20");
	assert_int_equal(json_integer_value(json_object_get(row, "times")), 4);
	assert_int_equal(json_array_size(json_object_get(row, "kernels")), 2);
	assert_int_equal(json_array_size(json_object_get(row, "instruments")), 2);
	/* The shorter example is kept. */
	assert_string_equal(json_text(row, "folder"), "arms/a/findings/001");
	json_decref(list);
	close_with_arms(&d);
}

static void a_better_example_takes_its_place(void **state)
{
	struct campaign_db d;
	json_t *list;

	open_with_arms(&d);
	make_folder("arms/a/findings/001");
	make_folder("turns/b/findings/002");
	take(&d, 0, 100, false, FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL);
	take(&d, 1, 200, false, FINDING("kernel:ext4", "nlink", "3", "findings/002"), NULL);
	list = list_findings(&d, INT64_MIN);
	assert_string_equal(json_text(json_array_get(list, 0), "folder"), "turns/b/findings/002");
	json_decref(list);
	/* One whose folder was deleted is replaced by a longer one. */
	assert_int_equal(rmdir(strcat(strcpy(file, dir), "/turns/b/findings/002")), 0);
	take(&d, 0, 300, false, FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL);
	list = list_findings(&d, INT64_MIN);
	assert_string_equal(json_text(json_array_get(list, 0), "folder"), "arms/a/findings/001");
	json_decref(list);
	close_with_arms(&d);
}

/* What a resumed run still lists was counted when it was found; what was known to it and met again
 * is counted by that. */
static void sightings_are_counted_once(void **state)
{
	static const char again[] = "{\"known\":[{\"failure\":\"nlink\",\"seen\":10},"
				    "{\"failure\":\"other\",\"seen\":3}]}";
	struct campaign_db d;
	json_t *list, *row;

	open_with_arms(&d);
	make_folder("arms/a/findings/001");
	take(&d, 0, 100, false, FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL);
	take(&d, 0, 200, true, FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL);
	list = list_findings(&d, INT64_MIN);
	row = json_array_get(list, 0);
	assert_int_equal(json_integer_value(json_object_get(row, "times")), 2);
	assert_string_equal(json_text(row, "last_seen"), json_text(row, "first_seen"));
	json_decref(list);
	take(&d, 0, 300, true, again, NULL);
	list = list_findings(&d, INT64_MIN);
	row = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(json_integer_value(json_object_get(row, "times")), 12);
	assert_string_equal(json_text(row, "last_seen"), "1970-01-01 00:05:00");
	json_decref(list);
	close_with_arms(&d);
}

static void unconfirmed_becomes_confirmed(void **state)
{
	static const char doubtful[] =
		"{\"unconfirmed\":[{\"group\":\"nlink\",\"signature\":\"TREE x\",\"code\":\"TREE\","
		"\"title\":\"t\",\"severity\":\"data\",\"count\":1,\"folder\":\"unconfirmed/1\"}]}";
	struct campaign_db d;
	json_t *list, *all = NULL;
	struct err err = { 0 };

	open_with_arms(&d);
	all = campaign_report_arms(&d, &err);
	assert_int_equal(take(&d, 0, 100, false, doubtful, NULL), 0);
	list = list_findings(&d, INT64_MIN);
	assert_true(json_is_false(json_object_get(json_array_get(list, 0), "confirmed")));
	assert_int_equal(campaign_report_verdict(list, all), CAMPAIGN_UNKNOWN);
	json_decref(list);
	assert_int_equal(take(&d, 0, 200, false,
			      FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL),
			 1);
	assert_int_equal(take(&d, 0, 300, false, doubtful, NULL), 0);
	list = list_findings(&d, INT64_MIN);
	assert_int_equal(json_array_size(list), 1);
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "confirmed")));
	assert_int_equal(campaign_report_verdict(list, all), CAMPAIGN_BAD);
	json_decref(list);
	json_decref(all);
	close_with_arms(&d);
}

static void known_findings_are_marked(void **state)
{
	struct buf text = BUF_INIT;
	struct known known = { 0 };
	static const struct known none;
	struct err err = { 0 };
	struct campaign_db d;
	json_t *list;
	char path[128];

	open_with_arms(&d);
	snprintf(path, sizeof(path), "%s/known", dir);
	buf_adds(&text, "# because: ticket 7\nkernel:ext4: nlink\n");
	assert_int_equal(buf_write_file(&text, path, &err), 0);
	assert_int_equal(known_read(&known, path, "2026-01-01", &err), 0);
	take(&d, 0, 100, false, FINDING("kernel:ext4@6.1", "nlink", "5", "findings/001"), &known);
	list = list_findings(&d, INT64_MIN);
	assert_string_equal(json_text(json_array_get(list, 0), "known"), "ticket 7");
	json_decref(list);
	/* A line is removed from the file. */
	assert_int_equal(findings_store_mark_known(&d, &none, &err), 0);
	list = list_findings(&d, INT64_MIN);
	assert_true(json_is_null(json_object_get(json_array_get(list, 0), "known")));
	json_decref(list);
	assert_int_equal(findings_store_mark_known(&d, &known, &err), 0);
	list = list_findings(&d, INT64_MIN);
	assert_string_equal(json_text(json_array_get(list, 0), "known"), "ticket 7");
	json_decref(list);
	known_free(&known);
	buf_free(&text);
	close_with_arms(&d);
}

/* A turn need not find again what has a folder; what has lost it is to be found again. */
static void turns_know_what_has_a_folder(void **state)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	struct campaign_db d;

	open_with_arms(&d);
	make_folder("arms/a/findings/001");
	take(&d, 0, 100, false, FINDING("kernel:ext4", "nlink", "5", "findings/001"), NULL);
	take(&d, 0, 100, false, FINDING("kernel:ext4", "gone", "5", "findings/002"), NULL);
	take(&d, 0, 100, false, FINDING("kernel:xfs", "of others", "5", "findings/001"), NULL);
	assert_int_equal(findings_store_print_known(&d, "kernel:ext4@6.12", dir, &out, &err), 0);
	assert_string_equal(buf_str(&out), "*: nlink\n");
	buf_free(&out);
	close_with_arms(&d);
}

static void findings_are_chosen_by_their_first_day(void **state)
{
	struct buf out = BUF_INIT;
	struct campaign_db d;
	json_t *list;

	open_with_arms(&d);
	take(&d, 0, 100, false, FINDING("kernel:ext4", "old", "5", "findings/001"), NULL);
	take(&d, 0, 200, false, FINDING("kernel:ext4", "a|b", "5", "findings/002"), NULL);
	list = list_findings(&d, 150);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_text(json_array_get(list, 0), "group"), "a|b");
	campaign_report_findings_markdown(list, &out);
	assert_non_null(
		strstr(buf_str(&out), "| kernel:ext4 | t | data | explore | 1970-01-01 | "));
	json_decref(list);
	buf_free(&out);
	close_with_arms(&d);
}

/* run.json may be anything. */
static void strange_reports_are_survived(void **state)
{
	static const char *const strange[] = {
		"{}",
		"{\"findings\":1,\"unconfirmed\":{},\"known\":\"x\"}",
		"{\"findings\":[1,null,[],{},{\"signature\":5}],\"known\":[1,{\"seen\":\"x\"}]}",
		"{\"findings\":[{\"signature\":\"s\",\"calls\":\"x\",\"met\":-5,\"others\":[1]}]}",
	};
	struct campaign_db d;
	json_t *list;

	open_with_arms(&d);
	for (size_t i = 0; i < ARRAY_LEN(strange); i++)
		take(&d, 0, 100, false, strange[i], NULL);
	list = list_findings(&d, INT64_MIN);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "times")), 1);
	json_decref(list);
	close_with_arms(&d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_are_there_again),
		TEST(a_reader_makes_nothing),
		TEST(other_files_are_refused),
		TEST(other_databases_are_refused),
		TEST(other_versions_are_refused),
		TEST(a_file_of_others_is_refused),
		TEST(a_link_is_refused),
		TEST(a_locked_database_is_reported),
		TEST(a_full_disk_is_reported),
		TEST(arms_are_there_again),
		TEST(the_same_finding_is_one_row),
		TEST(a_better_example_takes_its_place),
		TEST(sightings_are_counted_once),
		TEST(unconfirmed_becomes_confirmed),
		TEST(known_findings_are_marked),
		TEST(turns_know_what_has_a_folder),
		TEST(findings_are_chosen_by_their_first_day),
		TEST(strange_reports_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
