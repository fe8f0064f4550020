/* learned.c -- what a file system was found to lack: as traits, and as a description to paste. */
#include "target/learned.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "target/description.h"

void learned_adopt(const struct learned_list *l, struct traits *traits)
{
	struct err err = { 0 };

	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].trait && !l->items[i].contradicted)
			must(!traits_set(traits, l->items[i].trait, l->items[i].value, &err));
}

/* "my-loggedfs" of "/usr/bin/loggedfs -f", "my-ext4" of "ext4". */
static void describe_name(const struct target_description *d, const char *text, struct buf *out)
{
	const char *word = text ? text : d->name;
	size_t len = text ? strcspn(text, " \t") : strlen(word), start = 0;

	for (size_t i = 0; i + 1 < len; i++)
		if (word[i] == '/')
			start = i + 1;
	buf_adds(out, "my-");
	for (size_t i = start; i < len; i++)
		buf_addch(out, isalnum((unsigned char)word[i]) ? word[i] : '-');
}

static bool is_kind_itself(const struct target_description *d)
{
	return !strcmp(d->name, d->kind);
}

static void describe_head(const struct target_description *d, struct buf *out)
{
	bool fuse = !strcmp(d->kind, "fuse") && is_kind_itself(d);

	/* A comment would begin there. */
	if (fuse && strstr(d->argument, " ;"))
		buf_adds(out,
			 "# Put this command into a script: a description cannot have \" ;\".\n");
	buf_adds(out, "[target.");
	describe_name(d, fuse ? d->argument : NULL, out);
	buf_adds(out, "]\n");
	if (fuse)
		buf_addf(out, "kind = fuse\ncommand = %s\n", d->argument);
	else
		buf_addf(out, "base = %s\n", d->name);
}

static void describe_fields(const struct learned_list *l, const struct target_description *d,
			    struct buf *out)
{
	if (!l->fields_off)
		return;
	buf_adds(out, "fields = ");
	description_add_fields(l->fields_off | d->fields_off, out);
	buf_addch(out, '\n');
}

void learned_describe(const struct learned_list *l, const struct target_description *d,
		      struct buf *out)
{
	describe_head(d, out);
	describe_fields(l, d, out);
	for (size_t i = 0; i < l->count; i++) {
		const struct learned *row = &l->items[i];

		if (row->contradicted)
			buf_addf(out, "# %s is there, but the description says %s = %s.\n",
				 row->what, row->trait ? row->trait : "fields",
				 row->trait ? row->value : row->fields);
		else if (row->trait)
			buf_addf(out, "trait.%s = %s ; because: %s\n", row->trait, row->value,
				 row->reason);
		else
			buf_addf(out, "# %s: %s.\n", row->what, row->reason);
	}
}
