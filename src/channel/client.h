/* client.h -- the client's side of a channel: plans, calls and scans that the server carries out.
 */
#ifndef CHANNEL_CLIENT_H
#define CHANNEL_CLIENT_H

#include "channel/message.h"

struct tree;

struct channel_client {
	struct message *message;
	unsigned fields;
	bool scans_parts;        /* the server looks at parts of a tree where a plan says so */
	double deadline_seconds; /* of a call */
	void *own;
	/* Passes the turn and waits for it; a step may take so many seconds. */
	enum target_fate (*send)(void *own, enum message_request request, double seconds);
	/* Before the first step of a plan; NULL: there is nothing to prepare. */
	void (*begin_plan)(void *own);
};

/* Of a scan, or of mounting: these may take longer than a call. */
double channel_seconds(const struct channel_client *c);
/* What went wrong there that is no answer of the file system. */
int channel_failure(const struct channel_client *c, struct err *err);

/* All of these fail with -ECHILD where the client is NULL: the server could not be started. */
int channel_follow(const struct channel_client *c, const struct plan_step *steps, size_t count,
		   struct plan_report *ret, struct err *err);
int channel_call(const struct channel_client *c, const struct call *call, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err);
/* Whether the server would make this call: 0, or -LIMITS_NOT_MADE and why not. Where there is no
 * server, the call itself fails. */
int channel_admits(const struct channel_client *c, const struct call *call, struct err *err);
int channel_race(const struct channel_client *c, const struct call *calls, size_t count,
		 uint64_t seed, struct race_outcome *ret, enum target_fate *ret_fate,
		 struct err *err);
/* The same where the server looks at the tree afterwards, in one request: a kernel in a process. */
int channel_race_look(const struct channel_client *c, const struct call *calls, size_t count,
		      struct race_outcome *ret, struct tree *ret_tree, enum target_fate *ret_fate,
		      struct err *err);
int channel_observe(const struct channel_client *c, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err);
/* Runs a compiled program there; one that outlives even its end has hung. */
int channel_run_program(const struct channel_client *c, const struct buf *program, double seconds,
			struct program_report *ret, struct err *err);

#endif
