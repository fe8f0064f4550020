/* tree.h -- an abstract file system: names, types, modes, owners, links, data, attributes.
 *
 * The tree is persistent: tree_copy() is a reference count, and changing one copy never shows
 * in another. It serves as the state of the model, as RefFS's contents, and as what was
 * observed of a real file system; all three compare by hash and diff.
 *
 * The hash is kept incrementally and does not depend on how a tree came about: it is the sum
 * over all reachable inodes of H(attributes, contents, places), where places is the sum over
 * the inode's names of H(path of the directory, name). Inode numbers do not enter. Renaming a
 * directory recomputes the places below it; everything else is O(1).
 *
 * Changes go through tree_edit() or the functions below, and tree_settle() brings the hash up
 * to date at the end of a call. */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "tree/pmap.h"

struct buf;

enum {
	TREE_ROOT = 1,     /* number of the root inode */
	TREE_BLOCK = 4096, /* unit of allocation of the model */
};

/* What takes part in hash, print and diff. Model and observation use the same set. */
enum tree_field {
	TREE_MODE = 1 << 0,
	TREE_OWNER = 1 << 1,
	TREE_NLINK = 1 << 2,     /* of anything but directories */
	TREE_NLINK_DIR = 1 << 3, /* of directories */
	TREE_DATA = 1 << 4,
	TREE_XATTR = 1 << 5,
	TREE_RDEV = 1 << 6,
	TREE_FLAGS = 1 << 7, /* immutable, append-only */
	TREE_TIMES = 1 << 8, /* access and modification, of symbolic links the latter only */
	TREE_SYMLINK_MODE = 1 << 9,
	/* Only for scans: what is wrong with them becomes a remark (remark.h). */
	TREE_ENTRY_INO = 1 << 10,  /* inode numbers in directory entries */
	TREE_ENTRY_TYPE = 1 << 11, /* types in directory entries */
	TREE_NAMES = 1 << 12,      /* attributes by every name of an object */
	TREE_FIELDS_DEFAULT = TREE_MODE | TREE_OWNER | TREE_NLINK | TREE_NLINK_DIR | TREE_DATA |
			      TREE_XATTR | TREE_RDEV,
	TREE_ENTRIES = TREE_ENTRY_INO | TREE_ENTRY_TYPE | TREE_NAMES,
};

/* Immutable bytes, shared by reference: blocks, link targets. Of a block whose bytes are a part of
 * a sequence that can be made again at any time, only which part is kept: states are compared by
 * hashes, and hardly ever are its bytes asked for. */
struct blob {
	struct ref ref;
	uint32_t len : 31;
	uint32_t is_made : 1; /* bytes are a struct blob_part: blob_read() */
	struct hash hash;     /* of the contents; {0,0} if there are none */
	char bytes[];         /* NUL behind len */
};

struct blob_part {
	void (*fill)(uint64_t seed, uint64_t from, void *to, size_t len);
	uint64_t seed, from;
};

struct blob *blob_new(const void *data, size_t len); /* count 1 */
void blob_drop(struct blob *blob);                   /* one count; NULL is none */

struct entry {
	struct ref ref;
	uint64_t ino;
	uint32_t len;
	char name[]; /* NUL-terminated */
};

struct xattr {
	struct ref ref;
	uint32_t value_len, name_len;
	char bytes[]; /* name, NUL, value, NUL */
};

struct inode_times {
	int64_t access, modify, change, birth; /* nanoseconds, or ticks of a logical clock */
};

struct inode {
	struct ref ref;
	uint32_t mode; /* type and permission bits; 0 type: an object that could not be read */
	uint64_t ino;
	uint32_t uid, gid;
	uint32_t nlink;     /* 0: removed, kept only for those who hold it */
	uint32_t holds;     /* descriptors, working directories and the like that keep it alive */
	uint32_t flags;     /* FS_IMMUTABLE_FL, FS_APPEND_FL */
	uint32_t rdev;      /* as the kernel has it: 12 bits of major, 20 of minor number */
	uint64_t next_edit; /* list of inodes changed since the tree settled; 0: not in it */
	uint64_t size;      /* bytes of a file or a link's target; otherwise 0 */
	struct inode_times times;
	struct pmap xattrs;     /* struct xattr */
	struct hash xattr_hash; /* sum over its attributes */
	struct hash places;     /* sum over its names; a directory's path */
	struct hash term;       /* its part of the tree's hash when that was last settled */
	union {
		struct {
			struct pmap entries; /* struct entry by hash of the name */
			uint64_t parent;     /* inode; the root's is itself */
			uint32_t orphans;    /* removed directories that were here and are alive */
		} dir;
		struct {
			struct pmap blocks; /* struct blob by index; without zeros at its end */
			struct hash data;   /* sum over blocks that are not all zero */
		} file;
		struct blob *target; /* symbolic link; NULL until set */
		struct {
			int code; /* errno of an object that could not be read */
			char call[12];
		} error;
	};
};

struct tree {
	struct pmap inodes;
	uint64_t next_ino;
	unsigned fields; /* enum tree_field */
	bool hashed;     /* false: no hashes are kept (a large RefFS) */
	uint64_t edited; /* head of the list of changed inodes, 0: settled */
	struct hash hash;
	uint64_t blocks; /* allocated, over all files (also held, removed ones) */
};

/* A tree with an empty root directory. */
void tree_init(struct tree *t, unsigned fields, bool hashed, uint32_t mode, uint32_t uid,
	       uint32_t gid);
struct tree tree_copy(const struct tree *t);
void tree_free(struct tree *t);
/* Brings the hash up to date; writable inodes given out before are no longer writable. */
void tree_settle(struct tree *t);
static inline struct hash tree_hash(const struct tree *t)
{
	return t->hash;
}

/* NULL if gone. */
static inline const struct inode *tree_inode(const struct tree *t, uint64_t ino)
{
	return (const struct inode *)pmap_get(&t->inodes, ino);
}
/* The inode, which must exist, to be written to until the tree is copied or settled. */
struct inode *tree_edit(struct tree *t, uint64_t ino);

/* Names. The caller has checked that the change makes sense; these keep link counts, parents,
 * places and hashes right. Names given must not be those of the tree's own entries. */
const struct entry *tree_find(const struct tree *t, uint64_t dir, const char *name, size_t len);
/* The entry after *cookie in the directory's stable order (0 at first); NULL at the end. Cookies
 * are below 2^61. */
const struct entry *tree_next_entry(const struct tree *t, uint64_t dir, uint64_t *cookie);
/* A new inode without a name: nlink 0, holds 0; the caller links or holds it. */
uint64_t tree_new(struct tree *t, uint32_t mode, uint32_t uid, uint32_t gid, int64_t now);
void tree_link(struct tree *t, uint64_t dir, const char *name, size_t len, uint64_t ino);
void tree_unlink(struct tree *t, uint64_t dir, const char *name, size_t len);
/* Moves an entry over whatever is there (which is unlinked). */
void tree_rename(struct tree *t, uint64_t from_dir, const char *from, size_t from_len,
		 uint64_t to_dir, const char *to, size_t to_len);
void tree_exchange(struct tree *t, uint64_t a_dir, const char *a, size_t a_len, uint64_t b_dir,
		   const char *b, size_t b_len);
/* Keeps a removed inode alive; the last drop of one without names frees it. A removed directory
 * keeps its parent alive. */
void tree_hold(struct tree *t, uint64_t ino);
void tree_unhold(struct tree *t, uint64_t ino);
void tree_set_target(struct tree *t, uint64_t ino, const char *target, size_t len);
/* Turns an observed tree into one that further calls can change: no object has fewer links than
 * names, and objects that could not be read are left out, except for EACCES and EPERM. */
void tree_adopt(struct tree *t);
/* True if dir is inode `below` or an ancestor of it. */
bool tree_is_ancestor(const struct tree *t, uint64_t dir, uint64_t below);

/* Data. Holes are blocks that are absent; a block of zeros hashes like a hole. Costs follow the
 * bytes given and the blocks there are, never the size; only tree_allocate() and tree_zero() with
 * `allocated` make a block for each one in the range. Beyond the size all bytes are zero. */
void tree_write(struct tree *t, uint64_t ino, uint64_t offset, const void *data, size_t len);
/* The same for a whole block that may be shared, and for bytes that it can be made of once. */
void tree_write_block(struct tree *t, uint64_t ino, uint64_t index, struct blob *block);
struct blob *tree_block(struct blob_part part); /* count 1 */
/* The bytes of a block; those that are made are made there. */
const char *blob_read(const struct blob *block, char there[TREE_BLOCK]);
/* Bytes read: fewer than len at the end of the file. */
size_t tree_read(const struct tree *t, uint64_t ino, uint64_t offset, void *to, size_t len);
void tree_truncate(struct tree *t, uint64_t ino, uint64_t size);
void tree_allocate(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len); /* size stays */
void tree_zero(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len, bool allocated);
void tree_collapse(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len);
void tree_insert(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len);
void tree_clone(struct tree *t, uint64_t from, uint64_t from_offset, uint64_t to,
		uint64_t to_offset, uint64_t len); /* within size; block by block where aligned */
/* The first position >= offset with (data=true) or without an allocated block, at most size. */
uint64_t tree_seek(const struct tree *t, uint64_t ino, uint64_t offset, bool data);
/* Whether bytes [from, to) are all zero (or absent). */
bool tree_is_zero(const struct tree *t, uint64_t ino, uint64_t from, uint64_t to);
uint64_t tree_blocks(const struct inode *inode); /* allocated blocks of one file */

/* Extended attributes. */
const struct xattr *tree_xattr(const struct inode *inode, const char *name);
void tree_set_xattr(struct tree *t, uint64_t ino, const char *name, const void *value, size_t len);
bool tree_remove_xattr(struct tree *t, uint64_t ino, const char *name);
/* The attribute after *cookie; NULL at the end. */
const struct xattr *tree_next_xattr(const struct inode *inode, uint64_t *cookie);

/* One line per object, sorted by path, fields in a fixed order; the canonical print. */
void tree_print(const struct tree *t, struct buf *out);
/* What differs, in sentences a person can read ("/a/f: size 5, expected 3"), at most
 * limit lines; returns how many objects differ. */
size_t tree_diff(const struct tree *expected, const struct tree *seen, size_t limit,
		 struct buf *out);
/* The dump of the published traces: "path"|D|ino ... in the published order. */
void tree_dump(const struct tree *t, const char *path, bool with_ino, struct buf *out);

/* Bytes this tree holds that no other copy shares. */
size_t tree_bytes(const struct tree *t);

#endif
