/* cmd_kernel.c -- `assay kernel`: builds and lists the kernels that run in a process. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "cmd/command.h"
#include "target/kernels.h"

static struct {
	const char *source, *patch;
	bool debug;
} settings = { .source = "linux-source-6.12" };

static const struct opt opts[] = {
	{ .name = "source",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), source),
	  .value = "PACKAGE|DIR",
	  .help = "build from this Debian package or kernel tree (which is copied)" },
	{ .name = "debug",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), debug),
	  .help = "build one that looks for its own mistakes; use it as kernel:ext4@debug" },
	{ .name = "patch",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), patch),
	  .value = "FILE",
	  .help = "build one with this change; use it as kernel:ext4@NAME, named like the file" },
	OPT_END,
};

/* From the program's own directory: a checkout, with or without a variant, or an installation. */
static const char *const places[] = {
	"/../kernel/build",
	"/../../kernel/build",
	"/../share/assay/kernel/build",
};

static int find_script(struct buf *ret, struct err *err)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return err_sys(err, errno, "/proc/self/exe");
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		buf_clear(ret);
		buf_addf(ret, "%s%s", self, places[i]);
		if (!access(ret->data, X_OK))
			return 0;
	}
	return err_set(err, ENOENT, "kernel/build is not there, neither near %s nor installed",
		       self);
}

static int build(const char *cache, struct err *err)
{
	const char *command[8] = { NULL, cache, "--source", settings.source };
	size_t count = 4;
	struct buf script = BUF_INIT;
	int ret = find_script(&script, err), status = 0;
	pid_t child;

	if (ret) {
		buf_free(&script);
		return EXIT_UNKNOWN;
	}
	command[0] = buf_str(&script);
	if (settings.debug)
		command[count++] = "--debug";
	if (settings.patch) {
		command[count++] = "--patch";
		command[count++] = settings.patch;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		execv(command[0], (char *const *)command);
		_exit(EXIT_INTERNAL);
	}
	buf_free(&script);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		err_sys(err, errno, "cannot run kernel/build");
		return EXIT_INTERNAL;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_CLEAN : EXIT_UNKNOWN;
}

static int is_listed(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR && strcmp(entry->d_name, "trees");
}

/* The kernels of one agreement: all that fit this program, or none. */
static void list_fitting(const char *cache, const char *hash)
{
	struct buf path = BUF_INIT;
	struct dirent **names;
	int count;

	buf_addf(&path, "%s/%s", cache, hash);
	count = scandir(path.data, &names, is_listed, alphasort);
	for (int i = 0; i < count; i++) {
		printf("%-20s %-8s %s/%s/linux\n", names[i]->d_name,
		       strcmp(hash, kernels_fitting) ? "outdated" : "usable", path.data,
		       names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	buf_free(&path);
}

static int list(const char *cache)
{
	struct dirent **hashes;
	int count = scandir(cache, &hashes, is_listed, alphasort);

	for (int i = 0; i < count; i++) {
		list_fitting(cache, hashes[i]->d_name);
		free(hashes[i]);
	}
	if (count >= 0)
		free(hashes);
	return EXIT_CLEAN;
}

static int run(int argc, char **argv, struct err *err)
{
	struct buf cache = BUF_INIT;
	int code = EXIT_USAGE;

	kernels_directory(&cache);
	if (argc != 2 || (strcmp(argv[1], "build") && strcmp(argv[1], "list"))) {
		err_set(err, EINVAL, "build or list?");
	} else if (!cache.len) {
		err_set(err, ENOENT, "neither XDG_CACHE_HOME nor HOME says where the cache is");
		code = EXIT_UNKNOWN;
	} else {
		code = argv[1][0] == 'b' ? build(cache.data, err) : list(cache.data);
	}
	buf_free(&cache);
	return code;
}

const struct command command_kernel = {
	.name = "kernel",
	.usage = "build|list",
	.summary = "the kernels that run in a process",
	.text = "Targets *kernel:ext4* and the like are file systems of a Linux kernel that runs as "
		"an ordinary process: deterministic, saved by fork, without root. *build* makes that "
		"kernel from Debian's source package or from a tree of your own, into "
		"~/.cache/assay/kernel; it takes minutes the first time and is reused afterwards. "
		"*list* tells what was built.",
	.opts = opts,
	.settings = &settings,
	.run = run,
};
