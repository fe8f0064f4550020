/* memory.c -- workers of one machine share memory.
 *
 * Work that is taken and states that are counted are sets without locks (shared_set.h). A piece of
 * work that is given lies in one of a few slots; each slot is in one state at a time, which also
 * says who is changing it, so that the slot of a worker that was killed can be put right.
 *
 * All have nothing left if every worker that lives waits, each has seen the last work that became
 * free, and no slot has anything for them. That is looked at without a lock: a worker that stops
 * waiting raises `stirs` before its slot is empty again, so a look during which `stirs` stays the
 * same was true at one moment. */
#include "share/memory.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/stop.h"
#include "share/shared_set.h"

enum { ITEMS = 128 };
static const double look_seconds = 0.05; /* a worker that waits looks so often whether to stop */

enum life { LIFE_NONE, LIFE_LIVES, LIFE_LEFT, LIFE_DEAD };

enum item_state { ITEM_EMPTY, ITEM_FILLING, ITEM_FULL, ITEM_TAKING };

struct memory_item {
	_Atomic uint32_t word; /* state, channel and worker: item_word() */
	uint32_t len;
	struct hash work;
	char bytes[SHARE_ITEM_MAX];
};

struct memory_worker {
	_Atomic uint32_t life;
	_Atomic uint64_t calls, transitions, findings;
};

struct memory_head {
	_Atomic uint64_t deaths, stirs, counted;
	_Atomic uint64_t released[SHARE_CHANNELS_MAX];
	_Atomic uint32_t workers; /* numbers given */
	_Atomic uint32_t bell;    /* a futex, rung when those that wait have to look */
	_Atomic bool burying;     /* one that died; until that is done, nothing is over */
	_Atomic bool over[SHARE_CHANNELS_MAX];
	struct memory_worker worker[SHARE_WORKERS_MAX];
	/* What had become free when the worker began to wait, plus 1; 0: it does not wait. */
	_Atomic uint64_t waits[SHARE_CHANNELS_MAX][SHARE_WORKERS_MAX];
	struct memory_item items[ITEMS];
};

struct share_memory {
	struct memory_head *head;
	struct shared_set work, states;
};

struct memory_share {
	struct share share;
	struct share_memory *m;
	unsigned worker, channel;
	uint64_t seen; /* of what became free */
};

/* ---- the sets ---- */

static uint16_t owner_of(unsigned worker)
{
	return (uint16_t)(worker + 1);
}

/* Of work that is on its way from one worker to another. */
enum { OWNER_GIVEN = UINT16_MAX };

static bool owner_is_dead(const struct memory_head *h, uint16_t owner)
{
	return owner != OWNER_GIVEN && atomic_load(&h->worker[owner - 1].life) == LIFE_DEAD;
}

static int no_room(struct err *err)
{
	return err_set(err, ENOSPC, "no room for further states of all workers; see --memory");
}

static int memory_find(struct memory_share *s, struct hash work, _Atomic uint16_t **ret,
		       struct err *err)
{
	bool is_new;
	int64_t slot = shared_set_put(&s->m->work, work, &is_new);

	if (slot == SHARED_SET_NONE)
		return no_room(err);
	*ret = &s->m->work.owners[slot];
	return 0;
}

static int memory_take(struct share *share, struct hash work, bool *ret_mine, struct err *err)
{
	struct memory_share *s = (struct memory_share *)share;
	uint16_t me = owner_of(s->worker), owner;
	_Atomic uint16_t *at;
	int status = memory_find(s, work, &at, err);

	if (status)
		return status;
	owner = atomic_load(at);
	*ret_mine = owner == me;
	while (!*ret_mine && (!owner || owner_is_dead(s->m->head, owner)))
		*ret_mine = atomic_compare_exchange_strong(at, &owner, me);
	return 0;
}

static int memory_count(struct share *share, struct hash state, struct err *err)
{
	struct memory_share *s = (struct memory_share *)share;
	bool is_new;

	if (shared_set_put(&s->m->states, state, &is_new) == SHARED_SET_NONE)
		return no_room(err);
	if (is_new)
		atomic_fetch_add(&s->m->head->counted, 1);
	return 0;
}

static int memory_counted(struct share *share, uint64_t *ret, struct err *err)
{
	*ret = atomic_load(&((struct memory_share *)share)->m->head->counted);
	return 0;
}

/* What a worker had that died is free in all channels. */
static uint64_t head_freed(const struct memory_head *h, unsigned channel)
{
	return atomic_load(&h->deaths) + atomic_load(&h->released[channel]);
}

static uint64_t memory_freed(struct share *share)
{
	const struct memory_share *s = (struct memory_share *)share;

	return head_freed(s->m->head, s->channel);
}

/* Nothing is far away. */
static void memory_announce(struct share *share, struct hash work)
{
}

/* ---- those that wait ---- */

static void memory_ring(struct memory_head *h)
{
	atomic_fetch_add(&h->bell, 1);
	syscall(SYS_futex, &h->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void memory_await_bell(struct memory_head *h, uint32_t heard, double seconds)
{
	struct timespec span = { .tv_nsec = (long)(seconds * (double)NS_PER_S) };

	syscall(SYS_futex, &h->bell, FUTEX_WAIT, heard, &span, NULL, 0);
}

static int memory_release(struct share *share, struct hash work, struct err *err)
{
	struct memory_share *s = (struct memory_share *)share;
	uint16_t me = owner_of(s->worker);
	_Atomic uint16_t *at;
	int status = memory_find(s, work, &at, err);

	if (!status && atomic_compare_exchange_strong(at, &me, 0)) {
		atomic_fetch_add(&s->m->head->released[s->channel], 1);
		memory_ring(s->m->head);
	}
	return status;
}

/* ---- work that is given ---- */

static uint32_t item_word(enum item_state state, unsigned channel, unsigned worker)
{
	_Static_assert(SHARE_CHANNELS_MAX <= 32 && SHARE_WORKERS_MAX <= 1 << 16, "they fit");
	return (uint32_t)state | channel << 2 | worker << 16;
}

static enum item_state item_state(uint32_t word)
{
	return (enum item_state)(word & 3);
}

static unsigned item_channel(uint32_t word)
{
	return word >> 2 & 31;
}

static unsigned item_worker(uint32_t word)
{
	return word >> 16;
}

static unsigned memory_items_of(const struct memory_head *h, unsigned channel)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ITEMS; i++) {
		uint32_t word = atomic_load(&h->items[i].word);

		count += item_state(word) != ITEM_EMPTY && item_channel(word) == channel;
	}
	return count;
}

/* Once it is over, those that wait have ended or will. A worker that takes the place of a killed
 * one after that has to do by itself what that one had. */
static bool memory_is_wanted(struct share *share)
{
	const struct memory_share *s = (struct memory_share *)share;
	const struct memory_head *h = s->m->head;
	uint32_t workers = atomic_load(&h->workers);
	unsigned waiting = 0;

	if (atomic_load_explicit(&h->over[s->channel], memory_order_relaxed))
		return false;
	for (uint32_t i = 0; i < workers; i++)
		waiting += atomic_load_explicit(&h->waits[s->channel][i], memory_order_relaxed) &&
			   atomic_load_explicit(&h->worker[i].life, memory_order_relaxed) ==
				   LIFE_LIVES;
	return waiting && waiting > memory_items_of(h, s->channel);
}

static int memory_give(struct share *share, struct hash work, const void *item, size_t len,
		       struct err *err)
{
	struct memory_share *s = (struct memory_share *)share;
	struct memory_head *h = s->m->head;
	_Atomic uint16_t *at;
	int status;

	must(len <= SHARE_ITEM_MAX);
	status = memory_find(s, work, &at, err);
	if (status)
		return status;
	for (unsigned i = 0; i < ITEMS; i++) {
		struct memory_item *to = &h->items[i];
		uint32_t word = ITEM_EMPTY;

		if (!atomic_compare_exchange_strong(&to->word, &word,
						    item_word(ITEM_FILLING, s->channel, s->worker)))
			continue;
		to->len = (uint32_t)len;
		to->work = work;
		memcpy(to->bytes, item, len);
		atomic_store(at, OWNER_GIVEN);
		atomic_store(&to->word, item_word(ITEM_FULL, s->channel, s->worker));
		memory_ring(h);
		return 0;
	}
	return -EAGAIN;
}

/* The work of an item becomes that of the worker who gets it. */
static bool item_pass(struct memory_share *s, const struct memory_item *item)
{
	uint16_t given = OWNER_GIVEN;
	_Atomic uint16_t *at;
	struct err none = { 0 };

	return !memory_find(s, item->work, &at, &none) &&
	       atomic_compare_exchange_strong(at, &given, owner_of(s->worker));
}

static bool memory_get(struct memory_share *s, struct buf *ret)
{
	struct memory_head *h = s->m->head;

	for (unsigned i = 0; i < ITEMS; i++) {
		struct memory_item *item = &h->items[i];
		uint32_t word = atomic_load(&item->word);
		bool passed;

		if (item_state(word) != ITEM_FULL || item_channel(word) != s->channel ||
		    !atomic_compare_exchange_strong(&item->word, &word,
						    item_word(ITEM_TAKING, s->channel, s->worker)))
			continue;
		passed = item_pass(s, item);
		if (passed) {
			buf_clear(ret);
			buf_add(ret, item->bytes, item->len);
			atomic_store(&h->waits[s->channel][s->worker], 0);
			atomic_fetch_add(&h->stirs, 1);
		}
		atomic_store(&item->word, ITEM_EMPTY);
		if (passed)
			return true;
	}
	return false;
}

static bool memory_all_wait(const struct memory_share *s)
{
	const struct memory_head *h = s->m->head;
	uint64_t stirs = atomic_load(&h->stirs), freed = head_freed(h, s->channel);
	uint32_t workers = atomic_load(&h->workers);

	for (uint32_t i = 0; i < workers; i++)
		if (atomic_load(&h->worker[i].life) == LIFE_LIVES &&
		    atomic_load(&h->waits[s->channel][i]) != freed + 1)
			return false;
	return !memory_items_of(h, s->channel) && !atomic_load(&h->burying) &&
	       head_freed(h, s->channel) == freed && atomic_load(&h->stirs) == stirs;
}

/* One look at what there is. */
static enum share_wait memory_look(struct memory_share *s, struct buf *ret_item)
{
	struct memory_head *h = s->m->head;
	uint64_t freed = head_freed(h, s->channel);

	if (atomic_load(&h->over[s->channel]))
		return SHARE_NOTHING_LEFT;
	if (freed != s->seen) {
		s->seen = freed;
		atomic_store(&h->waits[s->channel][s->worker], 0);
		return SHARE_LOOK_AGAIN;
	}
	atomic_store(&h->waits[s->channel][s->worker], freed + 1);
	if (memory_get(s, ret_item))
		return SHARE_GOT;
	if (!memory_all_wait(s))
		return SHARE_NOTHING_YET;
	atomic_store(&h->over[s->channel], true);
	memory_ring(h);
	return SHARE_NOTHING_LEFT;
}

static int memory_wait(struct share *share, double seconds, struct buf *ret_item,
		       enum share_wait *ret, struct err *err)
{
	struct memory_share *s = (struct memory_share *)share;
	double until = clock_seconds() + seconds, left = seconds;
	uint32_t heard;

	for (;;) {
		heard = atomic_load(&s->m->head->bell);
		*ret = memory_look(s, ret_item);
		if (*ret != SHARE_NOTHING_YET || left <= 0 || stop_requested)
			return 0;
		memory_await_bell(s->m->head, heard, left < look_seconds ? left : look_seconds);
		left = until - clock_seconds();
	}
}

static void memory_close(struct share *share)
{
	free(share);
}

static const struct share_ops memory_ops = {
	.announce = memory_announce,
	.take = memory_take,
	.release = memory_release,
	.count = memory_count,
	.counted = memory_counted,
	.freed = memory_freed,
	.is_wanted = memory_is_wanted,
	.give = memory_give,
	.wait = memory_wait,
	.close = memory_close,
};

struct share *share_memory_join(struct share_memory *m, unsigned worker, unsigned channel)
{
	struct memory_share *s = must_alloc(sizeof(*s));

	must(worker < SHARE_WORKERS_MAX && channel < SHARE_CHANNELS_MAX);
	*s = (struct memory_share){
		.share.ops = &memory_ops,
		.m = m,
		.worker = worker,
		.channel = channel,
		.seen = head_freed(m->head, channel),
	};
	return &s->share;
}

void share_memory_publish(struct share_memory *m, unsigned worker, const struct share_progress *p)
{
	struct memory_worker *w = &m->head->worker[worker];

	atomic_store(&w->calls, p->calls);
	atomic_store(&w->transitions, p->transitions);
	atomic_store(&w->findings, p->findings);
}

/* ---- the process that starts them ---- */

struct share_memory *share_memory_open(unsigned workers, uint64_t bytes, struct err *err)
{
	struct share_memory *m = must_alloc(sizeof(*m));

	must(workers <= SHARE_WORKERS_MAX);
	m->head = mmap(NULL, sizeof(*m->head), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->head == MAP_FAILED) {
		err_sys(err, errno, "cannot share memory between processes");
		free(m);
		return NULL;
	}
	if (shared_set_open(&m->work, bytes / 2, err) ||
	    shared_set_open(&m->states, bytes / 2, err)) {
		share_memory_close(m);
		return NULL;
	}
	for (unsigned i = 0; i < workers; i++)
		share_memory_add(m);
	return m;
}

void share_memory_close(struct share_memory *m)
{
	shared_set_close(&m->work);
	shared_set_close(&m->states);
	munmap(m->head, sizeof(*m->head));
	free(m);
}

int share_memory_add(struct share_memory *m)
{
	uint32_t number = atomic_load(&m->head->workers);

	if (number >= SHARE_WORKERS_MAX)
		return -ENOSPC;
	atomic_store(&m->head->worker[number].life, LIFE_LIVES);
	atomic_store(&m->head->workers, number + 1);
	return (int)number;
}

/* What is in a slot, or on its way into or out of one, is free: who knows it asks for it again. */
static void item_free_work(struct share_memory *m, struct memory_item *item)
{
	uint16_t given = OWNER_GIVEN;
	bool is_new;
	int64_t slot = shared_set_put(&m->work, item->work, &is_new);

	if (slot != SHARED_SET_NONE)
		atomic_compare_exchange_strong(&m->work.owners[slot], &given, 0);
}

void share_memory_died(struct share_memory *m, unsigned worker)
{
	struct memory_head *h = m->head;

	atomic_store(&h->burying, true);
	atomic_store(&h->worker[worker].life, LIFE_DEAD);
	for (unsigned i = 0; i < ITEMS; i++) {
		struct memory_item *item = &h->items[i];
		uint32_t word = atomic_load(&item->word);

		/* Another may be taking it just now; that one sees that work has become free. */
		if (item_state(word) == ITEM_EMPTY || item_worker(word) != worker ||
		    !atomic_compare_exchange_strong(&item->word, &word,
						    item_word(ITEM_TAKING, 0, worker)))
			continue;
		item_free_work(m, item);
		atomic_store(&item->word, ITEM_EMPTY);
	}
	/* After all that: who looks again now can take what it had. */
	atomic_fetch_add(&h->deaths, 1);
	atomic_store(&h->burying, false);
	memory_ring(h);
}

void share_memory_left(struct share_memory *m, unsigned worker)
{
	atomic_store(&m->head->worker[worker].life, LIFE_LEFT);
	memory_ring(m->head);
}

bool share_memory_is_over(const struct share_memory *m, unsigned channel)
{
	return atomic_load(&m->head->over[channel]);
}

struct share_progress share_memory_progress_of(const struct share_memory *m, unsigned worker)
{
	const struct memory_worker *w = &m->head->worker[worker];

	return (struct share_progress){ .calls = atomic_load(&w->calls),
					.transitions = atomic_load(&w->transitions),
					.findings = atomic_load(&w->findings) };
}

struct share_progress share_memory_progress(const struct share_memory *m, uint64_t *ret_states)
{
	uint32_t workers = atomic_load(&m->head->workers);
	struct share_progress sum = { 0 };

	for (uint32_t i = 0; i < workers; i++) {
		struct share_progress one = share_memory_progress_of(m, i);

		sum.calls += one.calls;
		sum.transitions += one.transitions;
		sum.findings += one.findings;
	}
	*ret_states = atomic_load(&m->head->counted);
	return sum;
}

uint64_t share_memory_states(const struct share_memory *m, struct hash *ret_sum)
{
	return shared_set_count(&m->states, ret_sum);
}
