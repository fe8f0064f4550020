/* pool.c -- weighted values from a profile's words. */
#include "universe/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

enum { WEIGHT_MAX = 1000, DISTRIBUTED_MAX = 1000000 };

int distribution_find(const char *name)
{
	static const char *const names[DISTRIBUTIONS] = {
		[UNIFORM] = "uniform",
		[RANK_SIZE] = "rank-size",
		[DECAYING] = "decaying",
		[INVERSE_RANK_SIZE] = "inverse-rank-size",
		[INVERSE_DECAYING] = "inverse-decaying",
	};

	for (int i = 0; i < DISTRIBUTIONS; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

bool word_next(const char **next, struct arena *arena, char **ret)
{
	const char *start = *next + strspn(*next, " \t\n"), *end = start;
	bool quoted = false;

	for (; *end && (quoted || !strchr(" \t\n", *end)); end++) {
		if (*end == '"')
			quoted = !quoted;
		else if (*end == '\\' && end[1])
			end++;
	}
	*next = end;
	*ret = arena_copy(arena, start, (size_t)(end - start));
	return end > start;
}

/* Cuts "*3" off the word. */
static int pool_take_weight(char *word, unsigned *ret, struct err *err)
{
	char *star = strrchr(word, '*'), *end;
	unsigned long weight;

	*ret = 1;
	if (!star || strchr(star, '"'))
		return 0;
	weight = strtoul(star + 1, &end, 10);
	if (*end || !star[1] || weight < 1 || weight > WEIGHT_MAX)
		return err_set(err, EINVAL, "%s: a weight is a number from 1 to %d", word,
			       WEIGHT_MAX);
	*star = '\0';
	*ret = (unsigned)weight;
	return 0;
}

/* The pool grows in the arena: what it outgrows stays there until the universe goes. */
static int pool_add(struct pool *pool, struct arg value, unsigned weight, struct arena *arena,
		    struct err *err)
{
	size_t count = pool->count;
	struct pool grown;

	if (count == POOL_MAX)
		return err_set(err, E2BIG, "more than %d values", POOL_MAX);
	if (!(count & (count - 1))) {
		grown.values = arena_alloc(arena, (2 * count + 1) * sizeof(*grown.values));
		grown.sums = arena_alloc(arena, (2 * count + 1) * sizeof(*grown.sums));
		if (count) {
			memcpy(grown.values, pool->values, count * sizeof(*grown.values));
			memcpy(grown.sums, pool->sums, count * sizeof(*grown.sums));
		}
		pool->values = grown.values;
		pool->sums = grown.sums;
	}
	pool->values[count] = value;
	pool->sums[count] = weight + (count ? pool->sums[count - 1] : 0);
	pool->count++;
	return 0;
}

static int pool_add_boundary(struct pool *pool, enum kind kind, bool near, unsigned weight,
			     const struct pool_words *words, struct arena *arena, struct err *err)
{
	struct arg value;
	int ret = 0;

	if (!kind_boundary(kind, 0, near, &value))
		return err_set(err, EINVAL, "%s has no boundary values", kind_table[kind]->name);
	for (size_t i = 0; !ret && kind_boundary(kind, i, near, &value); i++)
		if (!kind_table[kind]->sizes_data ||
		    (value.num >= 0 && (uint64_t)value.num <= words->count_max))
			ret = pool_add(pool, value, weight, arena, err);
	return ret;
}

/* A value for each place that the kind has for those that follow from the state. */
static int pool_add_nearby(struct pool *pool, enum kind kind, unsigned weight, struct arena *arena,
			   struct err *err)
{
	int ret = 0;

	if (!kind_table[kind]->places)
		return err_set(err, EINVAL, "no value of %s follows from the state",
			       kind_table[kind]->name);
	for (uint8_t place = 1; !ret && place <= kind_table[kind]->places; place++)
		ret = pool_add(pool, (struct arg){ .nearby = place }, weight, arena, err);
	return ret;
}

/* A literal value. Text may do without quotes, and data be named by its seed. */
static int pool_parse_value(struct arg *ret, enum kind kind, const char *word, struct arena *arena,
			    struct err *err)
{
	char *end;

	*ret = (struct arg){ 0 };
	if (kind_table[kind]->form == FORM_NUM || *word == '"')
		return arg_parse(ret, kind, word, arena, err);
	if (!strcmp(word, "null"))
		return 0;
	if (kind_table[kind]->form == FORM_TEXT) {
		ret->text = word;
		ret->len = (uint32_t)strlen(word);
		return 0;
	}
	errno = 0;
	ret->seed = strtoull(word, &end, 10);
	ret->generated = true;
	if (*end || errno)
		return err_set(err, EINVAL, "%s: neither a seed nor a string in quotes", word);
	return 0;
}

static int pool_add_word(struct pool *pool, enum kind kind, char *word,
			 const struct pool_words *words, struct arena *arena, struct err *err)
{
	bool near = !strncmp(word, "near-boundary", strlen("near-boundary"));
	struct arg value;
	unsigned weight;
	int ret;

	ret = pool_take_weight(word, &weight, err);
	if (ret)
		return ret;
	if (near || !strcmp(word, "boundary"))
		return pool_add_boundary(pool, kind, near, weight, words, arena, err);
	if (!strcmp(word, "nearby"))
		return pool_add_nearby(pool, kind, weight, arena, err);
	if (!strcmp(word, "pool") && kind_table[kind]->is_path) {
		for (size_t i = 0; !ret && i < words->paths->count; i++)
			ret = pool_add(pool, words->paths->values[i], weight, arena, err);
		return ret;
	}
	ret = pool_parse_value(&value, kind, word, arena, err);
	return ret ? ret : pool_add(pool, value, weight, arena, err);
}

int pool_read(struct pool *pool, enum kind kind, const char *text, const struct pool_words *words,
	      struct arena *arena, struct err *err)
{
	char *word;
	int ret = 0;

	*pool = (struct pool){ 0 };
	while (!ret && word_next(&text, arena, &word))
		ret = pool_add_word(pool, kind, word, words, arena, err);
	if (!ret && !pool->count)
		return err_set(err, EINVAL, "no value");
	return ret;
}

static uint64_t distribution_weight(enum distribution distribution, size_t i, size_t count)
{
	uint64_t weight = DISTRIBUTED_MAX;

	if (distribution == INVERSE_RANK_SIZE || distribution == INVERSE_DECAYING)
		i = count - 1 - i;
	if (distribution == RANK_SIZE || distribution == INVERSE_RANK_SIZE)
		weight /= i + 1;
	else if (distribution != UNIFORM)
		for (; i && weight > 1; i--)
			weight = weight * 9 / 10;
	return weight ? weight : 1;
}

void pool_distribute(struct pool *pool, enum distribution distribution)
{
	uint64_t before = 0, sum = 0, own;

	for (size_t i = 0; i < pool->count; i++) {
		own = pool->sums[i] - before;
		before = pool->sums[i];
		sum += own * distribution_weight(distribution, i, pool->count);
		pool->sums[i] = sum;
	}
}
