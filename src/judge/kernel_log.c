/* kernel_log.c -- what the running kernel complains of while a run goes on.
 *
 * A record is "priority,sequence,time,flags;text", with lines of properties behind it that begin
 * with a space. A complaint begins with a line of the table, and ends with the line that says so,
 * with the next complaint, or where the log ends for now. */
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
	"none", "leak", "warning", "hung task", "lockup", "BUG", "oops",
};

/* The first row that fits counts. */
static const struct {
	const char *words;
	enum kernel_alarm alarm;
} beginnings[] = {
	{ "soft lockup", ALARM_LOCKUP },
	{ "hard LOCKUP", ALARM_LOCKUP },
	{ "detected stalls on CPUs", ALARM_LOCKUP },
	{ "self-detected stall on CPU", ALARM_LOCKUP },
	{ "kernel BUG at ", ALARM_BUG },
	{ "BUG: unable to handle", ALARM_OOPS },
	{ "BUG: kernel NULL pointer dereference", ALARM_OOPS },
	{ "general protection fault", ALARM_OOPS },
	{ "Unable to handle kernel", ALARM_OOPS },
	{ "Internal error: Oops", ALARM_OOPS },
	{ "Oops: ", ALARM_OOPS },
	{ "BUG: ", ALARM_BUG },
	{ "WARNING: ", ALARM_WARNING },
	{ "UBSAN: ", ALARM_WARNING },
	{ "INFO: possible ", ALARM_WARNING },
	{ "blocked for more than", ALARM_HUNG_TASK },
	{ "memory leak of ", ALARM_LEAK },
};

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
	buf_free(&k->text);
}

static enum kernel_alarm beginning_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (strstr(text, beginnings[i].words))
			return beginnings[i].alarm;
	return ALARM_NONE;
}

static bool is_ending(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (strstr(text, endings[i]))
			return true;
	return false;
}

/* What stands behind these words, up to one of those characters, is a place. */
static const struct {
	const char *behind, *until;
} places[] = {
	{ " at ", " !" }, /* "... at fs/ext4/inode.c:123 function+0x12/0x34" */
	{ "memory leak of ", ":" },
	{ "RIP: 0033:", "+" },
};

/* A line that names no place is one, without its numbers: addresses, processes and times. */
static void find_place(const char *line, char place[KERNEL_PLACE_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *at = strstr(line, places[i].behind);

		if (!at || !strchr(at, ':'))
			continue;
		at += strlen(places[i].behind);
		snprintf(place, KERNEL_PLACE_MAX, "%.*s", (int)strcspn(at, places[i].until), at);
		return;
	}
	for (; *line && len + 1 < KERNEL_PLACE_MAX; line++)
		if (*line < '0' || *line > '9')
			place[len++] = *line;
	place[len] = '\0';
}

static void begin(struct kernel_log *k, enum kernel_alarm alarm, const char *text)
{
	buf_clear(&k->text);
	buf_addf(&k->text, "%s\n", text);
	k->alarm = alarm;
	k->lines = 1;
	find_place(text, k->place);
}

/* One line of the kernel's; true if a complaint ends with it. An oops often announces itself as a
 * BUG: what belongs together has the gravest name. */
static bool take_line(struct kernel_log *k, const char *text)
{
	enum kernel_alarm alarm = beginning_of(text);

	if (k->alarm == ALARM_NONE) {
		if (alarm)
			begin(k, alarm, text);
		return false;
	}
	buf_addf(&k->text, "%s\n", text);
	if (alarm > k->alarm)
		k->alarm = alarm;
	return ++k->lines >= LINES_MAX || is_ending(text);
}

/* A record without its head; NULL if it is not the kernel's own: everyone may write to the log. */
static const char *text_of(const char *line)
{
	const char *text = strchr(line, ';');

	if (*line == ' ' || !text || strtoul(line, NULL, 10) >> FACILITY_SHIFT)
		return NULL;
	return text + 1;
}

/* Takes the lines that are there; true if a complaint is complete. */
static bool take_lines(struct kernel_log *k)
{
	size_t used = 0, len;
	bool complete = false;
	const char *text;
	char *end;

	while (!complete && used < k->rest.len &&
	       (end = memchr(k->rest.data + used, '\n', k->rest.len - used))) {
		*end = '\0';
		len = (size_t)(end - (k->rest.data + used));
		text = text_of(k->rest.data + used);
		complete = text && take_line(k, text);
		used += len + 1;
	}
	if (used) {
		memmove(k->rest.data, k->rest.data + used, k->rest.len - used);
		k->rest.len -= used;
	}
	return complete;
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
		alarm = beginning_of(line);
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
