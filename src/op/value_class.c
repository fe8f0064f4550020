/* value_class.c -- classes of values: signs of numbers, shapes of paths and of xattr names. */
#include "op/value_class.h"

#include <string.h>

#include "base/must.h"

enum { NAME_BYTES_MAX = 255, PATH_BYTES_MAX = 4096 };

static bool is_negative(const struct arg *arg)
{
	return arg->num < 0;
}

static bool is_zero(const struct arg *arg)
{
	return !arg->num;
}

static bool is_positive(const struct arg *arg)
{
	return arg->num > 0;
}

static bool is_null(const struct arg *arg)
{
	return !arg->text;
}

static bool is_empty(const struct arg *arg)
{
	return arg->text && !arg->len;
}

static bool is_absolute(const struct arg *arg)
{
	return arg->len && arg->text[0] == '/';
}

static bool is_relative(const struct arg *arg)
{
	return arg->len && arg->text[0] != '/';
}

static bool ends_in_slash(const struct arg *arg)
{
	return arg->len && arg->text[arg->len - 1] == '/';
}

/* Is the last component, slashes behind it left aside, "." or ".."? */
static bool ends_in_dot(const struct arg *arg)
{
	size_t len = arg->len, name = 0;

	while (len && arg->text[len - 1] == '/')
		len--;
	while (name < len && arg->text[len - name - 1] != '/')
		name++;
	return (name == 1 || name == 2) && !memcmp(arg->text + len - name, "..", name);
}

static bool has_double_slash(const struct arg *arg)
{
	return arg->len && memmem(arg->text, arg->len, "//", 2);
}

static bool has_long_name(const struct arg *arg)
{
	size_t name = 0;

	for (size_t i = 0; i < arg->len && name <= NAME_BYTES_MAX; i++)
		name = arg->text[i] == '/' ? 0 : name + 1;
	return name > NAME_BYTES_MAX;
}

static bool is_long_path(const struct arg *arg)
{
	return arg->len >= PATH_BYTES_MAX;
}

static bool has_prefix(const struct arg *arg, const char *prefix)
{
	return arg->len >= strlen(prefix) && !memcmp(arg->text, prefix, strlen(prefix));
}

static bool is_user(const struct arg *arg)
{
	return has_prefix(arg, "user.");
}

static bool is_trusted(const struct arg *arg)
{
	return has_prefix(arg, "trusted.");
}

static bool is_security(const struct arg *arg)
{
	return has_prefix(arg, "security.");
}

static bool is_system(const struct arg *arg)
{
	return has_prefix(arg, "system.");
}

static bool is_other_space(const struct arg *arg)
{
	return arg->len && !is_user(arg) && !is_trusted(arg) && !is_security(arg) &&
	       !is_system(arg);
}

static bool is_long_name(const struct arg *arg)
{
	return arg->len > NAME_BYTES_MAX;
}

const struct value_class sign_classes[] = {
	{ "negative", is_negative },
	{ "0", is_zero },
	{ "positive", is_positive },
};
const size_t sign_class_count = ARRAY_LEN(sign_classes);

const struct value_class path_classes[] = {
	{ "null", is_null },
	{ "empty", is_empty },
	{ "absolute", is_absolute },
	{ "relative", is_relative },
	{ "final slash", ends_in_slash },
	{ "final dot", ends_in_dot },
	{ "double slash", has_double_slash },
	{ "name too long", has_long_name },
	{ "path too long", is_long_path },
};
const size_t path_class_count = ARRAY_LEN(path_classes);

const struct value_class xattr_classes[] = {
	{ "null", is_null },         { "empty", is_empty },
	{ "user", is_user },         { "trusted", is_trusted },
	{ "security", is_security }, { "system", is_system },
	{ "other", is_other_space }, { "name too long", is_long_name },
};
const size_t xattr_class_count = ARRAY_LEN(xattr_classes);
