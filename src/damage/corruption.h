/* corruption.h -- a few bytes of a disk that are not what they were, and the fields they lie in. */
#ifndef DAMAGE_CORRUPTION_H
#define DAMAGE_CORRUPTION_H

#include "ondisk/ondisk.h"

struct buf;
struct err;

enum { CHANGE_BYTES_MAX = 16, CORRUPTION_CHANGES_MAX = 16 };

struct disk_change {
	uint64_t at;
	uint16_t len;
	uint8_t old[CHANGE_BYTES_MAX], new[CHANGE_BYTES_MAX];
	/* Whose bytes these are; NULL: of nothing that is described. */
	const struct ondisk_instance *instance;
	const struct ondisk_field *field;
};

struct corruption {
	struct disk_change changes[CORRUPTION_CHANGES_MAX];
	size_t count;
};

/* A field of an instance gets a value: the first bytes of it, where it is a long one. False if it
 * has that value already. */
bool corruption_add_field(struct corruption *c, const uint8_t *disk,
			  const struct ondisk_instance *instance, const struct ondisk_field *field,
			  const uint8_t *value);
void corruption_add_bytes(struct corruption *c, const uint8_t *disk, uint64_t at,
			  const uint8_t *value, uint16_t len);
/* How many bytes of a field are changed. */
uint16_t corruption_field_len(const struct ondisk_instance *instance,
			      const struct ondisk_field *field);

/* "inode.i_flags", "inode.i_flags and group_desc.bg_flags"; bytes that belong to nothing are
 * "bytes". */
void corruption_print_fields(const struct corruption *c, struct buf *out);
/* "inode.i_flags 0x80000 -> 0x0"; where there is no one number, "inode.i_block changed". */
void corruption_print_short(const struct corruption *c, struct buf *out);
/* A line for each change: what it is, where, old and new value. */
void corruption_print(const struct corruption *c, struct buf *out);
/* Adds the path of the object that the change lies in, where it is one's; "..." and the end of a
 * path that is too long for a label. */
void corruption_path(const struct disk_change *change, struct buf *out);

/* Changes back, byte by byte, and flags bit by bit, what need not be changed: shows() says whether
 * a simpler corruption still has its effect, 1, 0 or -errno. */
int corruption_shrink(struct corruption *c,
		      int (*shows)(void *to, const struct corruption *c, struct err *err), void *to,
		      struct err *err);

#endif
