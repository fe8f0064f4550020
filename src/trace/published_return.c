/* published_return.c -- reads the returned values of published traces:
 *
 *     returned = value | "{" value (";" value)* "}"
 *     value    = errno | "EUNKNOWNERR(" n ")" | "-" | "RV_none" | "RV_num(" n ")"
 *              | "RV_bytes(" string ")" | "RV_file_perm(" permissions ")" | "[" strings "]"
 *              | "RV_stat {" (field "=" value ";")* "}"       all nine fields, in any order
 *
 * and, for what that language does not have, "RV_statfs {" (field "=" value ";")* "}". */
#include "op/kind.h"
#include "trace/published.h"

/* "=S_IFREG" */
static int published_lex_kind(struct lexer *l, int64_t *ret)
{
	const struct kind_name *type;
	const char *word;
	size_t len;
	int err;

	err = lex_char(l, '=');
	if (err)
		return err;
	len = lex_peek_word(l, &word);
	type = len ? name_find(kind_names(KIND_NODE_MODE), word, len) : NULL;
	if (!type || type->mask == type->value)
		return lex_expected(l, "a type of file");
	l->next += len;
	*ret = type->value;
	return 0;
}

static int published_lex_perm(struct lexer *l, int64_t *ret)
{
	int err = lex_char(l, '=');

	return err ? err : published_mode(l, ret);
}

/* Is a field missing that every RV_stat has? */
static bool published_stat_incomplete(const struct stat_result *st, int64_t kind, int64_t perm)
{
	for (const struct stat_field *field = stat_fields; field->name; field++)
		if (field->published && field_get(st, field) == STAT_UNKNOWN)
			return true;
	return kind < 0 || perm < 0;
}

static int published_lex_stat(struct lexer *l, struct outcome *o)
{
	int64_t kind = -1, perm = -1;
	int err = lex_char(l, '{');

	o->result = RESULT_STAT;
	o->stat = stat_unknown;
	while (!err && (lex_peek(l) != '}' || published_stat_incomplete(&o->stat, kind, perm))) {
		if (lex_take_word(l, "st_kind"))
			err = published_lex_kind(l, &kind);
		else if (lex_take_word(l, "st_perm"))
			err = published_lex_perm(l, &perm);
		else
			err = stat_field_lex(l, stat_fields, DIALECT_PUBLISHED, &o->stat);
		if (!err)
			err = lex_char(l, ';');
	}
	o->stat.mode = (uint32_t)(kind | perm);
	return err ? err : lex_char(l, '}');
}

static int published_lex_statfs(struct lexer *l, struct outcome *o)
{
	int err = lex_char(l, '{');

	o->result = RESULT_STATFS;
	o->statfs = statfs_unknown;
	while (!err && !lex_take(l, '}')) {
		err = stat_field_lex(l, statfs_fields, DIALECT_PUBLISHED, &o->statfs);
		if (!err)
			err = lex_char(l, ';');
	}
	return err;
}

/* The number in parentheses. */
static int published_lex_parenthesised(struct lexer *l,
				       int (*number)(struct lexer *l, int64_t *ret), int64_t *ret)
{
	int err = lex_char(l, '(');

	if (!err)
		err = number(l, ret);
	return err ? err : lex_char(l, ')');
}

static int published_lex_plain_num(struct lexer *l, int64_t *ret)
{
	return lex_num(l, RADIX_OCAML, ret);
}

static int published_lex_errnum(struct lexer *l, int64_t *ret)
{
	return lex_num_in(l, RADIX_OCAML, 1, INT32_MAX, ret);
}

/* Behind RV_bytes. An empty name is the end of a directory, like RV_none. */
static int published_lex_bytes(struct script_reader *r, enum op op, struct outcome *o)
{
	int err = lex_char(&r->lex, '(');

	if (!err)
		err = reader_bytes(r, op, o);
	o->end = o->result == RESULT_NAME && !o->len;
	return err ? err : lex_char(&r->lex, ')');
}

static int published_lex_errno(struct lexer *l, struct outcome *o)
{
	const char *word;
	size_t len = lex_peek_word(l, &word);

	o->error = len ? errno_find(word, len) : -1;
	if (o->error <= 0)
		return lex_expected(l, "a returned value");
	l->next += len;
	return 0;
}

static int published_lex_value(struct script_reader *r, enum op op)
{
	struct outcome *o = reader_outcome(r);
	struct lexer *l = &r->lex;
	int64_t num = 0;
	int err;

	if (lex_take_word(l, "RV_none")) {
		if (op < OP_COUNT && op_table[op].result == RESULT_NAME)
			*o = (struct outcome){ .result = RESULT_NAME, .end = true, .bytes = "" };
		return 0;
	}
	if (lex_take_word(l, "RV_num")) {
		err = published_lex_parenthesised(l, published_lex_plain_num, &num);
		o->result =
			op < OP_COUNT && op_table[op].result == RESULT_FD ? RESULT_FD : RESULT_NUM;
		o->num = num;
		return err;
	}
	if (lex_take_word(l, "RV_bytes"))
		return published_lex_bytes(r, op, o);
	if (lex_take_word(l, "RV_file_perm")) {
		o->result = RESULT_PERM;
		return published_lex_parenthesised(l, published_mode, &o->num);
	}
	if (lex_take_word(l, "RV_stat"))
		return published_lex_stat(l, o);
	if (lex_take_word(l, "RV_statfs"))
		return published_lex_statfs(l, o);
	if (lex_take(l, '['))
		return reader_names(r, ';', o);
	if (lex_take_word(l, "EUNKNOWNERR")) {
		err = published_lex_parenthesised(l, published_lex_errnum, &num);
		o->error = (int)num;
		return err;
	}
	return published_lex_errno(l, o);
}

int published_returned(struct script_reader *r, uint16_t pid, bool has_pid)
{
	struct lexer *l = &r->lex;
	bool set = lex_take(l, '{'), any_success = false;
	int err = 0;

	do {
		if (lex_take(l, '-'))
			any_success = true;
		else
			err = published_lex_value(r, r->last_op[pid]);
	} while (!err && set && lex_take(l, ';'));
	if (!err && set)
		err = lex_char(l, '}');
	if (!err)
		reader_add_return(r, pid, has_pid, any_success);
	return err;
}
