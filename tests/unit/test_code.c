/* test_code.c -- tables of a kernel's code: what was reached of a small one, told in every form. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "codecov/code.h"
#include "tests/harness/unit.h"

enum { BITS_MAX = 1024, FOREIGN = 0x1100 };

/* Two of ext2's files, the VFS, and a file system that nobody uses; not in order. */
static const char table[] = "points 1000 4 /src\n"
			    "1004 fs/ext2/namei.c:20 ext2_mkdir\n"
			    "1009 fs/ext2/namei.c:22 ext2_mkdir\n"
			    "100e fs/ext2/namei.c:25 ext2_mkdir\n"
			    "1014 fs/ext2/namei.c:10 ext2_symlink\n"
			    "1019 fs/ext2/namei.c:12 ext2_symlink\n"
			    "101e fs/ext2/namei.c:12 ext2_symlink\n"
			    "1024 fs/ext2/acl.c:7 ext2_acl\n"
			    "1029 fs/open.c:100 do_open\n"
			    "1030 fs/open.c:101 do_open\n"
			    "1035 fs/notify/fsnotify.c:5 fsnotify\n"
			    "103a fs/xfs/xfs_inode.c:5 xfs_create\n";

struct place {
	char dir[32], path[48];
};

static void write_table(const char *text, struct place *ret)
{
	struct buf b = BUF_INIT;

	strcpy(ret->dir, "/tmp/assay-code.XXXXXX");
	assert_non_null(mkdtemp(ret->dir));
	snprintf(ret->path, sizeof(ret->path), "%s/points", ret->dir);
	buf_adds(&b, text);
	assert_int_equal(buf_write_file(&b, ret->path, NULL), 0);
	buf_free(&b);
}

static void remove_place(const struct place *p)
{
	char saved[64];

	snprintf(saved, sizeof(saved), "%s/kernel-coverage.points", p->dir);
	unlink(saved);
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

static void open_code(struct code *c, struct place *ret)
{
	struct err err = { 0 };

	struct buf text = BUF_INIT;

	buf_adds(&text, table);
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%x fs/btrfs/inode.c:%d btrfs_lookup\n", FOREIGN + 5 * i, i);
	write_table(text.data, ret);
	buf_free(&text);
	if (code_read(c, ret->path, BITS_MAX, &err))
		fail_msg("%s", err.text);
}

static void close_code(struct code *c, const struct place *p)
{
	code_free(c);
	remove_place(p);
}

static void reach(uint8_t *bits, unsigned address)
{
	unsigned bit = (address - 0x1000) / 4;

	bits[bit / 8] |= (uint8_t)(1 << bit % 8);
}

/* mkdir but for its line 22, half of the VFS, and 1 of 200 points of a file system not in use. */
static void reach_some(uint8_t *bits)
{
	reach(bits, 0x1004);
	reach(bits, 0x100e);
	reach(bits, 0x1029);
	reach(bits, FOREIGN);
}

static json_t *file_of(json_t *o, const char *path)
{
	json_t *file;
	size_t i;

	json_array_foreach(json_object_get(o, "files"), i,
			   file) if (!strcmp(json_string_value(json_object_get(file, "path")),
					     path)) return file;
	return NULL;
}

static long long at(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void files_and_functions_are_counted(void **state)
{
	uint8_t bits[BITS_MAX / 8] = { 0 };
	struct place place;
	struct code c;
	json_t *o, *namei;

	open_code(&c, &place);
	reach_some(bits);
	o = code_json(&c, bits);
	assert_int_equal(at(o, "points"), 7);
	assert_int_equal(at(o, "reached"), 2);
	namei = file_of(o, "fs/ext2/namei.c");
	assert_int_equal(at(namei, "points"), 6);
	assert_int_equal(at(namei, "reached"), 2);
	assert_int_equal(at(namei, "functions"), 2);
	assert_int_equal(at(namei, "entered"), 1);
	assert_int_equal(json_array_size(json_object_get(namei, "never")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(namei, "never"), 0)),
			    "ext2_symlink");
	assert_true(json_is_false(json_object_get(namei, "common")));
	assert_int_equal(at(file_of(o, "fs/ext2/acl.c"), "reached"), 0);
	assert_true(json_is_true(json_object_get(file_of(o, "fs/open.c"), "common")));
	assert_int_equal(at(file_of(o, "fs/open.c"), "reached"), 1);
	/* Nothing was reached there. */
	assert_null(file_of(o, "fs/xfs/xfs_inode.c"));
	assert_null(file_of(o, "fs/notify/fsnotify.c"));
	assert_null(file_of(o, "fs/btrfs/inode.c"));
	json_decref(o);
	close_code(&c, &place);
}

static void lines_never_reached_are_told_as_ranges(void **state)
{
	uint8_t bits[BITS_MAX / 8] = { 0 };
	struct buf out = BUF_INIT;
	struct place place;
	struct code c;

	open_code(&c, &place);
	reach_some(bits);
	code_lines(&c, bits, &out);
	assert_string_equal(out.data, "fs/ext2/acl.c: 0 of 1 points, 0 of 1 functions\n"
				      "fs/ext2/acl.c:7 ext2_acl\n"
				      "fs/ext2/namei.c: 2 of 6 points, 1 of 2 functions\n"
				      "fs/ext2/namei.c:10-12 ext2_symlink\n"
				      "fs/ext2/namei.c:22 ext2_mkdir\n"
				      "fs/open.c: 1 of 2 points, 1 of 1 functions\n"
				      "fs/open.c:101 do_open\n");
	buf_free(&out);
	close_code(&c, &place);
}

static void lcov_is_told_lines_and_functions(void **state)
{
	uint8_t bits[BITS_MAX / 8] = { 0 };
	struct buf out = BUF_INIT;
	struct place place;
	struct code c;

	open_code(&c, &place);
	reach_some(bits);
	reach(bits, 0x101e); /* one of two points of line 12 */
	code_info(&c, bits, &out);
	assert_non_null(strstr(out.data, "TN:\nSF:/src/fs/ext2/namei.c\n"
					 "FN:10,ext2_symlink\nFNDA:1,ext2_symlink\n"
					 "FN:20,ext2_mkdir\nFNDA:1,ext2_mkdir\n"
					 "DA:10,0\nDA:12,1\nDA:20,1\nDA:22,0\nDA:25,1\n"
					 "LF:5\nLH:3\nend_of_record\n"));
	assert_null(strstr(out.data, "xfs"));
	buf_free(&out);
	close_code(&c, &place);
}

static void what_is_saved_adds_up(void **state)
{
	uint8_t bits[BITS_MAX / 8] = { 0 }, more[BITS_MAX / 8] = { 0 };
	struct buf path = BUF_INIT;
	struct place place;
	struct code c;
	size_t count = 77;

	open_code(&c, &place);
	assert_int_equal(code_load(&c, bits, place.dir, &count, NULL), -ENOENT);
	assert_int_equal(count, 77);
	reach_some(bits);
	assert_int_equal(code_save(&c, bits, place.dir, NULL), 0);
	reach(more, 0x1004);
	reach(more, 0x1024);
	assert_int_equal(code_load(&c, more, place.dir, &count, NULL), 0);
	assert_int_equal(count, 3);
	reach(bits, 0x1024);
	assert_memory_equal(bits, more, sizeof(bits));
	assert_int_equal(code_saved_table(place.dir, &path, NULL), 0);
	assert_string_equal(path.data, place.path);
	buf_free(&path);
	/* Points of another kernel are none of this one. */
	c.hash.lo ^= 1;
	assert_int_equal(code_load(&c, more, place.dir, &count, NULL), -EINVAL);
	close_code(&c, &place);
}

static void what_is_no_table_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"1004 fs/open.c:1 f\n",
		"points 1000 0 /src\n",
		"points 1000 4 /src\nxyz\n",
		"points 1000 4 /src\n1004 fs/open.c:1\n",
		"points 1000 4 /src\n1004 fs/open.c f\n",
		"points 1000 4 /src\nfff fs/open.c:1 f\n",  /* before the first */
		"points 1000 4 /src\n2000 fs/open.c:1 f\n", /* BITS_MAX */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = { 0 };
		struct place place;
		struct code c;

		write_table(wrong[i], &place);
		assert_int_equal(code_read(&c, place.path, BITS_MAX, &err), -EINVAL);
		assert_non_null(strstr(err.text, place.path));
		close_code(&c, &place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_functions_are_counted),
		cmocka_unit_test(lines_never_reached_are_told_as_ranges),
		cmocka_unit_test(lcov_is_told_lines_and_functions),
		cmocka_unit_test(what_is_saved_adds_up),
		cmocka_unit_test(what_is_no_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
