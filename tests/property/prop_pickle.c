/* prop_pickle.c -- a pickle with any of its bytes changed, and the hash made right again, is
 * refused, or a file system that can be used. */
#include "base/rng.h"
#include "tests/harness/pickles.h"
#include "tests/harness/unit.h"

enum { HASH_LEN = 16, ROUNDS = 20000 };

static uint64_t ino_of(const struct core *c, uint64_t dir, const char *name)
{
	return tree_find(&c->state.tree, dir, name, strlen(name))->ino;
}

/* One of everything: types, a hard link, data, a hole, blocks behind the end, attributes, flags. */
static void fill(struct core *c)
{
	struct call call = { .op = OP_symlinkat };
	struct outcome outcome;
	struct requester root = { 0 };
	uint64_t dir, file;

	pickle_make(c, TREE_ROOT, "dir", S_IFDIR | 0755);
	dir = ino_of(c, TREE_ROOT, "dir");
	pickle_make(c, dir, "below", S_IFDIR | 0700);
	pickle_make(c, dir, "file", S_IFREG | 0644);
	pickle_make(c, TREE_ROOT, "fifo", S_IFIFO | 0600);
	pickle_make(c, TREE_ROOT, "null", S_IFCHR | 0666);
	file = ino_of(c, dir, "file");
	pickle_write(c, file, 0, "some data");
	pickle_write(c, file, 3 * TREE_BLOCK + 5, "more");
	pickle_set_xattr(c, file, "user.name");
	core_enter(c, &root);
	tree_allocate(&c->state.tree, file, 9 * TREE_BLOCK, TREE_BLOCK);
	tree_link(&c->state.tree, TREE_ROOT, "link", 4, file);
	call.symlinkat.target = pickle_text("dir/file");
	call.symlinkat.dirfd.num = core_open(c, TREE_ROOT, O_PATH);
	call.symlinkat.path = pickle_text("symlink");
	core_call(c, &call, &outcome);
	core_leave(c);
	pickle_set_flags(c, file, FS_APPEND_FL);
}

static void make_pickle(struct buf *ret)
{
	struct core c;

	pickle_core_init(&c);
	fill(&c);
	assert_int_equal(core_save(&c, pickle_key, NULL), 0);
	assert_int_equal(pickle_pack(&c, &pickle_key, ret, NULL), 0);
	core_free(&c);
	assert_true(pickle_try(ret));
	ret->len -= HASH_LEN;
}

static bool try_changed(const struct buf *pickle, size_t at, char byte)
{
	struct buf changed = BUF_INIT;
	bool accepted;

	buf_add(&changed, pickle->data, pickle->len);
	changed.data[at] = byte;
	pickle_seal(&changed);
	accepted = pickle_try(&changed);
	buf_free(&changed);
	return accepted;
}

static void every_byte_can_change(void **s)
{
	struct buf pickle = BUF_INIT;
	size_t accepted = 0;

	make_pickle(&pickle);
	for (size_t at = 0; at < pickle.len; at++) {
		for (int byte = 0; byte < 256; byte += at % 3 + 1)
			accepted += try_changed(&pickle, at, (char)byte);
	}
	/* Names, data, times and owners may be anything. */
	assert_true(accepted > pickle.len);
	buf_free(&pickle);
}

/* Bytes overwritten, inserted, removed, and pieces repeated elsewhere. */
static void change(struct rng *rng, struct buf *bytes)
{
	size_t at = rng_below(rng, bytes->len), len = 1 + rng_below(rng, 12);

	if (len > bytes->len - at)
		len = bytes->len - at;
	switch (rng_below(rng, 4)) {
	case 0:
		bytes->data[at] = (char)rng_below(rng, 256);
		break;
	case 1:
		memmove(bytes->data + at, bytes->data + at + len, bytes->len - at - len);
		bytes->len -= len;
		break;
	case 2:
		buf_reserve(bytes, len);
		memmove(bytes->data + at + len, bytes->data + at, bytes->len - at);
		bytes->len += len;
		break;
	case 3:
		memmove(bytes->data + rng_below(rng, bytes->len - len + 1), bytes->data + at, len);
		break;
	}
}

/* The lengths that frame the only tree follow what is between them, so that more gets through. */
static void fix_length(struct buf *bytes)
{
	uint64_t len = bytes->len - 32;

	memcpy(bytes->data + 24, &len, sizeof(len));
}

static void many_bytes_can_change(void **s)
{
	struct buf pickle = BUF_INIT, changed = BUF_INIT;
	struct rng rng;

	rng_seed(&rng, 1);
	make_pickle(&pickle);
	for (int round = 0; round < ROUNDS; round++) {
		buf_clear(&changed);
		buf_add(&changed, pickle.data, pickle.len);
		for (uint64_t left = 1 + rng_below(&rng, 4); left && changed.len > 40; left--)
			change(&rng, &changed);
		fix_length(&changed);
		pickle_seal(&changed);
		pickle_try(&changed);
	}
	buf_free(&pickle);
	buf_free(&changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_can_change),
		cmocka_unit_test(many_bytes_can_change),
	};

	return cmocka_run_group_tests_name("pickles that were changed", tests, NULL, NULL);
}
