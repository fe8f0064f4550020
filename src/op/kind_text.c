/* kind_text.c -- kinds that are text: paths, targets of links, names of extended attributes, access
 * control lists, file capabilities. */
#include <string.h>

#include "base/arena.h"
#include "base/lexer.h"
#include "base/put.h"
#include "op/c_text.h"
#include "op/capability.h"
#include "op/kind_functions.h"

enum { NAME_BYTES_MAX = 255, PATH_BYTES_MAX = 4096 };

static void text_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	if (arg->text)
		put_quoted(out, arg->text, arg->len);
	else
		put_literal(out, "NULL");
}

int text_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret)
{
	char *text;
	int err;

	if (lex_take_word(l, "NULL"))
		return 0;
	err = lex_string(l, &text, &ret->len);
	if (!err)
		ret->text = text;
	return err;
}

/* A question mark is escaped, too: three in a row may be something else (trigraphs). */
void c_string(const char *bytes, size_t len, struct buf *out)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '"' || byte == '\\' || byte == '?')
			buf_addf(out, "\\%c", byte);
		else if (byte < ' ' || byte > '~')
			buf_addf(out, "\\%03o", byte);
		else
			buf_addch(out, (char)byte);
	}
	buf_addch(out, '"');
}

static void text_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	if (arg->text)
		c_string(arg->text, arg->len, to->out);
	else
		buf_adds(to->out, "nothing");
}

void c_path(const char *path, bool rooted, struct buf *out)
{
	const char *below = path ? path + strspn(path, "/") : NULL;

	if (!path)
		buf_adds(out, "nothing");
	else if (rooted || below == path)
		c_string(path, strlen(path), out);
	else if (*below)
		c_string(below, strlen(below), out);
	else
		buf_adds(out, "\".\"");
}

static void path_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	c_path(arg->text, to->rooted, to->out);
}

/* Without the first component, or with the last name cut to its first letter. */
static bool path_shorter(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
			 struct arena *arena, struct arg *ret)
{
	const char *path = arg->text, *last, *rest;
	size_t start, keep;

	if (!path || i > 1)
		return false;
	if (i == 0) {
		start = path[0] == '/';
		rest = path + start + strcspn(path + start, "/");
		if (!rest[0] || !rest[1])
			rest = path;
		else if (!start)
			rest++;
	} else {
		last = strrchr(path, '/');
		keep = last ? (size_t)(last + 1 - path) + 1 : 1;
		if (keep >= strlen(path))
			return false;
		rest = arena_copy(arena, path, keep);
	}
	*ret = (struct arg){ .text = rest, .len = (uint32_t)strlen(rest) };
	return true;
}

static bool text_is_null(const struct arg *arg)
{
	return !arg->text;
}

static bool text_is_empty(const struct arg *arg)
{
	return arg->text && !arg->len;
}

static bool path_is_absolute(const struct arg *arg)
{
	return arg->len && arg->text[0] == '/';
}

static bool path_is_relative(const struct arg *arg)
{
	return arg->len && arg->text[0] != '/';
}

static bool path_ends_in_slash(const struct arg *arg)
{
	return arg->len && arg->text[arg->len - 1] == '/';
}

/* Is the last component, slashes behind it left aside, "." or ".."? */
static bool path_ends_in_dot(const struct arg *arg)
{
	size_t len = arg->len, name = 0;

	while (len && arg->text[len - 1] == '/')
		len--;
	while (name < len && arg->text[len - name - 1] != '/')
		name++;
	return (name == 1 || name == 2) && !memcmp(arg->text + len - name, "..", name);
}

static bool path_has_double_slash(const struct arg *arg)
{
	return arg->len && memmem(arg->text, arg->len, "//", 2);
}

static bool path_has_long_name(const struct arg *arg)
{
	size_t name = 0;

	for (size_t i = 0; i < arg->len && name <= NAME_BYTES_MAX; i++)
		name = arg->text[i] == '/' ? 0 : name + 1;
	return name > NAME_BYTES_MAX;
}

static bool path_is_long(const struct arg *arg)
{
	return arg->len >= PATH_BYTES_MAX;
}

static bool text_has_prefix(const struct arg *arg, const char *prefix)
{
	return arg->len >= strlen(prefix) && !memcmp(arg->text, prefix, strlen(prefix));
}

static bool xattr_is_user(const struct arg *arg)
{
	return text_has_prefix(arg, "user.");
}

static bool xattr_is_trusted(const struct arg *arg)
{
	return text_has_prefix(arg, "trusted.");
}

static bool xattr_is_security(const struct arg *arg)
{
	return text_has_prefix(arg, "security.");
}

static bool xattr_is_system(const struct arg *arg)
{
	return text_has_prefix(arg, "system.");
}

static bool xattr_is_other(const struct arg *arg)
{
	return arg->len && !xattr_is_user(arg) && !xattr_is_trusted(arg) &&
	       !xattr_is_security(arg) && !xattr_is_system(arg);
}

static bool xattr_is_long(const struct arg *arg)
{
	return arg->len > NAME_BYTES_MAX;
}

#define TEXT \
	.form = FORM_TEXT, .print = text_print, .lex = text_lex, .partitions = &partition_classes

static const struct value_class path_classes[] = {
	{ "null", text_is_null },
	{ "empty", text_is_empty },
	{ "absolute", path_is_absolute },
	{ "relative", path_is_relative },
	{ "final slash", path_ends_in_slash },
	{ "final dot", path_ends_in_dot },
	{ "double slash", path_has_double_slash },
	{ "name too long", path_has_long_name },
	{ "path too long", path_is_long },
	{ NULL, NULL },
};

const struct kind_info kind_path = {
	.name = "path",
	TEXT,
	.picked = "pool",
	.is_path = true,
	.places = 8,
	.classes = path_classes,
	.simpler = path_shorter,
	.c_text = path_c_text,
};

const struct kind_info kind_target = {
	.name = "target",
	TEXT,
	.picked = "pool",
	.is_path = true,
	.classes = path_classes,
	.c_text = text_c_text,
};

static const struct value_class xattr_classes[] = {
	{ "null", text_is_null },
	{ "empty", text_is_empty },
	{ "user", xattr_is_user },
	{ "trusted", xattr_is_trusted },
	{ "security", xattr_is_security },
	{ "system", xattr_is_system },
	{ "other", xattr_is_other },
	{ "name too long", xattr_is_long },
	{ NULL, NULL },
};

const struct kind_info kind_xattr_name = {
	.name = "xattr_name",
	TEXT,
	.places = 3,
	.picked = "user.a",
	.classes = xattr_classes,
	.c_text = text_c_text,
};

/* A mask, which every list with entries of users or groups has. */
static bool acl_has_mask(const struct arg *arg)
{
	return arg->len && memmem(arg->text, arg->len, "m:", 2);
}

static bool acl_has_no_mask(const struct arg *arg)
{
	return arg->len && !acl_has_mask(arg);
}

static const struct value_class acl_classes[] = {
	{ "empty", text_is_empty },
	{ "no mask", acl_has_no_mask },
	{ "mask", acl_has_mask },
	{ NULL, NULL },
};

const struct kind_info kind_acl = {
	.name = "acl",
	TEXT,
	.picked = "u::rwx,u:1000:rwx,g::r-x,m::rwx,o::---",
	.classes = acl_classes,
	.c_text = text_c_text,
};

static enum capability_form text_form(const struct arg *arg)
{
	char value[BYTES_OF_CAPABILITY];

	capability_to_value(arg->text ? arg->text : "", value);
	return capability_form_of(value, sizeof(value));
}

static bool text_is_capability(const struct arg *arg)
{
	return text_form(arg) == CAPABILITY_PLAIN;
}

static bool text_is_no_capability(const struct arg *arg)
{
	return text_form(arg) == CAPABILITY_NONE;
}

static const struct value_class capability_classes[] = {
	{ "valid", text_is_capability },
	{ "invalid", text_is_no_capability },
	{ NULL, NULL },
};

static void capability_c_text(const struct kind_info *kind, const struct arg *arg,
			      struct c_text *to)
{
	char value[BYTES_OF_CAPABILITY];

	capability_to_value(arg->text ? arg->text : "", value);
	c_string(value, sizeof(value), to->out);
}

const struct kind_info kind_capabilities = {
	.name = "capabilities",
	TEXT,
	.picked = "cap_net_raw=ep",
	.classes = capability_classes,
	.c_text = capability_c_text,
};
