/* survey_ci.c -- surveys as JUnit's XML and as TAP.
 *
 * A case is all scripts of a family that have the same value of its first property, or those of
 * a folder of files: few enough to be read, and named well enough to be found. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "conform/survey.h"
#include "report/html.h"

struct test_case {
	char *family, *name;
	size_t scripts, rejected, skipped;
	struct buf causes; /* unexpected ones */
};

struct cases {
	struct test_case *items;
	size_t count;
	struct str_map numbers;
};

/* "one-path/mkdir", or a folder; *ret_slash is where the family ends. */
static void say_case(const struct suite_script *script, struct buf *out, size_t *ret_slash)
{
	buf_clear(out);
	suite_name(script, out);
	*ret_slash = strcspn(out->data, "/");
	out->len = script->family ? *ret_slash + strcspn(out->data + *ret_slash, ".") : *ret_slash;
	out->data[out->len] = '\0';
}

static struct test_case *case_of(struct cases *c, const struct suite_script *script,
				 struct buf *name)
{
	struct test_case *item;
	uint64_t *number;
	size_t slash;
	bool is_new;

	say_case(script, name, &slash);
	number = str_map_put(&c->numbers, name->data, &is_new);
	if (is_new) {
		*number = c->count;
		c->items = must_realloc(c->items, (c->count + 1) * sizeof(*c->items));
		item = &c->items[c->count++];
		*item = (struct test_case){ .causes = BUF_INIT };
		item->name = must_strdup(name->data[slash] ? name->data + slash + 1 : name->data);
		item->family = must_strdup(name->data);
		item->family[slash] = '\0';
	}
	return &c->items[*number];
}

static void gather_deviation(const struct survey *s, const struct surveyed *t, struct cases *c,
			     size_t number, struct buf *name)
{
	const struct deviation *d = &t->result.deviations[number];
	const struct cause *cause = &t->causes.items[t->causes.of[number]];
	struct test_case *item = case_of(c, &s->suite->scripts[d->script], name);

	if (cause->reason)
		return;
	item->rejected++;
	if (item->causes.len && strstr(item->causes.data, cause->text))
		return;
	buf_addf(&item->causes, "%s\n  %s = %s\n", cause->text, buf_str(&d->call),
		 buf_str(&d->detail));
}

static void gather_cases(const struct survey *s, const struct surveyed *t, struct cases *c)
{
	struct buf name = BUF_INIT;

	*c = (struct cases){ 0 };
	for (size_t i = 0; i < s->suite->count; i++) {
		struct test_case *item = case_of(c, &s->suite->scripts[i], &name);

		item->scripts++;
		item->skipped +=
			t->result.fates[i] == SCRIPT_SKIPPED || t->result.fates[i] == SCRIPT_FATES;
	}
	for (size_t i = 0; i < t->result.deviation_count; i++)
		gather_deviation(s, t, c, i, &name);
	buf_free(&name);
}

static void free_cases(struct cases *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].family);
		free(c->items[i].name);
		buf_free(&c->items[i].causes);
	}
	free(c->items);
	str_map_free(&c->numbers);
}

static bool is_skipped(const struct test_case *item)
{
	return item->skipped == item->scripts;
}

/* Text of XML 1.0, which has no control characters but newlines. */
static void add_xml(struct buf *out, const char *text)
{
	for (; *text; text++) {
		char c[2] = { (unsigned char)*text >= ' ' || *text == '\n' ? *text : '?', 0 };

		html_text(out, c);
	}
}

static void add_attribute(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " %s=\"", name);
	add_xml(out, value);
	buf_addch(out, '"');
}

static void junit_case(const struct surveyed *t, const struct test_case *item, struct buf *out)
{
	struct buf class = BUF_INIT;

	buf_addf(&class, "%s.%s", t->result.target, item->family);
	buf_adds(out, "<testcase");
	add_attribute(out, "classname", class.data);
	add_attribute(out, "name", item->name);
	buf_free(&class);
	if (is_skipped(item)) {
		buf_adds(out, "><skipped/></testcase>\n");
	} else if (item->rejected) {
		buf_addf(out, "><failure message=\"%zu of %zu scripts rejected\">", item->rejected,
			 item->scripts);
		add_xml(out, buf_str(&item->causes));
		buf_adds(out, "</failure></testcase>\n");
	} else {
		buf_adds(out, "/>\n");
	}
}

static void junit_suite(const struct survey *s, const struct surveyed *t, struct buf *out)
{
	size_t failures = 0, skipped = 0;
	struct cases c;

	gather_cases(s, t, &c);
	for (size_t i = 0; i < c.count; i++) {
		failures += c.items[i].rejected > 0;
		skipped += is_skipped(&c.items[i]);
	}
	buf_adds(out, "<testsuite");
	add_attribute(out, "name", t->result.target);
	buf_addf(out,
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\" time=\"%.3f\">\n",
		 c.count + (t->failure != NULL), failures, t->failure != NULL, skipped,
		 t->result.seconds);
	if (t->failure) {
		buf_adds(out, "<testcase classname=\"target\" name=\"run\"><error");
		add_attribute(out, "message", t->failure);
		buf_adds(out, "/></testcase>\n");
	}
	for (size_t i = 0; i < c.count; i++)
		junit_case(t, &c.items[i], out);
	buf_adds(out, "</testsuite>\n");
	free_cases(&c);
}

void survey_junit(const struct survey *s, struct buf *out)
{
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < s->count; i++)
		junit_suite(s, &s->targets[i], out);
	buf_adds(out, "</testsuites>\n");
}

static void tap_causes(const char *causes, struct buf *out)
{
	while (*causes) {
		size_t len = strcspn(causes, "\n");

		buf_addf(out, "# %.*s\n", (int)len, causes);
		causes += len + (causes[len] == '\n');
	}
}

static void tap_target(const struct survey *s, const struct surveyed *t, size_t *number,
		       struct buf *out)
{
	struct cases c;

	if (t->failure)
		buf_addf(out, "not ok %zu - %s # %s\n", ++*number, t->result.target, t->failure);
	gather_cases(s, t, &c);
	for (size_t i = 0; i < c.count; i++) {
		const struct test_case *item = &c.items[i];

		buf_addf(out, "%sok %zu - %s %s/%s, %zu scripts%s\n", item->rejected ? "not " : "",
			 ++*number, t->result.target, item->family, item->name, item->scripts,
			 is_skipped(item) ? " # SKIP beyond what the target can do here" : "");
		tap_causes(buf_str(&item->causes), out);
	}
	free_cases(&c);
}

void survey_tap(const struct survey *s, struct buf *out)
{
	size_t number = 0;

	buf_adds(out, "TAP version 13\n");
	for (size_t i = 0; i < s->count; i++)
		tap_target(s, &s->targets[i], &number, out);
	buf_addf(out, "1..%zu\n", number);
}
