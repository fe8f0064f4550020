/* test_learn.c -- learning: each missing feature is learned as exactly that, and no bug is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "broken/faults.h"
#include "broken/reffs_times.h"
#include "target/description.h"
#include "target/learn.h"
#include "target/target.h"
#include "tests/harness/unit.h"

static char config[] = "/tmp/assay-learn-XXXXXX";

static int make_config(void **state)
{
	int fd = mkstemp(config);

	return fd < 0 || close(fd);
}

static int remove_config(void **state)
{
	return unlink(config);
}

static void write_config(const char *text)
{
	struct buf contents = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&contents, text);
	assert_int_equal(buf_write_file(&contents, config, &err), 0);
	buf_free(&contents);
}

static struct target *open_with(const char *spec, bool learn)
{
	const struct target_options options = { .config = config };
	struct err err = { 0 };
	struct target *t;

	if (learn ? learn_open(&t, spec, &options, &err) : target_open(&t, spec, &options, &err))
		fail_msg("%s: %s", spec, err.text);
	return t;
}

static void probe(struct target *t, struct learned_list *ret)
{
	struct err err = { 0 };

	if (learn_probe(t, ret, &err))
		fail_msg("%s: %s", t->name, err.text);
}

/* Fails unless the list is this trait with this value alone; of NULL, unless it is empty. */
static void assert_learned(const struct learned_list *l, const char *who, const char *trait,
			   const char *value)
{
	for (size_t i = 0; i < l->count; i++)
		if (!trait || !l->items[i].trait || strcmp(l->items[i].trait, trait))
			fail_msg("%s: learned %s = %s", who, l->items[i].what, l->items[i].value);
	if (!trait)
		return;
	assert_int_equal(l->count, 1);
	assert_string_equal(l->items[0].value, value);
	assert_false(l->items[0].contradicted);
	assert_non_null(l->items[0].reason);
	assert_non_null(l->items[0].hides);
}

static void nothing_is_missing_in_reffs(void **state)
{
	struct target *t = open_with("reffs", true);
	struct learned_list l;

	assert_null(t->learned); /* it is described */
	probe(t, &l);
	assert_learned(&l, "reffs", NULL, NULL);
	assert_false(l.cut_short);
	target_close(t);
}

/* What RefFS lacks by a trait: it behaves so, but is opened as if no description had said it. */
static const struct {
	const char *trait, *value;
} lacks[] = {
	{ "no_xattr", "yes" },          { "no_user_xattr", "yes" },
	{ "no_fallocate", "yes" },      { "no_preallocate", "yes" },
	{ "no_punch_hole", "yes" },     { "no_zero_range", "yes" },
	{ "no_collapse_range", "yes" }, { "no_insert_range", "yes" },
	{ "no_noreplace", "yes" },      { "no_exchange", "yes" },
	{ "no_whiteout", "yes" },       { "no_hardlink", "yes" },
	{ "no_symlink", "yes" },        { "hardlink_files_only", "yes" },
	{ "no_utimens", "yes" },        { "no_dots", "yes" },
	{ "no_mknod", "yes" },          { "no_whiteout_node", "yes" },
	{ "no_tmpfile", "yes" },        { "no_direct_io", "yes" },
	{ "no_map_shared", "yes" },     { "no_copy", "yes" },
	{ "no_inode_flags", "yes" },    { "no_reflink", "no" },
	{ "no_unshare_range", "no" },   { "no_write_zeroes", "no" },
	{ "access_unchecked", "yes" },  { "no_keep_size", "yes" },
	{ "name_max", "60" },           { "symlink_max", "1000" },
};

static void a_trait_is_learned_as_itself(void **state)
{
	struct learned_list l;
	struct buf text = BUF_INIT;
	struct target *t;

	for (size_t i = 0; i < ARRAY_LEN(lacks); i++) {
		buf_clear(&text);
		buf_addf(&text, "[target.x]\nbase = reffs\ntrait.%s = %s\n", lacks[i].trait,
			 lacks[i].value);
		write_config(text.data);
		t = open_with("x", false);
		t->traits = traits_usual;
		probe(t, &l);
		assert_learned(&l, lacks[i].trait, lacks[i].trait, lacks[i].value);
		target_close(t);
	}
	buf_free(&text);
}

/* Two features at once do not hide each other. */
static void several_are_learned(void **state)
{
	struct learned_list l;
	struct target *t;

	write_config("[target.x]\nbase = reffs\ntrait.no_xattr = yes\ntrait.no_symlink = yes\n"
		     "trait.name_max = 143\n");
	t = open_with("x", false);
	t->traits = traits_usual;
	probe(t, &l);
	assert_int_equal(l.count, 3);
	assert_string_equal(l.items[0].trait, "no_xattr");
	assert_string_equal(l.items[1].trait, "no_symlink");
	assert_string_equal(l.items[2].trait, "name_max");
	assert_string_equal(l.items[2].value, "143");
	target_close(t);
}

static void declared_and_there_is_a_contradiction(void **state)
{
	struct target *t = open_with("reffs", false);
	struct learned_list l;

	t->traits.no_xattr = true;
	probe(t, &l);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.items[0].trait, "no_xattr");
	assert_true(l.items[0].contradicted);
	learned_adopt(&l, &t->traits);
	assert_true(t->traits.no_xattr); /* it is said, not changed */
	target_close(t);
}

/* A refusal with an unusual error is a missing feature, too. */
static void an_odd_error_is_learned(void **state)
{
	struct learned_list l;
	struct target *t;

	write_config("[target.x]\nbase = reffs\ntrait.no_symlink = yes\ntrait.no_mknod = yes\n"
		     "trait.lack_errno = 5\ntrait.no_xattr = yes\ntrait.no_inode_flags = yes\n");
	t = open_with("x", false);
	t->traits = traits_usual;
	probe(t, &l);
	assert_int_equal(l.count, 5);
	assert_string_equal(l.items[0].trait, "lack_errno");
	assert_string_equal(l.items[0].value, "5");
	assert_string_equal(l.items[1].trait, "no_xattr");
	assert_string_equal(l.items[2].trait, "no_symlink");
	assert_string_equal(l.items[3].trait, "no_mknod");
	assert_string_equal(l.items[4].trait, "no_inode_flags");
	target_close(t);
}

static void no_bug_is_learned(void **state)
{
	struct learned_list l;
	struct buf spec = BUF_INIT;
	struct target *t;

	for (size_t i = 0; i < fault_count + time_fault_count; i++) {
		buf_clear(&spec);
		buf_addf(&spec, "reffs!%s",
			 i < fault_count ? fault_table[i].name
					 : time_fault_table[i - fault_count].name);
		t = open_with(spec.data, false);
		probe(t, &l);
		assert_learned(&l, spec.data, NULL, NULL);
		target_close(t);
	}
	buf_free(&spec);
}

/* RefFS keeps link counts, times, modes and owners whatever its traits: these are taken away. */
static struct lacking {
	const struct target_kind *reffs;
	struct target_kind kind;
	bool nlink, nlink_dir, modes, chmod, owners, chown;
	int64_t time_unit;
	uint32_t mode;
} lacking;

static bool lacking_refuses(const struct call *c, struct outcome *ret)
{
	bool chmods = op_table[c->op].base == OP_chmod, chowns = op_table[c->op].base == OP_chown;

	if (!((lacking.modes || lacking.chmod) && chmods) &&
	    !((lacking.owners || lacking.chown) && chowns))
		return false;
	*ret = (struct outcome){ .result = RESULT_NONE };
	if ((lacking.chmod && chmods) || (lacking.chown && chowns))
		ret->error = EPERM;
	return true;
}

static int lacking_call(struct target *t, const struct call *c, struct outcome *ret,
			enum target_fate *ret_fate, struct err *err)
{
	*ret_fate = FATE_FINE;
	if (lacking_refuses(c, ret))
		return 0;
	assert_int_equal(lacking.reffs->call(t, c, ret, ret_fate, err), 0);
	if (ret->error || ret->result != RESULT_STAT)
		return 0;
	if (S_ISDIR(ret->stat.mode) ? lacking.nlink_dir : lacking.nlink)
		ret->stat.nlink = 1;
	if (lacking.time_unit)
		ret->stat.mtime -= ret->stat.mtime % lacking.time_unit;
	if (lacking.mode)
		ret->stat.mode = (ret->stat.mode & S_IFMT) | lacking.mode;
	return 0;
}

static void assert_taken_away(const char *trait, const char *value, unsigned fields)
{
	struct target *t = open_with("reffs", false);
	struct learned_list l;

	lacking.reffs = t->kind;
	lacking.kind = *t->kind;
	lacking.kind.call = lacking_call;
	t->kind = &lacking.kind;
	probe(t, &l);
	if (trait) {
		assert_learned(&l, trait, trait, value);
	} else {
		assert_int_equal(l.count, 1);
		assert_null(l.items[0].trait);
	}
	assert_int_equal(l.fields_off, fields);
	target_close(t);
}

static void what_is_not_kept_is_learned(void **state)
{
	lacking = (struct lacking){ .nlink_dir = true };
	assert_taken_away("no_dir_nlink", "yes", TREE_NLINK_DIR);
	lacking = (struct lacking){ .nlink = true };
	assert_taken_away(NULL, NULL, TREE_NLINK);
	lacking = (struct lacking){ .modes = true, .mode = 0755 };
	assert_taken_away("no_modes", "yes", TREE_MODE);
	lacking = (struct lacking){ .chmod = true };
	assert_taken_away("no_modes", "yes", TREE_MODE);
	lacking = (struct lacking){ .owners = true };
	assert_taken_away("no_owners", "yes", TREE_OWNER);
	lacking = (struct lacking){ .chown = true };
	assert_taken_away("no_owners", "yes", TREE_OWNER);
	lacking = (struct lacking){ .time_unit = 1000 };
	assert_taken_away("time_unit", "1000", 0);
	lacking = (struct lacking){ .time_unit = 2000000000 };
	assert_taken_away("time_unit", "2000000000", 0);
}

/* chmod that succeeds and does nothing, where modes are kept, is a bug. */
static void an_ignored_chmod_is_no_missing_feature(void **state)
{
	struct target *t = open_with("reffs", false);
	struct learned_list l;

	lacking = (struct lacking){ .modes = true };
	lacking.reffs = t->kind;
	lacking.kind = *t->kind;
	lacking.kind.call = lacking_call;
	t->kind = &lacking.kind;
	probe(t, &l);
	assert_learned(&l, "ignored chmod", NULL, NULL);
	target_close(t);
}

static void what_is_pasted_is_read(void **state)
{
	struct target_description d = { .name = "fuse",
					.kind = "fuse",
					.argument = "/bin/x-fs -f" };
	struct learned_list l = { .count = 2, .fields_off = TREE_NLINK_DIR };
	struct target_description read;
	struct buf text = BUF_INIT;
	struct err err = { 0 };

	l.items[0] =
		(struct learned){ "counts", "no_dir_nlink", "yes", "nlink_dir", "seen", "", false };
	l.items[1] = (struct learned){ "names", NULL, "", NULL, "a note", "", false };
	learned_describe(&l, &d, &text);
	write_config(text.data);
	if (description_find(&read, "my-x-fs", config, &err))
		fail_msg("%s\n%s", err.text, text.data);
	assert_string_equal(read.command, "/bin/x-fs -f");
	assert_int_equal(read.fields_off, TREE_NLINK_DIR);
	assert_int_equal(read.trait_count, 1);
	assert_string_equal(read.traits[0].reason, "seen");
	description_free(&read);
	buf_free(&text);
}

/* A directory has no description; what was learned once can be given to the next. */
static void directories_are_probed(void **state)
{
	struct learned_list given = { .count = 1, .fields_off = TREE_NLINK };
	struct target_options options = { .learned = &given };
	char place[] = "/tmp/assay-learn-XXXXXX";
	struct buf spec = BUF_INIT;
	struct err err = { 0 };
	struct target *t;

	write_config("");
	given.items[0] = (struct learned){ "", "no_tmpfile", "yes", "nlink", "", "", false };
	assert_non_null(mkdtemp(place));
	buf_addf(&spec, "dir:%s", place);
	assert_true(target_learns(spec.data, config));
	assert_false(target_learns("reffs", config));
	t = open_with(spec.data, true);
	assert_non_null(t->learned);
	target_close(t);
	if (target_open(&t, spec.data, &options, &err))
		fail_msg("%s", err.text);
	assert_true(t->traits.no_tmpfile);
	assert_false(t->fields & TREE_NLINK);
	assert_int_equal(t->learned->count, 1);
	target_close(t);
	rmdir(place);
	buf_free(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_missing_in_reffs),
		cmocka_unit_test(a_trait_is_learned_as_itself),
		cmocka_unit_test(several_are_learned),
		cmocka_unit_test(declared_and_there_is_a_contradiction),
		cmocka_unit_test(an_odd_error_is_learned),
		cmocka_unit_test(no_bug_is_learned),
		cmocka_unit_test(what_is_not_kept_is_learned),
		cmocka_unit_test(an_ignored_chmod_is_no_missing_feature),
		cmocka_unit_test(what_is_pasted_is_read),
		cmocka_unit_test(directories_are_probed),
	};

	return cmocka_run_group_tests(tests, make_config, remove_config);
}
