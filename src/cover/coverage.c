/* coverage.c -- counts traced calls, and writes the counts as JSON. */
#include "cover/coverage.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/must.h"
#include "cover/metrics.h"
#include "cover/nested.h"
#include "op/kind.h"

/* Errors that only the kernel sees, ERESTARTSYS the first: the call was interrupted. */
enum { ERRNO_RESTARTS = 512, ERRNO_INTERRUPTED = 4 };

void coverage_init(struct coverage *c, const char *source)
{
	*c = (struct coverage){ .source = source, .selected = "all", .exact = true };
	cover_init(&c->counts);
}

void coverage_free(struct coverage *c)
{
	cover_free(&c->counts);
	free(c->combinations.slots);
	for (size_t op = 0; op < OP_COUNT; op++)
		free(c->returned[op]);
	*c = (struct coverage){ 0 };
}

static struct flag_combination *combinations_slot(const struct flag_combinations *t, uint64_t value,
						  uint16_t op, uint16_t arg)
{
	uint64_t hash = (value ^ (uint64_t)op << 40 ^ (uint64_t)arg << 56) * 0x9e3779b97f4a7c15u;
	size_t i = (hash >> 32) & (t->cap - 1);
	struct flag_combination *s;

	for (;; i = (i + 1) & (t->cap - 1)) {
		s = &t->slots[i];
		if (!s->count || (s->value == value && s->op == op && s->arg == arg))
			return s;
	}
}

static void combinations_grow(struct flag_combinations *t)
{
	struct flag_combinations bigger = { .count = t->count, .cap = t->cap ? 2 * t->cap : 256 };

	bigger.slots = must_alloc(bigger.cap * sizeof(*bigger.slots));
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].count)
			*combinations_slot(&bigger, t->slots[i].value, t->slots[i].op,
					   t->slots[i].arg) = t->slots[i];
	free(t->slots);
	*t = bigger;
}

/* False where there are too many different ones. */
static bool count_combination(struct flag_combinations *t, uint16_t op, uint16_t arg,
			      uint64_t value, uint64_t times)
{
	struct flag_combination *s;

	if (t->count * 2 >= t->cap)
		combinations_grow(t);
	s = combinations_slot(t, value, op, arg);
	if (!s->count) {
		if (t->count == COVERAGE_COMBINATIONS_MAX)
			return false;
		*s = (struct flag_combination){ .value = value, .op = op, .arg = arg };
		t->count++;
	}
	s->count += times;
	return true;
}

static void count_in(uint64_t **partitions, enum kind kind, int64_t value, uint64_t times)
{
	const struct arg arg = { .num = value };

	cover_value(partitions, kind, &arg, times);
}

void coverage_result(struct coverage *c, const struct syscall *s, int64_t ret, uint64_t times)
{
	int64_t error = ret < 0 ? -ret : 0;

	if (error >= ERRNO_RESTARTS)
		error = ERRNO_INTERRUPTED;
	c->calls += times;
	c->made[s - syscall_rows()] += times;
	if (error < COVER_ERRNOS)
		cover_outcome(&c->counts, s->result, (int)error, times);
	else
		c->lost += times;
	if (!error && syscall_returns_number(s->op))
		count_in(&c->returned[s->op], KIND_COUNT, ret, times);
}

void coverage_value(struct coverage *c, const struct syscall *s, unsigned arg, int64_t value,
		    uint64_t times)
{
	const struct trace_arg *a = &s->row.arg[arg];
	enum kind kind = op_table[s->op].arg[a->to].kind;

	if (a->number)
		count_in(&c->counts.inputs[s->op][a->to], kind, value, times);
	else if (!count_combination(&c->combinations, (uint16_t)s->op, a->to, (uint64_t)value,
				    times))
		c->lost += times;
}

void coverage_values(struct coverage *c, const struct syscall *s,
		     const int64_t value[SYSCALL_VALUES], unsigned known)
{
	const struct trace_row *row = &s->row;
	const int64_t makes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

	for (unsigned a = 0; a < row->args; a++) {
		unsigned from = row->arg[a].from;

		if (!(known & 1u << from))
			continue;
		/* Without a file to be made, the mode is whatever was in the register. */
		if (row->makes && a == 1 && !(value[row->arg[0].from] & makes))
			continue;
		if (row->arg[a].number || from >= SYSCALL_BEHIND)
			coverage_value(c, s, a, value[from], 1);
		else
			coverage_value(c, s, a, (uint32_t)value[from], 1);
	}
}

/* Flags are counted by value; their partitions follow once, at the end. */
static void fill_partitions(struct coverage *c)
{
	const struct flag_combination *s = c->combinations.slots;
	enum kind kind;

	for (size_t i = 0; i < c->combinations.cap; i++, s++) {
		if (!s->count)
			continue;
		free(c->counts.inputs[s->op][s->arg]);
		c->counts.inputs[s->op][s->arg] = NULL;
	}
	s = c->combinations.slots;
	for (size_t i = 0; i < c->combinations.cap; i++, s++) {
		if (!s->count)
			continue;
		kind = op_table[s->op].arg[s->arg].kind;
		count_in(&c->counts.inputs[s->op][s->arg], kind, (int64_t)s->value, s->count);
	}
}

/* base call -> argument -> "O_RDWR|O_CREAT" -> count */
static json_t *combinations_json(const struct coverage *c)
{
	const struct flag_combination *s = c->combinations.slots;
	const struct op_info *info;
	json_t *all = json_object();
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < c->combinations.cap; i++, s++) {
		if (!s->count)
			continue;
		info = &op_table[s->op];
		buf_clear(&text);
		num_print((int64_t)s->value, info->arg[s->arg].kind, &text);
		nested_add(nested(nested(all, op_table[info->base].name), info->arg[s->arg].name),
			   buf_str(&text), s->count);
	}
	buf_free(&text);
	return all;
}

static json_t *returned_json(const struct coverage *c)
{
	json_t *all = json_object();
	struct buf name = BUF_INIT;

	for (size_t op = 0; op < OP_COUNT; op++) {
		for (size_t p = 0; c->returned[op] && p < kind_partitions(KIND_COUNT); p++) {
			buf_clear(&name);
			kind_partition_name(KIND_COUNT, p, &name);
			nested_add(nested(all, op_table[op_table[op].base].name), buf_str(&name),
				   c->returned[op][p]);
		}
	}
	buf_free(&name);
	return all;
}

/* The system calls themselves, with every variant apart. */
static json_t *syscalls_json(const struct coverage *c)
{
	const struct syscall *s = syscall_rows();
	json_t *all = json_object();

	for (size_t i = 0; i < syscall_count; i++)
		if (c->made[i])
			nested_add(all, s[i].name, c->made[i]);
	return all;
}

json_t *coverage_json(struct coverage *c)
{
	json_t *o, *counts;

	fill_partitions(c);
	counts = cover_json(&c->counts);
	o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "source", c->source, "selected",
		      c->selected, "calls", (json_int_t)c->calls, "lost", (json_int_t)c->lost,
		      "unattributed", (json_int_t)c->unattributed, "unknown",
		      (json_int_t)c->unknown, "exact", c->exact, "cut", c->cut);
	json_object_update(o, counts);
	json_object_set_new(o, "returned", returned_json(c));
	json_object_set_new(o, "combinations", combinations_json(c));
	json_object_set_new(o, "syscalls", syscalls_json(c));
	json_decref(counts);
	metrics_add(o, 0);
	return o;
}
