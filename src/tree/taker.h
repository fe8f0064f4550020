/* taker.h -- a walk under way. */
#ifndef TREE_TAKER_H
#define TREE_TAKER_H

#include "base/buf.h"
#include "tree/take.h"

enum {
	TAKER_DATA = 256 * 1024, /* read at once; files from here on are looked through for holes */
	TAKER_DENTS = 32 * 1024,
	TAKER_XATTRS = 64 * 1024, /* the kernel's limit of a list and of a value */
	TAKER_DEPTH_MAX = 1000,
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
	uint64_t root_dev, root_ino;
	uint64_t objects, file_bytes, next_fresh;
	bool no_xattrs;         /* not supported here, on files and directories */
	bool no_special_xattrs; /* on anything else */
};

/* Turns an inode that was being read into one that could not be. */
void object_fail(struct taker *w, struct inode *inode, const char *call, int code);

/* The attributes of an object, open at fd, or (fd -1) named in the directory open at dir_fd. */
void take_xattrs(struct taker *w, int fd, int dir_fd, const char *name, struct inode *inode);

#endif
