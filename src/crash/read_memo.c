/* read_memo.c -- results that are known from what was read.
 *
 * A set's content on a disk is hashed as the sum over its pages, so that only pages that differ
 * from the image have to be hashed for a disk. */
#include "crash/read_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { SECTOR = 512, SECTORS = PAGE_DISK_PAGE / SECTOR };
enum { CONTENT_SEED = 1, NAME_SEED };

void read_memo_free(struct read_memo *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->sets[i].pages);
	hash_map_free(&m->results);
	*m = (struct read_memo){ 0 };
}

/* Of the chosen sectors of a page, with its number. */
static struct hash content_hash(uint64_t page, uint8_t sectors, const char *bytes)
{
	struct {
		uint64_t page, sectors;
		struct hash part[SECTORS];
	} all = { .page = page, .sectors = sectors };

	if (sectors == UINT8_MAX)
		all.part[0] = hash128(bytes, PAGE_DISK_PAGE, CONTENT_SEED);
	for (unsigned i = 0; i < SECTORS && sectors != UINT8_MAX; i++)
		if (sectors >> i & 1)
			all.part[i] = hash128(bytes + i * SECTOR, SECTOR, CONTENT_SEED);
	return hash128(&all, sizeof(all), CONTENT_SEED);
}

/* The content of the set on the disk. Both lists are in the order of pages. */
static struct hash set_content(const struct read_set *set, const struct page_disk *d)
{
	struct hash sum = hash_add(set->base, set->name);
	size_t at = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct disk_difference *other = &d->differences[i];

		while (at < set->count && set->pages[at].page < other->page)
			at++;
		if (at == set->count)
			break;
		if (set->pages[at].page == other->page)
			sum = hash_add(hash_sub(sum, set->pages[at].base),
				       content_hash(other->page, set->pages[at].sectors,
						    other->content->bytes));
	}
	return sum;
}

uint64_t read_memo_get(const struct read_memo *m, const struct page_store *s,
		       const struct page_disk *d)
{
	for (size_t i = 0; i < m->count; i++) {
		const uint64_t *value = hash_map_get(&m->results, set_content(&m->sets[i], d));

		if (value)
			return *value;
	}
	return 0;
}

static void set_make(struct read_set *set, const struct page_store *s, const unsigned char *sectors,
		     size_t bytes)
{
	size_t pages = s->size / PAGE_DISK_PAGE;

	pages = pages < bytes ? pages : bytes; /* a byte has the sectors of a page */
	for (size_t i = 0; i < pages; i++)
		set->count += sectors[i] != 0;
	set->pages = must_alloc((set->count + 1) * sizeof(*set->pages));
	set->count = 0;
	for (size_t i = 0; i < pages; i++) {
		struct read_page *page = &set->pages[set->count];

		if (!sectors[i])
			continue;
		*page = (struct read_page){ .page = i, .sectors = sectors[i] };
		page->base = content_hash(i, sectors[i], s->image + i * PAGE_DISK_PAGE);
		set->base = hash_add(set->base, page->base);
		set->count++;
	}
}

static const struct read_set *read_memo_set(struct read_memo *m, const struct page_store *s,
					    const unsigned char *sectors, size_t bytes)
{
	struct hash name = hash128(sectors, bytes, NAME_SEED);
	struct read_set *set;

	for (size_t i = 0; i < m->count; i++)
		if (hash_equal(m->sets[i].name, name))
			return &m->sets[i];
	if (m->count < READ_SETS_MAX) {
		set = &m->sets[m->count++];
	} else {
		set = &m->sets[m->next];
		m->next = (m->next + 1) % READ_SETS_MAX;
		free(set->pages);
	}
	*set = (struct read_set){ .name = name };
	set_make(set, s, sectors, bytes);
	return set;
}

void read_memo_put(struct read_memo *m, const struct page_store *s, const struct page_disk *d,
		   const unsigned char *sectors, size_t bytes, uint64_t value)
{
	const struct read_set *set = read_memo_set(m, s, sectors, bytes);

	*hash_map_put(&m->results, set_content(set, d), NULL) = value;
}
