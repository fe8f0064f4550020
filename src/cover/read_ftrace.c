/* read_ftrace.c -- coverage from the system-call tracepoints, as ftrace, trace-cmd and perf print
 * them.
 *
 *     sh-12 [001] ..... 1.5: sys_openat(dfd: ffffff9c, filename: 7ffe, flags: 0, mode: 0)
 *     sh-12 [001] ..... 1.6: sys_openat -> 0x3
 *     sh 12 [001] 1.5: syscalls:sys_enter_openat: dfd: 0xffffff9c, filename: 0x7ffe "/m/f", ...
 *     sh 12 [001] 1.6: syscalls:sys_exit_openat: 0x3
 *
 * Arguments are numbers; only newer kernels add the text of a path. Without it a call on a path
 * cannot be attributed, nor can what it opened: with --mount it counts as unattributed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cover/events.h"
#include "cover/lines.h"
#include "cover/readers.h"

struct record {
	uint32_t pid;
	bool enter;
	struct text name; /* of the call */
	struct text rest; /* arguments or result */
};

static bool is_name_character(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

static bool ftrace_skip(const char **p, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *p) < len || memcmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

/* The number before "[001]": of "comm-12", "comm 12" or "comm 11/12". */
static const char *read_pid(const char *p, const char *end, uint32_t *ret)
{
	const char *bracket = p, *digit;

	do {
		bracket = memchr(bracket, '[', (size_t)(end - bracket));
		if (!bracket++)
			return NULL;
	} while (bracket == end || !isdigit((unsigned char)*bracket));
	digit = bracket - 1;
	while (digit > p && digit[-1] == ' ')
		digit--;
	while (digit > p && isdigit((unsigned char)digit[-1]))
		digit--;
	*ret = (uint32_t)strtoul(digit, NULL, 10);
	return isdigit((unsigned char)*digit) ? bracket : NULL;
}

static bool read_record(struct record *r, const char *p, const char *end)
{
	p = read_pid(p, end, &r->pid);
	p = p ? memmem(p, (size_t)(end - p), ": ", 2) : NULL;
	if (!p)
		return false;
	p += 2;
	while (p < end && *p == ' ')
		p++;
	ftrace_skip(&p, end, "syscalls:");
	if (!ftrace_skip(&p, end, "sys_"))
		return false;
	r->enter = ftrace_skip(&p, end, "enter_");
	if (!r->enter)
		ftrace_skip(&p, end, "exit_");
	r->name.at = p;
	while (p < end && is_name_character(*p))
		p++;
	r->name.len = (size_t)(p - r->name.at);
	r->enter |= p < end && *p == '(';
	if (!ftrace_skip(&p, end, "(") && !ftrace_skip(&p, end, " -> ") &&
	    !ftrace_skip(&p, end, ":"))
		return false;
	r->rest = (struct text){ p, (size_t)(end - p) };
	return true;
}

/* "dfd: ffffff9c, filename: 0x7ffe "/m/f", flags: 0)" */
static void read_arguments(struct trace_event *ev, struct text rest)
{
	const char *p = rest.at, *end = rest.at + rest.len, *colon, *quote;
	const struct trace_row *row = &ev->call->row;
	char *behind;

	ev->paths_unknown = true;
	for (unsigned i = 0; i < SYSCALL_BEHIND; i++) {
		colon = memchr(p, ':', (size_t)(end - p));
		if (!colon)
			break;
		ev->value[i] = (int64_t)strtoull(colon + 1, &behind, 16);
		ev->known |= 1u << i;
		p = behind;
		if (p + 1 < end && p[0] == ' ' && p[1] == '"') {
			quote = memchr(p + 2, '"', (size_t)(end - p - 2));
			if (!quote)
				break;
			if ((int)i == row->path || (int)i == row->path2)
				ev->path[(int)i == row->path2] =
					(struct text){ p + 2, (size_t)(quote - p - 2) };
			ev->paths_unknown = false;
			p = quote + 1;
		}
	}
}

static bool is_clone(struct text name)
{
	return (name.len == 5 && (!memcmp(name.at, "clone", 5) || !memcmp(name.at, "vfork", 5))) ||
	       (name.len == 4 && !memcmp(name.at, "fork", 4));
}

/* A call is known whole at its end: what its beginning said was kept. */
static void ftrace_exit(struct events *e, const struct record *r)
{
	struct traced_process *p = events_process(e, r->pid);
	struct trace_event ev = { .pid = r->pid, .call = syscall_find(r->name.at, r->name.len) };
	struct record begin = { 0 };

	ev.ret = (int64_t)strtoull(r->rest.at, NULL, 0);
	if (is_clone(r->name) && ev.ret > 0)
		events_clone(e, r->pid, (uint32_t)ev.ret, 0);
	if (!p->pending || !ev.call) {
		e->coverage->unknown++;
		return;
	}
	if (read_record(&begin, p->pending, p->pending + p->pending_len) &&
	    begin.name.len == r->name.len && !memcmp(begin.name.at, r->name.at, r->name.len)) {
		read_arguments(&ev, begin.rest);
		if (ev.call->row.special == SPECIAL_IOCTL)
			ev.call = syscall_request(ev.call, (unsigned)ev.value[1]);
		if (ev.call)
			events_call(e, &ev);
	}
	process_pend(p, NULL, 0);
}

/* "CPU:1 [LOST 123 EVENTS]" */
static uint64_t lost_events(const char *line, const char *end)
{
	const char *lost = memmem(line, (size_t)(end - line), "LOST ", 5);

	return lost ? strtoull(lost + 5, NULL, 10) : 0;
}

static void ftrace_line(struct events *e, const char *line, const char *end)
{
	struct record r = { 0 };

	if (!read_record(&r, line, end)) {
		e->coverage->lost += lost_events(line, end);
		e->coverage->unknown += line < end && *line != '#';
	} else if (r.enter) {
		process_pend(events_process(e, r.pid), line, (size_t)(end - line));
	} else {
		ftrace_exit(e, &r);
	}
}

int read_ftrace(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err)
{
	const char *line, *end;
	struct events events;
	struct lines lines;
	int r = lines_open(&lines, path, err);

	if (r)
		return r;
	events_open(&events, c, options->mounts, options->mount_count, options->cwd);
	while ((r = lines_next(&lines, &line, &end, err)) > 0 && !lines.cut)
		ftrace_line(&events, line, end);
	c->cut = lines.cut;
	events_free(&events);
	lines_free(&lines);
	return r < 0 ? r : 0;
}
