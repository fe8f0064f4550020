/* minix_audit.h -- the rules of Minix V1, V2 and V3. */
#ifndef AUDIT_MINIX_AUDIT_H
#define AUDIT_MINIX_AUDIT_H

#include <stdint.h>

#include "audit/breach.h"

void minix_audit(struct audit *to, const uint8_t *disk, uint64_t size);

#endif
