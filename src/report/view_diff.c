/* view_diff.c -- two texts side by side. Trees are joined by their paths, other texts are whole. */
#include <string.h>

#include "report/view.h"

enum { DIFF_LINES_MAX = 400 };

struct diff_lines {
	const char *at[DIFF_LINES_MAX];
	size_t len[DIFF_LINES_MAX];
	size_t count;
	bool tree; /* every line begins with a path */
};

static void diff_split(const char *text, struct diff_lines *ret)
{
	*ret = (struct diff_lines){ .tree = *text == '/' };
	for (; *text && ret->count < DIFF_LINES_MAX; ret->count++) {
		size_t len = strcspn(text, "\n");

		ret->at[ret->count] = text;
		ret->len[ret->count] = len;
		ret->tree &= *text == '/';
		text += len + (text[len] == '\n');
	}
}

/* The path of a line, which ends at a space; names are printed with their spaces escaped. */
static size_t diff_key(const struct diff_lines *l, size_t i)
{
	size_t len = strcspn(l->at[i], " \n");

	return len < l->len[i] ? len : l->len[i];
}

static void diff_add(json_t *rows, const char *kind, const struct diff_lines *a, size_t i,
		     const struct diff_lines *b, size_t k)
{
	json_t *row = json_pack("{s:s}", "kind", kind);

	json_object_set_new(row, "left", a ? view_text_part(a->at[i], a->len[i]) : json_string(""));
	json_object_set_new(row, "right",
			    b ? view_text_part(b->at[k], b->len[k]) : json_string(""));
	json_array_append_new(rows, row);
}

static bool diff_same_key(const struct diff_lines *a, size_t i, const struct diff_lines *b,
			  size_t k)
{
	return diff_key(a, i) == diff_key(b, k) && !memcmp(a->at[i], b->at[k], diff_key(a, i));
}

static bool diff_equal(const struct diff_lines *a, size_t i, const struct diff_lines *b, size_t k)
{
	return a->len[i] == b->len[k] && !memcmp(a->at[i], b->at[k], a->len[i]);
}

static int diff_find(const struct diff_lines *a, size_t i, const struct diff_lines *b)
{
	for (size_t k = 0; k < b->count; k++)
		if (diff_same_key(a, i, b, k))
			return (int)k;
	return -1;
}

static void diff_trees(json_t *rows, const struct diff_lines *a, const struct diff_lines *b)
{
	for (size_t i = 0; i < a->count; i++) {
		int k = diff_find(a, i, b);

		if (k < 0)
			diff_add(rows, "missing", a, i, NULL, 0);
		else
			diff_add(rows, diff_equal(a, i, b, (size_t)k) ? "same" : "changed", a, i, b,
				 (size_t)k);
	}
	for (size_t k = 0; k < b->count; k++)
		if (diff_find(b, k, a) < 0)
			diff_add(rows, "extra", NULL, 0, b, k);
}

json_t *view_diff(const char *expected, const char *seen)
{
	struct diff_lines a, b;
	json_t *rows;

	if (!*expected && !*seen)
		return NULL;
	rows = json_array();
	diff_split(expected, &a);
	diff_split(seen, &b);
	if (a.tree && b.tree && a.count && b.count) {
		diff_trees(rows, &a, &b);
	} else {
		json_t *row = json_pack("{s:s}", "kind", "changed");

		json_object_set_new(row, "left", view_text(expected));
		json_object_set_new(row, "right", view_text(seen));
		json_array_append_new(rows, row);
	}
	return rows;
}
