/* prop_persistence.c -- every enumerated crash tree is one that the model accepts, for generated
 * workloads at every level; and the trees that must be among them are. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "crash/ace.h"
#include "persistence/persistence.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static const struct persist_rules rules[] = {
	{ .level = PERSIST_POSIX },
	{ .level = PERSIST_POSIX, .fsync_keeps_names = true },
	{ .level = PERSIST_POSIX, .rename_is_atomic = true },
	{ .level = PERSIST_POSIX, .fsync_keeps_names = true, .rename_is_atomic = true },
	{ .level = PERSIST_ORDERED },
	{ .level = PERSIST_ORDERED, .fsync_keeps_names = true, .rename_is_atomic = true },
	{ .level = PERSIST_STRICT, .fsync_keeps_names = true },
};
enum { RULES = sizeof(rules) / sizeof(*rules) };

static void fresh(struct state *s)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	state_init(s, &options);
}

/* The history of calls, without those of the setup, whose tree is durable. */
static void make_history(struct persistence *ret, const struct persist_rules *r,
			 const struct call *calls, size_t count, size_t setup_count)
{
	struct model model;
	struct state s;

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	model.traits.no_reflink = false;
	fresh(&s);
	for (size_t i = 0; i < count; i++) {
		struct state before = state_copy(&s);
		struct outcome o;

		if (i == setup_count)
			persistence_begin(ret, r, &s.tree);
		model_run(&model, &s, &calls[i], &o);
		if (i >= setup_count)
			persistence_add(ret, &before, &calls[i], &o, &s);
		state_free(&before);
	}
	if (setup_count == count)
		persistence_begin(ret, r, &s.tree);
	state_free(&s);
}

struct seen {
	const struct persistence *p;
	const char *name;
	struct hash_map trees;
	size_t count, in_order, lossy;
	const struct tree *sought; /* NULL: none */
	bool found;
};

static void describe(const struct seen *x, const struct crash_state *c,
		     const struct broken_promise *b)
{
	struct buf text = BUF_INIT;

	tree_print(&c->tree, &text);
	print_message("%s, level %s, %zu done, %zu begun:\n%s", x->name,
		      persist_level_names[x->p->rules.level], c->done, c->begun, text.data);
	for (size_t i = 0; i < c->count; i++)
		print_message("lost: kind %d of %d %s, bytes %d to %d, as of %zu, lost %zu%s\n",
			      c->lost[i].kind, (int)c->lost[i].ino,
			      c->lost[i].name ? c->lost[i].name : "", (int)c->lost[i].from,
			      (int)c->lost[i].to, c->lost[i].step, c->lost[i].change,
			      c->lost[i].torn ? ", torn" : "");
	fail_msg("%s: %s", buf_str(&b->seen), buf_str(&b->reason));
}

/* The calls that have begun where the file system is at this step. */
static size_t calls_begun(const struct persistence *p, size_t step)
{
	size_t calls = p->steps[step].calls;

	return persistence_behind(p, calls) == &p->steps[step] ? calls : calls + 1;
}

static bool see(void *to, struct crash_state *c)
{
	struct seen *x = to;
	size_t done = x->p->steps[c->done].calls, begun = calls_begun(x->p, c->begun);
	struct broken_promise broken;
	bool new;

	hash_map_put(&x->trees, tree_hash(&c->tree), &new);
	assert_true(new);
	if (!persistence_allows(x->p, done, begun, &c->tree, &broken))
		describe(x, c, &broken);
	broken_promise_free(&broken);
	x->count++;
	x->in_order += c->count == 0;
	x->lossy += c->count > 0;
	for (size_t i = 0; i < c->count; i++) {
		assert_true(c->lost[i].step < c->lost[i].change);
		assert_true(c->lost[i].change <= c->begun);
	}
	if (x->sought && hash_equal(tree_hash(x->sought), tree_hash(&c->tree)))
		x->found = true;
	return true;
}

static void enumerate(struct seen *x, uint64_t states)
{
	struct each_options o = { .states = states, .seed = 1 };

	persistence_each(x->p, &o, see, x);
	/* The tree of every step, and so all of them from the last promise on. */
	for (size_t i = 0; i < x->p->count; i++)
		assert_non_null(hash_map_get(&x->trees, tree_hash(&x->p->steps[i].tree)));
	hash_map_free(&x->trees);
}

static void check_workloads(const char *generator, uint64_t stride)
{
	struct ace_options options = { .in_place = true };
	struct arena arena = ARENA_INIT;
	struct err err = { 0 };
	struct ace ace;
	size_t lossy = 0;

	assert_int_equal(ace_parse(&options, generator, &err), 0);
	ace_init(&ace, &options);
	for (uint64_t i = 0; i < ace.count; i += stride) {
		struct workload w;

		ace_workload(&ace, i, &arena, &w);
		for (size_t r = 0; r < RULES; r++) {
			struct persistence p;
			struct seen x = { .p = &p, .name = w.name };

			make_history(&p, &rules[r], w.calls, w.count, w.setup_count);
			enumerate(&x, 50);
			lossy += x.lossy;
			persistence_free(&p);
		}
		arena_reset(&arena);
	}
	assert_true(lossy > 0);
	ace_free(&ace);
	arena_free(&arena);
}

static void enumerated_trees_of_one_operation_are_allowed(void **state)
{
	check_workloads("seq-1", 2);
}

static void enumerated_trees_of_two_operations_are_allowed(void **state)
{
	check_workloads("seq-2", 1213);
}

static void enumerated_trees_with_nested_directories_are_allowed(void **state)
{
	check_workloads("seq-2-nested", 6311);
}

/* ---- certain trees ---- */

static size_t parse_calls(const char *text, struct call *calls, struct arena *arena)
{
	size_t count = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = arena_copy(arena, text, len);
		struct err err = { 0 };

		if (call_parse(&calls[count++], line, arena, &err))
			fail_msg("%s", err.text);
		text += len + (text[len] == '\n');
	}
	return count;
}

/* Is the tree that `recovered` makes among those that a crash of the workload can leave, whose
 * setup ends with the first sync? */
static bool leaves(const struct persist_rules *r, const char *workload, const char *recovered)
{
	struct call calls[32], others[32];
	size_t count, other_count, setup_count = 0;
	struct arena arena = ARENA_INIT;
	struct persistence p, sought;
	struct seen x = { .p = &p, .name = workload };

	count = parse_calls(workload, calls, &arena);
	for (size_t i = 0; i < count && !setup_count; i++)
		setup_count = calls[i].op == OP_sync ? i + 1 : 0;
	make_history(&p, r, calls, count, setup_count);
	other_count = parse_calls(recovered, others, &arena);
	make_history(&sought, r, others, other_count, 0);
	x.sought = &sought.steps[sought.count - 1].tree;
	enumerate(&x, 1000);
	persistence_free(&p);
	persistence_free(&sought);
	arena_free(&arena);
	return x.found;
}

#define OLD "write_file(\"f\", O_CREAT|O_WRONLY, \"old\", 3, 0)\nsync()\n"
#define REPLACE OLD "open(\"t\", O_CREAT|O_WRONLY, 0666)\nwrite(3, \"new\", 3)\n"
#define EMPTY "open(\"f\", O_CREAT|O_WRONLY, 0666)\n"
#define RENAME "rename(\"t\", \"f\")\n"

static const struct persist_rules *posix = &rules[0], *ordered = &rules[5], *strict = &rules[6];

static void data_can_be_lost_behind_a_rename(void **state)
{
	assert_true(leaves(posix, REPLACE RENAME, EMPTY));
	assert_true(leaves(ordered, REPLACE RENAME, EMPTY));
	assert_false(leaves(strict, REPLACE RENAME, EMPTY));
	assert_false(leaves(posix, REPLACE "fsync(3)\n" RENAME, EMPTY));
	assert_true(leaves(posix, REPLACE "fsync(3)\n" RENAME, OLD));
}

static void names_can_be_lost_one_by_one(void **state)
{
	static const char two[] = "mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\n";

	assert_true(leaves(posix, two, "mkdir(\"b\", 0755)\n"));
	assert_false(leaves(ordered, two, "mkdir(\"b\", 0755)\n"));
	assert_false(leaves(strict, two, "mkdir(\"b\", 0755)\n"));
}

static void a_rename_can_lose_both_names(void **state)
{
	static const char moved[] = "mkdir(\"a\", 0755)\nsync()\nrename(\"a\", \"b\")\n";

	assert_true(leaves(posix, moved, "umask(022)\n"));
	assert_false(leaves(&rules[2], moved, "umask(022)\n"));
}

static void writes_are_torn_at_blocks(void **state)
{
	static const char whole[] =
		"write_file(\"f\", O_CREAT|O_WRONLY, data(7, 16384), 16384, 0)\n";

	assert_true(leaves(posix, whole,
			   "create_file(\"f\", O_CREAT, 0666)\n"
			   "truncate(\"f\", 16384)\n"));
	assert_true(leaves(posix, whole,
			   "write_file(\"f\", O_CREAT|O_WRONLY, data(7, 16384), 16384, 0)\n"
			   "truncate(\"f\", 8192)\n"));
	assert_true(leaves(ordered, whole,
			   "write_file(\"f\", O_CREAT|O_WRONLY, data(7, 16384), 16384, 0)\n"
			   "truncate(\"f\", 8192)\ntruncate(\"f\", 16384)\n"));
}

/* ---- fewest parts ---- */

static bool lacks_b(void *to, const struct tree *t)
{
	return !tree_find(t, TREE_ROOT, "b", 1);
}

static bool minimise(void *to, struct crash_state *c)
{
	size_t *most = to;

	if (c->begun < 3 || c->count < 2 || !lacks_b(NULL, &c->tree))
		return true;
	if (c->count > *most)
		*most = c->count;
	crash_state_minimise(c, lacks_b, NULL);
	assert_int_equal(c->count, 1);
	assert_int_equal(c->lost[0].kind, PART_NAME);
	assert_string_equal(c->lost[0].name, "b");
	assert_true(lacks_b(NULL, &c->tree));
	return true;
}

static void what_need_not_be_lost_is_given_back(void **state)
{
	struct each_options o = { .states = 1000 };
	struct arena arena = ARENA_INIT;
	struct call calls[8];
	struct persistence p;
	size_t most = 0;

	make_history(&p, posix, calls,
		     parse_calls("mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\nmkdir(\"c\", 0755)\n",
				 calls, &arena),
		     0);
	persistence_each(&p, &o, minimise, &most);
	assert_int_equal(most, 2); /* all three: that is the first tree */
	persistence_free(&p);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enumerated_trees_of_one_operation_are_allowed),
		cmocka_unit_test(enumerated_trees_of_two_operations_are_allowed),
		cmocka_unit_test(enumerated_trees_with_nested_directories_are_allowed),
		cmocka_unit_test(data_can_be_lost_behind_a_rename),
		cmocka_unit_test(names_can_be_lost_one_by_one),
		cmocka_unit_test(a_rename_can_lose_both_names),
		cmocka_unit_test(writes_are_torn_at_blocks),
		cmocka_unit_test(what_need_not_be_lost_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
