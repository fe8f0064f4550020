/* crashed.h -- calls on a target, and the image that a crash behind them leaves. */
#ifndef BENCH_CRASHED_H
#define BENCH_CRASHED_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "storage/write_log.h"
#include "target/target.h"
#include "trace/script.h"

static const char *const history[] = {
	"mkdir(\"a\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 9000), 9000, 0)",
	"link(\"a/f\", \"a/g\")",
	"sync()",
	"rename(\"a/g\", \"h\")",
	"mkdir(\"a/b\", 0755)",
	"sync()",
};
static inline void make_calls(struct target *t, const char *const *texts, size_t count)
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
static inline int crashed_image(struct target *t)
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

static inline void observe_target(struct target *t)
{
	enum target_fate fate;
	struct tree tree;

	must(!target_observe(t, &tree, &fate, NULL) && fate == FATE_FINE);
	tree_free(&tree);
}

/* Mounts the image and looks at all that is there, again and again. */
static inline void recover_crashed(struct target *t, int crashed, unsigned times)
{
	enum target_fate fate;
	int error;

	for (unsigned i = 0; i < times; i++) {
		must(!t->kind->load(t, crashed, &error, &fate, NULL));
		must(!error && fate == FATE_FINE);
		observe_target(t);
	}
}

#endif
