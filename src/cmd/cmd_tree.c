/* cmd_tree.c -- `assay tree`: prints the abstract tree of a directory and its hash. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "tree/scan.h"

static struct tree_settings {
	bool times, all_xattrs, flags, lost_found;
	uint64_t objects, bytes;
} settings = { .objects = 10 * 1000 * 1000, .bytes = (uint64_t)1 << 34 };

static const struct opt opts[] = {
	{ "times", OPT_FLAG, offsetof(struct tree_settings, times), NULL,
	  "includes atime and mtime", 0, 0 },
	{ "all-xattrs", OPT_FLAG, offsetof(struct tree_settings, all_xattrs), NULL,
	  "includes all extended attributes, not only user.* and trusted.*", 0, 0 },
	{ "flags", OPT_FLAG, offsetof(struct tree_settings, flags), NULL,
	  "includes the flags immutable and append-only", 0, 0 },
	{ "lost-found", OPT_FLAG, offsetof(struct tree_settings, lost_found), NULL,
	  "includes lost+found at the root", 0, 0 },
	{ "objects", OPT_U64, offsetof(struct tree_settings, objects), "N",
	  "maximum number of objects", 1, UINT32_MAX },
	{ "bytes", OPT_U64, offsetof(struct tree_settings, bytes), "N",
	  "maximum number of bytes to read from one file", 1, UINT64_MAX },
	OPT_END,
};

static int print_tree(int fd, struct err *err)
{
	static const char *const every_prefix[] = { "", NULL };
	struct scan_options options = {
		.fields = TREE_FIELDS_DEFAULT | (settings.times ? TREE_TIMES : 0) |
			  (settings.flags ? TREE_FLAGS : 0),
		.lost_found = settings.lost_found,
		.xattr_prefixes = settings.all_xattrs ? every_prefix : NULL,
		.objects_max = settings.objects,
		.bytes_max = settings.bytes,
	};
	struct scanner *scanner = scanner_new(&options);
	struct buf out = BUF_INIT;
	struct tree tree;
	char hash[33];
	int r = tree_scan(scanner, fd, &tree, err);

	scanner_free(scanner);
	if (r < 0)
		return EXIT_UNKNOWN;
	tree_print(&tree, &out);
	hash_print(tree_hash(&tree), hash);
	fwrite(out.data, 1, out.len, stdout);
	printf("hash %s\n", hash);
	tree_free(&tree);
	buf_free(&out);
	return EXIT_CLEAN;
}

static int run_tree(int argc, char **argv, struct err *err)
{
	int fd, code;

	if (argc != 2) {
		err_set(err, EINVAL, argc < 2 ? "which directory?" : "one directory at a time");
		return EXIT_USAGE;
	}
	fd = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return operand_code(err_sys(err, errno, "%s", argv[1]));
	code = print_tree(fd, err);
	close(fd);
	return code;
}

const struct command command_tree = {
	.name = "tree",
	.usage = "DIR",
	.summary = "print the abstract tree of a directory and its hash",
	.text = "Scans _DIR_ and prints one line for every name: path, type, mode, owner, link\n"
		"count, size, contents (in quotes if short, else their hash), target, device\n"
		"and extended attributes. A further name of an object has *same=* and the first\n"
		"name. An object that could not be read has *error* with the call and its\n"
		"errno. The last line is the hash of the tree.\n"
		"\n"
		"Equal trees have equal output, on any file system and however they were made:\n"
		"inode numbers, times, the order of names and the sizes of directories do not\n"
		"count. Files are read without changing their access times if that is allowed.\n"
		"Only directories and regular files are opened.",
	.opts = opts,
	.settings = &settings,
	.reads_only = true,
	.run = run_tree,
};
