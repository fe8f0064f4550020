/* open.h -- inside the model: what ways of opening share. */
#ifndef MODEL_OPEN_H
#define MODEL_OPEN_H

#include "model/internal.h"

/* Opens an object that is there, without a way to it: its descriptor is the value of success. */
void open_inode(struct step *x, uint64_t ino, int64_t flags);

#endif
