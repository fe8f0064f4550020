/* crash_figures.c -- the figures of `assay crash`, and its summary. */
#include "cmd/crash_figures.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/count_text.h"
#include "cli/jobs.h"
#include "cmd/crash_daemon.h"
#include "report/findings_text.h"

static void set_count(json_t *o, const char *name, uint64_t count)
{
	json_object_set_new(o, name, json_integer((json_int_t)count));
}

static const char *const crash_figure_names[] = { "workloads",
						  "not_judged",
						  "crash_states",
						  "unique_images",
						  "recoveries",
						  "memo_hits",
						  "recoveries_checked",
						  "recovery_states",
						  "recovery_skipped",
						  "repair_logs",
						  "repair_states",
						  "repair_skipped",
						  NULL };

void crash_figures_set(struct run *run, const struct crash_session *s, bool during_recovery)
{
	const uint64_t figures[] = {
		s->figures.workloads,     s->figures.not_judged,      s->figures.crash_states,
		s->figures.unique_images, s->recovery.recoveries,     s->recovery.memo_hits,
		s->recovery.checked,      s->figures.recovery_states, s->figures.recovery_skipped,
		s->figures.repair_logs,   s->figures.repair_states,   s->figures.repair_skipped,
	};

	for (size_t i = 0; crash_figure_names[i]; i++)
		set_count(run->figures, crash_figure_names[i], figures[i]);
	if (during_recovery && recovery_repair_command(&s->recovery) &&
	    !recovery_records_repair(&s->recovery))
		json_object_set_new(run->figures, "repair_not_recorded", json_true());
	if (s->not_judged_for.len)
		json_object_set_new(run->figures, "not_judged_for",
				    json_string(s->not_judged_for.data));
}

void crash_figures_add(struct run *run, const json_t *summary, bool daemon)
{
	json_t *why = json_object_get(summary, "not_judged_for");

	job_add_figures(run, summary, daemon ? crash_daemon_figures : crash_figure_names);
	if (why)
		json_object_set(run->figures, "not_judged_for", why);
	/* Each job records alone; one that cannot says so for all. */
	if (json_is_true(json_object_get(summary, "repair_not_recorded")))
		json_object_set_new(run->figures, "repair_not_recorded", json_true());
}

int crash_figures_merge(struct run *run, unsigned job, bool daemon, struct err *err)
{
	json_t *summary;
	int status = job_merge(run, job, &summary, err);

	if (status)
		return status;
	crash_figures_add(run, summary, daemon);
	json_decref(summary);
	return 0;
}

uint64_t crash_figure(const struct run *run, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(run->figures, name));
}

void crash_figures_print(const struct run *run, bool daemon)
{
	double seconds = clock_seconds() - run->started_seconds;
	struct buf out = BUF_INIT;
	uint64_t states = crash_figure(run, "crash_states");

	findings_text(run->findings, run->unconfirmed, run->target, &out);
	buf_addf(&out, "%s: %s, %s in %.1f s (%.0f/s): ", run->target,
		 count_text(crash_figure(run, "workloads"), "workload"),
		 count_text(states, "crash state"), seconds, (double)states / seconds);
	if (daemon)
		crash_daemon_print(run, &out);
	else
		buf_addf(&out, "%s, %s\n",
			 count_text(crash_figure(run, "unique_images"), "different disk"),
			 count_text(crash_figure(run, "recoveries"), "recovery"));
	if (crash_figure(run, "recovery_states"))
		buf_addf(&out, "%s during recovery, %" PRIu64 " of them known from an equal disk\n",
			 count_text(crash_figure(run, "recovery_states"), "crash"),
			 crash_figure(run, "recovery_skipped"));
	if (crash_figure(run, "repair_states"))
		buf_addf(&out,
			 "%s during %s by the checker, %" PRIu64
			 " of them known from an equal disk\n",
			 count_text(crash_figure(run, "repair_states"), "crash"),
			 count_text(crash_figure(run, "repair_logs"), "repair"),
			 crash_figure(run, "repair_skipped"));
	if (json_object_get(run->figures, "repair_not_recorded"))
		buf_adds(&out, "repairs by the checker were not crashed: that needs /dev/fuse and, "
			       "without root, user namespaces\n");
	if (crash_figure(run, "not_judged"))
		buf_addf(&out, "%s not judged; the first for: %s\n",
			 count_text(crash_figure(run, "not_judged"), "workload"),
			 json_string_value(json_object_get(run->figures, "not_judged_for")));
	buf_addf(&out, "report: %s/report.html\n", run->dir);
	fputs(out.data, stdout);
	buf_free(&out);
}
