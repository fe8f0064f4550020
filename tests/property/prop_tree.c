/* prop_tree.c -- random changes to several trees that share, beside plain arrays.
 *
 * Every tree must stay like its arrays whatever happens to the others, and its hash must be that
 * of a tree with the same contents built in another way. */
#include <stdio.h>

#include "base/buf.h"
#include "tests/property/plain.h"
#include "tree/pack.h"

enum { WORLDS = 4, SEEDS = 20, STEPS = 1500 };

struct world {
	struct tree tree;
	struct plain plain;
};

static struct rng rng;

static int pick(int bound)
{
	return (int)rng_below(&rng, (uint64_t)bound);
}

/* A random object in use for which the test holds, or NONE. */
static int pick_object(const struct plain *p, bool (*test)(const struct plain *p, int object))
{
	int start = pick(OBJECTS);

	for (int i = 0; i < OBJECTS; i++) {
		int object = (start + i) % OBJECTS;

		if (p->object[object].used && test(p, object))
			return object;
	}
	return NONE;
}

static bool any(const struct plain *p, int object)
{
	return true;
}

static bool live_dir(const struct plain *p, int object)
{
	return is_dir(p, object) && plain_links(p, object);
}

static bool no_dir(const struct plain *p, int object)
{
	return !is_dir(p, object);
}

static bool file(const struct plain *p, int object)
{
	return S_ISREG(p->object[object].mode);
}

static bool held(const struct plain *p, int object)
{
	return p->object[object].holds;
}

/* A place for a name. */
struct spot {
	int dir, name;
};

static struct spot pick_spot(const struct plain *p)
{
	return (struct spot){ pick_object(p, live_dir), pick(NAMES) };
}

static int *entry_at(struct plain *p, struct spot s)
{
	return &p->object[s.dir].entry[s.name];
}

#define AT(w, s) (w)->plain.object[(s).dir].ino, names[(s).name], strlen(names[(s).name])

static void set_entry(struct plain *p, struct spot s, int object)
{
	*entry_at(p, s) = object;
	if (object != NONE && is_dir(p, object))
		p->object[object].parent = s.dir;
}

static void do_create(struct world *w)
{
	static const uint32_t modes[] = { S_IFREG | 0644, S_IFREG | 0600, S_IFDIR | 0755,
					  S_IFLNK | 0777, S_IFIFO | 0600 };
	struct spot s = pick_spot(&w->plain);
	int object;

	if (*entry_at(&w->plain, s) != NONE)
		return;
	object = plain_new(&w->plain, modes[pick(5)]);
	if (object == NONE)
		return;
	w->plain.object[object].ino = tree_new(&w->tree, w->plain.object[object].mode, 0, 0, 0);
	if (S_ISLNK(w->plain.object[object].mode)) {
		w->plain.object[object].target = pick(sizeof(ts));
		tree_set_target(&w->tree, w->plain.object[object].ino, ts,
				w->plain.object[object].target);
	}
	set_entry(&w->plain, s, object);
	tree_link(&w->tree, AT(w, s), w->plain.object[object].ino);
}

static void do_link(struct world *w)
{
	struct spot s = pick_spot(&w->plain);
	int object = pick_object(&w->plain, no_dir);

	if (object == NONE || *entry_at(&w->plain, s) != NONE)
		return;
	set_entry(&w->plain, s, object);
	tree_link(&w->tree, AT(w, s), w->plain.object[object].ino);
}

static void do_unlink(struct world *w)
{
	struct spot s = pick_spot(&w->plain);
	int object = *entry_at(&w->plain, s);

	if (object == NONE || (is_dir(&w->plain, object) && !plain_is_empty(&w->plain, object)))
		return;
	*entry_at(&w->plain, s) = NONE;
	plain_reap(&w->plain, object);
	tree_unlink(&w->tree, AT(w, s));
}

static void do_rename(struct world *w)
{
	struct plain *p = &w->plain;
	struct spot from = pick_spot(p), to = pick_spot(p);
	int object = *entry_at(p, from), victim = *entry_at(p, to);

	if (object == NONE || (is_dir(p, object) && plain_is_within(p, to.dir, object)))
		return;
	if (victim != NONE &&
	    (is_dir(p, object) != is_dir(p, victim) ||
	     (is_dir(p, victim) && !plain_is_empty(p, victim) && victim != object)))
		return;
	*entry_at(p, from) = NONE;
	set_entry(p, to, object);
	if (victim != NONE)
		plain_reap(p, victim);
	tree_rename(&w->tree, AT(w, from), AT(w, to));
}

static void do_exchange(struct world *w)
{
	struct plain *p = &w->plain;
	struct spot a = pick_spot(p), b = pick_spot(p);
	int x = *entry_at(p, a), y = *entry_at(p, b);

	if (x == NONE || y == NONE || (is_dir(p, x) && plain_is_within(p, b.dir, x)) ||
	    (is_dir(p, y) && plain_is_within(p, a.dir, y)))
		return;
	set_entry(p, a, y);
	set_entry(p, b, x);
	tree_exchange(&w->tree, AT(w, a), AT(w, b));
}

static void do_hold(struct world *w)
{
	int object = pick_object(&w->plain, any);

	w->plain.object[object].holds++;
	tree_hold(&w->tree, w->plain.object[object].ino);
}

static void do_unhold(struct world *w)
{
	int object = pick_object(&w->plain, held);

	if (object == NONE)
		return;
	w->plain.object[object].holds--;
	if (object)
		plain_reap(&w->plain, object);
	tree_unhold(&w->tree, w->plain.object[object].ino);
}

static void do_attributes(struct world *w)
{
	struct plain_object *o = &w->plain.object[pick_object(&w->plain, any)];
	int a = pick(ATTRIBUTES);

	switch (pick(4)) {
	case 0:
		o->mode = (o->mode & S_IFMT) | (uint32_t)pick(01000);
		tree_edit(&w->tree, o->ino)->mode = o->mode;
		break;
	case 1:
		o->uid = (uint32_t)pick(3);
		tree_edit(&w->tree, o->ino)->uid = o->uid;
		break;
	case 2:
		o->attribute[a] = pick(sizeof(vs));
		tree_set_xattr(&w->tree, o->ino, attributes[a], vs, o->attribute[a]);
		break;
	default:
		assert_int_equal(tree_remove_xattr(&w->tree, o->ino, attributes[a]),
				 o->attribute[a] != NONE);
		o->attribute[a] = NONE;
	}
}

/* Somewhere in a file; often at the edges of blocks. */
static uint64_t pick_offset(void)
{
	uint64_t offset = (uint64_t)pick(BLOCKS + 1) * TREE_BLOCK;

	switch (pick(4)) {
	case 0:
		offset -= offset ? (uint64_t)pick(3) : 0;
		break;
	case 1:
		offset = (uint64_t)pick(FILE_MAX + 1);
		break;
	case 2:
		offset = (uint64_t)pick(20);
		break;
	}
	return offset;
}

/* A range that is not empty and ends by `max`; false if there is none. */
static bool pick_range(uint64_t max, uint64_t *ret_from, uint64_t *ret_len)
{
	uint64_t a = pick_offset(), b = pick_offset();

	*ret_from = a < b ? a : b;
	*ret_len = a < b ? b - a : a - b;
	return *ret_len && *ret_from + *ret_len <= max;
}

static void allocate(struct plain_object *o, uint64_t from, uint64_t len)
{
	for (uint64_t block = from / TREE_BLOCK; len && block <= (from + len - 1) / TREE_BLOCK;
	     block++)
		o->allocated[block] = true;
}

static void punch(struct plain_object *o, uint64_t from, uint64_t len)
{
	memset(o->data + from, 0, len);
	for (uint64_t block = 0; block < BLOCKS; block++) {
		if (from <= block * TREE_BLOCK && (block + 1) * TREE_BLOCK <= from + len)
			o->allocated[block] = false;
	}
}

static void do_write(struct world *w, struct plain_object *o)
{
	uint8_t data[FILE_MAX];
	uint64_t from, len;

	if (!pick_range(FILE_MAX, &from, &len))
		return;
	for (uint64_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i % 5 ? rng_u64(&rng) : 0);
	if (rng_chance(&rng, 1, 4))
		memset(data, 0, len);
	memcpy(o->data + from, data, len);
	allocate(o, from, len);
	o->size = from + len > o->size ? from + len : o->size;
	tree_write(&w->tree, o->ino, from, data, len);
}

static void do_truncate(struct world *w, struct plain_object *o)
{
	uint64_t size = pick_offset();

	if (size < o->size) {
		uint64_t whole = (size + TREE_BLOCK - 1) / TREE_BLOCK * TREE_BLOCK;

		memset(o->data + size, 0, FILE_MAX - size);
		punch(o, whole, FILE_MAX - whole);
	}
	o->size = size;
	tree_truncate(&w->tree, o->ino, size);
}

static void do_zero(struct world *w, struct plain_object *o)
{
	bool allocated = rng_chance(&rng, 1, 2);
	uint64_t from, len;

	if (!pick_range(FILE_MAX, &from, &len))
		return;
	punch(o, from, len);
	if (allocated)
		allocate(o, from, len);
	tree_zero(&w->tree, o->ino, from, len, allocated);
	assert_true(tree_is_zero(&w->tree, o->ino, from, from + len));
}

static void do_allocate(struct world *w, struct plain_object *o)
{
	uint64_t from, len;

	if (!pick_range(FILE_MAX, &from, &len))
		return;
	allocate(o, from, len);
	tree_allocate(&w->tree, o->ino, from, len);
}

/* Collapse and insert by whole blocks, as file systems allow it. */
static void do_shift(struct world *w, struct plain_object *o)
{
	uint64_t blocks = o->size / TREE_BLOCK, from, count;
	bool collapse = rng_chance(&rng, 1, 2);

	if (o->size % TREE_BLOCK || blocks < 2)
		return;
	from = rng_below(&rng, blocks - 1);
	count = 1 + rng_below(&rng, collapse ? blocks - from - 1 : BLOCKS);
	for (uint64_t i = blocks; !collapse && i < blocks + count; i++) {
		if (i >= BLOCKS || o->allocated[BLOCKS - 1 - (i - blocks)])
			return; /* there must be room behind */
	}
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t to = collapse ? i : BLOCKS - 1 - i; /* the order that overwrites nothing */
		uint64_t source = collapse ? to + count : to - count;
		bool moved = collapse ? to >= from : to >= from + count;

		if (!moved && (collapse || to < from))
			continue;
		if (!moved || source >= BLOCKS) {
			punch(o, to * TREE_BLOCK, TREE_BLOCK);
			continue;
		}
		memcpy(o->data + to * TREE_BLOCK, o->data + source * TREE_BLOCK, TREE_BLOCK);
		o->allocated[to] = o->allocated[source];
	}
	o->size += collapse ? -count * TREE_BLOCK : count * TREE_BLOCK;
	if (!collapse)
		memset(o->data + o->size, 0, FILE_MAX - o->size);
	(collapse ? tree_collapse : tree_insert)(&w->tree, o->ino, from * TREE_BLOCK,
						 count * TREE_BLOCK);
}

static void do_clone(struct world *w, struct plain_object *to)
{
	static uint8_t data[FILE_MAX];
	const struct plain_object *from = &w->plain.object[pick_object(&w->plain, file)];
	uint64_t source, len, target = pick_offset();
	bool allocated[BLOCKS] = { 0 };

	if (!pick_range(from->size, &source, &len) || target + len > FILE_MAX)
		return;
	if (from == to && source < target + len && target < source + len)
		return;
	for (uint64_t i = source; i < source + len; i++) {
		if (from->allocated[i / TREE_BLOCK])
			allocated[(target + i - source) / TREE_BLOCK] = true;
	}
	memcpy(data, from->data + source, len);
	punch(to, target, len);
	memcpy(to->data + target, data, len);
	for (int block = 0; block < BLOCKS; block++)
		to->allocated[block] |= allocated[block];
	to->size = target + len > to->size ? target + len : to->size;
	tree_clone(&w->tree, from->ino, source, to->ino, target, len);
}

static void do_data(struct world *w)
{
	static void (*const changes[])(struct world *, struct plain_object *) = {
		do_write, do_write, do_truncate, do_zero, do_allocate, do_shift, do_clone,
	};
	int object = pick_object(&w->plain, file);

	if (object != NONE)
		changes[pick(7)](w, &w->plain.object[object]);
}

static void check_hash(const struct world *w)
{
	struct tree same = plain_build(&w->plain, &rng);
	struct buf one = BUF_INIT, other = BUF_INIT;

	assert_int_equal(tree_diff(&w->tree, &same, 10, &one), 0);
	assert_int_equal(one.len, 0);
	tree_print(&w->tree, &one);
	tree_print(&same, &other);
	assert_string_equal(buf_str(&one), buf_str(&other));
	assert_true(hash_equal(tree_hash(&w->tree), tree_hash(&same)));
	tree_free(&same);
	buf_free(&one);
	buf_free(&other);
}

static void check_pack(const struct world *w)
{
	struct buf bytes = BUF_INIT;
	const char *next;
	struct tree back;

	tree_pack(&w->tree, &bytes);
	next = bytes.data;
	assert_int_equal(
		tree_unpack(&back, &next, bytes.data + bytes.len, w->tree.fields, true, NULL), 0);
	assert_ptr_equal(next, bytes.data + bytes.len);
	assert_true(hash_equal(tree_hash(&w->tree), tree_hash(&back)));
	tree_free(&back);
	buf_free(&bytes);
}

static void run(struct world worlds[WORLDS])
{
	static void (*const changes[])(struct world *) = {
		do_create, do_create, do_link,       do_unlink,     do_rename, do_exchange,
		do_hold,   do_unhold, do_attributes, do_attributes, do_data,   do_data,
	};

	for (int step = 0; step < STEPS; step++) {
		struct world *w = &worlds[pick(WORLDS)], *other = &worlds[pick(WORLDS)];

		changes[pick(12)](w);
		if (w != other && rng_chance(&rng, 1, 30)) { /* also between edits */
			tree_free(&other->tree);
			other->tree = tree_copy(&w->tree);
			other->plain = w->plain;
		}
		if (rng_chance(&rng, 1, 3))
			continue;
		tree_settle(&w->tree);
		if (step % 5 == 0) {
			plain_check(&w->plain, &w->tree);
			check_hash(w);
		}
		if (step % 50 == 0)
			check_pack(w);
	}
}

static void trees_behave_like_arrays(void **state)
{
	static struct world worlds[WORLDS];

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		rng_seed(&rng, seed);
		for (int i = 0; i < WORLDS; i++) {
			plain_init(&worlds[i].plain);
			tree_init(&worlds[i].tree, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
		}
		run(worlds);
		for (int i = 0; i < WORLDS; i++) {
			tree_settle(&worlds[i].tree);
			plain_check(&worlds[i].plain, &worlds[i].tree);
			check_hash(&worlds[i]);
		}
		for (int i = 0; i < WORLDS; i++)
			tree_free(&worlds[i].tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_behave_like_arrays),
	};

	return cmocka_run_group_tests_name("trees against arrays", tests, NULL, NULL);
}
