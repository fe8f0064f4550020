/* view_lanes.c -- pictures of time: calls that overlap, and what reached a disk before a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/svg.h"
#include "report/view.h"

/* ---- lanes: a process each, a call from its begin to its return ---- */

enum {
	LANES_MAX = 6,
	LANE_CALLS = 64,
	LANE_STEP = 110,
	LANE_HEIGHT = 46,
	LANE_LEFT = 70,
	LANE_STEPS = 32
};

struct lane_call {
	int process;
	size_t from, to; /* moments; to is 0 while it has not returned */
	char text[96], outcome[32];
};

struct lanes {
	struct lane_call calls[LANE_CALLS];
	size_t count, moments;
	int processes[LANES_MAX];
	size_t lane_count;
	size_t first_overlap; /* the moment of the first call that began before another had returned
			       */
};

static int lanes_of(struct lanes *l, int process)
{
	for (size_t i = 0; i < l->lane_count; i++)
		if (l->processes[i] == process)
			return (int)i;
	if (l->lane_count == LANES_MAX)
		return -1;
	l->processes[l->lane_count] = process;
	return (int)l->lane_count++;
}

static struct lane_call *lanes_pending(struct lanes *l, int process)
{
	for (size_t i = l->count; i--;)
		if (l->calls[i].process == process && !l->calls[i].to)
			return &l->calls[i];
	return NULL;
}

static void lanes_return(struct lanes *l, struct lane_call *c, const char *outcome, size_t len)
{
	c->to = ++l->moments;
	snprintf(c->outcome, sizeof(c->outcome), "%.*s", (int)(len < 28 ? len : 28), outcome);
}

/* "[2] call(...) = 0", "[2] call(...)", "[2] = 0"; without a number it is process 1. */
static void lanes_line(struct lanes *l, const char *line, size_t len)
{
	const char *end = line + len, *outcome;
	struct lane_call *c;
	int process = 1;

	if (*line == '[') {
		process = atoi(line + 1);
		line = memchr(line, ']', len);
		if (!line || end - line < 3)
			return;
		line += 2;
	}
	if (*line == '"' || *line == '#' ||
	    (strncmp(line, "= ", 2) && !memchr(line, '(', (size_t)(end - line))))
		return;
	if (!strncmp(line, "= ", 2)) {
		c = lanes_pending(l, process);
		if (c)
			lanes_return(l, c, line + 2, (size_t)(end - line) - 2);
		return;
	}
	if (l->count == LANE_CALLS || lanes_of(l, process) < 0)
		return;
	for (size_t i = 0; i < l->count && !l->first_overlap; i++)
		if (!l->calls[i].to && l->calls[i].process != process)
			l->first_overlap = l->calls[i].from;
	c = &l->calls[l->count++];
	*c = (struct lane_call){ .process = process, .from = ++l->moments };
	outcome = memmem(line, (size_t)(end - line), ") = ", 4);
	snprintf(c->text, sizeof(c->text), "%.*s",
		 (int)((outcome ? outcome + 1 : end) - line < 90
			       ? (outcome ? outcome + 1 : end) - line
			       : 90),
		 line);
	if (outcome)
		lanes_return(l, c, outcome + 4, (size_t)(end - outcome) - 4);
}

/* Whether a call is drawn: it had not returned when the first ones began to overlap. */
static bool lane_call_is_shown(const struct lanes *l, const struct lane_call *c, size_t first)
{
	return (c->to ? c->to : l->moments + 1) > first + 1;
}

/* Lanes that have a call to draw, in the order of their processes' numbers. */
static size_t lanes_sort(const struct lanes *l, size_t first, int ret[LANES_MAX])
{
	size_t count = 0, at;

	for (size_t i = 0; i < l->count; i++) {
		int process = l->calls[i].process;

		for (at = 0; at < count && ret[at] < process;)
			at++;
		if (!lane_call_is_shown(l, &l->calls[i], first) ||
		    (at < count && ret[at] == process))
			continue;
		memmove(&ret[at + 1], &ret[at], (count - at) * sizeof(*ret));
		ret[at] = process;
		count++;
	}
	return count;
}

static void lane_call_draw(const struct lane_call *c, double x, double y, double width,
			   struct buf *out)
{
	char text[160];
	int room = (int)(width / 6.2);

	snprintf(text, sizeof(text), "%s = %s", c->text, c->to ? c->outcome : "?");
	svg_rect(out, x, y + 20, width, 18, c->to - c->from > 1 ? "call wide" : "call", text);
	if ((int)strlen(c->text) > room)
		snprintf(text, sizeof(text), "%.*s...", room > 3 ? room - 3 : 0, c->text);
	else
		snprintf(text, sizeof(text), "%s", c->text);
	svg_text(out, x, y + 15, "start", "tick", text);
	snprintf(text, sizeof(text), "%s", c->to ? c->outcome : "?");
	if ((int)strlen(text) > room - 2)
		snprintf(text, sizeof(text), "%c...", c->outcome[0]);
	svg_text(out, x + width - 5, y + 33, "end", "inside", text);
}

/* From the first calls that overlap on; what was made ready before is in the script. */
static void lanes_draw(const struct lanes *l, struct buf *out)
{
	size_t enough = l->moments > LANE_STEPS ? l->moments - LANE_STEPS : 0;
	size_t first = l->first_overlap - 1 > enough ? l->first_overlap - 1 : enough;
	int processes[LANES_MAX], width = LANE_LEFT + (int)(l->moments - first) * LANE_STEP;
	size_t count = lanes_sort(l, first, processes), lane;
	char text[32];

	svg_begin(out, width < 320 ? 320 : width, (int)count * LANE_HEIGHT + 8,
		  "calls of each process over time");
	for (lane = 0; lane < count; lane++) {
		double y = (double)lane * LANE_HEIGHT;

		svg_line(out, LANE_LEFT, y + 29, width, y + 29, "grid");
		snprintf(text, sizeof(text), "process %d", processes[lane]);
		svg_text(out, 0, y + 33, "start", "legend", text);
	}
	for (size_t i = 0; i < l->count; i++) {
		const struct lane_call *c = &l->calls[i];
		size_t from = c->from > first ? c->from - first : 1;
		size_t to = (c->to ? c->to : l->moments + 1) - first;

		if (!lane_call_is_shown(l, c, first))
			continue;
		for (lane = 0; processes[lane] != c->process;)
			lane++;
		lane_call_draw(c, LANE_LEFT + (double)(from - 1) * LANE_STEP,
			       (double)lane * LANE_HEIGHT, (double)(to - from) * LANE_STEP - 4,
			       out);
	}
	svg_end(out);
}

json_t *view_lanes(const char *history)
{
	struct lanes *l = calloc(1, sizeof(*l));
	struct buf svg = BUF_INIT;
	json_t *view = NULL;
	size_t len;

	for (; l && *history && strncmp(history, "dump-result", 11);
	     history += len + (history[len] == '\n')) {
		len = strcspn(history, "\n");
		if (len)
			lanes_line(l, history, len);
	}
	if (l && l->first_overlap) {
		lanes_draw(l, &svg);
		view = view_text(svg.data);
	}
	buf_free(&svg);
	free(l);
	return view;
}

/* ---- the requests of a disk ---- */

enum { WRITES_SHOWN = 60, WRITE_STEP = 22, WRITE_TOP = 34, WRITE_HEIGHT = 26 };

struct disk_line {
	enum { LINE_CALL, LINE_WRITE, LINE_FLUSH, LINE_CRASH } type;
	bool lost, torn, fua;
	char text[120];
};

static bool disk_line_read(const char *line, size_t len, struct disk_line *ret)
{
	static const char call[] = "---- ", flush[] = "==== ", crash[] = "**** ";
	size_t at = strspn(line, " ");

	*ret = (struct disk_line){ .type = LINE_WRITE };
	if (!strncmp(line, call, strlen(call)))
		ret->type = LINE_CALL;
	else if (!strncmp(line, flush, strlen(flush)))
		ret->type = LINE_FLUSH;
	else if (!strncmp(line, crash, strlen(crash)))
		ret->type = LINE_CRASH;
	else if (at >= len || !strchr("0123456789", line[at]))
		return false;
	at = ret->type == LINE_WRITE ? at : 5;
	snprintf(ret->text, sizeof(ret->text), "%.*s", (int)(len - at < 110 ? len - at : 110),
		 line + at);
	ret->lost = ret->type == LINE_WRITE && strstr(ret->text, "  LOST");
	ret->torn = ret->type == LINE_WRITE && strstr(ret->text, "  TORN");
	ret->fua = ret->type == LINE_WRITE && strstr(ret->text, "  FUA");
	return true;
}

static void disk_line_draw(const struct disk_line *l, double x, struct buf *out)
{
	double bottom = WRITE_TOP + WRITE_HEIGHT;

	switch (l->type) {
	case LINE_CALL:
		svg_rect(out, x - 1, 8, 4, bottom + 4, "returned", l->text);
		break;
	case LINE_FLUSH:
		svg_rect(out, x - 1, WRITE_TOP - 8, 5, WRITE_HEIGHT + 16, "flush", l->text);
		break;
	case LINE_CRASH:
		svg_rect(out, x - 1, 4, 5, bottom + 16, "crash", l->text);
		svg_text(out, x, bottom + 34, "end", "legend", "crash");
		break;
	case LINE_WRITE:
		svg_rect(out, x - 7, WRITE_TOP, 15, WRITE_HEIGHT,
			 l->lost   ? "write lost"
			 : l->torn ? "write torn"
			 : l->fua  ? "write fua"
				   : "write",
			 l->text);
		break;
	}
}

static size_t disk_lines_count(const char *text)
{
	struct disk_line line;
	size_t count = 0, len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		count += disk_line_read(text, len, &line);
	}
	return count;
}

/* What became of the writes. */
static json_t *disk_key(size_t lost, size_t torn, size_t writes, size_t flushes, size_t before)
{
	struct buf text = BUF_INIT;
	json_t *key;

	buf_addf(&text, "%zu write%s, %zu flush%s, then the crash: %zu survived, %zu lost", writes,
		 writes == 1 ? "" : "s", flushes, flushes == 1 ? "" : "es", writes - lost - torn,
		 lost);
	if (torn)
		buf_addf(&text, ", %zu torn", torn);
	if (before)
		buf_addf(&text, " (%zu earlier events are not drawn)", before);
	key = json_string(text.data);
	buf_free(&text);
	return key;
}

json_t *view_timeline(const char *writes)
{
	size_t all = disk_lines_count(writes), skip = all > WRITES_SHOWN ? all - WRITES_SHOWN : 0;
	size_t number = 0, lost = 0, torn = 0, count = 0, flushes = 0, len;
	int width = 40 + (int)(all - skip) * WRITE_STEP;
	struct buf svg = BUF_INIT;
	struct disk_line line;
	json_t *view;

	if (!all)
		return NULL;
	svg_begin(&svg, width < 400 ? 400 : width, WRITE_TOP + WRITE_HEIGHT + 40,
		  "disk requests up to the crash");
	for (; *writes; writes += len + (writes[len] == '\n')) {
		len = strcspn(writes, "\n");
		if (!disk_line_read(writes, len, &line))
			continue;
		lost += line.lost;
		torn += line.torn;
		count += line.type == LINE_WRITE;
		flushes += line.type == LINE_FLUSH;
		if (number++ >= skip)
			disk_line_draw(&line, 20 + (double)(number - skip - 1) * WRITE_STEP, &svg);
	}
	svg_end(&svg);
	view = json_pack("{s:o, s:o}", "svg", view_text(svg.data), "words",
			 disk_key(lost, torn, count, flushes, skip));
	buf_free(&svg);
	return view;
}
