/* ext_audit_htree.h -- the rules of the index of a directory, and which names each block may have.
 */
#ifndef AUDIT_EXT_AUDIT_HTREE_H
#define AUDIT_EXT_AUDIT_HTREE_H

#include "audit/ext_audit.h"

/* Hashes of names that are looked for in a block: from one on, up to another one without it. */
struct ext_hash_range {
	uint64_t from, to;
};

struct ext_audit_htree {
	struct ext_audit *a;
	const struct ext_file *dir;
	uint32_t blocks;
	unsigned version;
	const uint8_t *seed;
	struct ext_hash_range *ranges; /* of each block */
	bool *met;                     /* blocks that the index leads to */
};

/* A directory without an index, or with one that is damaged, may have any name in any block. */
void ext_audit_htree_open(struct ext_audit_htree *ret, struct ext_audit *a,
			  const struct ext_file *dir, uint32_t blocks);
void ext_audit_htree_close(struct ext_audit_htree *h);
/* A name in this block of the directory. */
void ext_audit_htree_name(const struct ext_audit_htree *h, uint32_t block, const uint8_t *name,
			  size_t len);

#endif
