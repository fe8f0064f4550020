/* pack.h -- a tree as bytes, to cross a process boundary or to be kept in a file.
 *
 * Everything a tree holds but its hashes, which unpacking computes again: inode numbers, times,
 * holes and hard links included. Objects without a name are left out. The bytes may come from
 * anywhere: unpacking refuses what is not a tree and never reads beyond the end. */
#ifndef TREE_PACK_H
#define TREE_PACK_H

#include "tree/tree.h"

struct buf;
struct err;

void tree_pack(const struct tree *t, struct buf *out);
/* Takes the bytes at *data and moves *data behind them; end is where they stop at the latest. */
int tree_unpack(struct tree *ret, const char **data, const char *end, unsigned fields, bool hashed,
		struct err *err);

#endif
