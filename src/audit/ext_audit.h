/* ext_audit.h -- the rules of ext2, ext3 and ext4: what the parts of their audit share. */
#ifndef AUDIT_EXT_AUDIT_H
#define AUDIT_EXT_AUDIT_H

#include "audit/breach.h"
#include "ondisk/ext.h"

enum {
	EXT_AUDIT_BAD_BLOCKS = 1,
	EXT_AUDIT_ROOT = 2,
	EXT_AUDIT_RESIZE = 7,
	EXT_AUDIT_HUGE_FILE_FL = 0x40000,
	EXT_AUDIT_CASEFOLD_FL = 0x40000000,
	EXT_AUDIT_INCOMPAT_CASEFOLD = 0x20000,
};

/* What is known of an inode once all were read. */
struct ext_audit_inode {
	uint16_t mode, links;
	bool used, is_ea; /* is_ea: holds the value of an attribute, and has no name */
	uint32_t flags;
	uint32_t names;     /* entries that lead to it, with "." and ".." */
	uint32_t parent;    /* of a directory: the one that has its name */
	uint32_t dot_dot;   /* and what its ".." says */
	uint32_t ea_uses;   /* entries of attributes whose value it is */
	uint64_t data_size; /* i_size */
	uint64_t blocks;    /* that are its own */
};

struct ext_audit {
	struct audit *audit;
	struct ext_walk w;
	uint8_t *used;        /* bit for each block */
	uint32_t *xattr_uses; /* of each block: inodes that have it for their attributes */
	struct ext_audit_inode *inodes; /* from 0 */
	bool has_types;                 /* of files, in entries */
};

/* The blocks of one file, as its inode and its own blocks say. */
struct ext_audit_map {
	struct ext_audit *a;
	const struct ext_file *f;
	uint64_t blocks;      /* all that it uses, with those that say where the others are */
	uint64_t next;        /* the logical block behind the last extent */
	int64_t last_written; /* logical; -1: there is none */
	int64_t last;         /* the same with unwritten ones */
	bool unwritten;       /* there is an unwritten one */
};

/* A block is used; false: it is not on the disk, or in use already. */
bool ext_audit_use(struct ext_audit *a, uint64_t block, const char *what, uint32_t inode);
bool ext_audit_bit(const uint8_t *bits, uint64_t number);

/* ext_audit_map.c */
void ext_audit_map(struct ext_audit_map *m);
/* ext_audit_inode.c: an inode that is in use. */
void ext_audit_inode(struct ext_audit *a, uint32_t number);
/* ext_audit_xattr.c: the blocks that count as the inode's own for its attributes. */
uint64_t ext_audit_xattrs(struct ext_audit *a, const struct ext_file *f);
void ext_audit_xattr_uses(struct ext_audit *a);
/* ext_audit_dir.c: entries of all directories; then links of all inodes. */
void ext_audit_tree(struct ext_audit *a);
/* ext_audit_group.c */
void ext_audit_metadata(struct ext_audit *a); /* uses its blocks */
void ext_audit_groups(struct ext_audit *a);
void ext_audit_backups(struct ext_audit *a);
/* ext_audit_resize.c */
void ext_audit_resize(struct ext_audit *a);
/* ext_audit_quota.c */
void ext_audit_quotas(struct ext_audit *a);

/* ext_audit.c */
void ext_audit(struct audit *a, const uint8_t *disk, uint64_t size);

#endif
