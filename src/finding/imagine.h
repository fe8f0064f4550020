/* imagine.h -- whether fewer calls lead to the same last call, by the model alone.
 *
 * A replay on a target takes milliseconds to seconds, the same calls in the model microseconds. So
 * the calls that have nothing to do with the last one are first left out in the model; one replay
 * then shows whether the target agrees. */
#ifndef FINDING_IMAGINE_H
#define FINDING_IMAGINE_H

#include "base/buf.h"
#include "finding/finding.h"

/* How much of the last call and its objects has to be the same. */
enum imagine_level {
	IMAGINE_KINDS,    /* what it may answer, and the types and flags of its objects */
	IMAGINE_CONTENTS, /* also what it answers, sizes, modes, owners and data */
	IMAGINE_LEVELS
};

struct imagined {
	const struct model *model;
	struct state start;
	enum imagine_level level;
	const struct discrepancy *discrepancy; /* whose facts name objects, too */
	struct buf expected;
	double until_seconds; /* nothing shows behind that */
};

/* Of calls that begin on this target afresh. What was met lives as long as this. */
int imagine_begin(struct imagined *im, const struct discrepancy *met, const struct replay_on *on,
		  struct err *err);
void imagine_end(struct imagined *im);
/* What the calls of the finding lead to is to stay so. */
void imagine_expect(struct imagined *im, const struct finding *f, enum imagine_level level);
bool imagine_shows(const struct imagined *im, const struct call *calls, size_t count);

#endif
