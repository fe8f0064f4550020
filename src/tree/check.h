/* check.h -- whether a tree is a file system.
 *
 * A tree that was observed may be anything. One that is to be a state of the model must hold
 * together, else the model would fail at some later call. */
#ifndef TREE_CHECK_H
#define TREE_CHECK_H

#include "tree/tree.h"

struct err;

enum {
	CHECK_NAME_MAX = 255,
	CHECK_TARGET_MAX = 4095,
	CHECK_XATTR_MAX = 65536, /* of a value */
};

/* 0, or -EINVAL with what is wrong, and with which object. Types, modes, link counts, parents,
 * names, sizes, attributes, inode numbers: all that the functions of tree.h and the calls of the
 * model keep right. Objects without a name may be there, held or not. */
int tree_check(const struct tree *t, struct err *err);

#endif
