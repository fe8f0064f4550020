/* test_recorded_image.c -- what a program writes to an image that it is given as a file: in order,
 * with its flushes, as root and without; and what becomes of it as disk requests. */
#include <grp.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "crash/page_writes.h"
#include "sandbox/recorded_image.h"
#include "storage/image.h"
#include "storage/program.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"

enum { FUSE_MAJOR = 10, FUSE_MINOR = 229 };
enum { SIZE = 64 << 10, SECTOR = 4096, SECONDS = 20, OTHER_USER = 65534 };

static const char writes_twice[] =
	"sh -c 'exec 4<>" PROGRAM_FD_PATH "; printf abc >&4; printf def >&4; dd if=/dev/zero"
	" of=" PROGRAM_FD_PATH
	" bs=4096 seek=3 count=1 conv=notrunc,fsync 2>/dev/null; printf x >&4'";

static bool is_record(struct write_log *log, uint32_t what, uint64_t offset, const char *data,
		      uint32_t size)
{
	struct err err = { 0 };
	struct disk_record r;
	const char *bytes;

	return write_log_next(log, &r, &bytes, &err) == 1 && r.what == what && r.offset == offset &&
	       r.size == size && (!data || !memcmp(bytes, data, size));
}

/* Runs the program, and adds what it wrote. */
static bool record(const struct image *image, struct buf *out)
{
	struct recorded_image r;
	struct err err = { 0 };
	int status = -1;
	bool fine;

	if (recorded_image_open(&r, image, &err))
		return false;
	recorded_image_begin(&r);
	fine = !program_run(writes_twice, r.fd, SECONDS, &status, NULL, &err) && !status &&
	       !recorded_image_copy(&r, out, &err);
	recorded_image_close(&r);
	return fine;
}

static bool records_everything(void)
{
	static const char zeroes[SECTOR];
	struct image image = { .fd = -1 };
	struct buf log = BUF_INIT;
	struct err err = { 0 };
	struct write_log walk;
	bool fine = !image_make(&image, SIZE, &err) && record(&image, &log);

	walk = (struct write_log){ .data = buf_str(&log), .len = log.len, .disk_size = SIZE };
	fine = fine && is_record(&walk, RECORD_WRITE, 0, "abc", 3) &&
	       is_record(&walk, RECORD_WRITE, 3, "def", 3) &&
	       is_record(&walk, RECORD_WRITE, 3 * SECTOR, zeroes, SECTOR) &&
	       is_record(&walk, RECORD_FLUSH, 0, NULL, 0) &&
	       is_record(&walk, RECORD_WRITE, 6, "x", 1) && walk.at == walk.len &&
	       !memcmp(image.bytes, "abcdefx", 7);
	image_free(&image);
	buf_free(&log);
	return fine;
}

static void a_program_is_recorded(void **unused)
{
	if (!recorded_image_possible())
		skip();
	assert_true(records_everything());
}

/* Where only root may use FUSE, any user may for this process. */
static bool open_fuse_to_all(void)
{
	return !unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", "/mnt", "tmpfs", 0, NULL) &&
	       !mknod("/mnt/fuse", S_IFCHR, makedev(FUSE_MAJOR, FUSE_MINOR)) &&
	       !chmod("/mnt/fuse", 0666) && !mount("/mnt/fuse", "/dev/fuse", NULL, MS_BIND, NULL);
}

static void so_it_is_without_root(void **unused)
{
	int status;
	pid_t pid;

	if (!recorded_image_possible() || geteuid())
		skip();
	pid = fork();
	if (!pid) {
		if (!open_fuse_to_all() || setgroups(0, NULL) || setgid(OTHER_USER) ||
		    setuid(OTHER_USER))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1); /* as of a user's process */
		_exit(recorded_image_possible() && !records_everything() ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Pieces of a sector that follow each other are one write; a flush, or another place, ends it. */
static void pieces_of_a_sector_are_one_write(void **unused)
{
	char image[SIZE] = "", expected[SECTOR] = "";
	const struct page_disk start = { 0 };
	struct buf log = BUF_INIT, out = BUF_INIT;
	struct page_store store;
	struct err err = { 0 };
	struct write_log walk;
	static const struct {
		struct disk_record record;
		const char *data;
	} written[] = {
		{ { 4, 2, RECORD_WRITE }, "ab" },   { { 8, 2, RECORD_WRITE }, "cd" },
		{ { 4100, 1, RECORD_WRITE }, "e" }, { { 4, 1, RECORD_WRITE }, "f" },
		{ { 0, 0, RECORD_FLUSH }, "" },     { { 4, 1, RECORD_WRITE }, "g" },
	};

	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
		buf_add(&log, &written[i].record, sizeof(written[i].record));
		buf_add(&log, written[i].data, written[i].record.size);
	}
	page_store_init(&store, image, sizeof(image));
	assert_int_equal(page_writes(&log, &store, &start, SECTOR, &out, &err), 0);
	walk = (struct write_log){ .data = buf_str(&out), .len = out.len, .disk_size = SIZE };
	memcpy(expected + 4, "ab", 2);
	memcpy(expected + 8, "cd", 2);
	assert_true(is_record(&walk, RECORD_WRITE, 0, expected, SECTOR));
	assert_true(is_record(&walk, RECORD_WRITE, SECTOR, NULL, SECTOR));
	expected[4] = 'f';
	assert_true(is_record(&walk, RECORD_WRITE, 0, expected, SECTOR));
	assert_true(is_record(&walk, RECORD_FLUSH, 0, NULL, 0));
	expected[4] = 'g';
	assert_true(is_record(&walk, RECORD_WRITE, 0, expected, SECTOR));
	assert_int_equal(walk.at, walk.len);
	page_store_free(&store);
	buf_free(&log);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_recorded),
		cmocka_unit_test(so_it_is_without_root),
		cmocka_unit_test(pieces_of_a_sector_are_one_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
