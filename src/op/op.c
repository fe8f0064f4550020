/* op.c -- the table of operations, and finding one by its name. */
#include "op/op.h"

#include <string.h>
#include <threads.h>

#include "base/must.h"

/* The words of the rows. */
enum {
	NAMES = TRAIT_NAMES,
	DATA = TRAIT_DATA,
	ATTR = TRAIT_ATTR,
	ALLOC = TRAIT_ALLOC,
	SYNC = TRAIT_SYNC,
	OPENS = TRAIT_OPENS,
	ENV = TRAIT_ENV,
	PROC = TRAIT_PROC,
	META = TRAIT_META,
};

enum {
#define A(name, kind) +1
#define OP(name, base, result, traits, args) ARGS_##name = 0 args,
#include "op/ops.def"
#undef OP
#undef A
};

#define A(name, kind) { #name, KIND_##kind },
#define OP(name, base, result, traits, args) \
	{ #name, OP_##base, RESULT_##result, traits, ARGS_##name, { args } },
const struct op_info op_table[OP_COUNT] = {
#include "op/ops.def"
};
#undef OP
#undef A

/* Open addressing, a quarter full: slot holds the operation + 1. */
enum { SLOTS = 512 };
_Static_assert(OP_COUNT < 255, "an operation fits a slot");

static unsigned char slots[SLOTS];
static once_flag slots_once = ONCE_FLAG_INIT;

static unsigned op_slot_of(const char *name, size_t len)
{
	unsigned hash = (unsigned)len;

	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)name[i];
	return hash % SLOTS;
}

static void op_slots_fill(void)
{
	unsigned slot;

	for (int op = 0; op < OP_COUNT; op++) {
		slot = op_slot_of(op_table[op].name, strlen(op_table[op].name));
		while (slots[slot])
			slot = (slot + 1) % SLOTS;
		slots[slot] = (unsigned char)(op + 1);
	}
}

int op_find_len(const char *name, size_t len)
{
	const char *found;

	call_once(&slots_once, op_slots_fill);
	for (unsigned slot = op_slot_of(name, len); slots[slot]; slot = (slot + 1) % SLOTS) {
		found = op_table[slots[slot] - 1].name;
		if (!strncmp(found, name, len) && !found[len])
			return slots[slot] - 1;
	}
	return -1;
}

int op_find(const char *name)
{
	return op_find_len(name, strlen(name));
}

bool op_last_optional(enum op op)
{
	const struct op_info *info = &op_table[op];

	return info->args >= 2 && info->arg[info->args - 1].kind == KIND_MODE &&
	       info->arg[info->args - 2].kind == KIND_OPEN_FLAGS;
}
