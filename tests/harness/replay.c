/* replay.c -- the main of a fuzzer outside libFuzzer: runs its corpus once and prints TAP.
 *
 * The corpus of fuzz_X is tests/fuzz/corpus/X, unless files are named. */
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum { INPUT_MAX = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path, size_t number)
{
	struct buf input = BUF_INIT;
	struct err err = { 0 };

	if (buf_read_file(&input, path, INPUT_MAX, &err)) {
		printf("not ok %zu - %s\n", number, err.text);
		return 1;
	}
	/* Said before, so that a crash tells which input it was. */
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&input), input.len);
	printf("ok %zu - %s\n", number, path);
	buf_free(&input);
	return 0;
}

static int replay_all(char **paths, size_t count)
{
	int failed = 0;

	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++)
		failed |= replay(paths[i], i + 1);
	return failed;
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "fuzz_");
	struct buf pattern = BUF_INIT;
	glob_t files;
	int failed;

	if (argc > 1)
		return replay_all(argv + 1, (size_t)argc - 1);
	buf_addf(&pattern, "tests/fuzz/corpus/%s/*", name ? name + strlen("fuzz_") : "");
	if (glob(pattern.data, 0, NULL, &files)) {
		printf("1..1\nnot ok 1 - no corpus %s\n", pattern.data);
		return 1;
	}
	failed = replay_all(files.gl_pathv, files.gl_pathc);
	globfree(&files);
	buf_free(&pattern);
	return failed;
}
