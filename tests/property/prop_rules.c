/* prop_rules.c -- every rule about paths, names and open is seen: without it, or with another
 * errno, the model says something else to one of the calls of the golden test spec-rules.
 *
 * Not the rules of data and attributes: their tests are elsewhere. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "tests/harness/unit.h"

enum { SCRIPTS_MAX = 40, OTHER_ERROR = ENOTBLK };

static const enum rule rules[] = {
#define RULE(name, error, where, kernels, text) RULE_##name,
#define SWITCH(name, where, kernels, text) RULE_##name,
#include "model/rules/resolve.def"

#include "model/rules/names.def"

#include "model/rules/open.def"
#undef RULE
#undef SWITCH
};

static const unsigned kernels[] = { KERNEL_PUBLISHED, 507, KERNEL_CURRENT };

/* Ways to go through the scripts. */
enum variant {
	USUAL,
	POOR,      /* on a file system that can do little */
	READ_ONLY, /* a second time, now mounted read-only */
	VARIANT_COUNT,
};

static struct script scripts[SCRIPTS_MAX];
static size_t script_count;

static int read_scripts(void **state)
{
	struct err err = { 0 };
	glob_t found;

	if (glob("tests/golden/spec-rules/*.trace", 0, NULL, &found))
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
	traits->link_max = 3;
	traits->fds_max = 5;
	traits->symlink_max = 10;
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
		buf_addch(out, '\n');
	}
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
	sum = hash_add(sum, hash128(buf_str(&out), out.len, 1));
	buf_free(&out);
	return sum;
}

static bool is_seen_by(struct model *m, enum variant variant, enum rule rule, int error)
{
	struct hash right;

	if (variant == POOR)
		make_poor(&m->traits);
	if (!rule_applies(m, rule))
		return false;
	right = digest(m, variant);
	m->mutant = (struct mutant){ .rule = (int)rule, .error = error };
	return !hash_equal(digest(m, variant), right);
}

static bool is_seen(enum rule rule, int error)
{
	struct model m;

	for (int platform = 0; platform < PLATFORM_COUNT; platform++)
		for (size_t k = 0; k < ARRAY_LEN(kernels); k++)
			for (int variant = 0; variant < VARIANT_COUNT; variant++) {
				model_init(&m, (enum platform)platform, kernels[k]);
				if (is_seen_by(&m, (enum variant)variant, rule, error))
					return true;
			}
	return false;
}

static void check_all(int error)
{
	unsigned missed = 0;

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (error && !rule_table[rules[i]].error)
			continue;
		if (is_seen(rules[i], error))
			continue;
		print_message("# nobody sees that %s is %s\n", rule_table[rules[i]].name,
			      error ? "wrong" : "missing");
		missed++;
	}
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
