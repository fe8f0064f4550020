/* test_fsck_values.c -- which values a field is given. */
#include "damage/values.h"
#include "tests/harness/fsck_map.h"

static uint8_t disk[SMALL_DISK];

static bool has_value(const struct field_values *v, uint64_t number)
{
	for (size_t i = 0; i < v->count; i++)
		if (ondisk_le(v->items[i], v->len) == number)
			return true;
	return false;
}

static void telling_of(struct field_values *v, const struct own_map *m, size_t instance)
{
	const struct ondisk_instance *i = &m->map.instances[instance];

	values_telling(v, &m->map, disk, i, i->structure->fields, 1);
}

static void numbers_are_at_limits_near_the_old_and_of_others(void **state)
{
	static const uint64_t expected[] = { 0,      1,      0xffff,        0xfffe, 0x7fff, 0x8000,
					     0x1233, 0x1235, 0x1234 ^ 0x10, 0xedcb, 0x4711 };
	struct field_values v;
	struct own_map m;

	small_map(&m, "file.size 0 2\nfile.size 10 2\n");
	disk[0] = 0x34;
	disk[1] = 0x12;
	disk[10] = 0x11;
	disk[11] = 0x47;
	telling_of(&v, &m, 0);
	assert_int_equal(v.len, 2);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(has_value(&v, expected[i]));
	assert_false(has_value(&v, 0x1234)); /* what it is */
	for (size_t i = 0; i < v.count; i++) /* each once */
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(v.items[i], v.items[k], v.len);
	values_free(&v);
	own_map_free(&m);
}

/* A size of whole blocks, the number of a block and that of an inode. */
static void limits_come_early(void **state)
{
	static const struct {
		size_t instance;
		uint64_t number;
	} expected[] = { { 1, 0x400 }, { 1, 0xc00 }, { 2, SMALL_DISK / 1024 }, { 3, 41 } };
	struct err err = { 0 };
	struct own_map m;

	own_map_init(&m, SMALL_DISK);
	own_map_add(&m, "super", "inodes", 0, 2, ONDISK_NUMBER, NULL, &err);
	own_map_add(&m, "file", "size", 10, 4, ONDISK_NUMBER, NULL, &err);
	own_map_add(&m, "file", "block", 20, 4, ONDISK_POINTER, NULL, &err);
	own_map_add(&m, "name", "inode", 30, 4, ONDISK_INODE, NULL, &err);
	assert_int_equal(err.code, 0);
	own_map_finish(&m);
	m.map.block_size = 1024;
	memset(disk, 0, sizeof(disk));
	disk[0] = 40;
	disk[11] = 8;
	disk[20] = 1;
	disk[30] = 12;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct field_values v;

		telling_of(&v, &m, expected[i].instance);
		v.count = 8;
		assert_true(has_value(&v, expected[i].number));
		values_free(&v);
	}
	own_map_free(&m);
}

/* Behind none and all. */
static void flags_change_one_by_one_first(void **state)
{
	struct field_values v;
	struct own_map m;

	small_map(&m, "super.flags 0 2 flags\n");
	disk[0] = 0x81;
	disk[1] = 0;
	telling_of(&v, &m, 0);
	v.count = 2 + 16;
	for (unsigned bit = 0; bit < 16; bit++)
		assert_true(has_value(&v, 0x81 ^ 1 << bit));
	values_free(&v);
	own_map_free(&m);
}

/* An extent that ends one block behind the disk, by its length and by its first block. */
static void an_end_lies_just_behind_the_disk(void **state)
{
	static uint8_t extents[64 * 1024];
	const struct ondisk_format *ext = ondisk_format("ext");
	const struct ondisk_structure *structure;
	struct ondisk_instance instance = { .size = 12 };
	struct ondisk_map map = { .format = ext,
				  .instances = &instance,
				  .count = 1,
				  .disk_size = sizeof(extents),
				  .block_size = 1024 };
	const struct ondisk_field *len = ondisk_find(ext, "extent.ee_len", &structure);
	const struct ondisk_field *start = ondisk_find(ext, "extent.ee_start_lo", &structure);
	struct field_values v;

	instance.structure = structure;
	extents[len->offset] = 4;
	extents[start->offset] = 50;
	values_telling(&v, &map, extents, &instance, len, 1);
	assert_true(has_value(&v, 64 - 50 + 1));
	values_free(&v);
	values_telling(&v, &map, extents, &instance, start, 1);
	assert_true(has_value(&v, 64 - 4 + 1));
	values_free(&v);
}

static void names_get_a_separator_first(void **state)
{
	struct field_values v;
	struct own_map m;

	small_map(&m, "file.name 100 4 bytes\n");
	memcpy(disk + 100, "abcd", 4);
	telling_of(&v, &m, 0);
	assert_memory_equal(v.items[0], "/bcd", 4);
	values_free(&v);
	own_map_free(&m);
}

static void texts_lose_single_bytes(void **state)
{
	uint8_t shorter[CHANGE_BYTES_MAX] = "abcdefghijklmnop";
	struct field_values v;
	struct own_map m;
	bool found = false;

	small_map(&m, "file.name 100 24 bytes\n");
	memcpy(disk + 100, "abcdefghijklmnopqrstuvwx", 24);
	telling_of(&v, &m, 0);
	assert_int_equal(v.len, CHANGE_BYTES_MAX);
	shorter[3] = '\0';
	for (size_t i = 0; i < v.count; i++)
		found |= !memcmp(v.items[i], shorter, sizeof(shorter));
	assert_true(found);
	values_free(&v);
	own_map_free(&m);
}

static bool are_equal(const struct field_values *a, const struct field_values *b)
{
	bool equal = a->count == b->count && a->len == b->len;

	for (size_t i = 0; equal && i < a->count; i++)
		equal = !memcmp(a->items[i], b->items[i], a->len);
	return equal;
}

/* The drawn ones by the seed, and the same each time. */
static void values_are_repeatable(void **state)
{
	struct field_values a, b;
	struct own_map m;

	small_map(&m, "file.size 0 8\n");
	telling_of(&a, &m, 0);
	telling_of(&b, &m, 0);
	assert_true(are_equal(&a, &b));
	values_free(&b);
	values_telling(&b, &m.map, disk, m.map.instances, m.map.instances->structure->fields, 2);
	assert_false(are_equal(&a, &b));
	values_free(&a);
	values_free(&b);
	own_map_free(&m);
}

static void narrow_fields_have_all_values(void **state)
{
	struct ondisk_field byte = { .name = "a", .size = 1 }, two = { .name = "b", .size = 2 },
			    wide = { .name = "c", .size = 4 };
	uint8_t value[CHANGE_BYTES_MAX];

	assert_int_equal(values_all(&byte), 256);
	assert_int_equal(values_all(&two), 65536);
	assert_int_equal(values_all(&wide), 0);
	values_numbered(&two, 0xabcd, value);
	assert_int_equal(ondisk_le(value, 2), 0xabcd);
}

/* A directory with a name twice, and a name with a separator. */
static void a_name_is_first_that_of_a_neighbour_of_its_length(void **state)
{
	struct field_values v;
	struct own_map m;

	small_map(&m, "name.text 10 3 bytes\nname.text 20 2 bytes\nname.text 30 3 bytes\n");
	memcpy(disk + 10, "one", 3);
	memcpy(disk + 20, "to", 2);
	memcpy(disk + 30, "six", 3);
	telling_of(&v, &m, 0);
	assert_true(v.count > 2);
	assert_memory_equal(v.items[0], "six", 3);
	assert_memory_equal(v.items[1], "/ne", 3);
	values_free(&v);
	telling_of(&v, &m, 1); /* nobody else's is as long */
	assert_memory_equal(v.items[0], "/o", 2);
	values_free(&v);
	own_map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_at_limits_near_the_old_and_of_others),
		cmocka_unit_test(limits_come_early),
		cmocka_unit_test(a_name_is_first_that_of_a_neighbour_of_its_length),
		cmocka_unit_test(flags_change_one_by_one_first),
		cmocka_unit_test(an_end_lies_just_behind_the_disk),
		cmocka_unit_test(names_get_a_separator_first),
		cmocka_unit_test(texts_lose_single_bytes),
		cmocka_unit_test(values_are_repeatable),
		cmocka_unit_test(narrow_fields_have_all_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
