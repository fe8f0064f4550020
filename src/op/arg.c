/* arg.c -- arguments as text in our own dialect: what strace would write, unknown bits as
 * numbers, strings with OCaml's escapes. */
#include "op/arg.h"

#include <string.h>

#include "base/arena.h"
#include "base/lexer.h"
#include "base/must.h"
#include "base/put.h"

const struct kind_name *name_find(const struct kind_name *names, const char *name, size_t len)
{
	for (; names && names->name; names++)
		if (word_is(name, len, names->name))
			return names;
	return NULL;
}

const struct kind_name *name_next(const struct kind_name *row, int64_t num, int64_t *left)
{
	for (; row->name; row++) {
		if ((num & row->mask) != row->value || (row->value && !(*left & row->value)))
			continue;
		*left &= row->mask == -1 ? 0 : ~row->value;
		return row;
	}
	return NULL;
}

static void print_mode(int64_t num, struct buf *out)
{
	if (num < 0) {
		put_num(out, num);
		return;
	}
	buf_addch(out, '0');
	put_octal(out, (uint64_t)num, 3);
}

/* The type by its name, everything else in octal. */
static void print_node_mode(int64_t num, struct buf *out)
{
	const struct kind_name *row;
	int64_t left = num;

	row = name_next(kind_names(KIND_NODE_MODE), num, &left);
	if (row && row->mask != row->value) {
		buf_adds(out, row->name);
		buf_addch(out, '|');
		num = left;
	}
	print_mode(num, out);
}

static void print_names(int64_t num, enum kind kind, struct buf *out)
{
	int64_t left = num;
	size_t start = out->len;

	for (const struct kind_name *row = kind_names(kind); (row = name_next(row, num, &left));
	     row++) {
		if (out->len > start)
			buf_addch(out, '|');
		buf_adds(out, row->name);
	}
	if (!left && out->len > start)
		return;
	if (out->len > start)
		buf_addch(out, '|');
	if (left && !kind_is_choice(kind))
		put_hex(out, (uint64_t)left);
	else
		put_num(out, left);
}

void num_print(int64_t num, enum kind kind, struct buf *out)
{
	if (kind == KIND_MODE)
		print_mode(num, out);
	else if (kind == KIND_NODE_MODE)
		print_node_mode(num, out);
	else if (kind_names(kind))
		print_names(num, kind, out);
	else
		put_num(out, num);
}

static int lex_name_or_num(struct lexer *l, enum kind kind, int64_t *ret)
{
	const struct kind_name *row;
	const char *word;
	size_t len;

	if (!kind_names(kind) || lex_at_num(l))
		return lex_num(l, RADIX_C, ret);
	len = lex_peek_word(l, &word);
	row = len ? name_find(kind_names(kind), word, len) : NULL;
	if (!row)
		return lex_expected(l, kind_table[kind].name);
	l->next += len;
	*ret = row->value;
	return 0;
}

int num_lex(struct lexer *l, enum kind kind, int64_t *ret)
{
	int64_t num = 0, more = 0;
	int err;

	do {
		err = lex_name_or_num(l, kind, &more);
		if (err)
			return err;
		num |= more;
	} while (kind_names(kind) && !kind_is_choice(kind) && lex_take(l, '|'));
	*ret = num;
	return 0;
}

void data_print(const struct arg *data, struct buf *out)
{
	put_literal(out, "data(");
	if (data->seed <= INT64_MAX)
		buf_addu(out, data->seed);
	else
		put_hex(out, data->seed);
	put_literal(out, ", ");
	buf_addu(out, data->len);
	buf_addch(out, ')');
}

int data_lex(struct lexer *l, struct arg *ret)
{
	int64_t seed, len;
	int err;

	err = lex_char(l, '(');
	if (!err)
		err = lex_num(l, RADIX_C, &seed);
	if (!err)
		err = lex_char(l, ',');
	if (!err)
		err = lex_num_in(l, RADIX_C, 0, UINT32_MAX, &len);
	if (!err)
		err = lex_char(l, ')');
	if (!err)
		*ret = (struct arg){ .seed = (uint64_t)seed,
				     .len = (uint32_t)len,
				     .generated = true };
	return err;
}

void arg_print(const struct arg *arg, enum kind kind, struct buf *out)
{
	if (kind_table[kind].form == FORM_NUM)
		num_print(arg->num, kind, out);
	else if (arg->generated)
		data_print(arg, out);
	else if (!arg->text)
		put_literal(out, "NULL");
	else
		put_quoted(out, arg->text, arg->len);
}

int arg_lex(struct lexer *l, enum kind kind, struct arg *ret)
{
	char *text;
	int err;

	*ret = (struct arg){ 0 };
	if (kind_table[kind].form == FORM_NUM)
		return num_lex(l, kind, &ret->num);
	if (lex_take_word(l, "NULL"))
		return 0;
	if (kind_table[kind].form == FORM_DATA && lex_take_word(l, "data"))
		return data_lex(l, ret);
	err = lex_string(l, &text, &ret->len);
	if (!err)
		ret->text = text;
	return err;
}

int arg_parse(struct arg *ret, enum kind kind, const char *text, struct arena *arena,
	      struct err *err)
{
	struct lexer l;
	int ret_code;

	lex_init(&l, kind_table[kind].name, arena_strdup(arena, text), err);
	ret_code = arg_lex(&l, kind, ret);
	return ret_code ? ret_code : lex_end(&l);
}

bool arg_equal(const struct arg *a, const struct arg *b, enum kind kind)
{
	if (kind_table[kind].form == FORM_NUM)
		return a->num == b->num;
	if (a->len != b->len || a->generated != b->generated)
		return false;
	if (a->generated)
		return a->seed == b->seed;
	if (!a->text || !b->text)
		return a->text == b->text;
	return !memcmp(a->text, b->text, a->len);
}

struct arg arg_copy(const struct arg *arg, enum kind kind, struct arena *arena)
{
	struct arg copy = *arg;

	if (kind_table[kind].form != FORM_NUM && !arg->generated && arg->text)
		copy.text = arena_copy(arena, arg->text, arg->len);
	return copy;
}
