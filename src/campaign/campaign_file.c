/* campaign_file.c -- the file of a campaign, read and checked. */
#include "campaign/campaign_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "campaign/campaign_time.h"
#include "campaign/instrument.h"
#include "settings/opt.h"

#define EMBEDDED(name, text) { name, text },
static const struct shipped_campaign {
	const char *name, *text;
} shipped[] = {
#include "gen/embedded_campaigns.h"
};
#undef EMBEDDED

static const char section_prefix[] = "arms.";

#define ROW(field) offsetof(struct campaign_file, field)

static const struct opt campaign_opts[] = {
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N", "", 0, OPT_SECONDS_MAX },
	{ "slice", OPT_DOUBLE, ROW(slice_seconds), "N", "", 1, OPT_SECONDS_MAX },
	{ "floor", OPT_DOUBLE, ROW(floor), "PERCENT", "", 0, 100 },
	{ "end", OPT_TEXT, ROW(end_text), "DATE", "", 0, 0 },
	{ "seed", OPT_U64, ROW(seed), "N", "", 0, (uint64_t)1 << 53 },
	{ "jobs", OPT_U64, ROW(jobs), "N", "", 1, CAMPAIGN_JOBS_MAX },
	{ "space", OPT_U64, ROW(space), "BYTES", "", 0, 0 },
	{ "known", OPT_TEXT, ROW(known), "FILE", "", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "", 0, 0 },
	OPT_END,
};

#undef ROW
#define ROW(field) offsetof(struct campaign_section, field)

static const struct opt section_opts[] = {
	{ "instrument", OPT_CHOICE, ROW(instrument), INSTRUMENTS, "", 0, 0 },
	{ "targets", OPT_TEXT, ROW(targets), "NAMES", "", 0, 0 },
	{ "profiles", OPT_TEXT, ROW(profiles), "NAMES", "", 0, 0 },
	{ "options", OPT_TEXT, ROW(options), "WORDS", "", 0, 0 },
	{ "slice", OPT_DOUBLE, ROW(slice_seconds), "N", "", 1, OPT_SECONDS_MAX },
	{ "share", OPT_DOUBLE, ROW(share), "PERCENT", "", 0, 100 },
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N", "", 0, OPT_SECONDS_MAX },
	{ "parts", OPT_U64, ROW(parts), "N", "", 1, 100000 },
	OPT_END,
};

/* What the campaign itself says to a turn. */
static const char *const our_options[] = { "--out",     "--resume",      "--json",
					   "--seconds", "--seed",        "--part",
					   "--known",   "--write-known", "--config" };

void campaign_words(const char *text, struct buf *ret_words_nul)
{
	static const char blanks[] = " \t\n";

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		size_t len = strcspn(text, blanks);

		buf_add(ret_words_nul, text, len);
		buf_addch(ret_words_nul, '\0');
		text += len;
	}
}

static struct campaign_section *campaign_section_of(struct campaign_file *f, const char *name)
{
	struct campaign_section *s;

	for (size_t i = 0; i < f->section_count; i++)
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	f->sections = must_realloc(f->sections, (f->section_count + 1) * sizeof(*f->sections));
	s = &f->sections[f->section_count++];
	*s = (struct campaign_section){ .name = name, .instrument = -1, .parts = 50 };
	return s;
}

static int campaign_row_set(struct campaign_file *f, const struct ini_row *row, struct err *err)
{
	size_t prefix = strlen(section_prefix);

	if (!strcmp(row->section, "campaign"))
		return opt_set(campaign_opts, f, row->key, row->value, err);
	if (strncmp(row->section, section_prefix, prefix) || !row->section[prefix])
		return err_set(err, EINVAL, "[%s]: expected [campaign] or [arms.NAME]",
			       row->section);
	if (f->section_count == CAMPAIGN_SECTIONS_MAX)
		return err_set(err, EINVAL, "more than %d sections", CAMPAIGN_SECTIONS_MAX);
	return opt_set(section_opts, campaign_section_of(f, row->section + prefix), row->key,
		       row->value, err);
}

static int campaign_check_options(const struct campaign_section *s, struct err *err)
{
	struct buf words = BUF_INIT;
	int status = 0;

	campaign_words(s->options ? s->options : "", &words);
	for (size_t at = 0; at < words.len; at += strlen(words.data + at) + 1)
		for (size_t i = 0; i < ARRAY_LEN(our_options) && !status; i++)
			if (!strncmp(words.data + at, our_options[i],
				     strcspn(words.data + at, "=")) &&
			    strlen(our_options[i]) == strcspn(words.data + at, "="))
				status = err_set(err, EINVAL,
						 "[arms.%s]: the campaign itself sets %s", s->name,
						 our_options[i]);
	buf_free(&words);
	return status;
}

static int campaign_check(struct campaign_file *f, struct err *err)
{
	double shares = 0;
	int status = f->end_text ? campaign_time_parse(f->end_text, &f->end, err) : 0;

	if (!status && !f->section_count)
		status = err_set(err, EINVAL, "there is no section [arms.NAME]");
	for (size_t i = 0; i < f->section_count && !status; i++) {
		const struct campaign_section *s = &f->sections[i];

		shares += s->share;
		if (s->instrument < 0 || !s->targets)
			status = err_set(err, EINVAL, "[arms.%s]: %s is missing", s->name,
					 s->targets ? "instrument" : "targets");
		else
			status = campaign_check_options(s, err);
	}
	if (!status && shares > 100)
		status = err_set(err, EINVAL, "the shares are more than 100 percent together");
	return status;
}

/* "campaigns/all.ini" is "all". */
static char *campaign_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = must_strdup(slash ? slash + 1 : path), *end = strrchr(name, '.');

	if (end && end > name && !strcmp(end, ".ini"))
		*end = '\0';
	return name;
}

static int campaign_file_fill(struct campaign_file *f, const char *path, struct err *err)
{
	struct err why = { 0 };
	int status = 0;

	f->name = campaign_name_of(path);
	f->slice_seconds = 60;
	f->floor = 20;
	f->jobs = 1;
	f->space = (uint64_t)256 << 20;
	for (size_t i = 0; i < f->ini.count && !status; i++) {
		status = campaign_row_set(f, &f->ini.rows[i], &why);
		if (status)
			err_set(err, -status, "%s:%d: %s", path, f->ini.rows[i].line, why.text);
	}
	if (!status) {
		status = campaign_check(f, &why);
		if (status)
			err_set(err, -status, "%s: %s", path, why.text);
	}
	if (status)
		campaign_file_free(f);
	return status;
}

static const char *campaign_shipped(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(shipped); i++)
		if (!strcmp(shipped[i].name, name))
			return shipped[i].text;
	return NULL;
}

int campaign_file_read(struct campaign_file *f, const char *path, struct err *err)
{
	struct stat st;
	bool is_file = !stat(path, &st) && !S_ISDIR(st.st_mode);
	const char *text = is_file ? NULL : campaign_shipped(path);
	int status;

	*f = (struct campaign_file){ 0 };
	status = text ? ini_read_text(&f->ini, path, text, err)
		      : ini_read_trusted(&f->ini, path, err);
	return status ? status : campaign_file_fill(f, path, err);
}

int campaign_file_read_text(struct campaign_file *f, const char *name, const char *text,
			    struct err *err)
{
	int status;

	*f = (struct campaign_file){ 0 };
	status = ini_read_text(&f->ini, name, text, err);
	return status ? status : campaign_file_fill(f, name, err);
}

void campaign_file_free(struct campaign_file *f)
{
	ini_free(&f->ini);
	free(f->name);
	free(f->sections);
	*f = (struct campaign_file){ 0 };
}
