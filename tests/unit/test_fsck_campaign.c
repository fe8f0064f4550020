/* test_fsck_campaign.c -- in which order the fields of a disk are damaged. */
#include "fsck/groups.h"
#include "settings/opt.h"
#include "tests/harness/fsck_map.h"

enum { ENTRIES = 10 };

/* The entries that were damaged, in the order of their first time. */
struct damaged_entries {
	uint64_t at[ENTRIES];
	size_t count;
};

static int note_entry(void *to, const struct corruption *c, struct field_progress *p,
		      struct err *err)
{
	struct damaged_entries *d = to;

	for (size_t i = 0; i < d->count; i++)
		if (d->at[i] == c->changes[0].at)
			return 1;
	d->at[d->count++] = c->changes[0].at;
	return d->count < ENTRIES;
}

/* Entries of this many bytes each, and the first ones of a disk of them that are damaged. */
static void expect_first(const uint8_t *disk, unsigned size, const char *role,
			 const uint64_t *first, size_t count)
{
	const struct opt_list all = { 0 };
	const struct campaign_options options = { .fields = &all, .seed = 1 };
	struct damaged_entries d = { 0 };
	struct buf fields = BUF_INIT;
	struct err err = { 0 };
	struct campaign c;
	struct own_map m;

	for (unsigned i = 0; i < ENTRIES; i++)
		buf_addf(&fields, "entry.type %u %u %s\n", i * size, size, role);
	small_map(&m, buf_str(&fields));
	assert_int_equal(campaign_open(&c, &m.map, disk, &options, &err), 0);
	c.test = note_entry;
	c.to = &d;
	assert_int_equal(campaign_run(&c, &err), 0);
	assert_int_equal(d.count, ENTRIES);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(d.at[i], first[i] * size);
	campaign_close(&c);
	own_map_free(&m);
	buf_free(&fields);
}

/* And the last of them all. */
static void one_of_each_kind_comes_first(void **state)
{
	static const uint8_t types[SMALL_DISK] = { 1, 1, 1, 1, 1, 1, 1, 2, 1, 3 };
	static const uint64_t first_types[] = { 0, 7, 9 };
	uint16_t numbers[SMALL_DISK / 2] = { [5] = 5, [6] = 6 };
	static const uint64_t first_numbers[] = { 0, 5, 9, 1 };

	expect_first(types, 1, "flags", first_types, 3);
	expect_first((const uint8_t *)numbers, 2, "number", first_numbers, 4);
}

/* A bit for each sixteen bytes that were changed. */
static int note_part(void *to, const struct corruption *c, struct field_progress *p,
		     struct err *err)
{
	*(uint64_t *)to |= 1ull << c->changes[0].at / CHANGE_BYTES_MAX;
	return 1;
}

/* A change reaches sixteen bytes of it, which are not always the first ones. */
static void all_of_a_bitmap_is_damaged(void **state)
{
	static const struct ondisk_field bits = { "bits", 0, ONDISK_REST, ONDISK_BYTES };
	static const struct ondisk_structure bitmap = { "bitmap", &bits, 1, false };
	static const struct ondisk_structure *const structures[] = { &bitmap };
	static const struct ondisk_format format = { .name = "bitmaps",
						     .structures = structures,
						     .structure_count = 1 };
	struct ondisk_instance whole = { .structure = &bitmap, .size = 256 };
	struct ondisk_map map = {
		.format = &format, .instances = &whole, .count = 1, .disk_size = SMALL_DISK
	};
	const struct opt_list all = { 0 };
	const struct campaign_options options = { .fields = &all, .seed = 1 };
	uint8_t disk[SMALL_DISK] = { 0 };
	struct err err = { 0 };
	struct campaign c;
	uint64_t parts = 0;

	assert_int_equal(campaign_open(&c, &map, disk, &options, &err), 0);
	c.test = note_part;
	c.to = &parts;
	assert_int_equal(campaign_run(&c, &err), 1);
	assert_int_equal(parts, 0xffff);
	assert_int_equal(c.fields[0].tried, 1); /* instance */
	campaign_close(&c);
}

static int note_nothing(void *to, const struct corruption *c, struct field_progress *p,
			struct err *err)
{
	return 1;
}

/* One of two processes has the only instance; the other one has nothing left to try. */
static void all_values_are_tried_by_one_process(void **state)
{
	const struct opt_list all = { 0 };
	const uint8_t disk[SMALL_DISK] = { 0 };
	struct err err = { 0 };
	struct own_map m;

	small_map(&m, "super.state 0 1\nsuper.count 4 4\n");
	for (unsigned job = 0; job < 2; job++) {
		const struct campaign_options options = {
			.fields = &all, .seed = 1, .job = job, .jobs = 2
		};
		struct campaign c;

		assert_int_equal(campaign_open(&c, &m.map, disk, &options, &err), 0);
		c.test = note_nothing;
		assert_int_equal(c.fields[0].all_values, !c.fields[0].has_lanes);
		assert_int_equal(campaign_run(&c, &err), 1);
		assert_true(c.fields[0].all_values);
		assert_false(c.fields[1].all_values);
		campaign_close(&c);
	}
	own_map_free(&m);
}

/* A checker that does not repair one of the entries. */
struct grouped {
	uint64_t bad, alone; /* alone: the first that was damaged alone */
	size_t largest;      /* group */
	unsigned probes, tests;
};

static int probe_group(void *to, const struct corruption *c, struct err *err)
{
	struct grouped *g = to;
	bool fine = true;

	g->probes++;
	g->largest = c->count > g->largest ? c->count : g->largest;
	for (size_t i = 0; i < c->count; i++) {
		fine &= c->changes[i].at != g->bad;
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(c->changes[i].instance, c->changes[k].instance);
	}
	return fine;
}

static int note_alone(void *to, const struct corruption *c, struct field_progress *p,
		      struct err *err)
{
	struct grouped *g = to;

	assert_int_equal(c->count, 1);
	g->alone = g->tests++ ? g->alone : c->changes[0].at;
	return 0;
}

/* Several fields are damaged at a time, and the one that matters is found among them. */
static void the_one_of_a_group_is_found(void **state)
{
	const struct opt_list all = { 0 };
	const struct campaign_options options = { .fields = &all, .seed = 1 };
	const uint8_t disk[SMALL_DISK] = { 0 };
	struct grouped g = { .bad = 7 };
	struct buf fields = BUF_INIT;
	struct err err = { 0 };
	struct campaign c;
	struct own_map m;

	buf_adds(&fields, "super.count 0 1 number\n");
	for (unsigned i = 1; i < ENTRIES; i++)
		buf_addf(&fields, "entry.type %u 1 number\n", i);
	small_map(&m, buf_str(&fields));
	assert_int_equal(campaign_open(&c, &m.map, disk, &options, &err), 0);
	c.test = note_alone;
	c.probe = probe_group;
	c.to = &g;
	assert_int_equal(groups_run(&c, &err), 0);
	assert_int_equal(g.alone, g.bad);
	assert_int_equal(g.tests, 1);
	assert_true(g.largest > 1);
	campaign_close(&c);
	own_map_free(&m);
	buf_free(&fields);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_values_are_tried_by_one_process),
		cmocka_unit_test(the_one_of_a_group_is_found),
		cmocka_unit_test(one_of_each_kind_comes_first),
		cmocka_unit_test(all_of_a_bitmap_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
