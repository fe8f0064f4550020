/* export_xfstests.c -- a finding as a test of xfstests: a shell script, its output, and a C program
 * in src/.
 *
 * The program asks the script for a remount, since the functions of xfstests that know how to mount
 * are functions of the shell: it writes a line and waits for the answer. */
#include <string.h>

#include "base/must.h"
#include "finding/export.h"

/* The number is taken until the test gets one of the suite. */
#define XFSTESTS_ID "999"

static void xfstests_head(const struct finding *f, struct buf *out)
{
	buf_adds(out, "// SPDX-License-Identifier: GPL-2.0\n"
		      "/*\n * The program of generic/" XFSTESTS_ID ", which says what it is.\n *\n"
		      " * Arguments: an empty directory and, where the program remounts, the "
		      "command that\n * does it. Exit status 1: the bug shows; 0: it does not; 2: "
		      "the calls that lead to it\n * went differently.\n */\n");
}

/* Silence is golden. */
static void xfstests_end(const struct repro *r, const struct finding *f, struct buf *out)
{
	buf_adds(out, r->needs[HELPER_unseen] ? "\n	return unseen && !shown ? 2 : shown;\n}\n"
					      : "\n	return shown;\n}\n");
}

static const struct repro_frame frame_xfstests = {
	.gnu_source = true,
	.head = xfstests_head,
	.begin = repro_begin_main,
	.end = xfstests_end,
};

/* Groups of doc/group-names.txt by what is called. */
static const struct xfstests_group {
	enum op base;
	const char *group;
} xfstests_groups[] = {
	{ OP_setxattr, "attr" },
	{ OP_getxattr, "attr" },
	{ OP_listxattr, "attr" },
	{ OP_removexattr, "attr" },
	{ OP_rename, "rename" },
	{ OP_link, "hardlink" },
	{ OP_symlink, "symlink" },
	{ OP_readlink, "symlink" },
	{ OP_chmod, "perms" },
	{ OP_chown, "perms" },
	{ OP_access, "perms" },
	{ OP_mmap, "mmap" },
	{ OP_map_read, "mmap" },
	{ OP_map_write, "mmap" },
	{ OP_fallocate, "prealloc" },
	{ OP_copy_file_range, "copy_range" },
	{ OP_ficlone, "clone" },
	{ OP_lseek, "seek" },
	{ OP_read, "rw" },
	{ OP_write, "rw" },
	{ OP_truncate, "rw" },
	{ OP_opendir, "dir" },
	{ OP_readdir, "dir" },
	{ OP_mkdir, "dir" },
	{ OP_rmdir, "dir" },
	{ OP_fsck, "fsck" },
};

static bool xfstests_calls(const struct export *x, enum op base)
{
	for (size_t i = 0; i < x->finding->count; i++)
		if (op_table[x->finding->calls[i].op].base == base)
			return true;
	return false;
}

static void xfstests_add_groups(const struct export *x, struct buf *out)
{
	struct buf word = BUF_INIT;
	size_t begin = out->len;

	buf_adds(out, " auto quick ");
	for (size_t i = 0; i < ARRAY_LEN(xfstests_groups); i++) {
		if (!xfstests_calls(x, xfstests_groups[i].base))
			continue;
		buf_clear(&word);
		buf_addf(&word, " %s ", xfstests_groups[i].group);
		if (!strstr(out->data + begin, word.data))
			buf_adds(out, word.data + 1);
	}
	buf_free(&word);
	out->data[out->len - 1] = '\n';
}

/* In a directory of a file system that is there. */
static void xfstests_put_plain(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "dir=$TEST_DIR/$seq\n"
		 "rm -rf $dir\n"
		 "mkdir $dir\n"
		 "\n"
		 "$here/src/%s $dir 2>>$seqres.full\n"
		 "result=$?\n",
		 x->name);
}

/* On a fresh file system, which is unmounted on the way. */
static void xfstests_put_remounting(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "_scratch_mkfs >>$seqres.full 2>&1\n"
		 "_scratch_mount\n"
		 "dir=$SCRATCH_MNT/$seq\n"
		 "mkdir $dir\n"
		 "\n"
		 "# The program writes a line where the file system is to be unmounted, and waits "
		 "for\n"
		 "# the answer.\n"
		 "mkfifo $tmp.answer\n"
		 "ask=\"read -r status <$tmp.answer; exit \\$status\"\n"
		 "export CHECK=\"echo check; $ask\"\n"
		 "$here/src/%s $dir \"echo remount; $ask\" 2>>$seqres.full |\n"
		 "while read -r line; do\n"
		 "	case $line in\n"
		 "	remount)\n"
		 "		(_scratch_cycle_mount) >>$seqres.full 2>&1\n"
		 "		echo $? >$tmp.answer\n"
		 "		;;\n"
		 "	check)\n"
		 "		(_scratch_unmount; _check_scratch_fs && _scratch_mount) "
		 ">>$seqres.full 2>&1\n"
		 "		echo $? >$tmp.answer\n"
		 "		;;\n"
		 "	*)\n"
		 "		echo \"$line\"\n"
		 "		;;\n"
		 "	esac\n"
		 "done\n"
		 "result=${PIPESTATUS[0]}\n",
		 x->name);
}

static void xfstests_test(const struct export *x, struct buf *out)
{
	bool remounts = export_remounts(x);

	buf_adds(out, "#! /bin/bash\n"
		      "# SPDX-License-Identifier: GPL-2.0\n"
		      "#\n# FS QA Test " XFSTESTS_ID "\n#\n");
	export_story(x, "#", out);
	buf_adds(out, "#\n. ./common/preamble\n_begin_fstest");
	xfstests_add_groups(x, out);
	buf_adds(out, "\n. ./common/filter\n");
	if (xfstests_calls(x, OP_setxattr))
		buf_adds(out, ". ./common/attr\n");
	buf_addf(out, "\n_require_%s\n_require_test_program %s\n", remounts ? "scratch" : "test",
		 x->name);
	if (xfstests_calls(x, OP_setxattr))
		buf_adds(out, "_require_attrs\n");
	buf_adds(out, "\necho \"Silence is golden\"\n\n");
	(remounts ? xfstests_put_remounting : xfstests_put_plain)(x, out);
	buf_adds(out, "[ $result -ne 2 ] || _notrun \"the calls that lead to the bug went "
		      "differently\"\n"
		      "[ $result -eq 0 ] || echo \"$dir: the file system has the bug\"\n"
		      "\n# success, all done\nstatus=0\nexit\n");
}

static void xfstests_readme(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "A test for xfstests. Copy the files into its tree, then:\n"
		 "\n"
		 "- src/Makefile: add the word %s to LINUX_TARGETS.\n"
		 "- .gitignore: add the line /src/%s\n"
		 "- Give the test a free number: tools/mvtest generic/" XFSTESTS_ID
		 " generic/NUMBER\n"
		 "  (tools/nextid generic prints one). The program mentions it in its first "
		 "comment.\n"
		 "- make, then ./check generic/NUMBER\n"
		 "\n"
		 "The test fails where the bug shows. It is not run where the calls that lead to "
		 "the bug\n"
		 "go differently.\n\n",
		 x->name, x->name);
	export_story(x, "", out);
}

static void xfstests_write(const struct export *x, struct export_dir *dir)
{
	struct buf test = BUF_INIT, golden = BUF_INIT, program = BUF_INIT, readme = BUF_INIT;

	repro_program(x->finding, &frame_xfstests, &program);
	export_file(dir, &program, 0644, "src/%s.c", x->name);
	xfstests_test(x, &test);
	export_file(dir, &test, 0755, "tests/generic/" XFSTESTS_ID);
	buf_adds(&golden, "QA output created by " XFSTESTS_ID "\nSilence is golden\n");
	export_file(dir, &golden, 0644, "tests/generic/" XFSTESTS_ID ".out");
	xfstests_readme(x, &readme);
	export_file(dir, &readme, 0644, "README");
}

const struct export_suite export_xfstests = {
	.name = "xfstests",
	.write = xfstests_write,
};
