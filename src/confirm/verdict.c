/* verdict.c -- what the console of a guest says about the reproducer that ran there. */
#include "confirm/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "confirm/boot.h"
#include "judge/kernel_log.h"

enum { LAST_LINES = 30, LINE_SHOWN_MAX = 200 };

/* Lines of the guest's first program (guest/init.c). */
#define GUEST_LINE "\nassay-guest: "

const char *const confirm_end_names[CONFIRM_ENDS] = {
	"shown", "not shown", "panic", "oops", "hang", "no such file system", "unknown",
};

/* What follows the words of a line of the guest; NULL if it has written none such. */
static const char *guest_line(const char *console, const char *words)
{
	size_t len = strlen(words);

	for (; (console = strstr(console, GUEST_LINE)); console++) {
		const char *text = console + strlen(GUEST_LINE);

		if (!strncmp(text, words, len))
			return text + len;
	}
	return NULL;
}

static void add_line(struct buf *out, const char *text)
{
	size_t len = strcspn(text, "\n");

	buf_add(out, text, len < LINE_SHOWN_MAX ? len : LINE_SHOWN_MAX);
}

/* "6.1.0-54-amd64 #1 SMP ... Debian 6.1.190-1 (2026-09-01)": the release hides the version. */
static void read_kernel(const char *console, struct buf *out)
{
	static const char debian[] = " Debian ";
	const char *text = guest_line(console, "kernel "), *package;

	if (!text)
		return;
	buf_adds(out, "Linux ");
	buf_add(out, text, strcspn(text, " \n"));
	package = strstr(text, debian);
	if (!package || package > text + strcspn(text, "\n"))
		return;
	buf_addf(out, " (%s", debian + 1);
	package += strlen(debian);
	buf_add(out, package, strcspn(package, " \n"));
	buf_addch(out, ')');
}

static void keep_last_lines(const struct buf *console, struct buf *out)
{
	const char *text = buf_str(console), *at = text + console->len;

	for (int lines = 0; at > text; at--)
		if (at[-1] == '\n' && lines++ == LAST_LINES)
			break;
	buf_adds(out, at);
}

/* The line that has these words, as the reason. */
static bool add_line_with(const char *console, const char *words, struct buf *out)
{
	const char *at = strstr(console, words);

	if (at)
		add_line(out, at);
	return at != NULL;
}

/* What the kernel says of itself while the reproducer runs. */
static bool add_alarm(const char *console, struct buf *why)
{
	char place[KERNEL_PLACE_MAX];
	enum kernel_alarm alarm = kernel_log_first(console, place);

	if (alarm != ALARM_NONE)
		buf_addf(why, "the kernel complains (%s): %s", kernel_alarm_names[alarm], place);
	return kernel_alarm_is_damage(alarm);
}

/* The line before the one that says how it ended is the reproducer's last. */
static void add_last_said(const char *begin, struct buf *why)
{
	const char *end = strstr(begin, GUEST_LINE), *line;

	if (!end)
		return;
	while (end > begin && end[-1] == '\n')
		end--;
	for (line = end; line > begin && line[-1] != '\n';)
		line--;
	if (line == end)
		return;
	buf_adds(why, ": ");
	buf_add(why, line,
		(size_t)(end - line) < LINE_SHOWN_MAX ? (size_t)(end - line) : LINE_SHOWN_MAX);
}

static enum confirm_end read_exit(int status, const char *begin, struct buf *why)
{
	if (status == 1) {
		if (!add_line_with(begin, "wrong: ", why))
			buf_adds(why, "the reproducer exits with 1");
		return CONFIRM_SHOWN;
	}
	if (add_alarm(begin, why))
		return CONFIRM_OOPS;
	if (why->len)
		buf_adds(why, "; ");
	if (!status && add_line_with(begin, "something else: ", why))
		return CONFIRM_ABSENT;
	buf_addf(why, "the reproducer exits with %d", status);
	if (!status)
		return CONFIRM_ABSENT;
	add_last_said(begin, why);
	return CONFIRM_UNKNOWN;
}

/* From where the reproducer begins. */
static enum confirm_end read_running(const char *begin, bool timed_out, struct buf *why)
{
	const char *status = guest_line(begin, "ended with "),
		   *number = guest_line(begin, "killed by ");

	if (status)
		return read_exit(atoi(status), begin, why);
	if (add_line_with(begin, "Kernel panic - ", why))
		return CONFIRM_PANIC;
	if (add_alarm(begin, why))
		return CONFIRM_OOPS;
	if (why->len)
		buf_adds(why, "; ");
	if (number)
		buf_addf(why, "the reproducer is killed by signal %d", atoi(number));
	else
		buf_adds(why, timed_out ? "the reproducer does not end"
					: "the guest ends before the reproducer");
	return timed_out && !number ? CONFIRM_HANG : CONFIRM_UNKNOWN;
}

/* The reproducer did not begin. */
static enum confirm_end read_start(const char *console, bool timed_out, struct buf *why)
{
	const char *text = guest_line(console, "lacks ");

	if (text) {
		buf_adds(why, "the kernel has no ");
		add_line(why, text);
		return CONFIRM_LACKING;
	}
	text = guest_line(console, "cannot: ");
	if (text) {
		buf_adds(why, "the guest cannot ");
		add_line(why, text);
	} else if (!add_line_with(console, "Kernel panic - ", why)) {
		buf_adds(why, timed_out ? "the guest does not start in time"
					: "the guest ends before the reproducer begins");
	}
	return CONFIRM_UNKNOWN;
}

/* Some findings are what others only end by. */
static bool verdict_shows(enum confirm_end end, enum problem problem)
{
	switch (end) {
	case CONFIRM_SHOWN:
		return true;
	case CONFIRM_PANIC:
	case CONFIRM_OOPS:
		return problem == PROBLEM_KERNEL || problem == PROBLEM_DEATH;
	case CONFIRM_HANG:
		return problem == PROBLEM_HANG;
	default:
		return false;
	}
}

void verdict_read(const struct boot_report *boot, enum problem problem, struct confirm_verdict *ret)
{
	const char *console = buf_str(&boot->console), *begin = guest_line(console, "begins");
	/* Of a crash, mounting is part of the test. */
	bool lacks = guest_line(console, "lacks ") != NULL;

	*ret = (struct confirm_verdict){ 0 };
	read_kernel(console, &ret->kernel);
	ret->end = begin && !lacks ? read_running(begin, boot->timed_out, &ret->why)
				   : read_start(console, boot->timed_out, &ret->why);
	ret->shows = verdict_shows(ret->end, problem);
	keep_last_lines(&boot->console, &ret->last);
}

void verdict_free(struct confirm_verdict *v)
{
	buf_free(&v->kernel);
	buf_free(&v->why);
	buf_free(&v->last);
}
