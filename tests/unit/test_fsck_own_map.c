/* test_fsck_own_map.c -- maps of fields that no format describes. */
#include "tests/harness/fsck_map.h"

static void a_text_lists_fields(void **state)
{
	struct own_map m;

	small_map(&m, "\nsuper.magic 0 4\n\tfile.size 0x10 2 number file 0, /a\n"
		      "file.size 0x20 2 number file 1, /b\nfile.name 100 24 bytes\n");
	assert_int_equal(m.map.count, 4);
	assert_int_equal(m.map.format->structure_count, 3);
	assert_int_equal(m.map.instances[1].at, 16);
	assert_string_equal(m.map.instances[1].label, "file 0, /a");
	assert_string_equal(m.map.instances[3].label, "at 100");
	assert_int_equal(m.map.instances[3].structure->fields[0].role, ONDISK_BYTES);
	/* The same field of another file. */
	assert_ptr_equal(m.map.instances[1].structure, m.map.instances[2].structure);
	own_map_free(&m);
}

static void is_refused(const char *fields)
{
	struct own_map m;
	struct err err = { 0 };

	own_map_init(&m, SMALL_DISK);
	if (own_map_parse(&m, fields, &err) != -EINVAL)
		fail_msg("%s is taken", fields);
	assert_true(err.text[0]);
	own_map_free(&m);
}

static void what_is_no_field_is_refused(void **state)
{
	is_refused("magic 0 4");
	is_refused("super.magic 0");
	is_refused("super.magic 0 0");
	is_refused("super.magic -1 4");
	is_refused("super.magic 8190 4");
	is_refused("super.magic 9000 4");
	is_refused("super.magic 0 4 text");
	is_refused("super.magic 0 70000");
}

static void differences_are_fields(void **state)
{
	static uint8_t a[SMALL_DISK], b[SMALL_DISK];
	struct own_map m;

	memset(b + 100, 1, 10);
	b[SMALL_DISK - 1] = 1;
	own_map_init(&m, SMALL_DISK);
	own_map_add_difference(&m, a, b, NULL);
	own_map_finish(&m);
	assert_int_equal(m.map.count, 3); /* 8 bytes, 2 bytes, 1 byte */
	assert_int_equal(m.map.instances[0].at, 100);
	assert_int_equal(m.map.instances[0].size, 8);
	assert_int_equal(m.map.instances[1].size, 2);
	assert_int_equal(m.map.instances[2].at, SMALL_DISK - 1);
	assert_true(own_map_is_difference(&m.map.instances[0]));
	own_map_free(&m);
}

/* By the fields they lie in; of a long one only what differs. */
static void differences_have_names_where_the_disk_is_known(void **state)
{
	static uint8_t a[SMALL_DISK], b[SMALL_DISK];
	struct own_map known, m;

	small_map(&known, "super.magic 100 4 number here\nfile.bitmap 200 64 bytes file 3, /c\n");
	b[101] = b[230] = b[300] = 1;
	own_map_init(&m, SMALL_DISK);
	own_map_add_difference(&m, a, b, &known.map);
	own_map_finish(&m);
	assert_int_equal(m.map.count, 3);
	assert_string_equal(m.map.instances[0].structure->name, "super");
	assert_string_equal(m.map.instances[0].label, "here");
	assert_int_equal(m.map.instances[0].at, 100);
	assert_int_equal(m.map.instances[0].size, 4);
	assert_string_equal(m.map.instances[1].structure->fields[0].name, "bitmap");
	assert_string_equal(m.map.instances[1].label, "file 3, /c");
	assert_int_equal(m.map.instances[1].at, 230);
	assert_int_equal(m.map.instances[1].size, 1);
	assert_false(own_map_is_difference(&m.map.instances[1]));
	assert_true(own_map_is_difference(&m.map.instances[2]));
	own_map_free(&m);
	own_map_free(&known);
}

static void disks_with_nothing_in_common_have_a_limit(void **state)
{
	enum { LARGE = 1 << 20 };
	uint8_t *a = calloc(1, LARGE), *b = malloc(LARGE);
	struct own_map m;

	memset(b, 1, LARGE);
	own_map_init(&m, LARGE);
	own_map_add_difference(&m, a, b, NULL);
	assert_in_range(m.count, 100, 10000);
	own_map_finish(&m);
	own_map_free(&m);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_lists_fields),
		cmocka_unit_test(what_is_no_field_is_refused),
		cmocka_unit_test(differences_are_fields),
		cmocka_unit_test(differences_have_names_where_the_disk_is_known),
		cmocka_unit_test(disks_with_nothing_in_common_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
