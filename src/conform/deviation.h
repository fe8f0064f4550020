/* deviation.h -- one call, or one tree, that is not as the model allows. */
#ifndef CONFORM_DEVIATION_H
#define CONFORM_DEVIATION_H

#include <jansson.h>

#include "base/buf.h"
#include "judge/discrepancy.h"

/* A discrepancy in words. What distinguishes causes is in `op`, `seen`, `allowed` and `rule`:
 * texts without names and numbers of a script. */
struct deviation {
	uint32_t script; /* number in the suite */
	uint32_t step;   /* call of the script, from 0; of its set-up, if in_setup */
	bool in_setup;
	bool outside_posix;
	enum problem code;
	enum severity severity;
	size_t calls;            /* of the script, once causes are gathered */
	enum op op;              /* the base call */
	struct buf seen;         /* "EEXIST", "success", "mode, size" of a tree */
	struct buf allowed;      /* "ENOENT or ENOTDIR" */
	struct buf rule;         /* name of the rule that forbids it; empty if none does */
	struct buf group;        /* of the discrepancy (judge/group.h); empty: alone */
	struct buf call, detail; /* the call, and for people what came back or differs */
	struct buf history;      /* of a race: the trace that nothing explains */
};

void deviation_free(struct deviation *d);
void deviation_clear(struct deviation *d);

/* A new one, of this call, that POSIX does not allow. */
void deviation_begin(struct deviation *d, enum problem code, unsigned step, const struct call *c);
/* The words of a discrepancy. */
void deviation_fill(struct deviation *d, const struct discrepancy *found, unsigned step);

/* One line of text, and back; what a job hands to the process that started it. */
json_t *deviation_pack(const struct deviation *d);
int deviation_unpack(struct deviation *d, const json_t *packed);

#endif
