/* test_code_report.c -- what is printed of the coverage of a kernel's code. */
#include <jansson.h>

#include "base/buf.h"
#include "cmd/code_report.h"
#include "tests/harness/unit.h"

static const char result_text[] =
	"{\"kernel_coverage\": {\"files\": ["
	"{\"path\": \"fs/ext4/inode.c\", \"points\": 200, \"reached\": 50, \"functions\": 20, "
	"\"entered\": 7},"
	"{\"path\": \"fs/ext4/namei.c\", \"points\": 3, \"reached\": 3, \"functions\": 1, "
	"\"entered\": 1}]}}";

static void named_files_only(void **state)
{
	json_t *result = json_loads(result_text, 0, NULL), *without = json_object();
	struct str_map paths = STR_MAP_INIT;
	struct buf out = BUF_INIT;

	assert_non_null(result);
	code_add_files(result, &paths, &out);
	assert_string_equal(buf_str(&out), "");
	str_map_put(&paths, "fs/ext4/inode.c", NULL);
	str_map_put(&paths, "fs/ext4", NULL);
	code_add_files(without, &paths, &out);
	assert_string_equal(buf_str(&out), "");
	code_add_files(result, &paths, &out);
	assert_string_equal(
		buf_str(&out),
		"  fs/ext4/inode.c                  50 of    200 points ( 25 %),   7 of "
		" 20 functions\n");
	buf_free(&out);
	str_map_free(&paths);
	json_decref(result);
	json_decref(without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_files_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
