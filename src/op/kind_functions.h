/* kind_functions.h -- the functions that rows of several families share. */
#ifndef OP_KIND_FUNCTIONS_H
#define OP_KIND_FUNCTIONS_H

#include "op/kind.h"

/* Numbers (kind_number.c). */
void number_print(const struct kind_info *kind, const struct arg *arg, struct buf *out);
int number_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret);
bool number_boundary_list(const struct kind_info *kind, size_t i, bool near, int64_t *ret);
bool number_smaller(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
		    struct arena *arena, struct arg *ret);
void number_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to);
extern const struct value_class sign_classes[];

#define VALUES(list) .values = (list), .value_count = ARRAY_LEN(list)

/* A string in quotes, or NULL (kind_text.c). */
int text_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret);

/* Tables of names (kind_names.c). */
void names_print(const struct kind_info *kind, const struct arg *arg, struct buf *out);
int names_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret);
bool names_boundary(const struct kind_info *kind, size_t i, bool near, int64_t *ret);

/* Flags and choices (kind_flags.c). */
bool flags_fewer(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
		 struct arena *arena, struct arg *ret);
/* An int, by its names where the headers of a program have them. */
void int_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to);

/* Partitions (partition.c): names and, beyond them, the classes of the row; powers of two; flags
 * or choices, and what has no name. */
#define PARTITION_UNKNOWN "unknown"
extern const struct partitioning partition_classes, partition_powers, partition_flags;
size_t flags_count(const struct kind_info *kind);
void flags_name(const struct kind_info *kind, size_t partition, struct buf *out);
void flags_visit(const struct kind_info *kind, const struct arg *arg,
		 void (*visit)(void *to, size_t partition), void *to);

#endif
