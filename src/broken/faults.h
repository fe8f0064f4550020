/* faults.h -- a RefFS that is broken on purpose, one way at a time.
 *
 * A fault replaces model_run(): it makes the call on the state and tampers with the call
 * before, or with the state and the outcome afterwards. What a broken file system would remember
 * unseen (a stale size, a write that was not synced) lies in the memory, which is saved with the
 * state. */
#ifndef BROKEN_FAULTS_H
#define BROKEN_FAULTS_H

#include <stddef.h>

#include "base/buf.h"
#include "model/model.h"

struct fault_memory {
	uint64_t ino, from, to;
};

struct faulty {
	const struct model *model;
	struct state *state;
	struct fault_memory *memory;
	struct buf bytes; /* of outcomes that were tampered with */
};

static inline struct tree *faulty_tree(struct faulty *f)
{
	return &f->state->tree;
}

typedef void fault_run(struct faulty *f, const struct call *c, struct outcome *ret);

struct fault_info {
	const char *name, *text;
	const char *script; /* calls that show it on a fresh file system */
	fault_run *run;
};

extern const struct fault_info fault_table[];
extern const size_t fault_count;

/* NULL if there is none of that name. */
const struct fault_info *fault_find(const char *name);

/* For the faults themselves, one function each. */
#define FAULT(name, text, script) fault_run fault_##name;
#include "broken/faults.def"
#undef FAULT

/* The call as it should be made. */
void fault_pass(struct faulty *f, const struct call *c, struct outcome *ret);
/* The same; where it succeeds and `undone`, the state stays as it was. */
void fault_pass_undone(struct faulty *f, const struct call *c, struct outcome *ret, bool undone);
/* The same; where a call of this base fails with `right`, it answers `wrong` (0: success). */
void fault_confuse(struct faulty *f, const struct call *c, struct outcome *ret, enum op base,
		   int right, int wrong);
/* What is tampered with now counts in the tree's hash. */
void fault_settle(struct faulty *f);
bool call_is(const struct call *c, enum op base);
/* The first argument of this kind, NULL if there is none. */
struct arg *call_arg(struct call *c, enum kind kind);
int64_t call_num(const struct call *c, enum kind kind); /* 0 if there is none */
/* The call with these bits of its argument of this kind gone. */
struct call call_without(const struct call *c, enum kind kind, int64_t bits);

/* The inode that the call's path number nth (from 0) names now, 0 if none. */
uint64_t call_names(struct faulty *f, const struct call *c, unsigned nth, bool follow);
/* The inode the call acts on by its first descriptor or path, 0 if none. */
uint64_t call_subject(struct faulty *f, const struct call *c);
/* Its directory and last name; dir 0 if there is none. The name points into the call. */
struct place {
	uint64_t dir;
	const char *name;
	size_t len;
};
struct place call_place(struct faulty *f, const struct call *c, unsigned nth);

/* For editing and reading. */
struct inode *fault_edit(struct faulty *f, uint64_t ino);
/* NULL if ino is 0 or gone. */
const struct inode *fault_inode(const struct faulty *f, uint64_t ino);
bool fault_is_file(const struct faulty *f, uint64_t ino);
/* Removes its extended attributes. */
void fault_strip(struct faulty *f, uint64_t ino);
/* The first regular file after ino in the order of numbers, 0 if there is none. */
uint64_t fault_next_file(const struct faulty *f, uint64_t ino);

#endif
