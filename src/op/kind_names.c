/* kind_names.c -- flags and choices by their names.
 *
 * The order of a table is the order of printing. Where one flag holds the bits of another
 * (O_SYNC holds O_DSYNC), the mask of the lesser one holds the bits of the greater, so that
 * exactly one of the two matches. A table whose first row matches whole values names choices;
 * all others name bits. */
#include "base/lexer.h"
#include "base/put.h"
#include "op/kind_functions.h"

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

/* Does the kind name whole values (SEEK_SET) rather than bits? */
static bool names_are_choices(const struct kind_info *kind)
{
	return kind->names[0].mask == -1;
}

void names_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	int64_t left = arg->num;
	size_t start = out->len;

	for (const struct kind_name *row = kind->names; (row = name_next(row, arg->num, &left));
	     row++) {
		if (out->len > start)
			buf_addch(out, '|');
		buf_adds(out, row->name);
	}
	if (!left && out->len > start)
		return;
	if (out->len > start)
		buf_addch(out, '|');
	if (left && !names_are_choices(kind))
		put_hex(out, (uint64_t)left);
	else
		put_num(out, left);
}

static int names_lex_one(const struct kind_info *kind, struct lexer *l, int64_t *ret)
{
	const struct kind_name *row;
	const char *word;
	size_t len;

	if (lex_at_num(l))
		return lex_num(l, RADIX_C, ret);
	len = lex_peek_word(l, &word);
	row = len ? name_find(kind->names, word, len) : NULL;
	if (!row)
		return lex_expected(l, kind->name);
	l->next += len;
	*ret = row->value;
	return 0;
}

int names_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret)
{
	int64_t num = 0, more = 0;
	int err;

	do {
		err = names_lex_one(kind, l, &more);
		if (err)
			return err;
		num |= more;
	} while (!names_are_choices(kind) && lex_take(l, '|'));
	ret->num = num;
	return 0;
}

/* Each name by itself; then for flags nothing, unless that has a name, and all of them together;
 * for choices, near them, what has no name. */
bool names_boundary(const struct kind_info *kind, size_t i, bool near, int64_t *ret)
{
	const struct kind_name *row = kind->names;
	int64_t all = 0, beyond[2];
	size_t count = 0, beyond_count = 0;

	for (; row[count].name; count++)
		all |= row[count].value;
	if (i < count) {
		*ret = row[i].value;
		return true;
	}
	if (!names_are_choices(kind)) {
		if (row[count - 1].value)
			beyond[beyond_count++] = 0;
		beyond[beyond_count++] = all;
	} else if (near) {
		beyond[beyond_count++] = -1;
		beyond[beyond_count++] = row[count - 1].value + 1;
	}
	i -= count;
	if (i < beyond_count)
		*ret = beyond[i];
	return i < beyond_count;
}
