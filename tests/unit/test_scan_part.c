/* test_scan_part.c -- objects that are looked at again are as a scan finds them, and what else has
 * changed is left to a scan. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"
#include "tree/scan.h"

static char dir[256];
static int dir_fd;
static struct scanner *scanner;
static struct tree before; /* as the directory was at the last scan */

static struct tree scan(void)
{
	struct err err = { 0 };
	struct tree t;

	if (tree_scan(scanner, dir_fd, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void scan_again(void)
{
	tree_free(&before);
	before = scan();
}

static void write_to(const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* f, d/g, d/l (a link to ../f), d/h and h (one file), e (empty). */
static int in_directory(void **state)
{
	const struct scan_options options = { .fields = TREE_FIELDS_DEFAULT | TREE_ENTRIES,
					      .lost_found = true };
	const char *work = getenv("WORK");

	snprintf(dir, sizeof(dir), "%s/assay-part.XXXXXX", work ? work : "/tmp");
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir_fd >= 0);
	assert_int_equal(mkdirat(dir_fd, "d", 0755), 0);
	assert_int_equal(mkdirat(dir_fd, "e", 0755), 0);
	write_to("f", "file");
	write_to("d/g", "gg");
	write_to("h", "hard");
	assert_int_equal(linkat(dir_fd, "h", dir_fd, "d/h", 0), 0);
	assert_int_equal(symlinkat("../f", dir_fd, "d/l"), 0);
	scanner = scanner_new(&options);
	before = scan();
	return 0;
}

static int remove_directory(void **state)
{
	char command[300];

	tree_free(&before);
	scanner_free(scanner);
	close(dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Looks at these paths, with spaces between them, in the tree of before. */
static bool look(const char *paths, struct tree *ret)
{
	char text[256];
	size_t len = strlen(paths);

	snprintf(text, sizeof(text), "%s", paths);
	text[len + 1] = '\0';
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ')
			text[i] = '\0';
	*ret = tree_copy(&before);
	return tree_scan_part(scanner, dir_fd, text, ret);
}

/* They are all that has changed: the same tree as that of a scan, with the same times. */
static void expect_scanned(const char *paths)
{
	struct tree seen, scanned;
	const struct inode *inode, *other;
	struct err err = { 0 };
	bool first = true;
	uint64_t ino;

	assert_true(look(paths, &seen));
	assert_int_equal(tree_scan_again(scanner, dir_fd, &before, &scanned, &err), 0);
	assert_true(hash_equal(tree_hash(&seen), tree_hash(&scanned)));
	tree_free(&scanned);
	scanned = scan();
	assert_true(hash_equal(tree_hash(&seen), tree_hash(&scanned)));
	assert_int_equal(seen.inodes.count, scanned.inodes.count);
	for (; (inode = (const struct inode *)pmap_next(&scanned.inodes, first, &ino));
	     first = false) {
		other = tree_inode(&seen, ino);
		assert_non_null(other);
		assert_int_equal(other->times.change, inode->times.change);
		assert_int_equal(other->nlink, inode->nlink);
	}
	tree_free(&before);
	before = seen;
	tree_free(&scanned);
}

/* Only a scan can tell. */
static void expect_nothing(const char *paths)
{
	struct tree seen;

	assert_false(look(paths, &seen));
	tree_free(&seen);
}

static void nothing_has_changed(void **state)
{
	expect_scanned("");
	expect_scanned(". d d/g f");
	expect_scanned("d/l");
	expect_scanned("d e h d/h");
	expect_scanned("absent");
}

static void contents_and_attributes(void **state)
{
	write_to("f", "longer than before");
	expect_scanned("f");
	assert_int_equal(fchmodat(dir_fd, "d", 0711, 0), 0);
	expect_scanned("d");
	assert_int_equal(fchmodat(dir_fd, ".", 0711, 0), 0);
	expect_scanned(".");
	write_to("h", "");
	expect_scanned("h d/h");
	expect_scanned("d/h h");
}

static void names_that_come_and_go(void **state)
{
	write_to("d/new", "x");
	expect_scanned("d d/new");
	assert_int_equal(renameat(dir_fd, "d/new", dir_fd, "f"), 0);
	expect_scanned("d/new . f d");
	assert_int_equal(unlinkat(dir_fd, "h", 0), 0);
	expect_scanned("h . d d/h");
	assert_int_equal(mkdirat(dir_fd, "e/sub", 0700), 0);
	expect_scanned("e e/sub");
	assert_int_equal(unlinkat(dir_fd, "e/sub", AT_REMOVEDIR), 0);
	expect_scanned("e/sub e");
	assert_int_equal(renameat(dir_fd, "e", dir_fd, "moved"), 0);
	expect_scanned("e . moved");
	assert_int_equal(unlinkat(dir_fd, "moved", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("target", dir_fd, "moved"), 0);
	expect_scanned(". moved");
}

static void what_has_no_place_in_the_tree(void **state)
{
	/* An entry that nobody named; then the same, the other way round. */
	write_to("d/new", "x");
	expect_nothing("d");
	scan_again();
	assert_int_equal(unlinkat(dir_fd, "d/new", 0), 0);
	expect_nothing("d");
	scan_again();
	/* A directory with others in it, elsewhere. */
	assert_int_equal(renameat(dir_fd, "d", dir_fd, "moved"), 0);
	expect_nothing("d");
	expect_nothing("moved");
	expect_nothing("moved/g");
	scan_again();
	/* Of two names, one was not said. */
	write_to("h", "other");
	expect_nothing("h");
}

static void another_file_of_the_same_name(void **state)
{
	write_to("n", "file");
	assert_int_equal(renameat(dir_fd, "n", dir_fd, "f"), 0);
	expect_nothing("."); /* it lists another number */
	expect_scanned(". f");
}

static void nothing_but_times(void **state)
{
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };

	expect_scanned("//. //d //d/g //f //d/l //h");
	assert_int_equal(utimensat(dir_fd, "f", times, 0), 0);
	assert_int_equal(utimensat(dir_fd, "d", times, 0), 0);
	expect_scanned("//f //d");
	expect_nothing("//absent");
	assert_int_equal(fchmodat(dir_fd, "f", 0600, 0), 0);
	expect_nothing("//f");
	write_to("d/g", "longer");
	expect_nothing("//d/g");
	scan_again();
	assert_int_equal(unlinkat(dir_fd, "f", 0), 0);
	expect_nothing("//f");
	write_to("f", "file");
}

static void attributes_without_contents(void **state)
{
	expect_scanned("/. /d /d/g /f /d/l /h /d/h");
	assert_int_equal(fchmodat(dir_fd, "f", 0600, 0), 0);
	assert_int_equal(fchmodat(dir_fd, "d", 0711, 0), 0);
	expect_scanned("/f /d");
	/* A file of another size is read, and so is one that was not there. */
	write_to("f", "longer than before");
	expect_scanned("/f");
	write_to("f", "");
	expect_scanned("/f");
	assert_int_equal(renameat(dir_fd, "d/g", dir_fd, "moved"), 0);
	expect_scanned("d/g . d /moved");
	write_to("d/g", "new");
	expect_scanned("d /d/g");
	expect_scanned("/absent");
}

/* What a file shares with what it was before is what it has now. */
static void contents_that_are_partly_the_same(void **state)
{
	enum { SIZE = 5 * TREE_BLOCK + 1000, AT = 2 * TREE_BLOCK + 7 };
	char *bytes = must_alloc(SIZE);
	int fd = openat(dir_fd, "f", O_RDWR | O_CLOEXEC);

	memset(bytes, 'x', SIZE);
	assert_int_equal(pwrite(fd, bytes, SIZE, 0), SIZE);
	expect_scanned("f");
	assert_int_equal(pwrite(fd, "y", 1, AT), 1);
	expect_scanned("f");
	assert_int_equal(pwrite(fd, bytes, TREE_BLOCK, SIZE + 3 * TREE_BLOCK), TREE_BLOCK);
	expect_scanned("f");
	assert_int_equal(ftruncate(fd, AT + 1), 0);
	expect_scanned("f");
	assert_int_equal(ftruncate(fd, SIZE), 0);
	expect_scanned("f");
	assert_int_equal(ftruncate(fd, (off_t)1 << 20), 0);
	expect_scanned("f");
	assert_int_equal(ftruncate(fd, SIZE), 0);
	expect_scanned("f");
	memset(bytes, 0, SIZE);
	assert_int_equal(pwrite(fd, bytes, SIZE, 0), SIZE);
	expect_scanned("f");
	close(fd);
	free(bytes);
}

/* Two entries in place of one, and one in place of two, however they are read. */
static void as_many_entries_as_there_are_names(void **state)
{
	write_to("d/new", "x");
	assert_int_equal(unlinkat(dir_fd, "d/g", 0), 0);
	expect_nothing("d");
	expect_nothing("d/g d");
	expect_scanned("d/g d d/new");
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, in_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(nothing_has_changed),
		IN_DIRECTORY(contents_and_attributes),
		IN_DIRECTORY(names_that_come_and_go),
		IN_DIRECTORY(what_has_no_place_in_the_tree),
		IN_DIRECTORY(another_file_of_the_same_name),
		IN_DIRECTORY(nothing_but_times),
		IN_DIRECTORY(attributes_without_contents),
		IN_DIRECTORY(contents_that_are_partly_the_same),
		IN_DIRECTORY(as_many_entries_as_there_are_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
