/* kind_data.c -- bytes to write: literal ones, or those of the generator. The length that counts is
 * another argument, so data has no partitions. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/lexer.h"
#include "base/put.h"
#include "op/c_text.h"
#include "op/kind_functions.h"

enum { LETTERS_MAX = 64, LITERAL_MAX = 48 };

static void data_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	if (!arg->generated) {
		if (arg->text)
			put_quoted(out, arg->text, arg->len);
		else
			put_literal(out, "NULL");
		return;
	}
	put_literal(out, "data(");
	if (arg->seed <= INT64_MAX)
		buf_addu(out, arg->seed);
	else
		put_hex(out, arg->seed);
	put_literal(out, ", ");
	buf_addu(out, arg->len);
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

static int data_or_text_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret)
{
	return lex_take_word(l, "data") ? data_lex(l, ret) : text_lex(kind, l, ret);
}

/* Generated data as plain letters; data that differ by seed still differ. */
static bool data_plainer(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
			 struct arena *arena, struct arg *ret)
{
	char *text;

	if (i > 0 || !arg->generated || arg->len > LETTERS_MAX)
		return false;
	text = arena_alloc(arena, arg->len + 1);
	memset(text, 'a' + (int)(arg->seed % 26), arg->len);
	*ret = (struct arg){ .text = text, .len = arg->len };
	return true;
}

static bool data_is_one_byte(const struct arg *data)
{
	for (uint32_t i = 1; i < data->len; i++)
		if (data->text[i] != data->text[0])
			return false;
	return true;
}

static void data_c_text(const struct kind_info *kind, const struct arg *data, struct c_text *to)
{
	if (data->generated) {
		buf_addf(to->out, "pattern(%" PRIu64 "u, %u)", data->seed, data->len);
	} else if (data->len > LITERAL_MAX && data_is_one_byte(data)) {
		buf_addf(to->out, "repeat(%d, %u)", data->text[0], data->len);
	} else {
		buf_adds(to->out, "text(");
		c_string(data->text, data->len, to->out);
		buf_addf(to->out, ", %u)", data->len);
	}
}

#define BYTES \
	.form = FORM_DATA, .picked = "1", .print = data_print, .lex = data_or_text_lex, \
	.partitions = &partition_classes, .simpler = data_plainer, .c_text = data_c_text

const struct kind_info kind_data = { .name = "data", BYTES };
const struct kind_info kind_xattr_value = { .name = "xattr_value", BYTES };
