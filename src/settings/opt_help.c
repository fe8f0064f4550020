/* opt_help.c -- option rows as help text, scdoc source and completion words. */
#include <string.h>

#include "base/buf.h"
#include "base/wrap.h"
#include "settings/opt.h"
#include "settings/scdoc.h"

enum { LABEL_MAX = 28 };

static const void *opt_place(const struct opt *o, const void *settings)
{
	return (const char *)settings + o->offset;
}

/* "--seconds N"; a flag that is on by default is "--[no-]name", since only "no" changes it. */
static void add_label(const struct opt *o, const void *settings, struct buf *out)
{
	if (o->type != OPT_FLAG)
		buf_addf(out, "--%s %s", o->name, o->value);
	else
		buf_addf(out, "--%s%s", *(const bool *)opt_place(o, settings) ? "[no-]" : "",
			 o->name);
}

static void add_choice(const char *choices, int index, struct buf *out)
{
	while (index-- > 0)
		choices += strcspn(choices, "|") + 1;
	buf_add(out, choices, strcspn(choices, "|"));
}

/* A round number of bytes is shown as it would be typed: 256M. */
static void add_u64(uint64_t value, struct buf *out)
{
	static const char letters[] = "KMGT";
	size_t shifts = 0;

	while (shifts < strlen(letters) && value && value % 1024 == 0) {
		value /= 1024;
		shifts++;
	}
	buf_addu(out, value);
	if (shifts)
		buf_addch(out, letters[shifts - 1]);
}

static void add_items(const struct opt_list *list, struct buf *out)
{
	for (size_t i = 0; i < list->count; i++)
		buf_addf(out, "%s%s", i ? ", " : "", list->items[i]);
}

/* The default as it would be typed. Zero, "" and off mean that there is none worth showing. */
static void add_default(const struct opt *o, const void *settings, struct buf *out)
{
	const void *at = opt_place(o, settings);
	const char *text;

	switch (o->type) {
	case OPT_FLAG:
		buf_adds(out, *(const bool *)at ? "on" : "");
		return;
	case OPT_U64:
		if (*(const uint64_t *)at)
			add_u64(*(const uint64_t *)at, out);
		return;
	case OPT_DOUBLE:
		if (*(const double *)at != 0)
			buf_addf(out, "%g", *(const double *)at);
		return;
	case OPT_TEXT:
		text = *(const char *const *)at;
		buf_adds(out, text ? text : "");
		return;
	case OPT_CHOICE:
		add_choice(o->value, *(const int *)at, out);
		return;
	case OPT_LIST:
		add_items(at, out);
		return;
	}
}

/* The help sentence and, in brackets, the default. */
static void add_sentence(const struct opt *o, const void *settings, struct buf *out)
{
	struct buf value = BUF_INIT;

	buf_adds(out, o->help);
	add_default(o, settings, &value);
	if (value.len)
		buf_addf(out, " (default %s)", value.data);
	buf_free(&value);
}

/* The widest label that still leaves its help on the same line. */
static size_t label_width(const struct opt *opts, const void *settings)
{
	struct buf label = BUF_INIT;
	size_t width = 0;

	for (const struct opt *o = opts; o->name; o++) {
		buf_clear(&label);
		add_label(o, settings, &label);
		if (label.len > width && label.len <= LABEL_MAX)
			width = label.len;
	}
	buf_free(&label);
	return width ? width : LABEL_MAX;
}

void opt_help(const struct opt *opts, const void *settings, struct buf *out)
{
	struct buf label = BUF_INIT, sentence = BUF_INIT;
	size_t width = label_width(opts, settings);

	for (const struct opt *o = opts; o->name; o++) {
		buf_clear(&label);
		buf_clear(&sentence);
		add_label(o, settings, &label);
		add_sentence(o, settings, &sentence);
		if (label.len > width)
			buf_addf(out, "  %s\n%*s", label.data, (int)width + 4, "");
		else
			buf_addf(out, "  %-*s  ", (int)width, label.data);
		wrap_words(sentence.data, width + 4, out);
	}
	buf_free(&label);
	buf_free(&sentence);
}

void opt_scdoc(const struct opt *opts, const void *settings, struct buf *out)
{
	struct buf sentence = BUF_INIT;

	for (const struct opt *o = opts; o->name; o++) {
		buf_clear(&sentence);
		add_sentence(o, settings, &sentence);
		buf_addf(out, "*--%s*", o->name);
		if (o->type == OPT_FLAG && *(const bool *)opt_place(o, settings))
			buf_addf(out, ", *--no-%s*", o->name);
		if (o->type != OPT_FLAG) {
			buf_adds(out, " _");
			scdoc_escape(o->value, out);
			buf_addch(out, '_');
		}
		buf_adds(out, "\n\t");
		scdoc_escape(sentence.data, out);
		buf_adds(out, ".\n\n");
	}
	buf_free(&sentence);
}

void opt_completion(const struct opt *opts, struct buf *out)
{
	for (const struct opt *o = opts; o->name; o++)
		buf_addf(out, "%s--%s", o == opts ? "" : " ", o->name);
}
