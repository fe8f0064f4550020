/* values.h -- which values a field is given.
 *
 * Those that tend to matter: zero, one, the largest, one more and one less, every single bit, and
 * what other instances of the field hold. A narrow field can get all. */
#ifndef DAMAGE_VALUES_H
#define DAMAGE_VALUES_H

#include "base/rng.h"
#include "damage/corruption.h"

struct field_values {
	uint8_t (*items)[CHANGE_BYTES_MAX];
	size_t count, cap;
	uint16_t len; /* bytes of each */
};

/* For this field of this instance, each value once and none that it has. seed: of those that are
 * drawn. */
void values_telling(struct field_values *ret, const struct ondisk_map *map, const uint8_t *disk,
		    const struct ondisk_instance *instance, const struct ondisk_field *field,
		    uint64_t seed);
/* Changes a value a little; `other` is one that it may take bytes from. */
void values_mutate(uint8_t *value, uint16_t len, const uint8_t *other, struct rng *rng);
void values_free(struct field_values *v);

/* Of a field of at most 2 bytes: how many values there are, and the one of this number. 0: it is
 * too wide. */
uint64_t values_all(const struct ondisk_field *field);
void values_numbered(const struct ondisk_field *field, uint64_t number,
		     uint8_t ret[CHANGE_BYTES_MAX]);

#endif
