/* values.c -- which values a field is given. */
#include "damage/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum {
	OTHERS_MAX = 12, /* values of other instances */
	LIMITS_MAX = 3,  /* numbers that may be how many inodes there are */
	DRAWN = 4,
	DOT_DOT_LEN = 2,
	NEIGHBOURS_MAX = 24, /* instances on either side */
};

static void add_bytes(struct field_values *v, const uint8_t *value)
{
	for (size_t i = 0; i < v->count; i++)
		if (!memcmp(v->items[i], value, v->len))
			return;
	if (v->count == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 32;
		v->items = must_realloc(v->items, v->cap * sizeof(*v->items));
	}
	memcpy(v->items[v->count++], value, v->len);
}

static void number_put(uint8_t *bytes, uint16_t len, bool big_endian, uint64_t number)
{
	for (uint16_t i = 0; i < len; i++, number >>= 8)
		bytes[big_endian ? len - 1 - i : i] = (uint8_t)number;
}

static void add_number(struct field_values *v, bool big_endian, uint64_t number)
{
	uint8_t bytes[CHANGE_BYTES_MAX] = { 0 };

	number_put(bytes, v->len, big_endian, number);
	add_bytes(v, bytes);
}

/* The first ones are those that tell most. block: a size that is a multiple of it gets one more and
 * one less; 0: not known. */
static void add_first_numbers(struct field_values *v, bool big_endian, uint64_t old, uint64_t block)
{
	add_number(v, big_endian, old + 1);
	add_number(v, big_endian, 0);
	add_number(v, big_endian, old - 1);
	if (block && old && old % block == 0) {
		add_number(v, big_endian, old + block);
		add_number(v, big_endian, old - block);
	}
	add_number(v, big_endian, UINT64_MAX);
}

static uint64_t number_in(const struct ondisk_instance *x, const struct ondisk_field *field,
			  const uint8_t *disk)
{
	uint32_t size = ondisk_field_size(x, field);
	const uint8_t *p = disk + x->at + field->offset;

	if (!size || size > sizeof(uint64_t))
		return 0;
	return x->structure->big_endian ? ondisk_be(p, size) : ondisk_le(p, size);
}

/* The largest number of an inode that the disk has somewhere. */
static uint64_t largest_inode(const struct ondisk_map *map, const uint8_t *disk)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < map->count; i++)
		for (size_t f = 0; f < map->instances[i].structure->field_count; f++) {
			const struct ondisk_field *field = &map->instances[i].structure->fields[f];
			uint64_t number = field->role == ONDISK_INODE
						? number_in(&map->instances[i], field, disk)
						: 0;

			largest = number > largest ? number : largest;
		}
	return largest;
}

/* The first inode that is none: how many there are is one of the least numbers in the first
 * structure of the disk, the superblock, that are not below the largest in use. */
static void add_inodes_beyond(struct field_values *v, const struct ondisk_map *map,
			      const uint8_t *disk, bool big_endian)
{
	const struct ondisk_structure *first = map->instances[0].structure;
	uint64_t from = largest_inode(map, disk);

	for (unsigned i = 0; i < LIMITS_MAX; i++) {
		uint64_t least = UINT64_MAX;

		for (size_t f = 0; f < first->field_count; f++) {
			uint64_t number = first->fields[f].role == ONDISK_NUMBER
						? number_in(map->instances, &first->fields[f], disk)
						: 0;

			if (number >= from && number < least)
				least = number;
		}
		if (least == UINT64_MAX)
			return;
		add_number(v, big_endian, least + 1);
		from = least + 1;
	}
}

/* What lies just behind the last that there is. */
static void add_limits(struct field_values *v, const struct ondisk_map *map, const uint8_t *disk,
		       const struct ondisk_field *field, bool big_endian)
{
	if (field->role == ONDISK_POINTER && map->block_size)
		add_number(v, big_endian, map->disk_size / map->block_size);
	else if (field->role == ONDISK_INODE)
		add_inodes_beyond(v, map, disk, big_endian);
}

/* With a pointer and a number of blocks, the end that is one block behind the disk. */
static void add_ends(struct field_values *v, const struct ondisk_map *map, const uint8_t *disk,
		     const struct ondisk_instance *instance, const struct ondisk_field *field)
{
	uint64_t blocks = map->block_size ? map->disk_size / map->block_size : 0;
	uint8_t other_role = field->role == ONDISK_POINTER ? ONDISK_NUMBER : ONDISK_POINTER;

	for (size_t f = 0; f < instance->structure->field_count; f++) {
		const struct ondisk_field *other = &instance->structure->fields[f];
		uint64_t number = other->role == other_role ? number_in(instance, other, disk) : 0;

		if (number && number < blocks)
			add_number(v, instance->structure->big_endian, blocks - number + 1);
	}
}

/* Of flags each bit has a meaning, and the number none. */
static void add_flags(struct field_values *v, bool big_endian, uint64_t old)
{
	add_number(v, big_endian, 0);
	add_number(v, big_endian, UINT64_MAX);
	for (unsigned bit = 0; bit < 8u * v->len; bit++)
		add_number(v, big_endian, old ^ 1ull << bit);
}

static void add_numbers(struct field_values *v, bool big_endian, uint64_t old)
{
	unsigned bits = 8u * v->len;
	uint64_t top = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	const uint64_t numbers[] = {
		1, old / 2, 2, 3, top >> 1, (top >> 1) + 1, old * 2, ~old, top - 1, 4, 5,
	};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		add_number(v, big_endian, numbers[i]);
	for (unsigned bit = 0; bit < bits; bit++)
		add_number(v, big_endian, old ^ 1ull << bit);
}

static void add_with_byte(struct field_values *v, const uint8_t *old, uint16_t at, uint8_t byte)
{
	uint8_t bytes[CHANGE_BYTES_MAX] = { 0 };

	memcpy(bytes, old, v->len);
	bytes[at] = byte;
	add_bytes(v, bytes);
}

static void add_filled(struct field_values *v, uint8_t byte)
{
	uint8_t bytes[CHANGE_BYTES_MAX];

	memset(bytes, byte, sizeof(bytes));
	add_bytes(v, bytes);
}

/* The first ones are those that tell most; a name gets a separator before anything
 * else, and a short one becomes that of a directory itself. */
static void add_first_texts(struct field_values *v, const uint8_t *old)
{
	bool is_name = old[0] > ' ' && old[0] < 0x7f;

	if (is_name)
		add_with_byte(v, old, 0, '/');
	if (is_name && v->len <= DOT_DOT_LEN)
		add_filled(v, '.');
	add_filled(v, 0);
	add_filled(v, 0xff);
	if (is_name)
		add_with_byte(v, old, 0, '.');
	add_with_byte(v, old, v->len - 1, 0);
}

/* Of names, bitmaps and the like: each byte becomes zero, another one, or what ends a path. */
static void add_texts(struct field_values *v, const uint8_t *old)
{
	static const uint8_t others[] = { 0, 1, '.', '/', 0x7f, 0xff };

	for (uint16_t i = 0; i < v->len; i++)
		for (size_t o = 0; o < ARRAY_LEN(others); o++)
			add_with_byte(v, old, i, others[o]);
}

/* A name that another entry has: its neighbour is most often one of the same directory. */
static void add_neighbour_name(struct field_values *v, const struct ondisk_map *map,
			       const uint8_t *disk, const struct ondisk_instance *instance,
			       const struct ondisk_field *field)
{
	size_t at = (size_t)(instance - map->instances);

	for (size_t distance = 1; distance < NEIGHBOURS_MAX; distance++)
		for (int side = 0; side < 2; side++) {
			size_t i = side ? at + distance : at - distance; /* wraps below 0 */
			const struct ondisk_instance *other = map->instances + i;

			if (i >= map->count || other->structure != instance->structure ||
			    ondisk_field_size(other, field) != ondisk_field_size(instance, field))
				continue;
			if (!memcmp(disk + other->at + field->offset,
				    disk + instance->at + field->offset, v->len))
				continue;
			add_bytes(v, disk + other->at + field->offset);
			return;
		}
}

/* What the same field has elsewhere: of a pointer, blocks that are in use. */
static void add_others(struct field_values *v, const struct ondisk_map *map, const uint8_t *disk,
		       const struct ondisk_instance *instance, const struct ondisk_field *field,
		       size_t most)
{
	size_t before = v->count, first = (size_t)(instance - map->instances);

	for (size_t i = 1; i < map->count && v->count < before + most; i++) {
		const struct ondisk_instance *other = &map->instances[(first + i) % map->count];

		if (other->structure == instance->structure &&
		    ondisk_field_size(other, field) >= v->len)
			add_bytes(v, disk + other->at + field->offset);
	}
}

static void remove_value(struct field_values *v, const uint8_t *value)
{
	for (size_t i = 0; i < v->count; i++)
		if (!memcmp(v->items[i], value, v->len)) {
			memmove(v->items[i], v->items[i + 1],
				(v->count - i - 1) * sizeof(*v->items));
			v->count--;
			return;
		}
}

void values_telling(struct field_values *ret, const struct ondisk_map *map, const uint8_t *disk,
		    const struct ondisk_instance *instance, const struct ondisk_field *field,
		    uint64_t seed)
{
	const uint8_t *old = disk + instance->at + field->offset;
	bool big_endian = instance->structure->big_endian;
	struct rng rng;
	uint64_t number;

	*ret = (struct field_values){ .len = corruption_field_len(instance, field) };
	rng_seed(&rng, seed ^ (instance->at + field->offset));
	if (field->role == ONDISK_BYTES || ret->len > sizeof(uint64_t)) {
		add_neighbour_name(ret, map, disk, instance, field);
		add_first_texts(ret, old);
		add_texts(ret, old);
	} else {
		number = big_endian ? ondisk_be(old, ret->len) : ondisk_le(old, ret->len);
		if (field->role == ONDISK_FLAGS)
			add_flags(ret, big_endian, number);
		add_first_numbers(ret, big_endian, number, map->block_size);
		add_others(ret, map, disk, instance, field, 1);
		add_limits(ret, map, disk, field, big_endian);
		if (field->role == ONDISK_POINTER || field->role == ONDISK_NUMBER)
			add_ends(ret, map, disk, instance, field);
		add_numbers(ret, big_endian, number);
	}
	add_others(ret, map, disk, instance, field, OTHERS_MAX);
	for (unsigned i = 0; i < DRAWN && ret->len <= sizeof(uint64_t); i++)
		add_number(ret, big_endian, rng_u64(&rng));
	remove_value(ret, old);
}

enum { MUTATIONS_MAX = 3, MUTATION_STEP = 32 };

static void mutate_once(uint8_t *value, uint16_t len, const uint8_t *other, struct rng *rng)
{
	size_t at = (size_t)rng_below(rng, len);

	switch (rng_below(rng, 4)) {
	case 0:
		value[at] ^= (uint8_t)(1u << rng_below(rng, 8));
		break;
	case 1:
		value[at] = (uint8_t)rng_u64(rng);
		break;
	case 2:
		value[at] = (uint8_t)(value[at] + rng_below(rng, 2 * MUTATION_STEP + 1) -
				      MUTATION_STEP);
		break;
	default:
		memcpy(value + at, other + at, len - at);
	}
}

void values_mutate(uint8_t *value, uint16_t len, const uint8_t *other, struct rng *rng)
{
	for (uint64_t i = 1 + rng_below(rng, MUTATIONS_MAX); i; i--)
		mutate_once(value, len, other, rng);
}

void values_free(struct field_values *v)
{
	free(v->items);
	*v = (struct field_values){ 0 };
}

uint64_t values_all(const struct ondisk_field *field)
{
	return field->size && field->size <= 2 ? 1ull << 8 * field->size : 0;
}

void values_numbered(const struct ondisk_field *field, uint64_t number,
		     uint8_t ret[CHANGE_BYTES_MAX])
{
	number_put(ret, field->size, false, number);
}
