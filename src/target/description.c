/* description.c -- targets in a few lines of INI: where they are found, and what they may say. */
#include "target/description.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "settings/described.h"
#include "settings/ini.h"
#include "settings/opt.h"
#include "target/kernels.h"
#include "tree/tree.h"

static const char trait_prefix[] = "trait.";
static const char because[] = "because:";
static const char until[] = "until ";

static const struct described_text shipped[] = {
#define EMBEDDED(name, text) { name, text },
#include "gen/embedded_targets.h"
#undef EMBEDDED
};

static const struct described_kind described_targets = {
	.prefix = "target.",
	.folder = "targets",
	.shipped = shipped,
	.shipped_count = ARRAY_LEN(shipped),
};

#define ROW(key, type, what) \
	{ \
#key, type, offsetof(struct target_description, key), "", what, 0, 0 \
	}

static const struct opt keys[] = {
	ROW(kind, OPT_TEXT, "which kind of target it is"),
	ROW(summary, OPT_TEXT, "what it is, in a few words"),
	ROW(fs, OPT_TEXT, "type for mount"),
	ROW(source, OPT_TEXT, "what is mounted, where that is no image"),
	ROW(mkfs, OPT_TEXT, "command that makes it, with {image} or {dir}"),
	ROW(mkfs_options, OPT_TEXT, "options that are put before {image} of the mkfs command"),
	ROW(options, OPT_TEXT, "mount options"),
	ROW(command, OPT_TEXT, "daemon that serves it, with {mount}"),
	ROW(backing, OPT_TEXT, "what the daemon keeps it in: image or dir"),
	ROW(restart, OPT_TEXT, "command that kills the server of a directory and starts it again"),
	ROW(fsck, OPT_TEXT, "command that checks it, with {image}"),
	ROW(repair, OPT_TEXT, "command that checks it and repairs what it finds, with {image}"),
	ROW(repair_unmounted, OPT_TEXT,
	    "the same where that cannot replay the journal: it has to be unmounted before"),
	ROW(fsck_clean, OPT_TEXT, "exit codes of a clean verdict"),
	ROW(fsck_bad, OPT_TEXT, "exit codes of a bad verdict"),
	ROW(programs, OPT_TEXT, "programs that its commands start, besides their first words"),
	ROW(packages, OPT_TEXT, "Debian packages it needs"),
	ROW(variants, OPT_TEXT,
	    "targets that are other configurations of the same file system; a base has its own"),
	ROW(content, OPT_TEXT, "calls that make what is there before it is mounted"),
	ROW(content_dir, OPT_TEXT, "where these are made, with {dir}"),
	ROW(fields, OPT_TEXT, "fields of the tree that mean nothing here"),
	ROW(image_size, OPT_U64, "size of its image"),
	ROW(old_bytes, OPT_U64,
	    "size of the part of its image that is full of old bytes before mkfs, where crashes "
	    "are tested"),
	OPT_END,
};

static const struct {
	const char *name;
	unsigned bit;
} field_names[] = {
	{ "mode", TREE_MODE },           { "owner", TREE_OWNER },
	{ "nlink", TREE_NLINK },         { "nlink_dir", TREE_NLINK_DIR },
	{ "data", TREE_DATA },           { "xattr", TREE_XATTR },
	{ "rdev", TREE_RDEV },           { "flags", TREE_FLAGS },
	{ "times", TREE_TIMES },         { "symlink_mode", TREE_SYMLINK_MODE },
	{ "entry_ino", TREE_ENTRY_INO }, { "entry_type", TREE_ENTRY_TYPE },
	{ "names", TREE_NAMES },
};

int description_parse_fields(const char *names, unsigned *ret_fields, struct err *err)
{
	char *list = must_strdup(names), *save = NULL;
	unsigned fields = 0;
	size_t i;
	int ret = 0;

	for (char *word = strtok_r(list, " ,", &save); word && !ret;
	     word = strtok_r(NULL, " ,", &save)) {
		for (i = 0; i < ARRAY_LEN(field_names); i++)
			if (!strcmp(field_names[i].name, word))
				break;
		if (i == ARRAY_LEN(field_names))
			ret = err_set(err, EINVAL, "%s is no field of a tree", word);
		else
			fields |= field_names[i].bit;
	}
	free(list);
	if (!ret)
		*ret_fields = fields;
	return ret;
}

void description_add_fields(unsigned fields, struct buf *out)
{
	const char *before = "";

	for (size_t i = 0; i < ARRAY_LEN(field_names); i++) {
		if (!(fields & field_names[i].bit))
			continue;
		buf_addf(out, "%s%s", before, field_names[i].name);
		before = " ";
	}
}

/* Text behind "because:", or the whole comment. */
static const char *reason_of(struct arena *arena, const char *comment)
{
	if (!comment)
		return NULL;
	if (!strncmp(comment, because, sizeof(because) - 1))
		comment += sizeof(because) - 1;
	comment += strspn(comment, " \t");
	return *comment ? arena_strdup(arena, comment) : NULL;
}

/* The version behind "until", or NULL. */
static const char *last_version(const char *value)
{
	return strncmp(value, until, sizeof(until) - 1) ? NULL : value + sizeof(until) - 1;
}

static int description_check_trait(const char *name, const char *value, struct err *err)
{
	struct traits scratch = traits_usual;
	const char *last = last_version(value);
	struct version version;
	int ret = last ? version_parse(last, &version, err) : 0;

	return ret ? ret : traits_set(&scratch, name, last ? "yes" : value, err);
}

static int description_set_trait(struct target_description *d, const struct ini_row *row,
				 bool need_reason, struct err *err)
{
	const char *name = row->key + sizeof(trait_prefix) - 1;
	struct target_trait *trait, *old = d->traits;
	int ret = description_check_trait(name, row->value, err);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < d->trait_count && strcmp(d->traits[i].name, name); i++)
		;
	if (i == d->trait_count) {
		d->traits = arena_alloc(&d->arena, (d->trait_count + 1) * sizeof(*d->traits));
		if (old)
			memcpy(d->traits, old, d->trait_count * sizeof(*d->traits));
		d->trait_count++;
	}
	trait = &d->traits[i];
	trait->name = arena_strdup(&d->arena, name);
	trait->value = arena_strdup(&d->arena, row->value);
	trait->reason = reason_of(&d->arena, row->comment);
	if (need_reason && !trait->reason)
		return err_set(err, EINVAL, "trait %s gives no reason (\"; because: ...\")", name);
	return 0;
}

/* A command is one line, however long. */
static void join_lines(char *text)
{
	while ((text = strchr(text, '\n')))
		*text = ' ';
}

/* Not a row of its base? */
static bool description_is_own_row(const struct target_description *d, const struct ini_row *row)
{
	return !strcmp(row->section + strlen(described_targets.prefix), d->name);
}

/* Every trait that is shipped must have its reason. */
static int description_set_row(void *own, const struct ini_row *row, bool need_reason,
			       struct err *err)
{
	struct target_description *d = own;
	char *value;
	int ret;

	if (!strncmp(row->key, trait_prefix, sizeof(trait_prefix) - 1))
		return description_set_trait(d, row, need_reason, err);
	if (!strcmp(row->key, "variants") && !description_is_own_row(d, row))
		return 0;
	value = arena_strdup(&d->arena, row->value);
	if (!strcmp(row->key, "mkfs") || !strcmp(row->key, "variants"))
		join_lines(value);
	ret = opt_set(keys, d, row->key, value, err);
	if (!ret && !strcmp(row->key, "fields"))
		ret = description_parse_fields(d->fields, &d->fields_off, err);
	return ret;
}

struct version description_kernel(const struct target_description *d)
{
	struct buf text = BUF_INIT;
	struct version version;

	if (!strcmp(d->kind, "reffs") || !strcmp(d->kind, "journalfs"))
		return KERNEL_CURRENT;
	if (strcmp(d->kind, "kernel"))
		return version_running();
	kernels_version(d->argument, &text);
	version = version_leading(buf_str(&text));
	buf_free(&text);
	return version;
}

/* What was so until some version of Linux is so or not. */
static void description_settle_versions(struct target_description *d)
{
	struct version kernel = description_kernel(d);

	for (size_t i = 0; i < d->trait_count; i++) {
		const char **value = &d->traits[i].value, *last = last_version(*value);

		if (last)
			*value = version_known(kernel) &&
						 version_compare(kernel, version_leading(last)) <= 0
				       ? "yes"
				       : "no";
	}
}

static void description_add_mkfs_options(struct target_description *d)
{
	static const char place[] = "{image}";
	const char *at = d->mkfs && d->mkfs_options ? strstr(d->mkfs, place) : NULL;
	struct buf command = BUF_INIT;

	if (!at)
		return;
	buf_add(&command, d->mkfs, (size_t)(at - d->mkfs));
	buf_addf(&command, "%s %s", d->mkfs_options, at);
	d->mkfs = arena_strdup(&d->arena, buf_str(&command));
	buf_free(&command);
}

/* What a name that is none was to mean: a kernel's file system, or a directory. */
static void description_hint(const char *name, const char *known, struct nearest *n)
{
	const char *colon = strchr(known, ':');

	if (colon && !strcmp(colon + 1, name) && (!n->name || n->distance))
		*n = (struct nearest){ .given = name, .name = known };
	else
		nearest_offer(n, known);
}

static int description_unknown(const struct described *all, const char *name, struct err *err)
{
	struct nearest n = NEAREST_TO(name);
	struct buf names = BUF_INIT;
	struct stat st;

	described_names(all, &names);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
		description_hint(name, names.data + at, &n);
	if (strchr(name, '/') && !stat(name, &st) && S_ISDIR(st.st_mode))
		err_set(err, ENOENT, "%s: no such target; dir:%s tests this directory", name, name);
	else
		err_set(err, ENOENT, "%s: no such target; `assay targets` lists those there are",
			name);
	err_suggest(err, &n);
	buf_free(&names);
	return -ENOENT;
}

int description_find(struct target_description *d, const char *spec, const char *config,
		     struct err *err)
{
	static const char *const separators[] = { "@", ":" };
	struct described *all;
	bool found;
	int ret;

	*d = (struct target_description){ .arena = ARENA_INIT };
	ret = described_read(&all, &described_targets, config, err);
	if (ret)
		return ret;
	d->name = arena_strdup(&d->arena, spec);
	found = described_has(all, d->name);
	for (size_t i = 0; i < ARRAY_LEN(separators) && !found; i++) {
		size_t name_len = strcspn(spec, separators[i]);

		if (!spec[name_len])
			continue;
		d->name = arena_copy(&d->arena, spec, name_len);
		d->argument = arena_strdup(&d->arena, spec + name_len + 1);
		found = described_has(all, d->name);
	}
	ret = found ? described_apply(all, d->name, description_set_row, d, err)
		    : description_unknown(all, spec, err);
	if (!ret && !d->kind)
		ret = err_set(err, EINVAL, "%s: [%s%s] says no kind", described_path(all, d->name),
			      described_targets.prefix, d->name);
	if (!ret)
		description_settle_versions(d);
	if (!ret)
		description_add_mkfs_options(d);
	described_free(all);
	return ret;
}

void description_free(struct target_description *d)
{
	arena_free(&d->arena);
}

static void own_text(struct arena *arena, const char **text)
{
	if (*text)
		*text = arena_strdup(arena, *text);
}

void description_copy(struct target_description *to, const struct target_description *d)
{
	*to = *d;
	to->arena = (struct arena)ARENA_INIT;
	own_text(&to->arena, &to->name);
	own_text(&to->arena, &to->argument);
	for (const struct opt *key = keys; key->name; key++)
		if (key->type == OPT_TEXT)
			own_text(&to->arena, (const char **)((char *)to + key->offset));
	to->traits = arena_alloc(&to->arena, (d->trait_count + 1) * sizeof(*to->traits));
	for (size_t i = 0; i < d->trait_count; i++) {
		to->traits[i] = d->traits[i];
		own_text(&to->arena, &to->traits[i].name);
		own_text(&to->arena, &to->traits[i].value);
		own_text(&to->arena, &to->traits[i].reason);
	}
}

int description_names(const char *config, struct buf *ret_names_nul, struct err *err)
{
	struct described *all;
	int ret = described_read(&all, &described_targets, config, err);

	if (ret)
		return ret;
	described_names(all, ret_names_nul);
	described_free(all);
	return 0;
}
