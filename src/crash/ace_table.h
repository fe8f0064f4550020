/* ace_table.h -- the rows of ace.def, and all uses of operations that follow from them. */
#ifndef CRASH_ACE_TABLE_H
#define CRASH_ACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ace_path {
#define ACE_PATH(NAME, text, PARENT, SIBLING, roles, nested) ACE_##NAME,
#include "crash/ace.def"
	ACE_PATHS,
	ACE_NO_PATH = ACE_PATHS
};

enum ace_role { FILE_1 = 1 << 0, FILE_2 = 1 << 1, DIR_1 = 1 << 2, DIR_2 = 1 << 3 };

struct ace_path_info {
	const char *text;
	enum ace_path parent, sibling;
	unsigned roles; /* enum ace_role */
	bool nested;
};
extern const struct ace_path_info ace_paths[ACE_PATHS];

enum ace_op {
#define ACE_OP(name, first, second, modes, ranges, align, needs) ACE_OP_##name,
#include "crash/ace.def"
	ACE_OPS
};

enum ace_set { SET_NONE, SET_FALLOC, SET_BYTES, SET_PAGES, SET_SIZES };
enum ace_drawn { DRAWN_END, DRAWN_ALIGNED, DRAWN_UNALIGNED, DRAWN_SIZE_ALIGNED, DRAWN_SIZE };

struct ace_mode {
	enum ace_set set;
	const char *name;
	int mode;
};

struct ace_range {
	enum ace_set set;
	const char *name;
	bool from_end;
	int shift;
	uint32_t length;
	uint32_t needs;
	enum ace_drawn drawn;
};

struct ace_op_info {
	const char *name;
	unsigned first, second; /* enum ace_role */
	enum ace_set modes, ranges;
	uint32_t align;
	uint32_t needs;
};
extern const struct ace_op_info ace_ops[ACE_OPS];

/* One operation with its operands and arguments. */
struct ace_use {
	enum ace_op op;
	enum ace_path paths[2];        /* the second one: or ACE_NO_PATH */
	const struct ace_mode *mode;   /* NULL: it has none */
	const struct ace_range *range; /* likewise */
};

enum { ACE_USES_MAX = 256 };
/* All of them, in a fixed order; returns how many. */
size_t ace_uses(bool nested, struct ace_use ret[ACE_USES_MAX]);
bool ace_is_dir(enum ace_path path);

#endif
