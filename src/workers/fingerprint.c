/* fingerprint.c -- what all workers of a swarm must have in common. */
#include "workers/fingerprint.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/hash.h"
#include "gen/engine_hash.h"
#include "gen/kernel_hash.h"
#include "gen/version.h"
#include "target/kernels.h"

enum { FINGERPRINT_FILE_MAX = 64 << 20 };

static void add_content(const char *name, const char *path, struct buf *ret)
{
	struct buf content = BUF_INIT;
	struct err none = { 0 };
	char hash[33];

	if (!buf_read_file(&content, path, FINGERPRINT_FILE_MAX, &none)) {
		hash_print(hash128(buf_str(&content), content.len, 0), hash);
		buf_addf(ret, "%s %s\n", name, hash);
	}
	buf_free(&content);
}

/* A file that an option names: a profile, a description of targets, known failures. */
static void add_file(const char *arg, struct buf *ret)
{
	struct stat st;

	if (!stat(arg, &st) && S_ISREG(st.st_mode))
		add_content(arg, arg, ret);
}

/* The kernel that answers: one in a process, or that of the host. */
static void add_kernel(const char *arg, struct buf *ret)
{
	struct buf path = BUF_INIT;
	struct utsname host;

	if (!strncmp(arg, "kernel:", 7)) {
		const char *flavour = strchr(arg, '@');

		kernels_path(flavour ? flavour + 1 : NULL, &path);
		add_content(arg, buf_str(&path), ret);
	} else if (strncmp(arg, "reffs", 5) != 0 && !uname(&host)) {
		buf_addf(ret, "%s Linux %s\n", arg, host.release);
	}
	buf_free(&path);
}

void fingerprint(const json_t *args, struct buf *ret)
{
	buf_addf(ret,
		 "program %s\noperations %s\nmodel and instruments %s\nkernel in a process %s\n",
		 ASSAY_VERSION, ASSAY_OPS_HASH, ASSAY_ENGINE_HASH, ASSAY_KERNEL_HASH);
	for (size_t i = 1; i < json_array_size(args); i++) {
		const char *arg = json_string_value(json_array_get(args, i));

		if (!arg || arg[0] == '-')
			continue;
		add_file(arg, ret);
		if (i == 1)
			add_kernel(arg, ret);
	}
}
