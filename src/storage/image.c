/* image.c -- a disk in memory, and copies of it that hold only what is not zero. */
#include "storage/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

enum { PAGE = 4096, PIECE = 16 * PAGE };

struct disk_copy {
	uint64_t count;
	uint32_t *index; /* of the pages that are not zero, ascending */
	char *pages;
};

int image_make(struct image *image, uint64_t size, struct err *err)
{
	char name[32];

	*image = (struct image){ .fd = -1, .size = (size + PAGE - 1) / PAGE * PAGE };
	snprintf(name, sizeof(name), IMAGE_NAME "%d", (int)getpid());
	image->fd = memfd_create(name, MFD_CLOEXEC);
	if (image->fd < 0 || ftruncate(image->fd, (off_t)image->size))
		return err_sys(err, errno, "cannot make an image of %ju bytes", (uintmax_t)size);
	image->bytes = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    image->fd, 0);
	if (image->bytes == MAP_FAILED) {
		image->bytes = NULL;
		return err_sys(err, errno, "cannot map an image of %ju bytes", (uintmax_t)size);
	}
	return 0;
}

void image_free(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	if (image->size && image->fd >= 0)
		close(image->fd);
	*image = (struct image){ .fd = -1 };
}

/* From file to file: no page of the image is mapped before someone looks at it. */
static int image_copy(const struct image *image, int fd, off_t from, off_t to)
{
	ssize_t n;

	if (lseek(image->fd, from, SEEK_SET) < 0)
		return -errno;
	while (from < to) {
		n = sendfile(image->fd, fd, &from, (size_t)(to - from));
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

int image_fill(struct image *image, int fd, struct err *err)
{
	off_t data, hole, end = (off_t)image->size;
	int r;

	for (off_t at = 0; (data = lseek(fd, at, SEEK_DATA)) >= 0; at = hole) {
		hole = lseek(fd, data, SEEK_HOLE);
		r = image_copy(image, fd, data, hole < end ? hole : end);
		if (r)
			return err_sys(err, -r, "cannot copy the image");
	}
	return errno == ENXIO ? 0 : err_sys(err, errno, "cannot copy the image");
}

/* A hole of the file: there is none in the image yet where it has data. */
static int image_empty(struct image *image, off_t from, off_t to)
{
	off_t data;

	while (from < to && (data = lseek(image->fd, from, SEEK_DATA)) >= 0 && data < to) {
		from = lseek(image->fd, data, SEEK_HOLE);
		if (from > to)
			from = to;
		if (fallocate(image->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, data,
			      from - data))
			return -errno;
	}
	return 0;
}

static int image_copy_changed(struct image *image, int fd, off_t from, off_t to)
{
	char piece[PIECE];
	ssize_t n;

	for (; from < to; from += n) {
		n = pread(fd, piece, to - from < PIECE ? (size_t)(to - from) : PIECE, from);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		for (ssize_t at = 0; at < n; at += PAGE) {
			size_t len = n - at < PAGE ? (size_t)(n - at) : PAGE;

			if (memcmp(image->bytes + from + at, piece + at, len))
				memcpy(image->bytes + from + at, piece + at, len);
		}
	}
	return 0;
}

int image_become(struct image *image, int fd, struct err *err)
{
	off_t end = (off_t)image->size, at = 0, data, hole;
	int r = 0;

	if (lseek(fd, 0, SEEK_END) != end)
		return err_set(err, EINVAL, "an image of another size than %ju bytes",
			       (uintmax_t)image->size);
	while (!r && at < end) {
		data = lseek(fd, at, SEEK_DATA);
		if (data < 0 && errno != ENXIO)
			return err_sys(err, errno, "cannot read an image");
		hole = data < 0 ? end : lseek(fd, data, SEEK_HOLE);
		if (data < 0)
			data = end;
		r = image_empty(image, at, data);
		if (!r)
			r = image_copy_changed(image, fd, data, hole);
		at = hole;
	}
	return r ? err_sys(err, -r, "cannot copy an image") : 0;
}

static bool is_zero(const char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* Pages of an image in their order. Where its data end is asked once for each run of data: the
 * answer takes as long as the run is. */
struct page_walk {
	uint64_t at;   /* the page */
	uint64_t next; /* where to go on */
	uint64_t end;  /* of the data there */
};

/* The next page that is there and not zero; false at the end. */
static bool next_page(const struct image *image, struct page_walk *w)
{
	for (;; w->next += PAGE) {
		if (w->next >= w->end) {
			off_t data = w->next < image->size
					   ? lseek(image->fd, (off_t)w->next, SEEK_DATA)
					   : -1;

			if (data < 0)
				return false;
			w->next = (uint64_t)data;
			w->end = (uint64_t)lseek(image->fd, data, SEEK_HOLE);
		}
		if (!is_zero(image->bytes + w->next)) {
			w->at = w->next;
			w->next += PAGE;
			return true;
		}
	}
}

struct disk_copy *disk_copy_take(const struct image *image)
{
	struct disk_copy *s = must_alloc(sizeof(*s));
	struct page_walk walk = { 0 };
	uint64_t cap = 0;

	while (next_page(image, &walk)) {
		if (s->count == cap) {
			cap = cap ? 2 * cap : 64;
			s->index = must_realloc(s->index, cap * sizeof(*s->index));
			s->pages = must_realloc(s->pages, cap * PAGE);
		}
		s->index[s->count] = (uint32_t)(walk.at / PAGE);
		memcpy(s->pages + s->count++ * PAGE, image->bytes + walk.at, PAGE);
	}
	return s;
}

/* Written to the file, not to the mapping: nothing is cleared before, and no page is mapped that
 * only a checker reads. */
static int image_put_pages(struct image *image, const char *pages, uint64_t at, uint64_t len)
{
	ssize_t n;

	for (; len; len -= (uint64_t)n, pages += n, at += (uint64_t)n) {
		n = pwrite(image->fd, pages, len, (off_t)at);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

int disk_copy_put(const struct disk_copy *s, struct image *image, struct err *err)
{
	int r = 0;

	if (fallocate(image->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)image->size))
		return err_sys(err, errno, "cannot empty the image");
	for (uint64_t i = 0, end; i < s->count && !r; i = end) {
		for (end = i + 1; end < s->count && s->index[end] == s->index[end - 1] + 1;)
			end++;
		r = image_put_pages(image, s->pages + i * PAGE, (uint64_t)s->index[i] * PAGE,
				    (end - i) * PAGE);
	}
	return r ? err_sys(err, -r, "cannot copy an image") : 0;
}

void disk_copy_free(struct disk_copy *s)
{
	if (!s)
		return;
	free(s->index);
	free(s->pages);
	free(s);
}

int image_write(const struct image *image, const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0 && !ftruncate(fd, (off_t)image->size);
	struct page_walk walk = { 0 };

	while (ok && next_page(image, &walk))
		ok = pwrite(fd, image->bytes + walk.at, PAGE, (off_t)walk.at) == PAGE;
	if (fd >= 0 && close(fd))
		ok = false;
	return ok ? 0 : err_sys(err, errno ? errno : EIO, "cannot write %s", path);
}
