/* behaviour.h -- what a checker says, as a number: equal for two runs that say the same of other
 * objects. */
#ifndef FSCK_BEHAVIOUR_H
#define FSCK_BEHAVIOUR_H

#include "base/hash.h"

/* The different lines of a text, without names and numbers, in any order. */
struct hash behaviour_of_text(const char *text);

#endif
