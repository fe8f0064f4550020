/* ace_values.h -- the argument values of a workload: the published ones, or wide inputs. */
#ifndef CRASH_ACE_VALUES_H
#define CRASH_ACE_VALUES_H

#include "base/rng.h"
#include "crash/ace_table.h"
#include "op/op.h"

struct ace_values {
	bool wide;
	uint64_t length_max; /* of one transfer */
	struct rng rng;
	uint64_t data_seed; /* of the last data: each has its own */
};

struct ace_extent {
	uint64_t offset, length;
};

/* The published values. */
void values_init(struct ace_values *v);
/* Wide inputs; disk_bytes 0: the disk sets no bound. */
void values_init_wide(struct ace_values *v, uint64_t seed, uint64_t disk_bytes);
/* Bytes that a file is given where an operation needs some. */
uint64_t values_filling(const struct ace_values *v);
/* Where the operation acts on a file of that size. */
struct ace_extent values_extent(struct ace_values *v, const struct ace_use *use, uint64_t size);
struct arg values_data(struct ace_values *v, uint64_t length);
struct arg values_xattr(struct ace_values *v);
/* Open flags besides the access mode and O_CREAT. */
int64_t values_flags(struct ace_values *v);
int64_t values_mode(struct ace_values *v, int64_t usual);
/* Is a file to be persisted by fdatasync, rather than by fsync? */
bool values_fdatasync(struct ace_values *v);

#endif
