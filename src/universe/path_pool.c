/* path_pool.c -- the paths of a universe: its names joined up to its depth.
 *
 * With names a and b, depth 2 and width 1: a, b, a/a, a/b. Paths are relative, so that they mean
 * the same under every mount point, and ordered by depth. */
#include "universe/path_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"

enum { NAMES_MAX = 4096, PATHS_MAX = 1 << 14, LONG_MAX_BYTES = 4096, LONG_NUMBER_BYTES = 8 };

struct names {
	const char **items;
	size_t count;
};

static int names_add(struct names *names, const char *name, struct err *err)
{
	if (names->count == NAMES_MAX)
		return err_set(err, E2BIG, "more than %d names", NAMES_MAX);
	if (strchr(name, '/'))
		return err_set(err, EINVAL, "%s: a name holds no slash", name);
	names->items[names->count++] = name;
	return 0;
}

/* "f{1..9}" means f1 to f9. */
static int names_add_word(struct names *names, const char *word, struct arena *arena,
			  struct err *err)
{
	unsigned first, last;
	struct buf name = BUF_INIT;
	int prefix = 0, ret = 0, end = 0;

	if (sscanf(word, "%*[^{]%n{%u..%u}%n", &prefix, &first, &last, &end) != 2 || word[end])
		return names_add(names, word, err);
	for (unsigned i = first; i <= last && !ret; i++) {
		buf_clear(&name);
		buf_addf(&name, "%.*s%u", prefix, word, i);
		ret = names_add(names, arena_copy(arena, name.data, name.len), err);
	}
	buf_free(&name);
	return ret;
}

static int names_read(struct names *names, const char *text, struct arena *arena, struct err *err)
{
	char *word;
	int ret = 0;

	names->items = arena_alloc(arena, NAMES_MAX * sizeof(*names->items));
	while (!ret && word_next(&text, arena, &word))
		ret = names_add_word(names, word, arena, err);
	if (!ret && !names->count)
		return err_set(err, EINVAL, "no name");
	return ret;
}

static int path_pool_add(struct pool *pool, const char *path, struct err *err)
{
	if (pool->count == PATHS_MAX)
		return err_set(err, E2BIG, "more than %d paths; less depth or fewer names",
			       PATHS_MAX);
	pool->values[pool->count] = (struct arg){ .text = path, .len = (uint32_t)strlen(path) };
	pool->count++;
	return 0;
}

/* The names below each of the directories that lie in the pool from `first` up to `end`. */
static int path_pool_add_level(struct pool *pool, size_t first, size_t end,
			       const struct names *names, size_t width, struct arena *arena,
			       struct err *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	must(names->count || first == end);
	for (size_t i = first; i < end; i++) {
		if ((i - first) % names->count >= width)
			continue;
		for (size_t j = 0; j < names->count && !ret; j++) {
			buf_clear(&path);
			buf_addf(&path, "%s/%s", pool->values[i].text, names->items[j]);
			ret = path_pool_add(pool, arena_copy(arena, path.data, path.len), err);
		}
	}
	buf_free(&path);
	return ret;
}

/* The first of its length, or one that ends with its number. */
static const char *long_name(size_t len, unsigned long number, struct arena *arena)
{
	char *name = arena_alloc(arena, len + 1), digits[LONG_NUMBER_BYTES + 1];
	size_t digit_count;

	memset(name, 'n', len);
	name[len] = '\0';
	if (number) {
		digit_count = (size_t)snprintf(digits, sizeof(digits), "%lu", number);
		memcpy(name + len - digit_count, digits, digit_count);
	}
	return name;
}

static int path_pool_add_long_names(struct pool *pool, const char *lengths, struct arena *arena,
				    struct err *err)
{
	unsigned long len, count;
	char *word, *end;
	int ret = 0;

	while (!ret && word_next(&lengths, arena, &word)) {
		len = strtoul(word, &end, 10);
		count = *end == '*' ? strtoul(end + 1, &end, 10) : 1;
		if (*end || len < 1 || len > LONG_MAX_BYTES)
			return err_set(err, EINVAL, "%s: a length is a number from 1 to %d", word,
				       LONG_MAX_BYTES);
		if (count < 1 || count > PATHS_MAX || (count > 1 && len <= LONG_NUMBER_BYTES))
			return err_set(err, EINVAL, "%s: not so many names of that length", word);
		for (unsigned long i = 0; i < count && !ret; i++)
			ret = path_pool_add(pool, long_name(len, i, arena), err);
	}
	return ret;
}

int path_pool(struct pool *ret, const struct path_shape *shape, struct arena *arena,
	      struct err *err)
{
	struct names names = { 0 };
	size_t first = 0, end, width;
	int code;

	code = names_read(&names, shape->names, arena, err);
	*ret = (struct pool){ .values = arena_alloc(arena, PATHS_MAX * sizeof(*ret->values)) };
	for (size_t i = 0; i < names.count && !code; i++)
		code = path_pool_add(ret, names.items[i], err);
	width = shape->width && shape->width < names.count ? shape->width : names.count;
	for (uint64_t depth = 1; depth < shape->depth && !code; depth++) {
		end = ret->count;
		code = path_pool_add_level(ret, first, end, &names, width, arena, err);
		first = end;
	}
	return code ? code : path_pool_add_long_names(ret, shape->long_names, arena, err);
}
