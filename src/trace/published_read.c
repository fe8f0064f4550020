/* published_read.c -- reads the language of the published scripts and traces.
 *
 *     line   = [number ":"] (["Pid" n "->"] call | "dump" [path] | dump result)
 *            | [number ":"] ("Tau" | ["Pid" n "<- "] returned)          in traces only
 *
 * Numbers in front are passed over. Operations and kinds of arguments that language does not
 * have are read in the same manner, the arguments as our own dialect spells them. */
#include <errno.h>
#include <string.h>

#include "op/kind.h"
#include "trace/dialect.h"
#include "trace/published.h"

const struct published_name published_names[] = {
	{ "read!", OP_read_all },
	{ "pread!", OP_pread_all },
	{ "write!", OP_write_all },
	{ "pwrite!", OP_pwrite_all },
	{ "create", OP_create_process },
	{ "destroy", OP_destroy_process },
	{ NULL, OP_COUNT },
};

static int published_find_op(const char *word, size_t len)
{
	for (const struct published_name *n = published_names; n->name; n++)
		if (!strncmp(n->name, word, len) && !n->name[len])
			return n->op;
	return op_find_len(word, len);
}

const char *published_tag(enum kind kind)
{
	static const char *const tags[KIND_COUNT_] = {
		[KIND_FD] = "FD",
		[KIND_DH] = "DH",
		[KIND_UID] = "User_id",
		[KIND_GID] = "Group_id",
	};

	return tags[kind];
}

/* "(FD 3)", "FD 3" */
static int published_lex_tagged(struct lexer *l, const char *tag, int64_t *ret)
{
	bool open = lex_take(l, '(');
	int err;

	if (!lex_take_word(l, tag))
		return lex_expected(l, tag);
	err = lex_num(l, RADIX_OCAML, ret);
	return err || !open ? err : lex_char(l, ')');
}

static int published_lex_flags(struct lexer *l, int64_t *ret)
{
	int64_t flags = 0;
	struct arg more;
	int err;

	err = lex_char(l, '[');
	*ret = 0;
	if (err || lex_take(l, ']'))
		return err;
	do {
		err = arg_lex(l, KIND_OPEN_FLAGS, &more);
		flags |= err ? 0 : more.num;
	} while (!err && lex_take(l, ';'));
	*ret = flags;
	return err ? err : lex_char(l, ']');
}

/* The bits that a letter of "<rwxrwxrwx>" sets, -1 for a wrong one. */
static int published_letter_bits(char letter, unsigned i)
{
	static const char plain[] = "rwx";
	int bit = 0400 >> i, special = 04000 >> i / 3;

	if (letter == '-' || letter == '_')
		return 0;
	if (letter == plain[i % 3])
		return bit;
	if (i % 3 != 2)
		return -1;
	if (letter == (i == 8 ? 't' : 's'))
		return bit | special;
	return letter == (i == 8 ? 'T' : 'S') ? special : -1;
}

/* Decimal, 0o755 or <rwxr-xr-x> */
int published_mode(struct lexer *l, int64_t *ret)
{
	int bits;

	if (lex_peek(l) != '<')
		return lex_num(l, RADIX_OCAML, ret);
	*ret = 0;
	for (unsigned i = 0; i < 9; i++) {
		bits = published_letter_bits(l->next[i + 1], i);
		if (bits < 0)
			return lex_expected(l, "permissions like <rwxr-xr-x>");
		*ret |= bits;
	}
	if (l->next[10] != '>')
		return lex_expected(l, "permissions like <rwxr-xr-x>");
	l->next += 11;
	return 0;
}

/* "quoted", null, or /absolute up to a blank. */
static int published_lex_text(struct script_reader *r, struct arg *ret)
{
	struct lexer *l = &r->lex;
	char *text;
	int err;

	if (lex_peek(l) == '/') {
		ret->len = (uint32_t)strcspn(l->next, " \t\r\n");
		ret->text = arena_copy(&r->script->arena, l->next, ret->len);
		l->next += ret->len;
		return 0;
	}
	if (lex_take_word(l, "null"))
		return 0;
	err = lex_string(l, &text, &ret->len);
	if (!err)
		ret->text = text;
	return err;
}

static int published_lex_arg(struct script_reader *r, enum kind kind, struct arg *ret)
{
	const char *tag = published_tag(kind);
	struct lexer *l = &r->lex;

	*ret = (struct arg){ 0 };
	if (tag)
		return published_lex_tagged(l, tag, &ret->num);
	if (kind == KIND_OPEN_FLAGS)
		return published_lex_flags(l, &ret->num);
	if (kind == KIND_MODE)
		return published_mode(l, &ret->num);
	if (kind_table[kind]->form == FORM_DATA && lex_take_word(l, "data"))
		return data_lex(l, ret);
	if (kind_table[kind]->form != FORM_NUM)
		return published_lex_text(r, ret);
	return kind_names(kind) ? arg_lex(l, kind, ret) : lex_num(l, RADIX_OCAML, &ret->num);
}

/* May the argument and those behind it be missing? */
static bool published_arg_optional(enum op op, unsigned i)
{
	if (op == OP_create_process)
		return i == 0;
	return i + 1 == op_table[op].args && op_last_optional(op);
}

static int published_call_line(struct script_reader *r, uint16_t pid, bool has_pid)
{
	struct call c = { .pid = pid, .line = r->lex.line };
	struct lexer *l = &r->lex;
	const char *word;
	size_t len = lex_peek_word(l, &word);
	int op, err = 0;

	len += len && word[len] == '!';
	op = len ? published_find_op(word, len) : -1;
	if (op < 0)
		return lex_expected(l, "an operation");
	if (!has_pid && (op == OP_create_process || op == OP_destroy_process))
		return lex_expected(l, "Pid");
	l->next += len;
	c.op = (uint16_t)op;
	for (unsigned i = 0; i < op_table[op].args && !err; i++) {
		if (published_arg_optional(op, i) && lex_at_end(l)) {
			c.arg[i].num = op == OP_create_process ? 0 : MODE_ABSENT;
			break;
		}
		err = published_lex_arg(r, op_table[op].arg[i].kind, &c.arg[i]);
	}
	if (!err)
		reader_add_call(r, &c, has_pid);
	return err ? err : lex_end(l);
}

static int published_dump_line(struct script_reader *r)
{
	struct lexer *l = &r->lex;
	struct arg path = { 0 };
	bool result = *l->next == '-';
	int err;

	if (result) {
		l->next++;
		if (!r->script->is_trace || !lex_take_word(l, "result"))
			return lex_expected(l, "a path");
	}
	if (!result && lex_at_end(l))
		return reader_dump(r, "/");
	err = published_lex_text(r, &path);
	if (err)
		return err;
	if (!path.text || strlen(path.text) != path.len)
		return lex_expected(l, "a path without NUL in front");
	return result ? reader_dump_result(r, path.text) : reader_dump(r, path.text);
}

/* "<- " and the value behind it. */
static int published_return_line(struct script_reader *r, uint16_t pid, bool has_pid)
{
	int err;

	if (!r->script->is_trace)
		return lex_expected(&r->lex, "a call");
	err = published_returned(r, pid, has_pid);
	return err ? err : lex_end(&r->lex);
}

static int published_pid_line(struct script_reader *r)
{
	struct lexer *l = &r->lex;
	int64_t pid;
	int err;

	err = lex_num_in(l, RADIX_OCAML, 1, SCRIPT_PID_MAX, &pid);
	if (err)
		return err;
	lex_blanks(l);
	if (!strncmp(l->next, "->", 2)) {
		l->next += 2;
		return published_call_line(r, (uint16_t)pid, true);
	}
	if (r->script->is_trace && !strncmp(l->next, "<- ", 3)) {
		l->next += 3;
		return published_return_line(r, (uint16_t)pid, true);
	}
	return lex_expected(l, r->script->is_trace ? "-> or <- " : "->");
}

static int published_skip_number(struct lexer *l)
{
	struct lexer start = *l;
	int64_t number;
	int err;

	if (!lex_at_num(l) || *l->next == '-')
		return 0;
	err = lex_num(l, RADIX_OCAML, &number);
	if (err || lex_take(l, ':'))
		return err;
	*l = start;
	return lex_expected(l, "a call");
}

int published_line(struct script_reader *r)
{
	struct lexer *l = &r->lex;
	char c;
	int err;

	err = published_skip_number(l);
	if (err)
		return err;
	if (lex_take_word(l, "Pid"))
		return published_pid_line(r);
	if (lex_take_word(l, "dump"))
		return published_dump_line(r);
	if (r->script->is_trace && lex_take_word(l, "Tau")) {
		reader_add(r, ITEM_TAU);
		return lex_end(l);
	}
	c = lex_peek(l);
	return c >= 'a' && c <= 'z' ? published_call_line(r, 1, false)
				    : published_return_line(r, 1, false);
}
