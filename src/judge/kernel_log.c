/* kernel_log.c -- what the running kernel complains of during a run.
 *
 * A record is "priority,sequence,time,flags;text", with lines of properties behind it that begin
 * with a space; some kernels put ",caller=T123" behind the flags. A complaint begins with a line of
 * the table, and ends with the line that says so, with the next complaint, or where the log ends
 * for now. An oops announces itself in several lines of the table: what begins before the process
 * was named belongs to the same one. */
#include "judge/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"

enum { LINES_MAX = 200, RECORD_MAX = 8192, FACILITY_SHIFT = 3 };

const char *const kernel_alarm_names[KERNEL_ALARMS] = {
	"none", "leak", "warning", "corruption", "hung task", "lockup", "BUG", "oops",
};

/* The first row that fits counts: by what a line begins with, or by what is in it. */
static const struct {
	const char *begin, *words;
	enum kernel_alarm alarm;
} beginnings[] = {
	/* Of programs: "traps: prog[42] general protection fault ip:..." */
	{ "traps: ", "", ALARM_NONE },
	{ "", "BUG: soft lockup", ALARM_LOCKUP },
	{ "", "hard LOCKUP", ALARM_LOCKUP },
	{ "", "detected stalls on CPUs", ALARM_LOCKUP },
	{ "", "self-detected stall on CPU", ALARM_LOCKUP },
	{ "kernel BUG at ", "", ALARM_BUG },
	{ "BUG: unable to handle", "", ALARM_OOPS },
	{ "BUG: kernel NULL pointer dereference", "", ALARM_OOPS },
	{ "general protection fault", "", ALARM_OOPS },
	{ "Unable to handle kernel", "", ALARM_OOPS },
	{ "Internal error: Oops", "", ALARM_OOPS },
	{ "Oops: ", "", ALARM_OOPS },
	{ "BUG: ", "", ALARM_BUG },
	{ "WARNING: ", "", ALARM_WARNING },
	{ "UBSAN: ", "", ALARM_WARNING },
	{ "INFO: possible ", "", ALARM_WARNING },
	{ "INFO: task ", "blocked for more than", ALARM_HUNG_TASK },
	{ "INFO: task ", "blocked in I/O wait for more than", ALARM_HUNG_TASK },
	{ "memory leak of ", "", ALARM_LEAK },
	{ "EXT4-fs error (device ", "", ALARM_CORRUPTION },
	{ "EXT2-fs (", "error: ", ALARM_CORRUPTION },
	{ "XFS (", "orruption detected", ALARM_CORRUPTION },
	{ "XFS (", "Internal error ", ALARM_CORRUPTION },
	{ "BTRFS critical (device ", "", ALARM_CORRUPTION },
	{ "BTRFS: error (device ", "", ALARM_CORRUPTION },
	{ "F2FS-fs (", "nconsistent", ALARM_CORRUPTION },
};

/* Lines that name the process a complaint is about; the kernel writes one in each. */
static const char *const namings[] = { " Comm: ", "INFO: task ", " stuck for ", "(device ",
				       "XFS (" };

static const char *const endings[] = { "---[ end trace", "---[ end Kernel panic" };

bool kernel_alarm_is_damage(enum kernel_alarm alarm)
{
	return alarm >= ALARM_LOCKUP;
}

void kernel_log_open(struct kernel_log *k, const char *path)
{
	*k = (struct kernel_log){ .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) };
	if (k->fd >= 0)
		lseek(k->fd, 0, SEEK_END);
}

void kernel_log_close(struct kernel_log *k)
{
	if (k->fd >= 0)
		close(k->fd);
	buf_free(&k->rest);
	buf_free(&k->others);
	buf_free(&k->text);
}

static enum kernel_alarm beginning_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (!strncmp(text, beginnings[i].begin, strlen(beginnings[i].begin)) &&
		    strstr(text, beginnings[i].words))
			return beginnings[i].alarm;
	return ALARM_NONE;
}

static bool is_naming(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(namings); i++)
		if (strstr(text, namings[i]))
			return true;
	return false;
}

static bool is_ending(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (strstr(text, endings[i]))
			return true;
	return false;
}

/* What follows these words, up to one of those characters, is a place. */
static const struct {
	const char *behind, *until;
	bool is_line; /* of a source file: "fs/ext4/inode.c:123" */
} places[] = {
	{ " at ", " !", true },     /* "... at fs/ext4/inode.c:123 function+0x12/0x34" */
	{ "WARNING: ", " ", true }, /* "... fs/ext4/inode.c:123 at function+0x12/0x34, CPU#0: " */
	{ "memory leak of ", ":", false },
	{ "RIP: 0033:", "+", false },
};

/* A line that names no place is one, without its numbers: addresses, processes and times. */
static void find_place(const char *line, char place[KERNEL_PLACE_MAX])
{
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *at = strstr(line, places[i].behind);

		if (!at)
			continue;
		at += strlen(places[i].behind);
		len = strcspn(at, places[i].until);
		if (places[i].is_line && !memchr(at, ':', len))
			continue;
		snprintf(place, KERNEL_PLACE_MAX, "%.*s", (int)len, at);
		return;
	}
	for (len = 0; *line && len + 1 < KERNEL_PLACE_MAX; line++)
		if (*line < '0' || *line > '9')
			place[len++] = *line;
	place[len] = '\0';
}

static void begin(struct kernel_log *k, enum kernel_alarm alarm, const char *text,
		  const char *caller)
{
	buf_clear(&k->text);
	buf_addf(&k->text, "%s\n", text);
	k->alarm = alarm;
	k->lines = 1;
	k->named = is_naming(text);
	snprintf(k->caller, sizeof(k->caller), "%s", caller);
	find_place(text, k->place);
}

enum line { LINE_TAKEN, LINE_OTHERS, LINE_LAST, LINE_NEXT };

/* One line of the kernel's: LINE_OTHERS if it does not belong to this complaint, LINE_LAST if that
 * ends with it, LINE_NEXT if it has ended before. An oops often announces itself as a BUG: what
 * belongs together has the gravest name. */
static enum line take_line(struct kernel_log *k, const char *text, const char *caller)
{
	enum kernel_alarm alarm = beginning_of(text);

	if (k->alarm == ALARM_NONE) {
		if (alarm)
			begin(k, alarm, text, caller);
		return LINE_TAKEN;
	}
	if (strcmp(caller, k->caller))
		return LINE_OTHERS;
	if (alarm && k->named)
		return LINE_NEXT;
	buf_addf(&k->text, "%s\n", text);
	k->named |= is_naming(text);
	if (alarm > k->alarm)
		k->alarm = alarm;
	return ++k->lines >= LINES_MAX || is_ending(text) ? LINE_LAST : LINE_TAKEN;
}

/* A record without its head, and who says it; NULL if it is not the kernel's own: everyone may
 * write to the log. */
static const char *text_of(const char *line, char caller[CALLER_MAX])
{
	const char *text = strchr(line, ';'), *said = strstr(line, ",caller=");

	*caller = '\0';
	if (*line == ' ' || !text || strtoul(line, NULL, 10) >> FACILITY_SHIFT)
		return NULL;
	if (said && said < text)
		snprintf(caller, CALLER_MAX, "%.*s", (int)(text - said), said);
	return text + 1;
}

/* Takes one line from the rest; what others say meanwhile waits for its turn. */
static enum line take_next(struct kernel_log *k, char *line, size_t len)
{
	char caller[CALLER_MAX];
	const char *text;
	enum line what = LINE_TAKEN;

	line[len] = '\0';
	text = text_of(line, caller);
	if (text)
		what = take_line(k, text, caller);
	line[len] = '\n';
	if (what == LINE_OTHERS)
		buf_add(&k->others, line, len + 1);
	return what;
}

/* Takes the lines that are there; true if a complaint is complete. */
static bool take_lines(struct kernel_log *k)
{
	enum line what = LINE_TAKEN;
	size_t used = 0;
	char *line, *end;

	while (what < LINE_LAST && used < k->rest.len) {
		line = k->rest.data + used;
		end = memchr(line, '\n', k->rest.len - used);
		if (!end)
			break;
		what = take_next(k, line, (size_t)(end - line));
		if (what != LINE_NEXT)
			used += (size_t)(end - line) + 1;
	}
	if (used) {
		memmove(k->rest.data, k->rest.data + used, k->rest.len - used);
		k->rest.len -= used;
	}
	return what >= LINE_LAST;
}

/* What others said while a complaint was read comes before what is not read yet. */
static void return_to_others(struct kernel_log *k)
{
	struct buf rest = k->rest;

	k->rest = k->others;
	k->others = (struct buf)BUF_INIT;
	buf_add(&k->rest, buf_str(&rest), rest.len);
	buf_free(&rest);
}

enum kernel_alarm kernel_log_next(struct kernel_log *k)
{
	char record[RECORD_MAX];
	ssize_t n;

	k->alarm = ALARM_NONE;
	if (k->fd < 0)
		return ALARM_NONE;
	for (;;) {
		if (take_lines(k))
			break;
		n = read(k->fd, record, sizeof(record));
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue; /* records were overwritten before they were read */
		if (n <= 0)
			break;
		buf_add(&k->rest, record, (size_t)n);
	}
	return_to_others(k);
	return k->alarm;
}

/* A line of a console begins with the time: "[    0.000000] ". */
static const char *behind_time(const char *line)
{
	const char *end = *line == '[' ? strstr(line, "] ") : NULL;

	return end ? end + 2 : line;
}

enum kernel_alarm kernel_log_first(const char *log, char ret_place[KERNEL_PLACE_MAX])
{
	char line[RECORD_MAX];
	enum kernel_alarm alarm;
	size_t len;

	for (; *log; log += len + (log[len] == '\n')) {
		len = strcspn(log, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, log);
		alarm = beginning_of(behind_time(line));
		/* All that a kernel in a process says before it dies; others say more first. */
		if (!alarm && strstr(line, "RIP: 0033:"))
			alarm = ALARM_OOPS;
		if (alarm) {
			find_place(behind_time(line), ret_place);
			return alarm;
		}
	}
	*ret_place = '\0';
	return ALARM_NONE;
}
