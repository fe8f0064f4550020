/* io.h -- inside the model: what operations on the data of files share. */
#ifndef MODEL_IO_H
#define MODEL_IO_H

#include <linux/fs.h>

#include "model/internal.h"

enum {
	TRANSFER_MAX = 0x7ffff000, /* Linux cuts every count to this */
	SECTOR = 512,              /* the finest unit a file system allocates in */
	DIRECT_ALIGN = 4096,       /* aligned to this, O_DIRECT works everywhere */
};

/* RWF_ flags that older system headers do not know. */
enum { RWF_NOAPPEND_ = 0x20, RWF_ATOMIC_ = 0x40, RWF_DONTCACHE_ = 0x80 };

/* The file of a descriptor that data or commands go through: O_PATH does not count as open. */
const struct open_file *need_io(struct step *x, const struct arg *fd);
static inline const struct inode *file_inode(const struct step *x, const struct open_file *f)
{
	return tree_inode(&x->state->tree, f->ino);
}

/* Does the access mode let data out, or in? Mode 3 does neither. */
static inline bool is_readable(const struct open_file *f)
{
	int64_t access = f->flags & O_ACCMODE;

	return !(f->flags & O_PATH) && (access == O_RDONLY || access == O_RDWR);
}

static inline bool is_writable(const struct open_file *f)
{
	int64_t access = f->flags & O_ACCMODE;

	return !(f->flags & O_PATH) && (access == O_WRONLY || access == O_RDWR);
}

/* Pipes, devices and sockets: their contents are not the file system's. */
bool is_special(const struct inode *inode);

/* One transfer, whichever call asks for it. */
struct transfer {
	const struct arg *fd;
	const struct arg *data; /* writing */
	int64_t count, offset;
	int64_t flags;   /* RWF_ */
	bool positioned; /* at offset, not at the descriptor's own */
	bool vectored;   /* preadv2, pwritev2: checked in another order */
	bool whole;      /* repeated until nothing is left */
};

/* O_DIRECT, and not aligned as it may want transfers to be. */
/* By trait, a descriptor with O_DIRECT may not serve at all. */
void may_refuse_direct(struct step *x, const struct open_file *f);
bool is_misaligned(const struct open_file *f, int64_t offset, int64_t count);
/* Pipes have no positions. */
bool refuse_pipe(struct step *x, const struct transfer *t, const struct open_file *f);
/* Count and position, as all transfers check them. Returns whether something was refused. */
bool refuse_range(struct step *x, const struct transfer *t, int64_t offset);
/* RWF_ flags; the same. */
bool refuse_rwf(struct step *x, const struct transfer *t, const struct open_file *f);
void read_data(struct step *x, const struct transfer *t);
void write_data(struct step *x, const struct transfer *t);
/* Puts count bytes of the pattern that data means into a file, as a write does. */
void put_data(struct step *x, uint64_t ino, const struct arg *data, uint64_t offset,
	      uint64_t count);

/* The block that begins at this byte of the seed's sequence (op/data.c), made once: a search writes
 * the same few sequences again and again, and filling, copying and hashing a block costs a hundred
 * times what sharing it does. Valid until the next call; for one thread, as states are. */
struct blob *data_block(uint64_t seed, uint64_t from);

/* The shortest transfer that is allowed where len bytes could be moved. */
int64_t shortest_transfer(struct step *x, int64_t len, bool whole);

/* What fadvise_file does with the descriptor. */
void advise_file(struct step *x, const struct arg *fd);

/* A file grows to this size or a range reaches that far: refuses with EFBIG. */
bool refuse_size(struct step *x, uint64_t end, enum rule rule);
/* Changing data through a descriptor that was opened before the file got its flags. */
void may_refuse_by_flags(struct step *x, const struct inode *inode);

#endif
