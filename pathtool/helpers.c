/* helpers.c -- functions that translated code calls where something symbolic is at hand. */
#include "pathtool/helpers.h"

#include "pathtool/conditions.h"
#include "pathtool/shadow.h"
#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vki.h>

/* Of Valgrind's core. */
extern Bool VG_(am_is_valid_for_client)(Addr start, SizeT len, UInt protection);

enum {
	TABLE_ENTRIES_MAX = 256, /* that a load by a symbolic address may reach */
	TABLE_BYTES_MAX = 1 << 16,
	TABLE_STEP_LOG2_MAX = 12,
};

UChar helper_wide[2][32] __attribute__((aligned(32)));

/* The entries that a load may reach. */
struct load_table {
	Addr first;
	UInt count, step_log2, len;
};

static Bool table_find(struct load_table *t, Addr at, UInt len, uint32_t address)
{
	struct interval in = interval_of(&tool_store, &tool_facts, address);
	UInt step_log2 = interval_step_log2(&tool_store, address);
	Addr step;

	if (step_log2 > TABLE_STEP_LOG2_MAX)
		step_log2 = TABLE_STEP_LOG2_MAX;
	step = (Addr)1 << step_log2;
	if (at < in.low || at > in.high || in.high - in.low > TABLE_BYTES_MAX || len > 8)
		return False;
	t->first = at - (at - in.low) / step * step;
	t->count = (in.high - t->first) / step + 1;
	t->step_log2 = step_log2;
	t->len = len;
	return t->count <= TABLE_ENTRIES_MAX &&
	       VG_(am_is_valid_for_client)(t->first, (in.high - t->first) + len, VKI_PROT_READ);
}

static uint32_t table_entry(const struct load_table *t, UInt i)
{
	Addr at = t->first + ((Addr)i << t->step_log2);
	uint32_t e = shadow_load(at, t->len);
	ULong value = 0;

	if (e)
		return e;
	VG_(memcpy)(&value, (const void *)at, t->len);
	return expr_const(&tool_store, 8 * t->len, value);
}

/* Entries from..to - 1, as a tree of comparisons; equal ones need none. */
static uint32_t table_tree(const struct load_table *t, const uint32_t *entries, UInt from, UInt to,
			   uint32_t address)
{
	UInt middle = (from + to) / 2, i = from;
	uint32_t below;

	while (i < to && entries[i] == entries[from])
		i++;
	if (i == to)
		return entries[from];
	below = expr_binary(&tool_store, EXPR_ULT, address,
			    expr_const(&tool_store, 64, t->first + ((Addr)middle << t->step_log2)));
	return expr_ite(&tool_store, below, table_tree(t, entries, from, middle, address),
			table_tree(t, entries, middle, to, address));
}

static uint32_t table_load(const struct load_table *t, uint32_t address)
{
	uint32_t entries[TABLE_ENTRIES_MAX];

	for (UInt i = 0; i < t->count; i++) {
		entries[i] = table_entry(t, i);
		if (!entries[i])
			return 0;
	}
	return table_tree(t, entries, 0, t->count, address);
}

ULong helper_load(Addr at, UWord len, UWord address, Addr pc)
{
	struct load_table table;

	if (!tool_following)
		return 0;
	if (address && table_find(&table, at, len, address))
		return tool_finished(table_load(&table, address));
	if (address)
		conditions_note(address, CONDITION_ADDRESS, at, pc);
	return tool_finished(shadow_load(at, len));
}

void helper_store(Addr at, UWord len, UWord data)
{
	if (tool_following)
		shadow_store(at, len, data);
}

void helper_store_address(UWord address, UWord value, Addr pc)
{
	conditions_note(address, CONDITION_ADDRESS, value, pc);
}

ULong helper_get(UWord offset, UWord len)
{
	UChar concrete[SHADOW_ACCESS_MAX];

	if (!tool_following)
		return 0;
	VG_(get_shadow_regs_area)(VG_(get_running_tid)(), concrete, 0, offset, len);
	return tool_finished(shadow_get_register(offset, len, concrete));
}

void helper_put(UWord offset, UWord len, UWord data)
{
	shadow_set_register(offset, len, tool_following ? data : 0);
}

static uint32_t wide_constant(UInt which, UInt width)
{
	uint32_t e = 0;

	for (UInt i = 0; i < width / 64; i++) {
		ULong value;
		uint32_t piece;

		VG_(memcpy)(&value, helper_wide[which] + 8 * i, 8);
		piece = expr_const(&tool_store, 64, value);
		e = e ? expr_concat(&tool_store, piece, e) : piece;
	}
	return e;
}

static uint32_t operand(uint32_t e, UInt width, ULong value, UInt which)
{
	if (e)
		return e;
	return width > 64 ? wide_constant(which, width) : expr_const(&tool_store, width, value);
}

ULong helper_unary(const struct operation *o, UWord a)
{
	return tool_following ? operation_unary(o, a) : 0;
}

ULong helper_binary(const struct operation *o, UWord a, UWord b, ULong a_value, ULong b_value,
		    Addr pc)
{
	if (!tool_following)
		return 0;
	/* A divisor of zero ends the program by a signal: that is a branch. */
	if (b && operation_divides(o->op)) {
		uint32_t zero = expr_const(&tool_store, o->second, 0);

		conditions_note(expr_binary(&tool_store, EXPR_EQ, b, zero), CONDITION_BRANCH,
				b_value == 0, pc);
	}
	return operation_binary(o, operand(a, o->first, a_value, 0),
				operand(b, o->second, b_value, 1));
}

ULong helper_ite(UWord condition, UWord condition_value, UWord a, UWord b, ULong a_value,
		 ULong b_value)
{
	UInt width = condition_value >> 1;

	if (!tool_following)
		return 0;
	if (!condition)
		return condition_value & 1 ? a : b;
	if (width > 64 && !(a && b)) {
		operation_lost(0);
		return condition_value & 1 ? a : b;
	}
	return tool_finished(expr_ite(&tool_store, condition, operand(a, width, a_value, 0),
				      operand(b, width, b_value, 1)));
}

ULong helper_flags(UWord condition, UWord cc_op, UWord dep1, UWord dep2, ULong dep1_value,
		   ULong dep2_value)
{
	if (!tool_following)
		return 0;
	return operation_flags(condition, cc_op, operand(dep1, 64, dep1_value, 0),
			       operand(dep2, 64, dep2_value, 1));
}

void helper_lost(UWord op)
{
	if (tool_following)
		operation_lost(op);
}

void helper_branch(UWord condition, UWord taken, Addr pc)
{
	conditions_note(condition, CONDITION_BRANCH, taken & 1, pc);
}

void helper_jump(UWord target, UWord value, Addr pc)
{
	conditions_note(target, CONDITION_JUMP, value, pc);
}

void helper_fix_argument(UWord offset, UWord value, Addr pc)
{
	uint32_t e = helper_get(offset, 8);

	if (!e)
		return;
	conditions_note(e, CONDITION_OFFSET, value, pc);
	shadow_set_register(offset, 8, 0);
}
