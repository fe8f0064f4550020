/* fuzz_request_path.c -- no path of a request leads out of the directory that is served. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "serve/request_guard.h"
#include "serve/request_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names with one slash between them, none of which begins with a full stop. */
static void check_names(const char *path)
{
	must(*path != '/' && strlen(path) < REQUEST_PATH_MAX);
	must(!strstr(path, "//") && !strstr(path, "/."));
	must(*path != '.' || !strcmp(path, "."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct request_guard guard = { .address = "127.0.0.1", .port = 7357 };
	char *text = must_alloc(size + 1);
	struct request_path p;

	if (size)
		memcpy(text, data, size);
	request_path_parse(&p, text);
	if (p.kind != REQUEST_NOTHING)
		check_names(p.run);
	if (p.kind == REQUEST_FILE)
		check_names(p.file);
	must(!request_guard_host(&guard, text) || strstr(text, "7357"));
	free(text);
	return 0;
}
