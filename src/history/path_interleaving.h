/* path_interleaving.h -- inside the model: a path walked name by name while others change names.
 *
 * The position of a call is a directory, or for link the file that it has found, for rename the two
 * directories of its names. A placeholder
 * process, which no script has, holds a reference to it, so that it is not freed. */
#ifndef HISTORY_PATH_INTERLEAVING_H
#define HISTORY_PATH_INTERLEAVING_H

#include "model/model.h"

/* In place of a number of bytes: link has opened its file, rename both directories. */
enum { INTERLEAVING_OPENED = UINT8_MAX };

/* Walks over the next name of the call's path, behind *walked bytes of it; false where that is
 * not possible, or the next name is the last. */
bool interleaving_step(const struct model *m, struct state *s, const struct call *c,
		       uint8_t *walked);
/* The call that is left behind that many bytes; its process is where the walk has come to. */
struct call interleaving_rest(struct state *s, const struct call *c, uint8_t walked);
/* Is the last name of the call's path, of which so much is walked, to be made in the directory that
 * the other call removes? */
bool interleaving_is_inside(const struct model *m, const struct state *s, const struct call *c,
			    uint8_t walked, const struct call *rmdir);
/* Ends the walk of a call that did nothing. */
void interleaving_forget(struct state *s, const struct call *c, uint8_t walked);
/* The process is back in its own directory, whatever became of the call. */
void interleaving_return(struct state *s, const struct call *c, uint8_t walked);

#endif
