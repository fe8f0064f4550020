/* view_head.c -- the head of a page: verdict, circumstances, how to repeat the run; its figures. */
#include "report/view_head.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/view.h"

/* ---- the verdict ---- */

static const char *head_class(const json_t *run)
{
	static const char *const classes[] = { "ok", "bad" };

	if (json_is_true(json_object_get(run, "running")))
		return "running";
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(json_text(run, "verdict"), classes[i]))
			return classes[i];
	return "unknown";
}

/* "1 crash, 2 metadata": findings come by severity, the worst first. */
static json_t *head_severities(const json_t *run)
{
	const json_t *finding;
	json_t *list = json_array(), *last = NULL;
	size_t i;

	json_array_foreach(json_object_get(run, "findings"), i, finding)
	{
		const char *severity = json_text(finding, "severity");

		if (!last || strcmp(json_text(last, "severity"), severity)) {
			last = json_pack("{s:s, s:s, s:I}", "severity", severity, "means",
					 json_text(finding, "severity_means"), "count",
					 (json_int_t)0);
			json_array_append_new(list, last);
		}
		json_object_set_new(last, "count", json_integer(view_count(last, "count") + 1));
	}
	return list;
}

static void head_add_count(struct buf *out, long long count, const char *what)
{
	buf_addf(out, "%lld %s%s", count, what, count == 1 ? "" : "s");
}

static void head_add_bad(struct buf *out, const json_t *run)
{
	const json_t *findings = json_object_get(run, "findings");
	const char *means = json_text(json_array_get(findings, 0), "severity_means");

	if (json_array_size(findings)) {
		head_add_count(out, (long long)json_array_size(findings), "finding");
		if (*means)
			buf_addf(out, "%s %s", json_array_size(findings) > 1 ? ". The worst:" : ":",
				 means);
	} else if (view_count(run, "rejected")) {
		head_add_count(out, view_count(run, "rejected"), "script");
		buf_adds(out, " of ");
		buf_addf(out, "%lld", view_count(run, "scripts"));
		buf_adds(out, " did what the model does not allow");
	} else {
		buf_adds(out, "Something is wrong");
	}
	buf_addch(out, '.');
}

static void head_add_unknown(struct buf *out, const json_t *run)
{
	size_t unconfirmed = json_array_size(json_object_get(run, "unconfirmed"));

	buf_adds(out, "Could not tell");
	if (unconfirmed) {
		buf_adds(out, ": ");
		head_add_count(out, (long long)unconfirmed, "observation");
		buf_adds(out, " that no replay has shown again");
	}
	buf_addch(out, '.');
}

static json_t *head_sentence(const json_t *run)
{
	const char *class = head_class(run);
	struct buf out = BUF_INIT;
	json_t *text;

	if (!strcmp(class, "running")) {
		buf_adds(&out, "Still running: ");
		head_add_count(&out, (long long)json_array_size(json_object_get(run, "findings")),
			       "finding");
		buf_adds(&out, " so far.");
	} else if (json_is_true(json_object_get(run, "killed"))) {
		buf_adds(&out, "Killed before its end: ");
		head_add_count(&out, (long long)json_array_size(json_object_get(run, "findings")),
			       "finding");
		buf_adds(&out, " until then.");
	} else if (!strcmp(class, "bad")) {
		head_add_bad(&out, run);
	} else if (!strcmp(class, "unknown")) {
		head_add_unknown(&out, run);
	} else if (!strcmp(json_text(run, "command"), "cover")) {
		buf_adds(&out, "Measured.");
	} else if (json_is_true(json_object_get(run, "exhausted"))) {
		buf_adds(&out, "Nothing is wrong: everything that the bounds allow was tried.");
	} else {
		buf_adds(&out, "Nothing wrong was found.");
	}
	text = view_text(buf_str(&out));
	buf_free(&out);
	return text;
}

/* ---- the command to repeat it ---- */

static void head_add_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=+:,./@%";

	if (out->len)
		buf_addch(out, ' ');
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_adds(out, word);
		return;
	}
	buf_addch(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addch(out, *word);
	buf_addch(out, '\'');
}

/* Where it was written, and that JSON was wanted, are not repeated. */
static bool head_leaves_out(const char *word, size_t *skip)
{
	*skip = !strcmp(word, "--out");
	return *skip || !strncmp(word, "--out=", 6) || !strcmp(word, "--json");
}

static json_t *head_repeat(const json_t *run)
{
	static const char *const seeded[] = { "explore", "crash", "fsck" };
	const json_t *argv = json_object_get(run, "argv");
	const char *seed = json_text(run, "seed");
	bool has_seed = !*seed || !strcmp(seed, "0"), takes = false;
	struct buf out = BUF_INIT;
	json_t *text;
	size_t skip;

	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		if (!word || head_leaves_out(word, &skip)) {
			i += word ? skip : 0;
			continue;
		}
		has_seed |= !strncmp(word, "--seed", 6);
		head_add_word(&out, i ? word : "assay");
	}
	for (size_t i = 0; i < sizeof(seeded) / sizeof(*seeded); i++)
		takes |= !strcmp(json_text(run, "command"), seeded[i]);
	if (out.len && takes && !has_seed) {
		head_add_word(&out, "--seed");
		head_add_word(&out, seed);
	}
	text = view_text(buf_str(&out));
	buf_free(&out);
	return text;
}

/* ---- all of it ---- */

static json_t *head_judges(const json_t *run)
{
	json_t *judges = json_object_get(run, "judged_by"), *model, *list = json_array();
	const char *target;

	json_object_foreach(judges, target, model) if (json_is_string(model)) json_array_append_new(
		list, json_pack("{s:s, s:s}", "judged", target, "by", json_string_value(model)));
	return list;
}

json_t *view_head(const json_t *run)
{
	static const char *const texts[] = { "command", "target",  "kernel", "host",
					     "date",    "version", "seed" };
	json_t *head = json_object();

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		json_object_set_new(head, texts[i], json_string(json_text(run, texts[i])));
	json_object_set_new(head, "class", json_string(head_class(run)));
	json_object_set_new(head, "running",
			    json_boolean(json_is_true(json_object_get(run, "running"))));
	json_object_set_new(head, "sentence", head_sentence(run));
	json_object_set_new(head, "counts", head_severities(run));
	json_object_set_new(head, "duration",
			    view_seconds(json_number_value(json_object_get(run, "seconds"))));
	json_object_set_new(head, "repeat", head_repeat(run));
	json_object_set_new(head, "judges", head_judges(run));
	return head;
}

json_t *view_figures(const json_t *run)
{
	static const char *const shown[] = { "schema",  "version", "kernel",  "host",   "date",
					     "command", "target",  "running", "verdict" };
	json_t *figures = json_array(), *value;
	const char *key;

	json_object_foreach((json_t *)run, key, value)
	{
		bool in_head = json_is_array(value) || json_is_object(value) || json_is_null(value);

		for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
			in_head |= !strcmp(key, shown[i]);
		if (!in_head)
			json_array_append_new(figures, json_pack("{s:o, s:O}", "name",
								 view_words(key), "value", value));
	}
	return figures;
}
