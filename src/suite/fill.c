/* fill.c -- patterns of text with everything in braces replaced. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "suite/family.h"

enum { DEPTH_MAX = 16, REPEAT_MAX = 8192 };

struct filler {
	const struct families *families;
	const struct family *family;
	const struct combination *combination;
	struct err *err;
};

static bool is_name(const char *name, const char *text, size_t len)
{
	return !strncmp(name, text, len) && !name[len];
}

/* The text of a property's value, or of [texts]; NULL where there is none of the name. */
static const char *find_text(const struct filler *f, const char *name, size_t len)
{
	for (unsigned i = 0; i < f->family->property_count; i++) {
		const struct property *property = f->family->properties[i];

		if (is_name(property->name, name, len))
			return property->values[f->combination->value[i]].text;
	}
	for (size_t i = 0; i < f->families->text_count; i++)
		if (is_name(f->families->texts[i].name, name, len))
			return f->families->texts[i].text;
	return NULL;
}

/* "x*255" */
static bool add_repeated(const char *name, size_t len, struct buf *out)
{
	const char *star = memchr(name, '*', len);
	unsigned long count;
	char *end;

	if (!star)
		return false;
	count = strtoul(star + 1, &end, 10);
	if (end != name + len || count > REPEAT_MAX)
		return false;
	while (count--)
		buf_add(out, name, (size_t)(star - name));
	return true;
}

static int fill_pattern(const struct filler *f, const char *pattern, unsigned depth,
			struct buf *out)
{
	size_t plain, len;
	const char *text;
	int ret = 0;

	while (!ret) {
		plain = strcspn(pattern, "{");
		buf_add(out, pattern, plain);
		pattern += plain;
		if (!*pattern)
			break;
		len = strcspn(++pattern, "}");
		text = find_text(f, pattern, len);
		if (text && depth < DEPTH_MAX)
			ret = fill_pattern(f, text, depth + 1, out);
		else if (!add_repeated(pattern, len, out))
			ret = err_set(f->err, EINVAL, "%s: \"{%.*s}\" has no meaning",
				      f->family->name, (int)len, pattern);
		pattern += len + (pattern[len] == '}');
	}
	return ret;
}

int family_fill(const struct families *f, const struct family *family, const struct combination *c,
		const char *pattern, struct buf *out, struct err *err)
{
	struct filler filler = { f, family, c, err };

	return fill_pattern(&filler, pattern, 0, out);
}

void family_script_name(const struct family *family, const struct combination *c, struct buf *out)
{
	buf_adds(out, family->name);
	for (unsigned i = 0; i < family->property_count; i++) {
		buf_addch(out, i ? '.' : '/');
		buf_adds(out, family->properties[i]->values[c->value[i]].name);
	}
}
