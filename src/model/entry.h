/* entry.h -- what is asked of a directory before an entry in it is made or removed. */
#ifndef MODEL_ENTRY_H
#define MODEL_ENTRY_H

#include "model/internal.h"

/* The path's own error: where the way to the last name is wrong, and where only that name is. */
void refuse_way(struct step *x, const struct where *w);
void refuse_last(struct step *x, const struct where *w);
void refuse_read_only(struct step *x);
/* Writing to the directory: immutable, permission. */
void refuse_write(struct step *x, uint64_t dir);
/* The new name, with slashes behind it, is a file's. */
void refuse_taken(struct step *x);
/* Nothing can be made in a directory that was removed; lookup already says so. */
void refuse_removed(struct step *x, const struct where *w);
/* An entry that is about to go: sticky directories, immutable and append-only objects. */
void refuse_removal(struct step *x, uint64_t dir, const struct inode *victim);

bool dir_is_empty(const struct step *x, uint64_t dir);
/* Where the rule holds, a file that only slashes follow is taken as the file itself. */
void ignore_slash(struct step *x, struct where *w, enum rule rule);

/* Gives an object one more name, or takes one away; times and streams follow. */
void add_name(struct step *x, const struct where *w, uint64_t ino);
void remove_name(struct step *x, const struct where *w);
/* This object is about to lose a name: by trait it is unknown what becomes of one in use. */
void leave_hidden(struct step *x, const struct inode *victim);

#endif
