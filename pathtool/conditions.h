/* conditions.h -- what the run of the checker depended on, in the log. */
#ifndef PATHTOOL_CONDITIONS_H
#define PATHTOOL_CONDITIONS_H

#include "pathtool/tool.h"

/* The expression had this value, and the instruction at `at` did something else for others. One
 * that depends on no input, or was noted before, is left out. */
void conditions_note(uint32_t e, enum path_condition_kind kind, ULong value, Addr at);

/* Between these nothing is noted: inside a function that only makes text for people. `stack` is the
 * stack pointer where the function was entered, and after a return. */
void conditions_suspend(Addr stack);
void conditions_returned(Addr stack);
extern UChar conditions_suspended;

#endif
