/* worker.c -- a worker of a swarm: joining, signs of life, the server lost and found again. */
#include "swarm/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/stop.h"

/* Between two looks at what the others do, and between two tries to connect. */
static const double look_every_seconds = 0.02, retry_every_seconds = 0.5;
/* More for each worker, so that all together look a bounded number of times a second. */
static const double look_per_worker_seconds = 0.0002;

enum { AWAIT_STEP_US = 50000, OPEN_TRIES = 10 };
/* Bits of the epoch in a mark, which is kept with some flags (claims.c). */
enum { MARK_EPOCH = 0xffffff };
/* The dead are not known. */
static const uint64_t dead_unknown = UINT64_MAX;

static struct redis_link *worker_control(const struct swarm_worker *w, const char *what,
					 char key[SWARM_KEY_MAX])
{
	return redis_net_link(&w->net, swarm_key(&w->names, what, key));
}

/* ---- among the others ---- */

static int worker_read_dead(struct swarm_worker *w, struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *dead;
	struct redis_link *l = worker_control(w, "dead", key);
	int status = redis_link_ask(l, &dead, err, "SMEMBERS %s", key);

	if (status)
		return status;
	buf_clear(&w->void_owners);
	/* What it gives away and no other has taken is its own when it asks for it again. */
	buf_addf(&w->void_owners, " -%llu", (unsigned long long)w->page->number);
	for (size_t i = 0; i < dead->elements; i++)
		buf_addf(&w->void_owners, " %s -%s", dead->element[i]->str, dead->element[i]->str);
	w->dead_count = dead->elements;
	freeReplyObject(dead);
	return 0;
}

static int worker_join(struct swarm_worker *w, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = worker_control(w, "beats", key);
	redisReply *number;
	int status;

	swarm_begin_script(&w->net, l, SCRIPT_JOIN, key, 2);
	redis_link_args(l, w->options.label);
	redis_link_argu(l, w->epoch);
	status = redis_link_send(l, err);
	if (!status)
		status = redis_link_read(l, &number, err);
	if (status)
		return status;
	atomic_store(&w->page->number, redis_reply_number(number));
	freeReplyObject(number);
	return 0;
}

/* Others took this worker for dead: what it has taken may be theirs now. It continues under a new
 * number, and takes what is still free. */
static int worker_join_again(struct swarm_worker *w, struct err *err)
{
	int status = worker_join(w, err);

	if (!status)
		status = worker_read_dead(w, err);
	w->mine_sure = 0;
	return status ? status : claims_flush(w, err);
}

/* A restarted server may have lost the last changes of `freed`, so that it comes to a value again
 * that was another's. */
static uint64_t worker_mark(const struct swarm_worker *w)
{
	return (uint64_t)(w->epoch & MARK_EPOCH) << 32 | (uint32_t)w->freed;
}

static int worker_understand(struct swarm_worker *w, const redisReply *r, struct err *err)
{
	uint64_t member = redis_reply_number(redis_reply_at(r, 0)), dead;
	int status = 0;

	if (!redis_reply_number(redis_reply_at(r, 6)))
		return err_set(err, ENOENT,
			       "the Redis server does not know the run %s any more (did it restart "
			       "without an append-only file?)",
			       w->names.run);
	if (member == 2)
		return err_set(err, EPERM, "this worker was dropped: work that it gave was wrong");
	w->freed = redis_reply_number(redis_reply_at(r, 1));
	w->mark = worker_mark(w);
	dead = redis_reply_number(redis_reply_at(r, 2));
	w->waiting = redis_reply_number(redis_reply_at(r, 3));
	w->items = redis_reply_number(redis_reply_at(r, 4));
	w->stopped = redis_reply_number(redis_reply_at(r, 5));
	w->members = redis_reply_number(redis_reply_at(r, 7));
	if (dead != w->dead_count)
		status = worker_read_dead(w, err);
	if (!status && !member)
		status = worker_join_again(w, err);
	return status;
}

/* Others are declared dead only by who has been connected for as long: while the server was away
 * no worker could give a sign of life. */
static unsigned worker_dead_ms(const struct swarm_worker *w, double now)
{
	if (now - w->connected_seconds < w->options.dead_seconds)
		return 0;
	return (unsigned)(w->options.dead_seconds * 1000);
}

int worker_pay_freed(struct swarm_worker *w, struct err *err)
{
	char key[SWARM_KEY_MAX];
	int status = 0;

	if (w->owes_freed)
		status = redis_link_do(worker_control(w, "freed", key), err, "INCR %s", key);
	w->owes_freed &= status != 0;
	return status;
}

static int worker_look_now(struct swarm_worker *w, const char *channel, double now, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = worker_control(w, "beats", key);
	redisReply *reply;
	int status;

	swarm_begin_script(&w->net, l, SCRIPT_LOOK, key, 3);
	redis_link_argu(l, w->page->number);
	redis_link_args(l, channel);
	redis_link_argu(l, worker_dead_ms(w, now));
	atomic_fetch_add(&w->page->trips, 1);
	status = redis_link_send(l, err);
	if (!status)
		status = redis_link_read(l, &reply, err);
	if (status)
		return status;
	status = worker_understand(w, reply, err);
	freeReplyObject(reply);
	/* Where the way to the server is long, looks are rarer. */
	w->look_seconds = clock_seconds();
	w->look_seconds += look_every_seconds + look_per_worker_seconds * (double)w->members +
			   50 * (w->look_seconds - now);
	return status;
}

int worker_look(struct swarm_worker *w, const char *channel, bool now, struct err *err)
{
	double seconds = clock_seconds();
	bool online;
	int status;

	if (!now && seconds < w->look_seconds)
		return 0;
	status = worker_online(w, &online, err);
	if (status || !online)
		return status;
	status = worker_look_now(w, channel, seconds, err);
	return status ? worker_lost(w, status, err) : 0;
}

/* ---- the server, lost and found ---- */

static int worker_connect(struct swarm_worker *w, struct err *err)
{
	int status = redis_net_open(&w->net, w->options.url, swarm_scripts, err);

	if (status)
		return status;
	w->connected_seconds = clock_seconds();
	w->look_seconds = 0;
	w->dead_count = dead_unknown;
	if (w->epoch != redis_net_epoch(&w->net))
		w->mine_sure = w->states_sure = 0;
	w->epoch = redis_net_epoch(&w->net);
	return 0;
}

/* A connection that is made again: the run must be there still; what was done meanwhile is sent. */
static int worker_reconnect(struct swarm_worker *w, struct err *err)
{
	int status = worker_connect(w, err);

	if (!status)
		status = worker_look_now(w, "", clock_seconds(), err);
	if (!status)
		status = claims_flush(w, err);
	if (status == -ENOTCONN)
		redis_net_close(&w->net);
	return status;
}

int worker_lost(struct swarm_worker *w, int status, struct err *err)
{
	if (status != -ENOTCONN)
		return status;
	if (w->lost_seconds <= 0)
		atomic_fetch_add(&w->page->lost, 1);
	redis_net_close(&w->net);
	if (w->lost_seconds <= 0) {
		w->lost_seconds = clock_seconds();
		w->retry_seconds = w->lost_seconds; /* it may have been the line only */
		w->lost_works = 0;
		w->waiting = w->items = 0;
	}
	return err_forget(err, status, ENOTCONN);
}

/* One try. */
static int worker_retry(struct swarm_worker *w, struct err *err)
{
	int status = worker_reconnect(w, err);

	if (!status)
		w->lost_seconds = 0;
	else
		w->retry_seconds = clock_seconds() + retry_every_seconds;
	return err_forget(err, status, ENOTCONN);
}

static bool worker_may_go_on(const struct swarm_worker *w)
{
	return w->lost_works < w->options.offline_works &&
	       clock_seconds() - w->lost_seconds < w->options.offline_seconds;
}

int worker_online(struct swarm_worker *w, bool *ret, struct err *err)
{
	int status = 0;

	if (w->lost_seconds > 0 && clock_seconds() >= w->retry_seconds)
		status = worker_retry(w, err);
	if (!status && w->lost_seconds > 0 && !worker_may_go_on(w))
		status = worker_await(w, err);
	*ret = w->lost_seconds <= 0;
	return status;
}

int worker_await(struct swarm_worker *w, struct err *err)
{
	double until = w->lost_seconds + w->options.offline_seconds + w->options.patience_seconds;
	int status = 0;

	while (w->lost_seconds > 0 && !status) {
		if (stop_requested)
			return err_set(err, EINTR, "stopped while the Redis server was away");
		if (clock_seconds() > until)
			return err_set(err, EHOSTDOWN, "the Redis server was away for %.0f s",
				       clock_seconds() - w->lost_seconds);
		if (clock_seconds() < w->retry_seconds)
			usleep(AWAIT_STEP_US);
		else
			status = worker_retry(w, err);
	}
	return status;
}

/* ---- opening and closing ---- */

static int worker_read_shards(struct swarm_worker *w, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = worker_control(w, "about", key);
	redisReply *shards;
	int status = redis_link_ask(l, &shards, err, "HGET %s shards", key);
	uint64_t count;

	if (status)
		return status;
	count = redis_reply_number(shards);
	freeReplyObject(shards);
	if (!count || count > SHARDS_MAX)
		return err_set(err, ENOENT, "the Redis server has no run %s", w->names.run);
	w->names.shards = (unsigned)count;
	return 0;
}

static int worker_begin(struct swarm_worker *w, struct err *err)
{
	int status = worker_connect(w, err);

	if (!status)
		status = worker_read_shards(w, err);
	if (!status && !w->page->number)
		status = worker_join(w, err);
	if (!status)
		status = worker_look_now(w, "", clock_seconds(), err);
	if (status)
		redis_net_close(&w->net);
	return status;
}

/* The run was there a moment ago: a line that is cut now is tried again, too. */
int worker_open(struct swarm_worker *w, const struct worker_options *o, struct worker_page *page,
		struct err *err)
{
	int status;

	must(swarm_name_is_valid(o->run));
	*w = (struct swarm_worker){ .options = *o, .page = page, .names.shards = 1 };
	strcpy(w->names.run, o->run);
	for (unsigned tries = 1;; tries++) {
		status = worker_begin(w, err);
		if (status != -ENOTCONN || tries == OPEN_TRIES || stop_requested)
			return status;
		err_forget(err, status, ENOTCONN);
		usleep((useconds_t)(retry_every_seconds * 1e6));
	}
}

static int worker_leave(struct swarm_worker *w, const char *how, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = worker_control(w, "beats", key);

	swarm_begin_script(&w->net, l, SCRIPT_LEAVE, key, 2);
	redis_link_argu(l, w->page->number);
	redis_link_args(l, how);
	return redis_link_finish(l, err);
}

void worker_close(struct swarm_worker *w, const char *how)
{
	struct err none = { 0 };

	if (w->lost_seconds > 0)
		worker_retry(w, &none);
	if (w->lost_seconds <= 0 && !claims_flush(w, &none))
		worker_leave(w, how, &none);
	redis_net_close(&w->net);
	buf_free(&w->void_owners);
	hash_map_free(&w->known);
	free(w->mine.items);
	free(w->states.items);
}
