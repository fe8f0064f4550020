/* scan.h -- the tree of a mounted directory.
 *
 * Directories may be nested to any depth (beyond SCAN_DEPTH_MAX the scan does not believe it); a
 * bounded number of them is open at a time.
 *
 * Errors on single objects (EIO, EBADMSG, EACCES ...) become part of the tree: an inode of
 * type 0 with the call and errno. Only failures of the scanner itself are errors. */
#ifndef TREE_SCAN_H
#define TREE_SCAN_H

#include "tree/tree.h"

struct err;

struct scan_options {
	unsigned fields;                   /* enum tree_field */
	bool lost_found;                   /* include /lost+found (left out otherwise) */
	const char *const *xattr_prefixes; /* NULL-terminated; NULL: "user." and "trusted." */
	uint64_t objects_max;              /* 0: no end */
	uint64_t bytes_max;                /* of data read per file; 0: no end */
	/* What is beyond these limits is -EOVERFLOW; or (bounded) the walk ends there, with an
	 * object that says so, and of a file that has more data than that the last part is read,
	 * too (SCAN_TAIL), and what is between is taken for zeros. */
	bool bounded;
};

enum { SCAN_TAIL = 1 << 20, SCAN_DEPTH_MAX = 1 << 16 };

/* Buffers kept between walks, so that a walk allocates next to nothing. */
struct scanner;
struct scanner *scanner_new(const struct scan_options *options);
void scanner_free(struct scanner *scanner);

/* The tree below the directory open at root_fd. Inode numbers in the tree are those of the
 * file system (as identity), the root's is TREE_ROOT. */
int tree_scan(struct scanner *scanner, int root_fd, struct tree *ret, struct err *err);
/* The same where an earlier tree is known: it shares with that what files have in common. */
int tree_scan_again(struct scanner *scanner, int root_fd, const struct tree *known,
		    struct tree *ret, struct err *err);

enum { SCAN_PART_MAX = 16 };
/* Before a path, once: contents and entries are taken to be as they were. Twice: everything is, but
 * for times. */
enum { SCAN_PART_LESS = '/' };
/* Looks at some objects again: *t is the tree of an earlier scan, and gets what they are now. The
 * paths are from the root ("." is that), each NUL-terminated, an empty one behind the last:
 * names that are gone first, directories before what is in them, all names of a file or link, and
 * a directory in which names have come or gone. False: a scan is needed to tell what is there, and
 * *t is of no use. */
bool tree_scan_part(struct scanner *scanner, int root_fd, const char *paths, struct tree *t);

#endif
