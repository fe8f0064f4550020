/* recovery.c -- recoveries of crashed disks in a kernel in a process: mounting one, which replays
 * the journal, and looking at all of it. Beside it, copies of the same kernel, which would be the
 * least that a recovery in a new one takes. Per second of CPU, of this process and of all kernels:
 * at least 400 recoveries of ext4, 150 of XFS and Btrfs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/write_log.h"
#include "target/target.h"
#include "trace/script.h"

enum { COPIES = 1000, RECOVERIES = 1000, CRASHES = 20 };

static const char *const targets[] = { "kernel:ext4",  "kernel:xfs",    "kernel:btrfs",
				       "kernel:f2fs",  "kernel:nilfs2", "kernel:reiserfs",
				       "kernel:jffs2", "kernel:ubifs" };

static const char *const history[] = {
	"mkdir(\"a\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 9000), 9000, 0)",
	"link(\"a/f\", \"a/g\")",
	"sync()",
	"rename(\"a/g\", \"h\")",
	"mkdir(\"a/b\", 0755)",
	"sync()",
};

struct cost {
	double cpu_seconds;
	long faults;
};

/* Since the beginning. A kernel that has ended counts from then on. */
static struct cost cost_so_far(void)
{
	struct cost sum = { 0 };

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage usage;

		getrusage(who, &usage);
		sum.cpu_seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
		sum.faults += usage.ru_minflt;
	}
	return sum;
}

static struct cost cost_since(struct cost before)
{
	struct cost now = cost_so_far();

	return (struct cost){ now.cpu_seconds - before.cpu_seconds, now.faults - before.faults };
}

static void make_target_call(struct target *t, const char *text)
{
	struct arena arena = ARENA_INIT;
	enum target_fate fate;
	struct outcome outcome;
	struct call c;

	must(!call_parse(&c, text, &arena, NULL));
	must(!target_call(t, &c, &outcome, &fate, NULL) && fate == FATE_FINE && !outcome.error);
	arena_free(&arena);
}

/* A disk that crashed: the pages that differ from the image. */
struct crash {
	char *disk;
	struct page_change *pages;
	size_t count;
};

static size_t count_records(const struct buf *record)
{
	struct disk_record r;
	size_t count = 0;

	for (size_t at = 0; at < record->len; count++) {
		memcpy(&r, record->data + at, sizeof(r));
		at += sizeof(r) + (r.what & RECORD_WRITE ? r.size : 0);
	}
	return count;
}

/* What the first `count` records have left. */
static void apply_records(char *disk, const struct buf *record, size_t count)
{
	struct disk_record r;

	for (size_t at = 0; at < record->len && count--;) {
		memcpy(&r, record->data + at, sizeof(r));
		at += sizeof(r);
		if (r.what & RECORD_WRITE) {
			memcpy(disk + r.offset, record->data + at, r.size);
			at += r.size;
		} else if (r.what & (RECORD_ZEROES | RECORD_ERASE)) {
			memset(disk + r.offset, r.what & RECORD_ERASE ? 0xff : 0, r.size);
		}
	}
}

static void find_pages(struct crash *c, const char *fresh, size_t size)
{
	c->pages = must_alloc(size / DISK_PAGE_BYTES * sizeof(*c->pages));
	for (size_t at = 0; at < size; at += DISK_PAGE_BYTES)
		if (memcmp(c->disk + at, fresh + at, DISK_PAGE_BYTES) != 0)
			c->pages[c->count++] =
				(struct page_change){ at / DISK_PAGE_BYTES, c->disk + at };
}

/* Crashes at moments from mounting on, the last behind the last call. */
static void make_crashes(struct target *t, struct crash *crashes)
{
	struct buf record = BUF_INIT;
	size_t size, count;
	int image_fd;
	char *fresh;

	for (size_t i = 0; i < ARRAY_LEN(history); i++)
		make_target_call(t, history[i]);
	must(!t->kind->recorded(t, &image_fd, &record, NULL));
	count = count_records(&record);
	size = (size_t)lseek(image_fd, 0, SEEK_END);
	fresh = must_alloc(size);
	must(pread(image_fd, fresh, size, 0) == (ssize_t)size);
	for (size_t i = 0; i < CRASHES; i++) {
		crashes[i] = (struct crash){ .disk = must_alloc(size) };
		memcpy(crashes[i].disk, fresh, size);
		apply_records(crashes[i].disk, &record, count * (i + 1) / CRASHES);
		find_pages(&crashes[i], fresh, size);
	}
	free(fresh);
	buf_free(&record);
}

static double copies_per_second(struct target *t)
{
	struct cost before = cost_so_far();

	must(!t->kind->save(t, 1, NULL));
	for (unsigned i = 0; i < COPIES; i++) {
		must(!t->kind->restore(t, 1, NULL));
		make_target_call(t, "umask(022)");
	}
	must(!target_reset(t, NULL));
	return COPIES / cost_since(before).cpu_seconds;
}

static void recover(struct target *t, const struct crash *c)
{
	enum target_fate fate;
	struct tree tree;
	int error;

	must(!t->kind->load_pages(t, c->pages, c->count, &error, &fate, NULL));
	must(!error && fate == FATE_FINE);
	must(!target_observe(t, &tree, &fate, NULL) && fate == FATE_FINE);
	tree_free(&tree);
}

static void time_recoveries(struct target *t)
{
	double copies = copies_per_second(t), recoveries;
	struct crash crashes[CRASHES];
	struct cost before, cost;

	make_crashes(t, crashes);
	recover(t, &crashes[0]);
	before = cost_so_far();
	for (unsigned i = 0; i < RECOVERIES; i++)
		recover(t, &crashes[i % CRASHES]);
	must(!target_reset(t, NULL));
	cost = cost_since(before);
	recoveries = RECOVERIES / cost.cpu_seconds;
	printf("%-16s %5.0f recoveries per second of CPU; %5.0f copies, %4.2f of them; "
	       "%4ld page faults each; up to %zu pages of the disk differ\n",
	       t->name, recoveries, copies, recoveries / copies, cost.faults / RECOVERIES,
	       crashes[CRASHES - 1].count);
	for (size_t i = 0; i < CRASHES; i++) {
		free(crashes[i].pages);
		free(crashes[i].disk);
	}
}

int main(int argc, char **argv)
{
	struct target_options options = { .record = true };

	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		struct err err = { 0 };
		struct target *t;

		if (argc > 1 && strcmp(argv[1], targets[i]) != 0)
			continue;
		if (target_open(&t, targets[i], &options, &err)) {
			printf("%s: %s\n", targets[i], err.text);
			continue;
		}
		time_recoveries(t);
		target_close(t);
	}
	return 0;
}
