/* answers.c -- from what a request names to what it gets: pages, their data, files of runs. */
#include "serve/answers.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "report/report.h"
#include "report/template.h"
#include "report/view.h"
#include "serve/request_guard.h"
#include "serve/run_index.h"
#include "serve/served_runs.h"

static const char index_template[] =
#define EMBEDDED(name, text) text
#include "gen/embedded_index.h"
#undef EMBEDDED
	;

enum { ANSWER_LOOK_BYTES = 4096 };

void answer_refuse(struct answer *a, unsigned status, const char *sentence)
{
	a->status = status;
	a->type = "text/plain; charset=utf-8";
	buf_clear(&a->body);
	buf_addf(&a->body, "%s\n", sentence);
}

void answer_free(struct answer *a)
{
	buf_free(&a->body);
}

static void answer_nothing(struct answer *a)
{
	answer_refuse(a, 404, "There is nothing here.");
}

static void answer_json(struct answer *a, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	must(text);
	a->status = 200;
	a->type = "application/json";
	buf_adds(&a->body, text);
	free(text);
}

/* ---- the index ---- */

static void answer_render_index(struct run_index *index, const char *nonce, struct buf *out)
{
	json_t *view = run_index_view(index);
	struct buf style = BUF_INIT;

	json_object_set_new(view, "whole", json_boolean(nonce != NULL));
	if (nonce) {
		report_style(&style);
		json_object_set_new(view, "style", json_string(buf_str(&style)));
		json_object_set_new(view, "nonce", json_string(nonce));
	}
	template_render(out, index_template, view);
	buf_free(&style);
	json_decref(view);
}

static void answer_index(struct answer *a, struct run_index *index)
{
	a->status = 200;
	a->type = "text/html; charset=utf-8";
	answer_render_index(index, a->nonce, &a->body);
}

static void answer_index_data(struct answer *a, struct run_index *index)
{
	struct buf main = BUF_INIT;
	json_t *data = json_object();

	answer_render_index(index, NULL, &main);
	json_object_set_new(data, "main", view_text(buf_str(&main)));
	answer_json(a, data);
	json_decref(data);
	buf_free(&main);
}

/* ---- runs ---- */

/* From the page of a run to the index: as many steps up as its path has names. */
static const char *answer_way_up(const struct served_root *root, const char *run, char *ret)
{
	size_t len = 0;

	if (root->is_run)
		return NULL;
	len += (size_t)snprintf(ret, REQUEST_PATH_MAX, "./");
	for (const char *at = strcmp(run, ".") ? run : NULL; at; at = strchr(at + 1, '/'))
		len += (size_t)snprintf(ret + len, REQUEST_PATH_MAX - len, "../");
	return ret;
}

/* The report reads by paths: this one is that of the directory that was opened and checked. */
static void answer_run(struct answer *a, const struct served_root *root,
		       const struct request_path *p, int fd)
{
	char dir[64], way[REQUEST_PATH_MAX];
	struct report_served served = {
		.nonce = a->nonce,
		.all_runs = answer_way_up(root, p->run, way),
		.dead = !served_run_is_alive(fd),
	};
	struct err err = { 0 };
	json_t *live;

	snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fd);
	if (p->kind == REQUEST_PAGE && !report_page(dir, &served, &a->body, &err)) {
		a->status = 200;
		a->type = "text/html; charset=utf-8";
	} else if (p->kind == REQUEST_DATA && (live = report_live_json(dir, &served, &err))) {
		answer_json(a, live);
		json_decref(live);
	} else {
		answer_refuse(a, 500, "The run.json of this run cannot be read.");
	}
}

/* Traces and programs are shown; disks and the like are not. */
static const char *answer_type(const char *file, int fd)
{
	static const struct {
		const char *ending, *type;
	} types[] = {
		{ ".json", "application/json" },
		{ ".csv", "text/csv; charset=utf-8" },
	};
	char look[ANSWER_LOOK_BYTES];
	ssize_t len = pread(fd, look, sizeof(look), 0);
	const char *ending = strrchr(file, '.');

	for (size_t i = 0; ending && i < ARRAY_LEN(types); i++)
		if (!strcmp(ending, types[i].ending))
			return types[i].type;
	return len < 0 || memchr(look, '\0', (size_t)len) ? "application/octet-stream"
							  : "text/plain; charset=utf-8";
}

static void answer_file(struct answer *a, const struct request_path *p, int run_fd)
{
	a->fd = served_open_file(run_fd, p->file, &a->size);
	if (a->fd < 0) {
		a->fd = -1;
		answer_nothing(a);
		return;
	}
	a->status = 200;
	a->type = answer_type(p->file, a->fd);
	a->download = !strcmp(a->type, "application/octet-stream");
}

/* url ends in a slash. It is a path: two slashes would name another host. */
static void answer_redirect(struct answer *a, const char *url)
{
	a->status = 302;
	a->type = NULL;
	snprintf(a->location, sizeof(a->location), "%sreport.html", url);
}

static void answer_of_run(struct answer *a, const struct served_root *root,
			  const struct request_path *p, const char *url)
{
	struct err err = { 0 };
	int fd = served_open_run(root, p->run, &err);

	if (fd == -EPERM) {
		answer_refuse(a, 403, err.text);
	} else if (fd < 0) {
		answer_nothing(a);
	} else {
		if (p->kind == REQUEST_FILE)
			answer_file(a, p, fd);
		else if (p->kind == REQUEST_DIRECTORY)
			answer_redirect(a, url);
		else
			answer_run(a, root, p, fd);
		close(fd);
	}
}

void answer_make(struct answer *a, struct run_index *index, const char *url)
{
	const struct served_root *root = index->root;
	struct err err = { 0 };
	struct request_path p;

	*a = (struct answer){ .body = BUF_INIT, .fd = -1 };
	request_path_parse(&p, url);
	if (request_guard_random(a->nonce, ANSWER_NONCE_BYTES, &err))
		answer_refuse(a, 500, err.text);
	else if (p.kind == REQUEST_NOTHING)
		answer_nothing(a);
	else if (p.kind == REQUEST_ICON)
		a->status = 204;
	else if (p.kind == REQUEST_INDEX_DATA)
		answer_index_data(a, index);
	else if (p.kind == REQUEST_DIRECTORY && !strcmp(url, "/") && !root->is_run)
		answer_index(a, index);
	else
		answer_of_run(a, root, &p, url);
}
