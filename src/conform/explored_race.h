/* explored_race.h -- races that a search draws: which calls may be in one, and one as a family of
 * its own, which runs it again. */
#ifndef CONFORM_EXPLORED_RACE_H
#define CONFORM_EXPLORED_RACE_H

#include "base/buf.h"
#include "model/model.h"

extern const char explored_race_name[];

/* Whether Linux promises that such a call takes effect in one moment, and the model knows it. */
bool explored_race_allows(const struct call *c);
/* Whether calls, all of them allowed, should overlap in this state: one of them changes something,
 * and none has two paths while another one moves a directory (Linux looks them up one after the
 * other). */
bool explored_race_is_worth(const struct model *m, const struct state *s, const struct call *calls,
			    size_t count);
/* Whether the order in which two of them come can be seen: they have something in common. */
bool explored_race_shows_order(const struct model *m, const struct state *s,
			       const struct call *calls, size_t count);
/* A family with a script of that name alone (families/races.ini). The last calls, so many of them,
 * overlap. */
void explored_race_print(const struct call *calls, size_t count, size_t overlaps, struct buf *out);

#endif
