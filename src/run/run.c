/* run.c -- the findings of a run: each in its folder, all in run.json. */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dirs.h"
#include "base/err.h"
#include "base/must.h"

static const char *const verdict_names[] = { "ok", "unknown", "bad" };

int run_open(struct run *r, const char *command, const char *target, const char *out, uint64_t seed,
	     struct err *err)
{
	char path[PATH_MAX];
	int status;

	*r = (struct run){
		.command = command,
		.target = target,
		.seed = seed,
		.started_seconds = clock_seconds(),
		.started_cpu = cpu_seconds(),
		.signatures = STR_MAP_INIT,
		.attempts = STR_MAP_INIT,
		.findings = json_array(),
		.unconfirmed = json_array(),
		.figures = json_object(),
	};
	must_note("%s %s --seed %llu", command, target, (unsigned long long)seed);
	run_date_now(r->date);
	status = run_dir_open(&r->place, command, target, out, err);
	r->dir = r->place.path;
	if (!status)
		status = run_load_findings(r, err);
	if (!status)
		status = series_read(&r->series, r->dir, err);
	if (!status) {
		snprintf(path, sizeof(path), "%s/findings", r->dir);
		status = dirs_make(path, err);
	}
	if (status)
		run_free(r);
	return status;
}

void run_free(struct run *r)
{
	run_dir_close(&r->place);
	series_free(&r->series);
	str_map_free(&r->signatures);
	str_map_free(&r->attempts);
	known_free(&r->known);
	json_decref(r->open);
	json_decref(r->findings);
	json_decref(r->unconfirmed);
	json_decref(r->figures);
	json_decref(r->job_summaries);
	*r = (struct run){ 0 };
}

static void run_today(char ret[KNOWN_DATE])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(ret, KNOWN_DATE, "%Y-%m-%d", localtime_r(&now, &tm));
}

int run_read_known(struct run *r, const char *path, struct err *err)
{
	char today[KNOWN_DATE];

	if (!path)
		return 0;
	run_today(today);
	return known_read(&r->known, path, today, err);
}

int run_write_known(const struct run *r, const char *path, const struct buf *failures,
		    struct err *err)
{
	struct buf text = BUF_INIT;
	char today[KNOWN_DATE];
	int status;

	if (!path)
		return 0;
	run_today(today);
	known_print(&r->known, &text);
	if (failures->len) {
		known_print_reason(today, &text);
		buf_add(&text, failures->data, failures->len);
	}
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

bool run_knows(struct run *r, const struct finding *f)
{
	const char *signature = f->discrepancy.signature;
	uint64_t *met = run_met(r, buf_str(&f->target), signature);
	char group[SIGNATURE_MAX];

	finding_group(f, group);
	if (known_meet(&r->known, buf_str(&f->target), signature, group, 1))
		return true;
	if (met)
		++*met;
	return met;
}

void run_judged_by(struct run *r, const struct target *t, const struct model *m)
{
	json_t *models = json_object_get(r->figures, "judged_by");
	char name[MODEL_NAME_MAX];

	if (!models) {
		models = json_object();
		json_object_set_new(r->figures, "judged_by", models);
	}
	model_name(m, name);
	json_object_set_new(models, t->name, json_string(name));
}

static double run_seconds(const struct run *r)
{
	return clock_seconds() - r->started_seconds;
}

bool run_sample_is_due(const struct run *r)
{
	return series_is_due(&r->series, run_seconds(r));
}

void run_sample(struct run *r)
{
	struct err none = { 0 };
	bool first = !r->series.next_seconds;

	series_add(&r->series, r->dir, run_seconds(r), r->figures, json_array_size(r->findings));
	if (first && !r->ended)
		run_close(r, &none);
}

void run_sample_jobs(struct run *r, unsigned jobs)
{
	series_add_jobs(&r->series, r->dir, jobs);
}

void run_end(struct run *r)
{
	r->ended = true;
	run_sample(r);
}

/* Until it has ended, nothing is known to be right. */
static enum verdict run_verdict(const struct run *r)
{
	return r->verdict == VERDICT_OK && !r->ended ? VERDICT_UNKNOWN : r->verdict;
}

json_t *run_summary(const struct run *r)
{
	json_t *o = json_object();
	char seed[24];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
	run_set_counts(r);
	run_meta_add(o);
	json_object_set_new(o, "date", json_string(r->date));
	json_object_set_new(o, "command", json_string(r->command));
	json_object_set_new(o, "target", json_string(r->target));
	json_object_set_new(o, "seed", json_string(seed));
	json_object_set_new(o, "running", json_boolean(!r->ended));
	json_object_set_new(o, "verdict", json_string(verdict_names[run_verdict(r)]));
	json_object_set_new(o, "seconds", json_real(run_seconds(r)));
	json_object_set_new(o, "cpu_seconds", json_real(cpu_seconds() - r->started_cpu));
	json_object_update(o, r->figures);
	json_object_set(o, "findings", r->findings);
	json_object_set(o, "unconfirmed", r->unconfirmed);
	if (r->known.count)
		json_object_set_new(o, "known", known_json(&r->known));
	return o;
}

int run_write_summary(const struct run *r, const json_t *summary, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	char *dump = json_dumps(summary, JSON_INDENT(2));
	int status;

	must(dump);
	buf_adds(&text, dump);
	buf_addch(&text, '\n');
	free(dump);
	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

int run_close(struct run *r, struct err *err)
{
	json_t *summary = run_summary(r);
	int status = run_write_summary(r, summary, err);

	json_decref(summary);
	return status;
}
