/* test_print.c -- trees as text: lines, differences, dumps; and the hash up to renaming. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/sha1.h"
#include "tests/harness/unit.h"
#include "tree/tree.h"

static struct tree new_tree(void)
{
	struct tree t;

	tree_init(&t, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	return t;
}

static uint64_t make(struct tree *t, uint64_t dir, const char *name, uint32_t mode)
{
	uint64_t ino = tree_new(t, mode, 1, 2, 0);

	tree_link(t, dir, name, strlen(name), ino);
	return ino;
}

static uint64_t make_file(struct tree *t, uint64_t dir, const char *name, const char *data)
{
	uint64_t ino = make(t, dir, name, S_IFREG | 0644);

	tree_write(t, ino, 0, data, strlen(data));
	return ino;
}

static uint64_t make_link(struct tree *t, uint64_t dir, const char *name, const char *target)
{
	uint64_t ino = make(t, dir, name, S_IFLNK | 0777);

	tree_set_target(t, ino, target, strlen(target));
	return ino;
}

/* "/d" with a file of two names and a link, a device, and something that could not be read. */
static struct tree sample(void)
{
	struct tree t = new_tree();
	uint64_t d = make(&t, TREE_ROOT, "d", S_IFDIR | 0750), f = make_file(&t, d, "f", "a\nb"), e;

	tree_link(&t, TREE_ROOT, "d.f", 3, f);
	tree_set_xattr(&t, f, "user.x", "1", 1);
	make_link(&t, d, "l", "x/y");
	tree_edit(&t, make(&t, d, "null", S_IFCHR | 0666))->rdev = 0x103;
	make_file(&t, TREE_ROOT, "a b", "0123456789012345678901234567890123456789");
	e = make(&t, TREE_ROOT, "e", 0);
	tree_edit(&t, e)->error.code = EIO;
	strcpy(tree_edit(&t, e)->error.call, "stat");
	tree_settle(&t);
	return t;
}

static void lines_tell_everything(void **state)
{
	struct tree t = sample();
	struct buf out = BUF_INIT;

	tree_print(&t, &out);
	assert_string_equal(
		buf_str(&out),
		"/ directory mode=0755 owner=0:0 links=3\n"
		"/a\\040b file mode=0644 owner=1:2 links=1 size=40 "
		"data=690690f3531a5e7ab33749938e1a798d\n"
		"/d directory mode=0750 owner=1:2 links=2\n"
		"/d/f file mode=0644 owner=1:2 links=2 size=3 data=\"a\\012b\" user.x=\"1\"\n"
		"/d/l symlink owner=1:2 links=1 target=\"x/y\"\n"
		"/d/null char mode=0666 owner=1:2 links=1 device=1:3\n"
		"/d.f file same=/d/f\n"
		"/e error call=stat errno=EIO\n");
	buf_free(&out);
	tree_free(&t);
}

static void dumps_are_those_of_the_published_traces(void **state)
{
	struct tree t = sample();
	struct buf out = BUF_INIT;

	tree_dump(&t, "/", false, &out);
	assert_string_equal(buf_str(&out),
			    "\"/\"|D\n"
			    "\"/a b\"|F|40|\"394f28745cc4992d8d43dd5f788c3366535226e3\"\n"
			    "\"/d.f\"|F|3|\"fcd127ffa1016069006ad91f3f361248f9bdf272\"\n"
			    "\"/e\"|!|\"stat\"|EIO\n"
			    "\"/d\"|D\n"
			    "\"/d/f\"|F|3|\"fcd127ffa1016069006ad91f3f361248f9bdf272\"\n"
			    "\"/d/l\"|L|\"x/y\"\n"
			    "\"/d/null\"|!|\"open\"|EOPNOTSUPP\n");
	buf_clear(&out);
	tree_dump(&t, "/d/../d/./f", true, &out);
	assert_string_equal(buf_str(&out), "\"/d/../d/./f\"|F|3|3|"
					   "\"fcd127ffa1016069006ad91f3f361248f9bdf272\"\n");
	buf_clear(&out);
	tree_dump(&t, "/d/f/x", true, &out);
	assert_string_equal(buf_str(&out), "\"/d/f/x\"|!|\"lstat\"|ENOENT\n");
	buf_free(&out);
	tree_free(&t);
}

static void sha1_is_right(void **state)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char text[41];

	for (size_t part = 1; part <= strlen(two_blocks); part += 11) {
		struct sha1 sum = SHA1_INIT;

		sha1_add(&sum, two_blocks, part);
		sha1_add(&sum, two_blocks + part, strlen(two_blocks) - part);
		sha1_print(&sum, text);
		assert_string_equal(text, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	}
}

static void expect_diff(const struct tree *expected, const struct tree *seen, size_t objects,
			const char *text)
{
	struct buf out = BUF_INIT;

	assert_int_equal(tree_diff(expected, seen, 100, &out), objects);
	assert_string_equal(buf_str(&out), text);
	buf_free(&out);
}

static void a_tree_does_not_differ_from_itself(void **state)
{
	struct tree t = sample(), u = sample();

	expect_diff(&t, &u, 0, "");
	assert_true(hash_equal(tree_hash(&t), tree_hash(&u)));
	tree_free(&t);
	tree_free(&u);
}

static void every_difference_is_told(void **state)
{
	struct tree t = sample(), u = sample();
	uint64_t d = tree_find(&u, TREE_ROOT, "d", 1)->ino, f = tree_find(&u, d, "f", 1)->ino;
	uint64_t l = tree_find(&u, d, "l", 1)->ino, null = tree_find(&u, d, "null", 4)->ino;

	tree_edit(&u, d)->mode = S_IFDIR | 0700;
	tree_edit(&u, d)->uid = 7;
	tree_edit(&u, d)->nlink = 9;
	tree_write(&u, f, 1, "xyz", 3);
	tree_set_xattr(&u, f, "user.x", "2", 1);
	tree_set_xattr(&u, f, "user.y", "", 0);
	tree_set_target(&u, l, "z", 1);
	tree_edit(&u, null)->rdev = 0x105;
	tree_unlink(&u, TREE_ROOT, "a b", 3);
	make_file(&u, TREE_ROOT, "new", "12345");
	tree_edit(&u, tree_find(&u, TREE_ROOT, "e", 1)->ino)->error.code = ENOENT;
	tree_settle(&u);
	expect_diff(
		&t, &u, 7,
		"/a\\040b: missing, expected a file of 40 bytes\n"
		"/d: mode 0700, expected 0750\n"
		"/d: owner 7:2, expected 1:2\n"
		"/d: link count 9, expected 2\n"
		"/d/f: size 4, expected 3\n"
		"/d/f: data differs from byte 1 on: 78 79 7a, expected 0a 62\n"
		"/d/f: attribute user.x is \"2\", expected \"1\"\n"
		"/d/f: attribute user.y is \"\", expected none\n"
		"/d/l: target \"z\", expected \"x/y\"\n"
		"/d/null: device 1:5, expected 1:3\n"
		"/e: an object whose stat fails with ENOENT, expected an object whose stat fails "
		"with EIO\n"
		"/new: unexpected: a file of 5 bytes\n");
	tree_free(&t);
	tree_free(&u);
}

static void two_names_of_one_file_are_told_from_two_files(void **state)
{
	struct tree one = new_tree(), two = new_tree();
	uint64_t f = make_file(&one, TREE_ROOT, "a", "x");

	one.fields = two.fields = TREE_FIELDS_DEFAULT & ~TREE_NLINK;
	tree_link(&one, TREE_ROOT, "b", 1, f);
	make_file(&two, TREE_ROOT, "a", "x");
	make_file(&two, TREE_ROOT, "b", "x");
	tree_settle(&one);
	tree_settle(&two);
	expect_diff(&two, &one, 1, "/b: one object with /a, expected two\n");
	expect_diff(&one, &two, 1, "/b: not one object with /a, expected so\n");
	tree_unlink(&one, TREE_ROOT, "a", 1);
	expect_diff(&two, &one, 1, "/a: missing, expected a file of 1 bytes\n");
	tree_free(&one);
	tree_free(&two);
}

static void no_more_lines_than_wanted(void **state)
{
	struct tree t = new_tree(), u = sample();
	struct buf out = BUF_INIT;

	assert_int_equal(tree_diff(&t, &u, 2, &out), 8);
	assert_string_equal(buf_str(&out), "/: link count 3, expected 2\n"
					   "/a\\040b: unexpected: a file of 40 bytes\n");
	buf_free(&out);
	tree_free(&t);
	tree_free(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_tell_everything),
		cmocka_unit_test(dumps_are_those_of_the_published_traces),
		cmocka_unit_test(sha1_is_right),
		cmocka_unit_test(a_tree_does_not_differ_from_itself),
		cmocka_unit_test(every_difference_is_told),
		cmocka_unit_test(two_names_of_one_file_are_told_from_two_files),
		cmocka_unit_test(no_more_lines_than_wanted),
	};

	return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
