/* universe_read.c -- from a profile to a universe. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/ini.h"
#include "settings/opt.h"
#include "universe/path_pool.h"

enum { PROFILE_BYTES_MAX = 1 << 20, OP_WEIGHT_MAX = 1000000, USERS_MAX = 8 };

/* What [universe] says. */
struct settings {
	struct path_shape paths;
	uint64_t nodes_max, size_max, files_max;
	const char *users;
};

static const struct opt universe_keys[] = {
	{ .name = "names",
	  .type = OPT_TEXT,
	  .offset = offsetof(struct settings, paths.names),
	  .help = "names of files and directories" },
	{ .name = "depth",
	  .type = OPT_U64,
	  .offset = offsetof(struct settings, paths.depth),
	  .help = "how many names a path may join",
	  .min = 1,
	  .max = 1024 },
	{ .name = "width",
	  .type = OPT_U64,
	  .offset = offsetof(struct settings, paths.width),
	  .help = "how many of the names may be those of directories; 0 for all" },
	{ .name = "long_names",
	  .type = OPT_TEXT,
	  .offset = offsetof(struct settings, paths.long_names),
	  .help = "lengths of further names" },
	{ .name = "nodes_max",
	  .type = OPT_U64,
	  .offset = offsetof(struct settings, nodes_max),
	  .help = "how many objects a tree may have",
	  .min = 1,
	  .max = 1 << 20 },
	{ .name = "size_max",
	  .type = OPT_U64,
	  .offset = offsetof(struct settings, size_max),
	  .help = "bytes of the largest file" },
	{ .name = "files_max",
	  .type = OPT_U64,
	  .offset = offsetof(struct settings, files_max),
	  .help = "how many files may be open",
	  .max = 64 },
	{ .name = "users",
	  .type = OPT_TEXT,
	  .offset = offsetof(struct settings, users),
	  .help = "users under which further processes make calls" },
	OPT_END,
};

struct draft {
	struct universe *u;
	struct ini ini;
	struct settings settings;
	struct pool by_kind[KIND_COUNT_]; /* read once for all arguments of a kind */
	struct err *err;
};

static const struct ini_row *profile_find_row(const struct ini *ini, const char *section,
					      const char *key)
{
	for (size_t i = ini->count; i-- > 0;)
		if (!strcmp(ini->rows[i].section, section) && !strcmp(ini->rows[i].key, key))
			return &ini->rows[i];
	return NULL;
}

static int draft_row_error(struct draft *d, const struct ini_row *row, const char *why)
{
	if (!row->line) /* an override */
		return err_set(d->err, EINVAL, "%s.%s: %s", row->section, row->key, why);
	return err_set(d->err, EINVAL, "%s:%d: %s.%s: %s", d->ini.path, row->line, row->section,
		       row->key, why);
}

/* The kind that "count" or "open.flags" means, or -1. */
static int pick_key_kind(const char *key)
{
	const char *dot = strchr(key, '.');
	int op;

	if (!dot)
		return kind_find(key);
	op = op_find_len(key, (size_t)(dot - key));
	for (unsigned i = 0; op >= 0 && i < op_table[op].args; i++)
		if (!strcmp(op_table[op].arg[i].name, dot + 1))
			return (int)op_table[op].arg[i].kind;
	return -1;
}

static const char distribution_prefix[] = "distribution.";

/* The text after "distribution.", or NULL for another key. */
static const char *pick_key_distributed(const char *key)
{
	size_t len = sizeof(distribution_prefix) - 1;

	return strncmp(key, distribution_prefix, len) ? NULL : key + len;
}

static int draft_check_pick(struct draft *d, const struct ini_row *row)
{
	const char *distributed = pick_key_distributed(row->key);

	if (pick_key_kind(distributed ? distributed : row->key) < 0)
		return draft_row_error(d, row, "neither a kind nor an operation's argument");
	if (distributed && distribution_find(row->value) < 0)
		return draft_row_error(d, row, "no such distribution");
	return 0;
}

static int draft_check_row(struct draft *d, const struct ini_row *row)
{
	struct err why = { 0 };

	if (!strcmp(row->section, "universe")) {
		if (opt_set(universe_keys, &d->settings, row->key, row->value, &why))
			return draft_row_error(d, row, why.text);
		return 0;
	}
	if (!strcmp(row->section, "ops"))
		return op_find(row->key) < 0 ? draft_row_error(d, row, "no such operation") : 0;
	if (!strcmp(row->section, "pick"))
		return draft_check_pick(d, row);
	return draft_row_error(d, row, "the sections are universe, ops and pick");
}

static int draft_read_weight(struct draft *d, const struct ini_row *row, unsigned *ret)
{
	unsigned long weight;
	char *end;

	weight = strtoul(row->value, &end, 10);
	if (*end || !*row->value || weight > OP_WEIGHT_MAX)
		return draft_row_error(d, row, "a weight is a number from 0 to 1000000");
	*ret = (unsigned)weight;
	return 0;
}

/* The row for an argument: its own, else that of its kind. */
static const struct ini_row *draft_argument_row(struct draft *d, const char *prefix, enum op op,
						const struct op_arg *arg, bool *ret_own)
{
	struct buf key = BUF_INIT;
	const struct ini_row *row;

	buf_addf(&key, "%s%s.%s", prefix, op_table[op].name, arg->name);
	row = profile_find_row(&d->ini, "pick", key.data);
	*ret_own = row != NULL;
	if (!row) {
		buf_clear(&key);
		buf_addf(&key, "%s%s", prefix, kind_table[arg->kind]->name);
		row = profile_find_row(&d->ini, "pick", key.data);
	}
	buf_free(&key);
	return row;
}

static int draft_read_pool(struct draft *d, struct pool *ret, enum kind kind,
			   const struct ini_row *row, const struct ini_row *distribution)
{
	struct pool_words words = { .paths = &d->u->paths, .count_max = d->settings.size_max };
	struct err why = { 0 };

	if (pool_read(ret, kind, row ? row->value : kind_table[kind]->picked, &words, &d->u->arena,
		      &why)) {
		must(row);
		return draft_row_error(d, row, why.text);
	}
	if (distribution)
		pool_distribute(ret, (enum distribution)distribution_find(distribution->value));
	ret->aliases = arena_alloc(&d->u->arena, ret->count * sizeof(*ret->aliases));
	pool_weigh(ret);
	return 0;
}

static int draft_read_argument(struct draft *d, struct pool *ret, enum op op,
			       const struct op_arg *arg)
{
	const struct ini_row *row, *distribution;
	bool own_row, own_distribution;
	struct pool *shared = &d->by_kind[arg->kind];
	int code = 0;

	row = draft_argument_row(d, "", op, arg, &own_row);
	distribution = draft_argument_row(d, distribution_prefix, op, arg, &own_distribution);
	if (own_row || own_distribution)
		return draft_read_pool(d, ret, arg->kind, row, distribution);
	if (!shared->count)
		code = draft_read_pool(d, shared, arg->kind, row, distribution);
	*ret = *shared;
	return code;
}

static int draft_add_op(struct draft *d, enum op op, unsigned weight)
{
	struct universe *u = d->u;
	struct universe_op *to = &u->ops[u->op_count++];
	int ret = 0;

	*to = (struct universe_op){
		.op = op,
		.weight = weight,
		.first = u->calls,
		.calls = u->processes,
	};
	for (unsigned i = 0; i < op_table[op].args && !ret; i++) {
		ret = draft_read_argument(d, &to->pools[i], op, &op_table[op].arg[i]);
		if (!ret && __builtin_mul_overflow(to->calls, to->pools[i].count, &to->calls))
			ret = err_set(d->err, E2BIG, "%s: %s has more than 2^64 calls", d->ini.path,
				      op_table[op].name);
	}
	if (!ret && __builtin_add_overflow(u->calls, to->calls, &u->calls))
		ret = err_set(d->err, E2BIG, "%s: more than 2^64 calls", d->ini.path);
	return ret;
}

/* Operations are in the order of their table, whatever that of the profile. */
static int draft_read_ops(struct draft *d)
{
	const struct ini_row *row;
	unsigned weight;
	int ret = 0;

	d->u->ops = arena_alloc(&d->u->arena, OP_COUNT * sizeof(*d->u->ops));
	for (int op = 0; op < OP_COUNT && !ret; op++) {
		row = profile_find_row(&d->ini, "ops", op_table[op].name);
		weight = 0;
		if (row)
			ret = draft_read_weight(d, row, &weight);
		if (!ret && weight)
			ret = draft_add_op(d, (enum op)op, weight);
	}
	if (!ret && !d->u->op_count)
		ret = err_set(d->err, EINVAL, "%s: no operation has a weight", d->ini.path);
	return ret;
}

static int draft_read_users(struct draft *d)
{
	struct universe *u = d->u;
	const char *at = d->settings.users;
	unsigned long user;
	char *end;

	u->processes = 1;
	u->users = arena_alloc(&u->arena, USERS_MAX * sizeof(*u->users));
	for (at += strspn(at, " \t\n"); *at; at = end + strspn(end, " \t\n")) {
		user = strtoul(at, &end, 10);
		if (end == at || user > UINT32_MAX || u->processes > USERS_MAX)
			return err_set(d->err, EINVAL, "%s: universe.users: at most %d numbers",
				       d->ini.path, USERS_MAX);
		u->users[u->processes++ - 1] = (uint32_t)user;
	}
	return 0;
}

static int draft_read(struct draft *d)
{
	struct err why = { 0 };
	int ret = 0;

	for (size_t i = 0; i < d->ini.count && !ret; i++)
		ret = draft_check_row(d, &d->ini.rows[i]);
	if (ret)
		return ret;
	if (path_pool(&d->u->paths, &d->settings.paths, &d->u->arena, &why))
		return err_set(d->err, EINVAL, "%s: universe: %s", d->ini.path, why.text);
	d->u->nodes_max = d->settings.nodes_max;
	d->u->size_max = d->settings.size_max;
	d->u->files_max = d->settings.files_max;
	ret = draft_read_users(d);
	if (ret)
		return ret;
	ret = draft_read_ops(d);
	if (!ret)
		universe_index(d->u);
	return ret;
}

/* Overrides are further rows of the profile: the last value of a key holds. */
static int profile_add_override(struct ini *ini, const char *override, struct err *err)
{
	const char *dot = strchr(override, '.'), *equals = strchr(override, '=');

	if (!dot || !equals || dot > equals)
		return err_set(err, EINVAL, "%s: not section.key=value", override);
	ini_add(ini, override, (size_t)(dot - override), dot + 1, (size_t)(equals - dot - 1),
		equals + 1);
	return 0;
}

static int profile_text(struct buf *text, const char *profile, struct err *err)
{
	const char *shipped = universe_profile_text(profile);
	struct err why = { 0 };
	int ret;

	if (shipped) {
		buf_adds(text, shipped);
		return 0;
	}
	ret = buf_read_file(text, profile, PROFILE_BYTES_MAX, &why);
	if (ret == -ENOENT)
		return universe_profile_unknown(profile, err);
	return ret ? err_set(err, -ret, "%s", why.text) : 0;
}

int universe_open(struct universe *u, const char *profile, const char *const *overrides,
		  size_t override_count, struct err *err)
{
	struct draft d = {
		.u = u,
		.settings = { .paths = { .names = "a b", .depth = 2, .long_names = "" },
			      .nodes_max = 16,
			      .size_max = 65536,
			      .files_max = 3,
			      .users = "" },
		.err = err,
	};
	struct buf text = BUF_INIT;
	int ret;

	*u = (struct universe){ 0 };
	ret = profile_text(&text, profile, err);
	if (!ret)
		ret = ini_read_text(&d.ini, profile, buf_str(&text), err);
	for (size_t i = 0; i < override_count && !ret; i++)
		ret = profile_add_override(&d.ini, overrides[i], err);
	if (!ret) {
		u->name = arena_strdup(&u->arena, profile);
		ret = draft_read(&d);
	}
	ini_free(&d.ini);
	if (ret)
		universe_free(u);
	buf_free(&text);
	return ret;
}
