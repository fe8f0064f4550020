/* disk_tracer.c -- what a loop device is asked to write, by a BPF program in the kernel. */
#include "storage/disk_tracer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "gen/disk_requests.h"
#include "process/capability.h"
#include "storage/bpf/disk_event.h"
#include "storage/image.h"
#include "storage/mounting.h"
#include "storage/recording.h"
#include "storage/write_log.h"

#ifdef TRACER_MISSING

bool disk_tracer_possible(void)
{
	return false;
}

int disk_tracer_open(struct disk_tracer **ret, struct recording *recording, struct err *err)
{
	return err_set(err, EOPNOTSUPP, "built without BPF, because of missing " TRACER_MISSING);
}

void disk_tracer_close(struct disk_tracer *t)
{
}

void disk_tracer_watch(struct disk_tracer *t, int loop_fd)
{
}

void disk_tracer_collect(struct disk_tracer *t)
{
}

void disk_tracer_collect_last(struct disk_tracer *t)
{
}

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

enum {
	OPEN_MAX = 16, /* requests whose data are handed over at the same time: one for each CPU */
	COLLECT_MS = 1000,
	TRIAL_SIZE = 64 << 10,
	TRIAL_AT = 4096,
};

/* The events have the numbers of the records that they become. */
_Static_assert((int)DISK_EVENT_WRITE == RECORD_WRITE && (int)DISK_EVENT_ZEROES == RECORD_ZEROES &&
		       (int)DISK_EVENT_DISCARD == RECORD_DISCARD &&
		       (int)DISK_EVENT_FLUSH == RECORD_FLUSH && (int)DISK_EVENT_FUA == RECORD_FUA,
	       "events and records differ");

/* A write whose data are not all there yet. */
struct open_request {
	struct traced_request event; /* size 0: none */
	struct buf data;
};

struct disk_tracer {
	struct disk_requests *bpf;
	struct ring_buffer *ring;
	struct recording *recording;
	struct open_request open[OPEN_MAX];
	unsigned open_count;
	uint64_t lost, missed; /* what was reported of them */
};

static const char kernel_types[] = "/sys/kernel/btf/vmlinux";

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* ---- events ---- */

static struct open_request *tracer_find_open(struct disk_tracer *t, uint64_t request)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (t->open[i].event.size && t->open[i].event.request == request)
			return &t->open[i];
	return NULL;
}

static void tracer_end_open(struct disk_tracer *t, struct open_request *o)
{
	buf_clear(&o->data);
	o->event.size = 0;
	t->open_count--;
}

static void tracer_begin_write(struct disk_tracer *t, const struct traced_request *event)
{
	struct open_request *o = tracer_find_open(t, event->request);

	if (o) { /* its last pieces were lost */
		recording_spoil(t->recording, "data of a write were lost");
		tracer_end_open(t, o);
	}
	for (size_t i = 0; i < OPEN_MAX; i++) {
		if (t->open[i].event.size)
			continue;
		t->open[i].event = *event;
		t->open_count++;
		return;
	}
	recording_spoil(t->recording, "too many writes were made at the same time");
}

static void tracer_add_piece(struct disk_tracer *t, const struct disk_event_piece *piece)
{
	struct open_request *o = tracer_find_open(t, piece->event.request);
	const struct traced_request *e = &piece->event;

	if (!o || e->size > DISK_EVENT_DATA || e->offset != o->event.offset + o->data.len ||
	    e->size > o->event.size - o->data.len) {
		recording_spoil(t->recording, "data of a write were lost");
		return;
	}
	buf_add(&o->data, piece->data, e->size);
	if (o->data.len < o->event.size)
		return;
	recording_add(t->recording, o->event.what, o->event.offset, o->data.data, o->event.size);
	tracer_end_open(t, o);
}

static int tracer_take_event(void *own, void *data, size_t size)
{
	const struct traced_request *e = data;
	struct disk_tracer *t = own;

	if (e->what & DISK_EVENT_PIECE)
		tracer_add_piece(t, data);
	else if (e->what & DISK_EVENT_WRITE && e->size)
		tracer_begin_write(t, e);
	else if (e->what & DISK_EVENT_FLUSH)
		recording_add(t->recording, RECORD_FLUSH, 0, NULL, 0);
	else if (e->size)
		recording_add(t->recording, e->what, e->offset, NULL, e->size);
	return 0;
}

/* The pieces of a request come right behind one another: those of one that is begun are awaited. */
void disk_tracer_collect(struct disk_tracer *t)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned waited_ms = 0;

	ring_buffer__consume(t->ring);
	while (t->open_count && waited_ms < COLLECT_MS) {
		nanosleep(&moment, NULL);
		waited_ms++;
		ring_buffer__consume(t->ring);
	}
	if (t->bpf->bss->lost != t->lost || t->open_count)
		recording_spoil(t->recording,
				"more was written at once than the kernel hands over");
	t->lost = t->bpf->bss->lost;
	for (size_t i = 0; i < OPEN_MAX && t->open_count; i++)
		if (t->open[i].event.size)
			tracer_end_open(t, &t->open[i]);
}

/* Runs that the kernel skipped, because one was under way. */
static uint64_t tracer_missed(const struct disk_tracer *t)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(t->bpf->progs.issue), &info, &len)
		     ? 0
		     : info.recursion_misses;
}

void disk_tracer_collect_last(struct disk_tracer *t)
{
	uint64_t missed = tracer_missed(t);

	disk_tracer_collect(t);
	if (missed != t->missed)
		recording_spoil(t->recording, "the kernel skipped requests");
	t->missed = missed;
}

/* ---- beginning and end ---- */

void disk_tracer_watch(struct disk_tracer *t, int loop_fd)
{
	struct stat st;

	must(!fstat(loop_fd, &st) && S_ISBLK(st.st_mode));
	t->bpf->bss->watched = (int)minor(st.st_rdev) + 1;
}

static int tracer_load(struct disk_tracer *t, struct err *err)
{
	int r;

	libbpf_set_print(be_silent);
	t->bpf = disk_requests__open();
	if (!t->bpf)
		return err_sys(err, errno, "cannot prepare the tracer of the disk");
	t->bpf->rodata->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	r = disk_requests__load(t->bpf);
	if (!r)
		r = disk_requests__attach(t->bpf);
	if (r)
		return err_sys(err, -r, "the kernel does not take the tracer of the disk");
	t->ring = ring_buffer__new(bpf_map__fd(t->bpf->maps.events), tracer_take_event, t, NULL);
	return t->ring ? 0 : err_sys(err, errno, "cannot read what the tracer hands over");
}

/* What is written to the device by its cache is a buffer of known address. */
static int tracer_write_trial(struct disk_tracer *t, const struct image *image, const char *pattern,
			      struct err *err)
{
	struct buf device = BUF_INIT;
	int loop_fd, r = loop_attach(image->fd, &device, &loop_fd, err);

	buf_free(&device);
	if (r)
		return r;
	disk_tracer_watch(t, loop_fd);
	t->bpf->bss->learning = true;
	if (pwrite(loop_fd, pattern, TRIAL_AT, TRIAL_AT) != TRIAL_AT || fdatasync(loop_fd))
		r = err_sys(err, errno, "cannot write to a loop device");
	t->bpf->bss->watched = 0;
	close(loop_fd);
	return r;
}

static int tracer_check_trial(struct disk_tracer *t, const char *pattern, struct err *err)
{
	struct write_log log = { .disk_size = TRIAL_SIZE };
	struct buf record = BUF_INIT;
	struct disk_record r;
	const char *data;
	int failed;
	bool right = false;

	disk_tracer_collect_last(t);
	failed = recording_copy(t->recording, &record, err);
	log.data = record.data;
	log.len = record.len;
	while (!failed && write_log_next(&log, &r, &data, NULL) > 0)
		right |= r.what & RECORD_WRITE && r.offset == TRIAL_AT && r.size == TRIAL_AT &&
			 !memcmp(data, pattern, TRIAL_AT);
	buf_free(&record);
	if (!failed && !right)
		failed = err_set(err, EIO, "the tracer of the disk reads other data than written");
	return failed;
}

static int tracer_try(struct disk_tracer *t, struct err *err)
{
	char pattern[TRIAL_AT];
	struct image image;
	int r = image_make(&image, TRIAL_SIZE, err);

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (char)(i * 7 + i / 256);
	if (!r)
		r = tracer_write_trial(t, &image, pattern, err);
	if (!r)
		r = tracer_check_trial(t, pattern, err);
	image_free(&image);
	return r;
}

bool disk_tracer_possible(void)
{
	return capability_has(CAP_SYS_ADMIN) && !access(kernel_types, R_OK);
}

int disk_tracer_open(struct disk_tracer **ret, struct recording *recording, struct err *err)
{
	struct disk_tracer *t;
	int r;

	if (!disk_tracer_possible())
		return err_set(err, ENOTSUP, "BPF needs root and a kernel with BTF (%s)",
			       kernel_types);
	t = must_alloc(sizeof(*t));
	t->recording = recording;
	r = tracer_load(t, err);
	if (!r)
		r = tracer_try(t, err);
	if (r)
		disk_tracer_close(t);
	else
		*ret = t;
	return r;
}

void disk_tracer_close(struct disk_tracer *t)
{
	if (!t)
		return;
	ring_buffer__free(t->ring);
	disk_requests__destroy(t->bpf);
	for (size_t i = 0; i < OPEN_MAX; i++)
		buf_free(&t->open[i].data);
	free(t);
}

#endif
