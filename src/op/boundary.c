/* boundary.c -- values that matter by themselves: limits, powers of two, single flags. */
#include "base/must.h"
#include "op/kind.h"

#define SECONDS(n) ((n)*INT64_C(1000000000))

static const int64_t descriptors[] = { -1, 0, INT32_MAX };
static const int64_t users[] = { -1, 0, 65534, 65535, INT32_MAX, INT64_C(1) << 31, UINT32_MAX - 1 };
static const int64_t devices[] = { 0, 0xff, 0xffff, UINT32_MAX };
static const int64_t milliseconds[] = { 0, 1, 1000, 5000, 30000 };
/* Where file systems end their timestamps: 32 bits, signed and not, and 34. */
static const int64_t times[] = {
	0,
	TIME_NOW,
	TIME_OMIT,
	SECONDS(INT32_MIN),
	SECONDS(INT32_MAX),
	SECONDS(INT32_MAX + INT64_C(1)),
	SECONDS(UINT32_MAX),
	SECONDS(UINT32_MAX + INT64_C(1)),
	SECONDS(INT64_C(9223372036)), /* the last second that nanoseconds in 64 bits reach */
};

static bool at(const int64_t *values, size_t count, size_t i, int64_t *ret)
{
	if (i < count)
		*ret = values[i];
	return i < count;
}

/* 0, 2^0 ... 2^62, 2^63-1 */
static bool power(size_t i, int64_t *ret)
{
	if (i > 64)
		return false;
	if (i == 64)
		*ret = INT64_MAX;
	else
		*ret = i ? INT64_C(1) << (i - 1) : 0;
	return true;
}

/* The same with the numbers beside each, ascending, and the least of all. */
static bool near_power(size_t i, int64_t *ret)
{
	static const int64_t first[] = { INT64_MIN, -1, 0, 1, 2 };
	size_t exponent;

	if (at(first, ARRAY_LEN(first), i, ret))
		return true;
	i -= ARRAY_LEN(first);
	exponent = 2 + i / 3;
	if (exponent == 63 && i % 3 == 0)
		*ret = INT64_MAX;
	else if (exponent < 63)
		*ret = (INT64_C(1) << exponent) + (int64_t)(i % 3) - 1;
	else
		return false;
	return true;
}

/* Each name by itself; then for flags nothing, unless that has a name, and all of them together;
 * for choices, near them, what has no name. */
static bool named(enum kind kind, size_t i, bool near, int64_t *ret)
{
	const struct kind_name *row = kind_names(kind);
	int64_t all = 0, beyond[2];
	size_t count = 0, beyond_count = 0;

	for (; row[count].name; count++)
		all |= row[count].value;
	if (i < count) {
		*ret = row[i].value;
		return true;
	}
	if (!kind_is_choice(kind)) {
		if (row[count - 1].value)
			beyond[beyond_count++] = 0;
		beyond[beyond_count++] = all;
	} else if (near) {
		beyond[beyond_count++] = -1;
		beyond[beyond_count++] = row[count - 1].value + 1;
	}
	return at(beyond, beyond_count, i - count, ret);
}

static bool number(enum kind kind, size_t i, bool near, int64_t *ret)
{
	switch (kind) {
	case KIND_COUNT:
	case KIND_LENGTH:
	case KIND_OFFSET:
		return near ? near_power(i, ret) : power(i, ret);
	case KIND_FD:
	case KIND_DH:
	case KIND_DIRFD:
		return at(descriptors, ARRAY_LEN(descriptors), i, ret);
	case KIND_UID:
	case KIND_GID:
		return at(users, ARRAY_LEN(users), i, ret);
	case KIND_DEV:
		return at(devices, ARRAY_LEN(devices), i, ret);
	case KIND_TIME:
		return at(times, ARRAY_LEN(times), i, ret);
	case KIND_DURATION:
		return at(milliseconds, ARRAY_LEN(milliseconds), i, ret);
	case KIND_NTH:
		return at((const int64_t[]){ 1, 2, 0, -1 }, 4, i, ret);
	case KIND_COPY_FLAGS:
		return at((const int64_t[]){ 0, 1 }, 2, i, ret);
	default:
		return named(kind, i, near, ret);
	}
}

bool kind_boundary(enum kind kind, size_t i, bool near, struct arg *ret)
{
	int64_t num;

	if (kind_table[kind].form != FORM_NUM || !number(kind, i, near, &num))
		return false;
	*ret = (struct arg){ .num = num };
	return true;
}
