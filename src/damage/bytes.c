/* bytes.c -- corruptions of a disk of which nothing is known but which sectors are read. */
#include "damage/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { SECTOR = 512, PLACES_MAX = 3, ZERO_SECTORS_TRIED = 8 };

static bool is_zero(const uint8_t *sector)
{
	return !sector[0] && !memcmp(sector, sector + 1, SECTOR - 1);
}

void read_sectors_init(struct read_sectors *s, const struct buf *bits)
{
	*s = (struct read_sectors){ .items = must_alloc((bits->len * 8 + 1) * sizeof(*s->items)) };
	for (size_t i = 0; i < bits->len * 8; i++)
		if (bits->data[i / 8] >> i % 8 & 1)
			s->items[s->count++] = i;
}

void read_sectors_of_disk(struct read_sectors *s, const uint8_t *disk, uint64_t size)
{
	*s = (struct read_sectors){ .items = must_alloc((size / SECTOR + 1) * sizeof(*s->items)) };
	for (uint64_t i = 0; i < size / SECTOR; i++)
		if (!is_zero(disk + i * SECTOR))
			s->items[s->count++] = i;
}

void read_sectors_free(struct read_sectors *s)
{
	free(s->items);
}

/* Most structures are little endian and lie at multiples of their size. */
static void draw_value(uint8_t *value, uint16_t len, struct rng *rng)
{
	uint64_t number = 0;

	for (uint16_t i = len; i-- > 0;)
		number = number << 8 | value[i];
	switch (rng_below(rng, 8)) {
	case 0:
		number = 0;
		break;
	case 1:
		number = UINT64_MAX;
		break;
	case 2:
		number++;
		break;
	case 3:
		number--;
		break;
	case 4:
		number = rng_u64(rng);
		break;
	case 5:
		number = 1ull << rng_below(rng, 8u * len);
		break;
	default:
		number ^= 1ull << rng_below(rng, 8u * len);
		break;
	}
	for (uint16_t i = 0; i < len; i++, number >>= 8)
		value[i] = (uint8_t)number;
}

static void draw_place(struct corruption *c, const struct read_sectors *s, const uint8_t *disk,
		       struct rng *rng)
{
	uint16_t len = (uint16_t)(1u << rng_below(rng, 4));
	uint64_t sector = 0, at;
	uint8_t value[CHANGE_BYTES_MAX];

	for (unsigned tries = 0; tries < ZERO_SECTORS_TRIED; tries++) {
		sector = s->items[rng_below(rng, s->count)];
		if (!is_zero(disk + sector * SECTOR))
			break;
	}
	at = sector * SECTOR + rng_below(rng, SECTOR / len) * len;
	memcpy(value, disk + at, len);
	draw_value(value, len, rng);
	corruption_add_bytes(c, disk, at, value, len);
}

void bytes_draw(struct corruption *ret, const struct read_sectors *s, const uint8_t *disk,
		struct rng *rng)
{
	*ret = (struct corruption){ 0 };
	for (uint64_t places = 1 + rng_below(rng, PLACES_MAX); places; places--)
		draw_place(ret, s, disk, rng);
}

void bytes_mutate(struct corruption *c, const struct read_sectors *s, const uint8_t *disk,
		  struct rng *rng)
{
	struct disk_change *change = &c->changes[rng_below(rng, c->count)];

	if (c->count < CORRUPTION_CHANGES_MAX && rng_chance(rng, 1, 2))
		draw_place(c, s, disk, rng);
	else
		draw_value(change->new, change->len, rng);
}
