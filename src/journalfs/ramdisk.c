/* ramdisk.c -- a disk in memory that is copied by reference and records what it is asked for. */
#include "journalfs/ramdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "journalfs/layout.h"
#include "storage/image.h"
#include "tree/inode.h"

struct ramdisk_base {
	struct ref ref;
	int fd;
	char *bytes;
};

/* Requests know the one before them, so that disks share the beginning of their records. */
struct ramdisk_request {
	struct ref ref;
	struct ramdisk_request *before;
	struct disk_record record;
	struct blob *bytes; /* of a write */
};

static void ramdisk_drop_requests(struct ramdisk_request *last)
{
	while (last && --last->ref.count == 0) {
		struct ramdisk_request *before = last->before;

		blob_drop(last->bytes);
		free(last);
		last = before;
	}
}

static void ramdisk_drop_base(struct ramdisk_base *base)
{
	if (!base || --base->ref.count)
		return;
	close(base->fd);
	free(base->bytes);
	free(base);
}

struct ramdisk ramdisk_copy(const struct ramdisk *d)
{
	struct ramdisk copy = *d;

	if (copy.base)
		copy.base->ref.count++;
	if (copy.last)
		copy.last->ref.count++;
	copy.changed = pmap_share(&d->changed);
	return copy;
}

void ramdisk_free(struct ramdisk *d)
{
	ramdisk_drop_base(d->base);
	ramdisk_drop_requests(d->last);
	pmap_drop(&d->changed, &blob_type);
	*d = (struct ramdisk){ 0 };
}

/* What a disk has in its blocks before anything is written. */
#define OLD_64 "old byte of diskold byte of diskold byte of diskold byte of disk"
#define OLD_256 OLD_64 OLD_64 OLD_64 OLD_64
static const char ramdisk_old[LAYOUT_BLOCK + 1] = OLD_256 OLD_256 OLD_256 OLD_256;

const char *ramdisk_read(const struct ramdisk *d, uint32_t block)
{
	const struct blob *changed = (const struct blob *)pmap_get(&d->changed, block);

	must(block < LAYOUT_BLOCKS);
	if (changed)
		return changed->bytes;
	return d->base ? d->base->bytes + (size_t)block * LAYOUT_BLOCK : ramdisk_old;
}

void ramdisk_read_all(const struct ramdisk *d, char *to)
{
	for (uint32_t block = 0; block < LAYOUT_BLOCKS; block++)
		memcpy(to + (size_t)block * LAYOUT_BLOCK, ramdisk_read(d, block), LAYOUT_BLOCK);
}

static void ramdisk_record(struct ramdisk *d, struct disk_record record, struct blob *bytes)
{
	struct ramdisk_request *request;

	if (!d->records)
		return;
	request = must_alloc(sizeof(*request));
	*request = (struct ramdisk_request){ { 1 }, d->last, record, bytes };
	if (bytes)
		bytes->ref.count++;
	d->last = request;
}

void ramdisk_fail(struct ramdisk *d, const uint16_t numbers[2])
{
	memcpy(d->failing, numbers, sizeof(d->failing));
}

/* Counts a write: whether it fails. */
static bool ramdisk_write_fails(struct ramdisk *d)
{
	bool fails = false;

	for (size_t i = 0; i < ARRAY_LEN(d->failing); i++)
		if (d->failing[i] && !--d->failing[i])
			fails = true;
	d->failed |= fails;
	return fails;
}

void ramdisk_write(struct ramdisk *d, uint32_t block, struct blob *bytes, unsigned what)
{
	must(block < LAYOUT_BLOCKS && bytes->len == LAYOUT_BLOCK);
	if (ramdisk_write_fails(d))
		return;
	bytes->ref.count++;
	pmap_put(&d->changed, &blob_type, block, &bytes->ref);
	ramdisk_record(d,
		       (struct disk_record){ (uint64_t)block * LAYOUT_BLOCK, LAYOUT_BLOCK,
					     RECORD_WRITE | what },
		       bytes);
}

void ramdisk_flush(struct ramdisk *d)
{
	ramdisk_record(d, (struct disk_record){ .what = RECORD_FLUSH }, NULL);
}

void ramdisk_mark(struct ramdisk *d)
{
	ramdisk_record(d, (struct disk_record){ .what = RECORD_MARK }, NULL);
}

/* Takes over the descriptor and the bytes. */
static void ramdisk_rebase(struct ramdisk *d, int fd, char *bytes)
{
	bool records = d->records;

	ramdisk_free(d);
	d->records = records;
	d->base = must_alloc(sizeof(*d->base));
	*d->base = (struct ramdisk_base){ { 1 }, fd, bytes };
}

int ramdisk_settle(struct ramdisk *d, struct err *err)
{
	struct image image;
	char *bytes;
	int fd, ret = image_make(&image, LAYOUT_SIZE, err);

	if (!ret) {
		ramdisk_read_all(d, image.bytes);
		fd = fcntl(image.fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			ret = err_sys(err, errno, "cannot keep an image open");
	}
	if (!ret) {
		bytes = must_alloc(LAYOUT_SIZE);
		memcpy(bytes, image.bytes, LAYOUT_SIZE);
		ramdisk_rebase(d, fd, bytes);
	}
	image_free(&image);
	return ret;
}

int ramdisk_load(struct ramdisk *d, int image_fd, struct err *err)
{
	char *bytes = must_realloc(NULL, LAYOUT_SIZE); /* not cleared: it is read whole */
	ssize_t n = 0;
	int fd;

	for (size_t done = 0; done < LAYOUT_SIZE; done += (size_t)n) {
		n = pread(image_fd, bytes + done, LAYOUT_SIZE - done, (off_t)done);
		if (n <= 0) {
			free(bytes);
			return err_sys(err, n < 0 ? errno : EIO, "cannot read the image");
		}
	}
	fd = fcntl(image_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		free(bytes);
		return err_sys(err, errno, "cannot keep an image open");
	}
	ramdisk_rebase(d, fd, bytes);
	return 0;
}

int ramdisk_image_fd(const struct ramdisk *d)
{
	must(d->base);
	return d->base->fd;
}

/* From the last request backwards, since that is how they are linked. */
void ramdisk_recorded(const struct ramdisk *d, struct buf *out)
{
	const struct ramdisk_request *request;
	size_t len = 0;
	char *at;

	for (request = d->last; request; request = request->before)
		len += sizeof(request->record) + (request->bytes ? request->bytes->len : 0);
	buf_reserve(out, len);
	out->len += len;
	at = out->data + out->len;
	*at = '\0';
	for (request = d->last; request; request = request->before) {
		if (request->bytes) {
			at -= request->bytes->len;
			memcpy(at, request->bytes->bytes, request->bytes->len);
		}
		at -= sizeof(request->record);
		memcpy(at, &request->record, sizeof(request->record));
	}
}
