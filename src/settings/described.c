/* described.c -- things that are described in sections of INI files. */
#include "settings/described.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/ini.h"

enum { SOURCES_MAX = 64, BASES_MAX = 16 };

/* Files and shipped texts, in the order of the search. */
struct described {
	const struct described_kind *kind;
	struct ini sources[SOURCES_MAX];
	size_t count;
	size_t shipped_from; /* from this one on they are shipped */
};

struct described_rows {
	int (*row)(void *own, const struct ini_row *row, bool shipped, struct err *err);
	void *own;
};

void described_free(struct described *d)
{
	for (size_t i = 0; i < d->count; i++)
		ini_free(&d->sources[i]);
	free(d);
}

static int described_add_file(struct described *d, const char *path, bool required, struct err *err)
{
	int ret;

	if (!required && access(path, F_OK))
		return 0;
	must(d->count < SOURCES_MAX);
	ret = ini_read_trusted(&d->sources[d->count], path, err);
	d->count += !ret;
	return ret;
}

static int described_add_user_file(struct described *d, struct err *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct buf path = BUF_INIT;
	int ret = 0;

	if (config && *config == '/')
		buf_addf(&path, "%s/assay/%s.ini", config, d->kind->folder);
	else if (home && *home == '/')
		buf_addf(&path, "%s/.config/assay/%s.ini", home, d->kind->folder);
	if (path.len)
		ret = described_add_file(d, path.data, false, err);
	buf_free(&path);
	return ret;
}

static int described_add_system_file(struct described *d, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/etc/assay/%s.ini", d->kind->folder);
	return described_add_file(d, path, false, err);
}

static int described_add_shipped(struct described *d, struct err *err)
{
	char name[64];
	int ret;

	d->shipped_from = d->count;
	for (size_t i = 0; i < d->kind->shipped_count; i++) {
		const struct described_text *shipped = &d->kind->shipped[i];

		must(d->count < SOURCES_MAX);
		snprintf(name, sizeof(name), "%s/%s.ini", d->kind->folder, shipped->name);
		ret = ini_read_text(&d->sources[d->count], name, shipped->text, err);
		if (ret)
			return ret;
		d->count++;
	}
	return 0;
}

int described_read(struct described **ret, const struct described_kind *kind, const char *config,
		   struct err *err)
{
	struct described *d = must_alloc(sizeof(*d));
	int r;

	d->kind = kind;
	r = described_add_file(d, config ? config : "assay.ini", config != NULL, err);
	if (!r)
		r = described_add_user_file(d, err);
	if (!r)
		r = described_add_system_file(d, err);
	if (!r)
		r = described_add_shipped(d, err);
	if (r)
		described_free(d);
	else
		*ret = d;
	return r;
}

/* The name if the row is one of a description, else NULL. */
static const char *described_row_name(const struct described *d, const struct ini_row *row)
{
	size_t len = strlen(d->kind->prefix);

	return strncmp(row->section, d->kind->prefix, len) ? NULL : row->section + len;
}

/* The first source, from number `from` on, that describes it; d->count if none does. */
static size_t described_find(const struct described *d, size_t from, const char *name)
{
	for (size_t i = from; i < d->count; i++) {
		const struct ini *ini = &d->sources[i];

		for (size_t k = 0; k < ini->count; k++) {
			const char *other = described_row_name(d, &ini->rows[k]);

			if (other && !strcmp(other, name))
				return i;
		}
	}
	return d->count;
}

bool described_has(const struct described *d, const char *name)
{
	return described_find(d, 0, name) < d->count;
}

const char *described_path(const struct described *d, const char *name)
{
	return d->sources[described_find(d, 0, name)].path;
}

/* Applies the base first, then the rows of the source numbered `at`. */
static int described_apply_at(const struct described *d, size_t at, const char *name,
			      unsigned depth, const struct described_rows *rows, struct err *err)
{
	const struct ini *ini = &d->sources[at];
	struct buf section = BUF_INIT;
	const char *base;
	size_t base_at;
	int ret = 0;

	buf_addf(&section, "%s%s", d->kind->prefix, name);
	base = ini_get(ini, section.data, "base");
	if (base) {
		base_at = described_find(d, strcmp(base, name) ? 0 : at + 1, base);
		if (base_at == d->count)
			ret = err_set(err, EINVAL, "%s: [%s]: its base %s is not described",
				      ini->path, section.data, base);
		else if (depth == BASES_MAX)
			ret = err_set(err, EINVAL, "%s: [%s]: more than %d bases behind each other",
				      ini->path, section.data, BASES_MAX);
		else
			ret = described_apply_at(d, base_at, base, depth + 1, rows, err);
	}
	for (size_t i = 0; i < ini->count && !ret; i++) {
		const struct ini_row *row = &ini->rows[i];
		struct err own = { 0 };

		if (strcmp(row->section, section.data) || !strcmp(row->key, "base"))
			continue;
		ret = rows->row(rows->own, row, at >= d->shipped_from, &own);
		if (ret)
			err_set(err, -ret, "%s:%d: %s", ini->path, row->line, own.text);
	}
	buf_free(&section);
	return ret;
}

int described_apply(const struct described *d, const char *name,
		    int (*row)(void *own, const struct ini_row *row, bool shipped, struct err *err),
		    void *own, struct err *err)
{
	struct described_rows rows = { row, own };
	size_t at = described_find(d, 0, name);

	if (at == d->count)
		return err_set(err, ENOENT, "%s is not described", name);
	return described_apply_at(d, at, name, 0, &rows, err);
}

static bool described_is_listed(const struct buf *names, const char *name)
{
	for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
		if (!strcmp(names->data + at, name))
			return true;
	return false;
}

void described_names(const struct described *d, struct buf *ret_names_nul)
{
	for (size_t i = 0; i < d->count; i++)
		for (size_t k = 0; k < d->sources[i].count; k++) {
			const char *name = described_row_name(d, &d->sources[i].rows[k]);

			if (name && !described_is_listed(ret_names_nul, name))
				buf_add(ret_names_nul, name, strlen(name) + 1);
		}
}
