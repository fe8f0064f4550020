/* logged_disk.c -- a log of dm-log-writes and the image that it was begun on, instead of calls. */
#include "crash/logged_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "crash/crash.h"
#include "storage/dm_log_writes.h"
#include "storage/write_log.h"

/* Both are kept in memory. */
static const size_t log_bytes_max = (size_t)1 << 30, image_bytes_max = (size_t)1 << 32;

static int input_read_image(struct logged_disk *in, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		r = err_sys(err, errno, "%s", path);
	else if (!S_ISREG(st.st_mode) || !st.st_size || st.st_size % PAGE_DISK_PAGE ||
		 (uint64_t)st.st_size > image_bytes_max)
		r = err_set(err, EINVAL,
			    "%s: an image is a file of whole pages, and of %zu MiB at most", path,
			    image_bytes_max >> 20);
	else
		r = image_make(&in->image, (uint64_t)st.st_size, err);
	if (!r)
		r = image_fill(&in->image, fd, err);
	if (fd >= 0)
		close(fd);
	buf_addf(&in->path, "/proc/self/fd/%d", in->image.fd);
	return r;
}

/* A line for each mark. */
static void input_take_marks(struct logged_disk *in, struct buf *names)
{
	char *save = NULL;

	for (char *name = strtok_r(names->data, "\n", &save); name;
	     name = strtok_r(NULL, "\n", &save)) {
		in->marks = must_realloc(in->marks, (in->mark_count + 1) * sizeof(*in->marks));
		in->marks[in->mark_count++] = must_strdup(name);
	}
}

static void image_apply(struct image *image, const struct disk_record *r, const char *data)
{
	if (r->what & RECORD_WRITE)
		memcpy(image->bytes + r->offset, data, r->size);
	else if (r->what & RECORD_ZEROES)
		memset(image->bytes + r->offset, 0, r->size);
}

/* The log up to the mark becomes part of the image. */
static int input_begin_at(struct logged_disk *in, const char *from, struct err *err)
{
	struct write_log walk = { .data = in->log.data,
				  .len = in->log.len,
				  .disk_size = in->image.size };
	size_t passed = 0, mark = 0;
	struct disk_record r;
	const char *data;

	while (mark < in->mark_count && strcmp(in->marks[mark], from))
		mark++;
	if (mark == in->mark_count)
		return err_set(err, ENOENT, "the log has no mark %s", from);
	while (passed <= mark && write_log_next(&walk, &r, &data, err) > 0) {
		image_apply(&in->image, &r, data);
		passed += r.what == RECORD_MARK;
	}
	memmove(in->log.data, in->log.data + walk.at, in->log.len - walk.at);
	in->log.len -= walk.at;
	for (size_t i = 0; i < passed; i++)
		free(in->marks[i]);
	memmove(in->marks, in->marks + passed, (in->mark_count - passed) * sizeof(*in->marks));
	in->mark_count -= passed;
	return 0;
}

int logged_disk_read(struct logged_disk *in, const char *log, const char *image, const char *from,
		     struct err *err)
{
	struct buf bytes = BUF_INIT, names = BUF_INIT;
	struct err why = { 0 };
	int r;

	*in = (struct logged_disk){ .image.fd = -1 };
	r = input_read_image(in, image, err);
	if (!r)
		r = buf_read_file(&bytes, log, log_bytes_max, err);
	if (!r &&
	    dm_log_writes_read(buf_str(&bytes), bytes.len, in->image.size, &in->log, &names, &why))
		r = err_set(err, EINVAL, "%s: %s", log, why.text);
	if (!r && names.len)
		input_take_marks(in, &names);
	if (!r && from)
		r = input_begin_at(in, from, err);
	buf_free(&bytes);
	buf_free(&names);
	return r;
}

void logged_disk_free(struct logged_disk *in)
{
	for (size_t i = 0; i < in->mark_count; i++)
		free(in->marks[i]);
	free(in->marks);
	buf_free(&in->path);
	buf_free(&in->log);
	image_free(&in->image);
}

int logged_disk_case(const struct logged_disk *in, const struct crash_session *s,
		     struct crash_case *ret, struct err *err)
{
	*ret = (struct crash_case){ .marks = in->marks };
	if (s->recovery.base.size != in->image.size ||
	    memcmp(s->recovery.base.bytes, in->image.bytes, in->image.size) != 0)
		return err_set(err, ENOTSUP, "%s does not take an image", s->target->name);
	page_store_init(&ret->store, s->recovery.base.bytes, s->recovery.base.size);
	buf_add(&ret->log, buf_str(&in->log), in->log.len);
	return disk_events_read(&ret->events, &ret->log, ret->store.size, err);
}
