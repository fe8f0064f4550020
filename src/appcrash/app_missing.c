/* app_missing.c -- which promise a program did not ask for, that would have kept what a crash lost.
 *
 * What is lost was not promised by any call before the crash; so there is one that is missing,
 * unless the call that made it was under way, or nothing was lost. */
#include <string.h>

#include "appcrash/app.h"

/* Of a file or directory, as the program knew it when it changed it; and what it is called later.
 */
static void missing_add_file(const struct app_session *s, const struct lost_part *lost,
			     const char *calls, struct buf *out)
{
	struct buf then = BUF_INIT, later = BUF_INIT;
	size_t step = lost->change;

	app_print_path(s, lost->ino, step, &then);
	while (++step < s->history.count && !later.len) {
		app_print_path(s, lost->ino, step, &later);
		if (!strcmp(buf_str(&later), buf_str(&then)))
			buf_clear(&later);
	}
	buf_addf(out, "%s of `%s` behind it", calls, buf_str(&then));
	if (later.len)
		buf_addf(out, ", and before call %zu, which makes that `%s`",
			 s->calls[step - 1] + 1, buf_str(&later));
	buf_free(&then);
	buf_free(&later);
}

static void missing_add_name(const struct app_session *s, const struct lost_part *lost,
			     struct buf *out)
{
	buf_adds(out, "fsync of the directory `");
	app_print_path(s, lost->ino, lost->change, out);
	buf_adds(out, "` behind it");
}

static void missing_add(const struct app_session *s, const struct crash_state *c,
			const struct lost_part *lost, struct buf *out)
{
	buf_addf(out, "- Call %zu, `", s->calls[lost->change] + 1);
	app_print_call(s, lost->change, out);
	if (lost->torn || lost->change > c->done) {
		buf_adds(out,
			 "`, can be there in part: it had not returned, or was not synced. No "
			 "sync prevents that. What reads it has to notice (a checksum, a "
			 "length), or a complete file has to replace the old one by rename.\n");
		return;
	}
	buf_adds(out, "`, is sure to survive only after ");
	switch (lost->kind) {
	case PART_NAME:
		missing_add_name(s, lost, out);
		break;
	case PART_ATTRIBUTES:
		missing_add_file(s, lost, "fsync", out);
		break;
	case PART_SIZE:
	case PART_DATA:
		missing_add_file(s, lost, "fsync or fdatasync", out);
		break;
	default:
		buf_adds(out, "fsync of the file whose data it changes, or of the directory whose "
			      "names it changes");
		break;
	}
	buf_adds(out, ". There was none before the crash.\n");
}

void app_print_missing(const struct app_session *s, const struct crash_state *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++)
		missing_add(s, c, &c->lost[i], out);
	if (!c->count)
		buf_adds(out,
			 "None: no sync prevents a crash between two calls. What has to change "
			 "as a whole can be one file that a complete new one replaces by "
			 "rename; or what reads it has to notice and to repair it.\n");
}
