/* taker.h -- a walk under way. */
#ifndef TREE_TAKER_H
#define TREE_TAKER_H

#include <sys/stat.h>

#include "base/buf.h"
#include "tree/take.h"

enum {
	TAKER_DATA = 256 * 1024, /* read at once; files from here on are looked through for holes */
	TAKER_DENTS = 32 * 1024,
	TAKER_XATTRS = 64 * 1024, /* the kernel's limit of a list and of a value */
	TAKER_OPEN_MAX = 64, /* directories at a time, besides the root */
};

/* A directory on the way down. Those near the end are open; for the others their ".." is. */
struct take_level {
	uint64_t dir;      /* in the tree */
	uint64_t dev, ino; /* on the file system */
	int fd;            /* -1: closed */
	size_t start, at;  /* its entries in `dents`, and the next one */
	size_t end;
};

struct taker {
	struct take_options options;
	int open_flags;
	struct buf dents; /* entries of the directories on the way down */
	char *data;       /* TAKER_DATA bytes */
	bool no_xattrat; /* the kernel lacks listxattrat and getxattrat */

	/* The walk. */
	struct tree *tree;
	struct err *err;
	int error;         /* why it must stop, or 0 */
	bool cut;          /* it ends at its limits (take_options.bounded) */
	struct take_level *levels;
	size_t depth, level_cap;
	uint64_t root_dev, root_ino;
	uint64_t objects, file_bytes, next_fresh;
	bool no_xattrs;         /* not supported here, on files and directories */
	bool no_special_xattrs; /* on anything else */
};

/* Turns an inode that was being read into one that could not be. */
void object_fail(struct taker *w, struct inode *inode, const char *call, int code);

/* An object of which nothing is known but what went wrong. */
void add_error(struct taker *w, uint64_t dir, const char *name, const char *call, int code);

/* Opens without touching the access time, which is for owners; others go without. */
int open_object(struct taker *w, int dir_fd, const char *name, int flags);
void set_attributes(struct inode *inode, const struct statx *st);

/* An object that is not a directory, met for the first time. */
void take_other(struct taker *w, int dir_fd, const char *name, struct inode *inode,
		const struct statx *st);

/* The attributes of an object, open at fd, or (fd -1) named in the directory open at dir_fd. */
void take_xattrs(struct taker *w, int fd, int dir_fd, const char *name, struct inode *inode);

#endif
