/* test_loop_device.c -- after loop_forget() a loop device reads what its file has, also where a
 * page of it was in use: a pipe that has one stands for reclaim on a busy machine. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/mounting.h"
#include "tests/harness/unit.h"

enum { DEVICE_BYTES = 1 << 20, PAGE = 4096, HOLD_MS = 50, SYS_CACHESTAT_TEST = 451 };

/* Reads what the pipe has after a while, so that the page is free. */
static void *let_go(void *pipe_fd)
{
	const struct timespec hold = { .tv_nsec = HOLD_MS * 1000000L };
	char page[PAGE];

	nanosleep(&hold, NULL);
	return read(*(int *)pipe_fd, page, sizeof(page)) == PAGE ? pipe_fd : NULL;
}

static void a_page_in_use_is_forgotten_later(void **unused)
{
	int image_fd = memfd_create("assay-test", MFD_CLOEXEC), loop_fd, ends[2];
	struct buf path = BUF_INIT;
	struct err err = { 0 };
	off_t at = 0;
	pthread_t reader;
	void *done;
	char first = 0;

	if (geteuid() || access("/dev/loop-control", W_OK) ||
	    (syscall(SYS_CACHESTAT_TEST, -1, NULL, NULL, 0) && errno == ENOSYS))
		skip();
	assert_int_equal(ftruncate(image_fd, DEVICE_BYTES), 0);
	assert_int_equal(pwrite(image_fd, "before", 6, 0), 6);
	assert_int_equal(loop_attach(image_fd, &path, &loop_fd, &err), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(splice(loop_fd, &at, ends[1], NULL, PAGE, 0), PAGE);
	assert_int_equal(pwrite(image_fd, "after", 5, 0), 5);
	assert_int_equal(pthread_create(&reader, NULL, let_go, &ends[0]), 0);
	assert_int_equal(loop_forget(loop_fd, &err), 0);
	assert_int_equal(pread(loop_fd, &first, 1, 0), 1);
	assert_int_equal(first, 'a');
	assert_int_equal(pthread_join(reader, &done), 0);
	assert_non_null(done);
	close(ends[0]);
	close(ends[1]);
	close(loop_fd);
	close(image_fd);
	buf_free(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_in_use_is_forgotten_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
