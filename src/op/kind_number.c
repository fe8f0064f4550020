/* kind_number.c -- kinds that are numbers: sizes and positions, users, devices, times. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/lexer.h"
#include "base/must.h"
#include "base/put.h"
#include "op/c_text.h"
#include "op/kind_functions.h"

void number_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	put_num(out, arg->num);
}

int number_lex(const struct kind_info *kind, struct lexer *l, struct arg *ret)
{
	return lex_num(l, RADIX_C, &ret->num);
}

bool number_boundary_list(const struct kind_info *kind, size_t i, bool near, int64_t *ret)
{
	if (i < kind->value_count)
		*ret = kind->values[i];
	return i < kind->value_count;
}

/* 0, 2^0 ... 2^62, 2^63-1 */
static bool number_power(size_t i, int64_t *ret)
{
	if (i > 64)
		return false;
	if (i == 64)
		*ret = INT64_MAX;
	else
		*ret = i ? INT64_C(1) << (i - 1) : 0;
	return true;
}

/* Powers of two, or these with the numbers beside each, ascending, and the least of all. */
static bool number_boundary_powers(const struct kind_info *kind, size_t i, bool near, int64_t *ret)
{
	static const int64_t first[] = { INT64_MIN, -1, 0, 1, 2 };
	size_t exponent;

	if (!near)
		return number_power(i, ret);
	if (i < ARRAY_LEN(first)) {
		*ret = first[i];
		return true;
	}
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

bool number_smaller(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
		    struct arena *arena, struct arg *ret)
{
	const int64_t num = arg->num;
	const int64_t candidates[] = { 0, 1, num / 4096 * 4096, num / 512 * 512, num / 2 };

	if (num <= 0 || i >= ARRAY_LEN(candidates))
		return false;
	ret->num = candidates[i];
	return true;
}

void c_number(int64_t num, struct buf *out)
{
	if (num > INT32_MIN && num <= INT32_MAX)
		buf_addf(out, "%" PRId64, num);
	else if (num == INT64_MIN) /* no literal in C */
		buf_addf(out, "(%" PRId64 "LL - 1)", num + 1);
	else
		buf_addf(out, "%" PRId64 "LL", num);
}

void number_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	c_number(arg->num, to->out);
}

/* A compiler knows how long buffers are, and what no count can be. */
static void count_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	bool fits = arg->num >= 0 && (uint64_t)arg->num <= to->data_max;

	buf_adds(to->out, fits ? "" : "big(");
	c_number(arg->num, to->out);
	buf_adds(to->out, fits ? "" : ")");
}

static void id_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	if (arg->num == -1)
		buf_adds(to->out, "-1");
	else
		buf_addf(to->out, "%u", (unsigned)arg->num);
}

static bool number_is_negative(const struct arg *arg)
{
	return arg->num < 0;
}

static bool number_is_zero(const struct arg *arg)
{
	return !arg->num;
}

static bool number_is_positive(const struct arg *arg)
{
	return arg->num > 0;
}

const struct value_class sign_classes[] = {
	{ "negative", number_is_negative },
	{ "0", number_is_zero },
	{ "positive", number_is_positive },
	{ NULL, NULL },
};

#define NUMBER .form = FORM_NUM, .print = number_print, .lex = number_lex

/* Bytes of a file. */
#define EXTENT \
	NUMBER, .is_extent = true, .places = 12, .boundary = number_boundary_powers, \
		.partitions = &partition_powers, .simpler = number_smaller

const struct kind_info kind_count = {
	.name = "count",
	EXTENT,
	.sizes_data = true,
	.picked = "0 1 4096",
	.kernel_names = (const char *const[]){ "count", "size", "len", NULL },
	.c_text = count_c_text,
};

const struct kind_info kind_length = {
	.name = "length",
	EXTENT,
	.picked = "0 1 4096",
	.kernel_names = (const char *const[]){ "length", "len", NULL },
	.c_text = number_c_text,
};

const struct kind_info kind_offset = {
	.name = "offset",
	EXTENT,
	.picked = "0 1 4096",
	.kernel_names = (const char *const[]){ "offset", "pos", "pos_l", NULL },
	.c_text = number_c_text,
};

static const int64_t users[] = { -1, 0, 65534, 65535, INT32_MAX, INT64_C(1) << 31, UINT32_MAX - 1 };

/* Who owns a file. */
#define OWNER \
	NUMBER, .picked = "0 1", VALUES(users), .boundary = number_boundary_list, \
		.classes = sign_classes, .partitions = &partition_classes, .c_text = id_c_text

const struct kind_info kind_uid = { .name = "uid", OWNER };
const struct kind_info kind_gid = { .name = "gid", OWNER };

static const int64_t devices[] = { 0, 0xff, 0xffff, UINT32_MAX };

const struct kind_info kind_dev = {
	.name = "dev",
	NUMBER,
	.picked = "0",
	VALUES(devices),
	.boundary = number_boundary_list,
	.classes = sign_classes,
	.partitions = &partition_classes,
	.simpler = number_smaller,
	.c_text = number_c_text,
};

static const struct kind_name time_names[] = {
	{ .name = "UTIME_NOW", .value = TIME_NOW, .mask = -1 },
	{ .name = "UTIME_OMIT", .value = TIME_OMIT, .mask = -1 },
	{ .name = NULL },
};

#define SECONDS(n) ((n)*INT64_C(1000000000))
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

const struct kind_info kind_time = {
	.name = "time",
	.form = FORM_NUM,
	.picked = "0 UTIME_NOW UTIME_OMIT",
	.names = time_names,
	.print = names_print,
	.lex = names_lex,
	VALUES(times),
	.boundary = number_boundary_list,
	.classes = sign_classes,
	.partitions = &partition_classes,
	.c_text = number_c_text,
};

static const int64_t milliseconds[] = { 0, 1, 1000, 5000, 30000 };

const struct kind_info kind_duration = {
	.name = "duration",
	NUMBER,
	.picked = "1000",
	VALUES(milliseconds),
	.boundary = number_boundary_list,
	.partitions = &partition_powers,
	.simpler = number_smaller,
	.c_text = number_c_text,
};

static const int64_t ordinals[] = { 1, 2, 0, -1 };

const struct kind_info kind_nth = {
	.name = "nth",
	NUMBER,
	.picked = "1 2 3 4 5 6 7 8 9 10 11 12 14 16 18 20 24 28 32 40 50",
	VALUES(ordinals),
	.boundary = number_boundary_list,
	.partitions = &partition_powers,
	.c_text = int_c_text,
};

static const int64_t positions[] = { 1, 2, 3, 0, -1, POSITION_MAX, POSITION_MAX + 1 };

const struct kind_info kind_position = {
	.name = "position",
	NUMBER,
	.picked = "1 2 3 4",
	VALUES(positions),
	.boundary = number_boundary_list,
	.partitions = &partition_powers,
	.simpler = number_smaller,
	.c_text = number_c_text,
};
