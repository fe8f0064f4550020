/* run.c -- a run's directory: made at the start, told in run.json at the end. */
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

#include "base/err.h"
#include "base/log.h"
#include "base/must.h"

volatile sig_atomic_t run_stop;

static const char *const verdict_names[] = { "ok", "unknown", "bad" };

static void on_signal(int number)
{
	run_stop = number;
}

void run_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int make_dir(const char *path, struct err *err)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make the directory %s", path);
	return 0;
}

/* A target's name as part of a file name. */
static void add_plain(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_addch(out, strchr("/:!'\" \t\n", *text) ? '_' : *text);
}

/* runs/<time>-<command>-<target>, with a number behind it where that is taken. */
static int make_usual_dir(struct run *r, struct err *err)
{
	struct buf path = BUF_INIT;
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	size_t len;
	int status = make_dir("runs", err);

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	buf_addf(&path, "runs/%s-%s-", stamp, r->command);
	add_plain(&path, r->target);
	len = path.len;
	for (int i = 2; !status && mkdir(path.data, 0755); i++) {
		if (errno != EEXIST)
			status = err_sys(err, errno, "cannot make the directory %s", path.data);
		path.len = len;
		buf_addf(&path, "-%d", i);
	}
	if (!status) {
		r->dir = must_strdup(path.data);
		unlink("runs/latest");
		if (symlink(path.data + strlen("runs/"), "runs/latest"))
			status = err_sys(err, errno, "cannot make runs/latest");
	}
	buf_free(&path);
	return status;
}

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
	if (out) {
		r->dir = must_strdup(out);
		status = make_dir(out, err);
	} else {
		status = make_usual_dir(r, err);
	}
	if (!status)
		status = load_findings(r, err);
	if (!status)
		status = load_unlisted(r, err);
	if (!status) {
		snprintf(path, sizeof(path), "%s/findings", r->dir);
		status = make_dir(path, err);
	}
	if (status)
		run_free(r);
	return status;
}

void run_free(struct run *r)
{
	free(r->dir);
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

static json_t *summary(const struct run *r)
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

int run_close(struct run *r, json_t **ret_summary, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	json_t *o = summary(r);
	char *dump = json_dumps(o, JSON_INDENT(2));
	int status;

	must(dump);
	buf_adds(&text, dump);
	buf_addch(&text, '\n');
	free(dump);
	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	if (status || !ret_summary)
		json_decref(o);
	else
		*ret_summary = o;
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
	if (status)
		return status;
	list_finding(r, f, path);
	return run_close(r, NULL, err);
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
	return run_close(r, NULL, err);
}
