/* view_lanes.c -- pictures of time: calls that overlap, and what reached a disk before a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/svg.h"
#include "report/view.h"

/* ---- lanes: a process each, a call from its begin to its return ---- */

enum { LANES_MAX = 6, LANE_CALLS = 64, LANE_STEP = 60, LANE_HEIGHT = 46, LANE_LEFT = 76,
       LANE_STEPS = 48 };

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
	bool overlap;
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
		line += strcspn(line, "]\n") + 1;
		line += *line == ' ';
	}
	if (line >= end || *line == '"' || *line == '#' || !strchr(line, '('))
		if (strncmp(line, "= ", 2))
			return;
	if (!strncmp(line, "= ", 2)) {
		c = lanes_pending(l, process);
		if (c)
			lanes_return(l, c, line + 2, (size_t)(end - line) - 2);
		return;
	}
	if (l->count == LANE_CALLS || lanes_of(l, process) < 0)
		return;
	for (size_t i = 0; i < l->count; i++)
		l->overlap |= !l->calls[i].to && l->calls[i].process != process;
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

/* Only the last moments, where there are many: those in which calls overlap. */
static void lanes_draw(const struct lanes *l, struct buf *out)
{
	size_t first = l->moments > LANE_STEPS ? l->moments - LANE_STEPS : 0;
	int width = LANE_LEFT + (int)(l->moments - first + 1) * LANE_STEP + 20;
	int height = (int)l->lane_count * LANE_HEIGHT + 16;
	char text[160];

	svg_begin(out, width < 320 ? 320 : width, height, "calls of each process over time");
	for (size_t i = 0; i < l->lane_count; i++) {
		double y = 8 + (double)i * LANE_HEIGHT;

		svg_line(out, LANE_LEFT, y + 34, width, y + 34, "grid");
		snprintf(text, sizeof(text), "process %d", l->processes[i]);
		svg_text(out, 4, y + 30, "start", "legend", text);
	}
	for (size_t i = 0; i < l->count; i++) {
		const struct lane_call *c = &l->calls[i];
		size_t to = c->to ? c->to : l->moments + 1, lane = 0;
		double x, y;

		if (to <= first)
			continue;
		while (l->processes[lane] != c->process)
			lane++;
		x = LANE_LEFT + (double)(c->from > first ? c->from - first : 0) * LANE_STEP - 50;
		y = 8 + (double)lane * LANE_HEIGHT;
		snprintf(text, sizeof(text), "%s = %s", c->text, c->to ? c->outcome : "?");
		svg_rect(out, x, y + 20, (double)(to - c->from) * LANE_STEP - 6, 14,
			 to - c->from > 1 ? "call wide" : "call", text);
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(c->text, "("), c->text);
		svg_text(out, x, y + 15, "start", "tick", text);
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
	if (l && l->overlap && l->lane_count > 1) {
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
