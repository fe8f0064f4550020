/* partition.c -- the classes of values that count as covered together.
 *
 * The partitions of a kind are numbered: first its names, if it has any, then what is beyond
 * them. A value without any flag counts as "0", bits without a name as "unknown". Names of
 * partitions are stable, since counts are kept under them. */
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "op/arg.h"
#include "op/value_class.h"

/* negative, 0, 2^0, 2^1, 2^1..2^2, 2^2, ... 2^62, 2^62..2^63 */
enum { NUMBERS = 2 + 1 + 2 * 62 };

static size_t number_partition(int64_t num)
{
	unsigned exponent;

	if (num <= 1)
		return num < 0 ? 0 : (size_t)num + 1;
	exponent = 63 - (unsigned)__builtin_clzll((unsigned long long)num);
	return 1 + 2 * (size_t)exponent + !!(num & (num - 1));
}

static void number_name(size_t i, struct buf *out)
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

/* What is beyond the names of flags and choices. */
enum { REST_UNKNOWN, REST_ZERO, RESTS };
static const char *const rest_names[RESTS] = { [REST_UNKNOWN] = "unknown", [REST_ZERO] = "0" };

enum class {
	CLASS_REST,
	CLASS_NUMBER,
	CLASS_VALUES, /* told by looking at the value */
};

struct beyond {
	enum class class;
	size_t count;
	const struct value_class *values;
};

static struct beyond beyond_names(enum kind kind)
{
	switch (kind) {
	case KIND_DATA:
	case KIND_XATTR_VALUE:
		return (struct beyond){ CLASS_VALUES, 0, NULL }; /* the size is another argument */
	case KIND_PATH:
	case KIND_TARGET:
		return (struct beyond){ CLASS_VALUES, path_class_count, path_classes };
	case KIND_XATTR_NAME:
		return (struct beyond){ CLASS_VALUES, xattr_class_count, xattr_classes };
	case KIND_COUNT:
	case KIND_LENGTH:
	case KIND_OFFSET:
	case KIND_DURATION:
	case KIND_NTH:
		return (struct beyond){ CLASS_NUMBER, NUMBERS, NULL };
	case KIND_DIRFD:
	case KIND_FD:
	case KIND_DH:
	case KIND_DEV:
	case KIND_UID:
	case KIND_GID:
	case KIND_TIME:
		return (struct beyond){ CLASS_VALUES, sign_class_count, sign_classes };
	case KIND_WHENCE:
	case KIND_OPEN_FLAGS:
	case KIND_ACCESS_MODE: /* 0 has a name */
		return (struct beyond){ CLASS_REST, RESTS - 1, NULL };
	default:
		return (struct beyond){ CLASS_REST, RESTS, NULL };
	}
}

static size_t name_count(const struct kind_name *names)
{
	size_t count = 0;

	while (names && names[count].name)
		count++;
	return count;
}

size_t kind_partitions(enum kind kind)
{
	return name_count(kind_names(kind)) + beyond_names(kind).count;
}

void kind_partition_name(enum kind kind, size_t partition, struct buf *out)
{
	size_t names = name_count(kind_names(kind));
	struct beyond beyond = beyond_names(kind);

	must(partition < names + beyond.count);
	if (partition < names)
		buf_adds(out, kind_names(kind)[partition].name);
	else if (beyond.class == CLASS_REST)
		buf_adds(out, rest_names[partition - names]);
	else if (beyond.class == CLASS_NUMBER)
		number_name(partition - names, out);
	else
		buf_adds(out, beyond.values[partition - names].name);
}

/* To read only is an access mode without a bit: it is named where no other is. */
static int64_t with_access_mode(int64_t flags)
{
	const int64_t others = 3 | OPEN_EXEC | OPEN_SEARCH; /* O_ACCMODE */

	return flags & others ? flags : flags | OPEN_RDONLY;
}

void kind_visit_partitions(enum kind kind, const struct arg *arg,
			   void (*visit)(void *to, size_t partition), void *to)
{
	const struct kind_name *names = kind_names(kind), *row = names;
	struct beyond beyond = beyond_names(kind);
	size_t first = name_count(names);
	bool named = false;
	int64_t num = 0, left;

	if (kind_table[kind].form == FORM_NUM)
		num = kind == KIND_OPEN_FLAGS ? with_access_mode(arg->num) : arg->num;
	if (kind == KIND_MODE && num == MODE_ABSENT)
		return;
	left = num;
	for (; row && (row = name_next(row, num, &left)); row++) {
		visit(to, (size_t)(row - names));
		named = true;
	}
	if (beyond.class == CLASS_NUMBER)
		visit(to, first + number_partition(num));
	else if (beyond.class == CLASS_REST && left)
		visit(to, first + REST_UNKNOWN);
	else if (beyond.class == CLASS_REST && !named)
		visit(to, first + REST_ZERO);
	for (size_t i = 0; beyond.class == CLASS_VALUES && !named && i < beyond.count; i++)
		if (beyond.values[i].has(arg))
			visit(to, first + i);
}

bool partition_is_wanted(const char *partition)
{
	static const char *const unwanted[] = {
		"unknown",
		"O_EXEC",
		"O_SEARCH",
		"O_RSYNC",
		"O_TTY_INIT",
		"O_ACCMODE",
		"FALLOC_FL_NO_HIDE_STALE",
	};

	for (size_t i = 0; i < ARRAY_LEN(unwanted); i++)
		if (!strcmp(partition, unwanted[i]))
			return false;
	return true;
}
