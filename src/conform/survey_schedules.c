/* survey_schedules.c -- how many schedules of races were tried, and what is left. */
#include "conform/survey_schedules.h"

#include <stdbool.h>
#include <sys/resource.h>

#include "base/count_text.h"
#include "conform/survey.h"

static double rusage_seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static struct session_figures schedules_sum(const struct survey *s)
{
	struct session_figures sum = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		const struct session_figures *f = &s->targets[i].result.figures;

		sum.pairs += f->pairs;
		sum.schedules += f->schedules;
		sum.left += f->left;
		sum.unsteady += f->unsteady;
		if (f->chance && (!sum.chance || f->chance < sum.chance))
			sum.chance = f->chance;
		sum.whole += f->whole;
		sum.reduced += f->reduced;
		sum.outcomes += f->outcomes;
		for (unsigned n = 1; n <= SCHEDULE_SWITCHES_MAX; n++)
			sum.searched[n] += f->searched[n];
	}
	return sum;
}

static void schedules_set(json_t *figures, const char *name, uint64_t count)
{
	json_object_set_new(figures, name, json_integer((json_int_t)count));
}

void survey_count_schedules(const struct survey *s, unsigned preemptions, json_t *figures)
{
	struct session_figures sum = schedules_sum(s);
	json_t *searched = json_array();
	struct rusage ours, others;

	getrusage(RUSAGE_SELF, &ours);
	getrusage(RUSAGE_CHILDREN, &others);
	schedules_set(figures, "pairs", sum.pairs);
	schedules_set(figures, "schedules", sum.schedules);
	schedules_set(figures, "left", sum.left);
	schedules_set(figures, "outcomes", sum.outcomes);
	schedules_set(figures, "whole", sum.whole);
	schedules_set(figures, "reduced", sum.reduced);
	schedules_set(figures, "unsteady", sum.unsteady);
	if (sum.chance)
		json_object_set_new(figures, "chance", json_real(sum.chance));
	for (unsigned n = 1; n <= preemptions; n++)
		json_array_append_new(searched, json_integer((json_int_t)sum.searched[n]));
	json_object_set_new(figures, "searched", searched);
	json_object_set_new(figures, "reduction",
			    json_real(sum.reduced ? (double)sum.whole / (double)sum.reduced : 1));
	json_object_set_new(figures, "cpu_seconds",
			    json_real(rusage_seconds(&ours) + rusage_seconds(&others)));
}

/* Whether nothing stopped it before the last round. */
static bool schedules_ended(const struct survey *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->targets[i].result.cut)
			return false;
	return true;
}

void survey_print_schedules(const struct survey *s, unsigned preemptions, struct buf *out)
{
	struct session_figures sum = schedules_sum(s);
	bool ended = schedules_ended(s);

	buf_addf(out, "%s%s of %s tried, with at most %s each",
		 sum.left || sum.chance || !ended ? "" : "all ",
		 count_text(sum.schedules, "schedule"), count_text(sum.pairs, "pair"),
		 count_text(preemptions, "switch"));
	if (sum.left)
		buf_addf(out, "; --schedules has left at least %llu others",
			 (unsigned long long)sum.left);
	if (sum.chance)
		buf_addf(out,
			 ", drawn by chance; a given one of a race was among them with a "
			 "probability of %.2g or more",
			 sum.chance);
	if (sum.unsteady)
		buf_addf(out, "; %llu were not the same run again and are not judged",
			 (unsigned long long)sum.unsteady);
	buf_addch(out, '\n');
	for (unsigned n = 1; !ended && !sum.chance && n <= preemptions; n++)
		buf_addf(out, "  %s: %llu of %s\n", count_text(n, "switch"),
			 (unsigned long long)sum.searched[n],
			 count_text(s->count * s->suite->count, "pair"));
}
