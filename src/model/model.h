/* model.h -- an executable POSIX: what a file system may answer, and what is so afterwards.
 *
 * A state holds a tree, processes and open files; copying one is a few reference counts.
 * Three questions can be asked of a call in a state:
 *   model_allow()  which outcomes are allowed? (the state stays as it is)
 *   model_step()   is this outcome allowed? then go where it leads
 *   model_run()    what does a deterministic Linux answer? (RefFS), and go there
 *
 * Every operation is checks, in Linux's order, then an effect. Checks are rules (rules.def):
 * each names its errno, the platforms it holds on and what it rests on. Rules that apply unite
 * to the set of allowed errors; success stays possible only if none forbids it. An error never
 * changes the tree. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "rules/rules.h"
#include "state/state.h"
#include "tree/times.h"

/* A deliberate error of the model: mutants prove that the tests see every rule. */
struct mutant {
	int rule;  /* -1: none */
	int error; /* answered instead of the rule's errno; 0: the rule is forgotten, and what it
		    * forbade succeeds without an effect */
};

struct model {
	enum platform platform;
	struct version kernel;
	struct traits traits;
	struct mutant mutant;
	uint64_t *rule_hits; /* RULE_COUNT counters of rules exercised, or NULL */
};

/* Does the rule hold on this platform and version (and not fall to a mutant)? */
bool rule_applies(const struct model *m, enum rule rule);

/* Whose rules it judges by: "linux 6.18.44". */
enum { MODEL_NAME_MAX = 32 };
void model_name(const struct model *m, char ret[MODEL_NAME_MAX]);
void model_init(struct model *m, enum platform platform, struct version kernel);

/* A set of errnos. */
struct errset {
	uint64_t bits[3];
};
static inline bool errset_has(const struct errset *s, int error)
{
	return error > 0 && error < 192 && (s->bits[error >> 6] >> (error & 63) & 1);
}
static inline void errset_add(struct errset *s, int error)
{
	s->bits[error >> 6] |= (uint64_t)1 << (error & 63);
}
static inline bool errset_empty(const struct errset *s)
{
	return !(s->bits[0] | s->bits[1] | s->bits[2]);
}
static inline unsigned errset_count(const struct errset *s)
{
	return (unsigned)(__builtin_popcountll(s->bits[0]) + __builtin_popcountll(s->bits[1]) +
			  __builtin_popcountll(s->bits[2]));
}

enum { ENVELOPE_RULES_MAX = 16, OPTIONAL_TIMES_MAX = 4 };

/* Times of an object that a call may set or leave, whatever the model itself does. */
struct optional_times {
	uint64_t ino;
	unsigned fields; /* enum time_bit */
	bool is_read;    /* data was read: see the trait relatime */
};

/* The outcomes allowed for one call. */
struct envelope {
	struct errset errors;
	bool success;   /* may succeed */
	bool undefined; /* the platform says nothing about this call: anything goes */
	bool open;      /* not even which errors are right, where others refuse it */
	int first;      /* what Linux's order of checks answers first; 0: success */
	/* The value of success. Where shorter transfers are allowed, value is the longest and
	 * shortest_len (bytes) or least_num (numbers) the bound below; where any number in a
	 * range is allowed, [least_num, value.num]. */
	struct outcome value;
	int64_t least_num;
	size_t shortest_len;
	/* Directory streams: names that may come next (each NUL-terminated) and whether the end
	 * may; value is what the deterministic answer would be. */
	const char *names;
	size_t names_len;
	bool end_allowed;
	uint16_t rules[ENVELOPE_RULES_MAX]; /* rules that gave the errors, in order */
	unsigned rule_count;
	struct optional_times optional_times[OPTIONAL_TIMES_MAX];
	unsigned optional_count;
};

enum verdict { VERDICT_OK, VERDICT_UNKNOWN, VERDICT_BAD };

/* How far from the rules of the platform is a bad outcome? */
enum reach {
	REACH_OUTSIDE_POSIX,
	REACH_INSIDE_POSIX, /* POSIX would allow it; the platform does not do it */
};

/* Bytes in envelopes and outcomes are valid until the next call with this state. */
void model_allow(const struct model *m, struct state *s, const struct call *c,
		 struct envelope *ret);
/* The same, and s moves to where the deterministic answer leads. */
void model_move(const struct model *m, struct state *s, const struct call *c, struct envelope *ret);
/* VERDICT_OK: s has moved to where `seen` leads. VERDICT_BAD: s has moved to where an allowed
 * outcome leads (success, if possible), so that checking can continue; *ret has what was allowed.
 * VERDICT_UNKNOWN: undefined by the platform; s is unchanged. */
enum verdict model_step(const struct model *m, struct state *s, const struct call *c,
			const struct outcome *seen, struct envelope *ret);
void model_run(const struct model *m, struct state *s, const struct call *c, struct outcome *ret);
/* Before a thread ends that asked: frees what its outcomes' bytes lay in. */
void model_end_thread(void);

#endif
