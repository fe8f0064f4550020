/* recovery.c -- copies of a kernel in a process, and recoveries of a dirty ext4: mounting it, which
 * replays the journal, and looking at all of it. At least 400 a second of CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/write_log.h"
#include "target/target.h"
#include "trace/script.h"

enum { COPIES = 2000, RECOVERIES = 1000 };

static const char *const history[] = {
	"mkdir(\"a\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 9000), 9000, 0)",
	"link(\"a/f\", \"a/g\")",
	"sync()",
	"rename(\"a/g\", \"h\")",
	"mkdir(\"a/b\", 0755)",
	"sync()",
};

static double cpu_seconds_used(void)
{
	double sum = 0;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage usage;

		getrusage(who, &usage);
		sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	}
	return sum;
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

/* A crash behind the last call: all that was written, and no unmounting. */
static int crashed_image(struct target *t)
{
	int fd = memfd_create("crashed", MFD_CLOEXEC), image_fd;
	struct buf record = BUF_INIT;
	struct disk_record r;
	off_t size;
	char *data;

	must(fd >= 0 && !t->kind->recorded(t, &image_fd, &record, NULL));
	size = lseek(image_fd, 0, SEEK_END);
	data = must_alloc((size_t)size);
	must(pread(image_fd, data, (size_t)size, 0) == size);
	for (size_t at = 0; at < record.len;) {
		memcpy(&r, record.data + at, sizeof(r));
		at += sizeof(r);
		if (r.what & RECORD_WRITE) {
			memcpy(data + r.offset, record.data + at, r.size);
			at += r.size;
		}
	}
	must(write(fd, data, (size_t)size) == size);
	free(data);
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

static void time_copies(struct target *t)
{
	double since = cpu_seconds_used();

	must(!t->kind->save(t, 1, NULL));
	for (unsigned i = 0; i < COPIES; i++) {
		must(!t->kind->restore(t, 1, NULL));
		make_target_call(t, "umask(022)");
	}
	must(!target_reset(t, NULL));
	printf("a copy of the kernel, made and ended: %.0f us of CPU\n",
	       (cpu_seconds_used() - since) / COPIES * 1e6);
}

static void time_recoveries(struct target *t)
{
	double since;
	enum target_fate fate;
	int crashed, error;

	for (size_t i = 0; i < ARRAY_LEN(history); i++)
		make_target_call(t, history[i]);
	crashed = crashed_image(t);
	since = cpu_seconds_used();
	for (unsigned i = 0; i < RECOVERIES; i++) {
		must(!t->kind->load(t, crashed, &error, &fate, NULL));
		must(!error && fate == FATE_FINE);
		observe_target(t);
	}
	must(!target_reset(t, NULL));
	printf("recoveries of ext4: %.0f per second of CPU (at least 400)\n",
	       RECOVERIES / (cpu_seconds_used() - since));
	close(crashed);
}

int main(void)
{
	struct target_options options = { .record = true };
	struct err err = { 0 };
	struct target *t;

	if (target_open(&t, "kernel:ext4", &options, &err)) {
		printf("%s\n", err.text);
		return 0;
	}
	time_copies(t);
	time_recoveries(t);
	target_close(t);
	return 0;
}
