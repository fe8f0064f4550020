/* sealed.h -- a file of numbers with a checksum behind them.
 *
 * Numbers are little-endian and stand one behind the other; what they mean is agreed between who
 * writes and who reads. The last 16 bytes are the XXH3 hash of all before. Memory does not follow
 * the size of the file. */
#ifndef RUN_SEALED_H
#define RUN_SEALED_H

#include "base/hash.h"

struct err;

enum { SEALED_BUFFER = 64 << 10 };

/* Written beside its place, and put there when it is whole and on the disk: until then, and where
 * that fails, the former file stays. */
struct sealed_writer {
	char *path, *beside;
	int fd;
	int error; /* errno of the first failure; the rest is then not written */
	struct hash_stream *hash;
	size_t len;
	unsigned char buffer[SEALED_BUFFER];
};

int sealed_create(struct sealed_writer *w, const char *path, struct err *err);
void sealed_put_u32(struct sealed_writer *w, uint32_t n);
void sealed_put_u64(struct sealed_writer *w, uint64_t n);
void sealed_put_hash(struct sealed_writer *w, struct hash h);
int sealed_finish(struct sealed_writer *w, struct err *err);

/* Reading beyond the end gives 0 and says so in `ended`. */
struct sealed_reader {
	int fd;        /* the caller's */
	uint64_t left; /* bytes in front of the checksum that are not in the buffer yet */
	bool ended;
	size_t at, len;
	unsigned char buffer[SEALED_BUFFER];
};

/* From the beginning of a file. -EBADMSG if the checksum is wrong. */
int sealed_read(struct sealed_reader *r, int fd);
uint32_t sealed_get_u32(struct sealed_reader *r);
uint64_t sealed_get_u64(struct sealed_reader *r);
struct hash sealed_get_hash(struct sealed_reader *r);
void sealed_skip(struct sealed_reader *r, uint64_t bytes);
/* Bytes that are left to read. */
uint64_t sealed_left(const struct sealed_reader *r);

#endif
