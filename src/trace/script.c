/* script.c -- scripts and traces as a whole. */
#include "trace/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/put.h"
#include "trace/dialect.h"

enum { ITEMS_MIN = 64 };

int script_read(struct script *s, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	ret = buf_read_file(&text, path, SCRIPT_TEXT_MAX, err);
	if (!ret)
		ret = script_parse(s, path, buf_str(&text), text.len, err);
	buf_free(&text);
	return ret;
}

void script_reset(struct script *s)
{
	arena_reset(&s->arena);
	s->name = NULL;
	s->dialect = DIALECT_NATIVE;
	s->is_trace = false;
	s->count = 0;
}

void script_free(struct script *s)
{
	arena_free(&s->arena);
	free(s->items);
	*s = (struct script){ 0 };
}

struct item *script_add(struct script *s, enum item_type type, uint32_t line)
{
	if (s->count == s->cap) {
		s->cap = s->cap ? 2 * s->cap : ITEMS_MIN;
		s->items = must_realloc(s->items, s->cap * sizeof(*s->items));
	}
	s->items[s->count] = (struct item){ .type = type, .line = line, .pid = 1 };
	return &s->items[s->count++];
}

static bool item_counts(const struct item *item)
{
	return item->type != ITEM_COMMENT && item->type != ITEM_BLANK && item->type != ITEM_TAU;
}

static bool return_equal(const struct item_return *a, const struct item_return *b)
{
	if (a->count != b->count || a->any_success != b->any_success)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!outcome_equal(&a->outcomes[i], &b->outcomes[i]))
			return false;
	return true;
}

static bool item_equal(const struct item *a, const struct item *b)
{
	if (a->type != b->type || a->pid != b->pid)
		return false;
	switch (a->type) {
	case ITEM_CALL:
		return call_equal(&a->call, &b->call);
	case ITEM_RETURN:
		return return_equal(&a->ret, &b->ret);
	case ITEM_DUMP_RESULT:
		return !strcmp(a->path, b->path) && !strcmp(a->text, b->text);
	case ITEM_DUMP:
		return !strcmp(a->path, b->path);
	case ITEM_TAU:
	case ITEM_COMMENT:
	case ITEM_BLANK:
		break;
	}
	return true;
}

bool script_equal(const struct script *a, const struct script *b)
{
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		while (i < a->count && !item_counts(&a->items[i]))
			i++;
		while (j < b->count && !item_counts(&b->items[j]))
			j++;
		if (i == a->count || j == b->count)
			return i == a->count && j == b->count;
		if (!item_equal(&a->items[i], &b->items[j]))
			return false;
	}
}

void write_plain_item(const struct item *item, struct buf *out)
{
	switch (item->type) {
	case ITEM_DUMP:
		put_literal(out, "dump ");
		put_quoted(out, item->path, strlen(item->path));
		break;
	case ITEM_DUMP_RESULT:
		put_literal(out, "dump-result ");
		put_quoted(out, item->path, strlen(item->path));
		buf_addch(out, '\n');
		buf_adds(out, item->text);
		put_literal(out, "end dump-result");
		break;
	case ITEM_COMMENT:
		buf_adds(out, item->text);
		break;
	default:
		break;
	}
	buf_addch(out, '\n');
}

void write_names(const struct outcome *o, const char *separator, struct buf *out)
{
	buf_addch(out, '[');
	for (size_t i = 0, len; i < o->len; i += len + 1) {
		if (i)
			buf_adds(out, separator);
		len = strlen(o->bytes + i);
		put_quoted(out, o->bytes + i, len);
	}
	buf_addch(out, ']');
}

void script_print(const struct script *s, enum dialect dialect, struct buf *out)
{
	if (dialect == DIALECT_NATIVE)
		native_write(s, out);
	else
		published_write(s, out);
}

void call_print(const struct call *c, enum dialect dialect, struct buf *out)
{
	if (dialect == DIALECT_NATIVE)
		native_print_call(c, out);
	else
		published_print_call(c, out);
}

void outcome_print(const struct outcome *o, enum op op, enum dialect dialect, struct buf *out)
{
	if (dialect == DIALECT_NATIVE)
		native_print_outcome(o, op, out);
	else
		published_print_outcome(o, out);
}

int call_parse(struct call *c, const char *text, struct arena *arena, struct err *err)
{
	struct lexer l;
	int ret;

	lex_init(&l, "call", arena_strdup(arena, text), err);
	ret = native_call(&l, c);
	return ret ? ret : lex_end(&l);
}
