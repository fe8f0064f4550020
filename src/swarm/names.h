/* names.h -- the keys of a run on the server, and the scripts that change several of them at once.
 *
 *	assay:runs                     names of all runs
 *	assay:{RUN}:about              its description (swarm_run.h)
 *	assay:{RUN}:number             the last number of a worker
 *	assay:{RUN}:began, :epoch      when the first joined; the server's process when the last did
 *	assay:{RUN}:workers            number -> where it is
 *	assay:{RUN}:beats              workers that live, by their last sign of life (server's ms)
 *	assay:{RUN}:dead               workers whose claims are void
 *	assay:{RUN}:left               of these: workers that said that they leave
 *	assay:{RUN}:freed              rises when claims become void or are released
 *	assay:{RUN}:channels           names of searches of this run
 *	assay:{RUN}:waiting:CHANNEL    worker -> its mark (worker.h) when it last looked
 *	assay:{RUN}:items:CHANNEL      stream of work given, consumer group "workers"
 *	assay:{RUN}:done:CHANNEL       is there when nothing is left
 *	assay:{RUN}:bad, :banned       worker -> items of it that were wrong; those dropped for it
 *	assay:{RUN}:stopped            is there when the run is to end
 *	assay:{RUN}:parts              stream of parts of the work, consumer group "workers"
 *(parts.h) assay:{RUN}:results, :given_up parts -> what they have printed; those that end their
 *workers assay:{RUN}:findings, :figures, :coverage, :finding:N   results (results.h)
 *	assay:{RUN:SHARD}:taken        work -> the worker that has it; -W: worker W gives it away
 *	assay:{RUN:SHARD}:states       states that were counted
 *
 * All keys of {RUN} are in one slot of a cluster; those of each shard in another one. */
#ifndef SWARM_NAMES_H
#define SWARM_NAMES_H

#include "base/hash.h"
#include "swarm/redis_net.h"

enum { RUN_NAME_MAX = 64, SHARDS_MAX = 256, SWARM_KEY_MAX = 192 };

struct swarm_names {
	char run[RUN_NAME_MAX + 1];
	unsigned shards;
};

/* Is this the name of a run, or of a channel: letters, digits, '.', '_' and '-'? */
bool swarm_name_is_valid(const char *name);

/* The name of a key is written to `ret` and returned. */
const char *swarm_key(const struct swarm_names *n, const char *what, char ret[SWARM_KEY_MAX]);
const char *swarm_channel_key(const struct swarm_names *n, const char *what, const char *channel,
			      char ret[SWARM_KEY_MAX]);
const char *swarm_shard_key(const struct swarm_names *n, const char *what, unsigned shard,
			    char ret[SWARM_KEY_MAX]);
/* By the first bits of the hash. */
unsigned swarm_shard(const struct swarm_names *n, struct hash h);

enum swarm_script {
	SCRIPT_CLAIM,
	SCRIPT_SWAP,
	SCRIPT_JOIN,
	SCRIPT_LOOK,
	SCRIPT_WAIT,
	SCRIPT_LEAVE,
	SCRIPT_PART_TAKE,
	SCRIPT_PART_END
};
extern const char *const swarm_scripts[];

/* Bytes of a hash in keys and arguments. */
enum { HASH_BYTES = 16 };

/* Adds the beginning of a call of a script on one key, which `count` arguments follow. */
void swarm_begin_script(const struct redis_net *n, struct redis_link *l, enum swarm_script script,
			const char *key, size_t count);

#endif
