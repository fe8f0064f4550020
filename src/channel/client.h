/* client.h -- the owner's side of a channel: plans, calls and walks to be carried out elsewhere. */
#ifndef CHANNEL_CLIENT_H
#define CHANNEL_CLIENT_H

#include "channel/channel.h"

struct tree;

struct channel_client {
	struct channel *channel;
	unsigned fields;
	double deadline_seconds; /* of a call */
	void *own;
	/* Has the request run and waits for its end; a step may take so many seconds. */
	enum target_fate (*send)(void *own, enum channel_request request, double seconds);
};

/* Of a walk, or of mounting: these may take longer than a call. */
double channel_seconds(const struct channel_client *e);
/* What went wrong there that is no answer of the file system. */
int channel_failure(const struct channel_client *e, struct err *err);

int channel_follow(const struct channel_client *e, const struct plan_step *steps, size_t count,
		   struct plan_end *ret, struct err *err);
int channel_call(const struct channel_client *e, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err);
int channel_race(const struct channel_client *e, const struct call *calls, size_t count,
		 uint64_t seed, struct raced *ret, enum target_fate *ret_fate, struct err *err);
int channel_observe(const struct channel_client *e, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err);
/* Runs a compiled program there; one that outlives even its end has hung. */
int channel_run_program(const struct channel_client *e, const struct buf *program, double seconds,
			struct program_end *ret, struct err *err);

#endif
