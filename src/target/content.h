/* content.h -- what lies below a layered file system before it is mounted.
 *
 * A description has calls that make it, as a trace, and the directory in which they are made. That
 * directory gets the one that the test has in the mounted file system, under the same name. */
#ifndef TARGET_CONTENT_H
#define TARGET_CONTENT_H

#include "target/description.h"

struct channel_client;

/* Whether the description can be followed: the calls can be read, and there is a directory. */
int content_check(const struct target_description *d, struct err *err);
/* Makes the calls, which must all succeed. */
int content_make(const struct target_description *d, const struct channel_client *client,
		 struct err *err);

#endif
