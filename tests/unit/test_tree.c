/* test_tree.c -- trees: names, link counts, holds, hashes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	uint64_t ino = tree_new(t, mode, 0, 0, 0);

	tree_link(t, dir, name, strlen(name), ino);
	tree_settle(t);
	return ino;
}

static void drop(struct tree *t, uint64_t dir, const char *name)
{
	tree_unlink(t, dir, name, strlen(name));
	tree_settle(t);
}

static void rename_to(struct tree *t, uint64_t from, const char *a, uint64_t to, const char *b)
{
	tree_rename(t, from, a, strlen(a), to, b, strlen(b));
	tree_settle(t);
}

static uint64_t lookup(const struct tree *t, uint64_t dir, const char *name)
{
	const struct entry *entry = tree_find(t, dir, name, strlen(name));

	return entry ? entry->ino : 0;
}

static void directories_count_their_subdirectories(void **state)
{
	struct tree t = new_tree();
	uint64_t a = make(&t, TREE_ROOT, "a", S_IFDIR | 0755), b = make(&t, a, "b", S_IFDIR | 0755);

	assert_int_equal(tree_inode(&t, TREE_ROOT)->nlink, 3);
	assert_int_equal(tree_inode(&t, a)->nlink, 3);
	assert_int_equal(tree_inode(&t, b)->nlink, 2);
	assert_true(tree_is_ancestor(&t, TREE_ROOT, b));
	assert_true(tree_is_ancestor(&t, b, b));
	assert_false(tree_is_ancestor(&t, b, a));
	rename_to(&t, a, "b", TREE_ROOT, "c");
	assert_int_equal(tree_inode(&t, TREE_ROOT)->nlink, 4);
	assert_int_equal(tree_inode(&t, a)->nlink, 2);
	assert_int_equal(tree_inode(&t, b)->dir.parent, TREE_ROOT);
	drop(&t, TREE_ROOT, "c");
	assert_int_equal(tree_inode(&t, TREE_ROOT)->nlink, 3);
	assert_null(tree_inode(&t, b));
	tree_free(&t);
}

static void removed_inodes_live_while_held(void **state)
{
	struct tree t = new_tree();
	struct hash empty = tree_hash(&t);
	uint64_t f = make(&t, TREE_ROOT, "f", S_IFREG | 0644);

	tree_write(&t, f, 0, "data", 4);
	tree_hold(&t, f);
	drop(&t, TREE_ROOT, "f");
	assert_true(hash_equal(tree_hash(&t), empty));
	assert_int_equal(tree_inode(&t, f)->nlink, 0);
	assert_int_equal(t.blocks, 1);
	tree_write(&t, f, 4, "more", 4);
	tree_settle(&t);
	assert_true(hash_equal(tree_hash(&t), empty));
	tree_unhold(&t, f);
	assert_null(tree_inode(&t, f));
	assert_int_equal(t.blocks, 0);
	tree_free(&t);
}

static void an_unsettled_inode_may_be_freed(void **state)
{
	struct tree t = new_tree();
	struct hash before;
	uint64_t ino[3];

	make(&t, TREE_ROOT, "stays", S_IFREG | 0644);
	before = tree_hash(&t);
	for (int i = 0; i < 3; i++) {
		ino[i] = tree_new(&t, S_IFREG, 0, 0, 0);
		tree_link(&t, TREE_ROOT, &"abc"[i], 1, ino[i]);
	}
	tree_unlink(&t, TREE_ROOT, "b", 1);
	tree_unlink(&t, TREE_ROOT, "c", 1);
	tree_unlink(&t, TREE_ROOT, "a", 1);
	tree_settle(&t);
	assert_true(hash_equal(tree_hash(&t), before));
	tree_free(&t);
}

static void a_copy_taken_between_edits_settles_alike(void **state)
{
	struct tree t = new_tree(), copy;
	uint64_t f = make(&t, TREE_ROOT, "f", S_IFREG | 0644);

	tree_edit(&t, f)->mode = S_IFREG | 0600;
	copy = tree_copy(&t);
	tree_settle(&t);
	tree_settle(&copy);
	assert_true(hash_equal(tree_hash(&t), tree_hash(&copy)));
	tree_edit(&t, f)->mode = S_IFREG | 0644;
	tree_settle(&t);
	assert_false(hash_equal(tree_hash(&t), tree_hash(&copy)));
	tree_free(&t);
	tree_free(&copy);
}

static void moving_a_directory_moves_what_is_below(void **state)
{
	struct tree t = new_tree(), u = new_tree();
	uint64_t a = make(&t, TREE_ROOT, "a", S_IFDIR | 0755), b = make(&t, a, "b", S_IFDIR | 0755);
	uint64_t d;

	make(&t, b, "f", S_IFREG | 0644);
	rename_to(&t, TREE_ROOT, "a", TREE_ROOT, "c");
	rename_to(&t, a, "b", TREE_ROOT, "d");
	rename_to(&t, TREE_ROOT, "c", b, "e");

	d = make(&u, TREE_ROOT, "d", S_IFDIR | 0755);
	make(&u, d, "e", S_IFDIR | 0755);
	make(&u, d, "f", S_IFREG | 0644);
	assert_true(hash_equal(tree_hash(&t), tree_hash(&u)));
	tree_free(&t);
	tree_free(&u);
}

static void rename_replaces_and_exchange_swaps(void **state)
{
	struct tree t = new_tree();
	uint64_t d = make(&t, TREE_ROOT, "d", S_IFDIR | 0755), f = make(&t, d, "f", S_IFREG | 0644);
	uint64_t g = make(&t, TREE_ROOT, "g", S_IFREG | 0600);
	struct hash before = tree_hash(&t);

	tree_exchange(&t, TREE_ROOT, "d", 1, TREE_ROOT, "g", 1);
	tree_settle(&t);
	assert_int_equal(lookup(&t, TREE_ROOT, "d"), g);
	assert_int_equal(lookup(&t, TREE_ROOT, "g"), d);
	assert_false(hash_equal(tree_hash(&t), before));
	tree_exchange(&t, TREE_ROOT, "g", 1, TREE_ROOT, "d", 1);
	tree_settle(&t);
	assert_true(hash_equal(tree_hash(&t), before));

	rename_to(&t, d, "f", TREE_ROOT, "g");
	assert_int_equal(lookup(&t, TREE_ROOT, "g"), f);
	assert_null(tree_inode(&t, g));
	assert_int_equal(lookup(&t, d, "f"), 0);
	tree_free(&t);
}

static void one_file_with_two_names_is_not_two_files(void **state)
{
	struct tree t = new_tree(), u = new_tree();
	uint64_t f = make(&t, TREE_ROOT, "a", S_IFREG | 0644);

	tree_link(&t, TREE_ROOT, "b", 1, f);
	tree_settle(&t);
	make(&u, TREE_ROOT, "a", S_IFREG | 0644);
	make(&u, TREE_ROOT, "b", S_IFREG | 0644);
	t.fields = u.fields = TREE_FIELDS_DEFAULT & ~TREE_NLINK;
	assert_false(hash_equal(tree_hash(&t), tree_hash(&u)));
	assert_int_equal(tree_inode(&t, f)->nlink, 2);
	drop(&t, TREE_ROOT, "a");
	assert_int_equal(tree_inode(&t, f)->nlink, 1);
	tree_free(&t);
	tree_free(&u);
}

static void entries_come_each_once(void **state)
{
	struct tree t = new_tree();
	const struct entry *entry;
	uint64_t cookie = 0;
	char name[16];
	int seen = 0;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		make(&t, TREE_ROOT, name, S_IFREG | 0644);
	}
	while ((entry = tree_next_entry(&t, TREE_ROOT, &cookie))) {
		assert_true(cookie > 0 && cookie < (uint64_t)1 << 61);
		memcpy(name, entry->name, entry->len + 1);
		drop(&t, TREE_ROOT, name);
		seen++;
	}
	assert_int_equal(seen, 200);
	tree_free(&t);
}

static void attributes_come_and_go(void **state)
{
	struct tree t = new_tree();
	struct hash before = tree_hash(&t);
	const struct inode *root;
	uint64_t cookie = 0;

	tree_set_xattr(&t, TREE_ROOT, "user.a", "1", 1);
	tree_set_xattr(&t, TREE_ROOT, "user.b", "", 0);
	tree_set_xattr(&t, TREE_ROOT, "user.a", "22", 2);
	tree_settle(&t);
	root = tree_inode(&t, TREE_ROOT);
	assert_int_equal(root->xattrs.count, 2);
	assert_string_equal(tree_xattr(root, "user.a")->bytes + 7, "22");
	assert_int_equal(tree_xattr(root, "user.b")->value_len, 0);
	assert_null(tree_xattr(root, "user.c"));
	assert_non_null(tree_next_xattr(root, &cookie));
	assert_non_null(tree_next_xattr(root, &cookie));
	assert_null(tree_next_xattr(root, &cookie));
	assert_true(tree_remove_xattr(&t, TREE_ROOT, "user.a"));
	assert_true(tree_remove_xattr(&t, TREE_ROOT, "user.b"));
	assert_false(tree_remove_xattr(&t, TREE_ROOT, "user.b"));
	tree_settle(&t);
	assert_true(hash_equal(tree_hash(&t), before));
	tree_free(&t);
}

static void targets_are_kept(void **state)
{
	struct tree t = new_tree();
	uint64_t l = make(&t, TREE_ROOT, "l", S_IFLNK | 0777);
	struct hash before = tree_hash(&t);

	tree_set_target(&t, l, "x/y", 3);
	tree_settle(&t);
	assert_string_equal(tree_inode(&t, l)->target->bytes, "x/y");
	assert_int_equal(tree_inode(&t, l)->size, 3);
	assert_false(hash_equal(tree_hash(&t), before));
	tree_free(&t);
}

static void without_hashes_nothing_is_hashed(void **state)
{
	struct tree t;
	uint64_t a;

	tree_init(&t, TREE_FIELDS_DEFAULT, false, 0755, 0, 0);
	a = make(&t, TREE_ROOT, "a", S_IFDIR | 0755);
	make(&t, a, "f", S_IFREG | 0644);
	rename_to(&t, TREE_ROOT, "a", TREE_ROOT, "b");
	assert_int_equal(t.edited, 0);
	assert_true(hash_equal(tree_hash(&t), (struct hash){ 0, 0 }));
	assert_int_equal(lookup(&t, TREE_ROOT, "b"), a);
	tree_free(&t);
}

/* What a file system says of itself need not hold together; what the model goes on from does. */
static void lies_are_not_adopted(void **state)
{
	struct tree t;
	uint64_t file, ghost, denied;

	tree_init(&t, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	file = tree_new(&t, S_IFREG | 0644, 0, 0, 0);
	tree_link(&t, TREE_ROOT, "f", 1, file);
	ghost = tree_new(&t, 0, 0, 0, 0);
	tree_link(&t, TREE_ROOT, "ghost", 5, ghost);
	denied = tree_new(&t, 0, 0, 0, 0);
	tree_link(&t, TREE_ROOT, "denied", 6, denied);
	tree_edit(&t, file)->nlink = 0;
	tree_edit(&t, ghost)->nlink = 0;
	tree_edit(&t, ghost)->error.code = ENOENT;
	tree_edit(&t, denied)->nlink = 0;
	tree_edit(&t, denied)->error.code = EACCES;
	tree_adopt(&t);
	assert_int_equal(tree_inode(&t, file)->nlink, 1);
	assert_null(tree_find(&t, TREE_ROOT, "ghost", 5));
	assert_null(tree_inode(&t, ghost));
	assert_int_equal(tree_inode(&t, denied)->nlink, 1);
	/* Opened and closed, it is still there. */
	tree_hold(&t, file);
	tree_unhold(&t, file);
	assert_non_null(tree_inode(&t, file));
	tree_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories_count_their_subdirectories),
		cmocka_unit_test(removed_inodes_live_while_held),
		cmocka_unit_test(an_unsettled_inode_may_be_freed),
		cmocka_unit_test(a_copy_taken_between_edits_settles_alike),
		cmocka_unit_test(moving_a_directory_moves_what_is_below),
		cmocka_unit_test(rename_replaces_and_exchange_swaps),
		cmocka_unit_test(one_file_with_two_names_is_not_two_files),
		cmocka_unit_test(entries_come_each_once),
		cmocka_unit_test(attributes_come_and_go),
		cmocka_unit_test(targets_are_kept),
		cmocka_unit_test(without_hashes_nothing_is_hashed),
		cmocka_unit_test(lies_are_not_adopted),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
