/* test_serve.c -- what `assay serve` answers: paths, hosts, tokens, and runs that are opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "serve/request_guard.h"
#include "serve/request_path.h"
#include "serve/run_index.h"
#include "serve/served_runs.h"
#include "tests/harness/unit.h"

/* ---- paths ---- */

static void expect_path(const char *path, enum request_kind kind, const char *run, const char *file)
{
	struct request_path p;

	request_path_parse(&p, path);
	assert_int_equal(p.kind, kind);
	assert_string_equal(p.run, run);
	if (kind == REQUEST_FILE)
		assert_string_equal(p.file, file);
}

static void paths_name_what_belongs_to_runs(void **state)
{
	expect_path("/", REQUEST_DIRECTORY, ".", "");
	expect_path("/index.json", REQUEST_INDEX_DATA, "index.json", "");
	expect_path("/report.html", REQUEST_PAGE, ".", "");
	expect_path("/a/", REQUEST_DIRECTORY, "a", "");
	expect_path("/a/b/report.html", REQUEST_PAGE, "a/b", "");
	expect_path("/a/data.json", REQUEST_DATA, "a", "");
	expect_path("/a/run.json", REQUEST_FILE, "a", "run.json");
	expect_path("/run.json", REQUEST_FILE, ".", "run.json");
	expect_path("/a%20%c3%a9%25/series.csv", REQUEST_FILE, "a \xc3\xa9%", "series.csv");
	expect_path("/a/findings/001-TREE/repro.c", REQUEST_FILE, "a", "findings/001-TREE/repro.c");
	expect_path("/unconfirmed/001-TREE/a/b", REQUEST_FILE, ".", "unconfirmed/001-TREE/a/b");
}

static void expect_nothing(const char *path)
{
	struct request_path p;

	request_path_parse(&p, path);
	assert_int_equal(p.kind, REQUEST_NOTHING);
}

static void other_paths_name_nothing(void **state)
{
	static const char *const paths[] = {
		"",
		"a/report.html",
		"//",
		"//a/report.html",
		"/a//report.html",
		"/../report.html",
		"/a/../report.html",
		"/./report.html",
		"/%2e%2e/report.html",
		"/%2E%2e/report.html",
		"/..%2freport.html",
		"/a%2f..%2fb/report.html",
		"/a%00/report.html",
		"/a/run.json%00.html",
		"/%",
		"/%4",
		"/%zz/report.html",
		"/.git/run.json",
		"/a/.hidden",
		"/a/checkpoint",
		"/a/lock",
		"/campaign.db",
		"/a/findings/trace.img",
		"/a/findings",
		"/a/index.json",
	};
	char *large = malloc(REQUEST_PATH_MAX + 64);

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		expect_nothing(paths[i]);
	assert_non_null(large);
	memset(large, 'a', REQUEST_PATH_MAX);
	large[0] = '/';
	memcpy(large + REQUEST_PATH_MAX, "/report.html", sizeof("/report.html"));
	expect_nothing(large);
	for (size_t i = 0; i < REQUEST_PATH_MAX; i += 2)
		memcpy(large + i, "/a", 2);
	expect_nothing(large);
	free(large);
}

/* ---- hosts and tokens ---- */

static void hosts_are_of_this_machine(void **state)
{
	const struct request_guard local = { .address = "127.0.0.1", .port = 7357 };
	const struct request_guard open = { .address = "0.0.0.0", .port = 80, .machine = "box" };

	assert_true(request_guard_host(&local, "127.0.0.1:7357"));
	assert_true(request_guard_host(&local, "LocalHost:7357"));
	assert_true(request_guard_host(&local, "[::1]:7357"));
	assert_false(request_guard_host(&local, NULL));
	assert_false(request_guard_host(&local, ""));
	assert_false(request_guard_host(&local, "127.0.0.1"));
	assert_false(request_guard_host(&local, "127.0.0.1:7358"));
	assert_false(request_guard_host(&local, "127.0.0.1:73570"));
	assert_false(request_guard_host(&local, "127.0.0.1:7357@evil.example"));
	assert_false(request_guard_host(&local, "evil.example:7357"));
	assert_false(request_guard_host(&local, "127.0.0.1.evil.example:7357"));
	assert_false(request_guard_host(&local, "localhost.evil.example:7357"));
	assert_false(request_guard_host(&local, "10.0.0.1:7357"));
	assert_false(request_guard_host(&local, "box:7357"));
	assert_false(request_guard_host(&local, "[::1:7357"));
	assert_true(request_guard_host(&open, "10.0.0.1"));
	assert_true(request_guard_host(&open, "box:80"));
	assert_true(request_guard_host(&open, "[fe80::1]"));
	assert_false(request_guard_host(&open, "evil.example"));
	assert_false(request_guard_host(&open, "box.evil.example:80"));
}

static void loopback_is_known(void **state)
{
	assert_true(request_guard_is_loopback("127.0.0.1"));
	assert_true(request_guard_is_loopback("127.1.2.3"));
	assert_true(request_guard_is_loopback("::1"));
	assert_false(request_guard_is_loopback("0.0.0.0"));
	assert_false(request_guard_is_loopback("::"));
	assert_false(request_guard_is_loopback("128.0.0.1"));
	assert_false(request_guard_is_loopback("localhost"));
}

static void tokens_are_compared(void **state)
{
	const struct request_guard none = { .port = 1 };
	const struct request_guard guard = { .port = 1, .token = "0123456789abcdef" };

	assert_true(request_guard_token(&none, NULL));
	assert_true(request_guard_token(&guard, "0123456789abcdef"));
	assert_false(request_guard_token(&guard, NULL));
	assert_false(request_guard_token(&guard, ""));
	assert_false(request_guard_token(&guard, "0123456789abcde"));
	assert_false(request_guard_token(&guard, "0123456789abcdefg"));
	assert_false(request_guard_token(&guard, "0123456789abcdeF"));
	assert_false(request_guard_token(&guard, "1123456789abcdef"));
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int read_token(const char *text, mode_t mode, struct request_guard *g)
{
	struct err err = { 0 };

	put_file("token", text, mode);
	*g = (struct request_guard){ .port = 1 };
	return request_guard_read_token(g, "token", &err);
}

static void tokens_come_from_private_files(void **state)
{
	struct request_guard g;

	assert_int_equal(read_token("0123456789-_abCD\nmore\n", 0600, &g), 0);
	assert_string_equal(g.token, "0123456789-_abCD");
	assert_int_equal(read_token("0123456789abcdef\n", 0644, &g), -EPERM);
	assert_int_equal(read_token("0123456789abcdef\n", 0602, &g), -EPERM);
	assert_int_equal(read_token("short\n", 0600, &g), -EINVAL);
	assert_int_equal(read_token("0123456789 abcdef\n", 0600, &g), -EINVAL);
	assert_int_equal(read_token("", 0600, &g), -EINVAL);
	assert_string_equal(g.token, "");
}

static void random_texts_differ(void **state)
{
	char a[33], b[33];
	struct err err = { 0 };

	assert_int_equal(request_guard_random(a, 16, &err), 0);
	assert_int_equal(request_guard_random(b, 16, &err), 0);
	assert_int_equal(strspn(a, "0123456789abcdef"), 32);
	assert_string_not_equal(a, b);
}

/* ---- runs ---- */

static const char run_text[] =
	"{\"command\": \"explore\", \"target\": \"x\", \"verdict\": \"bad\", \"running\": true,"
	" \"date\": \"2026-11-17T10:00:00Z\", \"findings\": [{\"severity\": \"data\"},"
	" {\"severity\": \"data\"}, {\"severity\": \"crash\"}], \"unconfirmed\": []}";

static void make_runs(void)
{
	mkdir("root", 0700);
	mkdir("root/a", 0700);
	mkdir("root/deep", 0700);
	mkdir("root/deep/b", 0700);
	mkdir("root/deep/b/01-target", 0700);
	mkdir("root/none", 0700);
	mkdir("outside", 0700);
	put_file("root/a/run.json", run_text, 0600);
	put_file("root/deep/b/run.json", "no JSON", 0600);
	put_file("root/deep/b/01-target/run.json", run_text, 0600);
	put_file("outside/run.json", run_text, 0600);
	put_file("secret", "secret", 0600);
	assert_false(symlink("../outside", "root/link"));
	assert_false(symlink("../../secret", "root/a/trace"));
	assert_false(mkfifo("root/a/coverage.json", 0600));
}

static void runs_are_opened_within_the_root(void **state)
{
	struct served_root root;
	struct err err = { 0 };
	off_t size;
	int fd;

	make_runs();
	assert_int_equal(served_root_open(&root, "root", &err), 0);
	assert_false(root.is_run);
	fd = served_open_run(&root, "a", &err);
	assert_true(fd >= 0);
	assert_true(served_open_file(fd, "trace", &size) < 0);
	assert_true(served_open_file(fd, "coverage.json", &size) < 0);
	assert_true(served_open_file(fd, "../../secret", &size) < 0);
	assert_true(served_open_file(fd, "/etc/passwd", &size) < 0);
	assert_false(served_run_is_alive(fd));
	close(fd);
	assert_int_equal(served_open_run(&root, "none", &err), -ENOENT);
	assert_int_equal(served_open_run(&root, "link", &err), -ENOENT);
	assert_int_equal(served_open_run(&root, "../outside", &err), -ENOENT);
	assert_int_equal(served_open_run(&root, "a/run.json", &err), -ENOENT);
	err = (struct err){ 0 };
	assert_int_equal(chmod("root/a", 0777), 0);
	assert_int_equal(served_open_run(&root, "a", &err), -EPERM);
	assert_int_equal(chmod("root/a", 0700), 0);
	served_root_close(&root);
}

/* Two runs: what is below one, behind a link or not a run is not listed. */
static void runs_are_listed(void **state)
{
	struct served_root root;
	struct run_index index;
	struct err err = { 0 };
	json_t *view, *runs, *row;

	assert_int_equal(served_root_open(&root, "root", &err), 0);
	run_index_init(&index, &root);
	for (int again = 0; again < 2; again++) {
		view = run_index_view(&index);
		runs = json_object_get(view, "runs");
		assert_int_equal(json_array_size(runs), 2);
		row = json_array_get(runs, 0);
		assert_string_equal(json_string_value(json_object_get(row, "state")), "killed");
		assert_string_equal(json_string_value(json_object_get(row, "link")),
				    "./a/report.html");
		row = json_array_get(json_object_get(row, "counts"), 0);
		assert_int_equal(json_integer_value(json_object_get(row, "count")), 2);
		row = json_array_get(runs, 1);
		assert_string_equal(json_string_value(json_object_get(row, "state")), "unreadable");
		json_decref(view);
	}
	put_file("root/a/run.json", "{\"verdict\": \"ok\", \"target\": \"changed\"}", 0600);
	view = run_index_view(&index);
	row = json_array_get(json_object_get(view, "runs"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "ok");
	json_decref(view);
	run_index_free(&index);
	served_root_close(&root);
}

static char work[] = "/tmp/assay-serve.XXXXXX";

static int set_up(void **state)
{
	return mkdtemp(work) ? chdir(work) : -1;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", work);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_name_what_belongs_to_runs),
		cmocka_unit_test(other_paths_name_nothing),
		cmocka_unit_test(hosts_are_of_this_machine),
		cmocka_unit_test(loopback_is_known),
		cmocka_unit_test(tokens_are_compared),
		cmocka_unit_test(tokens_come_from_private_files),
		cmocka_unit_test(random_texts_differ),
		cmocka_unit_test(runs_are_opened_within_the_root),
		cmocka_unit_test(runs_are_listed),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
