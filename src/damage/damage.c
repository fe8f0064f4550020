/* damage.c -- the test disk with some bytes changed. */
#include "damage/damage.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "storage/page_disk.h"

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sealing writes to checksums only, so that no other page has to be looked at afterwards. */
static void find_checksum_pages(struct damaged_disk *d)
{
	size_t cap = 0, kept = 0;
	uint64_t *pages = NULL;

	for (size_t i = 0; d->map && i < d->map->count; i++) {
		const struct ondisk_instance *x = &d->map->instances[i];

		for (size_t f = 0; f < x->structure->field_count; f++) {
			const struct ondisk_field *field = &x->structure->fields[f];

			if (field->role != ONDISK_CHECKSUM || !ondisk_field_size(x, field))
				continue;
			if (d->checksum_page_count == cap) {
				cap = cap ? 2 * cap : 64;
				pages = must_realloc(pages, cap * sizeof(*pages));
			}
			pages[d->checksum_page_count++] = (x->at + field->offset) / PAGE_DISK_PAGE;
		}
	}
	if (d->checksum_page_count)
		qsort(pages, d->checksum_page_count, sizeof(*pages), compare_pages);
	for (size_t i = 0; i < d->checksum_page_count; i++)
		if (!kept || pages[kept - 1] != pages[i])
			pages[kept++] = pages[i];
	d->checksum_pages = pages;
	d->checksum_page_count = kept;
}

void damaged_disk_init(struct damaged_disk *d, const struct ondisk_map *map, const uint8_t *base,
		       uint64_t size)
{
	*d = (struct damaged_disk){ .map = map, .base = base, .size = size };
	d->bytes = must_alloc(size);
	memcpy(d->bytes, base, size);
	find_checksum_pages(d);
}

void damaged_disk_free(struct damaged_disk *d)
{
	free(d->bytes);
	free(d->checksum_pages);
	free(d->pages);
	*d = (struct damaged_disk){ 0 };
}

static void restore_pages(struct damaged_disk *d)
{
	for (size_t i = 0; i < d->count; i++)
		memcpy(d->bytes + d->pages[i] * PAGE_DISK_PAGE,
		       d->base + d->pages[i] * PAGE_DISK_PAGE, PAGE_DISK_PAGE);
	d->count = 0;
}

static void add_page_if_changed(struct damaged_disk *d, uint64_t page)
{
	uint64_t at = page * PAGE_DISK_PAGE;

	if (!memcmp(d->bytes + at, d->base + at, PAGE_DISK_PAGE))
		return;
	for (size_t i = 0; i < d->count; i++)
		if (d->pages[i] == page)
			return;
	if (d->count == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 16;
		d->pages = must_realloc(d->pages, d->cap * sizeof(*d->pages));
	}
	d->pages[d->count++] = page;
}

void damaged_disk_set(struct damaged_disk *d, const struct corruption *c)
{
	restore_pages(d);
	for (size_t i = 0; i < c->count; i++)
		memcpy(d->bytes + c->changes[i].at, c->changes[i].new, c->changes[i].len);
	for (size_t i = 0; d->map && i < c->count; i++)
		ondisk_seal(d->map, d->bytes, c->changes[i].at, c->changes[i].len);
	for (size_t i = 0; i < c->count; i++) {
		uint64_t end = c->changes[i].at + c->changes[i].len - 1;

		add_page_if_changed(d, c->changes[i].at / PAGE_DISK_PAGE);
		add_page_if_changed(d, end / PAGE_DISK_PAGE);
	}
	for (size_t i = 0; i < d->checksum_page_count; i++)
		add_page_if_changed(d, d->checksum_pages[i]);
}

void damaged_disk_load(struct damaged_disk *d, const uint8_t *bytes)
{
	restore_pages(d);
	memcpy(d->bytes, bytes, d->size);
	for (uint64_t page = 0; page < d->size / PAGE_DISK_PAGE; page++)
		add_page_if_changed(d, page);
}

struct hash damaged_disk_hash(const struct damaged_disk *d)
{
	struct hash sum = { 0 };

	for (size_t i = 0; i < d->count; i++)
		sum = hash_add(sum, hash128(d->bytes + d->pages[i] * PAGE_DISK_PAGE, PAGE_DISK_PAGE,
					    d->pages[i] + 1));
	return sum;
}
