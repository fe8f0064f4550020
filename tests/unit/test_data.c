/* test_data.c -- file contents: what lies far out, and how it all begins and ends. */
#include <string.h>

#include "tests/harness/unit.h"
#include "tree/tree.h"

static const uint64_t size_max = INT64_MAX;

static struct tree t;
static uint64_t f;

static int with_file(void **state)
{
	tree_init(&t, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	f = tree_new(&t, S_IFREG | 0644, 0, 0, 0);
	tree_link(&t, TREE_ROOT, "f", 1, f);
	tree_settle(&t);
	return 0;
}

static int without_file(void **state)
{
	tree_free(&t);
	return 0;
}

static struct hash settled_hash(void)
{
	tree_settle(&t);
	return tree_hash(&t);
}

static char byte_at(uint64_t offset)
{
	char byte = '?';

	assert_int_equal(tree_read(&t, f, offset, &byte, 1), 1);
	return byte;
}

static void one_byte_costs_little(void **state)
{
	size_t before = tree_bytes(&t);

	tree_write(&t, f, 0, "x", 1);
	assert_in_range(tree_bytes(&t) - before, 1, 80);
}

static void the_last_byte_of_the_largest_file(void **state)
{
	tree_write(&t, f, size_max - 1, "x", 1);
	assert_int_equal(tree_inode(&t, f)->size, size_max);
	assert_int_equal(t.blocks, 1);
	assert_int_equal(byte_at(size_max - 1), 'x');
	assert_int_equal(byte_at(size_max - 2), 0);
	assert_int_equal(tree_seek(&t, f, 0, true), (size_max - 1) / TREE_BLOCK * TREE_BLOCK);
	assert_int_equal(tree_seek(&t, f, size_max - 1, true), size_max - 1);
	assert_int_equal(tree_seek(&t, f, size_max - 1, false), size_max);
	assert_false(tree_is_zero(&t, f, 0, size_max));
	assert_true(tree_is_zero(&t, f, 0, size_max - 1));
}

static void gaps_of_any_length_cost_nothing(void **state)
{
	struct hash before;

	tree_write(&t, f, 0, "a", 1);
	tree_write(&t, f, (uint64_t)1 << 62, "b", 1);
	before = settled_hash();
	tree_insert(&t, f, TREE_BLOCK, (uint64_t)1 << 61);
	assert_int_equal(byte_at(((uint64_t)1 << 62) + ((uint64_t)1 << 61)), 'b');
	tree_collapse(&t, f, TREE_BLOCK, (uint64_t)1 << 61);
	assert_true(hash_equal(settled_hash(), before));
	tree_zero(&t, f, 1, size_max - 1, false);
	assert_int_equal(t.blocks, 1);
	tree_truncate(&t, f, 1);
	assert_int_equal(byte_at(0), 'a');
}

static void cutting_off_leaves_zeros(void **state)
{
	tree_write(&t, f, 0, "abcdef", 6);
	tree_truncate(&t, f, 3);
	tree_truncate(&t, f, 6);
	assert_int_equal(byte_at(2), 'c');
	assert_int_equal(byte_at(3), 0);
	assert_int_equal(tree_read(&t, f, 6, (char[1]){ 0 }, 1), 0);
}

static void zeros_and_holes_hash_alike(void **state)
{
	char zeros[2 * TREE_BLOCK] = { 0 };
	struct hash hole;

	tree_truncate(&t, f, sizeof(zeros));
	hole = settled_hash();
	tree_write(&t, f, 0, zeros, sizeof(zeros));
	assert_int_equal(tree_blocks(tree_inode(&t, f)), 2);
	assert_true(hash_equal(settled_hash(), hole));
	tree_zero(&t, f, 0, TREE_BLOCK, false);
	assert_int_equal(tree_seek(&t, f, 0, true), TREE_BLOCK);
	assert_true(hash_equal(settled_hash(), hole));
}

static void the_same_bytes_elsewhere_hash_differently(void **state)
{
	struct hash here;

	tree_truncate(&t, f, 2 * TREE_BLOCK);
	tree_write(&t, f, 0, "x", 1);
	here = settled_hash();
	tree_zero(&t, f, 0, 1, false);
	tree_write(&t, f, TREE_BLOCK, "x", 1);
	assert_false(hash_equal(settled_hash(), here));
}

static void allocation_changes_neither_size_nor_bytes(void **state)
{
	struct hash before = settled_hash();

	tree_allocate(&t, f, 100, 2 * TREE_BLOCK);
	assert_int_equal(tree_blocks(tree_inode(&t, f)), 3);
	assert_int_equal(tree_inode(&t, f)->size, 0);
	tree_allocate(&t, f, 0, 0);
	assert_true(hash_equal(settled_hash(), before));
	assert_int_equal(tree_seek(&t, f, 0, true), 0);
	tree_truncate(&t, f, 1);
	tree_truncate(&t, f, 0);
	assert_int_equal(t.blocks, 0);
}

static void clones_share_and_part(void **state)
{
	uint64_t g = tree_new(&t, S_IFREG | 0644, 0, 0, 0);
	char data[3 * TREE_BLOCK], back[3 * TREE_BLOCK];

	memset(data, 'd', sizeof(data));
	tree_link(&t, TREE_ROOT, "g", 1, g);
	tree_write(&t, f, 0, data, sizeof(data));
	tree_clone(&t, f, 0, g, 0, sizeof(data));
	tree_write(&t, f, 0, "x", 1);
	assert_int_equal(tree_read(&t, g, 0, back, sizeof(back)), sizeof(back));
	assert_memory_equal(back, data, sizeof(data));
	tree_clone(&t, f, 0, g, TREE_BLOCK + 7, 10); /* not along blocks */
	data[TREE_BLOCK + 7] = 'x';
	tree_read(&t, g, 0, back, sizeof(back));
	assert_memory_equal(back, data, sizeof(data));
}

static void shifts_need_not_be_by_blocks(void **state)
{
	char back[8];

	tree_write(&t, f, TREE_BLOCK - 3, "abcdef", 6);
	tree_collapse(&t, f, TREE_BLOCK - 2, 4);
	assert_int_equal(tree_inode(&t, f)->size, TREE_BLOCK - 1);
	assert_int_equal(tree_read(&t, f, TREE_BLOCK - 3, back, 8), 2);
	assert_memory_equal(back, "af", 2);
	tree_insert(&t, f, TREE_BLOCK - 2, 4);
	assert_int_equal(tree_read(&t, f, TREE_BLOCK - 3, back, 8), 6);
	assert_memory_equal(back, "a\0\0\0\0f", 6);
}

static void count_up(uint64_t seed, uint64_t from, void *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((char *)to)[i] = (char)(seed + (from + i) % 251);
}

/* A block that is made when it is read is the same as one that was written. */
static void blocks_that_are_made(void **state)
{
	struct blob *block = tree_block((struct blob_part){ count_up, 3, 10 });
	char bytes[TREE_BLOCK], back[3 * TREE_BLOCK];
	struct hash written;

	count_up(3, 10, bytes, sizeof(bytes));
	tree_write(&t, f, 0, bytes, sizeof(bytes));
	tree_write(&t, f, TREE_BLOCK, bytes, sizeof(bytes));
	written = settled_hash();
	tree_truncate(&t, f, 0);
	tree_write_block(&t, f, 0, block);
	tree_write_block(&t, f, 1, block);
	assert_true(hash_equal(settled_hash(), written));
	assert_true(tree_bytes(&t) < TREE_BLOCK);
	assert_int_equal(tree_read(&t, f, 100, back, TREE_BLOCK), TREE_BLOCK);
	assert_memory_equal(back, bytes + 100, TREE_BLOCK - 100);
	assert_memory_equal(back + TREE_BLOCK - 100, bytes, 100);
	assert_false(tree_is_zero(&t, f, 0, TREE_BLOCK));
	/* Parts of it are replaced, cleared and moved as those of any block. */
	tree_write(&t, f, 7, "x", 1);
	tree_zero(&t, f, TREE_BLOCK + 9, 2, false);
	tree_insert(&t, f, 1, 1);
	assert_int_equal(tree_read(&t, f, 0, back, sizeof(back)), 2 * TREE_BLOCK + 1);
	assert_int_equal(back[0], bytes[0]);
	assert_int_equal(back[1], 0);
	assert_int_equal(back[8], 'x');
	assert_int_equal(back[9], bytes[8]);
	assert_int_equal(back[TREE_BLOCK + 1 + 8], bytes[8]);
	assert_int_equal(back[TREE_BLOCK + 1 + 9], 0);
	assert_memory_equal(back + TREE_BLOCK + 1 + 11, bytes + 11, TREE_BLOCK - 11);
	blob_drop(block);
}

static void a_hole_behind_which_only_reserved_blocks_are(void **state)
{
	tree_write(&t, f, 0, "x", 1);
	tree_truncate(&t, f, 4 * TREE_BLOCK);
	tree_allocate(&t, f, 8 * TREE_BLOCK, TREE_BLOCK);
	assert_int_equal(tree_seek(&t, f, TREE_BLOCK, true), 4 * TREE_BLOCK);
	tree_write(&t, f, 3 * TREE_BLOCK, "y", 1);
	assert_int_equal(tree_seek(&t, f, TREE_BLOCK, true), 3 * TREE_BLOCK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, with_file, without_file)
	const struct CMUnitTest tests[] = {
		TEST(one_byte_costs_little),
		TEST(the_last_byte_of_the_largest_file),
		TEST(gaps_of_any_length_cost_nothing),
		TEST(cutting_off_leaves_zeros),
		TEST(zeros_and_holes_hash_alike),
		TEST(the_same_bytes_elsewhere_hash_differently),
		TEST(allocation_changes_neither_size_nor_bytes),
		TEST(clones_share_and_part),
		TEST(shifts_need_not_be_by_blocks),
		TEST(blocks_that_are_made),
		TEST(a_hole_behind_which_only_reserved_blocks_are),
	};

	return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
