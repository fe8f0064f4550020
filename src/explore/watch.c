/* watch.c -- complaints of the running kernel: ours are findings, others' are notes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "explore/explorer.h"

enum { TITLE_LINE_MAX = 160 };

void kernel_watch_open(struct kernel_watch *w, const char *log, struct target *t)
{
	*w = (struct kernel_watch){ 0 };
	kernel_log_open(&w->log, log ? log : "/dev/kmsg");
	kernel_ours_look(&w->ours, t);
}

void kernel_watch_close(struct kernel_watch *w)
{
	kernel_log_close(&w->log);
	kernel_ours_free(&w->ours);
}

static void watch_fill(const struct explorer *x, struct finding *f)
{
	const char *text = buf_str(&x->watch->log.text);
	const char *name = kernel_alarm_names[x->watch->log.alarm];
	size_t first_line = strcspn(text, "\n");

	f->discrepancy.code = PROBLEM_KERNEL;
	snprintf(f->discrepancy.signature, sizeof(f->discrepancy.signature), "KERNEL %s %.120s",
		 name, x->watch->log.place);
	buf_adds(&f->target, x->target->name);
	buf_addf(&f->discrepancy.title, "%s in the kernel's log: %.*s", name,
		 (int)(first_line < TITLE_LINE_MAX ? first_line : TITLE_LINE_MAX), text);
	buf_adds(&f->discrepancy.expected, "nothing of the kind in the kernel's log");
	buf_addf(&f->discrepancy.seen, "in the kernel's log:\n%s", text);
	buf_adds(&f->discrepancy.rule, "A kernel that works does not complain of itself.");
	f->discrepancy.in_log = true;
}

/* A complaint that does not name us: counted, and kept where it can be read. */
static void watch_note(struct explorer *x)
{
	char path[PATH_MAX];
	FILE *notes;

	x->figures.kernel_notes++;
	snprintf(path, sizeof(path), "%.4000s/kernel-notes", x->run->dir);
	notes = fopen(path, "ae");
	if (!notes)
		return;
	fprintf(notes, "%s\n", buf_str(&x->watch->log.text));
	fclose(notes);
}

/* With the calls that were made last; its cause may be long ago. */
static void watch_report(struct explorer *x)
{
	struct finding f;

	finding_init(&f);
	watch_fill(x, &f);
	if (!run_knows(x->run, &f) && !capture_once(x, &f))
		watch_note(x);
	finding_free(&f);
}

bool watch_kernel(struct explorer *x)
{
	bool damage = false;

	/* Before the first call after a reset there is no history to report it with; it waits. */
	while (x->history.count && kernel_log_next(&x->watch->log)) {
		kernel_ours_look(&x->watch->ours, x->target);
		if (!attribution_of(&x->watch->ours, x->watch->log.alarm,
				    buf_str(&x->watch->log.text))) {
			watch_note(x);
			continue;
		}
		watch_report(x);
		damage |= kernel_alarm_is_damage(x->watch->log.alarm);
	}
	return damage;
}
