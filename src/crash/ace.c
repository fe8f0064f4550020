/* ace.c -- all workloads of one to three operations on a few files, each by its number.
 *
 * They are ordered by their operations, then by what persists these. How many ways there are to
 * persist depends on the operands, so the workloads with the same operations but the last one are
 * found in a table, the last operation by counting, and the rest by division. */
#include "crash/ace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/must.h"
#include "crash/ace_build.h"

/* From this length on, workloads are too many for more than the operands to be persisted. */
enum { LENGTH_NARROW = 3 };

/* Uses of operations by their numbers, and the sets of their paths together. */
struct ace_choice {
	size_t uses[ACE_LENGTH_MAX];
	unsigned length;
	ace_path_set related, persisted;
	bool unrelated; /* an operation has nothing to do with those before it */
};

static ace_path_set set_of(unsigned path)
{
	return path < ACE_PATHS ? 1U << path : 0;
}

static ace_path_set with_neighbours(ace_path_set set)
{
	ace_path_set all = set;

	for (enum ace_path path = 0; path < ACE_PATHS; path++)
		if (set & set_of(path))
			all |= set_of(ace_paths[path].parent) | set_of(ace_paths[path].sibling);
	return all;
}

/* A directory has to do with what lies in it; the root directory does not count, since all does. */
static ace_path_set with_related(ace_path_set set)
{
	ace_path_set all = set;

	for (enum ace_path path = 0; path < ACE_PATHS; path++) {
		ace_path_set parent = set_of(ace_paths[path].parent) & ~set_of(ACE_ROOT);

		if (set & set_of(path))
			all |= parent;
		if (set & parent)
			all |= set_of(path);
	}
	return all;
}

static void choice_add(struct ace_choice *c, const struct ace *a, size_t use)
{
	bool narrow = a->options.length >= LENGTH_NARROW;

	if (narrow && c->length && !(c->related & a->operands[use]))
		c->unrelated = true;
	c->related |= a->related[use];
	c->persisted |= a->persisted[use];
	c->uses[c->length++] = use;
}

/* The choice with this number of all operations but the last one. */
static struct ace_choice choice_start(const struct ace *a, size_t start)
{
	struct ace_choice c = { .length = 0 };
	size_t weight = a->start_count;

	for (unsigned i = 0; i + 1 < a->options.length; i++) {
		weight /= a->use_count;
		choice_add(&c, a, start / weight % a->use_count);
	}
	return c;
}

/* In how many ways an operation is persisted: by fsync of a path, sync or, unless it is the last
 * one, not at all. */
static uint64_t persist_ways(const struct ace_choice *c, unsigned i)
{
	return (unsigned)__builtin_popcount(c->persisted) + (i + 1 < c->length ? 2 : 1);
}

/* The number of workloads with these operations, then `use`. */
static uint64_t choice_workloads(const struct ace_choice *c, const struct ace *a, size_t use)
{
	struct ace_choice all = *c;
	uint64_t count = 1;

	choice_add(&all, a, use);
	for (unsigned i = 0; i < all.length; i++)
		count *= persist_ways(&all, i);
	return all.unrelated ? 0 : count;
}

void ace_init(struct ace *a, const struct ace_options *options)
{
	bool narrow = options->length >= LENGTH_NARROW;

	must(options->length >= 1 && options->length <= ACE_LENGTH_MAX);
	*a = (struct ace){ .options = *options, .start_count = 1 };
	a->use_count = ace_uses(options->nested, a->uses);
	for (size_t i = 0; i < a->use_count; i++) {
		a->operands[i] = set_of(a->uses[i].paths[0]) | set_of(a->uses[i].paths[1]);
		a->related[i] = with_related(a->operands[i]);
		a->persisted[i] = narrow ? a->operands[i] : with_neighbours(a->operands[i]);
	}
	for (unsigned i = 0; i + 1 < options->length; i++)
		a->start_count *= a->use_count;
	a->starts = must_alloc(a->start_count * sizeof(*a->starts));
	for (size_t start = 0; start < a->start_count; start++) {
		struct ace_choice c = choice_start(a, start);

		a->starts[start] = a->count;
		for (size_t use = 0; use < a->use_count; use++)
			a->count += choice_workloads(&c, a, use);
	}
}

void ace_free(struct ace *a)
{
	free(a->starts);
	*a = (struct ace){ .count = 0 };
}

/* The last start that is not behind the index. */
static size_t find_start(const struct ace *a, uint64_t index)
{
	size_t low = 0, high = a->start_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (a->starts[middle] <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The n-th path of the set, or what follows behind its last one. */
static unsigned persist_nth(ace_path_set set, uint64_t n)
{
	for (unsigned path = 0; path < ACE_PATHS; path++)
		if (set & set_of(path) && !n--)
			return path;
	return ACE_SYNC + (unsigned)n;
}

static void ace_decode(const struct ace *a, uint64_t index, struct ace_skeleton *ret)
{
	size_t start = find_start(a, index), use = 0;
	struct ace_choice c = choice_start(a, start);
	uint64_t count;

	index -= a->starts[start];
	for (; (count = choice_workloads(&c, a, use)) <= index; use++)
		index -= count;
	choice_add(&c, a, use);
	*ret = (struct ace_skeleton){ .length = c.length, .in_place = a->options.in_place };
	for (unsigned i = c.length; i-- > 0; index /= persist_ways(&c, i)) {
		ret->steps[i].use = a->uses[c.uses[i]];
		ret->steps[i].persist = persist_nth(c.persisted, index % persist_ways(&c, i));
	}
}

static void values_of(struct ace_values *values, const struct ace_options *o, uint64_t index)
{
	const uint64_t draw[] = { index, o->length, o->nested };

	if (o->wide)
		values_init_wide(values, hash64(draw, sizeof(draw), o->seed), o->disk_bytes);
	else
		values_init(values);
}

void ace_workload(const struct ace *a, uint64_t index, struct arena *arena, struct workload *ret)
{
	const struct ace_options *o = &a->options;
	struct ace_skeleton skeleton;
	struct ace_values values;
	struct buf name = BUF_INIT;

	must(index < a->count);
	ace_decode(a, index, &skeleton);
	values_of(&values, o, index);
	buf_addf(&name, "seq-%u%s%s/%llu ", o->length, o->nested ? "-nested" : "",
		 o->wide ? "-wide" : "", (unsigned long long)index);
	ace_build(&skeleton, &values, arena, &name, ret);
	ret->name = arena_copy(arena, name.data, name.len);
	buf_free(&name);
}

int ace_parse(struct ace_options *ret, const char *text, struct err *err)
{
	const char prefix[] = "seq-";
	const char *digit = text + strlen(prefix);

	if (strncmp(text, prefix, strlen(prefix)) || *digit < '1' ||
	    *digit > '0' + ACE_LENGTH_MAX || (digit[1] && strcmp(digit + 1, "-nested")))
		return err_set(err, EINVAL, "%s: expected seq-1 to seq-%d, or seq-N-nested", text,
			       ACE_LENGTH_MAX);
	ret->length = (unsigned)(*digit - '0');
	ret->nested = digit[1];
	return 0;
}
