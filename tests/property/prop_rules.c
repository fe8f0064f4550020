/* prop_rules.c -- every rule is seen: without it, or with another errno, the model says something
 * else to one of the calls of the golden tests spec-rules and spec-data. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "history/envelope.h"
#include "model/model.h"
#include "tests/harness/unit.h"

enum { SCRIPTS_MAX = 80, OTHER_ERROR = ENOTBLK };

/* Ways to go through the scripts. */
enum variant {
	USUAL,
	POOR,      /* on a file system that can do little */
	TIGHT,     /* on one where everything may end */
	RICH,      /* on one that can do what is rare */
	READ_ONLY, /* a second time, now mounted read-only */
	VARIANT_COUNT,
};

static struct script scripts[SCRIPTS_MAX];
static size_t script_count;

static int read_scripts(void **state)
{
	struct err err = { 0 };
	glob_t found;

	if (glob("tests/golden/spec-rules/*.trace", 0, NULL, &found) ||
	    glob("tests/golden/spec-data/*.trace", GLOB_APPEND, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		must(script_count < SCRIPTS_MAX);
		must(!script_read(&scripts[script_count++], found.gl_pathv[i], &err));
	}
	globfree(&found);
	return 0;
}

static int free_scripts(void **state)
{
	while (script_count)
		script_free(&scripts[--script_count]);
	return 0;
}

static void make_poor(struct traits *traits)
{
	traits->no_hardlink = traits->no_symlink = traits->no_mknod = traits->no_tmpfile = true;
	traits->no_exchange = traits->no_whiteout = traits->no_direct_io = true;
	traits->no_modes = traits->no_copy = traits->map_tail_kept = true;
	traits->hides_open_files = traits->no_utimens = true;
	traits->lack_errno = EIO;
	traits->link_max = 3;
	traits->fds_max = 5;
	traits->symlink_max = 10;
	traits->no_inode_flags = traits->no_fallocate = traits->no_xattr = true;
}

static void make_tight(struct traits *traits)
{
	traits->space_may_end = traits->space_ends_early = true;
	traits->own_xattrs = traits->hardlink_files_only = traits->links_apart = true;
	traits->file_size_max = 1 << 20;
	traits->xattr_value_max = 1;
	traits->noappend_ignored = traits->direct_io_fails = traits->access_unchecked = true;
	traits->forgets_removed_dirs = true;
	traits->own_xattrs = true;
	traits->fallocate_drops_early = traits->one_user = traits->no_map_shared = true;
}

static void make_rich(struct traits *traits)
{
	traits->no_reflink = traits->no_unshare_range = traits->no_write_zeroes = false;
	traits->file_size_max = 1 << 20;
	traits->xattr_space = 100;
	traits->atime = traits->lists_trusted = traits->seek_negative = true;
	traits->no_whiteout_node = traits->empty_punch_keeps_bits = true;
	traits->no_acl = traits->no_handles = false;
	traits->dev_major_max = 511;
}

static void walk(const struct model *m, struct state *s, const struct script *script,
		 struct buf *out)
{
	struct envelope env;

	for (size_t i = 0; i < script->count; i++) {
		if (script->items[i].type != ITEM_CALL)
			continue;
		model_move(m, s, &script->items[i].call, &env);
		envelope_print(&env, script->items[i].call.op, DIALECT_NATIVE, out);
		buf_addf(out, " from %lld, %zu bytes, end %d, undefined %d, first %d\n",
			 (long long)env.least_num, env.shortest_len, env.end_allowed,
			 env.undefined, env.first);
	}
}

/* No call makes an object that is listed and cannot be looked at: it is there from the start. */
static void ask_of_unreadable(const struct model *m, const struct state_options *options,
			      struct buf *out)
{
	struct call call = { .op = OP_lstat, .pid = 1 };
	struct envelope env;
	struct state s;

	state_init(&s, options);
	tree_link(&s.tree, TREE_ROOT, "x", 1, tree_new(&s.tree, 0, 0, 0, 0));
	call.lstat.path.text = "x";
	call.lstat.path.len = 1;
	model_move(m, &s, &call, &env);
	envelope_print(&env, call.op, DIALECT_NATIVE, out);
	state_free(&s);
}

/* All that the model says, and all that is so afterwards. */
static struct hash digest(struct model *m, enum variant variant)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT | TREE_SYMLINK_MODE,
		.hashed = true,
		.root_mode = 0777,
	};
	struct buf out = BUF_INIT;
	struct hash sum = { 0, 0 };
	struct state s;

	for (size_t i = 0; i < script_count; i++) {
		state_init(&s, &options);
		walk(m, &s, &scripts[i], &out);
		s.read_only = variant == READ_ONLY;
		if (s.read_only)
			walk(m, &s, &scripts[i], &out);
		sum = hash_add(sum, tree_hash(&s.tree));
		state_free(&s);
	}
	ask_of_unreadable(m, &options, &out);
	sum = hash_add(sum, hash128(buf_str(&out), out.len, 1));
	buf_free(&out);
	return sum;
}

static void set_traits(struct traits *traits, enum variant variant)
{
	if (variant == POOR)
		make_poor(traits);
	else if (variant == TIGHT)
		make_tight(traits);
	else if (variant == RICH)
		make_rich(traits);
}

/* Where to look: Linux as it is first, then as it was, then the others; POSIX as it is read now,
 * and as it was. */
static const struct world {
	enum platform platform;
	struct version kernel;
} worlds[] = {
	{ PLATFORM_LINUX, KERNEL_CURRENT },   { PLATFORM_LINUX, KERNEL_PUBLISHED },
	{ PLATFORM_LINUX, VERSION(5, 7) },    { PLATFORM_LINUX, VERSION(6, 1) },
	{ PLATFORM_POSIX, KERNEL_CURRENT },   { PLATFORM_POSIX, KERNEL_PUBLISHED },
	{ PLATFORM_MACOS, KERNEL_CURRENT },   { PLATFORM_FREEBSD, KERNEL_CURRENT },
};

/* What the model says without a mutant, once it was asked. */
static struct {
	struct hash hash;
	bool known;
} right[ARRAY_LEN(worlds)][VARIANT_COUNT];

static bool is_seen_in(size_t world, enum variant variant, enum rule rule, int error)
{
	struct model m;

	model_init(&m, worlds[world].platform, worlds[world].kernel);
	set_traits(&m.traits, variant);
	if (!rule_applies(&m, rule))
		return false;
	if (!right[world][variant].known) {
		right[world][variant].hash = digest(&m, variant);
		right[world][variant].known = true;
	}
	m.mutant = (struct mutant){ .rule = (int)rule, .error = error };
	return !hash_equal(digest(&m, variant), right[world][variant].hash);
}

static bool is_seen(enum rule rule, int error)
{
	for (size_t world = 0; world < ARRAY_LEN(worlds); world++)
		for (int variant = 0; variant < VARIANT_COUNT; variant++)
			if (is_seen_in(world, (enum variant)variant, rule, error))
				return true;
	return false;
}

static void check_all(int error)
{
	unsigned missed = 0, mutants = 0;

	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		if (error && !rule_table[rule].error)
			continue;
		mutants++;
		if (is_seen((enum rule)rule, error))
			continue;
		print_message("# nobody sees that %s is %s\n", rule_table[rule].name,
			      error ? "wrong" : "missing");
		missed++;
	}
	print_message("# %u of %u mutants are seen\n", mutants - missed, mutants);
	assert_int_equal(missed, 0);
}

static void missing_rules_are_seen(void **state)
{
	check_all(0);
}

static void wrong_rules_are_seen(void **state)
{
	check_all(OTHER_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_rules_are_seen),
		cmocka_unit_test(wrong_rules_are_seen),
	};

	return cmocka_run_group_tests(tests, read_scripts, free_scripts);
}
