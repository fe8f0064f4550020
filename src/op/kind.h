/* kind.h -- what a kind of argument knows. A kind is one row: its functions and their tables.
 *
 * Kinds of one family share functions, so most rows only name them. What follows from the form of
 * a kind (how struct arg holds a value) needs no function: equality and copies. */
#ifndef OP_KIND_H
#define OP_KIND_H

#include "op/op.h"

struct arena;
struct buf;
struct c_text;
struct err;
struct kind_info;
struct lexer;

/* Flags and choices are tables of names and values: unknown bits print as numbers. */
struct kind_name {
	const char *name;
	int64_t value, mask; /* matches where (num & mask) == value */
	bool foreign;        /* no Linux call can have it */
};

/* Classes of values that one recognises by looking at a value. */
struct value_class {
	const char *name;
	bool (*has)(const struct arg *arg);
};

/* Partitions: classes of values that count as covered together. A bitmask's partitions are its
 * flags (a value is in several); a number's are 0, exact powers of two, the ranges between and
 * negatives; a category's are its values. Counts are kept under their names, so names are stable.
 */
struct partitioning {
	size_t (*count)(const struct kind_info *kind);
	void (*name)(const struct kind_info *kind, size_t partition, struct buf *out);
	/* Calls visit for every partition the value is in. */
	void (*visit)(const struct kind_info *kind, const struct arg *arg,
		      void (*visit)(void *to, size_t partition), void *to);
};

struct kind_info {
	const char *name; /* "open_flags" */
	enum arg_form form;
	const char *picked;                /* values where a profile does not mention the kind */
	const char *const *kernel_names;   /* of such parameters in the kernel, NULL-terminated */
	bool is_path : 1;                  /* names a file of the tree */
	bool is_extent : 1;                /* says how far a call reaches into a file, in bytes */
	bool sizes_data : 1;               /* is the length of the data in front of it */
	uint8_t places;                    /* for values that follow from a state; 0: it has none */
	const struct kind_name *names;     /* NULL-terminated by name; NULL: only numbers */
	const struct value_class *classes; /* NULL-terminated by name */
	const int64_t *values;             /* boundary values, where they are a list */
	size_t value_count;
	uint64_t c_names_max; /* flags above it are newer than some headers; 0: none is */

	/* A value in our own dialect, and back. Strings are decoded in place. */
	void (*print)(const struct kind_info *kind, const struct arg *arg, struct buf *out);
	int (*lex)(const struct kind_info *kind, struct lexer *l, struct arg *ret);
	/* Values that matter by themselves: limits and powers of two, with near their neighbours,
	 * too. The i-th of them; false beyond the last. NULL: the kind has none. */
	bool (*boundary)(const struct kind_info *kind, size_t i, bool near, int64_t *ret);
	const struct partitioning *partitions;
	/* The i-th candidate for a simpler value, boldest first; it may equal the value. False
	 * beyond the last. Candidates are simpler by a measure that cannot fall for ever. New text
	 * goes to the arena. NULL: every value is as simple as any other. */
	bool (*simpler)(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
			struct arena *arena, struct arg *ret);
	/* As an expression of C. */
	void (*c_text)(const struct kind_info *kind, const struct arg *arg, struct c_text *to);
};

extern const struct kind_info *const kind_table[KIND_COUNT_];

/* The kind of that name, or -1. */
int kind_find(const char *name);

static inline const struct kind_name *kind_names(enum kind kind)
{
	return kind_table[kind]->names;
}

static inline void arg_print(const struct arg *arg, enum kind kind, struct buf *out)
{
	kind_table[kind]->print(kind_table[kind], arg, out);
}
/* The same, of a kind that is a number. */
static inline void num_print(int64_t num, enum kind kind, struct buf *out)
{
	arg_print(&(struct arg){ .num = num }, kind, out);
}

static inline int arg_lex(struct lexer *l, enum kind kind, struct arg *ret)
{
	*ret = (struct arg){ 0 };
	return kind_table[kind]->lex(kind_table[kind], l, ret);
}
/* From a whole text, which goes to the arena. */
int arg_parse(struct arg *ret, enum kind kind, const char *text, struct arena *arena,
	      struct err *err);
/* data(SEED, LENGTH), behind the word. */
int data_lex(struct lexer *l, struct arg *ret);

bool arg_equal(const struct arg *a, const struct arg *b, enum kind kind);
struct arg arg_copy(const struct arg *arg, enum kind kind, struct arena *arena);

bool kind_boundary(enum kind kind, size_t i, bool near, struct arg *ret);

enum { PARTITIONS_MAX = 160 };
size_t kind_partitions(enum kind kind);
void kind_partition_name(enum kind kind, size_t partition, struct buf *out);
void kind_visit_partitions(enum kind kind, const struct arg *arg,
			   void (*visit)(void *to, size_t partition), void *to);
/* False for partitions that no Linux call can be in, or that are a rest: a report does not ask for
 * a test of them. */
bool partition_is_wanted(const char *name);

/* The row that names the value of a bit or choice, or NULL. */
const struct kind_name *name_find(const struct kind_name *names, const char *name, size_t len);
/* The next row, from the one given on, that num has; *left loses its bits. NULL beyond the last.
 * A row whose bits were all named by rows before it is passed over. */
const struct kind_name *name_next(const struct kind_name *row, int64_t num, int64_t *left);

#endif
