/* take_over.h -- a tree of the model takes over what was observed. */
#ifndef TREE_TAKE_OVER_H
#define TREE_TAKE_OVER_H

#include "tree/tree.h"

/* Gives the objects of *t the attributes and contents that the objects at the same paths were seen
 * with; inode numbers, and what is held open, stay. False, and *t as it was, if there is another
 * name, type or hard link in one of them, or an object that cannot be read. */
bool tree_take_over(struct tree *t, const struct tree *seen);

#endif
