/* kind.h -- what each kind of argument knows: print, parse, values to pick, partitions. */
#ifndef OP_KIND_H
#define OP_KIND_H

#include "op/op.h"

struct arena;
struct buf;
struct err;

struct kind_info {
	const char *name; /* "open_flags" */
	enum arg_form form;
	const char *text; /* what it is, for documentation */
};

extern const struct kind_info kind_table[KIND_COUNT_];

/* The kind of that name, or -1. */
int kind_find(const char *name);

/* Flags and choices are tables of names and values: unknown bits print as numbers. */
struct kind_name {
	const char *name;
	int64_t value, mask; /* matches where (num & mask) == value */
};
/* NULL-terminated by name, NULL for kinds without names. */
const struct kind_name *kind_names(enum kind kind);

/* Does the kind name whole values (SEEK_SET) rather than bits? */
bool kind_is_choice(enum kind kind);

/* A value in our own dialect, and back; text goes to the arena. */
void arg_print(const struct arg *arg, enum kind kind, struct buf *out);
int arg_parse(struct arg *ret, enum kind kind, const char *text, struct arena *arena,
	      struct err *err);
bool arg_equal(const struct arg *a, const struct arg *b, enum kind kind);
struct arg arg_copy(const struct arg *arg, enum kind kind, struct arena *arena);

/* Values that matter by themselves: limits and powers of two, with step 1 their neighbours. The
 * i-th of them goes to *ret; false beyond the last. Text kinds have none of their own. */
bool kind_boundary(enum kind kind, size_t i, bool near, struct arg *ret);

/* Partitions: classes of values that count as covered together. A bitmask's partitions are its
 * flags (a value is in several); a number's are 0, exact powers of two, the ranges between and
 * negatives; a category's are its values. */
enum { PARTITIONS_MAX = 160 };
size_t kind_partitions(enum kind kind);
void kind_partition_name(enum kind kind, size_t partition, struct buf *out);
/* Calls visit for every partition the value is in. */
void kind_visit_partitions(enum kind kind, const struct arg *arg,
			   void (*visit)(void *to, size_t partition), void *to);

/* False for partitions that no Linux call can be in, or that are a rest: nobody is asked to test
 * them. */
bool partition_is_wanted(const char *name);

#endif
