/* worker.h -- a worker of a swarm: its place among the others, what it has taken and counted.
 *
 * What this worker knows is in memory; the server is asked only about work that looks new, many
 * pieces at a time. A claim ahead of need is bounded (claims_batch_max) and given back when the
 * worker has nothing to do.
 *
 * Without the server the worker continues alone for a bounded time and number of pieces, and takes
 * what it meets. When the server is back, it sends what it did: states are sets, so that nothing is
 * counted twice; a piece that another has done as well is a duplicate, counted as such. After a
 * restart of the server all that the worker has is sent again, in case the server lost the last
 * second.
 *
 * A connection may end before a request arrives, or after the server has done it and before the
 * answer is here. So every request may be made once more: claims that were asked for and are not
 * known to be ours are given back like those not needed, what was given away is claimed by its
 * giver to see whose it is, and an entry of given work is kept until it is removed. */
#ifndef SWARM_WORKER_H
#define SWARM_WORKER_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/map.h"
#include "swarm/names.h"

struct worker_options {
	const struct redis_url *url;
	const char *run;
	const char *label;       /* where it is, for people */
	double dead_seconds;     /* a worker without a sign of life for so long is dead */
	double offline_seconds;  /* how long to continue without the server */
	uint64_t offline_works;  /* and with how many pieces of work */
	double patience_seconds; /* how long to wait for the server then */
};

#define WORKER_OPTIONS_INIT \
	{ \
		.dead_seconds = 10, .offline_seconds = 60, .offline_works = 100000, \
		.patience_seconds = 300 \
	}

/* What the process of a worker and the one that watches it share. */
struct worker_page {
	_Atomic uint64_t number;             /* of the worker; 0: it has none yet */
	_Atomic uint64_t taken;              /* pieces of work */
	_Atomic uint64_t duplicates;         /* of these: done by another as well */
	_Atomic uint64_t counted;            /* states that this worker has seen */
	_Atomic uint64_t asked;              /* pieces of work that the server was asked about */
	_Atomic uint64_t trips;              /* times that an answer of the server was waited for */
	_Atomic uint64_t lost;               /* times that the server was lost */
	_Atomic uint64_t transitions, calls; /* of the instrument */
};

struct hash_list {
	struct hash *items;
	size_t count, cap;
};

/* Work announced in one search, in its order; and what was claimed ahead of need, or asked for
 * without an answer. */
struct claims_queue {
	struct hash_list works, held;
	struct hash_list others; /* work that others had */
	size_t first;            /* works before it are known */
};

struct swarm_worker {
	struct worker_options options;
	struct redis_net net;
	struct swarm_names names;
	struct worker_page *page;
	uint32_t epoch; /* of the server that holds what was sent */

	/* The others. */
	uint64_t members, freed, dead_count, waiting, items;
	uint64_t mark;          /* another one after each change of `freed` and of the server */
	bool owes_freed;        /* claims were given back, and those who know of them do not know */
	struct buf void_owners; /* " -2 3 -3": claims of these are void; 2: this worker */
	double look_seconds;    /* when to look again */
	double connected_seconds;
	bool stopped; /* the run is to end */

	/* What is known: work -> flags and, of others' work, the mark then. */
	struct hash_map known;
	struct hash_list mine;   /* all work this worker has had */
	size_t mine_sure;        /* the server knows so many of these */
	struct hash_list states; /* all it has counted */
	size_t states_sure;
	uint64_t taken;

	unsigned searches, searches_done; /* opened; closed because nothing was left */
	struct err failed;                /* why sharing has failed */

	/* Without the server. */
	double lost_seconds, retry_seconds; /* since when; when to try again. 0: it is there */
	uint64_t lost_works;
};

/* Joins the run, which has to exist. */
int worker_open(struct swarm_worker *w, const struct worker_options *o, struct worker_page *page,
		struct err *err);
/* Sends what is not sent, and leaves: "done" where nothing is left of the run, else "left". */
void worker_close(struct swarm_worker *w, const char *how);

/* Is the server there? Tries to connect again when it is time to, and sends what was done since. An
 * error that waiting does not mend is returned. */
int worker_online(struct swarm_worker *w, bool *ret, struct err *err);
/* The same, waiting for it, as long as patience lasts or until a request to stop (-EINTR). */
int worker_await(struct swarm_worker *w, struct err *err);
/* After a call that failed: 0 if the server was lost, which is noted; else the status. */
int worker_lost(struct swarm_worker *w, int status, struct err *err);
/* Claims of this worker became free: those who know of the work may ask again. To be called again
 * until it succeeds; does nothing where none did. */
int worker_pay_freed(struct swarm_worker *w, struct err *err);
/* Gives a sign of life, and looks what the others do, in a channel; at most every so often. */
int worker_look(struct swarm_worker *w, const char *channel, bool now, struct err *err);

/* ---- claims.c ---- */

void claims_announce(struct swarm_worker *w, struct claims_queue *q, struct hash work);
int claims_take(struct swarm_worker *w, struct claims_queue *q, struct hash work, bool *ret_mine,
		struct err *err);
/* The connection was lost while the work was given away: is it this worker's still? If so, or if no
 * other has it, it is from now on. */
int claims_decide(struct swarm_worker *w, struct hash work, bool *ret_mine, struct err *err);
bool claims_is_mine(const struct swarm_worker *w, struct hash work);
/* It is another's from now on, as far as is known. */
void claims_forget(struct swarm_worker *w, struct claims_queue *q, struct hash work);
/* Takes one piece that worker `from` gives away. */
int claims_take_given(struct swarm_worker *w, struct claims_queue *q, struct hash work,
		      uint64_t from, bool *ret_mine, struct err *err);
/* From one owner to another, or to none (""); *ret_count: how many were the first's. */
int claims_swap(struct swarm_worker *w, const struct hash *works, size_t count, const char *from,
		const char *to, uint64_t *ret_count, struct err *err);
/* Gives back what was claimed, or may have been, and not taken. */
int claims_give_back(struct swarm_worker *w, struct claims_queue *q, struct err *err);
void claims_queue_free(struct claims_queue *q);
/* What became free may be asked for again. */
void claims_ask_again(struct swarm_worker *w, struct claims_queue *q);

void claims_count(struct swarm_worker *w, struct hash state);
/* Sends what the server does not know for sure: states, and work that was taken without it. */
int claims_flush(struct swarm_worker *w, struct err *err);
bool claims_are_many(const struct swarm_worker *w);

void hash_list_add(struct hash_list *l, struct hash h);

#endif
