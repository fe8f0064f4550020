/* test_profiles.c -- every operation and every flag is drawn by some shipped profile, or
 * profiles/left-out says why not. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "op/kind.h"
#include "tests/harness/unit.h"
#include "universe/universe.h"

static bool op_is_drawn[OP_COUNT];
static bool *flag_is_drawn[KIND_COUNT_];
static struct buf left_out;

static size_t names_count(enum kind kind)
{
	size_t count = 0;

	while (kind_names(kind) && kind_names(kind)[count].name)
		count++;
	return count;
}

static void add_value(enum kind kind, const struct arg *value)
{
	const struct kind_name *names = kind_names(kind);

	for (size_t i = 0; !value->nearby && i < names_count(kind); i++)
		if ((value->num & names[i].mask) == names[i].value)
			flag_is_drawn[kind][i] = true;
}

static void add_universe(const struct universe *u)
{
	for (size_t op = 0; op < u->op_count; op++) {
		const struct op_info *info = &op_table[u->ops[op].op];

		op_is_drawn[u->ops[op].op] = true;
		for (unsigned i = 0; i < info->args; i++)
			for (size_t v = 0; v < u->ops[op].pools[i].count; v++)
				add_value(info->arg[i].kind, &u->ops[op].pools[i].values[v]);
	}
}

/* Lines "NAME: reason". */
static bool is_left_out(const char *name)
{
	size_t len = strlen(name);

	for (const char *line = buf_str(&left_out); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && !strncmp(line + len, ": ", 2))
			return true;
	}
	return false;
}

static int open_all(void **state)
{
	struct err err = { 0 };
	struct universe u;
	struct buf path = BUF_INIT;

	for (int kind = 0; kind < KIND_COUNT_; kind++)
		flag_is_drawn[kind] = calloc(names_count((enum kind)kind) + 1, sizeof(bool));
	for (const char *const *name = universe_profiles; *name; name++) {
		if (universe_open(&u, *name, NULL, 0, &err))
			fail_msg("%s", err.text);
		add_universe(&u);
		universe_free(&u);
	}
	buf_addf(&path, "%s/profiles/left-out", getenv("ROOT"));
	if (buf_read_file(&left_out, path.data, 1 << 16, &err))
		fail_msg("%s", err.text);
	buf_free(&path);
	return 0;
}

static int free_all(void **state)
{
	for (int kind = 0; kind < KIND_COUNT_; kind++)
		free(flag_is_drawn[kind]);
	buf_free(&left_out);
	return 0;
}

static void operations_are_drawn(void **state)
{
	int missing = 0;

	for (int op = 0; op < OP_COUNT; op++) {
		bool listed = is_left_out(op_table[op].name);

		if (op_is_drawn[op] == listed) {
			print_error("%s: %s\n", op_table[op].name,
				    listed ? "drawn, and listed as left out" : "never drawn");
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

static void flags_are_drawn(void **state)
{
	int missing = 0;

	for (int kind = 0; kind < KIND_COUNT_; kind++)
		for (size_t i = 0; i < names_count((enum kind)kind); i++) {
			const struct kind_name *name = &kind_names((enum kind)kind)[i];
			bool listed = is_left_out(name->name);

			if (name->foreign || flag_is_drawn[kind][i] != listed)
				continue;
			print_error("%s of %s: %s\n", name->name, kind_table[kind]->name,
				    listed ? "drawn, and listed as left out" : "never drawn");
			missing++;
		}
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_drawn),
		cmocka_unit_test(flags_are_drawn),
	};

	return cmocka_run_group_tests(tests, open_all, free_all);
}
