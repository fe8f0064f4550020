/* test_group.c -- which discrepancies have one cause, and how bad they are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "judge/group.h"
#include "judge/severity.h"
#include "tests/harness/unit.h"

#define SIZE(rows) (sizeof(rows) / sizeof(*(rows)))

static void set_signature(struct discrepancy *d, const char *signature)
{
	discrepancy_init(d);
	snprintf(d->signature, sizeof(d->signature), "%s", signature);
	d->code = problem_of_signature(signature);
}

/* What a signature alone says. */
static void signatures_are_grouped(void **state)
{
	static const struct {
		const char *signature, *group;
		enum severity severity;
	} rows[] = {
		{ "TREE rename nlink (too small, directory)", "nlink of directories, too small",
		  SEVERITY_METADATA },
		{ "TREE rmdir nlink (too small, directory, elsewhere)",
		  "nlink of directories, too small", SEVERITY_METADATA },
		/* What is wrong is the same, whichever kind of rename it was. */
		{ "TREE rename nlink (too small, directory, exchange, to another directory)",
		  "nlink of directories, too small", SEVERITY_METADATA },
		{ "TREE rmdir nlink (too large, directory)", "nlink of directories, too large",
		  SEVERITY_METADATA },
		{ "TREE link nlink (too small)", "nlink of files, too small", SEVERITY_METADATA },
		{ "TREE mkdir mode (directory)", "mode of directories", SEVERITY_METADATA },
		{ "TREE open mode (special bits)", "mode of files, special bits",
		  SEVERITY_METADATA },
		{ "TREE rename xattr (lost)", "xattr of files, lost", SEVERITY_METADATA },
		{ "TREE open times", "times of files", SEVERITY_METADATA },
		{ "TREE link unreadable (getxattr EIO)", "unreadable of files, getxattr EIO",
		  SEVERITY_DATA },
		/* A cached size; a call that sets it, and a disk that has another, are apart. */
		{ "TREE link size (too large)", "size of files, too large", SEVERITY_DATA },
		{ "TREE chmod size (too large)", "size of files, too large", SEVERITY_DATA },
		{ "TREE unlink size (too small, elsewhere)", "size of files, too small, elsewhere",
		  SEVERITY_DATA },
		{ "TREE truncate size (too large)", "TREE truncate size (too large)",
		  SEVERITY_DATA },
		{ "TREE remount size (too large)", "TREE remount size (too large)", SEVERITY_DATA },
		/* Data and names never leave their call. */
		{ "TREE link data (zeros)", "TREE link data (zeros)", SEVERITY_DATA },
		{ "TREE write data (zeros)", "TREE write data (zeros)", SEVERITY_DATA },
		{ "TREE rename missing", "TREE rename missing", SEVERITY_DATA },
		{ "TREE link unreadable (open EIO)", "TREE link unreadable (open EIO)",
		  SEVERITY_DATA },
		{ "DRIFT mode", "DRIFT mode", SEVERITY_METADATA },
		{ "DRIFT data", "DRIFT data", SEVERITY_DATA },
		{ "TIMES rename change time of file was not updated",
		  "change time of file was not updated", SEVERITY_METADATA },
		{ "OUTCOME setxattr EOPNOTSUPP for success", "xattr not supported",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME getxattr ENOSYS for ENODATA", "xattr not supported",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME fallocate EOPNOTSUPP for EINVAL", "fallocate not supported",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME link EPERM for success", "link not supported", SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME chmod EPERM for success", "OUTCOME chmod EPERM for success",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME mkdir ENOSPC for success", "ENOSPC for success",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME rename EXDEV for ENOTEMPTY", "EXDEV within the file system",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME rename EXDEV for success", "EXDEV within the file system",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME mkdir EIO for success", "OUTCOME mkdir EIO for success",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME rename ENOENT for EEXIST", "OUTCOME rename ENOENT for EEXIST",
		  SEVERITY_OUTSIDE_POSIX },
		/* Whatever it should have been, the daemon does not know the object any more. */
		{ "OUTCOME setxattr ESTALE for success", "ESTALE for success",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME getxattr ESTALE for ENODATA", "ESTALE for success",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME mkdir ENOSPC for EEXIST", "OUTCOME mkdir ENOSPC for EEXIST",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME setxattr EIO for success", "EIO of calls for extended attributes",
		  SEVERITY_OUTSIDE_POSIX },
		{ "OUTCOME getxattr EIO for ENODATA", "EIO of calls for extended attributes",
		  SEVERITY_OUTSIDE_POSIX },
		{ "TIMES utimensat access time of file is not the one that was given",
		  "times that utimensat sets", SEVERITY_METADATA },
		{ "TIMES utimensat modification time of file was not updated",
		  "times that utimensat sets", SEVERITY_METADATA },
		{ "TIMES utimensat change time of file was not updated",
		  "change time of file was not updated", SEVERITY_METADATA },
		{ "OUTCOME read value", "OUTCOME read value", SEVERITY_OUTSIDE_POSIX },
		{ "HANG rename", "HANG rename", SEVERITY_CRASH },
		{ "DEATH rename", "DEATH rename", SEVERITY_CRASH },
		{ "KERNEL warning fs/a.c:1", "KERNEL warning fs/a.c:1", SEVERITY_CRASH },
		{ "FSCK e2fsck Inode N", "FSCK e2fsck Inode N", SEVERITY_DAMAGE },
		{ "SPACE blocks", "SPACE blocks", SEVERITY_DAMAGE },
		{ "LEAK a+N", "LEAK a+N", SEVERITY_DAMAGE },
		{ "TREE mkdir tree", "TREE mkdir tree", SEVERITY_DATA },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		group_of(&d, group);
		assert_string_equal(group, rows[i].group);
		if (severity_of(&d) != rows[i].severity)
			fail_msg("%s: %s", rows[i].signature, severity_table[severity_of(&d)].name);
		discrepancy_free(&d);
	}
}

/* Calls that break one rule in the same way; what POSIX allows is not as bad. */
static void rules_are_shared(void **state)
{
	static const char *const signatures[] = { "OUTCOME mkdir success for EACCES",
						  "OUTCOME rename success for EACCES" };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(signatures); i++) {
		set_signature(&d, signatures[i]);
		d.rules[0] = RULE_search_denied;
		d.rule_count = 1;
		group_of(&d, group);
		assert_string_equal(group, "success for EACCES (search_denied)");
		d.reach = REACH_INSIDE_POSIX;
		assert_int_equal(severity_of(&d), SEVERITY_UNLIKE_LINUX);
	}
	/* Where it should succeed, a rule that would allow an error explains nothing. */
	set_signature(&d, "OUTCOME mkdir EIO for success");
	d.rules[0] = RULE_search_denied;
	d.rule_count = 1;
	group_of(&d, group);
	assert_string_equal(group, d.signature);
}

/* An open file is looked up by its name again; names of attributes are taken as they are. */
static void calls_that_share_a_cause_are_one_group(void **state)
{
	static const struct {
		const char *signature, *group;
		enum op op;
		int rule; /* -1: none */
	} rows[] = {
		{ "OUTCOME fsync ENOENT for success", "ENOENT through a descriptor", OP_fsync, -1 },
		{ "OUTCOME removexattr ENOENT for ENODATA", "ENOENT through a descriptor",
		  OP_fremovexattr, RULE_xattr_absent },
		{ "OUTCOME removexattr ENOENT for ENODATA", "ENOENT for ENODATA (xattr_absent)",
		  OP_removexattr, RULE_xattr_absent },
		{ "OUTCOME write EPERM for success",
		  "EPERM of reads and writes through a descriptor", OP_pwrite, -1 },
		{ "OUTCOME truncate EPERM for success",
		  "EPERM of reads and writes through a descriptor", OP_ftruncate, -1 },
		{ "OUTCOME truncate EPERM for success", "OUTCOME truncate EPERM for success",
		  OP_truncate, -1 },
		{ "OUTCOME chmod EPERM for success", "OUTCOME chmod EPERM for success", OP_fchmod,
		  -1 },
		{ "OUTCOME read EINVAL for success", "O_DIRECT not supported", OP_direct_read, -1 },
		{ "OUTCOME write EINVAL for success", "O_DIRECT not supported", OP_direct_write,
		  -1 },
		{ "OUTCOME write EINVAL for success", "OUTCOME write EINVAL for success", OP_write,
		  -1 },
		{ "OUTCOME removexattr ENODATA for EOPNOTSUPP",
		  "names of extended attributes not checked", OP_removexattr, RULE_xattr_space },
		{ "OUTCOME link ENOENT for ENAMETOOLONG", "names that are too long not refused",
		  OP_link, RULE_name_too_long },
		{ "OUTCOME symlink success for ENAMETOOLONG", "names that are too long not refused",
		  OP_symlink, RULE_name_too_long },
		{ "OUTCOME setxattr success for EINVAL", "names of extended attributes not checked",
		  OP_setxattr, RULE_xattr_name_bare },
		{ "OUTCOME getxattr ENODATA for EOPNOTSUPP",
		  "names of extended attributes not checked", OP_getxattr, RULE_xattr_space },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		if (rows[i].rule >= 0)
			d.rules[d.rule_count++] = (enum rule)rows[i].rule;
		group_of(&d, group);
		assert_string_equal(group, rows[i].group);
		discrepancy_free(&d);
	}
}

/* Bits that are given are lost for one reason, bits that are inherited for another. */
static void special_bits_of_new_objects_are_one_group(void **state)
{
	static const struct {
		const char *signature, *group;
		enum op op;
		unsigned arg; /* that has the mode */
		int64_t given;
		uint32_t expected;
	} rows[] = {
		{ "TREE open mode (special bits)", "mode of new objects, special bits",
		  OP_create_file, 2, 04755, S_IFREG | 04755 },
		{ "TREE mkdir mode (special bits, directory)", "mode of new objects, special bits",
		  OP_mkdirat, 2, 01777, S_IFDIR | 01777 },
		{ "TREE mknod mode (special bits)", "mode of new objects, special bits", OP_mknod,
		  1, S_IFIFO | 02644, S_IFIFO | 02644 },
		{ "TREE mkdir mode (special bits, directory)", "mode of directories, special bits",
		  OP_mkdir, 1, 0755, S_IFDIR | 02755 },
		{ "TREE open mode (special bits, elsewhere)", "mode of files, special bits",
		  OP_create_file, 2, 0755, S_IFREG | 04755 },
		/* Through a symbolic link. */
		{ "TREE open mode (special bits, elsewhere)", "mode of new objects, special bits",
		  OP_create_file, 2, 04755, S_IFREG | 04755 },
		{ "TREE chmod mode (special bits)", "mode that chmod sets, special bits", OP_chmod,
		  1, 04755, S_IFREG | 04755 },
		{ "TREE chmod mode (special bits, directory)", "mode that chmod sets, special bits",
		  OP_chmod, 1, 02755, S_IFDIR | 02755 },
		{ "TREE chmod mode (special bits, elsewhere)", "mode of files, special bits",
		  OP_chmod, 1, 04755, S_IFREG | 04755 },
	};
	struct fact fact = { .kind = FACT_MODE, .nlink = 1 };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		d.call.arg[rows[i].arg].num = rows[i].given;
		fact.mode = rows[i].expected;
		d.facts = &fact;
		d.fact_count = 1;
		group_of(&d, group);
		assert_string_equal(group, rows[i].group);
		discrepancy_free(&d);
	}
}

/* A removal that always succeeds does so for names that there cannot be, too. */
static void removals_of_nothing_are_one_group(void **state)
{
	static const char *const signatures[] = { "OUTCOME removexattr success for ENODATA",
						  "OUTCOME removexattr success for EOPNOTSUPP" };
	static const enum rule rules[] = { RULE_xattr_absent, RULE_xattr_space };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(signatures); i++) {
		set_signature(&d, signatures[i]);
		d.call.op = OP_removexattr;
		d.answered = true;
		d.rules[d.rule_count++] = (uint16_t)rules[i];
		group_of(&d, group);
		assert_string_equal(group, "removexattr of what is not there succeeds");
		discrepancy_free(&d);
	}
}

/* Flags that are not looked at. */
static void flags_of_setxattr_are_one_group(void **state)
{
	static const char *const signatures[] = { "OUTCOME setxattr success for EEXIST",
						  "OUTCOME setxattr success for ENODATA" };
	static const enum rule rules[] = { RULE_xattr_exists, RULE_xattr_absent };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(signatures); i++) {
		set_signature(&d, signatures[i]);
		d.call.op = OP_setxattr;
		d.answered = true;
		d.rules[d.rule_count++] = (uint16_t)rules[i];
		group_of(&d, group);
		assert_string_equal(group, "flags of setxattr ignored");
		discrepancy_free(&d);
	}
}

/* What a daemon does itself it does wrongly after many calls. */
static void bookkeeping_of_daemons_is_one_group(void **state)
{
	static const struct {
		const char *signature, *cached, *other;
		struct fact fact;
	} rows[] = {
		{ "TREE splice data (stale)",
		  "data of files, stale",
		  "TREE splice data (stale)",
		  { .kind = FACT_DATA, .mode = S_IFREG, .nlink = 1 } },
		{ "TREE write data (foreign)",
		  "data of files, stale",
		  "TREE write data (foreign)",
		  { .kind = FACT_DATA, .mode = S_IFREG, .nlink = 1 } },
		{ "TREE write data (zeros)",
		  "TREE write data (zeros)",
		  "TREE write data (zeros)",
		  { .kind = FACT_DATA, .mode = S_IFREG, .nlink = 1 } },
		{ "TREE rmdir nlink (too large, directory)",
		  "nlink of directories",
		  "nlink of directories, too large",
		  { .kind = FACT_NLINK, .mode = S_IFDIR } },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;
	struct fact fact;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		fact = rows[i].fact;
		d.facts = &fact;
		d.fact_count = 1;
		group_of(&d, group);
		assert_string_equal(group, rows[i].other);
		d.is_cached = true;
		group_of(&d, group);
		assert_string_equal(group, rows[i].cached);
	}
}

static void failures_of_writeback_are_one_group(void **state)
{
	static const struct {
		const char *signature;
		enum op op;
	} rows[] = { { "OUTCOME fsync EOPNOTSUPP for success", OP_fsync },
		     { "OUTCOME sync EOPNOTSUPP for success", OP_sync },
		     { "OUTCOME drop_caches EOPNOTSUPP for success", OP_drop_caches } };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		d.is_cached = true;
		group_of(&d, group);
		assert_string_equal(group, "EOPNOTSUPP when data is written back");
		discrepancy_free(&d);
	}
}

/* A listing that has too much has it after every call. */
static void names_that_lead_nowhere_are_one_group(void **state)
{
	static const char *const signatures[] = { "TREE write extra (elsewhere)",
						  "TREE dup extra" };
	struct fact fact = { .kind = FACT_EXTRA, .call = "stat", .error = ENOENT };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(signatures); i++) {
		set_signature(&d, signatures[i]);
		d.facts = &fact;
		d.fact_count = 1;
		group_of(&d, group);
		assert_string_equal(group, "names that are listed, but stat gives ENOENT");
		discrepancy_free(&d);
	}
}

/* Behind the cache of a FUSE daemon, what is wrong with a linked file has one cause. */
static void names_are_cached_apart(void **state)
{
	struct fact fact = { .kind = FACT_DATA, .mode = S_IFREG | 0644, .nlink = 2 };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	set_signature(&d, "TREE map_write data (other)");
	d.facts = &fact;
	d.fact_count = 1;
	group_of(&d, group);
	assert_string_equal(group, d.signature);
	d.is_cached = true;
	group_of(&d, group);
	assert_string_equal(group, "files with several names, cached by each name");
	fact.nlink = 1;
	group_of(&d, group);
	assert_string_equal(group, d.signature);
	set_signature(&d, "OUTCOME stat value");
	d.is_cached = d.answered = d.success_allowed = true;
	d.answer.result = d.value.result = RESULT_STAT;
	d.value.stat = d.answer.stat = (struct stat_result){ .mode = S_IFREG, .nlink = 2 };
	d.answer.stat.mode |= 0644;
	group_of(&d, group);
	assert_string_equal(group, "files with several names, cached by each name");
}

/* Times of such a file, too, and of what is no regular file. */
static void times_and_symlinks_are_cached_apart(void **state)
{
	static const struct {
		const char *signature;
		enum problem code;
		struct fact fact;
	} rows[] = {
		{ "TIMES listxattr change time of file has gone back",
		  PROBLEM_TIMES,
		  { .kind = FACT_TIMES, .mode = S_IFREG, .nlink = 2, .wrong = TIME_GONE_BACK } },
		{ "TREE link owner",
		  PROBLEM_TREE,
		  { .kind = FACT_OWNER, .mode = S_IFLNK, .nlink = 2 } },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		struct fact fact = rows[i].fact;

		set_signature(&d, rows[i].signature);
		assert_int_equal(d.code, rows[i].code);
		d.facts = &fact;
		d.fact_count = 1;
		d.is_cached = true;
		group_of(&d, group);
		assert_string_equal(group, "files with several names, cached by each name");
		fact.nlink = 1;
		group_of(&d, group);
		assert_false(strstr(group, "several names"));
	}
}

/* Which times of its objects a daemon does not keep is seen after any call, in several ways. */
static void times_of_a_daemon_are_one_group(void **state)
{
	static const char *const signatures[] = {
		"TIMES mkdir modification time of directory was not updated",
		"TIMES truncate modification time of directory has gone back",
		"TIMES open change time of directory has gone back",
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(signatures); i++) {
		set_signature(&d, signatures[i]);
		d.is_cached = true;
		group_of(&d, group);
		assert_string_equal(group, "times of directories");
	}
	set_signature(&d, "TIMES write modification time of file was not updated");
	d.is_cached = true;
	group_of(&d, group);
	assert_string_equal(group, "times of files");
	set_signature(&d, "TIMES utimensat access time of file is not the one that was given");
	d.is_cached = true;
	group_of(&d, group);
	assert_string_equal(group, "times that utimensat sets");
}

/* Linux compares inodes to see that two descriptors are of one file. */
static void names_are_files_apart(void **state)
{
	static const struct {
		const char *signature;
		enum op op;
		enum rule rule;
	} rows[] = {
		{ "OUTCOME flock success for EAGAIN", OP_flock, RULE_lock_busy },
		{ "OUTCOME copy_file_range success for EINVAL", OP_copy_file_range,
		  RULE_copy_overlap },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		d.rules[d.rule_count++] = rows[i].rule;
		d.answered = d.is_cached = true;
		group_of(&d, group);
		assert_false(strstr(group, "several names"));
		d.has_names = true;
		group_of(&d, group);
		assert_string_equal(group, "files with several names, cached by each name");
		d.answer.error = EIO; /* which is of no inode */
		group_of(&d, group);
		assert_false(strstr(group, "several names"));
		discrepancy_free(&d);
	}
}

/* A descriptor of one name reads what was written through another. */
static void data_by_another_name_is_cached(void **state)
{
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	set_signature(&d, "OUTCOME read value");
	d.call.op = OP_pread;
	d.answered = d.success_allowed = d.is_cached = true;
	d.answer.result = d.value.result = RESULT_BYTES;
	group_of(&d, group);
	assert_string_equal(group, d.signature);
	d.has_names = true;
	group_of(&d, group);
	assert_string_equal(group, "files with several names, cached by each name");
}

/* What a daemon sees that follows symbolic links depends on where they lead. */
static void attributes_of_symlinks_are_one_group(void **state)
{
	static const struct {
		const char *signature;
		enum fact_kind kind;
	} rows[] = {
		{ "TREE symlink unreadable (listxattr ENOENT)", FACT_UNREADABLE },
		{ "TREE rename unreadable (listxattr ELOOP, elsewhere)", FACT_UNREADABLE },
		{ "TREE setxattr unreadable (getxattr ENODATA)", FACT_UNREADABLE },
		{ "TREE symlink xattr (extra)", FACT_XATTR },
	};
	struct fact fact = { .nlink = 1 };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		fact.kind = rows[i].kind;
		d.facts = &fact;
		d.fact_count = 1;
		fact.mode = S_IFLNK | 0777;
		group_of(&d, group);
		assert_string_equal(group, "xattr of symbolic links");
		fact.mode = S_IFREG | 0644;
		group_of(&d, group);
		assert_false(strstr(group, "symbolic"));
	}
	set_signature(&d, "TREE symlink unreadable (readlink EIO)");
	fact = (struct fact){ .kind = FACT_UNREADABLE, .mode = S_IFLNK | 0777 };
	d.facts = &fact;
	d.fact_count = 1;
	group_of(&d, group);
	assert_string_equal(group, d.signature);
}

/* stat and the tree show one cause. */
static void fields_of_stat_are_those_of_the_tree(void **state)
{
	struct stat_result right = { .mode = S_IFDIR | 0755, .nlink = 3, .size = 10 };
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	set_signature(&d, "OUTCOME stat value");
	d.answered = d.success_allowed = true;
	d.answer.result = d.value.result = RESULT_STAT;
	d.value.stat = d.answer.stat = right;
	d.answer.stat.nlink = 1;
	group_of(&d, group);
	assert_string_equal(group, "nlink of directories, too small");
	assert_int_equal(severity_of(&d), SEVERITY_METADATA);
	d.answer.stat.size = 11; /* the heavier one */
	group_of(&d, group);
	assert_string_equal(group, "size of directories, too large");
	assert_int_equal(severity_of(&d), SEVERITY_DATA);
	d.answer.stat = right;
	d.answer.stat.mode = S_IFDIR | S_ISVTX | 0755;
	group_of(&d, group);
	assert_string_equal(group, "mode of directories, special bits");
	d.answer.stat.mode = S_IFREG | 0755;
	group_of(&d, group);
	assert_string_equal(group, "OUTCOME stat value");
}

/* A crash is known by where it happened, or by what the daemon said last. */
static void ends_are_known_by_place_or_words(void **state)
{
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	set_signature(&d, "KERNEL rename fs/ext4/inode.c:12");
	strcpy(d.place, "fs/ext4/inode.c:12");
	group_of(&d, group);
	assert_string_equal(group, "KERNEL fs/ext4/inode.c:12");
	set_signature(&d, "DEATH rename");
	buf_adds(&d.ended, "signal 6 (SIGABRT)");
	group_of(&d, group);
	assert_string_equal(group, "DEATH rename");
	buf_adds(&d.output, "first line\nx.c:17: bad node 0x55ab at level 3\n\n");
	group_of(&d, group);
	assert_string_equal(group, "DEATH by signal 6 (SIGABRT): x.c:N: bad node N at level N");
	assert_int_equal(severity_of(&d), SEVERITY_CRASH);
	discrepancy_free(&d);
}

static void severities_have_names(void **state)
{
	for (enum severity s = 0; s < SEVERITIES; s++)
		assert_int_equal(severity_find(severity_table[s].name), s);
	assert_int_equal(severity_find("high"), SEVERITIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_are_grouped),
		cmocka_unit_test(rules_are_shared),
		cmocka_unit_test(special_bits_of_new_objects_are_one_group),
		cmocka_unit_test(removals_of_nothing_are_one_group),
		cmocka_unit_test(flags_of_setxattr_are_one_group),
		cmocka_unit_test(failures_of_writeback_are_one_group),
		cmocka_unit_test(bookkeeping_of_daemons_is_one_group),
		cmocka_unit_test(names_that_lead_nowhere_are_one_group),
		cmocka_unit_test(names_are_cached_apart),
		cmocka_unit_test(times_and_symlinks_are_cached_apart),
		cmocka_unit_test(times_of_a_daemon_are_one_group),
		cmocka_unit_test(names_are_files_apart),
		cmocka_unit_test(data_by_another_name_is_cached),
		cmocka_unit_test(attributes_of_symlinks_are_one_group),
		cmocka_unit_test(calls_that_share_a_cause_are_one_group),
		cmocka_unit_test(fields_of_stat_are_those_of_the_tree),
		cmocka_unit_test(ends_are_known_by_place_or_words),
		cmocka_unit_test(severities_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
