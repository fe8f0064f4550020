/* damage.h -- the test disk with some bytes changed, and the checksums made right that cover them.
 */
#ifndef DAMAGE_DAMAGE_H
#define DAMAGE_DAMAGE_H

#include "base/hash.h"
#include "damage/corruption.h"

struct damaged_disk {
	const struct ondisk_map *map; /* NULL: nothing is known of the format */
	const uint8_t *base;          /* the test disk */
	uint8_t *bytes;
	uint64_t size;
	uint64_t *checksum_pages; /* that checksums lie in */
	size_t checksum_page_count;
	uint64_t *pages; /* that are not as on the test disk, each once */
	size_t count, cap;
};

/* The test disk stays where it is. */
void damaged_disk_init(struct damaged_disk *d, const struct ondisk_map *map, const uint8_t *base,
		       uint64_t size);
void damaged_disk_free(struct damaged_disk *d);
/* The test disk with this corruption, instead of the one before. */
void damaged_disk_set(struct damaged_disk *d, const struct corruption *c);
/* Another disk of its size. */
void damaged_disk_load(struct damaged_disk *d, const uint8_t *bytes);
/* Equal disks have equal hashes; {0, 0} is the test disk. */
struct hash damaged_disk_hash(const struct damaged_disk *d);

#endif
