/* exfat_names.h -- names of exFAT: their characters, upper case, hashes. A name is `len` characters
 * of two bytes each. */
#ifndef AUDIT_EXFAT_NAMES_H
#define AUDIT_EXFAT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXFAT_CHARACTERS = 1 << 16 };

struct exfat_upcase {
	uint16_t *table; /* of every character; NULL: not read */
};

/* Of the disk: a number 0xffff, and how many follow that are the same in upper case. NULL: there
 * is none. */
void exfat_upcase_read(struct exfat_upcase *ret, const uint8_t *p, uint64_t size);
void exfat_upcase_free(struct exfat_upcase *u);

bool exfat_name_is_valid(const uint8_t *name, size_t len);
/* Becomes upper case. */
void exfat_name_fold(const struct exfat_upcase *u, uint8_t *name, size_t len);
/* Of a name in upper case. */
uint16_t exfat_name_hash(const uint8_t *name, size_t len);

#endif
