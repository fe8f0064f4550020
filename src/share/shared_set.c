/* shared_set.c -- an exact set of hashes in memory that processes share, without locks. */
#include "share/shared_set.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	FIRST_SLOTS = 1 << 12,
	GROUP = 8,        /* slots of a level that a hash may be in: two lines of a cache */
	LAST_SLOTS = 512, /* the same of the last level */
	LEVELS_MAX = 27,
	PAGE_SLOTS = 256, /* whose memory is not read before it is used */
	SLOT_BYTES = sizeof(struct shared_slot) + sizeof(uint16_t),
};

/* Slots of all levels before this one, each twice as large as the one before. */
static size_t level_first(unsigned level)
{
	return ((size_t)FIRST_SLOTS << level) - FIRST_SLOTS;
}

static size_t level_slots(const struct shared_set *s, unsigned level)
{
	size_t end = level + 1 < s->levels ? level_first(level + 1) : s->count;

	return end - level_first(level);
}

static void *map_shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int shared_set_open(struct shared_set *s, uint64_t bytes, struct err *err)
{
	size_t pages = bytes / (PAGE_SLOTS * SLOT_BYTES + 1);

	if (pages < FIRST_SLOTS / PAGE_SLOTS)
		pages = FIRST_SLOTS / PAGE_SLOTS;
	*s = (struct shared_set){ .levels = 1 };
	for (; pages >= FIRST_SLOTS / PAGE_SLOTS && !s->slots; pages /= 2) {
		s->count = pages * PAGE_SLOTS;
		s->bytes = s->count * SLOT_BYTES + pages;
		s->slots = map_shared(s->bytes);
	}
	if (!s->slots)
		return err_sys(err, errno, "cannot share memory between processes");
	while (s->levels < LEVELS_MAX && level_first(s->levels + 1) <= s->count)
		s->levels++;
	s->owners = (_Atomic uint16_t *)(s->slots + s->count);
	s->used = (_Atomic uint8_t *)(s->owners + s->count);
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

/* Where a level of so many slots has those of a hash. Each level by other bits: those that meet in
 * one need not meet in the next. */
static size_t level_place(struct hash h, unsigned level, size_t slots)
{
	unsigned turn = 2 * level + 1;
	uint64_t mixed = (h.hi << turn | h.hi >> (64 - turn)) ^ h.lo;

	return (size_t)((unsigned __int128)mixed * (slots / GROUP) >> 64) * GROUP;
}

int64_t shared_set_put(struct shared_set *s, struct hash h, bool *ret_new)
{
	/* 0 means free. That these two are one with their neighbours is as likely as that two
	 * hashes are equal. */
	h.lo += !h.lo;
	h.hi += !h.hi;
	for (unsigned level = 0; level < s->levels; level++) {
		size_t slots = level_slots(s, level), place = level_place(h, level, slots);
		/* There is none behind the last one. */
		unsigned tries = level + 1 < s->levels ? GROUP : LAST_SLOTS;

		for (unsigned i = 0; i < tries; i++) {
			size_t in = place + i < slots ? place + i : place + i - slots;
			size_t at = level_first(level) + in;

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
	uint64_t count = 0;

	*ret_sum = (struct hash){ 0 };
	for (size_t i = 0; i < s->count; i++) {
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
