/* opt.c -- from option texts to settings. The help they share a table with is in opt_help.c. */
#include "settings/opt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

static const struct opt *opt_find(const struct opt *opts, const char *name, size_t len)
{
	for (; opts && opts->name; opts++)
		if (strlen(opts->name) == len && !memcmp(opts->name, name, len))
			return opts;
	return NULL;
}

/* How far a suffix K, M, G or T shifts; -1 for anything else. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMGT";
	const char *at;

	if (!*suffix)
		return 0;
	at = strchr(letters, toupper((unsigned char)suffix[0]));
	return at && !suffix[1] ? 10 * (int)(at - letters + 1) : -1;
}

static int out_of_bounds(const struct opt *o, const char *text, struct err *err)
{
	return err_set(err, EINVAL, "--%s %s: not between %" PRIu64 " and %" PRIu64, o->name, text,
		       o->min, o->max);
}

/* Decimal or 0x, never octal: a leading 0 of a seed or a size means nothing. */
static int set_u64(const struct opt *o, uint64_t *ret_value, const char *text, struct err *err)
{
	int base = text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10;
	unsigned long long value;
	char *end;
	int shift;

	errno = 0;
	value = strtoull(text, &end, base);
	shift = suffix_shift(end);
	if (!isdigit((unsigned char)text[0]) || end == text || shift < 0)
		return err_set(err, EINVAL, "--%s %s: not a whole number", o->name, text);
	if (errno || value > UINT64_MAX >> shift)
		return err_set(err, EINVAL, "--%s %s: too large", o->name, text);
	value <<= shift;
	if ((o->min || o->max) && (value < o->min || value > o->max))
		return out_of_bounds(o, text, err);
	*ret_value = value;
	return 0;
}

static int set_double(const struct opt *o, double *ret_value, const char *text, struct err *err)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno || !(value - value == 0))
		return err_set(err, EINVAL, "--%s %s: not a number", o->name, text);
	if ((o->min || o->max) && (value < (double)o->min || value > (double)o->max))
		return out_of_bounds(o, text, err);
	*ret_value = value;
	return 0;
}

/* Choices are between bars; their words are copied to end each of them. */
static void suggest_choice(const char *choices, const char *text, struct err *err)
{
	struct nearest n = NEAREST_TO(text);
	char *copy = must_strdup(choices), *rest = copy, *word;

	while ((word = strsep(&rest, "|")))
		nearest_offer(&n, word);
	err_suggest(err, &n);
	free(copy);
}

static int set_choice(const struct opt *o, int *ret_index, const char *text, struct err *err)
{
	const char *choice = o->value;
	size_t len;

	for (int i = 0;; i++) {
		len = strcspn(choice, "|");
		if (strlen(text) == len && !memcmp(choice, text, len)) {
			*ret_index = i;
			return 0;
		}
		if (!choice[len])
			break;
		choice += len + 1;
	}
	err_set(err, EINVAL, "--%s %s: not one of %s", o->name, text, o->value);
	suggest_choice(o->value, text, err);
	return -EINVAL;
}

static int set_flag(const struct opt *o, bool *ret_value, const char *text, struct err *err)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!strcmp(text, words[i])) {
			*ret_value = i % 2;
			return 0;
		}
	}
	return err_set(err, EINVAL, "--%s %s: neither yes nor no", o->name, text);
}

static void opt_list_add(struct opt_list *list, const char *text)
{
	list->items = must_realloc(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] = text;
}

static int opt_set_text(const struct opt *o, void *settings, const char *text, struct err *err)
{
	void *place = (char *)settings + o->offset;

	switch (o->type) {
	case OPT_FLAG:
		return set_flag(o, place, text, err);
	case OPT_U64:
		return set_u64(o, place, text, err);
	case OPT_DOUBLE:
		return set_double(o, place, text, err);
	case OPT_CHOICE:
		return set_choice(o, place, text, err);
	case OPT_TEXT:
		*(const char **)place = text;
		return 0;
	case OPT_LIST:
		opt_list_add(place, text);
		return 0;
	}
	must(!"an option of a known type");
	return 0;
}

/* What was typed is `dashes` bytes of dashes and a name, up to its end. */
static int opt_unknown(const struct opt *opts, const char *typed, size_t dashes, const char *what,
		       struct err *err)
{
	char *given = must_strdup(typed);
	struct nearest n = NEAREST_TO(given + dashes);

	given[strcspn(given, "=")] = '\0';
	for (const struct opt *o = opts; o && o->name; o++)
		nearest_offer(&n, o->name);
	if (n.name)
		err_set(err, EINVAL, "%s: no such %s; did you mean %s%s?", given, what,
			dashes ? "--" : "", n.name);
	else
		err_set(err, EINVAL, "%s: no such %s", given, what);
	free(given);
	return -EINVAL;
}

int opt_set(const struct opt *opts, void *settings, const char *key, const char *value,
	    struct err *err)
{
	const struct opt *o = opt_find(opts, key, strlen(key));

	if (!o)
		return opt_unknown(opts, key, 0, "setting", err);
	return opt_set_text(o, settings, value, err);
}

/* One argument that begins with '-'; next is the one behind it, or NULL. *ret_used says how
 * many of the two were taken. */
static int opt_read(const struct opt *opts, void *settings, const char *arg, const char *next,
		    int *ret_used, struct err *err)
{
	const char *name = arg + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct opt *o = arg[1] == '-' ? opt_find(opts, name, len) : NULL;
	bool negated = false;

	*ret_used = 1;
	if (!o && !strncmp(arg, "--no-", 5)) {
		o = opt_find(opts, name + 3, len - 3);
		negated = o && o->type == OPT_FLAG;
		if (!negated)
			o = NULL;
	}
	if (!o)
		return opt_unknown(opts, arg, arg[1] == '-' ? 2 : 1, "option", err);
	if (o->type == OPT_FLAG) {
		if (value)
			return err_set(err, EINVAL, "--%s takes no value", o->name);
		return opt_set_text(o, settings, negated ? "no" : "yes", err);
	}
	if (!value) {
		value = next;
		*ret_used = 2;
	}
	if (!value || !*value)
		return err_set(err, EINVAL, "--%s needs a value: %s", o->name, o->value);
	return opt_set_text(o, settings, value, err);
}

int opt_parse(const struct opt *opts, void *settings, int *argc, char **argv, struct err *err)
{
	int left = 1, used, ret;

	for (int i = 1; i < *argc; i += used) {
		used = 1;
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[left++] = argv[i];
			continue;
		}
		if (!strcmp(argv[i], "--")) {
			while (++i < *argc)
				argv[left++] = argv[i];
			break;
		}
		ret = opt_read(opts, settings, argv[i], argv[i + 1], &used, err);
		if (ret)
			return ret;
	}
	argv[left] = NULL;
	*argc = left;
	return 0;
}
