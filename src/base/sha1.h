/* sha1.h -- SHA-1 of bytes that come in pieces; the published traces name contents by it. */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

struct sha1 {
	uint32_t state[5];
	uint64_t len; /* bytes so far */
	unsigned char block[64];
};

#define SHA1_INIT \
	{ \
		{ 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 }, 0, \
		{ \
			0 \
		} \
	}

void sha1_add(struct sha1 *s, const void *data, size_t len);
/* Ends the sum: 40 hexadecimal digits and a NUL. */
void sha1_print(struct sha1 *s, char text[41]);

#endif
