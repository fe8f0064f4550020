/* test_disk.c -- the disk that is damaged again and again. */
#include "fsck/test_disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/must.h"
#include "storage/page_disk.h"
#include "storage/write_log.h"
#include "target/description.h"
#include "target/disk.h"
#include "trace/script.h"
#include "tree/list.h"

enum { CALL_SECONDS = 5, DISK_FILE_MAX = 1 << 30 };

static const struct {
	const char *name, *text;
} shipped[] = {
#define EMBEDDED(name, text) { name, text },
#include "gen/embedded_content.h"
#undef EMBEDDED
};

/* One call; what the file system refuses is not there. */
static int disk_call(struct test_disk *d, const struct item *item, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	int r = target_call(d->target, &item->call, &outcome, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE)
		return err_set(err, EIO, "%s: line %u of the content: the call does not return",
			       d->target->name, item->line);
	d->left_out += outcome.error != 0;
	return 0;
}

/* The calls of checkers/NAME.trace. */
static int disk_fill(struct test_disk *d, const char *name, struct err *err)
{
	struct script script = { 0 };
	size_t i = 0;
	int r;

	while (i < ARRAY_LEN(shipped) && strcmp(shipped[i].name, name) != 0)
		i++;
	if (i == ARRAY_LEN(shipped))
		return err_set(err, EINVAL, "%s: there is no such content", name);
	r = script_parse(&script, shipped[i].name, shipped[i].text, strlen(shipped[i].text), err);
	for (size_t k = 0; k < script.count && !r; k++)
		if (script.items[k].type == ITEM_CALL)
			r = disk_call(d, &script.items[k], err);
	script_free(&script);
	return r;
}

static uint64_t count_objects(const struct tree *t)
{
	struct path_list list = { 0 };
	uint64_t count = 0;

	path_list_make(&list, t);
	for (size_t i = 0; i < list.count; i++)
		count += list.items[i].first == i;
	path_list_free(&list);
	return count;
}

/* Fills the mounted file system, and takes tree and disk. */
static int disk_take(struct test_disk *d, const char *more, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	int error = 0, r = disk_fill(d, "content", err);

	if (!r && more)
		r = disk_fill(d, more, err);
	if (!r)
		r = d->target->kind->fresh_disk(d->target, &d->fresh, err);
	if (!r)
		r = d->target->kind->unmounted_disk(d->target, &d->image, &error, &fate, err);
	if (!r && (error || fate != FATE_FINE))
		r = err_set(err, EIO, "%s: the test disk cannot be unmounted", d->target->name);
	return r;
}

/* As it is found again: what unmounting and mounting change belongs to it. */
static int disk_observe(struct test_disk *d, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	int error = 0, r;

	r = test_disk_mount(d, (const uint8_t *)d->image.bytes, &error, &fate, err);
	if (!r && !error && fate == FATE_FINE)
		r = target_observe(d->target, &d->tree, &fate, err);
	if (!r && (error || fate != FATE_FINE))
		r = err_set(err, EIO, "%s: the test disk cannot be mounted", d->target->name);
	if (!r)
		d->objects = count_objects(&d->tree);
	return r;
}

/* What was written to the mounted disk becomes a part of it. */
static int disk_apply_record(struct test_disk *d, struct err *err)
{
	struct buf log = BUF_INIT;
	struct write_log walk;
	struct disk_record r;
	const char *data;
	int image_fd, status = d->target->kind->recorded(d->target, &image_fd, &log, err);

	walk = (struct write_log){ .data = log.data, .len = log.len, .disk_size = d->image.size };
	while (!status && (status = write_log_next(&walk, &r, &data, err)) > 0) {
		if (r.what & RECORD_WRITE)
			memcpy(d->image.bytes + r.offset, data, r.size);
		else if (r.what & RECORD_ZEROES)
			memset(d->image.bytes + r.offset, 0, r.size);
		status = 0;
	}
	buf_free(&log);
	return status;
}

/* Calls on the disk, which is mounted, and is not unmounted after them; what is on it is what the
 * next mount recovers. */
static int disk_crash(struct test_disk *d, const char *calls, struct err *err)
{
	int r = disk_fill(d, calls, err);

	if (!r)
		r = disk_apply_record(d, err);
	if (r)
		return r;
	d->settled = d->tree;
	d->is_crashed = true;
	d->objects = 0;
	return disk_observe(d, err);
}

int test_disk_make(struct test_disk *ret, const struct test_disk_options *o, struct err *err)
{
	struct target_options options = { .deadline_seconds = o->call_seconds > 0 ? o->call_seconds
										  : CALL_SECONDS,
					  .config = o->config,
					  .mkfs = o->mkfs,
					  .image_size = o->size,
					  .record = true,
					  .whole = true };
	int r;

	*ret = (struct test_disk){ 0 };
	r = target_open(&ret->target, o->target, &options, err);
	if (!r && !(ret->target->caps & TARGET_RECORD && ret->target->kind->load_pages))
		r = err_set(err, ENOTSUP, "%s: its disk cannot be loaded; kernel:FS can",
			    o->target);
	if (!r)
		r = disk_take(ret, o->content, err);
	if (!r)
		r = disk_observe(ret, err);
	if (!r && o->crash)
		r = disk_crash(ret, o->crash, err);
	if (r)
		test_disk_free(ret);
	return r;
}

int test_disk_make_alone(struct test_disk *ret, const char *mkfs, uint64_t size, struct err *err)
{
	struct target_description d = { .mkfs = mkfs };
	struct disk made = { 0 };
	int r = image_make(&made.image, size, err);

	*ret = (struct test_disk){ 0 };
	if (!r)
		r = disk_run_mkfs(&made, &d, "", err);
	if (r)
		image_free(&made.image);
	else
		ret->image = made.image;
	return r;
}

void test_disk_free(struct test_disk *d)
{
	if (d->objects)
		tree_free(&d->tree);
	if (d->is_crashed)
		tree_free(&d->settled);
	image_free(&d->image);
	image_free(&d->fresh);
	target_close(d->target);
	*d = (struct test_disk){ 0 };
}

int test_disk_become(struct test_disk *d, const struct buf *disk, struct err *err)
{
	if (disk->len != d->image.size)
		return err_set(err, EINVAL, "the disk has %zu bytes, and the one made here %llu",
			       disk->len, (unsigned long long)d->image.size);
	memcpy(d->image.bytes, disk->data, disk->len);
	if (d->objects)
		tree_free(&d->tree);
	d->objects = 0;
	return d->target ? disk_observe(d, err) : 0;
}

int disk_file_read(struct buf *ret, const char *path, struct err *err)
{
	gzFile from = gzopen(path, "rb");
	char chunk[1 << 16];
	int n = 0;

	if (!from)
		return err_sys(err, errno ? errno : ENOMEM, "cannot read %s", path);
	while (ret->len < DISK_FILE_MAX && (n = gzread(from, chunk, sizeof(chunk))) > 0)
		buf_add(ret, chunk, (size_t)n);
	gzclose(from);
	if (n < 0)
		return err_set(err, EINVAL, "%s: the compressed file is damaged", path);
	if (n > 0)
		return err_set(err, EFBIG, "%s: the disk is too large", path);
	while (ret->len % PAGE_DISK_PAGE)
		buf_addch(ret, '\0');
	return 0;
}

int test_disk_mount(struct test_disk *d, const uint8_t *disk, int *ret_error,
		    enum target_fate *ret_fate, struct err *err)
{
	struct page_change *pages = must_alloc(d->image.size / PAGE_DISK_PAGE * sizeof(*pages));
	size_t count = 0;
	int r;

	for (uint64_t at = 0; at < d->image.size; at += PAGE_DISK_PAGE)
		if (memcmp(disk + at, d->fresh.bytes + at, PAGE_DISK_PAGE) != 0)
			pages[count++] = (struct page_change){ at / PAGE_DISK_PAGE, disk + at };
	r = d->target->kind->load_pages(d->target, pages, count, ret_error, ret_fate, err);
	free(pages);
	return r;
}
