/* ext.h -- ext2, ext3 and ext4: what the parts of the walk and the seal share. */
#ifndef ONDISK_EXT_H
#define ONDISK_EXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ondisk/ondisk.h"

#define ONDISK_TABLE "ondisk/ext.def"
#define ONDISK_NAME(tag) ext_def_##tag
#include "ondisk/structures.h"

enum {
	EXT_SUPER_AT = 1024,
	EXT_SUPER_LEN = 1024,
	EXT_MAGIC = 0xef53,
	EXT_EXTENT_MAGIC = 0xf30a,
	EXT_XATTR_MAGIC = (int)0xea020000,
	EXT_JOURNAL_MAGIC = (int)0xc03b3998,
	EXT_INODE_OLD_LEN = 128,
	EXT_BLOCK_POINTERS_LEN = 60, /* i_block */
	EXT_EXTENT_LEN = 12,         /* header, index and leaf entries alike */
};

enum ext_feature {
	EXT_COMPAT_HAS_JOURNAL = 0x4,
	EXT_COMPAT_DIR_INDEX = 0x20,
	EXT_COMPAT_SPARSE_SUPER2 = 0x200,
	EXT_COMPAT_ORPHAN_FILE = 0x1000,
	EXT_RO_COMPAT_SPARSE_SUPER = 0x1,
	EXT_RO_COMPAT_GDT_CSUM = 0x10,
	EXT_RO_COMPAT_METADATA_CSUM = 0x400,
	EXT_INCOMPAT_META_BG = 0x10,
	EXT_INCOMPAT_64BIT = 0x80,
	EXT_INCOMPAT_MMP = 0x100,
	EXT_INCOMPAT_CSUM_SEED = 0x2000,
	EXT_INCOMPAT_JOURNAL_DEV = 0x8,
	EXT_JOURNAL_INCOMPAT_64BIT = 0x2,
	EXT_JOURNAL_INCOMPAT_CSUM_V2 = 0x8,
	EXT_JOURNAL_INCOMPAT_CSUM_V3 = 0x10,
	EXT_JOURNAL_INCOMPAT_FAST_COMMIT = 0x20,
};

enum ext_inode_flag {
	EXT_INDEX_FL = 0x1000,
	EXT_EXTENTS_FL = 0x80000,
	EXT_EA_INODE_FL = 0x200000,
	EXT_INLINE_DATA_FL = 0x10000000,
};

enum ext_group_flag {
	EXT_BG_INODE_UNINIT = 0x1, /* the bitmap is not on the disk */
	EXT_BG_BLOCK_UNINIT = 0x2,
};

/* What a checksum is of: ondisk_cover.kind. */
enum ext_checksum {
	EXT_SUM_SUPER = ONDISK_ALL + 1,
	EXT_SUM_GROUP,        /* of: descriptor, number: group */
	EXT_SUM_BLOCK_BITMAP, /* of: descriptor, number: its length */
	EXT_SUM_INODE_BITMAP,
	EXT_SUM_INODE,       /* of: inode, number: inode */
	EXT_SUM_EXTENTS,     /* of: block, with: inode, number: inode */
	EXT_SUM_DIR,         /* the same */
	EXT_SUM_DX,          /* the same */
	EXT_SUM_ORPHANS,     /* the same */
	EXT_SUM_XATTRS,      /* of: block */
	EXT_SUM_XATTR_ENTRY, /* of: entry, with: what values count from, number: their end */
	EXT_SUM_MMP,
	EXT_SUM_JOURNAL_SUPER,
	EXT_SUM_JOURNAL_BLOCK,  /* of: descriptor or revoke block, with: journal superblock */
	EXT_SUM_JOURNAL_COMMIT, /* of: commit block, with: journal superblock */
	EXT_SUM_JOURNAL_TAG,    /* of: block, with: its tag, number: where the superblock is */
};

/* Blocks of a file that lie one behind the other. */
struct ext_run {
	uint64_t physical;
	uint32_t logical, len;
};

struct ext_walk {
	struct ondisk_map *m;
	const uint8_t *disk, *super;
	struct err *err;
	bool quiet; /* adds nothing: only the names are wanted */
	uint32_t block_size, first_data_block, blocks_per_group, inodes_per_group;
	uint32_t inode_size, desc_size, group_count, inode_count;
	uint64_t block_count;
	uint32_t compat, incompat, ro_compat;
	uint64_t *descs; /* where the descriptor of each group is */
	char **paths;    /* of each inode, from 0; NULL: none is known */
	uint32_t *queue; /* inodes that have been given a path by their directory */
	size_t queue_len;
	uint8_t *seen; /* bit for each block: one of metadata must not be met twice */
};

struct ext_file {
	uint32_t number;
	uint64_t at; /* the inode on the disk */
	const uint8_t *inode;
	uint32_t flags;
	uint16_t mode;
	uint64_t size;
	struct ext_run *runs;
	size_t run_count, run_cap;
	char label[72];
};

extern const struct ondisk_format ondisk_ext;

/* Reads the superblock. Close it also after a failure. */
int ext_walk_open(struct ext_walk *w, struct ondisk_map *m, const uint8_t *disk, struct err *err);
void ext_walk_close(struct ext_walk *w);

/* Bytes of the disk; NULL, with the reason, if they are not on it. */
const uint8_t *ext_bytes(struct ext_walk *w, uint64_t at, uint64_t len);
const uint8_t *ext_block(struct ext_walk *w, uint64_t block);
/* The same of a block of metadata, which is met for the first time. */
const uint8_t *ext_new_block(struct ext_walk *w, uint64_t block);
int ext_damaged(struct ext_walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ext_add(w, tag, at, size, ...) \
	((w)->quiet ? (void)0 : (void)ondisk_add((w)->m, &ext_def_##tag, at, size, __VA_ARGS__))
void ext_cover(struct ext_walk *w, struct ondisk_cover cover);
/* A block whose checksum begins with number and generation of the inode. */
void ext_cover_of_inode(struct ext_walk *w, const struct ext_file *f, uint32_t kind, uint64_t at);

/* Groups: the first block; whether it has a superblock, or a backup, and where; with meta_bg, its
 * block of descriptors, 0 if it has none; groups whose descriptors lie in one table. */
uint64_t ext_group_first(const struct ext_walk *w, uint32_t group);
bool ext_group_has_super(const struct ext_walk *w, uint32_t group);
uint64_t ext_group_super_block(const struct ext_walk *w, uint32_t group);
uint64_t ext_group_meta_block(const struct ext_walk *w, uint32_t group);
uint32_t ext_plain_groups(const struct ext_walk *w);
/* The copy of the superblock and of descriptors that is in this group. */
int ext_walk_copies(struct ext_walk *w, uint32_t group);
/* A block number of a descriptor, of which the halves lie there. */
uint64_t ext_desc_block(const struct ext_walk *w, const uint8_t *desc, unsigned low, unsigned high);

/* An entry of a directory, other than "." and "..", names this inode. */
void ext_name_entry(struct ext_walk *w, const struct ext_file *dir, uint32_t number,
		    const uint8_t *name, size_t len);

/* ext_inode.c: an inode and, of its blocks, those that say where the others are. */
int ext_file_open(struct ext_walk *w, struct ext_file *ret, uint32_t number);
int ext_file_blocks(struct ext_walk *w, struct ext_file *f); /* fills runs */
void ext_file_close(struct ext_file *f);
uint64_t ext_file_block(const struct ext_file *f, uint32_t logical); /* 0: a hole */
bool ext_file_has_blocks(const struct ext_file *f);
int ext_inode_walk(struct ext_walk *w, uint32_t number);

/* ext_xattr.c */
int ext_xattrs_walk(struct ext_walk *w, const struct ext_file *f);
/* Where the rest of inline data is, behind i_block, and how long: 0, there is none. */
uint32_t ext_inline_rest(struct ext_walk *w, const struct ext_file *f, uint64_t *ret_at);

/* ext_dir.c: a directory with its runs. Entries get their names in w->paths. */
int ext_dir_walk(struct ext_walk *w, const struct ext_file *f);

/* ext_journal.c */
int ext_journal_walk(struct ext_walk *w, const struct ext_file *f);

/* ext_special.c: the contents of other files of the file system's own. */
int ext_quota_walk(struct ext_walk *w, const struct ext_file *f);
int ext_orphans_walk(struct ext_walk *w, const struct ext_file *f);

/* ext_checksum.c */
void ext_seal(struct ondisk_sealing *s, const struct ondisk_cover *cover);

#endif
