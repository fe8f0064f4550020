/* ondisk.h -- what lies on a disk, as data: structures, their fields, and where each one is.
 *
 * A format is a table of structures (ext.def and the like) and a walk that finds their instances on
 * a disk which mkfs and a kernel have made: the disk is right, so that the walk may trust it. */
#ifndef ONDISK_ONDISK_H
#define ONDISK_ONDISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum ondisk_role {
	ONDISK_NUMBER,
	ONDISK_POINTER,  /* number of a block */
	ONDISK_INODE,    /* number of an inode */
	ONDISK_FLAGS,    /* each bit has a meaning */
	ONDISK_BYTES,    /* a name, a UUID, a bitmap: no number */
	ONDISK_CHECKSUM, /* of what ondisk_seal() would make right */
};

/* A field is called as in the format's own headers. */
struct ondisk_field {
	const char *name;
	uint16_t offset, size; /* bytes, from the beginning of the structure */
	uint8_t role;          /* enum ondisk_role */
};

struct ondisk_structure {
	const char *name;
	const struct ondisk_field *fields;
	size_t field_count;
	bool big_endian;
};

/* One of a structure. */
struct ondisk_instance {
	const struct ondisk_structure *structure;
	uint64_t at;    /* where it begins on the disk */
	uint32_t size;  /* fields that do not end within are not there */
	char label[56]; /* which one, in words: "inode 12, /dir/file", "group 0", "backup in group 1" */
};

struct ondisk_map {
	const struct ondisk_format *format;
	struct ondisk_instance *instances;
	size_t count, cap;
	uint64_t disk_size;
};

struct ondisk_format {
	const char *name; /* "ext", "minix", "reiserfs", ... */
	const struct ondisk_structure *const *structures;
	size_t structure_count;
	bool (*recognises)(const uint8_t *disk, uint64_t size);
	/* Adds all instances, by ondisk_add(). */
	int (*walk)(struct ondisk_map *m, const uint8_t *disk, struct err *err);
	/* Makes right the checksums that cover the bytes, on a disk that was walked before they were
	 * changed. Not a checksum that lies in them. NULL: the format has none. */
	void (*seal)(const struct ondisk_map *m, uint8_t *disk, uint64_t at, uint64_t len);
};

/* Finds the format and all instances. -ENOTSUP: no format that is described. */
int ondisk_read(struct ondisk_map *ret, const uint8_t *disk, uint64_t size, struct err *err);
void ondisk_free(struct ondisk_map *m);
void ondisk_seal(const struct ondisk_map *m, uint8_t *disk, uint64_t at, uint64_t len);

/* "structure.field", in every format that has it: NULL if there is none. */
const struct ondisk_field *ondisk_find(const struct ondisk_format *format, const char *name,
				       const struct ondisk_structure **ret_structure);

/* For walks. */
struct ondisk_instance *ondisk_add(struct ondisk_map *m, const struct ondisk_structure *structure,
				   uint64_t at, uint32_t size, const char *label, ...)
	__attribute__((format(printf, 5, 6)));

#endif
