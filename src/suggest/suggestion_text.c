/* suggestion_text.c -- suggested scripts as traces. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/dirs.h"
#include "suggest/suggest.h"
#include "trace/script.h"

enum { NAME_MAX_LEN = 60 };

/* Another user makes files in the root directory, which all users may write to in the model. */
static bool script_has_user(const struct manual_example *script)
{
	for (unsigned i = 0; i < script->count; i++)
		if (script->calls[i].pid != 1)
			return true;
	return false;
}

void suggestion_trace(const struct suggestions *s, size_t i, struct buf *out)
{
	const struct suggestion *item = &s->items[i];
	const struct manual_example *script = &item->script;
	struct buf outcome = BUF_INIT;
	const json_t *gap;
	size_t n;

	json_array_foreach(item->gaps, n, gap)
		buf_addf(out, "# tests: %s\n", json_string_value(gap));
	if (script_has_user(script))
		buf_adds(out, "chmod(\"/\", 0777) = 0\n");
	manual_answer(&s->model, script, out, &outcome);
	call_print(&script->calls[script->count - 1], DIALECT_NATIVE, out);
	buf_addf(out, " = %s\n", buf_str(&outcome));
	buf_free(&outcome);
}

void suggestion_name(const struct suggestion *s, struct buf *out)
{
	const char *gap = json_string_value(json_array_get(s->gaps, 0));
	size_t begin = out->len;

	for (; *gap && out->len - begin < NAME_MAX_LEN; gap++)
		buf_addch(out, isalnum((unsigned char)*gap) || *gap == '_' ? *gap : '-');
}

int suggestions_write(const struct suggestions *s, const char *dir, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int status = dirs_make_all(dir, err);

	for (size_t i = 0; i < s->count && !status; i++) {
		buf_clear(&path);
		buf_clear(&text);
		buf_addf(&path, "%s/%04zu-", dir, i + 1);
		suggestion_name(&s->items[i], &path);
		buf_adds(&path, ".trace");
		suggestion_trace(s, i, &text);
		status = buf_write_file(&text, buf_str(&path), err);
	}
	buf_free(&path);
	buf_free(&text);
	return status;
}
