/* code_page.c -- coverage of a kernel's code: a bar for every file, and functions never entered. */
#include "report/code_page.h"

#include <stdbool.h>

#include "base/buf.h"
#include "report/page.h"

static const char style[] =
	"<style>"
	".code-files th{font:.8rem ui-monospace,monospace;padding:.15rem 1rem .15rem 0}"
	".code-files td{padding:.15rem .6rem .15rem 0;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}.code-files td:last-child{white-space:normal}"
	".bar{display:inline-block;width:12rem;height:.65rem;background:var(--line)}"
	".bar i{display:block;height:100%;background:var(--ok)}"
	"</style>\n";

static json_int_t file_count_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void put_share(struct buf *out, const json_t *o)
{
	json_int_t points = file_count_of(o, "points"), reached = file_count_of(o, "reached");
	bool sound = points > 0 && reached >= 0 && reached <= points;

	buf_addf(out, "<td><span class=bar><i style=\"width:%.0f%%\"></i></span></td><td>",
		 sound ? (double)reached * 100 / (double)points : 0);
	page_count(out, reached);
	buf_adds(out, " of ");
	page_count(out, points);
	buf_adds(out, "</td>");
}

static void put_never(struct buf *out, json_t *file)
{
	json_t *never = json_object_get(file, "never"), *name;
	size_t i;

	buf_addf(out, "<td><details><summary>%lld of %lld functions</summary>",
		 (long long)file_count_of(file, "entered"),
		 (long long)file_count_of(file, "functions"));
	json_array_foreach(never, i, name)
	{
		buf_adds(out, "<span class=\"part none\">");
		page_text(out, json_string_value(name));
		buf_adds(out, "</span> ");
	}
	buf_adds(out, "</details></td>");
}

static void put_files(struct buf *out, json_t *files, bool common)
{
	json_t *file;
	size_t i;

	buf_adds(out, "<table class=code-files>\n");
	json_array_foreach(files, i, file)
	{
		if (json_is_true(json_object_get(file, "common")) != common)
			continue;
		buf_adds(out, "<tr><th>");
		page_text(out, json_string_value(json_object_get(file, "path")));
		buf_adds(out, "</th>");
		put_share(out, file);
		put_never(out, file);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</table>\n");
}

void code_section(struct buf *out, json_t *coverage)
{
	json_t *files = json_object_get(coverage, "files");

	if (!coverage)
		return;
	page_heading(out, "Code reached");
	buf_adds(out, style);
	buf_adds(out, "<p>A point is a basic block of the kernel code. The list of a file has the "
		      "functions that were never entered.</p>\n<table class=code-files><tr><th>"
		      "the file system</th>");
	put_share(out, coverage);
	buf_adds(out, "</tr></table>\n");
	put_files(out, files, false);
	buf_adds(out, "<details><summary>Code of all file systems</summary>\n");
	put_files(out, files, true);
	buf_adds(out, "</details>\n");
}
