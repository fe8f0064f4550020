/* shared_set.c -- an exact set of hashes in memory that processes share, without locks. */
#include "share/shared_set.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	FIRST_SLOTS = 1 << 12,
	GROWTH_BITS = 2,  /* of a level, compared to the one before */
	GROUP = 8,        /* slots of a level that a hash may be in: two lines of a cache */
	LAST_SLOTS = 512, /* the same of the last level */
	LEVELS_MAX = 14,
	PAGE_SLOTS = 256, /* whose memory is not read before it is used */
	SLOT_BYTES = sizeof(struct shared_slot) + sizeof(uint16_t),
};

/* Slots of a level, and of all before it. */
static size_t level_slots(unsigned level)
{
	return (size_t)FIRST_SLOTS << (GROWTH_BITS * level);
}

static size_t level_first(unsigned level)
{
	return (level_slots(level) - FIRST_SLOTS) / ((1 << GROWTH_BITS) - 1);
}

static void *map_shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int shared_set_open(struct shared_set *s, uint64_t bytes, struct err *err)
{
	unsigned levels = 1;

	while (levels < LEVELS_MAX && level_first(levels + 1) * SLOT_BYTES <= bytes)
		levels++;
	*s = (struct shared_set){ 0 };
	for (; levels && !s->slots; levels -= !s->slots) {
		s->bytes = level_first(levels) * SLOT_BYTES + level_first(levels) / PAGE_SLOTS;
		s->slots = map_shared(s->bytes);
	}
	if (!s->slots)
		return err_sys(err, errno, "cannot share memory between processes");
	s->levels = levels;
	s->owners = (_Atomic uint16_t *)(s->slots + level_first(levels));
	s->used = (_Atomic uint8_t *)(s->owners + level_first(levels));
	return 0;
}

void shared_set_close(struct shared_set *s)
{
	if (s->slots)
		munmap(s->slots, s->bytes);
	*s = (struct shared_set){ 0 };
}

/* Is the hash in this slot, or now put there? The first half says for which hashes the slot is, the
 * second half whose it is: where two that are equal in the first half meet here, one continues with
 * the next slot. A process that was killed between the two halves leaves the slot to the next one
 * of this first half.
 */
static bool slot_put(struct shared_slot *slot, struct hash h, bool *ret_new)
{
	uint64_t lo = atomic_load_explicit(&slot->lo, memory_order_acquire), hi = 0;

	if (!lo && atomic_compare_exchange_strong(&slot->lo, &lo, h.lo))
		lo = h.lo;
	if (lo != h.lo)
		return false;
	*ret_new = atomic_compare_exchange_strong(&slot->hi, &hi, h.hi);
	return *ret_new || hi == h.hi;
}

/* Said before it is so: who is killed in between does no harm. */
static void page_use(struct shared_set *s, size_t at)
{
	_Atomic uint8_t *used = &s->used[at / PAGE_SLOTS];

	if (!atomic_load_explicit(used, memory_order_relaxed))
		atomic_store(used, 1);
}

int64_t shared_set_put(struct shared_set *s, struct hash h, bool *ret_new)
{
	/* 0 means free. That these two are one with their neighbours is as likely as that two
	 * hashes are equal. */
	h.lo += !h.lo;
	h.hi += !h.hi;
	for (unsigned level = 0; level < s->levels; level++) {
		/* Each level by other bits: those that meet in one need not meet in the next. */
		uint64_t place = (h.hi >> (3 * level) ^ h.lo) & ~(GROUP - 1ULL);
		/* There is none behind the last one. */
		unsigned slots = level + 1 < s->levels ? GROUP : LAST_SLOTS;

		for (unsigned i = 0; i < slots; i++) {
			size_t at = level_first(level) + ((place + i) & (level_slots(level) - 1));

			page_use(s, at);
			if (slot_put(&s->slots[at], h, ret_new))
				return (int64_t)at;
		}
	}
	return SHARED_SET_NONE;
}

/* To read a page is to get memory for it, and the last levels are mostly free. */
uint64_t shared_set_count(const struct shared_set *s, struct hash *ret_sum)
{
	size_t slots = level_first(s->levels);
	uint64_t count = 0;

	*ret_sum = (struct hash){ 0 };
	for (size_t i = 0; i < slots; i++) {
		struct hash h;

		if (!atomic_load(&s->used[i / PAGE_SLOTS])) {
			i += PAGE_SLOTS - 1 - i % PAGE_SLOTS;
			continue;
		}
		h = (struct hash){ atomic_load(&s->slots[i].lo), atomic_load(&s->slots[i].hi) };
		if (!h.hi)
			continue;
		*ret_sum = hash_add(*ret_sum, h);
		count++;
	}
	return count;
}
