/* fat_audit.h -- the rules of FAT12, FAT16 and FAT32. */
#ifndef AUDIT_FAT_AUDIT_H
#define AUDIT_FAT_AUDIT_H

#include <stdint.h>

#include "audit/breach.h"

void fat_audit(struct audit *to, const uint8_t *disk, uint64_t size);

#endif
