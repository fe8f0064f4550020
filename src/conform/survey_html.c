/* survey_html.c -- a survey as one page: figures, the table of causes, the smallest scripts. */
#include <stdlib.h>

#include "conform/survey.h"
#include "report/page.h"

static const char style[] =
	"<style>.survey td,.survey th{padding:.15rem .6rem;border-bottom:1px solid var(--line)}"
	".survey td{text-align:right;font-variant-numeric:tabular-nums}"
	".survey th.target{writing-mode:vertical-rl;vertical-align:bottom}"
	".survey td.some{color:var(--bad);font-weight:600}.survey td.known{color:var(--unknown)}"
	".survey td.none{color:var(--pale)}body{max-width:80rem}</style>\n";

static void add_cell(struct buf *out, const char *tag, const char *text)
{
	buf_addf(out, "<%s>", tag);
	page_text(out, text);
	buf_addf(out, "</%.2s>", tag);
}

static void add_number(struct buf *out, long long number)
{
	buf_adds(out, "<td>");
	page_count(out, number);
	buf_adds(out, "</td>");
}

static void add_figures(const struct survey *s, struct buf *out)
{
	page_heading(out, "Targets");
	buf_adds(out, "<table class=survey><tr><th>target<th>scripts<th>accepted<th>rejected"
		      "<th>skipped<th>causes<th>seconds\n");
	for (size_t i = 0; i < s->count; i++) {
		const struct conform_result *r = &s->targets[i].result;

		buf_adds(out, "<tr>");
		add_cell(out, "th", r->target);
		add_number(out, (long long)(r->suite->count - r->counts[SCRIPT_FATES]));
		add_number(out, (long long)r->counts[SCRIPT_ACCEPTED]);
		add_number(out, (long long)r->counts[SCRIPT_REJECTED]);
		add_number(out, (long long)r->counts[SCRIPT_SKIPPED]);
		add_number(out, (long long)s->targets[i].causes.count);
		buf_addf(out, "<td>%.1f</td>", r->figures.exec_seconds + r->figures.check_seconds);
		if (s->targets[i].failure)
			add_cell(out, "td", s->targets[i].failure);
		buf_adds(out, "\n");
	}
	buf_adds(out, "</table>\n");
}

static void add_row(const struct survey *s, const struct cause *row, size_t number, struct buf *out)
{
	buf_adds(out, "<tr>");
	add_cell(out, "th", op_table[row->example->op].name);
	buf_addf(out, "<th><a href=\"#cause-%zu\">", number);
	page_text(out, row->text);
	buf_adds(out, "</a></th>");
	for (size_t i = 0; i < s->count; i++) {
		const struct cause *own = causes_find(&s->targets[i].causes, row->text);

		if (!own) {
			buf_adds(out, "<td class=none>&middot;</td>");
			continue;
		}
		buf_addf(out, "<td class=%s>", own->reason ? "known" : "some");
		page_count(out, (long long)own->scripts);
		buf_adds(out, "</td>");
	}
	buf_adds(out, "\n");
}

static void add_table(const struct survey *s, const struct survey_row *rows, size_t count,
		      bool outside_posix, struct buf *out)
{
	page_heading(out, outside_posix ? "Not allowed by POSIX"
					: "Allowed by POSIX, but not what Linux does");
	buf_adds(out, "<table class=survey><tr><th>call<th>deviation");
	for (size_t i = 0; i < s->count; i++)
		add_cell(out, "th class=target", s->targets[i].result.target);
	buf_adds(out, "\n");
	for (size_t i = 0; i < count; i++)
		if (rows[i].cause->outside_posix == outside_posix)
			add_row(s, rows[i].cause, i, out);
	buf_adds(out, "</table>\n");
}

static void add_example(const struct survey *s, const struct survey_row *row, size_t number,
			struct buf *out)
{
	const struct cause *cause = row->cause;
	struct buf text = BUF_INIT;

	buf_addf(out, "<section class=finding id=cause-%zu><h3>", number);
	page_text(out, cause->text);
	buf_addf(out, "</h3><p>%zu scripts on ", cause->scripts);
	page_text(out, row->target->result.target);
	if (cause->reason) {
		buf_adds(out, "; known: ");
		page_text(out, cause->reason);
	}
	buf_adds(out, "</p>\n");
	if (cause->example->history.len)
		buf_adds(&text, cause->example->history.data);
	else
		suite_print(s->suite, &s->suite->scripts[cause->example->script], &text);
	buf_addf(&text, "\n# %s\n# = %s\n", buf_str(&cause->example->call),
		 buf_str(&cause->example->detail));
	page_box(out, text.data);
	buf_adds(out, "</section>\n");
	buf_free(&text);
}

static const char *verdict(const struct survey *s)
{
	const char *verdict = "ok";

	for (size_t i = 0; i < s->count; i++) {
		if (s->targets[i].causes.unexpected)
			return "bad";
		if (s->targets[i].failure)
			verdict = "unknown";
	}
	return verdict;
}

void survey_html(const struct survey *s, struct buf *out)
{
	size_t count;
	struct survey_row *rows = survey_rows(s, &count);

	page_begin(out, "conform", "survey", verdict(s));
	buf_adds(out, style);
	add_figures(s, out);
	add_table(s, rows, count, true, out);
	add_table(s, rows, count, false, out);
	page_heading(out, "Smallest scripts");
	for (size_t i = 0; i < count; i++)
		add_example(s, &rows[i], i, out);
	page_end(out);
	free(rows);
}
