/* severity.h -- how bad a discrepancy is.
 *
 * The table of problems says it (problem.h), but for those of which what differs decides: a wrong
 * tree may be lost data or a link count, a wrong outcome wrong data or an errno. */
#ifndef JUDGE_SEVERITY_H
#define JUDGE_SEVERITY_H

#include "judge/discrepancy.h"

enum severity severity_of(const struct discrepancy *d);
/* Of a tree in which this differs. */
enum severity severity_of_fact(enum fact_kind kind);

#endif
