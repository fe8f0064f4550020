/* test_state.c -- which states are the same: those that no call can tell apart. */
#include "base/arena.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { CALLS_MAX = 8 };

/* A call leads to a state whose hash follows from the one before. */
static void run_and_compare(const struct model *m, struct state *s, const struct call *c)
{
	struct state before = state_copy(s);
	struct outcome outcome;

	model_run(m, s, c, &outcome);
	assert_int_equal(outcome.error, 0);
	assert_true(hash_equal(state_hash_after(&before, state_hash(&before), s), state_hash(s)));
	state_free(&before);
}

/* The hash of the state that these calls lead to; all of them succeed. */
static struct hash hash_after(const char *const calls[CALLS_MAX])
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = true,
					 .root_mode = 0777 };
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct model model;
	struct state s;
	struct hash hash;
	struct call c;

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&s, &options);
	for (size_t i = 0; i < CALLS_MAX && calls[i]; i++) {
		must(!call_parse(&c, calls[i], &arena, &err));
		run_and_compare(&model, &s, &c);
	}
	hash = state_hash(&s);
	state_free(&s);
	arena_free(&arena);
	return hash;
}

#define MAKE_A "open(\"a\", O_RDWR|O_CREAT, 0644)"
#define MAKE_B "open(\"b\", O_RDWR|O_CREAT, 0644)"
#define REMOVE_A "unlink(\"a\")"
#define REMOVE_B "unlink(\"b\")"

static void removed_file_differs_by_all_that_a_descriptor_shows(void **state)
{
	static const char *const changes[] = {
		"fchmod(3, 0600)",     "fchown(3, 1000, -1)",
		"fchown(3, -1, 1000)", "fsetxattr(3, \"user.a\", data(1, 1), 1, 0)",
		"ftruncate(3, 1)",     "pwrite(3, data(1, 1), 1, 0)",
	};
	struct hash seen[ARRAY_LEN(changes) + 1];
	size_t count = 0;

	seen[count++] = hash_after((const char *[CALLS_MAX]){ MAKE_A, REMOVE_A });
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		seen[count] = hash_after((const char *[CALLS_MAX]){ MAKE_A, REMOVE_A, changes[i] });
		for (size_t j = 0; j < count; j++)
			assert_false(hash_equal(seen[j], seen[count]));
		count++;
	}
}

static void two_removed_files_are_not_one(void **state)
{
	const char *const one[CALLS_MAX] = { MAKE_A, "open(\"a\", O_RDWR|O_CREAT, 0644)",
					     REMOVE_A };
	const char *const two[CALLS_MAX] = { MAKE_A, MAKE_B, REMOVE_A, REMOVE_B };

	assert_false(hash_equal(hash_after(one), hash_after(two)));
}

static void removed_directory_leads_to_its_parent(void **state)
{
	const char *const below_a[CALLS_MAX] = {
		"mkdir(\"a\", 0755)",         "mkdir(\"b\", 0755)", "mkdir(\"a/d\", 0755)",
		"open(\"a/d\", O_RDONLY, 0)", "rmdir(\"a/d\")",
	};
	const char *const below_b[CALLS_MAX] = {
		"mkdir(\"a\", 0755)",         "mkdir(\"b\", 0755)", "mkdir(\"b/d\", 0755)",
		"open(\"b/d\", O_RDONLY, 0)", "rmdir(\"b/d\")",
	};

	assert_false(hash_equal(hash_after(below_a), hash_after(below_b)));
}

static void removed_files_are_the_same_however_they_came_about(void **state)
{
	const char *const a_first[CALLS_MAX] = {
		MAKE_A, MAKE_B, REMOVE_A, REMOVE_B, "fchmod(3, 0600)",
	};
	const char *const b_first[CALLS_MAX] = {
		MAKE_B, MAKE_A, "chmod(\"b\", 0600)", REMOVE_B, REMOVE_A,
	};

	assert_true(hash_equal(hash_after(a_first), hash_after(b_first)));
}

/* What is open, worked in or mapped takes part by where it is, by its mode, or, once it is removed,
 * by all that it is; run_and_compare() looks after every call. */
static void hash_follows_from_the_one_before(void **state)
{
	static const char *const scripts[][CALLS_MAX] = {
		{ "mkdir(\"d\", 0755)", "open(\"d/a\", O_RDWR|O_CREAT, 0644)",
		  "rename(\"d\", \"e\")", "chmod(\"e/a\", 0600)", "truncate(\"e/a\", 5000)" },
		{ "mkdir(\"d\", 0755)", "chdir(\"d\")", "rename(\"../d\", \"../e\")",
		  "mkdir(\"a\", 0755)", "chdir(\"a\")", "rmdir(\"../a\")", "rename(\"/e\", \"/f\")",
		  "chmod(\"/f\", 0700)" },
		{ MAKE_A, "ftruncate(3, 100)", "mmap(4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0)",
		  "map_write(1, \"J\", 1, 200)", "rename(\"a\", \"b\")", "ftruncate(3, 300)" },
		{ MAKE_A, "link(\"a\", \"b\")", REMOVE_A, REMOVE_B, "ftruncate(3, 1)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		hash_after(scripts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(removed_file_differs_by_all_that_a_descriptor_shows),
		cmocka_unit_test(two_removed_files_are_not_one),
		cmocka_unit_test(removed_directory_leads_to_its_parent),
		cmocka_unit_test(removed_files_are_the_same_however_they_came_about),
		cmocka_unit_test(hash_follows_from_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
