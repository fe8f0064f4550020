/* ace_values.c -- the argument values of a workload: the published ones, or wide inputs.
 *
 * Wide inputs: lengths are powers of two from 16 bytes to 2 MB and one byte less or more, at most
 * an eighth of the disk, so that three operations and what they depend on fit on it. Half of the
 * offsets lie within the file; the others may lie behind its end, up to the length of the longest
 * transfer. */
#include "crash/ace_values.h"

#include <fcntl.h>

#include "base/must.h"

enum { PAGE = 4096, FILLING = 32768, XATTR_PUBLISHED = 4 };
enum { SHIFT_MIN = 4, SHIFT_MAX = 21, SHIFT_PAGE = 12, XATTR_SHIFT_MAX = 9, DISK_PART = 8 };

static const int64_t wide_flags[] = {
#define ACE_FLAGS(flags) flags,
#include "crash/ace.def"
};

static const int64_t wide_modes[] = {
#define ACE_PERM(mode) mode,
#include "crash/ace.def"
};

void values_init(struct ace_values *v)
{
	*v = (struct ace_values){ .length_max = ((uint64_t)1 << SHIFT_MAX) + 1 };
}

/* One page is the least that a direct write can be. */
void values_init_wide(struct ace_values *v, uint64_t seed, uint64_t disk_bytes)
{
	uint64_t part = disk_bytes / DISK_PART;

	values_init(v);
	v->wide = true;
	if (disk_bytes && part < v->length_max)
		v->length_max = part < PAGE ? PAGE : part;
	rng_seed(&v->rng, seed);
}

uint64_t values_filling(const struct ace_values *v)
{
	return v->length_max < FILLING ? v->length_max : FILLING;
}

static uint64_t draw_index(struct ace_values *v, size_t count)
{
	return rng_below(&v->rng, count);
}

/* A power of two that is within the bound. */
static uint64_t draw_power(struct ace_values *v, unsigned shift_min, unsigned shift_max,
			   uint64_t max)
{
	while (shift_max > shift_min && (uint64_t)1 << shift_max > max)
		shift_max--;
	return (uint64_t)1 << (shift_min + draw_index(v, shift_max - shift_min + 1));
}

static uint64_t draw_length(struct ace_values *v, unsigned shift_max)
{
	uint64_t length = draw_power(v, SHIFT_MIN, shift_max, v->length_max) - 1 + draw_index(v, 3);

	return length <= v->length_max ? length : v->length_max;
}

static uint64_t draw_page(struct ace_values *v, uint64_t size)
{
	uint64_t span = size;

	if (span < v->length_max && rng_chance(&v->rng, 1, 2))
		span = v->length_max;
	return draw_index(v, span / PAGE + 1) * PAGE;
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

static struct ace_extent draw_extent(struct ace_values *v, const struct ace_use *use, uint64_t size)
{
	struct ace_extent extent = { 0 };

	if (ace_ops[use->op].align == PAGE)
		extent.length = draw_power(v, SHIFT_PAGE, SHIFT_MAX, v->length_max);
	else
		extent.length = draw_length(v, SHIFT_MAX);
	switch (use->range->drawn) {
	case DRAWN_END:
		extent.offset = round_up(size, ace_ops[use->op].align);
		break;
	case DRAWN_ALIGNED:
		extent.offset = draw_page(v, size);
		break;
	case DRAWN_UNALIGNED:
		extent.offset = draw_page(v, size) + 1 + draw_index(v, PAGE - 1);
		break;
	case DRAWN_SIZE_ALIGNED:
		extent.length = draw_page(v, size);
		break;
	case DRAWN_SIZE:
		break;
	}
	return extent;
}

struct ace_extent values_extent(struct ace_values *v, const struct ace_use *use, uint64_t size)
{
	const struct ace_range *range = use->range;
	uint64_t start = range->from_end ? size : 0;

	if (v->wide)
		return draw_extent(v, use, size);
	must(range->shift >= 0 || start >= (uint64_t)-range->shift);
	return (struct ace_extent){
		.offset = round_up(start + (uint64_t)range->shift, ace_ops[use->op].align),
		.length = range->length,
	};
}

struct arg values_data(struct ace_values *v, uint64_t length)
{
	return (struct arg){
		.seed = ++v->data_seed,
		.len = (uint32_t)length,
		.generated = true,
	};
}

/* What fits beside an inode or into one block, of 1024 bytes, too. */
struct arg values_xattr(struct ace_values *v)
{
	return values_data(v, v->wide ? draw_length(v, XATTR_SHIFT_MAX) : XATTR_PUBLISHED);
}

int64_t values_flags(struct ace_values *v)
{
	return v->wide ? wide_flags[draw_index(v, ARRAY_LEN(wide_flags))] : 0;
}

int64_t values_mode(struct ace_values *v, int64_t usual)
{
	return v->wide ? wide_modes[draw_index(v, ARRAY_LEN(wide_modes))] : usual;
}

bool values_fdatasync(struct ace_values *v)
{
	return v->wide && rng_chance(&v->rng, 1, 2);
}
