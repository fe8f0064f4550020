/* persistence.h -- what may be there after a crash, and what must be.
 *
 * A history is the trees that a sequence of calls went through, and the promise that each call
 * made when it returned: fsync, sync, O_SYNC and the like. A crash leaves the file system in the
 * middle of that: every name, attribute and byte may be as in any tree since it was last promised.
 * That is all POSIX says (PERSIST_POSIX). Many file systems keep more: names and attributes are
 * those of one moment (PERSIST_ORDERED), or data, too (PERSIST_STRICT); traits of a target say
 * which, and whether fsync of a file keeps its names.
 *
 * Trees are persistent, so a history costs what the calls changed. Time stamps, inode numbers and
 * allocated blocks are never promised. */
#ifndef PERSISTENCE_H
#define PERSISTENCE_H

#include "base/buf.h"
#include "model/model.h"

enum persist_level { PERSIST_POSIX, PERSIST_ORDERED, PERSIST_STRICT, PERSIST_LEVELS };
extern const char *const persist_level_names[PERSIST_LEVELS];

struct persist_rules {
	enum persist_level level;
	bool fsync_keeps_names; /* also of the directories above */
	bool rename_is_atomic;
	bool sync_keeps_nothing;
	bool stale_data;   /* what was written and not promised may be anything */
	bool stale_inodes; /* what was made or removed, and not promised, may be any object */
	bool stale_blocks; /* a file with data that was not promised may be damaged, or gone */
	bool damage;       /* what a name that was not promised leads to may be damaged, too */
};
/* As the traits of a file system say. */
struct persist_rules persist_rules_of(const struct traits *traits);

enum promise_kind {
	PROMISE_NONE,
	PROMISE_ALL,   /* sync, syncfs, remount */
	PROMISE_INODE, /* fsync: data, attributes; of a directory its entries */
	PROMISE_DATA,  /* fdatasync: data, and the size that is needed to read it; entries are the
			* data of a directory */
	PROMISE_RANGE, /* O_DSYNC, msync: the same of a range */
};
struct promise {
	enum promise_kind kind;
	uint64_t ino, from, to; /* of the range; the end is not in it */
};

/* Step 0 is the beginning, which is durable. Each call has one step behind it, and before that one
 * for each tree that it passes through on its way: a crash can leave these as well. */
struct persist_step {
	struct tree tree;
	struct promise promise;
	struct promise written; /* the bytes that its call has written, as PROMISE_RANGE */
	size_t calls;           /* that have returned */
	uint64_t moved; /* the file whose data the call has moved to other offsets; 0: none */
};
struct persistence {
	struct persist_rules rules;
	struct persist_step *steps;
	size_t count, cap;
	size_t failed; /* the last step in whose call something was to fail; 0: none */
};

void persistence_begin(struct persistence *p, const struct persist_rules *rules,
		       const struct tree *tree);
void persistence_free(struct persistence *p);
/* Of one call. */
enum { PERSIST_STEPS_MAX = 2 };
/* A call that returned, from one state of the model to the next. One that failed promises
 * nothing. */
void persistence_add(struct persistence *p, const struct state *before, const struct call *c,
		     const struct outcome *o, const struct state *after);
/* The step behind so many calls. */
const struct persist_step *persistence_behind(const struct persistence *p, size_t calls);

/* What is wrong with a recovered tree, in words without names and numbers, for signatures. */
struct broken_promise {
	const char *what;  /* "name missing" */
	size_t call;       /* that made the promise; 0: none, it was there from the beginning */
	struct buf seen;   /* "/A/foo is missing" */
	struct buf reason; /* "fsync makes a new file and its name durable" */
	/* No call had promised these bytes, nor written them: old bytes of the disk, or of another
	 * file, are in a file. */
	bool exposed;
};
void broken_promise_free(struct broken_promise *b);

/* Is the tree one that a crash can leave after `done` calls have returned, while the next one was
 * under way (`begun` is done + 1) or none (`begun` is done)? */
bool persistence_allows(const struct persistence *p, size_t done, size_t begun,
			const struct tree *seen, struct broken_promise *ret);

/* ---- the trees that a crash can leave ---- */

/* What can be older than the rest. */
enum part_kind {
	PART_NAME,
	PART_ATTRIBUTES, /* mode, owner, extended attributes */
	PART_SIZE,
	PART_DATA, /* some blocks of a file */
	PART_TREE, /* all names and attributes; where the whole tree is of one moment, everything */
	PART_KINDS
};

/* A part that is older than the last call has made it. */
struct lost_part {
	enum part_kind kind;
	uint64_t ino; /* of the object; of a name, of its directory */
	const char *name;
	size_t len;
	uint64_t from, to; /* bytes of data; the end is not among them */
	size_t step;       /* it is as after this one */
	size_t change;     /* the first one whose effect is lost */
	bool torn;         /* the rest of what that call wrote is there */
};

/* A tree that a crash can leave between two steps, or at one. */
struct crash_state {
	struct tree tree;
	size_t done, begun; /* steps */
	const struct lost_part *lost;
	size_t count;
	struct each *own;
};

struct each_options {
	uint64_t states; /* about so many are visited, besides the tree of each step */
	uint64_t seed;   /* which of them, where there are more */
	/* Equal trees count twice where `done` is of different epochs: those of each step, never
	 * falling. NULL: all the same. */
	const uint32_t *epochs;
};

/* Visits different trees that persistence_allows() accepts, by the rules of the history: those of
 * each step; all with one part lost; all with all but one lost; with two; and any. Where they are
 * too many, each is as likely as the others of its kind. It ends where a visit returns false.
 * Returns how many with one or two parts lost were left out. */
typedef bool crash_state_visit(void *to, struct crash_state *c);
uint64_t persistence_each(const struct persistence *p, const struct each_options *o,
			  crash_state_visit *visit, void *to);
/* During a visit: gives back parts that need not be lost for the tree to fail. */
void crash_state_minimise(struct crash_state *c, bool (*fails)(void *to, const struct tree *t),
			  void *to);

#endif
