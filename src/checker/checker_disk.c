/* checker_disk.c -- the disk of a session.
 *
 * A page is touched where we or a run have written to it; only touched pages are looked at. Stores
 * to shared memory leave the file's time of change alone where the process has read the page
 * before, as the library does; system calls set it: so a program that writes past the library that
 * it was started with is found out. Our own stores may set it, too: those to a hole that a program
 * has punched do. So it is forgotten before each run. */
#include "checker/checker_disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "checker/preload/control.h"
#include "storage/image.h"

enum { PAGE = CONTROL_PAGE };

/* How much a checker can make it grow. */
#define GROWTH_MAX (UINT64_C(16) << 20)

int checker_pages_make(struct checker_pages *d, const struct image *base, struct err *err)
{
	uint64_t pages;
	void *map;

	*d = (struct checker_pages){ .base_size = base->size, .size = base->size };
	d->capacity = base->size + GROWTH_MAX;
	pages = d->capacity / PAGE;
	d->fd = memfd_create(IMAGE_NAME "checker", MFD_CLOEXEC);
	if (d->fd < 0 || ftruncate(d->fd, (off_t)d->size))
		return err_sys(err, errno, "cannot make a disk of %llu bytes in memory",
			       (unsigned long long)d->size);
	map = mmap(NULL, d->capacity, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
	if (map == MAP_FAILED) {
		err_sys(err, errno, "cannot map a disk of %llu bytes", (unsigned long long)d->size);
		close(d->fd);
		return err->code;
	}
	d->bytes = map;
	d->base = must_alloc(d->base_size);
	memcpy(d->base, base->bytes, d->base_size);
	memcpy(d->bytes, base->bytes, d->base_size);
	d->touched = must_alloc(pages);
	d->list = must_alloc(pages * sizeof(*d->list));
	d->changed = must_alloc(pages * sizeof(*d->changed));
	return 0;
}

void checker_pages_free(struct checker_pages *d)
{
	if (!d->bytes)
		return;
	munmap(d->bytes, d->capacity);
	close(d->fd);
	free(d->base);
	free(d->touched);
	free(d->list);
	free(d->changed);
	free(d->before);
	*d = (struct checker_pages){ 0 };
}

static void pages_touch(struct checker_pages *d, uint64_t page)
{
	if (d->touched[page])
		return;
	d->touched[page] = 1;
	d->list[d->count++] = page;
}

void checker_pages_write(struct checker_pages *d, uint64_t at, const void *bytes, size_t len)
{
	must(at <= d->size && len <= d->size - at);
	for (uint64_t page = at / PAGE; page * PAGE < at + len; page++)
		pages_touch(d, page);
	memcpy(d->bytes + at, bytes, len);
}

void checker_pages_restore(struct checker_pages *d)
{
	if (d->size != d->base_size) {
		must(!ftruncate(d->fd, (off_t)d->base_size));
		d->size = d->base_size;
	}
	for (size_t i = 0; i < d->count; i++) {
		uint64_t page = d->list[i];

		if (page * PAGE < d->size)
			memcpy(d->bytes + page * PAGE, d->base + page * PAGE, PAGE);
		d->touched[page] = 0;
	}
	d->count = 0;
}

/* Whether a page is as in the other disk, of which no more than its size can be read. */
static bool pages_equal(const struct checker_pages *d, uint64_t page, const uint8_t *other,
			uint64_t other_size)
{
	bool here = page * PAGE < d->size, there = page * PAGE < other_size;

	return here == there &&
	       (!here || !memcmp(d->bytes + page * PAGE, other + page * PAGE, PAGE));
}

const uint64_t *checker_pages_changed(struct checker_pages *d, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < d->count; i++)
		if (!pages_equal(d, d->list[i], d->base, d->base_size))
			d->changed[count++] = d->list[i];
	*ret_count = count;
	return d->changed;
}

/* Touches all pages that are not as in the other disk; whether there are any. */
static bool pages_touch_different(struct checker_pages *d, const uint8_t *other,
				  uint64_t other_size)
{
	uint64_t end = d->size > other_size ? d->size : other_size;
	bool any = false;

	for (uint64_t page = 0; page * PAGE < end; page++)
		if (!pages_equal(d, page, other, other_size)) {
			pages_touch(d, page);
			any = true;
		}
	return any;
}

/* The size that a system call may have given it. */
static void pages_learn_size(struct checker_pages *d, struct stat *ret)
{
	must(!fstat(d->fd, ret));
	d->size = (uint64_t)ret->st_size;
}

static void pages_forget_writes(struct control *c)
{
	for (uint64_t i = 0; i < c->pages_written; i++)
		control_written(c)[control_list(c)[i]] = 0;
	c->pages_written = 0;
}

void checker_pages_begin(struct checker_pages *d)
{
	struct timespec epoch[2] = { { 0 } };

	futimens(d->fd, epoch);
}

bool checker_pages_take(struct checker_pages *d, struct control *c, bool *ret_unseen)
{
	uint64_t old_size = d->size;
	struct stat st;
	bool wrote;

	pages_learn_size(d, &st);
	wrote = d->size != old_size;
	*ret_unseen = st.st_mtim.tv_sec && d->size == old_size && !c->unseen;
	for (uint64_t i = 0; i < c->pages_written; i++) {
		uint64_t page = control_list(c)[i];

		pages_touch(d, page);
		if (!wrote && memcmp(control_before(c, page), d->bytes + page * PAGE, PAGE) != 0)
			wrote = true;
	}
	pages_forget_writes(c);
	if (*ret_unseen) {
		pages_touch_different(d, d->base, d->base_size);
		wrote = true; /* something was: where to, no one can tell any more */
	}
	return wrote;
}

void checker_pages_remember(struct checker_pages *d)
{
	if (!d->before)
		d->before = must_alloc(d->capacity);
	memcpy(d->before, d->bytes, d->size);
	d->before_size = d->size;
}

bool checker_pages_compare(struct checker_pages *d, struct control *c)
{
	struct stat st;

	pages_learn_size(d, &st);
	pages_forget_writes(c);
	return pages_touch_different(d, d->before, d->before_size) || d->size != d->before_size;
}

void checker_pages_put_back(struct checker_pages *d, struct control *c)
{
	pages_forget_writes(c);
	must(!ftruncate(d->fd, (off_t)d->before_size));
	d->size = d->before_size;
	memcpy(d->bytes, d->before, d->size);
}
