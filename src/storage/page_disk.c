/* page_disk.c -- disks that differ in some pages from one image. */
#include "storage/page_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { PAGE_SEED = 1, DISK_SEED };

void page_store_init(struct page_store *s, const char *image, uint64_t size)
{
	must(size % PAGE_DISK_PAGE == 0);
	*s = (struct page_store){ .image = image, .size = size };
}

void page_store_free(struct page_store *s)
{
	hash_map_free(&s->pages);
	arena_free(&s->arena);
}

struct page_disk page_disk_copy(const struct page_disk *d)
{
	struct page_disk copy = { .count = d->count, .cap = d->count, .hash = d->hash };

	if (d->count) {
		copy.differences = must_alloc(d->count * sizeof(*copy.differences));
		memcpy(copy.differences, d->differences, d->count * sizeof(*copy.differences));
	}
	return copy;
}

void page_disk_free(struct page_disk *d)
{
	free(d->differences);
	*d = (struct page_disk){ 0 };
}

/* The place of the page in the list, or where it would be. */
static size_t difference_place(const struct page_disk *d, uint64_t page)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->differences[middle].page < page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_difference(const struct page_disk *d, size_t place, uint64_t page)
{
	return place < d->count && d->differences[place].page == page;
}

const char *page_disk_page(const struct page_store *s, const struct page_disk *d, uint64_t page)
{
	size_t place = difference_place(d, page);

	return has_difference(d, place, page) ? d->differences[place].content->bytes
					      : s->image + page * PAGE_DISK_PAGE;
}

/* Its part of the hash of a disk. */
static struct hash difference_hash(uint64_t page, const struct stored_page *content)
{
	struct {
		uint64_t page;
		struct hash content;
	} both = { page, content->hash };

	return hash128(&both, sizeof(both), DISK_SEED);
}

static const struct stored_page *page_store_keep(struct page_store *s, const char *bytes)
{
	struct hash hash = hash128(bytes, PAGE_DISK_PAGE, PAGE_SEED);
	struct stored_page *page;
	bool is_new;
	uint64_t *value = hash_map_put(&s->pages, hash, &is_new);

	if (!is_new)
		return (const struct stored_page *)(uintptr_t)*value;
	page = arena_alloc(&s->arena, sizeof(*page));
	page->hash = hash;
	memcpy(page->bytes, bytes, sizeof(page->bytes));
	*value = (uintptr_t)page;
	return page;
}

static void difference_remove(struct page_disk *d, size_t place)
{
	d->count--;
	memmove(d->differences + place, d->differences + place + 1,
		(d->count - place) * sizeof(*d->differences));
}

static void difference_insert(struct page_disk *d, size_t place, uint64_t page)
{
	if (d->count == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 16;
		d->differences = must_realloc(d->differences, d->cap * sizeof(*d->differences));
	}
	memmove(d->differences + place + 1, d->differences + place,
		(d->count - place) * sizeof(*d->differences));
	d->differences[place] = (struct disk_difference){ .page = page };
	d->count++;
}

static void page_disk_put_page(struct page_store *s, struct page_disk *d, uint64_t page,
			       const char *bytes)
{
	size_t place = difference_place(d, page);
	bool differs = memcmp(bytes, s->image + page * PAGE_DISK_PAGE, PAGE_DISK_PAGE) != 0;

	if (has_difference(d, place, page))
		d->hash = hash_sub(d->hash, difference_hash(page, d->differences[place].content));
	else if (differs)
		difference_insert(d, place, page);
	else
		return;
	if (!differs) {
		difference_remove(d, place);
		return;
	}
	d->differences[place].content = page_store_keep(s, bytes);
	d->hash = hash_add(d->hash, difference_hash(page, d->differences[place].content));
}

/* Bytes from `data`, or `byte` where that is NULL. */
static void page_disk_put(struct page_store *s, struct page_disk *d, uint64_t offset,
			  const char *data, char byte, uint64_t len)
{
	char bytes[PAGE_DISK_PAGE];

	if (offset >= s->size)
		return;
	len = len < s->size - offset ? len : s->size - offset;
	while (len) {
		uint64_t page = offset / PAGE_DISK_PAGE, at = offset % PAGE_DISK_PAGE;
		uint64_t part = len < PAGE_DISK_PAGE - at ? len : PAGE_DISK_PAGE - at;

		memcpy(bytes, page_disk_page(s, d, page), sizeof(bytes));
		if (data)
			memcpy(bytes + at, data, part);
		else
			memset(bytes + at, byte, part);
		page_disk_put_page(s, d, page, bytes);
		data = data ? data + part : NULL;
		offset += part;
		len -= part;
	}
}

void page_disk_write(struct page_store *s, struct page_disk *d, uint64_t offset, const void *data,
		     uint64_t len)
{
	page_disk_put(s, d, offset, data, 0, len);
}

void page_disk_fill(struct page_store *s, struct page_disk *d, uint64_t offset, char byte,
		    uint64_t len)
{
	page_disk_put(s, d, offset, NULL, byte, len);
}

void page_disk_read(const struct page_store *s, const struct page_disk *d, uint64_t offset,
		    void *to, uint64_t len)
{
	char *out = to;

	must(offset <= s->size && len <= s->size - offset);
	while (len) {
		uint64_t at = offset % PAGE_DISK_PAGE;
		uint64_t part = len < PAGE_DISK_PAGE - at ? len : PAGE_DISK_PAGE - at;

		memcpy(out, page_disk_page(s, d, offset / PAGE_DISK_PAGE) + at, part);
		out += part;
		offset += part;
		len -= part;
	}
}
