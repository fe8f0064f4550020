/* prop_model.c -- every call in every small state: what the model promises of itself.
 *
 * Breadth first through the states that calls on a few names lead to. In each state, for each
 * call: an error leaves everything as it was; the answer is determined; following it step by
 * step leads to the same place; errors that are not allowed are called bad. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { STATES_MAX = 400, CALLS_MAX = 400, OBJECTS_MAX = 7, UNLIKELY_ERROR = ENOTBLK };

static const char *const paths[] = { "a", "b", "a/a", "a/b", "b/a", "a/", "b/", ".", "a/..", "" };

static const char *const one_path[] = {
	"mkdir(\"@\", 0755)",
	"mkdir(\"@\", 01777)",
	"rmdir(\"@\")",
	"unlink(\"@\")",
	"open_close(\"@\", O_RDONLY, 0)",
	"open_close(\"@\", O_CREAT|O_EXCL|O_WRONLY, 0644)",
	"open_close(\"@\", O_CREAT|O_DIRECTORY|O_RDONLY, 0644)",
	"symlink(\"a\", \"@\")",
	"readlink(\"@\")",
	"mknod(\"@\", S_IFIFO|0600, 0)",
	"chmod(\"@\", 0500)",
	"truncate(\"@\", 3)",
	"stat(\"@\")",
	"chdir(\"@\")",
	"[2] mkdir(\"@\", 0777)",
	"[2] unlink(\"@\")",
	"[2] open_close(\"@\", O_RDWR, 0)",
};

static const char *const two_paths[] = {
	"rename(\"@\", \"@\")",
	"link(\"@\", \"@\")",
};

struct world {
	struct model model;
	struct arena arena;
	struct call calls[CALLS_MAX];
	size_t call_count;
	struct state states[STATES_MAX];
	size_t state_count;
	struct hash_map known;
};

/* The call with a path put in for each '@'. */
static void add_call(struct world *w, const char *pattern, const char *first, const char *second)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };

	for (; *pattern; pattern++) {
		if (*pattern != '@') {
			buf_addch(&text, *pattern);
			continue;
		}
		buf_adds(&text, first);
		first = second;
	}
	must(w->call_count < CALLS_MAX);
	must(!call_parse(&w->calls[w->call_count++], buf_str(&text), &w->arena, &err));
	buf_free(&text);
}

static void add_calls(struct world *w)
{
	const char *const *end = paths + ARRAY_LEN(paths);

	for (size_t i = 0; i < ARRAY_LEN(one_path); i++)
		for (const char *const *a = paths; a < end; a++)
			add_call(w, one_path[i], *a, NULL);
	for (size_t i = 0; i < ARRAY_LEN(two_paths); i++)
		for (const char *const *a = paths; a < end; a++)
			for (const char *const *b = paths; b < end; b++)
				add_call(w, two_paths[i], *a, *b);
}

static void add_state(struct world *w, const struct state *s)
{
	bool new;

	if (w->state_count == STATES_MAX || s->tree.inodes.count > OBJECTS_MAX)
		return;
	hash_map_put(&w->known, state_hash(s), &new);
	if (new)
		w->states[w->state_count++] = state_copy(s);
}

/* FreeBSD leaves a file behind: the one error that is known to change something. */
static bool leaves_behind(const struct envelope *env)
{
	for (unsigned i = 0; i < env->rule_count; i++)
		if (env->rules[i] == RULE_open_create_directory_missing)
			return true;
	return false;
}

static void expect_same(struct world *w, const struct state *a, const struct state *b,
			const struct call *c, const char *what)
{
	struct buf text = BUF_INIT;

	if (hash_equal(state_hash(a), state_hash(b)))
		return;
	call_print(c, DIALECT_NATIVE, &text);
	buf_adds(&text, " in\n");
	tree_print(&b->tree, &text);
	fail_msg("%s: %s: %s", platform_names[w->model.platform], what, buf_str(&text));
}

/* Following an outcome that was seen. */
static void check_step(struct world *w, const struct state *before, const struct call *c,
		       const struct outcome *seen, const struct state *after)
{
	struct state s = state_copy(before);
	struct envelope env;

	assert_int_equal(model_step(&w->model, &s, c, seen, &env), VERDICT_OK);
	expect_same(w, &s, after, c, "following the outcome leads elsewhere");
	state_free(&s);
}

static void check_errors(struct world *w, const struct state *before, const struct call *c,
			 const struct envelope *env)
{
	struct state s = state_copy(before);
	struct outcome bad = { .error = UNLIKELY_ERROR };
	struct envelope again;

	for (int error = 1; error < 134; error++)
		if (errset_has(&env->errors, error))
			check_step(w, before, c, &(struct outcome){ .error = error }, before);
	assert_int_equal(model_step(&w->model, &s, c, &bad, &again), VERDICT_BAD);
	state_free(&s);
}

static void check_call(struct world *w, struct state *before, const struct call *c)
{
	struct state after = state_copy(before), second = state_copy(before);
	struct hash start = state_hash(before);
	struct envelope env;
	struct outcome outcome;

	model_move(&w->model, &after, c, &env);
	model_run(&w->model, &second, c, &outcome);
	expect_same(w, &after, &second, c, "not determined");
	assert_true(hash_equal(state_hash(before), start));
	assert_true(hash_equal(state_hash_after(before, start, &after), state_hash(&after)));
	assert_true(env.undefined || env.success == errset_empty(&env.errors));
	assert_int_equal(env.undefined ? EINVAL : env.first, outcome.error);
	if (leaves_behind(&env))
		goto out;
	if (!env.success)
		expect_same(w, &after, before, c, "an error changed the state");
	if (!env.undefined) {
		check_errors(w, before, c, &env);
		check_step(w, before, c, &outcome, &after);
	}
	add_state(w, &after);
out:
	state_free(&after);
	state_free(&second);
}

static void check_platform(enum platform platform)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = true,
					 .root_mode = 0777 };
	struct world *w = must_alloc(sizeof(*w));
	struct call create = { .op = OP_create_process, .pid = 2 };
	struct outcome outcome;
	struct state first;

	model_init(&w->model, platform, KERNEL_CURRENT);
	add_calls(w);
	state_init(&first, &options);
	create.create_process.uid.num = create.create_process.gid.num = 1;
	model_run(&w->model, &first, &create, &outcome);
	add_state(w, &first);
	state_free(&first);
	for (size_t i = 0; i < w->state_count; i++)
		for (size_t c = 0; c < w->call_count; c++)
			check_call(w, &w->states[i], &w->calls[c]);
	assert_int_equal(w->state_count, STATES_MAX);
	for (size_t i = 0; i < w->state_count; i++)
		state_free(&w->states[i]);
	hash_map_free(&w->known);
	arena_free(&w->arena);
	free(w);
}

static void posix_keeps_its_word(void **state)
{
	check_platform(PLATFORM_POSIX);
}

static void linux_keeps_its_word(void **state)
{
	check_platform(PLATFORM_LINUX);
}

static void macos_keeps_its_word(void **state)
{
	check_platform(PLATFORM_MACOS);
}

static void freebsd_keeps_its_word(void **state)
{
	check_platform(PLATFORM_FREEBSD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posix_keeps_its_word),
		cmocka_unit_test(linux_keeps_its_word),
		cmocka_unit_test(macos_keeps_its_word),
		cmocka_unit_test(freebsd_keeps_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
