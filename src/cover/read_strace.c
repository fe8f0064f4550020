/* read_strace.c -- coverage from the text that strace writes.
 *
 * One pass over each line: number of the process, name, arguments split at their commas, result.
 * All forms that matter are taken: -f with "[pid N]" or "N " before the call, times of any kind,
 * -y and -yy behind descriptors, names or raw numbers of flags, calls cut in two by another
 * process. A line that is no call is passed over. Memory is that of the processes that are alive.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/must.h"
#include "cover/events.h"
#include "cover/lines.h"
#include "cover/name_table.h"
#include "cover/readers.h"
#include "cover/strace_line.h"
#include "cover/words.h"

enum { PENDING_MAX = 1 << 16 };

struct strace {
	struct events events;
	struct words words;
	struct buf joined;  /* the two halves of a call */
	struct buf decoded; /* paths without their escapes */
	uint32_t cloning;   /* the process whose clone is under way, or 0 */
	uint64_t clone_flags;
};

static unsigned read_octal(const char **p, const char *end)
{
	unsigned value = 0;

	for (int i = 0; i < 3 && *p < end && **p >= '0' && **p <= '7'; i++)
		value = value * 8 + (unsigned)(*(*p)++ - '0');
	return value;
}

/* The bytes of a string with escapes, kept until the line is done. */
static struct text strace_decode(struct strace *s, struct text in, size_t line_len)
{
	const char *p = in.at, *end = in.at + in.len;
	size_t start = s->decoded.len;
	char c;

	if (!start)
		buf_reserve(&s->decoded, line_len); /* so that nothing moves */
	while (p < end) {
		if (*p != '\\' || p + 1 == end) {
			buf_addch(&s->decoded, *p++);
			continue;
		}
		p++;
		if (*p >= '0' && *p <= '7') {
			buf_addch(&s->decoded, (char)read_octal(&p, end));
		} else if (*p == 'x' && end - p > 2) {
			char hex[3] = { p[1], p[2], 0 };

			buf_addch(&s->decoded, (char)strtoul(hex, NULL, 16));
			p += 3;
		} else {
			c = *p++;
			buf_addch(&s->decoded, c == 'n' ? '\n' : c == 't' ? '\t' : c);
		}
	}
	return (struct text){ s->decoded.data + start, s->decoded.len - start };
}

/* The string in quotes. NULL has no quotes: it is the directory itself. */
static struct text path_argument(struct strace *s, const struct strace_line *l, int i)
{
	struct text arg = l->arg[i], path = { arg.at + 1, 0 };
	const char *close;

	if (arg.len < 2 || arg.at[0] != '"')
		return (struct text){ NULL, 0 };
	close = memrchr(path.at, '"', arg.len - 1);
	if (!close)
		return (struct text){ NULL, 0 };
	path.len = (size_t)(close - path.at);
	return memchr(path.at, '\\', path.len)
		     ? strace_decode(s, path, (size_t)(l->end - l->name.at))
		     : path;
}

static void strace_set_value(struct strace *s, struct trace_event *ev, unsigned from,
			     enum kind kind, struct text text)
{
	if (text.at && words_value(&s->words, kind, text.at, text.len, &ev->value[from]))
		ev->known |= 1u << from;
}

static enum kind event_kind(const struct trace_event *ev, unsigned arg)
{
	return op_table[ev->call->op].arg[ev->call->row.arg[arg].to].kind;
}

static void read_behind(struct strace *s, struct trace_event *ev, const struct strace_line *l)
{
	static const char *const labels[] = { "flags=", "mode=", "resolve=" };
	struct text word;

	switch (ev->call->row.special) {
	case SPECIAL_VECTOR:
		if (l->args > 1 && strace_sum(l->arg[1], &ev->value[SYSCALL_BEHIND]))
			ev->known |= 1u << SYSCALL_BEHIND;
		break;
	case SPECIAL_HOW:
		for (unsigned i = 0; l->args > 2 && i < ARRAY_LEN(labels); i++) {
			strace_set_value(s, ev, SYSCALL_BEHIND + i, event_kind(ev, i),
					 strace_field(l->arg[2], labels[i]));
			/* strace leaves out what is 0 */
			if (!strace_field(l->arg[2], labels[i]).at && *l->arg[2].at == '{')
				ev->known |= 1u << (SYSCALL_BEHIND + i);
		}
		break;
	case SPECIAL_WORD:
		if (l->args > 2 && l->arg[2].len > 2 && *l->arg[2].at == '[') {
			word = (struct text){ l->arg[2].at + 1, l->arg[2].len - 2 };
			strace_set_value(s, ev, SYSCALL_BEHIND, event_kind(ev, 0), word);
		}
		break;
	}
}

static void read_fd(struct strace *s, struct trace_event *ev, const struct strace_line *l, int arg,
		    int which)
{
	if (arg < 0 || (unsigned)arg >= l->args)
		return;
	strace_set_value(s, ev, (unsigned)arg, KIND_DIRFD, l->arg[arg]);
	ev->fd_path[which] = strace_path_behind(l->arg[arg]);
}

static void strace_read_values(struct strace *s, struct trace_event *ev,
			       const struct strace_line *l)
{
	const struct trace_row *row = &ev->call->row;
	unsigned from;

	read_fd(s, ev, l, row->fd, 0);
	read_fd(s, ev, l, row->fd2, 1);
	if (row->path >= 0 && (unsigned)row->path < l->args)
		ev->path[0] = path_argument(s, l, row->path);
	if (row->path2 >= 0 && (unsigned)row->path2 < l->args)
		ev->path[1] = path_argument(s, l, row->path2);
	for (unsigned i = 0; i < row->args; i++) {
		from = row->arg[i].from;
		if (from < l->args && from < SYSCALL_BEHIND)
			strace_set_value(s, ev, from, event_kind(ev, i), l->arg[from]);
	}
	if (row->special > SPECIAL_OPEN)
		read_behind(s, ev, l);
}

/* Calls without a row that say something about descriptors. */
enum other { OTHER_CLONE, OTHER_FCNTL, OTHER_CLOSE_RANGE, OTHER_PIPE, OTHER_PAIR, OTHER_FD };

static const struct {
	const char *name;
	enum other other;
} others[] = {
	{ "clone", OTHER_CLONE },        { "clone3", OTHER_CLONE },
	{ "fork", OTHER_CLONE },         { "vfork", OTHER_CLONE },
	{ "fcntl", OTHER_FCNTL },        { "close_range", OTHER_CLOSE_RANGE },
	{ "pipe", OTHER_PIPE },          { "pipe2", OTHER_PIPE },
	{ "socketpair", OTHER_PAIR },    { "socket", OTHER_FD },
	{ "accept", OTHER_FD },          { "accept4", OTHER_FD },
	{ "eventfd", OTHER_FD },         { "eventfd2", OTHER_FD },
	{ "epoll_create", OTHER_FD },    { "epoll_create1", OTHER_FD },
	{ "memfd_create", OTHER_FD },    { "signalfd", OTHER_FD },
	{ "signalfd4", OTHER_FD },       { "timerfd_create", OTHER_FD },
	{ "inotify_init", OTHER_FD },    { "inotify_init1", OTHER_FD },
	{ "pidfd_open", OTHER_FD },      { "userfaultfd", OTHER_FD },
	{ "perf_event_open", OTHER_FD }, { "fanotify_init", OTHER_FD },
	{ "io_uring_setup", OTHER_FD },  { "fsopen", OTHER_FD },
};

static struct name_table other_names;
static once_flag once = ONCE_FLAG_INIT;

static void fill_others(void)
{
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		name_table_add(&other_names, others[i].name, (int)others[i].other);
}

static int64_t plain_number(const struct strace_line *l, unsigned arg)
{
	return arg < l->args ? strtoll(l->arg[arg].at, NULL, 0) : 0;
}

static uint64_t clone_flags(const struct strace_line *l)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < l->args; i++) {
		struct text text = strace_field(l->arg[i], "flags=");

		if (!text.at)
			continue;
		if (memmem(text.at, text.len, "CLONE_FILES", 11))
			flags |= CLONE_FILES;
		if (memmem(text.at, text.len, "CLONE_FS", 8))
			flags |= CLONE_FS;
		if (text.len > 2 && text.at[1] == 'x')
			flags = strtoull(text.at, NULL, 16);
		break;
	}
	return flags;
}

/* A pair in brackets: "[3<pipe:[1]>, 4<pipe:[1]>]". */
static void strace_pair(struct strace *s, const struct strace_line *l, unsigned arg)
{
	const char *comma;

	if (arg >= l->args || *l->arg[arg].at != '[')
		return;
	events_other_fd(&s->events, l->pid, strtoll(l->arg[arg].at + 1, NULL, 10));
	comma = memmem(l->arg[arg].at, l->arg[arg].len, ", ", 2);
	if (comma)
		events_other_fd(&s->events, l->pid, strtoll(comma + 2, NULL, 10));
}

static void strace_other(struct strace *s, const struct strace_line *l, enum other other)
{
	struct text path;
	int64_t ret;

	if (!strace_result(l, &ret, &path) || ret < 0)
		return;
	switch (other) {
	case OTHER_CLONE:
		events_clone(&s->events, l->pid, (uint32_t)ret, clone_flags(l));
		s->cloning = 0;
		break;
	case OTHER_FCNTL:
		if (l->args > 1 && memmem(l->arg[1].at, l->arg[1].len, "DUPFD", 5))
			events_dup(&s->events, l->pid, plain_number(l, 0), ret);
		break;
	case OTHER_CLOSE_RANGE:
		events_close_range(&s->events, l->pid, plain_number(l, 0), plain_number(l, 1));
		break;
	case OTHER_PIPE:
		strace_pair(s, l, 0);
		break;
	case OTHER_PAIR:
		strace_pair(s, l, 3);
		break;
	case OTHER_FD:
		events_other_fd(&s->events, l->pid, ret);
		break;
	}
}

static void strace_known(struct strace *s, const struct strace_line *l, const struct syscall *call)
{
	struct trace_event ev;

	event_init(&ev, l->pid, call);
	if (call->row.special == SPECIAL_IOCTL)
		ev.call = l->args > 1 ? words_request(l->arg[1].at, l->arg[1].len) : NULL;
	if (!ev.call) {
		s->events.coverage->unknown++;
		return;
	}
	if (!strace_result(l, &ev.ret, &ev.ret_path))
		return;
	s->decoded.len = 0;
	strace_read_values(s, &ev, l);
	events_call(&s->events, &ev);
}

static void strace_call(struct strace *s, struct strace_line *l, const char *p, const char *end)
{
	const struct syscall *call;
	int other = -1;

	p = strace_name(l, p, end);
	call = syscall_find(l->name.at, l->name.len);
	if (!call)
		other = name_table_find(&other_names, l->name.at, l->name.len);
	if ((!call && other < 0) || !strace_split(l, p, end))
		s->events.coverage->unknown++;
	else if (call)
		strace_known(s, l, call);
	else
		strace_other(s, l, (enum other)other);
}

/* An unknown process is the child of the pending clone. */
static void strace_meet_process(struct strace *s, uint32_t pid)
{
	if (s->cloning && s->cloning != pid && !process_find(&s->events.processes, pid))
		events_clone(&s->events, s->cloning, pid, s->clone_flags);
}

static void strace_pend(struct strace *s, uint32_t pid, const char *p, const char *end)
{
	static const char mark[] = "<unfinished ...>";
	struct strace_line l = { .pid = pid };

	end -= sizeof(mark) - 1;
	while (end > p && end[-1] == ' ')
		end--;
	if (end - p > PENDING_MAX)
		return;
	process_pend(events_process(&s->events, pid), p, (size_t)(end - p));
	strace_name(&l, p, end);
	if (name_table_find(&other_names, l.name.at, l.name.len) == OTHER_CLONE) {
		l.args = 1;
		l.arg[0] = (struct text){ p, (size_t)(end - p) };
		s->cloning = pid;
		s->clone_flags = clone_flags(&l);
	}
}

/* The second half of a call, behind "<... name resumed>". */
static bool strace_join_resumed(struct strace *s, uint32_t pid, const char **p, const char **end)
{
	static const char mark[] = " resumed>";
	const char *rest = memmem(*p, (size_t)(*end - *p), mark, sizeof(mark) - 1);
	struct traced_process *process = events_process(&s->events, pid);

	if (!rest || !process->pending)
		return false;
	rest += sizeof(mark) - 1;
	buf_clear(&s->joined);
	buf_add(&s->joined, process->pending, process->pending_len);
	buf_addch(&s->joined, ' ');
	buf_add(&s->joined, rest, (size_t)(*end - rest));
	process_pend(process, NULL, 0);
	*p = s->joined.data;
	*end = s->joined.data + s->joined.len;
	return true;
}

static bool ends_with(const char *p, const char *end, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(end - p) >= len && !memcmp(end - len, text, len);
}

static void strace_read_line(struct strace *s, const char *p, const char *end)
{
	struct strace_line l; /* not all of it is made zero for every line */

	l.args = 0;
	p = strace_head(p, end, &l.pid);
	if (end - p < 8 || !memcmp(p, "--- ", 4) || !memcmp(p, "strace: ", 8))
		return;
	strace_meet_process(s, l.pid);
	if (!memcmp(p, "+++ ", 4)) {
		events_exit(&s->events, l.pid);
	} else if (end[-1] == '>' && ends_with(p, end, "<unfinished ...>")) {
		strace_pend(s, l.pid, p, end);
	} else if (!memcmp(p, "<...", 4) && !strace_join_resumed(s, l.pid, &p, &end)) {
		s->events.coverage->unknown++;
	} else {
		strace_call(s, &l, p, end);
	}
}

static struct strace *open_strace(struct coverage *c, const struct read_options *options)
{
	struct strace *s = must_alloc(sizeof(*s));

	call_once(&once, fill_others);
	events_open(&s->events, c, options->mounts, options->mount_count, options->cwd);
	return s;
}

static void free_strace(struct strace *s)
{
	events_free(&s->events);
	buf_free(&s->joined);
	buf_free(&s->decoded);
	free(s);
}

int read_strace(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err)
{
	const char *line, *end;
	struct lines lines;
	struct strace *s;
	int r = lines_open(&lines, path, err);

	if (r)
		return r;
	s = open_strace(c, options);
	while ((r = lines_next(&lines, &line, &end, err)) > 0 && !lines.cut)
		strace_read_line(s, line, end);
	c->cut = lines.cut;
	free_strace(s);
	lines_free(&lines);
	return r < 0 ? r : 0;
}

void read_strace_text(struct coverage *c, const struct read_options *options, const char *text,
		      size_t len)
{
	struct strace *s = open_strace(c, options);
	const char *end = text + len, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ? newline : end;
		strace_read_line(s, text, newline);
	}
	free_strace(s);
}
