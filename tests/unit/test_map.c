/* test_map.c -- hashes and maps. */
#include <stdio.h>
#include <string.h>

#include "base/hash_set.h"
#include "base/map.h"
#include "tests/harness/unit.h"

static void hashes_are_xxh3(void **state)
{
	char text[33];

	assert_true(hash64("", 0, 0) == 0x2d06800538d394c2);
	hash_print(hash128("", 0, 0), text);
	assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
	assert_true(hash64("a", 1, 0) != hash64("a", 1, 1));
}

/* Long keys are hashed by other code than those that come in pieces. */
static void long_keys_are_hashed_alike(void **state)
{
	static char bytes[5000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 251);
	for (size_t len = 500; len <= sizeof(bytes); len += 7) {
		struct hash_stream *stream = hash_stream_new();

		hash_stream_add(stream, bytes, len / 2);
		hash_stream_add(stream, bytes + len / 2, len - len / 2);
		assert_true(hash_equal(hash_stream_end(stream), hash128(bytes, len, 0)));
	}
}

static void sums_carry_and_come_back(void **state)
{
	struct hash a = { UINT64_MAX, 5 }, b = { 1, UINT64_MAX }, sum = hash_add(a, b);

	assert_true(hash_equal(sum, (struct hash){ 0, 5 }));
	assert_true(hash_equal(hash_sub(sum, b), a));
	assert_true(hash_equal(hash_sub(sum, a), b));
	assert_true(hash_equal(hash_add(b, a), sum));
	assert_false(hash_equal(a, b));
	assert_false(hash_equal(a, (struct hash){ UINT64_MAX, 6 }));
}

static void nothing_is_found_in_an_empty_map(void **state)
{
	struct hash_map m = HASH_MAP_INIT;
	struct str_map s = STR_MAP_INIT;

	assert_null(hash_map_get(&m, (struct hash){ 0, 0 }));
	assert_null(hash_map_get(&m, (struct hash){ 1, 2 }));
	assert_null(str_map_get(&s, ""));
	hash_map_free(&m);
	str_map_free(&s);
}

/* Small counters, their shifts and whole hashes: keys of every kind of poor and good spread. */
static struct hash key_of(int kind, uint64_t i)
{
	switch (kind) {
	case 0:
		return (struct hash){ i, 0 };
	case 1:
		return (struct hash){ 0, i };
	case 2:
		return (struct hash){ i << 48, i << 20 };
	default:
		return hash128(&i, sizeof(i), 0);
	}
}

static void every_key_keeps_its_value(void **state)
{
	enum { COUNT = 5000 };
	bool is_new;

	for (int kind = 0; kind < 4; kind++) {
		struct hash_map m = HASH_MAP_INIT;

		for (uint64_t i = 0; i < COUNT; i++) {
			assert_null(hash_map_get(&m, key_of(kind, i)));
			*hash_map_put(&m, key_of(kind, i), &is_new) = i + 1;
			assert_true(is_new);
		}
		assert_int_equal(m.count, COUNT);
		for (uint64_t i = 0; i < COUNT; i++) {
			assert_int_equal(*hash_map_get(&m, key_of(kind, i)), i + 1);
			assert_int_equal(*hash_map_put(&m, key_of(kind, i), &is_new), i + 1);
			assert_false(is_new);
		}
		assert_null(hash_map_get(&m, key_of(kind, COUNT)));
		assert_int_equal(m.count, COUNT);
		assert_true(m.count <= m.cap / 4 * 3);
		hash_map_free(&m);
	}
}

static void a_new_value_is_zero(void **state)
{
	struct hash_map m = HASH_MAP_INIT;
	struct str_map s = STR_MAP_INIT;

	assert_int_equal(*hash_map_put(&m, (struct hash){ 0, 0 }, NULL), 0);
	assert_int_equal(*hash_map_put(&m, (struct hash){ 0, 1 }, NULL), 0);
	assert_int_equal(*str_map_put(&s, "", NULL), 0);
	hash_map_free(&m);
	str_map_free(&s);
}

static void strings_stay_in_order(void **state)
{
	struct str_map m = STR_MAP_INIT;
	char key[16];
	bool is_new;

	for (uint64_t i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "key%d", (int)i);
		*str_map_put(&m, key, &is_new) = i;
		assert_true(is_new);
	}
	assert_int_equal(m.count, 3000);
	for (uint64_t i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "key%d", (int)i);
		assert_string_equal(m.entries[i].key, key);
		assert_int_equal(*str_map_get(&m, key), i);
		str_map_put(&m, key, &is_new);
		assert_false(is_new);
	}
	assert_null(str_map_get(&m, "key3000"));
	str_map_free(&m);
}

static void sets_hold_each_hash_once_in_little_memory(void **state)
{
	enum { MANY = 200000 };
	struct hash_set s = { 0 };
	uint64_t bytes = 0;

	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < MANY; i++)
			assert_int_equal(hash_set_add(&s, hash128(&i, sizeof(i), 0)), !round);
	assert_true(hash_set_add(&s, (struct hash){ 0, 0 }));
	assert_false(hash_set_add(&s, (struct hash){ 0, 0 }));
	assert_int_equal(s.count, MANY + 1);
	for (size_t i = 0; i < HASH_SET_PARTS; i++)
		bytes += s.parts[i].cap * sizeof(uint64_t);
	assert_true(bytes <= MANY * 13);
	hash_set_free(&s);
	assert_int_equal(s.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_xxh3),
		cmocka_unit_test(long_keys_are_hashed_alike),
		cmocka_unit_test(sums_carry_and_come_back),
		cmocka_unit_test(nothing_is_found_in_an_empty_map),
		cmocka_unit_test(every_key_keeps_its_value),
		cmocka_unit_test(a_new_value_is_zero),
		cmocka_unit_test(strings_stay_in_order),
		cmocka_unit_test(sets_hold_each_hash_once_in_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
