/* export_kselftest.c -- a finding as a test of the kernel's own tree: tools/testing/selftests.
 *
 * The program reports by TAP. A script makes the place it runs in: a fresh image of the file system
 * of the finding, or a directory where that is not one of the kernel. */
#include <string.h>

#include "finding/export.h"

#define KSELFTEST_DIR "tools/testing/selftests/filesystems"

static void kselftest_head(const struct finding *f, struct buf *out)
{
	struct export x = { .finding = f };

	buf_adds(out, "// SPDX-License-Identifier: GPL-2.0\n/*\n");
	export_story(&x, " *", out);
	buf_adds(out,
		 " *\n * Arguments: an empty directory of the file system under test and, where "
		 "this\n * remounts, a command that unmounts and mounts it again.\n */\n");
}

static void kselftest_begin(const struct repro *r, const struct finding *f, struct buf *out)
{
	buf_adds(out, "int main(int argc, char **argv)\n{\n"
		      "	ksft_print_header();\n"
		      "	ksft_set_plan(1);\n"
		      "	if (argc < 2 || chdir(argv[1]))\n"
		      "		ksft_exit_fail_msg(\"usage: %s DIRECTORY [REMOUNT]\\n\", "
		      "argv[0]);\n");
	if (r->needs[HELPER_directory])
		buf_adds(out, "	directory = realpath(\".\", NULL);\n"
			      "	remount_command = argc > 2 ? argv[2] : NULL;\n");
	repro_begin_calls(r, out);
}

static void kselftest_end(const struct repro *r, const struct finding *f, struct buf *out)
{
	struct export x = { .finding = f };

	if (r->needs[HELPER_unseen])
		buf_adds(out, "\n	if (unseen && !shown)\n"
			      "		ksft_exit_skip(\"not everything can be seen\\n\");\n");
	buf_adds(out, "\n	ksft_test_result(!shown, \"%s\\n\", ");
	export_title_c(&x, out);
	buf_adds(out, ");\n	ksft_finished();\n}\n");
}

static const struct repro_frame frame_kselftest = {
	.texts = {
		[HELPER_need] =
			"/* What must be so for the bug to be there to see. */\n"
			"static void need(int ok, const char *what)\n"
			"{\n"
			"	if (!ok)\n"
			"		ksft_exit_skip(\"%s returned %ld, %s\\n\", what, result,\n"
			"			       strerror(error));\n"
			"}\n",
		[HELPER_cannot_tell] =
			("static void cannot_tell(const char *why)\n"
			"{\n"
			"	ksft_exit_skip(\"%s\\n\", why);\n"
			"}\n"),
		[HELPER_want] =
			"/* What is so in a file system without the bug. */\n"
			"static void want(int ok, const char *what)\n"
			"{\n"
			"	if (ok)\n"
			"		return;\n"
			"	ksft_print_msg(\"wrong: %s\\n\", what);\n"
			"	shown = 1;\n"
			"}\n",
		[HELPER_cannot_see] =
			"static void cannot_see(const char *what)\n"
			"{\n"
			"	ksft_print_msg(\"cannot see: %s\\n\", what);\n"
			"	unseen = 1;\n"
			"}\n",
	},
	.headers = "#include \"../../kselftest.h\"\n",
	.head = kselftest_head,
	.begin = kselftest_begin,
	.end = kselftest_end,
};

/* The command that makes the file system, of which {image} becomes a variable of the script. It is
 * the description's own text and as such code. */
static void kselftest_put_mkfs(const struct export *x, struct buf *out)
{
	static const char image[] = "{image}";
	const char *at = buf_str(&x->mkfs), *place;

	for (; (place = strstr(at, image)); at = place + strlen(image)) {
		buf_add(out, at, (size_t)(place - at));
		buf_adds(out, "\"$work/image\"");
	}
	buf_adds(out, at);
}

static void kselftest_put_fs(const struct export *x, struct buf *out)
{
	const char *fs = buf_str(&x->fs);

	buf_adds(
		out,
		"work=$(mktemp -d) || exit $ksft_skip\n"
		"trap 'umount \"$work/mnt\" 2>/dev/null; rm -rf --one-file-system \"$work\"' EXIT\n"
		"mkdir \"$work/mnt\"\n");
	if (x->mkfs.len) {
		buf_addf(out,
			 "truncate -s 512M \"$work/image\"\nmount_it=\"mount -t %s -o loop "
			 "$work/image $work/mnt\"\n",
			 fs);
		kselftest_put_mkfs(x, out);
		buf_adds(out, " >/dev/null 2>&1 ||\n	skip 'cannot make the file system'\n");
	} else {
		buf_addf(out, "mount_it=\"mount -t %s none $work/mnt\"\n", fs);
	}
	buf_addf(out,
		 "$mount_it || skip 'cannot mount %s'\n"
		 "mkdir \"$work/mnt/test\"\n"
		 "./%s \"$work/mnt/test\" \"umount $work/mnt && $mount_it\"\n",
		 fs, x->name);
}

static void kselftest_put_directory(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "# REMOUNT is a command that unmounts and mounts the file system.\n"
		 "work=$(mktemp -d \"${TEST_DIR:-.}/%s.XXXXXX\") || exit $ksft_skip\n"
		 "trap 'rm -rf --one-file-system \"$work\"' EXIT\n"
		 "chmod 755 \"$work\"\n"
		 "./%s \"$work\"\n",
		 x->name, x->name);
}

static void kselftest_script(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "#!/bin/sh\n"
		 "# SPDX-License-Identifier: GPL-2.0\n"
		 "#\n"
		 "# Runs %s %s.\n"
		 "ksft_skip=4\n"
		 "skip()\n{\n	echo \"1..0 # SKIP $*\"\n	exit $ksft_skip\n}\n"
		 "\n"
		 "cd \"$(dirname \"$0\")\" || exit 1\n",
		 x->name,
		 x->fs.len ? "on a fresh file system in an image"
			   : "in a directory of $TEST_DIR, or of the working directory");
	if (x->fs.len) {
		buf_adds(out, "[ \"$(id -u)\" = 0 ] || skip 'needs root'\n");
		kselftest_put_fs(x, out);
	} else {
		kselftest_put_directory(x, out);
	}
}

static void kselftest_readme(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "A test for the tree of the Linux kernel. Copy " KSELFTEST_DIR "/%s\n"
		 "into it, then:\n"
		 "\n"
		 "- tools/testing/selftests/Makefile: add the line TARGETS += filesystems/%s\n"
		 "- " KSELFTEST_DIR "/%s/.gitignore is there already.\n"
		 "- make -C tools/testing/selftests TARGETS=filesystems/%s run_tests\n",
		 x->name, x->name, x->name, x->name);
	if (!x->fs.len)
		buf_adds(out, "- TEST_DIR is a directory of the file system under test.\n");
	buf_adds(out, "\n\"not ok\": the bug shows. SKIP: the calls that lead to it went "
		      "differently.\n\n");
	export_story(x, "", out);
}

static void kselftest_makefile(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "# SPDX-License-Identifier: GPL-2.0\n"
		 "\n"
		 "CFLAGS += -Wall -O2 -g $(KHDR_INCLUDES)\n"
		 "\n"
		 "TEST_PROGS := %s.sh\n"
		 "TEST_GEN_FILES := %s\n"
		 "\n"
		 "include ../../lib.mk\n",
		 x->name, x->name);
}

static void kselftest_lacks(const struct export *x, struct buf *why)
{
	if (x->program.needs[HELPER_check_disk])
		buf_adds(why, "it needs the checker of the file system (fsck)");
}

static void kselftest_write(const struct export *x, struct export_dir *dir)
{
	struct buf program = BUF_INIT, script = BUF_INIT, makefile = BUF_INIT, ignore = BUF_INIT,
		   readme = BUF_INIT;

	repro_program(x->finding, &frame_kselftest, &program);
	export_file(dir, &program, 0644, KSELFTEST_DIR "/%s/%s.c", x->name, x->name);
	kselftest_script(x, &script);
	export_file(dir, &script, 0755, KSELFTEST_DIR "/%s/%s.sh", x->name, x->name);
	kselftest_makefile(x, &makefile);
	export_file(dir, &makefile, 0644, KSELFTEST_DIR "/%s/Makefile", x->name);
	buf_addf(&ignore, "# SPDX-License-Identifier: GPL-2.0-only\n/%s\n", x->name);
	export_file(dir, &ignore, 0644, KSELFTEST_DIR "/%s/.gitignore", x->name);
	kselftest_readme(x, &readme);
	export_file(dir, &readme, 0644, "README");
}

const struct export_suite export_kselftest = {
	.name = "kselftest",
	.lacks = kselftest_lacks,
	.write = kselftest_write,
};
