/* scanner.h -- a walk under way. */
#ifndef TREE_SCANNER_H
#define TREE_SCANNER_H

#include <sys/stat.h>

#include "base/buf.h"
#include "tree/scan.h"

enum {
	SCANNER_DATA =
		256 * 1024, /* read at once; files from here on are looked through for holes */
	SCANNER_DENTS = 32 * 1024,
	SCANNER_XATTRS = 64 * 1024, /* the kernel's limit of a list and of a value */
	SCANNER_OPEN_MAX = 64,      /* directories at a time, besides the root */
};

enum { DOT = 1 << 0, DOT_DOT = 1 << 1 };

enum { STATX_WANTED = STATX_BASIC_STATS | STATX_BTIME };

/* Inode numbers for entries without one, from here on: errors, repetitions. */
static const uint64_t scan_first_fresh = (uint64_t)1 << 62;

/* A directory on the way down. Those near the end are open; for the others their ".." is. */
struct scan_level {
	uint64_t dir;      /* in the tree */
	uint64_t dev, ino; /* on the file system */
	int fd;            /* -1: closed */
	size_t start, at;  /* its entries in `dents`, and the next one */
	size_t end;
	unsigned dots; /* DOT and DOT_DOT, as far as they were listed */
};

struct scanner {
	struct scan_options options;
	int open_flags;
	struct buf dents; /* entries of the directories on the way down */
	char *data;       /* SCANNER_DATA bytes */
	bool no_xattrat;  /* the kernel does not support listxattrat and getxattrat */

	/* The walk. */
	struct tree *tree;
	const struct tree *known; /* an earlier one, with which contents are shared; or NULL */
	bool keeps_contents;      /* of files and links, which are as they are known then */
	struct err *err;
	int error; /* why it must stop, or 0 */
	bool cut;  /* it ends at its limits (scan_options.bounded) */
	struct scan_level *levels;
	size_t depth, level_cap;
	uint64_t root_dev, root_ino;
	uint64_t objects, file_bytes, next_fresh;
	bool no_xattrs;         /* not supported here, on files and directories */
	bool no_special_xattrs; /* on anything else */
};

/* What identifies an object in the tree. Numbers of another device, and those that mean
 * the root, are moved out of the way. */
uint64_t statx_identity(const struct scanner *w, const struct statx *st);

/* The next entries of an open directory, behind what is in w->dents; as getdents64(2). */
ssize_t read_some_entries(struct scanner *w, int fd);
/* DOT for ".", DOT_DOT for "..", 0 for any other name. */
unsigned dots_of(const char *name);
/* Whether d_type may be that of an object with this mode. */
bool is_entry_type(unsigned char type, uint32_t mode);

/* Turns an inode that was being read into one that could not be. */
void object_fail(struct scanner *w, struct inode *inode, const char *call, int code);

/* An object of which nothing is known but what went wrong. */
void add_error(struct scanner *w, uint64_t dir, const char *name, const char *call, int code);

/* Opens without touching the access time, which is for owners; others go without. */
int open_object(struct scanner *w, int dir_fd, const char *name, int flags);
void set_attributes(struct inode *inode, const struct statx *st);

/* An object that is not a directory, met for the first time. */
void scan_other(struct scanner *w, int dir_fd, const char *name, struct inode *inode,
		const struct statx *st);

/* The attributes of an object, open at fd, or (fd -1) named in the directory open at dir_fd. */
void scan_xattrs(struct scanner *w, int fd, int dir_fd, const char *name, struct inode *inode);

#endif
