/* exfat_names.c -- names of exFAT (sections 7.2.5, 7.6.4 and 7.7.3 of the specification). */
#include "audit/exfat_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "ondisk/ondisk.h"

enum { IDENTITY = 0xffff, FIRST_PRINTABLE = 0x20 };

void exfat_upcase_read(struct exfat_upcase *ret, const uint8_t *p, uint64_t size)
{
	uint32_t at = 0;

	if (!p)
		return;
	ret->table = must_alloc(EXFAT_CHARACTERS * sizeof(*ret->table));
	for (uint32_t i = 0; i < EXFAT_CHARACTERS; i++)
		ret->table[i] = (uint16_t)i;
	for (uint64_t i = 0; i + 2 <= size && at < EXFAT_CHARACTERS; i += 2) {
		uint16_t upper = (uint16_t)ondisk_le(p + i, 2);

		if (upper == IDENTITY && i + 4 <= size) {
			at += (uint32_t)ondisk_le(p + i + 2, 2);
			i += 2;
		} else {
			ret->table[at++] = upper;
		}
	}
}

void exfat_upcase_free(struct exfat_upcase *u)
{
	free(u->table);
	u->table = NULL;
}

bool exfat_name_is_valid(const uint8_t *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint64_t c = ondisk_le(name + 2 * i, 2);

		if (c < FIRST_PRINTABLE || (c < 0x80 && strchr("\"*/:<>?\\|", (int)c)))
			return false;
	}
	return true;
}

void exfat_name_fold(const struct exfat_upcase *u, uint8_t *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint16_t upper = u->table[ondisk_le(name + 2 * i, 2)];

		name[2 * i] = (uint8_t)upper;
		name[2 * i + 1] = (uint8_t)(upper >> 8);
	}
}

uint16_t exfat_name_hash(const uint8_t *name, size_t len)
{
	uint16_t hash = 0;

	for (size_t i = 0; i < 2 * len; i++)
		hash = (uint16_t)((uint16_t)(hash << 15 | hash >> 1) + name[i]);
	return hash;
}
