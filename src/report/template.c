/* template.c -- text from a template and JSON: the one place where pages are escaped. */
#include "report/template.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "report/html.h"

enum { TEMPLATE_DEPTH = 16, TEMPLATE_NAME = 48 };

/* The values around a place in the template, the innermost last. */
struct template_scope {
	const json_t *values[TEMPLATE_DEPTH];
	size_t count;
};

struct template_tag {
	char type; /* '#', '^', '/', '{' (as it is), '\0' (escaped) */
	char name[TEMPLATE_NAME];
	const char *from, *to; /* of the tag itself; to is behind it */
};

/* Where so many of a character come behind each other; NULL: nowhere before the end. */
static const char *template_seek(const char *at, const char *end, char c, size_t count)
{
	while ((at = at < end ? memchr(at, c, (size_t)(end - at)) : NULL)) {
		size_t found = 1;

		while (found < count && at + found < end && at[found] == c)
			found++;
		if (found == count)
			return at;
		at += found;
	}
	return NULL;
}

/* The next tag; false: none is left. */
static bool template_next(const char *at, const char *end, struct template_tag *ret)
{
	const char *open = template_seek(at, end, '{', 2), *close, *name;
	size_t len;

	if (!open)
		return false;
	name = open + 2;
	ret->type = strchr("#^/{", *name) ? *name++ : '\0';
	close = template_seek(name, end, '}', ret->type == '{' ? 3 : 2);
	must(close);
	len = (size_t)(close - name);
	must(len && len < TEMPLATE_NAME);
	memcpy(ret->name, name, len);
	ret->name[len] = '\0';
	ret->from = open;
	ret->to = close + (ret->type == '{' ? 3 : 2);
	return true;
}

/* The tag that ends a section whose text begins at `at`. */
static struct template_tag template_end(const char *at, const char *end, const char *name)
{
	struct template_tag tag;
	size_t depth = 1;

	for (; depth; at = tag.to) {
		must(template_next(at, end, &tag));
		if (strcmp(tag.name, name))
			continue;
		depth += tag.type == '#' || tag.type == '^';
		depth -= tag.type == '/';
	}
	return tag;
}

static const json_t *template_find(const struct template_scope *scope, const char *name)
{
	if (!strcmp(name, "."))
		return scope->values[scope->count - 1];
	for (size_t i = scope->count; i--;) {
		const json_t *value = json_object_get(scope->values[i], name);

		if (value)
			return value;
	}
	return NULL;
}

static void template_value(struct buf *out, const json_t *value, bool raw)
{
	if (json_is_integer(value))
		html_count(out, json_integer_value(value));
	else if (json_is_real(value))
		buf_addf(out, "%.2f", json_real_value(value));
	else if (json_is_boolean(value))
		buf_adds(out, json_is_true(value) ? "yes" : "no");
	else if (raw)
		buf_adds(out, json_is_string(value) ? json_string_value(value) : "");
	else
		html_text(out, json_string_value(value));
}

static bool template_is_something(const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT:
		return json_object_size(value);
	case JSON_ARRAY:
		return json_array_size(value);
	case JSON_STRING:
		return json_string_length(value);
	case JSON_INTEGER:
		return json_integer_value(value);
	case JSON_REAL:
	case JSON_TRUE:
		return true;
	default:
		return false;
	}
}

static void template_part(struct buf *out, const char *from, const char *to,
			  struct template_scope *scope);

static void template_within(struct buf *out, const char *from, const char *to,
			    struct template_scope *scope, const json_t *value)
{
	must(scope->count < TEMPLATE_DEPTH);
	scope->values[scope->count++] = value;
	template_part(out, from, to, scope);
	scope->count--;
}

static void template_section(struct buf *out, const struct template_tag *begin, const char *end,
			     struct template_scope *scope)
{
	const json_t *value = template_find(scope, begin->name), *item;
	bool something = template_is_something(value);
	size_t i;

	if (begin->type == '^') {
		if (!something)
			template_part(out, begin->to, end, scope);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item)
			template_within(out, begin->to, end, scope, item);
	} else if (something) {
		template_within(out, begin->to, end, scope, value);
	}
}

static void template_part(struct buf *out, const char *from, const char *to,
			  struct template_scope *scope)
{
	struct template_tag tag, end;

	while (template_next(from, to, &tag)) {
		buf_add(out, from, (size_t)(tag.from - from));
		from = tag.to;
		must(tag.type != '/');
		if (tag.type == '#' || tag.type == '^') {
			end = template_end(tag.to, to, tag.name);
			template_section(out, &tag, end.from, scope);
			from = end.to;
		} else {
			template_value(out, template_find(scope, tag.name), tag.type == '{');
		}
	}
	buf_add(out, from, (size_t)(to - from));
}

void template_render(struct buf *out, const char *template, const json_t *data)
{
	struct template_scope scope = { { data }, 1 };

	template_part(out, template, template + strlen(template), &scope);
}
