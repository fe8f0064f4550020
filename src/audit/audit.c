/* audit.c -- the formats that have rules. */
#include "audit/audit.h"

#include <inttypes.h>

#include "audit/exfat_audit.h"
#include "audit/ext_audit.h"
#include "audit/fat_audit.h"
#include "audit/minix_audit.h"
#include "base/err.h"
#include "base/must.h"
#include "ondisk/ondisk.h"

/* The checksums of everything that can be reached. */
static void audit_checksums(struct audit *a, const uint8_t *disk, uint64_t size)
{
	struct err ignored = { 0 };
	struct ondisk_map map;
	uint64_t at;

	if (ondisk_read(&map, disk, size, &ignored))
		return;
	at = ondisk_wrong_checksum(&map, disk);
	if (at != UINT64_MAX)
		audit_breach(a, "a checksum is wrong", "at byte %" PRIu64, at);
	ondisk_free(&map);
}

static void (*const audits[])(struct audit *a, const uint8_t *disk, uint64_t size) = {
	ext_audit, fat_audit, minix_audit, exfat_audit, audit_checksums,
};

void audit_disk(struct audit *ret, const uint8_t *disk, uint64_t size)
{
	*ret = (struct audit){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(audits); i++)
		audits[i](ret, disk, size);
}
