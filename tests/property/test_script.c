/* test_script.c -- what is printed parses to the same: every operation, odd values, both
 * dialects, single calls and whole traces. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "op/kind.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

/* Of struct stat_result behind the mode. */
enum { STAT_FIELDS = 12 };
_Static_assert(sizeof(struct stat_result) == 8 + STAT_FIELDS * sizeof(int64_t), "all fields");

enum { ROUNDS = 300, TEXT_LEN_MAX = 40, ITEMS = 400, PIDS = 5 };

static int64_t random_num(struct rng *rng, enum kind kind)
{
	const struct kind_name *names = kind_names(kind);
	int64_t num = 0;

	switch (rng_below(rng, 4)) {
	case 0:
		return (int64_t)rng_below(rng, 10) - 1;
	case 1:
		return (int64_t)(rng_u64(rng) >> rng_below(rng, 64));
	case 2:
		return (int64_t) - (rng_u64(rng) >> rng_below(rng, 64));
	}
	for (; names && names->name; names++)
		if (rng_chance(rng, 1, 4))
			num |= names->value;
	return rng_chance(rng, 1, 4) ? num | (int64_t)(UINT64_C(1) << rng_below(rng, 64)) : num;
}

static struct arg random_text(struct rng *rng, struct arena *arena, const char *alphabet)
{
	struct arg arg = { .len = (uint32_t)rng_below(rng, TEXT_LEN_MAX) };
	char *text = arena_alloc(arena, arg.len + 1);

	for (uint32_t i = 0; i < arg.len; i++)
		text[i] = alphabet ? alphabet[rng_below(rng, strlen(alphabet))]
				   : (char)rng_below(rng, 256);
	arg.text = text;
	return arg;
}

static struct arg random_arg(struct rng *rng, enum kind kind, struct arena *arena)
{
	if (kind_table[kind]->form == FORM_NUM)
		return (struct arg){ .num = random_num(rng, kind) };
	if (kind_table[kind]->form == FORM_DATA && rng_chance(rng, 1, 2))
		return (struct arg){ .seed = rng_u64(rng) >> rng_below(rng, 64),
				     .len = (uint32_t)rng_u64(rng),
				     .generated = true };
	if (rng_chance(rng, 1, 8))
		return (struct arg){ 0 };
	return random_text(rng, arena, rng_chance(rng, 1, 2) ? "ab/.\"\\ #" : NULL);
}

static struct call random_call(struct rng *rng, enum op op, struct arena *arena)
{
	struct call c = { .op = (uint16_t)op, .pid = (uint16_t)(1 + rng_below(rng, PIDS)) };

	for (unsigned i = 0; i < op_table[op].args; i++)
		c.arg[i] = random_arg(rng, op_table[op].arg[i].kind, arena);
	return c;
}

static void fill_stat(struct rng *rng, struct stat_result *st, bool unknown)
{
	static const uint32_t types[] = { S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR,
					  S_IFBLK, S_IFIFO, S_IFSOCK };
	int64_t *fields = &st->nlink;

	st->mode = types[rng_below(rng, ARRAY_LEN(types))] | (uint32_t)rng_below(rng, 010000);
	for (size_t i = 0; i < STAT_FIELDS; i++)
		fields[i] = unknown && rng_chance(rng, 1, 3) ? STAT_UNKNOWN
							     : random_num(rng, KIND_OFFSET) / 2;
}

static struct arg random_names(struct rng *rng, struct arena *arena)
{
	struct buf names = BUF_INIT;
	struct arg name, all;

	for (uint64_t left = rng_below(rng, 5); left > 0; left--) {
		name = random_text(rng, arena, "ab \n\"\\\x80;,]");
		buf_add(&names, name.text, name.len + 1);
	}
	all = (struct arg){ .text = arena_copy(arena, names.data, names.len),
			    .len = (uint32_t)names.len };
	buf_free(&names);
	return all;
}

/* What op could yield. The published dialect always tells the same fields of a stat. */
static struct outcome random_outcome(struct rng *rng, enum op op, enum dialect dialect,
				     struct arena *arena)
{
	struct outcome o = { .result = op_table[op].result };
	struct arg bytes = { 0 };

	if (rng_chance(rng, 1, 3))
		return (struct outcome){ .error = 1 + (int)rng_below(rng, 600) };
	switch (o.result) {
	case RESULT_NONE:
		return o;
	case RESULT_NUM:
	case RESULT_FD:
	case RESULT_PERM:
		o.num = random_num(rng, KIND_MODE);
		return o;
	case RESULT_STAT:
		fill_stat(rng, &o.stat, dialect == DIALECT_NATIVE);
		return o;
	case RESULT_STATFS:
		for (size_t i = 0; i < 7; i++)
			(&o.statfs.bsize)[i] =
				rng_chance(rng, 1, 3) ? STAT_UNKNOWN : (int64_t)rng_u64(rng);
		return o;
	case RESULT_NAMES:
		bytes = random_names(rng, arena);
		break;
	case RESULT_BYTES:
	case RESULT_NAME:
	case RESULT_TARGET:
		bytes = random_text(rng, arena, NULL);
		o.end = o.result == RESULT_NAME && !bytes.len;
		break;
	}
	o.bytes = bytes.text;
	o.len = bytes.len;
	return o;
}

static void assert_parses(struct script *s, const struct buf *text)
{
	struct err err = { 0 };

	if (script_parse(s, "text", text->data, text->len, &err))
		fail_msg("%s in\n%s", err.text, text->data);
}

static void single_calls_come_back(void **state)
{
	struct arena arena = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct call c, back;
	struct rng rng;

	rng_seed(&rng, 1);
	for (int round = 0; round < ROUNDS * OP_COUNT; round++) {
		c = random_call(&rng, (enum op)(round % OP_COUNT), &arena);
		buf_clear(&text);
		call_print(&c, DIALECT_NATIVE, &text);
		if (call_parse(&back, text.data, &arena, &err))
			fail_msg("%s in %s", err.text, text.data);
		if (!call_equal(&c, &back))
			fail_msg("%s is read as something else", text.data);
		if (round % 1000 == 0)
			arena_reset(&arena);
	}
	buf_free(&text);
	arena_free(&arena);
}

static void published_calls_come_back(void **state)
{
	struct arena arena = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct script s = { 0 };
	struct call c;
	struct rng rng;

	rng_seed(&rng, 2);
	for (int round = 0; round < ROUNDS * OP_COUNT; round++) {
		c = random_call(&rng, (enum op)(round % OP_COUNT), &arena);
		buf_clear(&text);
		buf_adds(&text, "@type script\n");
		call_print(&c, DIALECT_PUBLISHED, &text);
		assert_parses(&s, &text);
		assert_int_equal(s.count, 1);
		if (!call_equal(&c, &s.items[0].call))
			fail_msg("%s is read as something else", text.data);
		if (round % 1000 == 0)
			arena_reset(&arena);
	}
	script_free(&s);
	buf_free(&text);
	arena_free(&arena);
}

/* outcome_equal leaves inode and device numbers out; here they count. */
static void assert_same_outcome(const struct outcome *a, const struct outcome *b,
				enum dialect dialect, const char *text)
{
	struct stat_result st = a->stat;

	if (!a->error && a->result == RESULT_STAT) {
		if (dialect == DIALECT_PUBLISHED) /* cannot say everything */
			st.atime = st.mtime = st.ctime = st.btime = st.blocks = STAT_UNKNOWN;
		if (st.mode != b->stat.mode ||
		    memcmp(&st.nlink, &b->stat.nlink, STAT_FIELDS * sizeof(st.nlink)))
			fail_msg("another stat in %s", text);
	}
	if (!outcome_equal(a, b) || a->end != b->end)
		fail_msg("another outcome in %s", text);
}

static void outcomes_come_back(void **state)
{
	struct arena arena = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct script s = { 0 };
	struct outcome o;
	enum dialect dialect;
	struct call c;
	struct rng rng;

	rng_seed(&rng, 3);
	for (int round = 0; round < ROUNDS * OP_COUNT; round++) {
		dialect = round / OP_COUNT % 2 ? DIALECT_NATIVE : DIALECT_PUBLISHED;
		c = random_call(&rng, (enum op)(round % OP_COUNT), &arena);
		o = random_outcome(&rng, c.op, dialect, &arena);
		c.pid = 1;
		buf_clear(&text);
		buf_adds(&text, dialect == DIALECT_PUBLISHED ? "@type trace\n" : "");
		call_print(&c, dialect, &text);
		buf_adds(&text, dialect == DIALECT_PUBLISHED ? "\n" : " = ");
		outcome_print(&o, c.op, dialect, &text);
		assert_parses(&s, &text);
		assert_int_equal(s.count, 2);
		assert_int_equal(s.items[1].ret.count, 1);
		assert_same_outcome(&o, &s.items[1].ret.outcomes[0], dialect, text.data);
		if (round % 1000 == 0)
			arena_reset(&arena);
	}
	script_free(&s);
	buf_free(&text);
	arena_free(&arena);
}

/* Calls that overlap, returns of one, several and any outcomes, dumps and fillers. */
static void random_trace(struct rng *rng, struct script *s, struct item *items)
{
	uint16_t open_op[PIDS + 1] = { 0 };
	struct outcome *outcomes;
	struct item item;
	size_t count;

	*s = (struct script){ .items = items, .is_trace = true };
	while (s->count < ITEMS) {
		item = (struct item){ .pid = 1 };
		item.type = (enum item_type)rng_below(rng, ITEM_BLANK + 1);
		if (item.type == ITEM_CALL) {
			item.call = random_call(rng, (enum op)rng_below(rng, OP_COUNT), &s->arena);
			item.pid = item.call.pid;
			open_op[item.pid] = (uint16_t)(item.call.op + 1);
		} else if (item.type == ITEM_RETURN) {
			item.pid = (uint16_t)(1 + rng_below(rng, PIDS));
			if (!open_op[item.pid])
				continue;
			count = rng_below(rng, 4);
			outcomes = arena_alloc(&s->arena, count * sizeof(*outcomes));
			for (size_t i = 0; i < count; i++)
				outcomes[i] = random_outcome(rng, open_op[item.pid] - 1,
							     DIALECT_NATIVE, &s->arena);
			item.ret = (struct item_return){ outcomes, count, !count };
		} else if (item.type == ITEM_DUMP || item.type == ITEM_DUMP_RESULT) {
			item.path = "/a\n\"b";
			item.text = rng_chance(rng, 1, 2) ? "" : "\"/\"|D|1\n\"/f\"|F|2|3|\"x\"\n";
		} else {
			item.text = "# a comment";
		}
		s->items[s->count++] = item;
	}
}

static void whole_traces_come_back(void **state)
{
	static struct item items[ITEMS];
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct script s, back = { 0 };
	struct rng rng;

	rng_seed(&rng, 4);
	for (int round = 0; round < ROUNDS; round++) {
		random_trace(&rng, &s, items);
		buf_clear(&text);
		script_print(&s, DIALECT_NATIVE, &text);
		assert_parses(&back, &text);
		assert_true(script_equal(&s, &back));
		buf_clear(&again);
		script_print(&back, DIALECT_NATIVE, &again);
		assert_string_equal(text.data, again.data);
		/* Through the other dialect and back. */
		buf_clear(&again);
		script_print(&back, DIALECT_PUBLISHED, &again);
		assert_parses(&back, &again);
		assert_int_equal(back.dialect, DIALECT_PUBLISHED);
		buf_clear(&text);
		script_print(&back, DIALECT_PUBLISHED, &text);
		assert_string_equal(text.data, again.data);
		arena_free(&s.arena);
	}
	script_free(&back);
	buf_free(&text);
	buf_free(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_calls_come_back),
		cmocka_unit_test(published_calls_come_back),
		cmocka_unit_test(outcomes_come_back),
		cmocka_unit_test(whole_traces_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
