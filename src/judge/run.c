/* run.c -- a run's findings: each in its folder, all told in run.json. */
#include "judge/run.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/err.h"
#include "base/log.h"
#include "base/must.h"

static const char *const verdict_names[] = { "ok", "unknown", "bad" };

static json_t *finding_row(const struct finding *f, const char *path)
{
	json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b}", "code",
				finding_names[f->code], "title", buf_str(&f->title), "path", path,
				"signature", f->signature, "target", buf_str(&f->target), "calls",
				(json_int_t)f->count, "shown", (json_int_t)f->shown, "tries",
				(json_int_t)f->tries, "shrunk", f->shrunk);

	must(row); /* titles print everything that is not ASCII as escapes */
	return row;
}

static void list_finding(struct run *r, const struct finding *f, const char *path)
{
	str_map_put(&r->signatures, f->signature, NULL);
	json_array_append_new(r->findings, finding_row(f, path));
	r->verdict = VERDICT_BAD;
}

/* Findings of an earlier part of the same run. */
static int load_findings(struct run *r, struct err *err)
{
	char path[PATH_MAX];
	json_t *old, *finding;
	size_t i;

	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	if (access(path, F_OK))
		return 0;
	old = json_load_file(path, 0, NULL);
	if (!old)
		return err_set(err, EINVAL, "%s: not a run's", path);
	json_array_foreach(json_object_get(old, "findings"), i, finding)
	{
		const char *signature = json_string_value(json_object_get(finding, "signature"));

		if (!signature)
			continue;
		str_map_put(&r->signatures, signature, NULL);
		json_array_append(r->findings, finding);
		r->verdict = VERDICT_BAD;
	}
	json_decref(old);
	return 0;
}

/* A folder that was written when the run was killed, before run.json named it. */
static int load_unlisted(struct run *r, struct err *err)
{
	char pattern[PATH_MAX];
	struct finding f;
	glob_t found;
	int status = 0;

	snprintf(pattern, sizeof(pattern), "%s/findings/%03zu-*/trace", r->dir,
		 json_array_size(r->findings) + 1);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	*strrchr(found.gl_pathv[0], '/') = '\0';
	status = finding_read(&f, found.gl_pathv[0], err);
	if (!status) {
		buf_adds(&f.title, f.signature);
		list_finding(r, &f, found.gl_pathv[0]);
		finding_free(&f);
	}
	globfree(&found);
	return status;
}

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
		.findings = json_array(),
		.figures = json_object(),
	};
	must_note("%s %s --seed %llu", command, target, (unsigned long long)seed);
	status = run_dir_open(&r->place, command, target, out, err);
	r->dir = r->place.path;
	if (!status)
		status = load_findings(r, err);
	if (!status)
		status = load_unlisted(r, err);
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
	str_map_free(&r->signatures);
	expected_free(&r->expected);
	json_decref(r->findings);
	json_decref(r->figures);
	*r = (struct run){ 0 };
}

int run_expect(struct run *r, const char *path, struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char today[32];

	strftime(today, sizeof(today), "%Y-%m-%d", localtime_r(&now, &tm));
	return expected_read(&r->expected, path, today, err);
}

bool run_knows(struct run *r, const char *signature)
{
	return expected_has(&r->expected, signature) || str_map_get(&r->signatures, signature);
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

json_t *run_summary(const struct run *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "command", json_string(r->command));
	json_object_set_new(o, "target", json_string(r->target));
	json_object_set_new(o, "seed", json_integer((json_int_t)r->seed));
	json_object_set_new(o, "verdict", json_string(verdict_names[r->verdict]));
	json_object_set_new(o, "seconds", json_real(clock_seconds() - r->started_seconds));
	json_object_set_new(o, "cpu_seconds", json_real(cpu_seconds() - r->started_cpu));
	json_object_update(o, r->figures);
	json_object_set(o, "findings", r->findings);
	if (r->expected.count)
		json_object_set_new(o, "expected", expected_json(&r->expected));
	return o;
}

int run_close(struct run *r, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	json_t *o = run_summary(r);
	char *dump = json_dumps(o, JSON_INDENT(2));
	int status;

	must(dump);
	buf_adds(&text, dump);
	buf_addch(&text, '\n');
	free(dump);
	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	json_decref(o);
	return status;
}

static void folder_of(const struct run *r, const struct finding *f, size_t number, char *ret)
{
	snprintf(ret, PATH_MAX, "%s/findings/%03zu-%s", r->dir, number, finding_names[f->code]);
}

int run_add(struct run *r, const struct finding *f, struct target *t, struct err *err)
{
	char path[PATH_MAX];
	int status;

	folder_of(r, f, json_array_size(r->findings) + 1, path);
	status = finding_write(f, t, path, err);
	list_finding(r, f, path); /* it was found, whether it could be written or not */
	return status ? status : run_close(r, err);
}

const char *run_last_folder(const struct run *r)
{
	json_t *last = json_array_get(r->findings, json_array_size(r->findings) - 1);

	return json_string_value(json_object_get(last, "path"));
}

int run_replace(struct run *r, const struct finding *f, struct target *t, struct err *err)
{
	size_t last = json_array_size(r->findings) - 1;
	char path[PATH_MAX];
	int status;

	/* Work on a finding may show that it is of another kind. */
	folder_of(r, f, last + 1, path);
	if (strcmp(path, run_last_folder(r)) && rename(run_last_folder(r), path))
		return err_sys(err, errno, "cannot make %s", path);
	status = finding_write(f, t, path, err);
	if (status)
		return status;
	str_map_put(&r->signatures, f->signature, NULL);
	json_array_set_new(r->findings, last, finding_row(f, path));
	return run_close(r, err);
}
