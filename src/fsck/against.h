/* against.h -- two checkers are examined together: what does one lose that the other keeps? */
#ifndef FSCK_AGAINST_H
#define FSCK_AGAINST_H

#include "fsck/examination.h"

/* Both are open, and stay open until x is closed. config: the file that describes them, or NULL. */
void against_begin(struct examination *x, struct examination *other, const char *config);
int against_work(struct examination *x, struct err *err);
void against_end(struct examination *x);

#endif
