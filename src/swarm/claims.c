/* claims.c -- which work is whose: known here, or asked for, many pieces at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "swarm/worker.h"

/* Pieces claimed at a time; while others wait for work; states and claims sent at a time. */
enum { BATCH_MAX = 128, BATCH_WANTED = 4, SEND_MAX = 2048, FLUSH_STATES = 512 };

/* In the low bits of what is known of a piece of work. Above: its place in the queue (QUEUED) or
 * the mark when another had it (OTHERS). */
enum { QUEUED = 1, MINE = 2, TAKEN = 4, OTHERS = 8, KNOWN_SHIFT = 4 };

void hash_list_add(struct hash_list *l, struct hash h)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 256;
		l->items = must_realloc(l->items, l->cap * sizeof(*l->items));
	}
	l->items[l->count++] = h;
}

void claims_queue_free(struct claims_queue *q)
{
	free(q->works.items);
	free(q->held.items);
	free(q->others.items);
	*q = (struct claims_queue){ 0 };
}

/* ---- batches ---- */

/* Hashes in the order of their shards; those of shard i begin at first[i]. */
struct shard_order {
	struct hash items[SEND_MAX];
	uint16_t places[SEND_MAX]; /* where each was */
	unsigned first[SHARDS_MAX + 1];
};

static void shard_order_set(struct shard_order *o, const struct swarm_names *names,
			    const struct hash *works, size_t count)
{
	unsigned next[SHARDS_MAX];

	must(count <= SEND_MAX);
	memset(o->first, 0, sizeof(o->first));
	for (size_t i = 0; i < count; i++)
		o->first[swarm_shard(names, works[i]) + 1]++;
	for (unsigned i = 0; i < names->shards; i++) {
		o->first[i + 1] += o->first[i];
		next[i] = o->first[i];
	}
	for (size_t i = 0; i < count; i++) {
		unsigned place = next[swarm_shard(names, works[i])]++;

		o->items[place] = works[i];
		o->places[place] = (uint16_t)i;
	}
}

static struct redis_link *shard_link(const struct swarm_worker *w, const char *what, unsigned shard,
				     char key[SWARM_KEY_MAX])
{
	return redis_net_link(&w->net, swarm_shard_key(&w->names, what, shard, key));
}

static int net_send(struct swarm_worker *w, struct err *err)
{
	int status = 0;

	atomic_fetch_add(&w->page->trips, 1);
	for (size_t i = 0; i < w->net.count && !status; i++)
		if (w->net.links[i]->out.len)
			status = redis_link_send(w->net.links[i], err);
	return status;
}

/* A script on every shard that has some of the works. */
static int shards_run(struct swarm_worker *w, const struct shard_order *o, enum swarm_script script,
		      const char *first, const char *second, struct err *err)
{
	char key[SWARM_KEY_MAX];

	for (unsigned i = 0; i < w->names.shards; i++) {
		unsigned count = o->first[i + 1] - o->first[i];
		struct redis_link *l;

		if (!count)
			continue;
		l = shard_link(w, "taken", i, key);
		swarm_begin_script(&w->net, l, script, key, 3);
		redis_link_args(l, first);
		redis_link_args(l, second);
		redis_link_arg(l, &o->items[o->first[i]], count * HASH_BYTES);
	}
	return net_send(w, err);
}

static int shard_read(struct swarm_worker *w, unsigned shard, redisReply **ret, struct err *err)
{
	char key[SWARM_KEY_MAX];

	return redis_link_read(shard_link(w, "taken", shard, key), ret, err);
}

/* "7 7 12 -3": is each mine? */
static int read_owners(const redisReply *r, const char *me, const uint16_t *places, unsigned count,
		       bool *ret_mine, struct err *err)
{
	const char *at = r->type == REDIS_REPLY_STRING ? r->str : "";
	size_t len = strlen(me);

	for (unsigned i = 0; i < count; i++) {
		size_t own = strcspn(at, " ");

		if (!own)
			return err_set(err, EPROTO, "the Redis server has too few owners of work");
		ret_mine[places[i]] = own == len && !memcmp(at, me, len);
		at += own + (at[own] == ' ');
	}
	return 0;
}

/* Claims them all; owners in `voids` count as none. */
static int claim(struct swarm_worker *w, const struct hash *works, size_t count, const char *voids,
		 bool *ret_mine, struct err *err)
{
	struct shard_order o;
	redisReply *reply;
	char me[32];
	int status;

	snprintf(me, sizeof(me), "%llu", (unsigned long long)w->page->number);
	shard_order_set(&o, &w->names, works, count);
	atomic_fetch_add(&w->page->asked, count);
	status = shards_run(w, &o, SCRIPT_CLAIM, me, voids, err);
	for (unsigned i = 0; i < w->names.shards && !status; i++) {
		unsigned own = o.first[i + 1] - o.first[i];

		if (!own)
			continue;
		status = shard_read(w, i, &reply, err);
		if (status)
			break;
		status = read_owners(reply, me, &o.places[o.first[i]], own, ret_mine, err);
		freeReplyObject(reply);
	}
	return status;
}

int claims_swap(struct swarm_worker *w, const struct hash *works, size_t count, const char *from,
		const char *to, uint64_t *ret_count, struct err *err)
{
	struct shard_order o;
	redisReply *reply;
	int status;

	*ret_count = 0;
	shard_order_set(&o, &w->names, works, count);
	status = shards_run(w, &o, SCRIPT_SWAP, from, to, err);
	for (unsigned i = 0; i < w->names.shards && !status; i++) {
		if (o.first[i] == o.first[i + 1])
			continue;
		status = shard_read(w, i, &reply, err);
		if (status)
			break;
		*ret_count += redis_reply_number(reply);
		freeReplyObject(reply);
	}
	return status;
}

/* ---- what is known ---- */

static void claims_note(struct swarm_worker *w, struct claims_queue *q, struct hash work, bool mine)
{
	uint64_t *known = hash_map_put(&w->known, work, NULL);

	if (mine && !(*known & MINE)) {
		hash_list_add(&w->mine, work);
		*known = MINE;
	} else if (!mine) {
		if (!(*known & OTHERS))
			hash_list_add(&q->others, work);
		*known = w->mark << KNOWN_SHIFT | OTHERS;
	}
}

bool claims_is_mine(const struct swarm_worker *w, struct hash work)
{
	const uint64_t *known = hash_map_get(&w->known, work);

	return known && *known & MINE;
}

void claims_forget(struct swarm_worker *w, struct claims_queue *q, struct hash work)
{
	claims_note(w, q, work, false);
}

void claims_announce(struct swarm_worker *w, struct claims_queue *q, struct hash work)
{
	bool is_new;
	uint64_t *known = hash_map_put(&w->known, work, &is_new);

	if (!is_new)
		return;
	*known = q->works.count << KNOWN_SHIFT | QUEUED;
	hash_list_add(&q->works, work);
}

void claims_ask_again(struct swarm_worker *w, struct claims_queue *q)
{
	struct hash_list before = q->others;

	q->others = (struct hash_list){ 0 };
	for (size_t i = 0; i < before.count; i++) {
		uint64_t *known = hash_map_get(&w->known, before.items[i]);

		if (!(*known & OTHERS))
			continue;
		if (*known >> KNOWN_SHIFT == w->mark) {
			hash_list_add(&q->others, before.items[i]);
			continue;
		}
		*known = q->works.count << KNOWN_SHIFT | QUEUED;
		hash_list_add(&q->works, before.items[i]);
	}
	free(before.items);
}

/* ---- taking ---- */

static bool is_queued(const struct swarm_worker *w, const struct claims_queue *q, size_t place)
{
	const uint64_t *known = hash_map_get(&w->known, q->works.items[place]);

	return known && *known == (place << KNOWN_SHIFT | QUEUED);
}

/* The work, and announced work that is near it in the order of announcement: what comes after it is
 * next in a search by breadth, what comes before it in one by depth. More at a time the more was
 * done, so that a small search is not claimed by one worker. */
static size_t claims_choose(const struct swarm_worker *w, const struct claims_queue *q,
			    struct hash work, struct hash *batch)
{
	const uint64_t *known = hash_map_get(&w->known, work);
	size_t most = w->waiting > w->items ? BATCH_WANTED : 1 + w->taken / 8, count = 1, place,
	       tries;

	batch[0] = work;
	if (most > BATCH_MAX)
		most = BATCH_MAX;
	if (!known || !(*known & QUEUED) || *known >> KNOWN_SHIFT >= q->works.count)
		return count;
	place = *known >> KNOWN_SHIFT;
	if (!hash_equal(q->works.items[place], work))
		return count; /* announced in another search */
	tries = 4 * most;
	for (size_t i = place + 1; i < q->works.count && count < most && tries; i++, tries--)
		if (is_queued(w, q, i))
			batch[count++] = q->works.items[i];
	for (size_t i = place; i-- > q->first && count < most && tries; tries--)
		if (is_queued(w, q, i))
			batch[count++] = q->works.items[i];
	return count;
}

static int claims_ask(struct swarm_worker *w, struct claims_queue *q, struct hash work,
		      struct err *err)
{
	struct hash batch[BATCH_MAX];
	bool mine[BATCH_MAX];
	size_t count = claims_choose(w, q, work, batch);
	int status = claim(w, batch, count, buf_str(&w->void_owners), mine, err);

	/* Without an answer they may be ours. */
	for (size_t i = 0; i < count; i++) {
		if (!status)
			claims_note(w, q, batch[i], mine[i]);
		if (status || (mine[i] && i))
			hash_list_add(&q->held, batch[i]);
	}
	if (status)
		return status;
	w->mine_sure = w->mine.count;
	while (q->first < q->works.count && !is_queued(w, q, q->first))
		q->first++;
	return 0;
}

static bool is_known_taken(struct swarm_worker *w, struct hash work, bool *ret_mine)
{
	uint64_t *known = hash_map_get(&w->known, work);

	if (known && *known & MINE) {
		w->taken += !(*known & TAKEN);
		*known |= TAKEN;
		*ret_mine = true;
		return true;
	}
	*ret_mine = false;
	return known && *known & OTHERS && *known >> KNOWN_SHIFT == w->mark;
}

/* Without the server. */
static void claims_take_alone(struct swarm_worker *w, struct claims_queue *q, struct hash work)
{
	claims_note(w, q, work, true);
	w->lost_works++;
}

int claims_take(struct swarm_worker *w, struct claims_queue *q, struct hash work, bool *ret_mine,
		struct err *err)
{
	bool online;
	int status;

	while (!is_known_taken(w, work, ret_mine)) {
		status = worker_online(w, &online, err);
		if (status)
			return status;
		if (!online) {
			claims_take_alone(w, q, work);
			continue;
		}
		status = claims_ask(w, q, work, err);
		if (status && (status = worker_lost(w, status, err)))
			return status;
	}
	atomic_store(&w->page->taken, w->taken);
	return 0;
}

int claims_take_given(struct swarm_worker *w, struct claims_queue *q, struct hash work,
		      uint64_t from, bool *ret_mine, struct err *err)
{
	struct buf voids = BUF_INIT;
	int status;

	buf_adds(&voids, buf_str(&w->void_owners));
	buf_addf(&voids, " -%llu", (unsigned long long)from);
	status = claim(w, &work, 1, voids.data, ret_mine, err);
	buf_free(&voids);
	if (status)
		return status;
	claims_note(w, q, work, *ret_mine);
	w->mine_sure = w->mine.count;
	is_known_taken(w, work, ret_mine);
	atomic_store(&w->page->taken, w->taken);
	return 0;
}

int claims_decide(struct swarm_worker *w, struct hash work, bool *ret_mine, struct err *err)
{
	return claim(w, &work, 1, buf_str(&w->void_owners), ret_mine, err);
}

int claims_give_back(struct swarm_worker *w, struct claims_queue *q, struct err *err)
{
	struct hash batch[BATCH_MAX];
	uint64_t given;
	char me[32];
	int status = 0;

	snprintf(me, sizeof(me), "%llu", (unsigned long long)w->page->number);
	while (q->held.count && !status) {
		size_t count = 0, from = q->held.count;

		while (from && count < BATCH_MAX) {
			struct hash work = q->held.items[--from];
			const uint64_t *known = hash_map_get(&w->known, work);

			if (!known || !(*known & (TAKEN | OTHERS)))
				batch[count++] = work;
		}
		w->owes_freed |= count != 0;
		if (count)
			status = claims_swap(w, batch, count, me, "", &given, err);
		if (status)
			break;
		for (size_t i = 0; i < count; i++)
			claims_note(w, q, batch[i], false);
		q->held.count = from;
	}
	return status ? status : worker_pay_freed(w, err);
}

/* ---- sending ---- */

static int states_send(struct swarm_worker *w, const struct hash *states, size_t count,
		       struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct shard_order o;
	redisReply *reply;
	int status;

	shard_order_set(&o, &w->names, states, count);
	for (unsigned i = 0; i < w->names.shards; i++) {
		struct redis_link *l = shard_link(w, "states", i, key);

		if (o.first[i] == o.first[i + 1])
			continue;
		redis_link_begin(l, 2 + o.first[i + 1] - o.first[i]);
		redis_link_args(l, "SADD");
		redis_link_args(l, key);
		for (unsigned k = o.first[i]; k < o.first[i + 1]; k++)
			redis_link_arg(l, &o.items[k], HASH_BYTES);
	}
	status = net_send(w, err);
	for (unsigned i = 0; i < w->names.shards && !status; i++) {
		if (o.first[i] == o.first[i + 1])
			continue;
		status = redis_link_read(shard_link(w, "states", i, key), &reply, err);
		if (!status)
			freeReplyObject(reply);
	}
	return status;
}

/* The next pieces of work that the server may not know as this worker's. */
static size_t claims_choose_unsure(const struct swarm_worker *w, size_t *at, struct hash *batch)
{
	size_t count = 0;

	for (; *at < w->mine.count && count < SEND_MAX; ++*at)
		if (*hash_map_get(&w->known, w->mine.items[*at]) & MINE)
			batch[count++] = w->mine.items[*at];
	return count;
}

/* Work that was taken without the server, or that the server may have lost. What another has by now
 * and was not begun here is left to it. */
static int claims_confirm(struct swarm_worker *w, struct err *err)
{
	struct hash batch[SEND_MAX];
	bool mine[SEND_MAX];
	int status = 0;

	while (w->mine_sure < w->mine.count && !status) {
		size_t at = w->mine_sure, count = claims_choose_unsure(w, &at, batch);

		if (count)
			status = claim(w, batch, count, buf_str(&w->void_owners), mine, err);
		for (size_t i = 0; i < count && !status; i++) {
			uint64_t *known = hash_map_get(&w->known, batch[i]);

			if (!mine[i] && *known & TAKEN)
				atomic_fetch_add(&w->page->duplicates, 1);
			else if (!mine[i])
				*known = w->mark << KNOWN_SHIFT | OTHERS;
		}
		if (!status)
			w->mine_sure = at;
	}
	return status;
}

int claims_flush(struct swarm_worker *w, struct err *err)
{
	int status = claims_confirm(w, err);

	while (w->states_sure < w->states.count && !status) {
		size_t left = w->states.count - w->states_sure;
		size_t count = left < SEND_MAX ? left : SEND_MAX;

		status = states_send(w, w->states.items + w->states_sure, count, err);
		if (!status)
			w->states_sure += count;
	}
	return status;
}

void claims_count(struct swarm_worker *w, struct hash state)
{
	hash_list_add(&w->states, state);
	atomic_store(&w->page->counted, w->states.count);
}

bool claims_are_many(const struct swarm_worker *w)
{
	return w->states.count - w->states_sure >= FLUSH_STATES;
}
