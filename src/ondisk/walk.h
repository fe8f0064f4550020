/* walk.h -- what the walks of all formats share.
 *
 * A walk trusts the disk, but reads nothing beyond it and ends on any: the first structure that
 * does not lie on the disk is the error, and stops the walk. */
#ifndef ONDISK_WALK_H
#define ONDISK_WALK_H

#include "ondisk/ondisk.h"

struct err;

enum { WALK_DEPTH_MAX = 128, WALK_PATH_MAX = 512 };

struct ondisk_walk {
	struct ondisk_map *map;
	const uint8_t *disk;
	struct err *err;
	int status; /* 0, or what stopped it */
	struct walk_names *names;
};

/* The walk is not possible: the first reason counts. */
void walk_fail(struct ondisk_walk *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What lies there. NULL: it is not all on the disk, or the walk has failed before. */
const uint8_t *walk_read(struct ondisk_walk *w, uint64_t at, uint64_t len, const char *what);
/* Adds an instance, and is its bytes: as walk_read(). */
const uint8_t *walk_add(struct ondisk_walk *w, const struct ondisk_structure *s, uint64_t at,
			uint32_t size, const char *label, ...)
	__attribute__((format(printf, 5, 6)));
/* A bitmap of so many bits, the lowest of a byte first: whole, and its edge, the byte with the
 * first free bit behind the last used one. */
void walk_add_bitmap(struct ondisk_walk *w, const struct ondisk_structure *whole,
		     const struct ondisk_structure *edge, uint64_t at, uint64_t bits,
		     const char *label);

/* Numbers below `count` that were met before: a cycle ends the walk of it. */
struct walk_set {
	uint8_t *bits;
	uint64_t count;
};
void walk_set_make(struct ondisk_walk *w, struct walk_set *ret, uint64_t count, const char *what);
void walk_set_free(struct walk_set *s);
/* Whether it was not in the set; it is then. A number that is too large: fails. */
bool walk_set_add(struct ondisk_walk *w, struct walk_set *s, uint64_t number, const char *what);

/* Below `dir`, which is "" for the root; only printable characters of the name. */
void walk_path(char ret[WALK_PATH_MAX], const char *dir, const uint8_t *name, size_t len);

/* Where inodes are met before their names: a directory has this entry for an inode. */
void walk_name(struct ondisk_walk *w, uint64_t inode, uint64_t dir, const uint8_t *name,
	       size_t len);
/* The labels that begin with the prefix and a number then have the path of that inode behind it.
 * Must be called once at the end of a walk that has called walk_name(). */
void walk_apply_names(struct ondisk_walk *w, const char *prefix, uint64_t root);

#endif
