/* openings.c -- short scripts that try what FUSE daemons are known to get wrong, before a search.
 */
#include "explore/openings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "explore/sharing.h"
#include "trace/script.h"

enum {
	LONG_NAME = 240,
	MANY = 150,        /* such names are more than glibc reads of a directory at once: 32 KiB */
	CROWD = 1100,      /* files with short names, more than some daemons list */
	FINDINGS_EACH = 4, /* of one script */
};
/* Of the time of the search, and where that has no end. */
static const double openings_share = 0.25, openings_seconds_max = 60;

static const struct opening {
	bool unseen;
	const char *text;
} openings[] = {
#define OPENING(unseen, text) { unseen, text },
#include "explore/openings.def"
#undef OPENING
};

size_t openings_count(void)
{
	return ARRAY_LEN(openings);
}

static void add_long(struct buf *out)
{
	for (unsigned i = 0; i < LONG_NAME; i++)
		buf_addch(out, 'n');
}

static void add_fill(struct buf *out)
{
	for (unsigned i = 0; i < MANY; i++) {
		buf_addf(out, "create_file(\"%03u", i);
		add_long(out);
		buf_adds(out, "\", O_WRONLY, 0644)\n");
	}
}

static void add_many(struct buf *out)
{
	buf_adds(out, "mkdir(\"d\", 0755)\n");
	for (unsigned i = 0; i < CROWD; i++)
		buf_addf(out, "create_file(\"%u\", O_WRONLY, 0644)\n", i);
}

/* Also "." and "..", and the end. */
static void add_drain(struct buf *out)
{
	for (unsigned i = 0; i < MANY + 3; i++)
		buf_adds(out, "readdir(1)\n");
}

static const struct {
	const char *mark;
	void (*add)(struct buf *out);
} marks[] = {
	{ "{long}", add_long },
	{ "{fill}", add_fill },
	{ "{many}", add_many },
	{ "{drain}", add_drain },
};

/* Adds the text for a mark; returns the length of the mark, or 0 if there is none. */
static size_t add_marked(const char *at, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (strncmp(at, marks[i].mark, strlen(marks[i].mark)))
			continue;
		marks[i].add(out);
		return strlen(marks[i].mark);
	}
	return 0;
}

void openings_read(size_t number, struct script *ret)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	size_t len;

	for (const char *at = openings[number].text; *at; at += len ? len : 1) {
		len = add_marked(at, &text);
		if (!len)
			buf_addch(&text, *at);
	}
	must(!script_parse(ret, "opening", text.data, text.len, &err));
	buf_free(&text);
}

/* Its calls; their text stays the script's. NULL if the target cannot make all of them. */
static struct call *opening_calls(const struct script *s, const struct target *t, size_t *ret_count)
{
	struct call *calls = must_alloc((s->count + 1) * sizeof(*calls));

	*ret_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].type != ITEM_CALL)
			continue;
		if (target_needs(s->items[i].call.op) & ~t->caps) {
			free(calls);
			return NULL;
		}
		calls[(*ret_count)++] = s->items[i].call;
	}
	return calls;
}

static bool opening_knows(void *to, const struct finding *f)
{
	struct explorer *x = to;

	return run_knows(x->run, f) || run_group_calls(x->run, f);
}

static bool openings_have_to_end(const struct explorer *x, double until_seconds)
{
	return stop_requested || clock_seconds() >= until_seconds ||
	       json_array_size(x->run->findings) >= x->options->findings_max;
}

/* What one shows first becomes known, so that the next time shows what comes behind it. */
static int opening_play(struct explorer *x, const struct opening *opening, const struct call *calls,
			size_t count, double until_seconds, struct err *err)
{
	struct replay_on on = {
		.target = x->target,
		.model = &x->followers[0].model,
		.until_seconds = until_seconds,
		.unseen = opening->unseen,
		.knows = opening_knows,
		.knows_to = x,
	};
	struct finding f;
	int status = 1;

	for (int i = 0; i < FINDINGS_EACH && status > 0 && !openings_have_to_end(x, until_seconds);
	     i++) {
		status = judge_replay(&on, calls, count, NULL, &f, err);
		if (status > 0)
			capture_shown(x, &f);
	}
	/* There was no time for its end, or no room in what it may use of the user's disk. */
	if (status == -ETIME || explorer_is_shortage(status)) {
		*err = (struct err){ 0 };
		status = 0;
	}
	return status < 0 ? status : 0;
}

int openings_play(struct explorer *x, struct err *err)
{
	double seconds = x->options->seconds, now = clock_seconds();
	double until_seconds =
		now + (seconds > 0 ? seconds * openings_share : openings_seconds_max);
	struct script s = { 0 };
	struct call *calls;
	char name[16];
	size_t count;
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(openings) && status >= 0; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		if (openings_have_to_end(x, until_seconds) ||
		    !sharing_take_named(x, "opening", name))
			continue;
		openings_read(i, &s);
		calls = opening_calls(&s, x->target, &count);
		if (calls)
			status = opening_play(x, &openings[i], calls, count, until_seconds, err);
		free(calls);
		script_free(&s);
		s = (struct script){ 0 };
	}
	return status;
}
