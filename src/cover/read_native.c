/* read_native.c -- coverage from our own traces, and from scripts of the published form.
 *
 * Every call counts: a trace is of one file system. Our own form is read line by line; the
 * published one, whose calls and returns may be lines apart, as a whole. */
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cover/lines.h"
#include "cover/readers.h"
#include "trace/script.h"

/* The calls that are under way, by process. */
struct native {
	struct coverage *coverage;
	uint16_t open[SCRIPT_PID_MAX + 1]; /* operation that the result counts for, + 1 */
};

static void native_item(struct native *n, const struct item *item)
{
	struct coverage *c = n->coverage;
	uint16_t *open = &n->open[item->pid];

	if (item->type == ITEM_CALL) {
		c->calls++;
		c->understood++;
		cover_call(&c->counts, &item->call, 1);
		*open = (uint16_t)(cover_result(&item->call) + 1);
	} else if (item->type == ITEM_RETURN && *open) {
		if (item->ret.count == 1)
			cover_outcome(&c->counts, *open - 1, item->ret.outcomes[0].error, 1);
		*open = 0;
	}
}

static void native_script(struct native *n, const struct script *s)
{
	for (size_t i = 0; i < s->count; i++)
		native_item(n, &s->items[i]);
}

static int native_lines(struct native *n, struct lines *lines, struct err *err)
{
	const char *line, *end;
	struct script s = { 0 };
	int r;

	while ((r = lines_next(lines, &line, &end, err)) > 0 && !lines->cut) {
		struct err ignored = { 0 };

		if (script_parse(&s, "trace", line, (size_t)(end - line), &ignored))
			n->coverage->unknown++;
		else
			native_script(n, &s);
		script_reset(&s);
	}
	n->coverage->cut = lines->cut;
	script_free(&s);
	return r < 0 ? r : 0;
}

static int native_whole(struct native *n, const char *path, struct err *err)
{
	struct script s = { 0 };
	int r = script_read(&s, path, err);

	if (!r)
		native_script(n, &s);
	script_free(&s);
	return r;
}

int read_native(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err)
{
	struct native n = { .coverage = c };
	struct lines lines;
	bool published;
	int r = lines_open(&lines, path, err);

	if (r)
		return r;
	r = lines_starts_with(&lines, "@type", &published, err);
	if (!r)
		r = published ? native_whole(&n, path, err) : native_lines(&n, &lines, err);
	lines_free(&lines);
	return r;
}
