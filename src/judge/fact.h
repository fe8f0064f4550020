/* fact.h -- how an observed tree differs from the model's, as facts a program can check.
 *
 * A fact says what should be so at a path and is not. */
#ifndef JUDGE_FACT_H
#define JUDGE_FACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tree/times.h"

/* In order of weight: the first of a tree's facts names the discrepancy. */
enum fact_kind {
	FACT_UNREADABLE, /* the walk met an error at the path */
	FACT_MISSING,    /* should be there */
	FACT_EXTRA,      /* should not be there */
	FACT_TYPE,
	FACT_LINKS, /* should be another name of the same object, or of another one */
	FACT_SIZE,
	FACT_DATA,
	FACT_TARGET,
	FACT_MODE,
	FACT_OWNER,
	FACT_NLINK,
	FACT_XATTR,
	FACT_RDEV,
	FACT_FLAGS,
	FACT_DOTS,       /* "." or ".." of this directory: listed with its inode number */
	FACT_ENTRY_INO,  /* an entry of this directory: d_ino should be st_ino */
	FACT_ENTRY_TYPE, /* the same: d_type should be its type or DT_UNKNOWN */
	FACT_TIMES,
	FACT_KINDS
};
extern const char *const fact_names[FACT_KINDS];

struct fact {
	enum fact_kind kind;
	const char *path;               /* from the root, with a leading '/' */
	uint32_t mode, uid, gid, nlink; /* as they should be */
	uint64_t size, rdev;
	const char *name;  /* XATTR: of the attribute; LINKS: the other path; of the entry */
	bool by_name;      /* it is so by another name of the same object */
	bool absent;       /* XATTR: there should be none; LINKS: another object */
	uint64_t offset;   /* DATA: of the first byte that differs */
	const char *bytes; /* DATA: from offset on, at most FACT_BYTES_MAX; TARGET; XATTR */
	size_t len;
	uint32_t flags; /* FLAGS */
	/* TIMES: which is wrong, and how; where the object was before the call, or NULL; the time
	 * that was given, and the unit of times. */
	enum time_field time;
	enum time_wrong wrong;
	const char *path_before;
	int64_t given_ns, unit_ns;
	const char *call; /* UNREADABLE: what the walk could not do there, and its errno */
	int error;
};

enum { FACTS_MAX = 16, FACT_BYTES_MAX = 16, FACT_DEPTH_MAX = 64 };

/* At most FACTS_MAX facts, heaviest first; text lives in the arena. Returns how many. */
size_t facts_find(const struct tree *expected, const struct tree *seen, struct arena *arena,
		  struct fact *ret);
/* Which properties differ, each once: "data, mode". */
void facts_print(const struct fact *facts, size_t count, struct buf *out);
/* The inode at a fact's path, 0 if there is none. */
uint64_t fact_inode(const struct tree *t, const char *path);

#endif
