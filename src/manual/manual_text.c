/* manual_text.c -- the manual page of an operation for a terminal. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/wrap.h"
#include "manual/manual.h"

enum { TEXT_INDENT = 7, SCRIPT_INDENT = 11, LINE_BYTES_MAX = 600, LINE_BYTES_SHOWN = 60 };

static void add_indented(const char *lines, const char *label, struct buf *out)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		buf_addf(out, "%*s%s", SCRIPT_INDENT, "", label);
		if (len <= LINE_BYTES_MAX)
			buf_add(out, lines, len);
		else /* a path of PATH_MAX bytes */
			buf_addf(out, "%.*s...%.*s (%zu bytes)", LINE_BYTES_SHOWN, lines,
				 LINE_BYTES_SHOWN, lines + len - LINE_BYTES_SHOWN, len);
		buf_addch(out, '\n');
		lines += len + (lines[len] == '\n');
	}
}

static void add_text(const char *text, struct buf *out)
{
	buf_addf(out, "%*s", TEXT_INDENT, "");
	wrap_words(text, TEXT_INDENT, out);
}

static void add_condition(const struct manual_example *e, struct buf *out)
{
	if (e->trait[0])
		buf_addf(out, "%*sOn a file system with --trait %s:\n", TEXT_INDENT, "", e->trait);
	if (e->read_only)
		buf_addf(out, "%*sMounted read-only before the last call:\n", TEXT_INDENT, "");
}

static void add_entry(const struct manual *m, const struct manual_entry *entry, unsigned number,
		      struct buf *out)
{
	const struct rule_info *info = &rule_table[entry->rule];
	struct buf lines = BUF_INIT, where = BUF_INIT;

	manual_where(entry->rule, &where);
	buf_adds(out, "   ");
	if (number)
		buf_addf(out, "%u. ", number);
	if (info->error)
		buf_addf(out, "%s  ", errno_name(info->error));
	buf_addf(out, "%s (%s)\n", info->name, buf_str(&where));
	add_text(info->text, out);
	if (info->error) {
		add_condition(&entry->example, out);
		manual_script(m, entry, &lines);
		add_indented(buf_str(&lines), "", out);
		buf_clear(&lines);
		if (entry->force == MANUAL_ELSEWHERE)
			buf_addf(&lines, "%s\n", m->places[entry->place].name);
		else
			manual_differences(m, &entry->example, &lines);
		add_indented(buf_str(&lines), "# ", out);
	}
	buf_addch(out, '\n');
	buf_free(&lines);
	buf_free(&where);
}

static void add_section(const struct manual *m, enum manual_force force, const char *title,
			struct buf *out)
{
	unsigned number = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (m->entries[i].force != force)
			continue;
		if (!number++)
			buf_addf(out, "%s\n", title);
		add_entry(m, &m->entries[i], force == MANUAL_REQUIRED ? number : 0, out);
	}
}

void manual_text(const struct manual *m, struct buf *out)
{
	struct buf title = BUF_INIT, line = BUF_INIT;
	char name[MODEL_NAME_MAX];

	model_name(&m->model, name);
	buf_addf(out, "NAME\n       %s -- as the model of %s has it\n\nSYNOPSIS\n       ",
		 op_table[m->op].name, name);
	manual_synopsis(m->op, out);
	buf_adds(out, "\n\nDESCRIPTION\n");
	manual_summary(m->op, &line);
	add_text(buf_str(&line), out);
	buf_addch(out, '\n');
	buf_addf(&title, "ERRORS, in the order in which %s checks", name);
	add_section(m, MANUAL_REQUIRED, buf_str(&title), out);
	add_section(m, MANUAL_ALLOWED, "ALLOWED, BUT NOT REQUIRED", out);
	add_section(m, MANUAL_ELSEWHERE, "ELSEWHERE: other platforms and versions", out);
	add_section(m, MANUAL_SWITCH, "HOW IT IS DONE: behaviour that is no errno", out);
	buf_clear(&line);
	buf_addf(&line,
		 "Found by %" PRIu64
		 " short scripts that the model was asked about. The order of two "
		 "rules is known where both apply to one call. Lines that begin with # say where "
		 "others answer the last call in another way.",
		 m->scripts);
	buf_adds(out, "NOTES\n");
	add_text(buf_str(&line), out);
	buf_free(&title);
	buf_free(&line);
}
