/* remark.h -- what a scan says about a directory besides its entries.
 *
 * A remark lies in the directory as an object that could not be read. Its name is one that no
 * object can have: a slash, a word and, where it is about one entry, a colon and the name of that
 * entry. */
#ifndef TREE_REMARK_H
#define TREE_REMARK_H

#include "tree/tree.h"

struct buf;

enum remark {
	REMARK_TWICE,  /* a name is listed twice */
	REMARK_LOST,   /* the directory was gone when the walk returned to it */
	REMARK_MORE,   /* the walk reached its limits here */
	REMARK_INO,    /* of one entry: d_ino is not st_ino of what it names */
	REMARK_TYPE,   /* of one entry: d_type is neither DT_UNKNOWN nor its type */
	REMARK_ABSENT, /* of "." or "..": it is not listed */
	/* Of one entry: by this name its object has other attributes than by its first name. The
	 * inode of the remark has those by this name, but for the type. */
	REMARK_NAME,
	REMARK_EMPTY,  /* an entry has an empty name */
	REMARK_COUNT
};

/* Puts a remark into a directory, once; about: the entry, NULL where it is about the directory. The
 * call and its errno are those of the object. The new inode has the number `ino`; false: the
 * directory has this remark already. */
bool remark_add(struct tree *t, uint64_t dir, uint64_t ino, enum remark remark, const char *about,
		int code);

/* The attributes of an object by another name, where they are not those by its first one, as far as
 * the tree has these fields; the inode of the remark has the number `ino`. False: they are. */
bool remark_add_name(struct tree *t, uint64_t dir, const char *name, const struct inode *by_name,
		     uint64_t first, uint64_t ino);

/* Whether the name is that of a remark; *ret_about: the entry, "" where there is none. */
bool remark_parse(const char *name, enum remark *ret, const char **ret_about);

/* The remark as a sentence about the directory: d_ino of ".." is not st_ino of what it names. */
void remark_print(enum remark remark, const char *about, struct buf *out);

#endif
