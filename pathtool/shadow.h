/* shadow.h -- the expression of every byte of memory, of registers and of the disk. */
#ifndef PATHTOOL_SHADOW_H
#define PATHTOOL_SHADOW_H

#include "pathtool/tool.h"

enum {
	SHADOW_PAGE = 4096,
	SHADOW_HEADS = 1024,
	SHADOW_REGISTERS = 2048, /* bytes of guest state that are looked at */
	SHADOW_FILTER = 0x10000,
	SHADOW_GRANULE_LOG2 = 4,
	SHADOW_ACCESS_MAX = 32, /* bytes of one load or store */
};

struct shadow_page {
	Addr base;
	struct shadow_page *next;
	uint32_t exprs[SHADOW_PAGE];
};

struct shadow_space {
	struct shadow_page *heads[SHADOW_HEADS];
};

extern struct shadow_space shadow_memory, shadow_disk;
/* Nonzero if a byte of the 8 at this offset, or an access near this address, may be symbolic:
 * generated code looks here before it calls anything. */
extern UChar shadow_register_flags[SHADOW_REGISTERS / 8 + 8];
extern UChar shadow_filter[SHADOW_FILTER + 8];

uint32_t shadow_get(const struct shadow_space *space, Addr at);
void shadow_set(struct shadow_space *space, Addr at, uint32_t e);
void shadow_clear(struct shadow_space *space, Addr at, SizeT len);
/* Copies what is symbolic in the range. */
void shadow_copy(struct shadow_space *to, Addr to_at, const struct shadow_space *from, Addr from_at,
		 SizeT len);
void shadow_clear_all(void);

uint32_t shadow_register(UInt offset); /* of one byte */
void shadow_set_register(UInt offset, UInt len, uint32_t e);
/* The expression of bytes, with the concrete values of those that have none; 0: none has. */
uint32_t shadow_join(const uint32_t *exprs, const UChar *concrete, UInt len);
uint32_t shadow_load(Addr at, UInt len);
void shadow_store(Addr at, UInt len, uint32_t e);
/* Of a register at this offset with these concrete bytes. */
uint32_t shadow_get_register(UInt offset, UInt len, const UChar *concrete);

#endif
