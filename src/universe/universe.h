/* universe.h -- the bounded pools a run draws its calls from, and the calls they make.
 *
 * For every operation and argument a pool of weighted values. The product of an operation's
 * pools are its calls; all calls of a universe are numbered 0..calls-1, so that a search can
 * name an edge by one number and enumerate exhaustively, or draw by weight. */
#ifndef UNIVERSE_UNIVERSE_H
#define UNIVERSE_UNIVERSE_H

#include "base/arena.h"
#include "base/rng.h"
#include "op/op.h"
#include "universe/alias.h"

struct err;

struct pool {
	struct arg *values;
	uint64_t *sums;        /* of the weights up to and with each value */
	struct alias *aliases; /* the same weights, to draw by */
	size_t count;
};

struct universe_op {
	enum op op;
	unsigned weight;
	uint64_t first; /* number of its first call */
	uint64_t calls;
	struct pool pools[OP_ARGS_MAX];
};

/* A guide to the operation of a call, by the high bits of its number. */
enum { UNIVERSE_GUIDE = 1 << 10 };

struct universe {
	const char *name;
	struct universe_op *ops;
	size_t op_count;
	uint64_t *firsts; /* of the operations: numbers of their first calls */
	uint16_t *guide;  /* by the number of a call >> guide_shift: the first operation */
	unsigned guide_shift;
	struct alias *aliases; /* weights of operations */
	uint64_t weight;       /* of all operations */
	uint64_t calls;
	size_t nodes_max;  /* objects a tree may have; calls that would exceed are not made */
	uint64_t size_max; /* largest file; likewise */
	size_t files_max;  /* open files and directory streams; likewise */
	uint32_t *users;   /* of processes 2 and up: each is user and group of one */
	size_t processes;  /* that make calls: 1 and those of the users */
	struct pool paths; /* of its names; without weights */
	struct arena arena;
};

/* A profile is an INI file:
 *
 *     [universe]
 *     names = a b f{1..9}    names of files and directories
 *     depth = 2              how many of them a path may join
 *     width = 1              how many of the names may be those of directories
 *     long_names = 255 256   lengths of further names, of files only; 200*8 are eight of them
 *     nodes_max = 8
 *     size_max = 65536
 *     files_max = 3          open files
 *     users = 1000 1001      further processes make calls, too, under these users
 *     [ops]
 *     mkdir = 3              weight of each operation
 *     [pick]
 *     mode = 0644 0755*2     values of a kind, with weights
 *     open.flags = O_RDWR    values of one argument
 *     distribution.count = uniform | rank-size | inverse-rank-size | decaying | inverse-decaying
 *
 * A value is as in traces; text needs no quotes. "pool" means all paths of the names,
 * "boundary" and "near-boundary" the values of kind_boundary, and "nearby" values that follow from
 * the state in which the call is made: the ends of a file's data, holes and blocks, names that
 * exist, open descriptors (plan/nearby.h). Data is a seed or a string;
 * that of a seed gets the length of the count beside it. Kinds that a profile does not mention
 * have default values. */

/* The shipped profiles ("tiny", "default", ...), NULL-terminated, and their INI text. */
extern const char *const universe_profiles[];
const char *universe_profile_text(const char *name);
/* Fills in that there is none of this name, and which one may have been meant: -ENOENT. */
int universe_profile_unknown(const char *name, struct err *err);

/* From a shipped profile's name or an INI file's path, then overrides "section.key=value" each. */
int universe_open(struct universe *u, const char *profile, const char *const *overrides,
		  size_t override_count, struct err *err);
void universe_free(struct universe *u);
/* Its operations, or their numbers of calls, were changed: sums and tables follow. */
void universe_index(struct universe *u);
/* Only their weights were changed. */
void universe_weigh(struct universe *u);
/* The weights of a pool were changed (sums). */
void pool_weigh(struct pool *pool);

/* Call number n: values point into the universe. Values that follow from the state have only their
 * places (arg.nearby); true if there are any. */
bool universe_call(const struct universe *u, uint64_t n, struct call *ret);
/* Generated data gets the length of the count beside it. */
void universe_fit_data(struct call *c);
/* Drawn by weight. */
uint64_t universe_draw(const struct universe *u, struct rng *rng);
/* The same, but a call of this operation (index into ops). */
uint64_t universe_draw_of(const struct universe *u, size_t op, struct rng *rng);

/* Does a state have the value of a place (arg.nearby) for a process? */
struct universe_places {
	bool (*has)(const void *to, unsigned pid, enum kind kind, unsigned place);
	const void *to;
};
/* An operation, and a call of it, both drawn by weight. False as soon as a value is drawn that the
 * state does not have. */
size_t universe_draw_op(const struct universe *u, struct rng *rng);
bool universe_draw_if(const struct universe *u, size_t op, const struct universe_places *places,
		      struct rng *rng, uint64_t *ret);
/* The operation (index into ops) that call n belongs to. */
size_t universe_op_of(const struct universe *u, uint64_t n);

#endif
