/* page.c -- the frame and the small parts of HTML pages. */
#include "report/page.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static const char style[] =
	"<style>\n"
	":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fcfcfa;--pale:#8a9099;--line:#d8dbe0;"
	"--box:#f1f2ee;--ok:#1a7f4b;--unknown:#a06a00;--bad:#b3261e}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e6e9;--paper:#15181c;--pale:#6d7580;"
	"--line:#333941;--box:#1e2329;--ok:#4cc38a;--unknown:#e0a93e;--bad:#ff8a80}}\n"
	"body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
	"max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid "
	"var(--line)}h3{font-size:1rem}\n"
	".verdict{padding:.1rem .6rem;border-radius:1rem;color:var(--paper);font-size:1rem}\n"
	".ok{background:var(--ok)}.unknown{background:var(--unknown)}.bad{background:var(--bad)}\n"
	".code{font:600 .85rem ui-monospace,monospace;color:var(--bad)}\n"
	"table{border-collapse:collapse}th{text-align:left;font-weight:500;vertical-align:top;"
	"padding:.15rem 1.5rem .15rem 0}.figures td{text-align:right;"
	"font-variant-numeric:tabular-nums}\n"
	"pre{background:var(--box);padding:.8rem;overflow:auto;font:.85rem/1.45 "
	"ui-monospace,monospace;border-radius:.3rem}\n"
	".finding{border-left:3px solid var(--bad);padding-left:1rem;margin:1.5rem 0}"
	".doubtful{border-color:var(--unknown)}\n"
	"details{margin:.3rem 0}summary{cursor:pointer}\n"
	".part{display:inline-block;margin:.1rem .5rem .1rem 0;font:.8rem "
	"ui-monospace,monospace}.none{color:var(--pale);opacity:.6}\n"
	"</style>\n";

void page_text(struct buf *out, const char *text)
{
	for (; text && *text; text++)
		switch (*text) {
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addch(out, *text);
		}
}

void page_begin(struct buf *out, const char *command, const char *target, const char *verdict)
{
	buf_adds(out,
		 "<!doctype html>\n<html lang=en><meta charset=utf-8>\n"
		 "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>");
	page_text(out, command);
	buf_addch(out, ' ');
	page_text(out, target);
	buf_addf(out, "</title>\n%s<h1>", style);
	page_text(out, command);
	buf_addch(out, ' ');
	page_text(out, target);
	buf_adds(out, " <span class=\"verdict ");
	page_text(out, verdict);
	buf_adds(out, "\">");
	page_text(out, verdict);
	buf_adds(out, "</span></h1>\n");
}

void page_end(struct buf *out)
{
	buf_adds(out, "</html>\n");
}

void page_heading(struct buf *out, const char *text)
{
	buf_adds(out, "<h2>");
	page_text(out, text);
	buf_adds(out, "</h2>\n");
}

void page_box(struct buf *out, const char *text)
{
	buf_adds(out, "<pre>");
	page_text(out, text);
	buf_adds(out, "</pre>\n");
}

void page_count(struct buf *out, long long count)
{
	char digits[32];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%lld", count);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
			buf_adds(out, "&#8239;");
		buf_addch(out, digits[i]);
	}
}
