/* test_ondisk_ext.c -- disks that mke2fs and debugfs have made, read as data: the walk finds what
 * e2fsck and debugfs count, and a changed field leaves no wrong checksum behind.
 *
 * ASSAY_ONDISK_TIMES=N changes every field N times, in N instances, and ASSAY_ONDISK_SEED=N chooses
 * others of them; ASSAY_ONDISK_VARIANT=name does so on one disk only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "ondisk/ondisk.h"
#include "tests/harness/ext_disks.h"

/* What the walk finds */

static size_t count(const struct disk *d, const char *structure, const char *label)
{
	size_t n = 0;

	for (size_t i = 0; i < d->map.count; i++)
		n += !strcmp(d->map.instances[i].structure->name, structure) &&
		     (!label || strstr(d->map.instances[i].label, label));
	return n;
}

static uint64_t value(const struct disk *d, const struct ondisk_instance *i, const char *name)
{
	for (size_t j = 0; j < i->structure->field_count; j++) {
		const struct ondisk_field *f = &i->structure->fields[j];

		if (!strcmp(f->name, name))
			return i->structure->big_endian
				     ? ondisk_be(d->base + i->at + f->offset, f->size)
				     : ondisk_le(d->base + i->at + f->offset, f->size);
	}
	fail_msg("%s.%s", i->structure->name, name);
	return 0;
}

/* The number before these words in the output of e2fsck -v. */
static size_t counted(const struct buf *out, const char *words)
{
	const char *at = strstr(out->data, words), *line = at;

	assert_non_null(at);
	while (line > out->data && line[-1] != '\n')
		line--;
	return strtoul(line, NULL, 10);
}

static size_t inodes_of_type(const struct disk *d, unsigned type)
{
	size_t n = 0;

	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *in = &d->map.instances[i];

		n += !strcmp(in->structure->name, "inode") &&
		     in->structure->fields[0].offset == 0 &&
		     (value(d, in, "i_mode") & S_IFMT) == type;
	}
	return n;
}

/* Names that are in use, without "." and "..", which each directory has. */
static size_t names(const struct disk *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *e = &d->map.instances[i];

		n += !strcmp(e->structure->name, "dir_entry") && value(d, e, "inode") &&
		     !strstr(e->label, "\".\"") && !strstr(e->label, "\"..\"");
	}
	return n;
}

static void the_walk_finds_what_e2fsck_counts(void **state)
{
	struct buf out = BUF_INIT;

	for_each_disk(d)
	{
		size_t inodes = 0;

		run(&out, "e2fsck -fnv %s", d->path);
		for (size_t i = 0; i < d->map.count; i++)
			inodes += !strcmp(d->map.instances[i].structure->fields[0].name, "i_mode");
		assert_int_equal(inodes, counted(&out, "inodes used"));
		assert_int_equal(inodes_of_type(d, S_IFDIR), counted(&out, "directories\n"));
		assert_int_equal(inodes_of_type(d, S_IFIFO), counted(&out, "fifo"));
		assert_int_equal(inodes_of_type(d, S_IFLNK), counted(&out, "symbolic link"));
		assert_int_equal(names(d), strtoul(strstr(out.data, "---\n") + 4, NULL, 10) - 1);
	}
	buf_free(&out);
}

static void the_walk_finds_what_debugfs_lists(void **state)
{
	struct buf out = BUF_INIT;

	for_each_disk(d)
	{
		size_t lines = 0, pointers = 0;

		if (strstr(d->variant->options, "ext4")) {
			run(&out, "debugfs -R 'ex frag' %s 2>&- | grep '^ *[0-9]'", d->path);
			for (size_t i = 0; i < out.len; i++)
				lines += out.data[i] == '\n';
			assert_int_equal(count(d, "extent", "/frag") +
						 count(d, "extent_idx", "/frag"),
					 lines);
			continue;
		}
		run(&out, "debugfs -R 'blocks frag' %s 2>&- | tail -n 1", d->path);
		for (size_t i = 0; i + 1 < out.len; i++)
			lines += out.data[i] == ' ' && out.data[i + 1] > ' ';
		for (size_t i = 0; i < d->map.count; i++) {
			const struct ondisk_instance *in = &d->map.instances[i];

			if (!strstr(in->label, "/frag"))
				continue;
			if (!strcmp(in->structure->name, "indirect"))
				pointers += value(d, in, "pointer") != 0;
			else if (!strcmp(in->structure->fields[0].name, "i_block[0]"))
				for (size_t j = 0; j < in->structure->field_count; j++)
					pointers +=
						value(d, in, in->structure->fields[j].name) != 0;
		}
		assert_int_equal(pointers, lines + 1);
	}
	buf_free(&out);
}

/* Structures that must be found, and on which disk. */
static void there_is_one_of_each(void **state)
{
	static const struct {
		const char *variant, *structure, *label;
		size_t at_least;
	} rows[] = {
		{ "ext2", "indirect", "/far, level 3", 1 },
		{ "ext2", "inode", "orphan", 1 },
		{ "ext2", "inode", "bad blocks", 1 },
		{ "ext2", "inode", "resize", 1 },
		{ "ext2", "dx_entry", "/many", 1 },
		{ "ext2", "fast_symlink", "/fast", 1 },
		{ "ext2", "slow_symlink", "/slow", 1 },
		{ "ext2-groups", "super_block", "backup in group", 4 },
		{ "ext2-groups", "group_desc", "backup in group", 8 },
		{ "ext3", "journal_revoke", "transaction", 2 },
		{ "ext3", "commit_header", "transaction", 2 },
		{ "ext4", "dx_countlimit", "/many", 3 },
		{ "ext4", "dx_tail", "/many", 3 },
		{ "ext4", "extent_idx", "/frag", 3 },
		{ "ext4", "extent_tail", "/frag", 3 },
		{ "ext4", "dir_entry_tail", "/many", 100 },
		{ "ext4", "xattr_header", "/big", 1 },
		{ "ext4", "xattr_ibody_header", "/f", 1 },
		{ "dirty", "journal_block_tag3", "transaction", 2 },
		{ "dirty", "journal_block_tail", "transaction", 2 },
		{ "dirty-v2", "journal_block_tag", "transaction", 2 },
		{ "inline", "inline_data", "/f", 1 },
		{ "inline", "inline_dir", "/dir", 1 },
		{ "sparse2", "super_block", "backup", 2 },
		{ "meta-bg", "group_desc", "backup", 8 },
		{ "quota", "v2_disk_dqheader", "quota", 3 },
		{ "quota", "v2r1_disk_dqblk", "quota", 3 },
		{ "orphan-file", "orphan_block_tail", "orphan file", 1 },
		{ "mmp", "mmp_struct", "block", 1 },
		{ "seed", "xattr_entry", "/frag", 1 },
	};

	for_each_disk(d) for (size_t i = 0; i < ARRAY_LEN(rows);
			      i++) if (!strcmp(rows[i].variant, d->variant->name) &&
				       count(d, rows[i].structure, rows[i].label) <
					       rows[i].at_least)
		fail_msg("%s: %zu of %s, %s", rows[i].variant,
			 count(d, rows[i].structure, rows[i].label), rows[i].structure,
			 rows[i].label);
}

static void every_instance_is_on_the_disk(void **state)
{
	for_each_disk(d)
	{
		for (size_t i = 0; i < d->map.count; i++) {
			const struct ondisk_instance *in = &d->map.instances[i];
			size_t fields = 0;

			assert_true(in->at <= d->size && in->size <= d->size - in->at);
			assert_true(in->label[0]);
			for (size_t j = 0; j < in->structure->field_count; j++)
				fields += ondisk_field_size(in, &in->structure->fields[j]) > 0;
			assert_true(fields > 0);
		}
	}
}

static void names_are_found(void **state)
{
	const struct ondisk_format *ext = ondisk_format("ext");
	const struct ondisk_structure *structure = NULL;
	const struct ondisk_field *field;

	assert_null(ondisk_format("none"));
	field = ondisk_find(ext, "inode.i_flags", &structure);
	assert_non_null(field);
	assert_int_equal(field->offset, 0x20);
	assert_string_equal(structure->name, "inode");
	field = ondisk_find(ext, "inode.i_block[14]", &structure);
	assert_int_equal(field->offset, 0x60);
	assert_int_equal(ondisk_find(ext, "extent_header.eh_entries", NULL)->offset, 2);
	assert_int_equal(ondisk_find(ext, "super_block.s_checksum", NULL)->role, ONDISK_CHECKSUM);
	assert_null(ondisk_find(ext, "inode.i_nothing", NULL));
	assert_null(ondisk_find(ext, "inode", NULL));
	assert_null(ondisk_find(ext, "inod.i_flags", NULL));
}

/* Sealing */

static void an_unchanged_disk_is_right(void **state)
{
	for_each_disk(d)
	{
		for (size_t i = 0; i < d->map.count; i++)
			ondisk_seal(&d->map, d->bytes, d->map.instances[i].at,
				    d->map.instances[i].size);
		for (uint64_t at = 0; at < d->size; at++)
			if (d->bytes[at] != d->base[at])
				fail_msg("%s: byte %llu", d->variant->name, (unsigned long long)at);
	}
}

struct change {
	const struct ondisk_instance *instance;
	const struct ondisk_field *field;
	uint64_t at;
	uint32_t len;
};

enum { VALUES = 6 };

static void change_bytes(const struct change *c, uint8_t *disk, unsigned how, struct rng *rng)
{
	uint8_t *p = disk + c->at;
	bool big = c->instance->structure->big_endian;
	unsigned low = big ? c->len - 1 : 0;

	switch (how) {
	case 0:
		memset(p, 0, c->len);
		break;
	case 1:
		memset(p, 0xff, c->len);
		break;
	case 2:
		p[low]++;
		break;
	case 3:
		p[low]--;
		break;
	case 4:
		p[rng_below(rng, c->len)] ^= 1 << rng_below(rng, 8);
		break;
	default:
		for (uint32_t i = 0; i < c->len; i++)
			p[i] = rng_u64(rng);
	}
}

static void restore(struct disk *d)
{
	memcpy(d->bytes, d->base, d->size);
}

static bool is_journal(const struct change *c)
{
	return !strncmp(c->instance->structure->name, "journal", 7) ||
	       !strcmp(c->instance->structure->name, "commit_header");
}

/* Changes, seals and asks e2fsck; the line with which it complains about a checksum, or NULL. Only
 * a run that repairs replays the journal. */
static const char *complaint(struct disk *d, const struct change *c, unsigned how, struct rng *rng,
			     struct buf *out)
{
	char *at, *end;

	change_bytes(c, d->bytes, how, rng);
	ondisk_seal(&d->map, d->bytes, c->at, c->len);
	run(out, "exec timeout -s KILL 5 e2fsck %s %s", is_journal(c) ? "-fy" : "-fn", d->path);
	restore(d);
	at = strcasestr(buf_str(out), "checksum");
	if (!at)
		return NULL;
	end = strchrnul(at, '\n');
	*end = '\0';
	while (at > out->data && at[-1] != '\n')
		at--;
	return at;
}

/* Changes after which e2fsck may complain about a checksum, though all of them are right where the
 * disk had them. */
static bool is_excused(const struct change *c)
{
	static const struct {
		const char *structure, *field; /* the beginning of the name */
	} rows[] = {
		/* Structures are sought elsewhere, or in another size. */
		{ "super_block", "s_rev_level" },
		{ "super_block", "s_desc_size" },
		{ "super_block", "s_inodes_per_group" },
		{ "group_desc", "bg_inode_table" },
		{ "group_desc", "bg_block_bitmap" },
		{ "group_desc", "bg_inode_bitmap" },
		/* There are to be checksums of another kind, or where there is no room for them. */
		{ "super_block", "s_feature_" },
		{ "super_block", "s_checksum_type" },
		/* The block is no longer seen to have a checksum. */
		{ "dir_entry_tail", "det_" },
		{ "dx_root_info", "reserved_zero" },
		{ "dx_root_info", "info_length" },
		{ "dx_countlimit", "limit" },
		{ "dx_countlimit", "count" },
		/* e2fsck 1.47.0 sums up the bitmap it has in memory: of an empty one, whatever was
		 * in the buffer; with the metadata of groups without bitmaps marked; and not as on
		 * the disk, if it has not read them. */
		{ "block_bitmap", "bits" },
		{ "block_bitmap_edge", "bits" },
		{ "inode_bitmap", "bits" },
		{ "inode_bitmap_edge", "bits" },
		{ "super_block", "s_reserved_gdt_blocks" },
	};

	if (c->field->role == ONDISK_CHECKSUM)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].structure, c->instance->structure->name) &&
		    !strncmp(rows[i].field, c->field->name, strlen(rows[i].field)))
			return true;
	return false;
}

struct tally {
	size_t tried, checksums, excused, wrong;
};

static void try_change(struct disk *d, const struct change *c, struct rng *rng, struct tally *t)
{
	unsigned how = rng_below(rng, VALUES);
	struct buf out = BUF_INIT;
	const char *line = complaint(d, c, how, rng, &out);

	t->tried++;
	if (line && c->field->role == ONDISK_CHECKSUM) {
		t->checksums++;
	} else if (line) {
		t->excused += is_excused(c);
		t->wrong += !is_excused(c);
		print_message("%s%s: %s.%s of %s, change %u: %s\n", is_excused(c) ? "" : "WRONG ",
			      d->variant->name, c->instance->structure->name, c->field->name,
			      c->instance->label, how, line);
	}
	buf_free(&out);
}

/* One of the instances of this structure that have the field; false: there is none. */
static bool pick(const struct disk *d, const struct ondisk_structure *s,
		 const struct ondisk_field *f, struct rng *rng, struct change *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *in = &d->map.instances[i];

		if (in->structure == s && ondisk_field_size(in, f) && rng_chance(rng, 1, ++n))
			*ret = (struct change){ in, f, in->at + f->offset,
						ondisk_field_size(in, f) };
	}
	return n > 0;
}

static unsigned number_of(const char *name, unsigned otherwise)
{
	return getenv(name) ? strtoul(getenv(name), NULL, 10) : otherwise;
}

/* A few fields of each disk, if not asked for all. e2fsck waits a while if another host seems to
 * have mounted the disk. */
static void no_change_leaves_a_wrong_checksum(void **state)
{
	unsigned times = number_of("ASSAY_ONDISK_TIMES", 0);
	const struct ondisk_format *ext = ondisk_format("ext");
	struct tally t = { 0 };
	struct rng rng;
	struct change c = { 0 };

	rng_seed(&rng, number_of("ASSAY_ONDISK_SEED", 1));
	for_each_disk(d)
	{
		for (size_t i = 0; i < ext->structure_count; i++) {
			const struct ondisk_structure *s = ext->structures[i];
			unsigned share = strcmp(s->name, "super_block") ? 4 : 24;

			for (size_t j = 0; j < s->field_count; j++)
				for (unsigned n = 0; n < (times ? times : 1); n++)
					if (strcmp(s->fields[j].name, "mmp_seq") != 0 &&
					    (times || rng_chance(&rng, 1, share)) &&
					    pick(d, s, &s->fields[j], &rng, &c))
						try_change(d, &c, &rng, &t);
		}
	}
	print_message("%zu changes; e2fsck saw %zu changed checksums and excused %zu others\n",
		      t.tried, t.checksums, t.excused);
	assert_true(t.checksums > 0);
	assert_int_equal(t.wrong, 0);
}

/* A changed checksum is not made right again. */
static void a_checksum_can_be_wrong(void **state)
{
	for_each_disk(d)
	{
		for (size_t i = 0; i < d->map.count; i++) {
			const struct ondisk_instance *in = &d->map.instances[i];

			for (size_t j = 0; j < in->structure->field_count; j++) {
				const struct ondisk_field *f = &in->structure->fields[j];
				uint64_t at = in->at + f->offset;

				if (f->role != ONDISK_CHECKSUM || !ondisk_field_size(in, f))
					continue;
				d->bytes[at] ^= 1;
				ondisk_seal(&d->map, d->bytes, at, f->size);
				assert_int_equal(d->bytes[at], d->base[at] ^ 1);
				memcpy(d->bytes + in->at, d->base + in->at, in->size);
				ondisk_seal(&d->map, d->bytes, in->at, in->size);
			}
		}
		assert_memory_equal(d->bytes, d->base, d->size);
	}
}

/* Other disks */

static void a_damaged_disk_is_read_or_refused(void **state)
{
	struct rng rng;

	rng_seed(&rng, 1);
	for_each_disk(d)
	{
		uint8_t *copy = must_alloc(d->size);

		for (int n = 0; n < 200; n++) {
			const struct ondisk_instance *in =
				&d->map.instances[rng_below(&rng, d->map.count)];
			struct err err = { 0 };
			struct ondisk_map m;
			int status;

			memcpy(copy, d->base, d->size);
			for (uint32_t i = 0; i < in->size && i < 4; i++)
				copy[in->at + rng_below(&rng, in->size)] = rng_u64(&rng);
			ondisk_seal(&d->map, copy, in->at, in->size);
			status = ondisk_read(&m, copy, d->size, &err);
			assert_true(!status == !err.text[0]);
			if (!status)
				ondisk_free(&m);
		}
		free(copy);
	}
}

static void a_disk_that_ends_early_is_refused(void **state)
{
	for_each_disk(d)
	{
		uint64_t size = d->size / 2;
		uint8_t *half = must_alloc(size);
		struct err err = { 0 };
		struct ondisk_map m;

		memcpy(half, d->base, size);
		assert_int_equal(ondisk_read(&m, half, size, &err), -EUCLEAN);
		err = (struct err){ 0 };
		assert_int_equal(ondisk_read(&m, half, 1500, &err), -ENOTSUP);
		free(half);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_walk_finds_what_e2fsck_counts),
		cmocka_unit_test(the_walk_finds_what_debugfs_lists),
		cmocka_unit_test(there_is_one_of_each),
		cmocka_unit_test(every_instance_is_on_the_disk),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(an_unchanged_disk_is_right),
		cmocka_unit_test(a_checksum_can_be_wrong),
		cmocka_unit_test(no_change_leaves_a_wrong_checksum),
		cmocka_unit_test(a_damaged_disk_is_read_or_refused),
		cmocka_unit_test(a_disk_that_ends_early_is_refused),
	};

	return cmocka_run_group_tests(tests, make_disks, remove_disks);
}
