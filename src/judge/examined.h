/* examined.h -- what fsck() and seek_space() found, as a discrepancy. */
#ifndef JUDGE_EXAMINED_H
#define JUDGE_EXAMINED_H

#include "judge/discrepancy.h"
#include "target/target.h"

/* Whether the call is one of these, and its outcome says that it found something. */
bool examined_found(const struct call *c, const struct outcome *seen);
/* Describes that, with the report of the target. The calls before it are at fault, not the one that
 * noticed. */
void examined_describe(const struct target *t, const struct call *c, struct discrepancy *ret);

#endif
