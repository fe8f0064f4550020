/* test_symbolic_paths.c -- all paths of small checkers are found, and no more. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "storage/image.h"
#include "storage/program.h"
#include "symbolic/path_process.h"
#include "symbolic/path_server.h"
#include "tests/harness/unit.h"

enum { DISK_BYTES = 64 * 1024 };

/* One row for each mode of tests/checkers/paths.c. */
static const struct {
	const char *mode;
	uint64_t len; /* symbolic bytes */
	uint64_t paths;
	const char
		*why_not; /* it cannot be complete for this reason; paths are then at least these */
} rows[] = {
	{ "switch", 1, 9, NULL },
	{ "nested", 4, 5, NULL },
	{ "loop", 1, 8, NULL },
	{ "table", 1, 4, NULL },
	{ "division", 1, 3, NULL },
	{ "remainder", 4, 3, NULL },
	{ "overflow", 8, 3, NULL },
	{ "bit", 4, 4, NULL },
	{ "checksum", 8, 2, NULL },
	{ "wide", 8, 4, NULL },
	{ "signs", 4, 4, NULL },
	{ "word", 4, 5, NULL },
	{ "disk", 1, 3, NULL },
	{ "prints", 4, 1, NULL },
	{ "ignores", 4, 1, NULL },
	{ "fraction", 4, 1, "not modelled" },
	{ "far", 4, 2, "limit of paths" },
	{ "endless", 1, 2, "killed" },
};

static void make_disk(struct image *disk)
{
	struct err err = { 0 };

	assert_int_equal(image_make(disk, DISK_BYTES, &err), 0);
}

/* The checker of this test lies beside it. */
static void checker_command(char *ret, size_t size, const char *mode)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(len > 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(ret, size, "%s/../checkers/paths %s {image}", self, mode);
}

static bool skip_without_tool(void)
{
	struct buf missing = BUF_INIT;
	bool available = paths_available(&missing);

	if (!available)
		print_message("skipped: %s\n", buf_str(&missing));
	buf_free(&missing);
	return !available;
}

static bool count_path(void *to, const uint8_t *values, struct hash path)
{
	++*(uint64_t *)to;
	return true;
}

static void explore_row(size_t i)
{
	struct path_range range = { 0, rows[i].len };
	struct paths_options o = { .ranges = &range,
				   .range_count = 1,
				   .paths_max = rows[i].why_not ? 40 : 0 };
	char command[PATH_MAX + 64];
	struct path_process *process;
	struct paths_result result;
	struct err err = { 0 };
	struct image disk;
	uint64_t found = 0;

	make_disk(&disk);
	checker_command(command, sizeof(command), rows[i].mode);
	process = path_process_open(command, &disk, 2);
	if (path_process_explore(process, &o, count_path, &found, &result, &err))
		fail_msg("%s: %s", rows[i].mode, err.text);
	print_message("%s: %ju paths, %ju runs; %s\n", rows[i].mode, (uintmax_t)result.paths,
		      (uintmax_t)result.runs, buf_str(&result.why_not));
	assert_int_equal(found, result.paths);
	assert_int_equal(result.complete, !rows[i].why_not);
	if (rows[i].why_not) {
		assert_true(result.paths >= rows[i].paths);
		assert_non_null(strstr(buf_str(&result.why_not), rows[i].why_not));
	} else {
		assert_int_equal(result.paths, rows[i].paths);
	}
	assert_true(result.cpu_seconds > 0);
	paths_result_free(&result);
	path_process_close(process);
	image_free(&disk);
}

static void all_paths_are_found(void **state)
{
	if (skip_without_tool())
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		explore_row(i);
}

/* How many, and the first byte of each. */
static bool note_values(void *to, const uint8_t *values, struct hash path)
{
	uint8_t *first = to;

	first[0]++;
	first[first[0]] = values[0];
	return first[0] < 250;
}

static void delivered_bytes_take_different_cases(void **state)
{
	struct path_range range = { 0, 1 };
	struct paths_options o = { .ranges = &range, .range_count = 1 };
	uint8_t first[256] = { 0 }, in_table = 0;
	char command[PATH_MAX + 64];
	struct paths_result result;
	struct err err = { 0 };
	struct image disk;

	if (skip_without_tool())
		return;
	make_disk(&disk);
	checker_command(command, sizeof(command), "switch");
	o.session = paths_session_open(command, &disk, 2);
	assert_int_equal(paths_explore(&o, note_values, first, &result, &err), 0);
	assert_int_equal(first[0], 9);
	for (int i = 1; i <= 9; i++)
		in_table |= first[i] < 8 ? (uint8_t)(1 << first[i]) : 0;
	assert_int_equal(in_table, 0xff);
	assert_true(result.branches > 0);
	assert_true(result.branches == paths_session_branches(o.session));
	paths_result_free(&result);
	paths_session_close(o.session);
	image_free(&disk);
}

static void limits_and_seeds_are_kept(void **state)
{
	static const uint8_t seeds[] = { 3, 200, 5 };
	struct path_range range = { 0, 1 };
	struct paths_options o = {
		.ranges = &range, .range_count = 1, .seeds = seeds, .seed_count = 3, .paths_max = 4
	};
	uint8_t first[256] = { 0 };
	char command[PATH_MAX + 64];
	struct paths_result result;
	struct err err = { 0 };
	struct image disk;

	if (skip_without_tool())
		return;
	make_disk(&disk);
	checker_command(command, sizeof(command), "switch");
	o.session = paths_session_open(command, &disk, 2);
	assert_int_equal(paths_explore(&o, note_values, first, &result, &err), 0);
	assert_int_equal(first[0], 4);
	assert_memory_equal(first + 2, seeds, 3);
	assert_false(result.complete);
	assert_true(result.left > 0);
	paths_result_free(&result);
	/* The same session explores other bytes. */
	range.at = 1;
	o.paths_max = 0;
	assert_int_equal(paths_explore(&o, note_values, first, &result, &err), 0);
	assert_int_equal(result.paths, 1);
	assert_true(result.complete);
	paths_result_free(&result);
	paths_session_close(o.session);
	image_free(&disk);
}

/* A server that follows nothing counts branches. */
static void branches_are_counted(void **state)
{
	struct path_server_options o = { .symbolic = false, .run_seconds = 2 };
	char command[PATH_MAX + 64];
	struct path_server *server;
	struct path_run run;
	struct err err = { 0 };
	struct image disk;
	uint64_t before, after;

	if (skip_without_tool())
		return;
	make_disk(&disk);
	checker_command(command, sizeof(command), "nested");
	o.command = command;
	o.disk = &disk;
	assert_int_equal(path_server_start(&o, &server, &err), 0);
	assert_non_null(server);
	assert_int_equal(path_server_run(server, NULL, &run, &err), 0);
	assert_int_equal(run.status >> 8, 2);
	before = path_server_branches(server);
	assert_int_equal(path_server_run(server, NULL, &run, &err), 0);
	assert_true(path_server_branches(server) == before);
	path_server_patch(server, 0, "\xff\xff\xff\xff", 4);
	assert_int_equal(path_server_run(server, NULL, &run, &err), 0);
	assert_int_equal(run.status >> 8, 4);
	after = path_server_branches(server);
	assert_true(after > before);
	assert_int_equal(path_server_run(server, NULL, &run, &err), 0);
	assert_int_equal(run.status >> 8, 2);
	path_server_stop(server);
	image_free(&disk);
}

static uint64_t number_at(const struct image *disk, uint64_t at, size_t len)
{
	uint64_t number = 0;

	memcpy(&number, disk->bytes + at, len);
	return number;
}

/* The flags of the root inode of an ext4 without checksums, by the e2fsck that is installed. */
static void flags_of_an_inode_have_many_paths(void **state)
{
	static const char mkfs[] =
		"mkfs.ext4 -q -F -O ^metadata_csum,^64bit,^has_journal -b 1024 " PROGRAM_FD_PATH;
	struct path_range range = { .len = 4 };
	struct paths_options o = { .ranges = &range, .range_count = 1, .paths_max = 160 };
	struct buf output = BUF_INIT;
	struct paths_result result;
	struct err err = { 0 };
	struct image disk;
	uint64_t found = 0;
	int status;

	if (skip_without_tool() || !program_exists("e2fsck"))
		return;
	assert_int_equal(image_make(&disk, 1 << 20, &err), 0);
	assert_int_equal(program_run(mkfs, disk.fd, 60, &status, &output, &err), 0);
	assert_int_equal(status, 0);
	/* The second inode of the table that the first group names. */
	range.at = number_at(&disk, 2048 + 8, 4) * 1024 + number_at(&disk, 1024 + 88, 2) + 32;
	o.session = paths_session_open("e2fsck -fy {image}", &disk, 0);
	assert_int_equal(paths_explore(&o, count_path, &found, &result, &err), 0);
	assert_int_equal(found, 160);
	assert_true(result.branches > 1000);
	/* Nothing was lost on the way: no run went astray, no condition was wrong. */
	assert_non_null(strstr(buf_str(&result.why_not), "limit of paths"));
	assert_null(strchr(buf_str(&result.why_not), ';'));
	paths_result_free(&result);
	paths_session_close(o.session);
	buf_free(&output);
	image_free(&disk);
}

static void what_cannot_be_explored_is_refused(void **state)
{
	struct path_range range = { DISK_BYTES - 1, 2 };
	struct paths_options o = { .ranges = &range, .range_count = 1 };
	struct paths_result result;
	struct image disk;
	struct err err = { 0 };
	uint64_t found = 0;

	make_disk(&disk);
	o.session = paths_session_open("yes | checker {image}", &disk, 0);
	assert_true(paths_explore(&o, count_path, &found, &result, &err) < 0);
	range.at = 0;
	err = (struct err){ 0 };
	assert_true(paths_explore(&o, count_path, &found, &result, &err) < 0);
	assert_non_null(strstr(err.text, "shell"));
	assert_int_equal(found, 0);
	paths_session_close(o.session);
	image_free(&disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_paths_are_found),
		cmocka_unit_test(delivered_bytes_take_different_cases),
		cmocka_unit_test(limits_and_seeds_are_kept),
		cmocka_unit_test(branches_are_counted),
		cmocka_unit_test(flags_of_an_inode_have_many_paths),
		cmocka_unit_test(what_cannot_be_explored_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
