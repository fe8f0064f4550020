/* exfat_audit.h -- the rules of exFAT. */
#ifndef AUDIT_EXFAT_AUDIT_H
#define AUDIT_EXFAT_AUDIT_H

#include <stdint.h>

#include "audit/breach.h"

void exfat_audit(struct audit *to, const uint8_t *disk, uint64_t size);

#endif
