/* partition.c -- the classes of values that count as covered together.
 *
 * The partitions of a kind are numbered: first its names, if it has any, then what is beyond
 * them. A value without any flag counts as "0", bits without a name as "unknown". */
#include "base/buf.h"
#include "op/kind_functions.h"

static size_t names_count(const struct kind_info *kind)
{
	size_t count = 0;

	while (kind->names && kind->names[count].name)
		count++;
	return count;
}

/* Visits the partitions of the names that num has, and returns what of it has no name. */
static int64_t names_visit(const struct kind_info *kind, int64_t num,
			   void (*visit)(void *to, size_t partition), void *to, bool *ret_named)
{
	int64_t left = num;

	*ret_named = false;
	for (const struct kind_name *row = kind->names; row && (row = name_next(row, num, &left));
	     row++) {
		visit(to, (size_t)(row - kind->names));
		*ret_named = true;
	}
	return left;
}

static size_t classes_count(const struct kind_info *kind)
{
	size_t count = 0;

	while (kind->classes && kind->classes[count].name)
		count++;
	return names_count(kind) + count;
}

static void classes_name(const struct kind_info *kind, size_t partition, struct buf *out)
{
	size_t names = names_count(kind);

	buf_adds(out, partition < names ? kind->names[partition].name
					: kind->classes[partition - names].name);
}

static void classes_visit(const struct kind_info *kind, const struct arg *arg,
			  void (*visit)(void *to, size_t partition), void *to)
{
	size_t first = names_count(kind);
	bool named = false;

	if (kind->names)
		names_visit(kind, arg->num, visit, to, &named);
	for (size_t i = 0; !named && kind->classes && kind->classes[i].name; i++)
		if (kind->classes[i].has(arg))
			visit(to, first + i);
}

const struct partitioning partition_classes = { classes_count, classes_name, classes_visit };

/* negative, 0, 2^0, 2^1, 2^1..2^2, 2^2, ... 2^62, 2^62..2^63 */
enum { POWERS = 2 + 1 + 2 * 62 };

static size_t powers_count(const struct kind_info *kind)
{
	return POWERS;
}

static void powers_name(const struct kind_info *kind, size_t i, struct buf *out)
{
	size_t exponent = (i - 1) / 2;

	if (i < 2)
		buf_adds(out, i ? "0" : "negative");
	else if (i == 2)
		buf_adds(out, "2^0");
	else if (i % 2)
		buf_addf(out, "2^%zu", exponent);
	else
		buf_addf(out, "2^%zu..2^%zu", exponent, exponent + 1);
}

static void powers_visit(const struct kind_info *kind, const struct arg *arg,
			 void (*visit)(void *to, size_t partition), void *to)
{
	int64_t num = arg->num;
	unsigned exponent;

	if (num <= 1) {
		visit(to, num < 0 ? 0 : (size_t)num + 1);
		return;
	}
	exponent = 63 - (unsigned)__builtin_clzll((unsigned long long)num);
	visit(to, 1 + 2 * (size_t)exponent + !!(num & (num - 1)));
}

const struct partitioning partition_powers = { powers_count, powers_name, powers_visit };

/* What is beyond the names of flags and choices. */
enum { REST_UNKNOWN, REST_ZERO, RESTS };
static const char *const rest_names[RESTS] = { PARTITION_UNKNOWN, "0" };

size_t flags_count(const struct kind_info *kind)
{
	size_t names = names_count(kind);

	for (size_t i = 0; i < names; i++)
		if (!kind->names[i].value)
			return names + RESTS - 1;
	return names + RESTS;
}

void flags_name(const struct kind_info *kind, size_t partition, struct buf *out)
{
	size_t names = names_count(kind);

	buf_adds(out,
		 partition < names ? kind->names[partition].name : rest_names[partition - names]);
}

void flags_visit(const struct kind_info *kind, const struct arg *arg,
		 void (*visit)(void *to, size_t partition), void *to)
{
	size_t first = names_count(kind);
	bool named;

	if (names_visit(kind, arg->num, visit, to, &named))
		visit(to, first + REST_UNKNOWN);
	else if (!named)
		visit(to, first + REST_ZERO);
}

const struct partitioning partition_flags = { flags_count, flags_name, flags_visit };
