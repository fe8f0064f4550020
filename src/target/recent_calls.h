/* recent_calls.h -- the last calls that were made on a target, to be repeated.
 *
 * Those that can be: by the process that is always there, and without waiting for another. */
#ifndef TARGET_RECENT_CALLS_H
#define TARGET_RECENT_CALLS_H

#include "channel/request.h"

struct recent_calls;

struct recent_calls *recent_calls_new(void);
/* NULL: they are not asked for. */
void recent_calls_free(struct recent_calls *r);
/* The file system is a fresh one. */
void recent_calls_forget(struct recent_calls *r);
void recent_calls_add(struct recent_calls *r, const struct plan_step *steps, size_t count);
/* Number i of them, the oldest first; NULL: there are no more. */
const struct call *recent_calls_get(const struct recent_calls *r, size_t i);

#endif
