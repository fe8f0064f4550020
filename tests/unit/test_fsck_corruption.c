/* test_fsck_corruption.c -- bytes of a disk that are not what they were: as data, in words, and on
 * the disk. */
#include "base/buf.h"
#include "damage/corruption.h"
#include "damage/damage.h"
#include "tests/harness/fsck_map.h"

static uint8_t disk[SMALL_DISK];

static void add_field(struct corruption *c, const struct own_map *m, size_t instance,
		      const uint8_t *value)
{
	const struct ondisk_instance *i = &m->map.instances[instance];

	assert_true(corruption_add_field(c, disk, i, i->structure->fields, value));
}

static void a_corruption_is_told_by_its_fields(void **state)
{
	static const uint8_t number[] = { 0x34, 0x12 };
	struct corruption c = { 0 };
	struct buf out = BUF_INIT;
	struct own_map m;

	small_map(&m, "file.size 4096 2 number file 0, /a/b, twice\nsuper.magic 0 2\n");
	add_field(&c, &m, 0, number);
	add_field(&c, &m, 1, number);
	corruption_add_bytes(&c, disk, 77, number, 1);
	corruption_print_fields(&c, &out);
	assert_string_equal(buf_str(&out), "file.size and super.magic and bytes");
	buf_clear(&out);
	corruption_print(&c, &out);
	assert_string_equal(
		buf_str(&out),
		"file 0, /a/b, twice: file.size 0x0 -> 0x1234 (offset 4096: 00 00 -> 34 12)\n"
		"at 0: super.magic 0x0 -> 0x1234 (offset 0: 00 00 -> 34 12)\n"
		"bytes (offset 77: 00 -> 34)\n");
	buf_clear(&out);
	corruption_path(&c.changes[0], &out);
	assert_string_equal(buf_str(&out), "/a/b");
	buf_clear(&out);
	corruption_path(&c.changes[1], &out);
	corruption_path(&c.changes[2], &out);
	assert_string_equal(buf_str(&out), "");
	buf_free(&out);
	own_map_free(&m);
}

static void the_old_value_is_no_corruption(void **state)
{
	const struct ondisk_instance *i;
	struct corruption c = { 0 };
	struct own_map m;

	small_map(&m, "super.magic 0 2\n");
	i = m.map.instances;
	assert_false(corruption_add_field(&c, disk, i, i->structure->fields, disk));
	assert_int_equal(c.count, 0);
	own_map_free(&m);
}

/* Only the third byte matters. */
static int third_byte_shows(void *to, const struct corruption *c, struct err *err)
{
	++*(unsigned *)to;
	return c->changes[0].new[2] != c->changes[0].old[2];
}

static void shrinking_keeps_the_bytes_that_matter(void **state)
{
	static const uint8_t value[] = { 1, 0, 3, 4 };
	struct corruption c = { 0 };
	struct err err = { 0 };
	unsigned asked = 0;

	corruption_add_bytes(&c, disk, 10, value, sizeof(value));
	assert_int_equal(corruption_shrink(&c, third_byte_shows, &asked, &err), 0);
	assert_memory_equal(c.changes[0].new, ((uint8_t[]){ 0, 0, 3, 0 }), 4);
	assert_int_equal(asked, 3); /* the second byte is as it was */
}

static int fifth_bit_shows(void *to, const struct corruption *c, struct err *err)
{
	return c->changes[0].new[0] & 0x20;
}

static void shrinking_keeps_the_flags_that_matter(void **state)
{
	static const uint8_t value[] = { 0xff, 0xff };
	struct corruption c = { 0 };
	struct err err = { 0 };
	const struct ondisk_instance *i;
	struct own_map m;

	small_map(&m, "super.state 0 2 flags\n");
	i = m.map.instances;
	assert_true(corruption_add_field(&c, disk, i, i->structure->fields, value));
	assert_int_equal(corruption_shrink(&c, fifth_bit_shows, NULL, &err), 0);
	assert_memory_equal(c.changes[0].new, ((uint8_t[]){ 0x20, 0 }), 2);
	own_map_free(&m);
}

static void damage_is_put_back(void **state)
{
	static const uint8_t value[] = { 1, 2, 3, 4 };
	struct corruption across = { 0 }, other = { 0 }, none = { 0 };
	struct damaged_disk d;
	struct hash first;

	corruption_add_bytes(&across, disk, 4094, value, sizeof(value));
	corruption_add_bytes(&other, disk, 10, value, 1);
	damaged_disk_init(&d, NULL, disk, SMALL_DISK);
	damaged_disk_set(&d, &across);
	assert_int_equal(d.count, 2); /* pages */
	assert_memory_equal(d.bytes + 4094, value, 4);
	first = damaged_disk_hash(&d);
	damaged_disk_set(&d, &other);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.bytes[4094], 0);
	assert_int_equal(d.bytes[10], 1);
	assert_int_not_equal(damaged_disk_hash(&d).lo, first.lo);
	damaged_disk_set(&d, &across);
	assert_int_equal(damaged_disk_hash(&d).lo, first.lo);
	damaged_disk_set(&d, &none);
	assert_memory_equal(d.bytes, disk, SMALL_DISK);
	assert_int_equal(damaged_disk_hash(&d).lo, 0);
	damaged_disk_free(&d);
}

static void another_disk_can_be_loaded(void **state)
{
	static uint8_t another[SMALL_DISK];
	struct corruption none = { 0 };
	struct damaged_disk d;

	another[5000] = 7;
	damaged_disk_init(&d, NULL, disk, SMALL_DISK);
	damaged_disk_load(&d, another);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.pages[0], 1);
	damaged_disk_set(&d, &none);
	assert_int_equal(d.bytes[5000], 0);
	damaged_disk_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_corruption_is_told_by_its_fields),
		cmocka_unit_test(the_old_value_is_no_corruption),
		cmocka_unit_test(shrinking_keeps_the_bytes_that_matter),
		cmocka_unit_test(shrinking_keeps_the_flags_that_matter),
		cmocka_unit_test(damage_is_put_back),
		cmocka_unit_test(another_disk_can_be_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
