/* data_blocks.h -- whole blocks of generated data, made once. */
#ifndef MODEL_DATA_BLOCKS_H
#define MODEL_DATA_BLOCKS_H

#include "tree/tree.h"

/* The block that begins at this byte of the seed's sequence (op/data.c). A search writes the same
 * few sequences again and again: filling, copying and hashing a block costs a hundred times what
 * sharing it does. Valid until the next call; for one thread, as states are. */
struct blob *data_block(uint64_t seed, uint64_t from);

#endif
