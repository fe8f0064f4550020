/* export_ltp.c -- a finding as a test of the Linux Test Project, in its new C API.
 *
 * A finding of a file system in the kernel becomes a test that has the library make, mount and, for
 * a remount, unmount a device. Any other one works in the temporary directory: TMPDIR says which
 * file system that is on. */
#include <string.h>

#include "base/must.h"
#include "finding/export.h"
#include "op/c_text.h"

static void ltp_head(const struct finding *f, struct buf *out)
{
	struct export x = { .finding = f };

	buf_adds(out, "// SPDX-License-Identifier: GPL-2.0-or-later\n/*\\\n");
	export_story(&x, " *", out);
	buf_adds(out, " */\n\n");
}

static void ltp_begin(const struct repro *r, const struct finding *f, struct buf *out)
{
	buf_adds(out, "static void run(void)\n{\n"
		      "	static char place[PATH_MAX];\n"
		      "	static int runs;\n"
		      "\n"
		      "	snprintf(place, sizeof(place), \"%s/\" ROOT \"/%d\", tst_tmpdir_path(), "
		      "++runs);\n"
		      "	SAFE_MKDIR(place, 0755);\n"
		      "	SAFE_CHDIR(place);\n"
		      "	shown = 0;\n");
	if (r->needs[HELPER_directory])
		buf_adds(out, "	directory = place;\n");
	repro_begin_calls(r, out);
}

static void ltp_end(const struct repro *r, const struct finding *f, struct buf *out)
{
	struct export x = { .finding = f };

	if (r->needs[HELPER_unseen])
		buf_adds(out, "\n	if (unseen && !shown)\n"
			      "		tst_brk(TCONF, \"not everything can be seen\");\n");
	buf_adds(out,
		 "\n	if (!shown)\n		tst_res(TPASS, \"the bug does not show: %s\",\n"
		 "			");
	export_title_c(&x, out);
	buf_adds(out, ");\n}\n");
}

static const struct repro_frame frame_ltp = {
	.texts = {
		[HELPER_need] =
			"/* What must be so for the bug to be there to see. */\n"
			"static void need(int ok, const char *what)\n"
			"{\n"
			"	if (!ok)\n"
			"		tst_brk(TCONF, \"%s returned %ld, %s\", what, result,\n"
			"			tst_strerrno(error));\n"
			"}\n",
		[HELPER_cannot_tell] =
			("static void cannot_tell(const char *why)\n"
			"{\n"
			"	tst_brk(TCONF, \"%s\", why);\n"
			"}\n"),
		[HELPER_want] =
			"/* What is so in a file system without the bug. */\n"
			"static void want(int ok, const char *what)\n"
			"{\n"
			"	if (ok)\n"
			"		return;\n"
			"	tst_res(TFAIL, \"%s\", what);\n"
			"	shown = 1;\n"
			"}\n",
		[HELPER_cannot_see] =
			"static void cannot_see(const char *what)\n"
			"{\n"
			"	tst_res(TINFO, \"cannot see: %s\", what);\n"
			"	unseen = 1;\n"
			"}\n",
		[HELPER_directory] = "static const char *directory;\n",
		[HELPER_remount] =
			"/* Whatever is open is closed before. */\n"
			"static int remount(void)\n"
			"{\n"
			"	char mountpoint[PATH_MAX];\n"
			"\n"
			"	snprintf(mountpoint, sizeof(mountpoint), \"%s/\" ROOT, tst_tmpdir_path());\n"
			"	if (leave() || tst_umount(mountpoint))\n"
			"		return -1;\n"
			"	SAFE_MOUNT(tst_device->dev, mountpoint, tst_device->fs_type, 0, NULL);\n"
			"	return come_back();\n"
			"}\n",
	},
	.head = ltp_head,
	.begin = ltp_begin,
	.end = ltp_end,
};

/* File systems that differ from POSIX by design; of the others one test is for all. */
static bool ltp_is_general(const struct export *x)
{
	static const char *const names[] = { "",    "ext2",  "ext3",     "ext4",
					     "xfs", "btrfs", "bcachefs", "tmpfs" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(buf_str(&x->fs), names[i]))
			return true;
	return false;
}

static bool ltp_mounts(const struct export *x)
{
	return x->fs.len || export_remounts(x);
}

static void ltp_put_mount(const struct export *x, struct buf *out)
{
	if (!ltp_mounts(x)) {
		buf_adds(out, "	.needs_tmpdir = 1,\n");
		return;
	}
	buf_adds(out, "	.needs_root = 1,\n	.mount_device = 1,\n	.mntpoint = ROOT,\n");
	if (ltp_is_general(x)) {
		/* What these do not store by design is no bug; tmpfs forgets all in a remount. */
		buf_addf(out,
			 "	.all_filesystems = 1,\n"
			 "	.skip_filesystems = (const char *const []) {\n"
			 "		\"vfat\", \"exfat\", \"ntfs\", \"fuse\",%s NULL\n"
			 "	},\n",
			 export_remounts(x) ? " \"tmpfs\"," : "");
		return;
	}
	buf_adds(out, "	.filesystems = (struct tst_fs []) {\n		{ .type = ");
	c_string(buf_str(&x->fs), x->fs.len, out);
	buf_adds(out, " },\n		{}\n	},\n");
}

static void ltp_put_test(const struct export *x, struct buf *out)
{
	buf_adds(out, "\nstatic struct tst_test test = {\n	.test_all = run,\n");
	ltp_put_mount(x, out);
	if (!ltp_mounts(x) && (x->program.rooted || x->program.needs[HELPER_become] ||
			       x->program.needs[HELPER_drop_caches]))
		buf_adds(out, "	.needs_root = 1,\n");
	if (x->program.needs[HELPER_ended])
		buf_adds(out, "	.timeout = 300,\n");
	buf_adds(out, "};\n");
}

/* Directories of testcases/kernel/syscalls that are not named as the call is. */
static const char *ltp_directory(const struct export *x)
{
	static const struct {
		const char *call, *directory;
	} rows[] = {
		{ "ficlone", "ioctl" },         { "set_inode_flags", "ioctl" },
		{ "get_inode_flags", "ioctl" }, { "opendir", "getdents" },
		{ "readdir", "getdents" },      { "rewinddir", "getdents" },
		{ "seekdir", "getdents" },      { "closedir", "getdents" },
		{ "map_read", "mmap" },         { "map_write", "mmap" },
		{ "inspect_file", "lseek" },
	};
	const char *call = export_call(x);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(call, rows[i].call))
			return rows[i].directory;
	return call;
}

static void ltp_readme(const struct export *x, struct buf *out)
{
	const char *directory = ltp_directory(x);

	buf_addf(out,
		 "A test for the Linux Test Project. Copy the files into its tree, then:\n"
		 "\n"
		 "- testcases/kernel/syscalls/%s/.gitignore: add the line /%s\n"
		 "- runtest/syscalls: add the line of runtest/%s, which is a file for this test "
		 "alone.\n"
		 "- make -C testcases/kernel/syscalls/%s %s\n",
		 directory, x->name, x->name, directory, x->name);
	if (ltp_mounts(x))
		buf_adds(out, "- Run it as root. LTP_SINGLE_FS_TYPE=ext4 chooses one file "
			      "system.\n");
	else
		buf_adds(out, "- Run it with TMPDIR on the file system under test.\n");
	buf_adds(out, "\nTFAIL: the bug shows. TPASS: it does not. TCONF: the calls that lead to "
		      "it went\ndifferently.\n\n");
	export_story(x, "", out);
}

static void ltp_lacks(const struct export *x, struct buf *why)
{
	if (x->program.needs[HELPER_check_disk])
		buf_adds(why, "its library cannot run the checker of the file system (fsck)");
}

static void ltp_write(const struct export *x, struct export_dir *dir)
{
	struct buf program = BUF_INIT, readme = BUF_INIT, runtest = BUF_INIT;
	struct repro_frame frame = frame_ltp;

	frame.headers =
		ltp_mounts(x)
			? "#include <limits.h>\n#include \"tst_test.h\"\n\n#define ROOT "
			  "\"mntpoint\"\n"
			: "#include <limits.h>\n#include \"tst_test.h\"\n\n#define ROOT \".\"\n";
	repro_program(x->finding, &frame, &program);
	ltp_put_test(x, &program);
	export_file(dir, &program, 0644, "testcases/kernel/syscalls/%s/%s.c", ltp_directory(x),
		    x->name);
	buf_addf(&runtest, "%s %s\n", x->name, x->name);
	export_file(dir, &runtest, 0644, "runtest/%s", x->name);
	ltp_readme(x, &readme);
	export_file(dir, &readme, 0644, "README");
}

const struct export_suite export_ltp = {
	.name = "ltp",
	.lacks = ltp_lacks,
	.write = ltp_write,
};
