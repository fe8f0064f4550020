/* fuzz_run_json.c -- a page is made of any run.json, or it is refused: no text in it is markup.
 *
 * Wherever the input has the word "OWNED", it may not follow a '<' in the page. */
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "report/report.h"
#include "tests/harness/input_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf page = BUF_INIT;
	char path[PATH_MAX];
	struct err err = { 0 };

	input_dir_put("run.json", data, size);
	must(report_write(input_dir(), &err) == err.code);
	if (!err.code) {
		snprintf(path, sizeof(path), "%s/report.html", input_dir());
		must(!buf_read_file(&page, path, 64 << 20, &err));
		must(!strstr(buf_str(&page), "<OWNED"));
	}
	buf_free(&page);
	return 0;
}
