/* expect.c -- failures that are known, each with its reason. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "conform/cause.h"

enum { FILE_MAX = 1 << 20 };

static const char because[] = "# because: ";

static void add(struct expectations *e, const char *line, const char *colon, const char *reason)
{
	struct expectation *to;

	e->items = must_realloc(e->items, (e->count + 1) * sizeof(*e->items));
	to = &e->items[e->count++];
	to->target = must_strdup(line);
	to->target[colon - line] = '\0';
	to->text = must_strdup(colon + 2);
	to->reason = must_strdup(reason);
}

static int read_line(struct expectations *e, const char *line, const char **reason)
{
	const char *colon = strstr(line, ": ");

	if (!strncmp(line, because, strlen(because))) {
		*reason = line + strlen(because);
		return 0;
	}
	if (!*line || *line == '#')
		return 0;
	if (!colon || !*reason)
		return -EINVAL;
	add(e, line, colon, *reason);
	return 0;
}

int expectations_read(struct expectations *e, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	const char *reason = NULL;
	unsigned number = 0;
	char *line, *rest;
	int ret;

	*e = (struct expectations){ 0 };
	ret = buf_read_file(&text, path, FILE_MAX, err);
	rest = text.data;
	while (!ret && (line = strsep(&rest, "\n"))) {
		number++;
		if (read_line(e, line, &reason))
			ret = err_set(err, EINVAL,
				      "%s:%u: expected \"target: cause\" below a \"%s...\"", path,
				      number, because);
	}
	buf_free(&text);
	return ret;
}

void expectations_free(struct expectations *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->items[i].target);
		free(e->items[i].text);
		free(e->items[i].reason);
	}
	free(e->items);
	*e = (struct expectations){ 0 };
}

/* Exactly, or as the shell matches names: causes of races name calls in the order they were met. */
static bool expectation_names(const struct expectation *e, const char *target, const char *cause)
{
	return (!strcmp(e->target, "*") || !strcmp(e->target, target)) &&
	       (!strcmp(e->text, cause) || !fnmatch(e->text, cause, FNM_NOESCAPE));
}

void expectations_apply(const struct expectations *e, const char *target, struct causes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct cause *cause = &c->items[i];

		for (size_t k = 0; k < e->count && !cause->reason; k++)
			if (expectation_names(&e->items[k], target, cause->text))
				cause->reason = e->items[k].reason;
		c->unexpected -= cause->reason != NULL;
	}
}
