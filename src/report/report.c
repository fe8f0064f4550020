/* report.c -- the page of a run: its view, and from that the page.
 *
 * Everything in it comes from files of the run, so that it can be made again at any time. */
#include "report/report.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "report/html.h"
#include "report/template.h"
#include "report/view.h"
#include "report/view_head.h"

static const char page_template[] =
#define EMBEDDED(name, text) text
#include "gen/embedded_page.h"
#undef EMBEDDED
	;

static bool is_list_of_objects(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (!json_is_object(item)) return false;
	return !list || json_is_array(list);
}

/* run.json, which is untrusted, checked as far as the page relies on it; NULL if it is invalid. */
static json_t *read_run(const char *dir, struct err *err)
{
	static const char *const texts[] = { "command", "target", "verdict" };
	static const char *const lists[] = { "findings", "unconfirmed" };
	struct err why = { 0 };
	char path[PATH_MAX];
	json_error_t where;
	json_t *run;

	snprintf(path, sizeof(path), "%s/run.json", dir);
	run = json_load_file(path, 0, &where);
	if (!run)
		err_set(&why, EINVAL, "%s: cannot be read as a run: line %d: %s", path, where.line,
			where.text);
	else if (!json_is_object(run))
		err_set(&why, EINVAL, "%s: cannot be read as a run: not a JSON object", path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !why.code; i++)
		if (!json_is_string(json_object_get(run, texts[i])))
			err_set(&why, EINVAL, "%s: \"%s\" is missing or not a text", path,
				texts[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !why.code; i++)
		if (!is_list_of_objects(json_object_get(run, lists[i])))
			err_set(&why, EINVAL, "%s: \"%s\" is not a list of objects", path,
				lists[i]);
	if (!why.code)
		return run;
	err_set(err, -why.code, "%s", why.text);
	json_decref(run);
	return NULL;
}

/* A part that the run does not have is empty: no other part's may be taken for it. */
static void view_set(json_t *view, const char *key, json_t *part)
{
	json_object_set_new(view, key, part ? part : json_string(""));
}

/* While it is running, its time series is ahead of run.json. These columns are of the same name as
 * figures that mean something else. */
static void report_catch_up(json_t *run, json_t *last)
{
	static const char *const others[] = { "findings", "inputs", "outcomes", "scripts" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		json_object_del(last, others[i]);
	if (json_is_true(json_object_get(run, "running")))
		json_object_update(run, last);
}

static void report_embed(json_t *view, const json_t *run)
{
	struct buf data = BUF_INIT;

	html_json(&data, run);
	json_object_set_new(view, "data", json_string(data.data));
	buf_free(&data);
}

static void report_set_served(json_t *view, const struct report_served *served)
{
	view_set(view, "nonce", served ? json_string(served->nonce) : NULL);
	view_set(view, "all_runs",
		 served && served->all_runs ? json_string(served->all_runs) : NULL);
}

/* A run that was killed could not write that it has ended. */
static void report_set_dead(json_t *run)
{
	if (!json_is_true(json_object_get(run, "running")))
		return;
	json_object_set_new(run, "running", json_false());
	json_object_set_new(run, "killed", json_true());
}

json_t *report_page_json(const char *dir, const struct report_served *served, struct err *err)
{
	json_t *run = read_run(dir, err), *view, *last, *charts;

	if (!run)
		return NULL;
	view = json_object();
	report_embed(view, run);
	charts = view_charts(dir, &last);
	report_catch_up(run, last);
	if (served && served->dead)
		report_set_dead(run);
	report_set_served(view, served);
	view_set(view, "charts_head", json_array_size(charts) ? json_string("Over time") : NULL);
	view_set(view, "charts", charts);
	view_set(view, "head", view_head(run));
	view_set(view, "figures", view_figures(run));
	view_set(view, "findings", view_findings(dir, json_object_get(run, "findings"), "finding"));
	view_set(view, "unconfirmed",
		 view_findings(dir, json_object_get(run, "unconfirmed"), "unconfirmed"));
	view_set(view, "graph", view_graph(run));
	view_set(view, "survey", view_survey(run));
	view_set(view, "sweep", view_sweep(run));
	view_set(view, "disk_fields", view_fields(run));
	view_set(view, "code_reached", view_code(run));
	view_set(view, "learned", view_learned(run));
	view_set(view, "cover", view_cover(dir, run));
	json_decref(last);
	json_decref(run);
	return view;
}

static int report_render(const char *dir, const struct report_served *served, bool whole,
			 struct buf *out, bool *ret_running, struct err *err)
{
	json_t *view = report_page_json(dir, served, err);

	if (!view)
		return -EINVAL;
	*ret_running = json_is_true(json_object_get(json_object_get(view, "head"), "running"));
	json_object_set_new(view, "whole", json_boolean(whole));
	template_render(out, page_template, view);
	json_decref(view);
	return 0;
}

int report_page(const char *dir, const struct report_served *served, struct buf *out,
		struct err *err)
{
	bool running;

	return report_render(dir, served, true, out, &running, err);
}

json_t *report_live_json(const char *dir, const struct report_served *served, struct err *err)
{
	struct buf main = BUF_INIT;
	json_t *live = NULL;
	bool running;

	if (!report_render(dir, served, false, &main, &running, err)) {
		live = json_object();
		json_object_set_new(live, "running", json_boolean(running));
		json_object_set_new(live, "main", view_text(buf_str(&main)));
	}
	buf_free(&main);
	return live;
}

int report_write(const char *dir, struct err *err)
{
	struct buf page = BUF_INIT;
	char path[PATH_MAX];
	int status = report_page(dir, NULL, &page, err);

	snprintf(path, sizeof(path), "%s/report.html", dir);
	if (!status)
		status = buf_write_file(&page, path, err);
	buf_free(&page);
	return status;
}

void report_style(struct buf *out)
{
	static const char open[] = "<style>", close[] = "</style>";
	const char *begin = strstr(page_template, open), *end = strstr(page_template, close);

	must(begin && end && begin < end);
	begin += strlen(open);
	buf_add(out, begin, (size_t)(end - begin));
}
