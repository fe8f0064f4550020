/* conform_figures.c -- the figures of `assay conform`, of all scripts and of parts of them. */
#include "cmd/conform_figures.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/summary.h"
#include "conform/survey_add.h"
#include "conform/survey_schedules.h"
#include "report/findings_text.h"

static void figures_set_count(json_t *o, const char *name, uint64_t count)
{
	json_object_set_new(o, name, json_integer((json_int_t)count));
}

void conform_figures_set(struct run *run, const struct survey *s, unsigned preemptions)
{
	uint64_t counts[SCRIPT_FATES + 1] = { 0 }, calls = 0;
	double exec = 0, check = 0;

	if (preemptions)
		survey_count_schedules(s, preemptions, run->figures);

	for (size_t i = 0; i < s->count; i++) {
		const struct conform_result *r = &s->targets[i].result;

		for (unsigned f = 0; f <= SCRIPT_FATES; f++)
			counts[f] += r->counts[f];
		calls += r->figures.calls;
		exec += r->figures.exec_seconds;
		check += r->figures.check_seconds;
	}
	figures_set_count(run->figures, "scripts", s->count * s->suite->count);
	figures_set_count(run->figures, "scripts_run",
			  s->count * s->suite->count - counts[SCRIPT_FATES]);
	figures_set_count(run->figures, "calls", calls);
	figures_set_count(run->figures, "accepted", counts[SCRIPT_ACCEPTED]);
	figures_set_count(run->figures, "rejected", counts[SCRIPT_REJECTED]);
	figures_set_count(run->figures, "undefined", counts[SCRIPT_UNKNOWN]);
	figures_set_count(run->figures, "skipped", counts[SCRIPT_SKIPPED]);
	figures_set_count(run->figures, "not_run", counts[SCRIPT_FATES]);
	json_object_set_new(run->figures, "exec_seconds", json_real(exec));
	json_object_set_new(run->figures, "check_seconds", json_real(check));
	json_object_set_new(run->figures, "targets", survey_json(s));
}

enum verdict conform_figures_verdict(const struct survey *s)
{
	enum verdict verdict = VERDICT_OK;

	for (size_t i = 0; i < s->count; i++) {
		const struct surveyed *t = &s->targets[i];

		if (t->causes.unexpected > t->causes.unconfirmed)
			return VERDICT_BAD;
		if (t->causes.unconfirmed || t->failure || t->result.stopped ||
		    t->result.counts[SCRIPT_FATES])
			verdict = VERDICT_UNKNOWN;
	}
	return verdict;
}

void conform_figures_add(struct run *all, const json_t *part)
{
	const char *verdict = json_text(part, "verdict");
	enum verdict own = !strcmp(verdict, "bad") ? VERDICT_BAD
			 : !strcmp(verdict, "ok")  ? VERDICT_OK
						   : VERDICT_UNKNOWN;

	if (own > all->verdict)
		all->verdict = own;
	survey_add(all->figures, part);
}

void conform_figures_print(const struct run *all)
{
	struct buf out = BUF_INIT;

	findings_text(all->findings, all->unconfirmed, all->target, &out);
	survey_print_added(all->figures, &out);
	buf_addf(&out, "report: %s/report.html\n", all->dir);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
	summary_print_known(all);
}
