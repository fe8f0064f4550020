/* openings.h -- short scripts that try what FUSE daemons are known to get wrong, before a search.
 *
 * A call of a daemon takes milliseconds where the machine is busy, and a search that draws among
 * hundreds of thousands of calls comes late to four particular ones in a row. */
#ifndef EXPLORE_OPENINGS_H
#define EXPLORE_OPENINGS_H

#include <stddef.h>

struct err;
struct explorer;
struct script;

size_t openings_count(void);
/* Reads one of them; *ret is to be freed. */
void openings_read(size_t number, struct script *ret);
/* Plays all of them that suit the target, each on a fresh file system, and works on what they show.
 * The explorer is open, and not begun. */
int openings_play(struct explorer *x, struct err *err);

#endif
