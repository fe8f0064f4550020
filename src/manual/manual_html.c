/* manual_html.c -- manual pages of operations as one HTML document, with nothing outside it. */
#include <inttypes.h>

#include "base/buf.h"
#include "manual/manual.h"
#include "report/html.h"

static const char style[] =
	":root{color-scheme:light dark;--line:#8884;--soft:#8882}"
	"body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:1rem}"
	"nav{columns:9rem;border-block:1px solid var(--line);padding:.5rem 0}nav a{display:block}"
	"pre{background:var(--soft);padding:.5rem;overflow-x:auto;border-radius:.3rem}"
	"code,pre,h2{font-family:ui-monospace,monospace}h2{border-top:1px solid var(--line);"
	"padding-top:1rem}h3{margin-bottom:0}.where{opacity:.7}"
	"li>b{font-family:ui-monospace,monospace}@media print{nav{display:none}}";

void manual_html_begin(const struct model *model, const enum op *ops, size_t count, struct buf *out)
{
	char name[MODEL_NAME_MAX];

	model_name(model, name);
	buf_addf(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		"<title>File system calls of %s</title><style>%s</style></head><body>\n"
		"<h1>File system calls, as the model of %s has them</h1>\n"
		"<p>For every operation: the errors in the order of checks, each with its rule, "
		"what the rule rests on, and a short script that meets it. Lines that begin with # "
		"say where other platforms, or earlier versions of Linux, answer the last call in "
		"another way. <code>assay spec FILE</code> answers such scripts, "
		"<code>assay run FILE --on DIR</code> makes their calls.</p>\n<nav>",
		name, style, name);
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "<a href=\"#%s\">%s</a>\n", op_table[ops[i]].name,
			 op_table[ops[i]].name);
	buf_adds(out, "</nav>\n");
}

/* With "# " in front of every line of what others answer. */
static void html_add_script(const struct manual *m, const struct manual_entry *entry,
			    struct buf *out)
{
	struct buf script = BUF_INIT, others = BUF_INIT;

	if (entry->example.trait[0])
		buf_addf(&script, "# --trait %s\n", entry->example.trait);
	if (entry->example.read_only)
		buf_adds(&script, "# mounted read-only before the last call\n");
	manual_script(m, entry, &script);
	if (entry->force == MANUAL_ELSEWHERE)
		buf_addf(&script, "# %s\n", m->places[entry->place].name);
	else
		manual_differences(m, &entry->example, &others);
	for (const char *at = buf_str(&others); *at;) {
		const char *end = at;

		while (*end != '\n')
			end++;
		buf_addf(&script, "# %.*s\n", (int)(end - at), at);
		at = end + 1;
	}
	buf_adds(out, "<pre>");
	html_text(out, buf_str(&script));
	buf_adds(out, "</pre>");
	buf_free(&script);
	buf_free(&others);
}

static void html_add_entry(const struct manual *m, const struct manual_entry *entry,
			   struct buf *out)
{
	const struct rule_info *info = &rule_table[entry->rule];
	struct buf where = BUF_INIT;

	manual_where(entry->rule, &where);
	buf_addf(out, "<li><b>%s</b> <code>%s</code> <span class=\"where\">",
		 info->error ? errno_name(info->error) : "", info->name);
	html_text(out, buf_str(&where));
	buf_adds(out, "</span><br>");
	html_text(out, info->text);
	if (info->error)
		html_add_script(m, entry, out);
	buf_adds(out, "</li>\n");
	buf_free(&where);
}

static void html_add_section(const struct manual *m, enum manual_force force, const char *title,
			     struct buf *out)
{
	const char *list = force == MANUAL_REQUIRED ? "ol" : "ul";
	bool begun = false;

	for (size_t i = 0; i < m->count; i++) {
		if (m->entries[i].force != force)
			continue;
		if (!begun)
			buf_addf(out, "<h3>%s</h3><%s>\n", title, list);
		begun = true;
		html_add_entry(m, &m->entries[i], out);
	}
	if (begun)
		buf_addf(out, "</%s>\n", list);
}

void manual_html(const struct manual *m, struct buf *out)
{
	struct buf text = BUF_INIT;

	buf_addf(out, "<h2 id=\"%s\">", op_table[m->op].name);
	manual_synopsis(m->op, &text);
	html_text(out, buf_str(&text));
	buf_adds(out, "</h2>\n<p>");
	buf_clear(&text);
	manual_summary(m->op, &text);
	html_text(out, buf_str(&text));
	buf_adds(out, "</p>\n");
	html_add_section(m, MANUAL_REQUIRED, "Errors, in the order of checks", out);
	html_add_section(m, MANUAL_ALLOWED, "Allowed, but not required", out);
	html_add_section(m, MANUAL_ELSEWHERE, "Elsewhere: other platforms and versions", out);
	html_add_section(m, MANUAL_SWITCH, "How it is done: behaviour that is no errno", out);
	buf_free(&text);
}

void manual_html_end(struct buf *out)
{
	buf_adds(out, "</body></html>\n");
}
