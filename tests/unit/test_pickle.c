/* test_pickle.c -- pickles that lie, with a hash that is right: refused, and it is said why.
 *
 * The corpus of tests/fuzz/fuzz_pickle.c has them, without their hashes. */
#include <errno.h>
#include <stdlib.h>

#include "tests/harness/pickles.h"
#include "tests/harness/unit.h"

static const struct expected {
	const char *name;
	const char *why; /* "": it is accepted */
	bool pool;       /* read with all its keys */
} expected[] = {
	{ "good", "", false },
	{ "block-last", "", false },
	{ "size-most", "", false },
	{ "states-none", "", true },
	{ "links-none", "object 2 has link count 0 instead of 1", false },
	{ "links-many", "object 2 has link count 4000000000", false },
	{ "dir-links", "object 1 has link count 2 instead of 3", false },
	{ "next-ino-end", "no inode number is left", false },
	{ "next-ino-low", "", false }, /* is raised */
	{ "ino-high", "no inode number is left", false },
	{ "ino-end", "a number that cannot be", false },
	{ "name-twice", "object 1 has a name twice", false },
	{ "name-dots", "object 1 has an entry that is no name", false },
	{ "name-slash", "object 1 has an entry that is no name", false },
	{ "name-nul", "object 1 has an entry that is no name", false },
	{ "name-long", "object 1 has an entry with an invalid or too long name", false },
	{ "name-empty", "object 1 has an entry that is no name", false },
	{ "cycle", "object 3 is a directory with two names", false },
	{ "dir-twice", "object 3 is a directory with two names", false },
	{ "root-below", "object 1 is a directory with two names", false },
	{ "entry-to-nothing", "object 1 has an entry for a missing object", false },
	{ "number-twice", "object 2 is there already", false },
	{ "entries-lie", "it ends in the middle", false },
	{ "data-beyond-size", "object 2 has data beyond its size", false },
	{ "block-beyond-size", "object 2 has data beyond its size", false },
	{ "block-twice", "object 2 has a block twice", false },
	{ "block-overflow", "object 2 has a block beyond any file", false },
	{ "size-huge", "object 2 is larger than any file", false },
	{ "mode-type", "object 2 has a type that there is not", false },
	{ "mode-error", "object 2 has an unknown type or mode", false },
	{ "mode-bits", "object 2 has an unknown type or mode", false },
	{ "mode-wide", "more than 32 bits", false },
	{ "root-file", "object 1 is there already", false },
	{ "flags", "object 2 has unknown flags", false },
	{ "device-file", "object 2 has a device number but is not a device", false },
	{ "xattr-twice", "object 2 has an extended attribute twice", false },
	{ "xattr-space", "object 2 has an extended attribute whose name cannot be", false },
	{ "xattr-empty", "object 2 has an extended attribute whose name cannot be", false },
	{ "xattr-long", "object 2 has an extended attribute that is too long", false },
	{ "link-empty", "object 2 is a symbolic link whose target cannot be", false },
	{ "link-nul", "object 2 is a symbolic link whose target cannot be", false },
	{ "link-long", "object 2 is a symbolic link whose target cannot be", false },
	{ "number-too-wide", "a number of more than 64 bits", false },
	{ "tree-short", "damaged", false },
	{ "tree-tail", "bytes follow a tree", false },
	{ "states-two", "it holds 2 states, not one", false },
	{ "states-lie", "too many states", true },
	{ "key-twice", "two states have one key", true },
	{ "tail", "bytes follow the last state", false },
};

static void read_corpus(const char *name, struct buf *ret)
{
	struct buf path = BUF_INIT;
	const char *root = getenv("ROOT");

	buf_addf(&path, "%s/tests/fuzz/corpus/pickle/%s", root ? root : ".", name);
	assert_int_equal(buf_read_file(ret, path.data, 1 << 20, NULL), 0);
	pickle_seal(ret);
	buf_free(&path);
}

static void lies_are_refused(void **s)
{
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		const uint64_t *key = expected[i].pool ? NULL : &pickle_key;
		struct buf bytes = BUF_INIT;
		struct err err = { 0 };
		struct core c;

		read_corpus(expected[i].name, &bytes);
		pickle_core_init(&c);
		pickle_unpack(&c, key, &bytes, &err);
		if (!strstr(err.text, expected[i].why) || !*expected[i].why != !err.code)
			fail_msg("%s: \"%s\", expected \"%s\"", expected[i].name, err.text,
				 expected[i].why);
		assert_true(!err.code || !c.pool.count);
		core_free(&c);
		buf_free(&bytes);
	}
}

/* No state more than allowed, by number and by memory; one in place of another always. */
static void saved_states_are_limited(void **s)
{
	struct core_options options = {
		.bytes_max = 1 << 20,
		.inodes_max = 100,
		.snapshots_max = 2,
		.memory_max = UINT64_MAX,
	};
	struct buf bytes = BUF_INIT;
	struct core c;

	core_init(&c, &options, 0, 0);
	assert_int_equal(core_save(&c, 1, NULL), 0);
	assert_int_equal(core_save(&c, 2, NULL), 0);
	assert_int_equal(core_save(&c, 3, NULL), -ENOSPC);
	assert_int_equal(core_save(&c, 2, NULL), 0);
	assert_int_equal(pickle_pack(&c, NULL, &bytes, NULL), 0);
	assert_int_equal(core_drop(&c, 1), 0);
	assert_int_equal(core_save(&c, 3, NULL), 0);
	/* Keys 1 and 2: one of them would be the third. Nothing of it is put. */
	assert_int_equal(pickle_unpack(&c, NULL, &bytes, NULL), -ENOSPC);
	assert_null(core_find(&c, 1));
	c.options.memory_max = 0;
	assert_int_equal(core_save(&c, 3, NULL), -ENOSPC);
	assert_int_equal(core_blocks_free(&c), 0);
	assert_int_equal(core_inodes_free(&c), 0);
	buf_free(&bytes);
	core_free(&c);
}

/* An unnamed file that was given a name and lost it is gone when the kernel lets go of it. */
static void nothing_is_kept_twice(void **s)
{
	struct core c;
	uint64_t ino;

	pickle_core_init(&c);
	pickle_make(&c, TREE_ROOT, "f", S_IFREG | 0600);
	ino = tree_find(&c.state.tree, TREE_ROOT, "f", 1)->ino;
	core_hold(&c, ino);
	core_keep(&c, ino);
	for (int i = 0; i < 2; i++) {
		struct call call = { .op = OP_unlinkat };
		struct requester root = { 0 };
		struct outcome outcome;

		core_enter(&c, &root);
		call.unlinkat.dirfd.num = core_open(&c, TREE_ROOT, O_PATH);
		call.unlinkat.path = pickle_text("f");
		assert_int_equal(core_call_removing(&c, &call, TREE_ROOT, "f", &outcome),
				 i ? ENOENT : 0);
		core_leave(&c);
	}
	assert_non_null(core_inode(&c, ino));
	core_forget(&c, ino, 1);
	assert_null(core_inode(&c, ino));
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(saved_states_are_limited),
		cmocka_unit_test(nothing_is_kept_twice),
	};

	return cmocka_run_group_tests_name("pickle", tests, NULL, NULL);
}
