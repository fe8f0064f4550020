/* audit_damage.h -- for tests of audits: a disk with one field changed breaks the rule of that
 * field, and any disk is audited. */
#ifndef TESTS_AUDIT_DAMAGE_H
#define TESTS_AUDIT_DAMAGE_H

#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/must.h"
#include "base/rng.h"
#include "ondisk/ondisk.h"
#include "tests/harness/unit.h"

/* The field of the first instance whose label has that in it becomes this number. */
struct audit_damage {
	const char *variant, *field, *label;
	uint64_t value;
	const char *rule; /* NULL: the audit ends */
};

static inline const struct ondisk_instance *audit_find(const struct ondisk_map *map,
						       const struct audit_damage *x,
						       const struct ondisk_field **ret_field)
{
	const struct ondisk_structure *structure;

	*ret_field = ondisk_find(map->format, x->field, &structure);
	assert_non_null(*ret_field);
	for (size_t i = 0; i < map->count; i++)
		if (map->instances[i].structure == structure &&
		    strstr(map->instances[i].label, x->label))
			return &map->instances[i];
	fail_msg("%s: no %s of %s", x->variant, x->field, x->label);
	return NULL;
}

/* What an audit of the damaged disk finds. */
static inline struct audit audit_damaged(const struct ondisk_map *map, const uint8_t *disk,
					 const struct audit_damage *x)
{
	uint8_t *bytes = must_alloc(map->disk_size);
	const struct ondisk_field *field;
	const struct ondisk_instance *i = audit_find(map, x, &field);
	uint32_t size = ondisk_field_size(i, field);
	struct audit a;

	memcpy(bytes, disk, map->disk_size);
	for (uint32_t b = 0; b < size && b < (field->role == ONDISK_BYTES ? 1 : 8); b++)
		bytes[i->at + field->offset + (i->structure->big_endian ? size - 1 - b : b)] =
			x->value >> 8 * b;
	audit_disk(&a, bytes, map->disk_size);
	free(bytes);
	return a;
}

static inline void audit_try_damage(const struct ondisk_map *map, const uint8_t *disk,
				    const struct audit_damage *x)
{
	struct audit a = audit_damaged(map, disk, x);

	if (x->rule && !audit_has(&a, x->rule))
		fail_msg("%s: %s of %s as %llu: not \"%s\"", x->variant, x->field, x->label,
			 (unsigned long long)x->value, x->rule);
}

static inline void audit_finds_nothing(const uint8_t *disk, uint64_t size, const char *variant)
{
	struct audit a;

	audit_disk(&a, disk, size);
	for (size_t i = 0; i < a.count; i++)
		print_error("%s: %s: %s\n", variant, a.breaches[i].rule, a.breaches[i].text);
	assert_int_equal(a.count, 0);
}

/* Whatever is on the disk, nothing beyond it is read, and the audit ends. */
static inline void audit_any(const struct ondisk_map *map, const uint8_t *disk, struct rng *rng)
{
	uint8_t *bytes = must_alloc(map->disk_size);

	for (int i = 0; i < 200; i++) {
		const struct ondisk_instance *x = &map->instances[rng_below(rng, map->count)];
		struct audit a;

		memcpy(bytes, disk, map->disk_size);
		for (int k = 0; k < 3; k++)
			bytes[x->at + rng_below(rng, x->size)] = rng_u64(rng);
		audit_disk(&a, bytes, map->disk_size);
	}
	free(bytes);
}

#endif
