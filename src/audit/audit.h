/* audit.h -- whether a disk keeps the rules of its format, read by ourselves and not by a checker.
 *
 * Of a disk that a checker calls clean nothing is trusted: an audit reads nothing beyond the disk,
 * and ends on any. */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include <stdint.h>

#include "audit/breach.h"

/* A disk of a format without rules here, or with features whose rules are not known, breaks none.
 */
void audit_disk(struct audit *ret, const uint8_t *disk, uint64_t size);

#endif
