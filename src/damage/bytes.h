/* bytes.h -- corruptions of a disk of which nothing is known but which sectors are read. */
#ifndef DAMAGE_BYTES_H
#define DAMAGE_BYTES_H

#include "base/buf.h"
#include "base/rng.h"
#include "damage/corruption.h"

struct read_sectors {
	uint64_t *items; /* their numbers */
	size_t count;
};

/* Of a bit for each sector of 512 bytes. */
void read_sectors_init(struct read_sectors *s, const struct buf *bits);
/* Where it is not known what is read: those that are not all zero. */
void read_sectors_of_disk(struct read_sectors *s, const uint8_t *disk, uint64_t size);
void read_sectors_free(struct read_sectors *s);
/* One to three places in sectors that are read and not all zero, of one to eight bytes each. */
void bytes_draw(struct corruption *ret, const struct read_sectors *s, const uint8_t *disk,
		struct rng *rng);
/* Changes a corruption a little: another value for one of its places, or another place. */
void bytes_mutate(struct corruption *c, const struct read_sectors *s, const uint8_t *disk,
		  struct rng *rng);

#endif
