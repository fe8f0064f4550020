/* recording.c -- what recording the writes of a file system of the running kernel costs, by each
 * means, and recoveries: mounting what a crash leaves and looking at all of it. Beside the time of
 * our processes, that of the kernel's threads counts, so that both CPU and wall time are given. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/write_log.h"
#include "target/target.h"
#include "trace/script.h"

enum { ROUNDS = 200, RECOVERIES = 100 };

static const char *const history[] = {
	"mkdir(\"a\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 9000), 9000, 0)",
	"link(\"a/f\", \"a/g\")",
	"sync()",
	"rename(\"a/g\", \"h\")",
	"mkdir(\"a/b\", 0755)",
	"sync()",
};
static const char *const undo[] = { "unlink(\"h\")", "rmdir(\"a/b\")", "unlink(\"a/f\")",
				    "rmdir(\"a\")" };

struct span {
	double cpu, wall;
};

static struct span span_begin(void)
{
	return (struct span){ cpu_seconds(), clock_seconds() };
}

static struct span span_end(struct span from)
{
	return (struct span){ cpu_seconds() - from.cpu, clock_seconds() - from.wall };
}

static void make_calls(struct target *t, const char *const *texts, size_t count)
{
	struct arena arena = ARENA_INIT;
	enum target_fate fate;
	struct outcome outcome;
	struct call c;

	for (size_t i = 0; i < count; i++) {
		must(!call_parse(&c, texts[i], &arena, NULL));
		must(!target_call(t, &c, &outcome, &fate, NULL) && fate == FATE_FINE &&
		     !outcome.error);
	}
	arena_free(&arena);
}

/* A crash behind the last call: all that was written, and no unmounting. */
static int crashed_image(struct target *t)
{
	int fd = memfd_create("crashed", MFD_CLOEXEC), image_fd;
	struct buf record = BUF_INIT;
	struct write_log log = { 0 };
	struct disk_record r;
	const char *data;
	char *disk;

	must(fd >= 0 && !t->kind->recorded(t, &image_fd, &record, NULL));
	log = (struct write_log){ record.data, record.len, (uint64_t)lseek(image_fd, 0, SEEK_END),
				  0 };
	must(!ftruncate(fd, (off_t)log.disk_size));
	disk = mmap(NULL, log.disk_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(disk != MAP_FAILED);
	for (off_t at = 0, hole; (at = lseek(image_fd, at, SEEK_DATA)) >= 0; at = hole) {
		hole = lseek(image_fd, at, SEEK_HOLE);
		must(pread(image_fd, disk + at, (size_t)(hole - at), at) == hole - at);
	}
	while (write_log_next(&log, &r, &data, NULL) > 0) {
		if (r.what & RECORD_WRITE)
			memcpy(disk + r.offset, data, r.size);
		else if (r.what & RECORD_ZEROES)
			memset(disk + r.offset, 0, r.size);
	}
	munmap(disk, log.disk_size);
	buf_free(&record);
	return fd;
}

static void observe_target(struct target *t)
{
	enum target_fate fate;
	struct tree tree;

	must(!target_observe(t, &tree, &fate, NULL) && fate == FATE_FINE);
	tree_free(&tree);
}

/* Mounts the image and looks at all that is there, again and again. */
static void recover_crashed(struct target *t, int crashed, unsigned times)
{
	enum target_fate fate;
	int error;

	for (unsigned i = 0; i < times; i++) {
		must(!t->kind->load(t, crashed, &error, &fate, NULL));
		must(!error && fate == FATE_FINE);
		observe_target(t);
	}
}

static struct span time_calls(struct target *t)
{
	struct span from = span_begin();

	for (unsigned i = 0; i < ROUNDS; i++) {
		make_calls(t, history, ARRAY_LEN(history));
		make_calls(t, undo, ARRAY_LEN(undo));
	}
	return span_end(from);
}

static struct span time_recoveries(struct target *t)
{
	struct span from;
	int crashed;

	must(!target_reset(t, NULL));
	make_calls(t, history, ARRAY_LEN(history));
	crashed = crashed_image(t);
	from = span_begin();
	recover_crashed(t, crashed, RECOVERIES);
	from = span_end(from);
	close(crashed);
	return from;
}

static void measure(const char *spec, const char *how, const struct target_options *options)
{
	struct span open = span_begin(), calls, recoveries;
	struct err err = { 0 };
	struct target *t;

	if (target_open(&t, spec, options, &err)) {
		printf("%-6s %-4s %s\n", spec, how, err.text);
		return;
	}
	open = span_end(open);
	calls = time_calls(t);
	printf("%-6s %-4s opened in %.0f ms; a round of calls: %.0f us of CPU, %.0f us", spec, how,
	       open.wall * 1e3, calls.cpu / ROUNDS * 1e6, calls.wall / ROUNDS * 1e6);
	if (options->record) {
		recoveries = time_recoveries(t);
		printf("; recoveries: %.0f per second of CPU, %.0f per second",
		       RECOVERIES / recoveries.cpu, RECOVERIES / recoveries.wall);
	}
	printf("\n");
	target_close(t);
}

int main(void)
{
	static const char *const specs[] = { "ext4", "xfs", "btrfs" };

	for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
		measure(specs[i], "-", &(struct target_options){ 0 });
		measure(specs[i], "BPF",
			&(struct target_options){ .record = true, .record_by = RECORDER_BPF });
		measure(specs[i], "FUSE",
			&(struct target_options){ .record = true, .record_by = RECORDER_FUSE });
	}
	return 0;
}
