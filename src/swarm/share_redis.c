/* share_redis.c -- what workers of one search share, on a Redis or Valkey server.
 *
 * Work that is given away is an entry of a stream with the fields w (its hash), g (who gives it)
 * and i (the bytes). Its claim is -W before the entry is there, so that it is free again if W dies
 * in between, and W's own again if W comes to look at it before another has it. Who reads the entry
 * stops to count as waiting, takes the claim over, and removes the entry, in this order: whenever
 * the connection ends, it does all of that again with the entry that it has. An entry whose reader
 * died is read by another after a while. */
#include "swarm/share_redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/stop.h"

/* Work given that may wait; how long one request of the server for work may take; a number as text;
 * the name of an entry. */
enum { ITEMS_MAX = 1024, BLOCK_MS = 200, OWNER_LEN = 32, ENTRY_ID_LEN = 64 };

/* An entry of the stream that this worker has read and not removed. */
struct read_entry {
	char id[ENTRY_ID_LEN]; /* "": there is none */
	bool is_sound;
	struct hash work;
	uint64_t from;
	struct buf item;
};

struct share_redis {
	struct share share;
	struct swarm_worker *worker;
	char channel[RUN_NAME_MAX + 1];
	struct claims_queue queue;
	uint64_t asked_again; /* the mark when work of others was last announced again */
	uint64_t looked;      /* the mark when the search last looked at what is free */
	bool nothing_left;
	uint32_t made_epoch; /* of the server that has the stream; 0: none */
	struct read_entry entry;
	uint64_t lost_before; /* times that the server was lost when entries were last read */
	struct hash got;      /* the last piece that was given to this worker, by */
	uint64_t got_from;    /* this one; 0: none */
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

	if (r->made_epoch == r->worker->epoch)
		return 0;
	swarm_key(&r->worker->names, "channels", channels);
	status = redis_link_do(l, err, "SADD %s %s", channels, r->channel);
	if (status)
		return status;
	status = redis_link_do(l, &mine, "XGROUP CREATE %s workers 0 MKSTREAM", items);
	if (status == -EPROTO && strstr(mine.text, "BUSYGROUP"))
		status = 0;
	if (status)
		return err_set(err, -status, "%s", mine.text);
	r->made_epoch = r->worker->epoch;
	return 0;
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

	if (r->asked_again != r->worker->mark) {
		r->asked_again = r->worker->mark;
		claims_ask_again(r->worker, &r->queue);
	}
	return r->asked_again;
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

/* The owner, as claims have it: this worker, or this worker that gives it away. */
static void owner_names(const struct share_redis *r, char me[OWNER_LEN], char gives[OWNER_LEN])
{
	snprintf(me, OWNER_LEN, "%llu", (unsigned long long)r->worker->page->number);
	snprintf(gives, OWNER_LEN, "-%.30s", me);
}

/* Is the work ours still? It is not known whether the server was asked to give it away, or did so.
 */
static int give_decide(struct share_redis *r, struct hash work, bool *ret_ours, struct err *err)
{
	int status;

	for (;;) {
		status = worker_await(r->worker, err);
		if (!status)
			status = claims_decide(r->worker, work, ret_ours, err);
		if (!status || (status = worker_lost(r->worker, status, err)))
			return status;
	}
}

/* *ret_given: the entry is there. */
static int give_try(struct share_redis *r, struct hash work, const void *item, size_t len,
		    bool *ret_given, struct err *err)
{
	char me[OWNER_LEN], gives[OWNER_LEN];
	uint64_t changed;
	int status = channel_make(r, err);

	*ret_given = false;
	owner_names(r, me, gives);
	if (!status)
		status = claims_swap(r->worker, &work, 1, me, gives, &changed, err);
	if (!status && changed)
		status = item_add(r, work, item, len, err);
	if (status)
		return worker_lost(r->worker, status, err);
	*ret_given = changed;
	return 0;
}

static int share_redis_give(struct share *s, struct hash work, const void *item, size_t len,
			    struct err *err)
{
	struct share_redis *r = redis_of(s);
	bool given, ours = false;
	int status;

	if (len > SHARE_ITEM_MAX || r->worker->lost_seconds > 0 || r->worker->items >= ITEMS_MAX)
		return -EAGAIN;
	status = give_try(r, work, item, len, &given, err);
	if (!status && !given)
		status = give_decide(r, work, &ours, err);
	if (status || ours)
		return status ? share_redis_result(r, status, err) : -EAGAIN;
	r->worker->items++;
	claims_forget(r->worker, &r->queue, work);
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
	return redis_link_finish(l, err);
}

static int release_try(struct share_redis *r, struct hash work, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	char me[OWNER_LEN], gives[OWNER_LEN];
	uint64_t changed;
	int status;

	owner_names(r, me, gives);
	/* What was given names itself: a lie about that leads here, too. */
	if (r->got_from && !hash_equal(r->got, work) && !claims_is_mine(w, work))
		work = r->got;
	r->worker->owes_freed = true;
	status = claims_swap(r->worker, &work, 1, me, "", &changed, err);
	if (!status)
		status = worker_pay_freed(r->worker, err);
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

static const redisReply *entry_field(const redisReply *fields, const char *name)
{
	for (size_t i = 0; fields && i + 1 < fields->elements; i += 2)
		if (fields->element[i]->str && !strcmp(fields->element[i]->str, name))
			return fields->element[i + 1];
	return NULL;
}

/* Entries are others' words: one that is not of this form is not sound. */
static void entry_keep(struct read_entry *e, const redisReply *r)
{
	const redisReply *id = redis_reply_at(r, 0), *fields = redis_reply_at(r, 1);
	const redisReply *work = entry_field(fields, "w"), *item = entry_field(fields, "i");

	snprintf(e->id, sizeof(e->id), "%s", id && id->str ? id->str : "0-0");
	e->from = redis_reply_number(entry_field(fields, "g"));
	e->is_sound = work && work->type == REDIS_REPLY_STRING && work->len == HASH_BYTES && item &&
		      item->type == REDIS_REPLY_STRING && (size_t)item->len <= SHARE_ITEM_MAX &&
		      e->from;
	if (!e->is_sound)
		return;
	memcpy(&e->work, work->str, HASH_BYTES);
	buf_clear(&e->item);
	buf_add(&e->item, item->str, (size_t)item->len);
}

/* While it has an entry, this worker does not count as one that waits: another may remove the entry
 * that sees its claim. */
static int entry_stop_waiting(struct share_redis *r, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "waiting", key);

	return redis_link_do(l, err, "HDEL %s %llu", key,
			     (unsigned long long)r->worker->page->number);
}

static int entry_remove(struct share_redis *r, const char *id, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", key);
	int status = redis_link_do(l, err, "MULTI");

	if (!status)
		status = redis_link_do(l, err, "XACK %s workers %s", key, id);
	if (!status)
		status = redis_link_do(l, err, "XDEL %s %s", key, id);
	return status ? status : redis_link_do(l, err, "EXEC");
}

/* Takes the work of the entry that was read. Where the connection ends, it is done once more from
 * the beginning. *ret_got: it is ours now, and its bytes are in ret_item. */
static int entry_take(struct share_redis *r, struct buf *ret_item, bool *ret_got, struct err *err)
{
	struct read_entry *e = &r->entry;
	bool mine = false;
	int status;

	*ret_got = false;
	if (!e->id[0])
		return 0;
	status = entry_stop_waiting(r, err);
	if (!status && e->is_sound)
		status = claims_take_given(r->worker, &r->queue, e->work, e->from, &mine, err);
	else if (!status && e->from)
		status = sender_is_bad(r, e->from, err);
	if (!status)
		status = entry_remove(r, e->id, err);
	if (status)
		return status;
	e->id[0] = 0;
	*ret_got = mine;
	if (!mine)
		return 0;
	buf_clear(ret_item);
	buf_add(ret_item, buf_str(&e->item), e->item.len);
	r->got = e->work;
	r->got_from = e->from;
	return 0;
}

/* Keeps the entry of a reply to XREADGROUP, [[key, [entry...]]], or XAUTOCLAIM, [id, [entry...],
 * ...]; false if there is none. Frees the reply. */
static bool entry_find(struct share_redis *r, redisReply *reply, bool is_group)
{
	const redisReply *entry =
		redis_reply_at(redis_reply_at(is_group ? redis_reply_at(reply, 0) : reply, 1), 0);

	if (entry)
		entry_keep(&r->entry, entry);
	freeReplyObject(reply);
	return entry;
}

/* What the server gave to this worker in an answer that was lost. */
static int entry_read_lost(struct share_redis *r, struct err *err)
{
	uint64_t lost = r->worker->page->lost;
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", key);
	redisReply *reply;
	int status;

	if (lost == r->lost_before)
		return 0;
	status =
		redis_link_ask(l, &reply, err, "XREADGROUP GROUP workers %llu COUNT 1 STREAMS %s 0",
			       (unsigned long long)r->worker->page->number, key);
	if (!status && !entry_find(r, reply, true))
		r->lost_before = lost;
	return status;
}

/* An entry that is new, or whose reader has had it for long without removing it. */
static int entry_read(struct share_redis *r, unsigned block_ms, struct err *err)
{
	const struct swarm_worker *w = r->worker;
	unsigned long long me = w->page->number;
	char key[SWARM_KEY_MAX];
	struct redis_link *l = channel_link(r, "items", key);
	redisReply *reply;
	int status = redis_link_ask(l, &reply, err, "XAUTOCLAIM %s workers %llu %u 0-0 COUNT 1",
				    key, me, (unsigned)(w->options.dead_seconds * 1000));

	if (status || entry_find(r, reply, false))
		return status;
	status = block_ms ? redis_link_ask(
				    l, &reply, err,
				    "XREADGROUP GROUP workers %llu COUNT 1 BLOCK %u STREAMS %s >",
				    me, block_ms, key)
			  : redis_link_ask(l, &reply, err,
					   "XREADGROUP GROUP workers %llu COUNT 1 STREAMS %s >", me,
					   key);
	if (!status)
		entry_find(r, reply, true);
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

	swarm_begin_script(&w->net, l, SCRIPT_WAIT, key, 4);
	redis_link_argu(l, w->page->number);
	redis_link_args(l, r->channel);
	if (r->looked == w->mark)
		redis_link_argu(l, w->freed);
	else
		redis_link_args(l, "");
	redis_link_argu(l, w->mark);
	status = redis_link_send(l, err);
	if (!status)
		status = redis_link_read(l, &reply, err);
	if (status)
		return status;
	*ret = answers[redis_reply_number(reply) % ARRAY_LEN(answers)];
	freeReplyObject(reply);
	return 0;
}

static int wait_once(struct share_redis *r, unsigned block_ms, struct buf *ret_item,
		     enum share_wait *ret, struct err *err)
{
	bool got = false;
	int status = claims_flush(r->worker, err);

	if (!status)
		status = channel_make(r, err);
	if (!status && !r->entry.id[0])
		status = entry_read_lost(r, err);
	if (!status)
		status = entry_take(r, ret_item, &got, err);
	if (!status && got)
		*ret = SHARE_GOT;
	if (status || got)
		return status;
	status = claims_give_back(r->worker, &r->queue, err);
	if (!status)
		status = share_redis_look(r, true, err);
	if (status || r->worker->lost_seconds > 0)
		return status;
	status = wait_ask(r, ret, err);
	if (status || *ret != SHARE_NOTHING_YET)
		return status;
	status = entry_read(r, block_ms, err);
	if (!status)
		status = entry_take(r, ret_item, &got, err);
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
		r->looked = r->worker->mark;
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
	buf_free(&r->entry.item);
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
	r->asked_again = r->looked = w->mark;
	r->lost_before = w->page->lost;
	strcpy(r->channel, channel);
	w->searches++;
	return &r->share;
}
