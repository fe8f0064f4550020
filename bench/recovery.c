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

enum { COPIES = 1000, RECOVERIES = 1000 };

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

/* A crash behind the last call: all that was written, and no unmounting. The pages that differ from
 * the image lie in *ret_disk. */
static struct page_change *crashed_pages(struct target *t, char **ret_disk, size_t *ret_count)
{
	struct buf record = BUF_INIT;
	struct page_change *pages;
	struct disk_record r;
	int image_fd;
	char *fresh, *disk;
	size_t size, count = 0;

	must(!t->kind->recorded(t, &image_fd, &record, NULL));
	size = (size_t)lseek(image_fd, 0, SEEK_END);
	fresh = must_alloc(size);
	disk = must_alloc(size);
	must(pread(image_fd, fresh, size, 0) == (ssize_t)size);
	memcpy(disk, fresh, size);
	for (size_t at = 0; at < record.len;) {
		memcpy(&r, record.data + at, sizeof(r));
		at += sizeof(r);
		if (r.what & RECORD_WRITE) {
			memcpy(disk + r.offset, record.data + at, r.size);
			at += r.size;
		} else if (r.what & (RECORD_ZEROES | RECORD_ERASE)) {
			memset(disk + r.offset, r.what & RECORD_ERASE ? 0xff : 0, r.size);
		}
	}
	pages = must_alloc(size / DISK_PAGE_BYTES * sizeof(*pages));
	for (size_t i = 0; i < size / DISK_PAGE_BYTES; i++)
		if (memcmp(disk + i * DISK_PAGE_BYTES, fresh + i * DISK_PAGE_BYTES,
			   DISK_PAGE_BYTES) != 0)
			pages[count++] = (struct page_change){ i, disk + i * DISK_PAGE_BYTES };
	free(fresh);
	buf_free(&record);
	*ret_disk = disk;
	*ret_count = count;
	return pages;
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

static void recover(struct target *t, const struct page_change *pages, size_t count)
{
	enum target_fate fate;
	struct tree tree;
	int error;

	must(!t->kind->load_pages(t, pages, count, &error, &fate, NULL));
	must(!error && fate == FATE_FINE);
	must(!target_observe(t, &tree, &fate, NULL) && fate == FATE_FINE);
	tree_free(&tree);
}

static void time_recoveries(struct target *t)
{
	double copies = copies_per_second(t), recoveries;
	struct page_change *pages;
	struct cost before, cost;
	size_t count;
	char *disk;

	for (size_t i = 0; i < ARRAY_LEN(history); i++)
		make_target_call(t, history[i]);
	pages = crashed_pages(t, &disk, &count);
	recover(t, pages, count);
	before = cost_so_far();
	for (unsigned i = 0; i < RECOVERIES; i++)
		recover(t, pages, count);
	must(!target_reset(t, NULL));
	cost = cost_since(before);
	recoveries = RECOVERIES / cost.cpu_seconds;
	printf("%-16s %5.0f recoveries per second of CPU; %5.0f copies, %4.2f of them; "
	       "%4ld page faults each; %zu pages of the disk differ\n",
	       t->name, recoveries, copies, recoveries / copies, cost.faults / RECOVERIES, count);
	free(pages);
	free(disk);
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
