/* native_read.c -- reads our own dialect:
 *
 *     line     = [pid] (call [ "=" outcomes ] | "=" outcomes) | "dump" string | dump result
 *     pid      = "[" number "]"
 *     call     = operation "(" [argument ("," argument)*] ")"
 *     outcomes = outcome ("or" outcome)*
 *     outcome  = errno | number | flags | string | "end" | "-"
 *              | "[" strings "]" | "{" fields "}" */
#include "op/kind.h"
#include "trace/dialect.h"

static int native_lex_pid(struct lexer *l, uint16_t *ret, bool *ret_given)
{
	int64_t pid = 1;
	int err;

	*ret_given = lex_take(l, '[');
	if (*ret_given) {
		err = lex_num_in(l, RADIX_C, 1, SCRIPT_PID_MAX, &pid);
		if (!err)
			err = lex_char(l, ']');
		if (err)
			return err;
	}
	*ret = (uint16_t)pid;
	return 0;
}

/* Operation and arguments, behind the process. */
static int native_lex_call(struct lexer *l, struct call *c)
{
	const struct op_info *info;
	const char *word;
	size_t len = lex_peek_word(l, &word);
	int op = len ? op_find_len(word, len) : -1, err;

	if (op < 0)
		return lex_expected(l, "an operation");
	l->next += len;
	c->op = (uint16_t)op;
	c->line = l->line;
	info = &op_table[op];
	err = lex_char(l, '(');
	for (unsigned i = 0; i < info->args && !err; i++) {
		if (i + 1 == info->args && op_last_optional(op) && lex_peek(l) == ')') {
			c->arg[i].num = MODE_ABSENT;
			break;
		}
		err = i ? lex_char(l, ',') : 0;
		if (!err)
			err = arg_lex(l, info->arg[i].kind, &c->arg[i]);
	}
	return err ? err : lex_char(l, ')');
}

int native_call(struct lexer *l, struct call *c)
{
	bool given;
	int err;

	*c = (struct call){ 0 };
	err = native_lex_pid(l, &c->pid, &given);
	return err ? err : native_lex_call(l, c);
}

static int native_lex_type(struct lexer *l, struct stat_result *st)
{
	const char *word;
	size_t len;
	int64_t num;
	int err;

	if (lex_at_num(l)) {
		err = lex_num_in(l, RADIX_C, 0, UINT32_MAX, &num);
		st->mode |= (uint32_t)num;
		return err;
	}
	len = lex_peek_word(l, &word);
	for (const struct file_type *type = file_types; type->name && len; type++) {
		if (!word_is(word, len, type->name))
			continue;
		st->mode |= type->mode;
		l->next += len;
		return 0;
	}
	return lex_expected(l, "a type of file");
}

static int native_lex_stat_field(struct lexer *l, struct stat_result *st)
{
	int64_t mode;
	int err;

	if (lex_take_word(l, "type")) {
		err = lex_char(l, '=');
		return err ? err : native_lex_type(l, st);
	}
	if (lex_take_word(l, "mode")) {
		err = lex_char(l, '=');
		if (!err)
			err = lex_num_in(l, RADIX_C, 0, UINT32_MAX, &mode);
		if (!err)
			st->mode = (st->mode & ~STAT_TYPE_ONLY) | (uint32_t)mode;
		return err;
	}
	return stat_field_lex(l, stat_fields, DIALECT_NATIVE, st);
}

/* Behind the brace. A stat begins with the type. */
static int native_lex_record(struct lexer *l, struct outcome *o)
{
	const char *word;
	size_t len = lex_peek_word(l, &word);
	int err = 0;

	if (word_is(word, len, "type")) {
		o->result = RESULT_STAT;
		o->stat = stat_unknown;
		o->stat.mode = STAT_TYPE_ONLY; /* unless it is given */
	} else {
		o->result = RESULT_STATFS;
		o->statfs = statfs_unknown;
	}
	while (!err && !lex_take(l, '}')) {
		if (o->result == RESULT_STAT)
			err = native_lex_stat_field(l, &o->stat);
		else
			err = stat_field_lex(l, statfs_fields, DIALECT_NATIVE, &o->statfs);
	}
	return err;
}

/* An errno, the end of a directory, or flags. */
static int native_lex_word_outcome(struct lexer *l, enum op op, struct outcome *o)
{
	const char *word;
	size_t len = lex_peek_word(l, &word);
	struct arg flags;
	int err;

	if (len && op == OP_get_inode_flags && name_find(kind_names(KIND_INODE_FLAGS), word, len)) {
		err = arg_lex(l, KIND_INODE_FLAGS, &flags);
		if (!err)
			reader_num(op, flags.num, o);
		return err;
	}
	o->error = len ? errno_find(word, len) : -1;
	if (len && word_is(word, len, "end")) {
		*o = (struct outcome){ .result = RESULT_NAME, .end = true, .bytes = "" };
	} else if (o->error <= 0) {
		return lex_expected(l, "an outcome");
	}
	l->next += len;
	return 0;
}

static int native_lex_outcome(struct script_reader *r, enum op op)
{
	struct outcome *o = reader_outcome(r);
	struct lexer *l = &r->lex;
	struct arg value;
	int err;

	if (lex_peek(l) == '"')
		return reader_bytes(r, op, o);
	if (lex_take(l, '['))
		return reader_names(r, ',', o);
	if (lex_take(l, '{'))
		return native_lex_record(l, o);
	if (!lex_at_num(l))
		return native_lex_word_outcome(l, op, o);
	err = op == OP_get_inode_flags ? arg_lex(l, KIND_INODE_FLAGS, &value)
				       : lex_num(l, RADIX_C, &value.num);
	if (!err)
		reader_num(op, value.num, o);
	return err;
}

static int native_lex_outcomes(struct script_reader *r, uint16_t pid, bool has_pid)
{
	struct lexer *l = &r->lex;
	bool any_success = false;
	int err = 0;

	do {
		if (!lex_at_num(l) && lex_take(l, '-'))
			any_success = true;
		else
			err = native_lex_outcome(r, r->last_op[pid]);
	} while (!err && lex_take_word(l, "or"));
	if (!err)
		reader_add_return(r, pid, has_pid, any_success);
	return err;
}

static int native_dump_line(struct script_reader *r)
{
	struct lexer *l = &r->lex;
	const char *path;
	bool result = *l->next == '-';
	int err;

	if (result) {
		l->next++;
		if (!lex_take_word(l, "result"))
			return lex_expected(l, "result");
	}
	err = reader_path(r, &path);
	if (err)
		return err;
	return result ? reader_dump_result(r, path) : reader_dump(r, path);
}

int native_line(struct script_reader *r)
{
	struct lexer *l = &r->lex;
	struct call c = { 0 };
	bool has_pid;
	int err;

	err = native_lex_pid(l, &c.pid, &has_pid);
	if (err)
		return err;
	if (!has_pid && lex_take_word(l, "dump"))
		return native_dump_line(r);
	if (lex_peek(l) != '=') {
		err = native_lex_call(l, &c);
		if (err)
			return err;
		reader_add_call(r, &c, has_pid);
	}
	if (lex_take(l, '='))
		err = native_lex_outcomes(r, c.pid, has_pid);
	return err ? err : lex_end(l);
}
