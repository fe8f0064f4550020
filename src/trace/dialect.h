/* dialect.h -- what the reader and the writer of a dialect share with script.c. */
#ifndef TRACE_DIALECT_H
#define TRACE_DIALECT_H

#include "base/lexer.h"
#include "trace/script.h"

/* A script while it is read. */
struct script_reader {
	struct lexer lex;
	struct script *script;
	/* What each process called last: it says what a return means. OP_COUNT for nothing. */
	uint16_t last_op[SCRIPT_PID_MAX + 1];
	/* The outcomes of one return until they are counted. */
	struct outcome *outcomes;
	size_t outcome_count, outcome_cap;
};

/* Adds an item of the current line. The place is valid until the next. */
struct item *reader_add(struct script_reader *r, enum item_type type);
/* An item that is a whole call; it becomes the last of its process. */
void reader_add_call(struct script_reader *r, const struct call *c, bool has_pid);
/* Room for one more outcome of a return, then the item that holds all of them. */
struct outcome *reader_outcome(struct script_reader *r);
void reader_add_return(struct script_reader *r, uint16_t pid, bool has_pid, bool any_success);
/* A blank line or a comment, if the line is one. */
bool reader_take_filler(struct script_reader *r);
/* Behind "dump" and "dump-result". */
int reader_dump(struct script_reader *r, const char *path);
int reader_dump_result(struct script_reader *r, const char *path);
/* A string without NUL in it. */
int reader_path(struct script_reader *r, const char **ret);
/* Outcomes, meant as the results of op: a string; a number; names behind the bracket. */
int reader_bytes(struct script_reader *r, enum op op, struct outcome *o);
void reader_num(enum op op, int64_t num, struct outcome *o);
int reader_names(struct script_reader *r, char separator, struct outcome *o);

/* One line each. */
int native_line(struct script_reader *r);
int published_line(struct script_reader *r);
/* "[2] mkdir(...)" */
int native_call(struct lexer *l, struct call *c);

void native_write(const struct script *s, struct buf *out);
void published_write(const struct script *s, struct buf *out);
void native_print_call(const struct call *c, struct buf *out);
void published_print_call(const struct call *c, struct buf *out);
void native_print_outcome(const struct outcome *o, enum op op, struct buf *out);
void published_print_outcome(const struct outcome *o, struct buf *out);
/* What both dialects write alike: dumps, comments and blank lines; names in brackets. */
void write_plain_item(const struct item *item, struct buf *out);
void write_names(const struct outcome *o, const char *separator, struct buf *out);

/* Fields of stat and statfs by name: "nlink", "bsize". */
struct stat_field {
	const char *name, *published;
	size_t offset; /* of an int64_t */
};
extern const struct stat_field stat_fields[], statfs_fields[]; /* NULL-terminated by name */
static inline int64_t field_get(const void *record, const struct stat_field *field)
{
	return *(const int64_t *)((const char *)record + field->offset);
}
static inline void field_set(void *record, const struct stat_field *field, int64_t value)
{
	*(int64_t *)((char *)record + field->offset) = value;
}
/* "nlink=2" as the dialect names it. */
int stat_field_lex(struct lexer *l, const struct stat_field *fields, enum dialect dialect,
		   void *record);
/* The types of files: "dir". */
struct file_type {
	const char *name;
	uint32_t mode;
};
extern const struct file_type file_types[]; /* NULL-terminated by name */
extern const struct stat_result stat_unknown;
extern const struct statfs_result statfs_unknown;

#endif
