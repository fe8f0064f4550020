/* put.h -- numbers and strings as both dialects write them. */
#ifndef BASE_PUT_H
#define BASE_PUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define put_literal(out, text) buf_add(out, text, sizeof(text) - 1)

void put_num(struct buf *out, int64_t num);
void put_octal(struct buf *out, uint64_t num, unsigned digits_min);
void put_hex(struct buf *out, uint64_t num); /* with 0x */
/* In quotes; what is not plain ASCII as \n, \t, \r, \b or \ddd (decimal). */
void put_quoted(struct buf *out, const char *text, size_t len);

#endif
