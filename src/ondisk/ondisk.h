/* ondisk.h -- what lies on a disk, as data: structures, their fields, and where each one is.
 *
 * A format is a table of structures (ext.def and the like) and a walk that finds their instances on
 * a disk which mkfs and a kernel have made: the disk is right, so that the walk may trust it. It
 * never reads beyond it, though. The walk also notes which bytes a checksum depends on, so that the
 * checksums can be made right after a change, and a checker looks further than at them. */
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

enum { ONDISK_REST = 0 }; /* size of a field: up to the end of the instance */

/* A field is called as in the format's own headers. */
struct ondisk_field {
	const char *name;
	uint16_t offset, size; /* bytes, from the beginning of the structure */
	uint8_t role;          /* enum ondisk_role */
};

/* Two structures may have one name, where they are parts of one thing: of an inode, what every
 * inode has, and the block pointers. No field of them has the same name. */
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
	char label[96]; /* which one, in words: "inode 12, /dir/file", "group 0", "backup in group
			   1" */
};

/* Bytes that a checksum depends on. One checksum can have several such rows. */
struct ondisk_cover {
	uint64_t at;
	uint32_t len;
	uint32_t kind; /* of the format; ONDISK_ALL: every checksum of the disk depends on them */
	/* Of the format: where that is which is summed up, where what else takes part, and a number
	 * that does, of a group, an inode or a block. */
	uint64_t of, with, number;
};

enum { ONDISK_ALL = 0 };

struct ondisk_map {
	const struct ondisk_format *format;
	struct ondisk_instance *instances;
	size_t count, cap;
	struct ondisk_cover *covers; /* by `at`, once the walk is done */
	size_t cover_count, cover_cap;
	uint32_t cover_len_max;
	uint64_t disk_size;
	uint32_t block_size; /* as the walk found it */
	bool beyond;         /* the walk met something that is not on the disk */
};

/* The bytes that are being sealed: a checksum does not replace them. */
struct ondisk_sealing {
	const struct ondisk_map *map;
	uint8_t *disk;
	uint64_t at, len;
	unsigned depth;
	bool compares;     /* writes nothing: */
	uint64_t wrong_at; /* where the first checksum is that would be changed; UINT64_MAX: none */
};

struct ondisk_format {
	const char *name; /* "ext", "minix", "reiserfs", ... */
	const struct ondisk_structure *const *structures;
	size_t structure_count;
	bool (*recognises)(const uint8_t *disk, uint64_t size);
	/* Adds all instances by ondisk_add(), and what checksums depend on by ondisk_cover(). */
	int (*walk)(struct ondisk_map *m, const uint8_t *disk, struct err *err);
	/* Computes the checksum of a row, and writes it by ondisk_seal_put(). Reads nothing beyond
	 * the disk, whatever is on it now. NULL: the format has no checksums. */
	void (*seal)(struct ondisk_sealing *s, const struct ondisk_cover *cover);
};

/* Finds the format and all instances. -ENOTSUP: no format that is described; -EUCLEAN: the disk is
 * not as mkfs and a kernel would have made it. */
int ondisk_read(struct ondisk_map *ret, const uint8_t *disk, uint64_t size, struct err *err);
void ondisk_free(struct ondisk_map *m);
/* Makes right the checksums that depend on the bytes, and those that depend on these checksums, on
 * a disk that was read before they were changed. The bytes themselves stay as they are, also where
 * they are a checksum. */
void ondisk_seal(const struct ondisk_map *m, uint8_t *disk, uint64_t at, uint64_t len);

/* Where the first checksum is that is wrong, of those that the walk has found; UINT64_MAX: all are
 * right. */
uint64_t ondisk_wrong_checksum(const struct ondisk_map *m, const uint8_t *disk);

/* The bytes of a field in an instance; 0: the instance does not have it. */
uint32_t ondisk_field_size(const struct ondisk_instance *i, const struct ondisk_field *field);
/* "structure.field": NULL if there is none. */
const struct ondisk_field *ondisk_find(const struct ondisk_format *format, const char *name,
				       const struct ondisk_structure **ret_structure);
/* A described format by its name; NULL if there is none. */
const struct ondisk_format *ondisk_format(const char *name);

/* For walks. */

/* NULL if it is not on the disk: ondisk_read() will fail. */
struct ondisk_instance *ondisk_add(struct ondisk_map *m, const struct ondisk_structure *structure,
				   uint64_t at, uint32_t size, const char *label, ...)
	__attribute__((format(printf, 5, 6)));
void ondisk_cover(struct ondisk_map *m, struct ondisk_cover cover);

/* For seals: writes what is not being sealed, and seals in turn what depends on it. */
void ondisk_seal_put(struct ondisk_sealing *s, uint64_t at, const void *bytes, size_t len);
void ondisk_seal_le(struct ondisk_sealing *s, uint64_t at, uint64_t number, size_t len);
void ondisk_seal_be(struct ondisk_sealing *s, uint64_t at, uint64_t number, size_t len);

/* Numbers of 1 to 8 bytes. */
static inline uint64_t ondisk_le(const uint8_t *p, unsigned len)
{
	uint64_t number = 0;

	while (len--)
		number = number << 8 | p[len];
	return number;
}

static inline uint64_t ondisk_be(const uint8_t *p, unsigned len)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < len; i++)
		number = number << 8 | p[i];
	return number;
}

#endif
