/* arg.h -- arguments as text, for the readers and writers of both dialects. */
#ifndef OP_ARG_H
#define OP_ARG_H

#include "op/kind.h"

struct lexer;

/* A number of a kind: "O_CREAT|O_RDWR", "0644", "-1". */
void num_print(int64_t num, enum kind kind, struct buf *out);
int num_lex(struct lexer *l, enum kind kind, int64_t *ret);

/* data(SEED, LENGTH) */
void data_print(const struct arg *data, struct buf *out);
int data_lex(struct lexer *l, struct arg *ret);

int arg_lex(struct lexer *l, enum kind kind, struct arg *ret);

/* The row that names the value of a bit or choice, or NULL. */
const struct kind_name *name_find(const struct kind_name *names, const char *name, size_t len);
/* The next row, from the one given on, that num has; *left loses its bits. NULL behind the last.
 * A row whose bits were all told by rows before it is passed over. */
const struct kind_name *name_next(const struct kind_name *row, int64_t num, int64_t *left);

#endif
