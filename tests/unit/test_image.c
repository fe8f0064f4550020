/* test_image.c -- copies of a disk in memory hold what is not zero, of every run of data, and make
 * the disk what it was. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "storage/image.h"
#include "tests/harness/unit.h"

enum { PAGE = 4096, PAGES = 64 };

/* Two runs of data with a hole between them, zeroes within a run, and data in the last page. */
static const unsigned used[] = { 0, 1, 3, 20, 21, PAGES - 1 };

static void make(struct image *image)
{
	struct err err = { 0 };

	assert_int_equal(image_make(image, PAGES * PAGE, &err), 0);
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		memset(image->bytes + used[i] * PAGE + i, 'a' + (int)i, 100);
	memset(image->bytes + 2 * PAGE, 0, PAGE); /* there, and zero */
}

static void a_copy_makes_it_what_it_was(void **unused)
{
	struct image image, other;
	struct disk_copy *copy;
	struct err err = { 0 };

	make(&image);
	make(&other);
	copy = disk_copy_take(&image);
	memset(image.bytes + 10 * PAGE, 'z', 3 * PAGE);
	image.bytes[20 * PAGE] = 'z';
	assert_int_equal(disk_copy_put(copy, &image, &err), 0);
	assert_memory_equal(image.bytes, other.bytes, PAGES * PAGE);
	disk_copy_free(copy);
	image_free(&image);
	image_free(&other);
}

static void an_empty_one_stays_empty(void **unused)
{
	struct image image;
	struct disk_copy *copy;
	struct err err = { 0 };

	assert_int_equal(image_make(&image, PAGES * PAGE, &err), 0);
	copy = disk_copy_take(&image);
	image.bytes[5 * PAGE] = 'z';
	assert_int_equal(disk_copy_put(copy, &image, &err), 0);
	assert_int_equal(image.bytes[5 * PAGE], 0);
	disk_copy_free(copy);
	image_free(&image);
}

static void a_file_has_all_of_it(void **unused)
{
	struct image image, read;
	struct err err = { 0 };
	char path[] = "image-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	make(&image);
	assert_int_equal(image_write(&image, path, &err), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, PAGES * PAGE);
	assert_int_equal(image_make(&read, PAGES * PAGE, &err), 0);
	assert_int_equal(image_fill(&read, fd, &err), 0);
	assert_memory_equal(image.bytes, read.bytes, PAGES * PAGE);
	close(fd);
	unlink(path);
	image_free(&image);
	image_free(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_makes_it_what_it_was),
		cmocka_unit_test(an_empty_one_stays_empty),
		cmocka_unit_test(a_file_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
