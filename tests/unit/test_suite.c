/* test_suite.c -- the generated scripts: nothing is left out, and they are what they are called.
 *
 * What a script's name says about its paths is looked up in the tree that its set-up makes, with
 * a walk of this test's own. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "conform/turns.h"
#include "model/model.h"
#include "suite/suite.h"
#include "tests/harness/unit.h"

enum { SCRIPTS_LEAST = 25000 };

static struct suite suite;

static int build(void **state)
{
	struct err err = { 0 };

	return suite_open(&suite, NULL, &err) || suite_add_family(&suite, NULL, &err) ? -1 : 0;
}

static int release(void **state)
{
	suite_free(&suite);
	return 0;
}

static void every_choice_has_a_script(void **state)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < suite.families.count; i++)
		if (!family_describe(suite.families.items[i], &out))
			fail_msg("%s", out.data);
	assert_true(suite.count >= SCRIPTS_LEAST);
	buf_free(&out);
}

/* All operations but those that pass time or make something fail. */
static void every_operation_is_called(void **state)
{
	bool called[OP_COUNT] = { false };

	for (size_t i = 0; i < suite.count; i++)
		for (unsigned k = 0; k < suite.scripts[i].count; k++)
			called[suite.scripts[i].calls[k].op] = true;
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (!called[op] && op != OP_advance_time && op < OP_fail_alloc)
			fail_msg("no script calls %s", op_table[op].name);
}

static void scripts_are_the_same_each_time(void **state)
{
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = { 0 };
	struct suite again;

	assert_int_equal(suite_open(&again, NULL, &err), 0);
	assert_int_equal(suite_add_family(&again, NULL, &err), 0);
	assert_int_equal(again.count, suite.count);
	for (size_t i = 0; i < suite.count; i += 101) {
		buf_clear(&one);
		buf_clear(&two);
		suite_print(&suite, &suite.scripts[i], &one);
		suite_print(&again, &again.scripts[i], &two);
		assert_string_equal(one.data, two.data);
	}
	buf_free(&one);
	buf_free(&two);
	suite_free(&again);
}

static void names_are_unique(void **state)
{
	struct str_map names = STR_MAP_INIT;
	struct buf name = BUF_INIT;
	bool is_new;

	for (size_t i = 0; i < suite.count; i++) {
		buf_clear(&name);
		suite_name(&suite.scripts[i], &name);
		str_map_put(&names, name.data, &is_new);
		if (!is_new)
			fail_msg("two scripts are called %s", name.data);
	}
	buf_free(&name);
	str_map_free(&names);
}

/* The tree that the common set-up makes. */
static void make_common(struct state *s, const struct setup *setup)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0755 };
	struct outcome outcome;
	struct model m;

	model_init(&m, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(s, &options);
	for (unsigned i = 0; i < setup->count; i++) {
		model_run(&m, s, &setup->calls[i], &outcome);
		assert_int_equal(outcome.error, 0);
	}
}

static const struct inode *child(const struct tree *t, const struct inode *dir, const char *name,
				 size_t len)
{
	const struct entry *entry;

	if (!dir || !S_ISDIR(dir->mode))
		return NULL;
	entry = tree_find(t, dir->ino, name, len);
	return entry ? tree_inode(t, entry->ino) : NULL;
}

static const char *kind_of(const struct tree *t, const struct inode *inode)
{
	const struct inode *to;
	uint64_t cookie = 0;

	switch (inode->mode & S_IFMT) {
	case S_IFDIR:
		return tree_next_entry(t, inode->ino, &cookie) ? "full-dir" : "empty-dir";
	case S_IFREG:
		return "file";
	case S_IFIFO:
		return "fifo";
	default:
		break;
	}
	to = child(t, tree_inode(t, TREE_ROOT), inode->target->bytes, inode->target->len);
	if (!to)
		return "link-none";
	return to == inode ? "link-loop" : S_ISDIR(to->mode) ? "link-dir" : "link-file";
}

/* The class of a path of at most two names that is spelled plainly. */
static void classify(const struct tree *t, const char *path, struct buf *out)
{
	const struct inode *root = tree_inode(t, TREE_ROOT), *first, *second;
	size_t len = strcspn(path, "/");

	buf_clear(out);
	first = child(t, root, path, len);
	if (!path[len]) {
		buf_adds(out, first ? kind_of(t, first) : "missing");
		return;
	}
	path += len + 1;
	second = child(t, first, path, strlen(path));
	if (first && S_ISDIR(first->mode))
		buf_addf(out, "inner-%s",
			 !second                 ? "missing"
			 : S_ISDIR(second->mode) ? "dir"
						 : kind_of(t, second));
	else if (first && S_ISLNK(first->mode) && !strcmp(kind_of(t, first), "link-dir"))
		buf_adds(out, "through-link");
	else
		buf_addf(out, "below-%s", first ? kind_of(t, first) : "missing");
}

/* Takes from the end what the property's value says should be there. */
static void cut_tail(char *path, const char *tail)
{
	size_t len = strlen(path), tail_len = strlen(tail);

	assert_true(len >= tail_len && !strcmp(path + len - tail_len, tail));
	path[len - tail_len] = '\0';
}

static const struct value *value_of(const struct suite_script *script, const char *property)
{
	const struct family *f = script->family;

	for (unsigned i = 0; i < f->property_count; i++)
		if (!strcmp(f->properties[i]->name, property))
			return &f->properties[i]->values[script->combination.value[i]];
	return NULL;
}

static const char *first_path(const struct call *c, unsigned nth)
{
	const struct op_info *info = &op_table[c->op];

	for (unsigned i = 0; i < info->args; i++)
		if (info->arg[i].kind == KIND_PATH && !nth--)
			return c->arg[i].text;
	return NULL;
}

static void check_path(const struct tree *t, const char *path, const char *lead, const char *tail,
		       const char *object)
{
	struct buf plain = BUF_INIT, found = BUF_INIT;

	buf_adds(&plain, path);
	cut_tail(plain.data, tail);
	assert_memory_equal(plain.data, lead, strlen(lead));
	classify(t, plain.data + strlen(lead), &found);
	/* A second name of a file is one. */
	if (strcmp(found.data, object) && strcmp(object, "hard-link") &&
	    strcmp(object, "deeper-missing"))
		fail_msg("%s is %s, not %s", path, found.data, object);
	buf_free(&plain);
	buf_free(&found);
}

static void paths_are_of_their_classes(void **state)
{
	size_t one = 0, two = 0;
	struct state s;

	make_common(&s, &suite.setups[suite.scripts[0].setup]);
	for (size_t i = 0; i < suite.count; i++) {
		const struct suite_script *script = &suite.scripts[i];
		const struct call *c = &script->calls[0];

		if (!strcmp(script->family->name, "one-path")) {
			check_path(&s.tree, first_path(c, 0), value_of(script, "lead")->text,
				   value_of(script, "tail")->text,
				   value_of(script, "object")->name);
			one++;
		} else if (!strcmp(script->family->name, "two-paths")) {
			check_path(&s.tree, first_path(c, 0), "",
				   value_of(script, "from-tail")->text,
				   value_of(script, "from-object")->name);
			check_path(&s.tree, first_path(c, 1), "", value_of(script, "to-tail")->text,
				   value_of(script, "to-object")->name);
			two++;
		}
	}
	assert_true(one > 10000 && two > 5000);
	state_free(&s);
}

/* One race of each family before the second of any, and no race is left out. */
static void families_take_turns(void **state)
{
	struct err err = { 0 };
	size_t *order, families = 0;
	struct suite races;
	bool *taken;

	assert_int_equal(suite_open(&races, NULL, &err), 0);
	assert_int_equal(suite_add_races(&races, true, &err), 0);
	suite_sort(&races);
	for (size_t i = 0; i < races.families.count; i++)
		families += races.families.items[i]->races && !races.families.items[i]->needs_name;
	order = turns_order(&races);
	taken = calloc(races.count, sizeof(*taken));
	assert_non_null(taken);
	for (size_t i = 0; i < races.count; i++) {
		assert_true(order[i] < races.count && !taken[order[i]]);
		taken[order[i]] = true;
		for (size_t j = 0; j < i && i < families; j++)
			assert_ptr_not_equal(races.scripts[order[i]].family,
					     races.scripts[order[j]].family);
	}
	free(taken);
	free(order);
	suite_free(&races);
}

static void scripts_from_files(void **state)
{
	static const char published[] = "@type script\nmkdir \"d\" 0o755\nPid 2 -> create\n";
	struct err err = { 0 };
	struct suite s;

	assert_int_equal(suite_open(&s, NULL, &err), 0);
	assert_int_equal(suite_add_file(&s, "a/b", published, strlen(published), &err), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.scripts[0].count, 2);
	assert_true(s.scripts[0].makes_tasks);
	assert_int_equal(s.scripts[0].needs, TARGET_PROCESSES);
	assert_int_equal(suite_find(&s, "a/b"), 0);
	assert_int_equal(suite_find(&s, "a/c"), -1);
	assert_int_not_equal(suite_add_family(&s, "none", &err), 0);
	suite_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_choice_has_a_script),
		cmocka_unit_test(every_operation_is_called),
		cmocka_unit_test(scripts_are_the_same_each_time),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(paths_are_of_their_classes),
		cmocka_unit_test(families_take_turns),
		cmocka_unit_test(scripts_from_files),
	};

	return cmocka_run_group_tests(tests, build, release);
}
