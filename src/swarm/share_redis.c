/* share_redis.c -- what workers of one search share, on a Redis or Valkey server.
 *
 * Work that is given away is an entry of a stream with the fields w (its hash), g (who gives it)
 * and i (the bytes). Its claim is -W before the entry is there, so that it is free again if W dies
 * in between; who reads the entry takes the claim over and removes the entry in the same step in
 * which it stops to count as waiting. An entry whose reader died is read by another after a while.
 */
#include "swarm/share_redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/stop.h"

/* Work given that may wait; kept here, in case that the server loses it; how long one request of
 * the server for work may take. */
enum { ITEMS_MAX = 1024, GIVEN_KEPT = 64, BLOCK_MS = 200 };

struct given_work {
	struct hash work;
	struct buf item;
};

struct share_redis {
	struct share share;
	struct swarm_worker *worker;
	char channel[RUN_NAME_MAX + 1];
	struct claims_queue queue;
	uint64_t freed; /* that the search has seen */
	bool nothing_left, made;
	struct given_work given[GIVEN_KEPT]; /* a ring */
	size_t given_count;
	char given_server[64]; /* that has them */
	struct hash got;       /* the last piece that was given to this worker, by */
	uint64_t got_from;     /* this one; 0: none */
};

static struct share_redis *redis_of(struct share *s)
{
	return (struct share_redis *)s;
}

static struct redis_link *channel_link(const struct share_redis *r, const char *what,
				       char key[SWARM_KEY_MAX])
{
	return redis_net_link(&r->worker->net,
			      swarm_channel_key(&r->worker->names, what, r->channel, key));
}

/* The stream and its group are made by the worker that comes first. */
static int channel_make(struct share_redis *r, struct err *err)
{
	char channels[SWARM_KEY_MAX], items[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", items);
	struct err mine = { 0 };
	int status;

	if (r->made)
		return 0;
	swarm_key(&r->worker->names, "channels", channels);
	status = redis_link_do(l, err, "SADD %s %s", channels, r->channel);
	if (status)
		return status;
	status = redis_link_do(l, &mine, "XGROUP CREATE %s workers 0 MKSTREAM", items);
	if (status == -EPROTO && strstr(mine.text, "BUSYGROUP"))
		status = 0;
	r->made = !status;
	return status ? err_set(err, -status, "%s", mine.text) : 0;
}

/* What ends the search is kept for who reports it. */
static int share_redis_result(struct share_redis *r, int status, const struct err *err)
{
	if (status && status != -EAGAIN && !r->worker->failed.code)
		r->worker->failed = *err;
	return status;
}

static void share_redis_announce(struct share *s, struct hash work)
{
	claims_announce(redis_of(s)->worker, &redis_of(s)->queue, work);
}

static int share_redis_look(struct share_redis *r, bool now, struct err *err)
{
	return worker_look(r->worker, r->channel, now, err);
}

static int share_redis_take(struct share *s, struct hash work, bool *ret_mine, struct err *err)
{
	struct share_redis *r = redis_of(s);
	int status = share_redis_look(r, false, err);

	if (!status)
		status = claims_take(r->worker, &r->queue, work, ret_mine, err);
	return share_redis_result(r, status, err);
}

/* ---- counting ---- */

/* Sends what is due, if the server is there. */
static int share_redis_flush(struct share_redis *r, struct err *err)
{
	bool online;
	int status = worker_online(r->worker, &online, err);

	if (status || !online)
		return status;
	status = claims_flush(r->worker, err);
	return status ? worker_lost(r->worker, status, err) : 0;
}

static int share_redis_count(struct share *s, struct hash state, struct err *err)
{
	struct share_redis *r = redis_of(s);

	claims_count(r->worker, state);
	return claims_are_many(r->worker) ? share_redis_result(r, share_redis_flush(r, err), err)
					  : 0;
}

static int counted_ask(struct share_redis *r, uint64_t *ret, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	char key[SWARM_KEY_MAX];
	redisReply *reply;
	int status = 0;

	*ret = 0;
	for (unsigned i = 0; i < w->names.shards && !status; i++) {
		struct redis_link *l =
			redis_net_link(&w->net, swarm_shard_key(&w->names, "states", i, key));

		status = redis_link_ask(l, &reply, err, "SCARD %s", key);
		if (status)
			break;
		*ret += redis_reply_number(reply);
		freeReplyObject(reply);
	}
	return status;
}

static int share_redis_counted(struct share *s, uint64_t *ret, struct err *err)
{
	struct share_redis *r = redis_of(s);
	int status;

	for (;;) {
		status = worker_await(r->worker, err);
		if (!status)
			status = claims_flush(r->worker, err);
		if (!status)
			status = counted_ask(r, ret, err);
		if (!status || (status = worker_lost(r->worker, status, err)))
			return share_redis_result(r, status, err);
	}
}

/* ---- giving ---- */

static uint64_t share_redis_freed(struct share *s)
{
	struct share_redis *r = redis_of(s);

	if (r->freed != r->worker->freed) {
		r->freed = r->worker->freed;
		claims_ask_again(r->worker, &r->queue);
	}
	return r->freed;
}

static bool share_redis_is_wanted(struct share *s)
{
	struct share_redis *r = redis_of(s);
	struct err none = { 0 };

	if (share_redis_look(r, false, &none))
		return false;
	return r->worker->lost_seconds <= 0 && r->worker->waiting > r->worker->items;
}

static int item_add(struct share_redis *r, struct hash work, const void *item, size_t len,
		    struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", key);

	return redis_link_do(l, err, "XADD %s * w %b g %llu i %b", key, &work, (size_t)HASH_BYTES,
			     (unsigned long long)r->worker->page->number, item, len);
}

static void given_keep(struct share_redis *r, struct hash work, const void *item, size_t len)
{
	struct given_work *g = &r->given[r->given_count++ % GIVEN_KEPT];

	g->work = work;
	buf_clear(&g->item);
	buf_add(&g->item, item, len);
	snprintf(r->given_server, sizeof(r->given_server), "%s", r->worker->server);
}

/* After a restart of the server: what it may have lost is given again. Where another has the work
 * already, the entry is dropped by who reads it. */
static int given_repeat(struct share_redis *r, struct err *err)
{
	size_t count = r->given_count < GIVEN_KEPT ? r->given_count : GIVEN_KEPT;
	int status = 0;

	if (!count || !strcmp(r->given_server, r->worker->server))
		return 0;
	for (size_t i = 0; i < count && !status; i++)
		status = item_add(r, r->given[i].work, buf_str(&r->given[i].item),
				  r->given[i].item.len, err);
	if (!status)
		snprintf(r->given_server, sizeof(r->given_server), "%s", r->worker->server);
	return status;
}

/* The owner, as claims have it: this worker, or this worker that gives it away. */
static void owner_names(const struct share_redis *r, char me[32], char gives[32])
{
	snprintf(me, 32, "%llu", (unsigned long long)r->worker->page->number);
	snprintf(gives, 32, "-%s", me);
}

/* The server was lost while work was given: is the work still ours? */
static int give_decide(struct share_redis *r, struct hash work, bool *ret_ours, struct err *err)
{
	char me[32], gives[32];
	uint64_t changed;
	int status;

	for (;;) {
		status = worker_await(r->worker, err);
		owner_names(r, me, gives);
		if (!status)
			status = claims_swap(r->worker, &work, 1, gives, me, &changed, err);
		*ret_ours = !status && changed;
		if (!status || (status = worker_lost(r->worker, status, err)))
			return status;
	}
}

static int share_redis_give(struct share *s, struct hash work, const void *item, size_t len,
			    struct err *err)
{
	struct share_redis *r = redis_of(s);
	char me[32], gives[32];
	uint64_t changed;
	bool ours = false;
	int status;

	if (len > SHARE_ITEM_MAX || r->worker->lost_seconds > 0 || r->worker->items >= ITEMS_MAX)
		return -EAGAIN;
	owner_names(r, me, gives);
	status = channel_make(r, err);
	if (!status)
		status = claims_swap(r->worker, &work, 1, me, gives, &changed, err);
	if (!status && changed)
		status = item_add(r, work, item, len, err);
	if (status && (status = worker_lost(r->worker, status, err)))
		return share_redis_result(r, status, err);
	if (r->worker->lost_seconds > 0)
		status = give_decide(r, work, &ours, err);
	if (status || ours)
		return status ? share_redis_result(r, status, err) : -EAGAIN;
	r->worker->items++;
	claims_forget(r->worker, &r->queue, work);
	given_keep(r, work, item, len);
	return 0;
}

/* ---- bad work ---- */

/* Whoever sends work that is not what it is said to be is dropped after some: its claims are void.
 */
static int sender_is_bad(struct share_redis *r, uint64_t sender, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	char key[SWARM_KEY_MAX];
	struct redis_link *l = redis_net_link(&w->net, swarm_key(&w->names, "bad", key));
	redisReply *reply;
	int status = redis_link_ask(l, &reply, err, "HINCRBY %s %llu 1", key,
				    (unsigned long long)sender);
	uint64_t times;

	if (status)
		return status;
	times = redis_reply_number(reply);
	freeReplyObject(reply);
	if (times < SWARM_BAD_MAX)
		return 0;
	swarm_begin_script(&w->net, l, SCRIPT_LEAVE, swarm_key(&w->names, "beats", key), 2);
	redis_link_argu(l, sender);
	redis_link_args(l, "bad");
	status = redis_link_send(l, err);
	if (!status)
		status = redis_link_read(l, &reply, err);
	if (!status)
		freeReplyObject(reply);
	return status;
}

static int release_try(struct share_redis *r, struct hash work, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	char key[SWARM_KEY_MAX], me[32], gives[32];
	uint64_t changed;
	int status;

	owner_names(r, me, gives);
	/* What was given names itself: a lie about that leads here, too. */
	if (r->got_from && !hash_equal(r->got, work) && !claims_is_mine(w, work))
		work = r->got;
	status = claims_swap(r->worker, &work, 1, me, "", &changed, err);
	if (!status)
		status = redis_link_do(redis_net_link(&w->net, swarm_key(&w->names, "freed", key)),
				       err, "INCR %s", key);
	if (!status && r->got_from && hash_equal(r->got, work)) {
		status = sender_is_bad(r, r->got_from, err);
		r->got_from = 0;
	}
	if (!status)
		claims_forget(r->worker, &r->queue, work);
	return status;
}

static int share_redis_release(struct share *s, struct hash work, struct err *err)
{
	struct share_redis *r = redis_of(s);
	int status;

	for (;;) {
		status = worker_await(r->worker, err);
		if (!status)
			status = release_try(r, work, err);
		if (!status || (status = worker_lost(r->worker, status, err)))
			break;
	}
	return share_redis_result(r, status, err);
}

/* ---- waiting ---- */

/* An entry of the stream. */
struct item_entry {
	const char *id;
	struct hash work;
	uint64_t from;
	const char *bytes;
	size_t len;
};

static const redisReply *entry_field(const redisReply *fields, const char *name)
{
	for (size_t i = 0; fields && i + 1 < fields->elements; i += 2)
		if (fields->element[i]->str && !strcmp(fields->element[i]->str, name))
			return fields->element[i + 1];
	return NULL;
}

/* Entries are others' words: false for one that is not of this form. */
static bool entry_read(const redisReply *r, struct item_entry *ret)
{
	const redisReply *id = redis_reply_at(r, 0), *fields = redis_reply_at(r, 1);
	const redisReply *work = entry_field(fields, "w"), *item = entry_field(fields, "i");

	*ret = (struct item_entry){ .id = id && id->str ? id->str : "0-0" };
	ret->from = redis_reply_number(entry_field(fields, "g"));
	if (!work || work->type != REDIS_REPLY_STRING || work->len != HASH_BYTES || !item ||
	    item->type != REDIS_REPLY_STRING || (size_t)item->len > SHARE_ITEM_MAX || !ret->from)
		return false;
	memcpy(&ret->work, work->str, HASH_BYTES);
	ret->bytes = item->str;
	ret->len = (size_t)item->len;
	return true;
}

/* The entry is gone, and this worker stops to count as waiting if it got it: in one step. */
static int entry_remove(struct share_redis *r, const char *id, bool got, struct err *err)
{
	char items[SWARM_KEY_MAX], waiting[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", items);
	int status;

	channel_link(r, "waiting", waiting);
	status = redis_link_do(l, err, "MULTI");
	if (!status && got)
		status = redis_link_do(l, err, "HDEL %s %llu", waiting,
				       (unsigned long long)r->worker->page->number);
	if (!status)
		status = redis_link_do(l, err, "XACK %s workers %s", items, id);
	if (!status)
		status = redis_link_do(l, err, "XDEL %s %s", items, id);
	return status ? status : redis_link_do(l, err, "EXEC");
}

/* *ret_got: its work is ours now, and its bytes are in ret_item. */
static int entry_take(struct share_redis *r, const redisReply *entry, struct buf *ret_item,
		      bool *ret_got, struct err *err)
{
	struct item_entry e;
	int status = 0;

	*ret_got = false;
	if (entry_read(entry, &e))
		status = claims_take_given(r->worker, &r->queue, e.work, e.from, ret_got, err);
	else if (e.from)
		status = sender_is_bad(r, e.from, err);
	if (!status)
		status = entry_remove(r, e.id, *ret_got, err);
	if (status || !*ret_got)
		return status;
	buf_clear(ret_item);
	buf_add(ret_item, e.bytes, e.len);
	r->got = e.work;
	r->got_from = e.from;
	return 0;
}

/* Entries of a reply to XREADGROUP: [[key, [entry...]]]; NULL if there are none. */
static const redisReply *read_entry(const redisReply *reply)
{
	return redis_reply_at(redis_reply_at(redis_reply_at(reply, 0), 1), 0);
}

/* An entry that is new, or whose reader has had it for long without removing it. */
static int wait_for_entry(struct share_redis *r, unsigned block_ms, struct buf *ret_item,
			  bool *ret_got, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	unsigned long long me = w->page->number;
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", key);
	const redisReply *entry;
	redisReply *reply;
	int status = redis_link_ask(l, &reply, err, "XAUTOCLAIM %s workers %llu %u 0-0 COUNT 1",
				    key, me, (unsigned)(w->options.dead_seconds * 1000));

	if (status)
		return status;
	entry = redis_reply_at(redis_reply_at(reply, 1), 0);
	if (!entry) {
		freeReplyObject(reply);
		status = block_ms ? redis_link_ask(l, &reply, err,
						   "XREADGROUP GROUP workers %llu COUNT 1 BLOCK %u "
						   "STREAMS %s >",
						   me, block_ms, key)
				  : redis_link_ask(
					    l, &reply, err,
					    "XREADGROUP GROUP workers %llu COUNT 1 STREAMS %s >",
					    me, key);
		if (status)
			return status;
		entry = read_entry(reply);
	}
	if (entry)
		status = entry_take(r, entry, ret_item, ret_got, err);
	freeReplyObject(reply);
	return status;
}

static int wait_ask(struct share_redis *r, enum share_wait *ret, struct err *err)
{
	static const enum share_wait answers[] = { SHARE_NOTHING_YET, SHARE_LOOK_AGAIN,
						   SHARE_NOTHING_LEFT };
	const struct swarm_worker *w = r->worker;
	char key[SWARM_KEY_MAX];
	struct redis_link *l = redis_net_link(&w->net, swarm_key(&w->names, "beats", key));
	redisReply *reply;
	int status;

	swarm_begin_script(&w->net, l, SCRIPT_WAIT, key, 3);
	redis_link_argu(l, w->page->number);
	redis_link_args(l, r->channel);
	redis_link_argu(l, r->freed);
	status = redis_link_send(l, err);
	if (!status)
		status = redis_link_read(l, &reply, err);
	if (status)
		return status;
	*ret = answers[redis_reply_number(reply) % ARRAY_LEN(answers)];
	freeReplyObject(reply);
	return 0;
}

/* What was claimed ahead and not taken is free for others. */
static int wait_give_back(struct share_redis *r, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	char key[SWARM_KEY_MAX];
	uint64_t count;
	int status = claims_give_back(r->worker, &r->queue, &count, err);

	if (status || !count)
		return status;
	return redis_link_do(redis_net_link(&w->net, swarm_key(&w->names, "freed", key)), err,
			     "INCR %s", key);
}

static int wait_once(struct share_redis *r, unsigned block_ms, struct buf *ret_item,
		     enum share_wait *ret, struct err *err)
{
	bool got = false;
	int status = claims_flush(r->worker, err);

	if (!status)
		status = channel_make(r, err);
	if (!status)
		status = given_repeat(r, err);
	if (!status)
		status = wait_give_back(r, err);
	if (!status)
		status = share_redis_look(r, true, err);
	if (r->worker->lost_seconds > 0)
		return status;
	if (!status)
		status = wait_ask(r, ret, err);
	if (!status && *ret == SHARE_NOTHING_YET)
		status = wait_for_entry(r, block_ms, ret_item, &got, err);
	if (!status && got)
		*ret = SHARE_GOT;
	return status;
}

static int share_redis_wait(struct share *s, double seconds, struct buf *ret_item,
			    enum share_wait *ret, struct err *err)
{
	struct share_redis *r = redis_of(s);
	double until = clock_seconds() + seconds, left = seconds;
	int status = 0;

	*ret = r->nothing_left ? SHARE_NOTHING_LEFT : SHARE_NOTHING_YET;
	while (!status && *ret == SHARE_NOTHING_YET) {
		unsigned block_ms = left * 1000 < BLOCK_MS ? (unsigned)(left * 1000) : BLOCK_MS;

		status = worker_await(r->worker, err);
		if (!status)
			status = wait_once(r, block_ms, ret_item, ret, err);
		if (status)
			status = worker_lost(r->worker, status, err);
		if (status == -EINTR && stop_requested)
			status = err_forget(err, status, EINTR);
		left = until - clock_seconds();
		if (left <= 0 || stop_requested || r->worker->stopped)
			break;
	}
	if (*ret == SHARE_LOOK_AGAIN && !status) {
		status = share_redis_look(r, true, err);
		share_redis_freed(s);
	}
	r->nothing_left = *ret == SHARE_NOTHING_LEFT;
	return share_redis_result(r, status, err);
}

/* ---- opening ---- */

static void share_redis_close(struct share *s)
{
	struct share_redis *r = redis_of(s);

	r->worker->searches_done += r->nothing_left;
	claims_queue_free(&r->queue);
	for (size_t i = 0; i < GIVEN_KEPT; i++)
		buf_free(&r->given[i].item);
	free(r);
}

static const struct share_ops share_redis_ops = {
	.announce = share_redis_announce,
	.take = share_redis_take,
	.release = share_redis_release,
	.count = share_redis_count,
	.counted = share_redis_counted,
	.freed = share_redis_freed,
	.is_wanted = share_redis_is_wanted,
	.give = share_redis_give,
	.wait = share_redis_wait,
	.close = share_redis_close,
};

struct share *share_redis_open(struct swarm_worker *w, const char *channel)
{
	struct share_redis *r = must_alloc(sizeof(*r));

	must(swarm_name_is_valid(channel));
	r->share.ops = &share_redis_ops;
	r->worker = w;
	r->freed = w->freed;
	strcpy(r->channel, channel);
	w->searches++;
	return &r->share;
}
