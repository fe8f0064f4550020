/* own_map.h -- a map of fields that no format describes: those a user lists, or bytes that a
 * checker has repaired. */
#ifndef DAMAGE_OWN_MAP_H
#define DAMAGE_OWN_MAP_H

#include "base/arena.h"
#include "ondisk/ondisk.h"

struct err;

struct own_map {
	struct ondisk_map map; /* valid once it is finished */
	struct ondisk_format format;
	struct own_field *fields;
	size_t count, cap;
	const struct ondisk_structure **structures;
	struct arena arena;
};

void own_map_init(struct own_map *m, uint64_t disk_size);
/* What lies beyond the disk is -EINVAL. Rows of one name, size and role are instances of one field.
 * label: which one (struct ondisk_instance); NULL: by its place. */
int own_map_add(struct own_map *m, const char *structure, const char *field, uint64_t at,
		uint16_t size, enum ondisk_role role, const char *label, struct err *err);
void own_map_finish(struct own_map *m);
void own_map_free(struct own_map *m);

/* Adds the fields of a text: a line "STRUCTURE.FIELD OFFSET SIZE [number|flags|bytes [LABEL]]"
 * each. A label that has a path, "file 3, /dir/c", says that the field belongs to that file. */
int own_map_parse(struct own_map *m, const char *text, struct err *err);
/* Adds the bytes in which two disks differ: the fields of the first one that they lie in, where it
 * is known, or as they are; some of them, where these are many. */
void own_map_add_difference(struct own_map *m, const uint8_t *a, const uint8_t *b,
			    const struct ondisk_map *known);
/* Whether these are just bytes, and it is not known what they belong to. */
bool own_map_is_difference(const struct ondisk_instance *i);

#endif
