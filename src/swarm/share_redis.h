/* share_redis.h -- what workers of one search share (share/share.h), on a Redis or Valkey server.
 */
#ifndef SWARM_SHARE_REDIS_H
#define SWARM_SHARE_REDIS_H

#include "share/share.h"
#include "swarm/worker.h"

/* One for each search of the worker: only waiting and given work are the channel's own. */
struct share *share_redis_open(struct swarm_worker *w, const char *channel);

/* After so many pieces of work that were not what they were said to be, their sender is dropped. */
enum { SWARM_BAD_MAX = 16 };

#endif
