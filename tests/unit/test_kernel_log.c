/* test_kernel_log.c -- complaints of kernels, as they were written. */
#include "judge/kernel_log.h"
#include "judge/kernel_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/unit.h"

static char path[] = "/tmp/assay-kernel-log-XXXXXX";
static int fd;

static int make_log(void **state)
{
	fd = mkstemp(path);
	return fd < 0 ? -1 : 0;
}

static int remove_log(void **state)
{
	return unlink(path);
}

/* One record for each line, as of the kernel. */
static void say(const char *text)
{
	static unsigned sequence;
	char line[1024];

	while (*text) {
		size_t len = strcspn(text, "\n");
		int n = snprintf(line, sizeof(line), "4,%u,%u,-;%.*s\n SUBSYSTEM=block\n", sequence,
				 sequence, (int)len, text);

		assert_int_equal(write(fd, line, (size_t)n), n);
		sequence++;
		text += len + (text[len] == '\n');
	}
}

static void nothing_is_found_in(const char *text)
{
	struct kernel_log k;

	kernel_log_open(&k, path);
	say(text);
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

static void is_found(const char *text, enum kernel_alarm alarm, const char *place)
{
	struct kernel_log k;

	kernel_log_open(&k, path);
	say("EXT4-fs (loop2): mounted filesystem r/w with ordered data mode. Quota mode: none.");
	say(text);
	assert_int_equal(kernel_log_next(&k), alarm);
	assert_string_equal(k.place, place);
	assert_memory_equal(k.text.data, text, strcspn(text, "\n"));
	say("EXT4-fs (loop2): unmounting filesystem.");
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

static void ordinary_words(void **state)
{
	nothing_is_found_in("assay-1 (30516): drop_caches: 2\n"
			    "XFS (loop3): Mounting V5 Filesystem\n"
			    "BTRFS info (device loop1): using crc32c checksum algorithm\n"
			    "systemd[1]: Debugging is on");
}

/* A program that crashes, or is killed, is no mistake of the kernel's. */
static void programs_that_crash(void **state)
{
	nothing_is_found_in(
		"traps: prog[17832] general protection fault ip:55d0 sp:7ffc error:0 in "
		"prog[6caec,55d0+1000]\n"
		"traps: prog[3] trap invalid opcode ip:55d0 sp:7ffc error:0\n"
		"prog[99]: segfault at 0 ip 000055 sp 00007f error 4 in prog[55+1000]\n"
		"Code: 00 00 00\n"
		"assay invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
		"CPU: 1 UID: 0 PID: 42 Comm: assay Not tainted 6.12.1 #1\n"
		"Call Trace:\n"
		"Out of memory: Killed process 42 (assay) total-vm:1kB, anon-rss:1kB\n"
		"oom_reaper: reaped process 42 (assay), now anon-rss:0kB");
	nothing_is_found_in("nvme0: WARNING: the firmware is old\n"
			    "EXT4-fs (sda1): WARNING: mounting without journal");
}

static void a_warning(void **state)
{
	is_found("WARNING: CPU: 1 PID: 42 at fs/iomap/buffered-io.c:1024 f+0x1a/0x40\n"
		 "Modules linked in:\n"
		 "CPU: 1 UID: 0 PID: 4242 Comm: assay-1 Not tainted 6.12.1 #1\n"
		 "RIP: 0010:iomap_write_end+0x1a/0x40\n"
		 "Call Trace:\n"
		 " <TASK>\n"
		 "---[ end trace 0000000000000000 ]---",
		 ALARM_WARNING, "fs/iomap/buffered-io.c:1024");
}

static void a_warning_of_newer_kernels(void **state)
{
	is_found("WARNING: fs/iomap/buffered-io.c:1024 at f+0x1a/0x40, CPU#1: assay/42\n"
		 "---[ end trace 0000000000000000 ]---",
		 ALARM_WARNING, "fs/iomap/buffered-io.c:1024");
}

static void damage_that_a_file_system_tells(void **state)
{
	is_found("EXT4-fs error (device loop7): ext4_lookup:1859: inode #12: comm cat: deleted "
		 "inode referenced: 13",
		 ALARM_CORRUPTION,
		 "EXT-fs error (device loop): ext_lookup:: inode #: comm cat: deleted inode "
		 "referenced: ");
	is_found("XFS (loop7): Metadata corruption detected at xfs_agf_read_verify+0x6d/0xe0, "
		 "xfs_agf block 0x1",
		 ALARM_CORRUPTION,
		 "XFS (loop): Metadata corruption detected at xfs_agf_read_verify+xd/xe, xfs_agf "
		 "block x");
	is_found("BTRFS critical (device loop7): corrupt leaf: root=5 block=1 slot=2",
		 ALARM_CORRUPTION,
		 "BTRFS critical (device loop): corrupt leaf: root= block= slot=");
	nothing_is_found_in(
		"EXT4-fs warning (device loop7): ext4_dx_add_entry:2461: Directory full");
}

static void a_bug(void **state)
{
	is_found("kernel BUG at fs/ext4/inode.c:2345!\n"
		 "invalid opcode: 0000 [#1] PREEMPT SMP\n"
		 "---[ end trace 0000000000000000 ]---",
		 ALARM_BUG, "fs/ext4/inode.c:2345");
}

static void an_oops(void **state)
{
	is_found("BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
		 "#PF: supervisor read access in kernel mode\n"
		 "Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
		 "---[ end trace 0000000000000000 ]---",
		 ALARM_OOPS, "BUG: kernel NULL pointer dereference, address: ");
}

static void a_use_after_free(void **state)
{
	is_found("BUG: KASAN: slab-use-after-free in xfs_iget+0x123/0x456", ALARM_BUG,
		 "BUG: KASAN: slab-use-after-free in xfs_iget+x/x");
}

/* A process more or less in a message is the same complaint. */
static void a_hung_task(void **state)
{
	is_found("INFO: task ntfs-3g:26048 blocked for more than 120 seconds.\n"
		 "      Not tainted 6.12.1 #1\n"
		 "task:ntfs-3g state:D stack:0 pid:26048",
		 ALARM_HUNG_TASK, "INFO: task ntfs-g: blocked for more than  seconds.");
}

static void a_lockup(void **state)
{
	is_found("watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [assay:4242]", ALARM_LOCKUP,
		 "watchdog: BUG: soft lockup - CPU# stuck for s! [assay:]");
}

static void only_what_the_kernel_says(void **state)
{
	static const char line[] = "12,1,1,-;kernel BUG at home!\n";
	struct kernel_log k;

	kernel_log_open(&k, path);
	assert_int_equal(write(fd, line, strlen(line)), (ssize_t)strlen(line));
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

static void two_in_turn(void **state)
{
	struct kernel_log k;

	kernel_log_open(&k, path);
	say("WARNING: CPU: 0 PID: 1 at fs/a.c:1 a+0x1/0x2\n---[ end trace 0 ]---");
	say("WARNING: CPU: 0 PID: 1 at fs/b.c:2 b+0x1/0x2\n---[ end trace 0 ]---");
	assert_int_equal(kernel_log_next(&k), ALARM_WARNING);
	assert_string_equal(k.place, "fs/a.c:1");
	assert_int_equal(kernel_log_next(&k), ALARM_WARNING);
	assert_string_equal(k.place, "fs/b.c:2");
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

/* Complaints without an end are apart once each has named a process. */
static void several_without_an_end(void **state)
{
	struct kernel_log k;

	kernel_log_open(&k, path);
	say("INFO: task a:1 blocked for more than 120 seconds.\ntask:a state:D pid:1\n"
	    "INFO: task b:2 blocked for more than 120 seconds.\ntask:b state:D pid:2\n"
	    "BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
	    "Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
	    "CPU: 0 UID: 0 PID: 3 Comm: c Not tainted 6.12.1 #1\n"
	    "WARNING: CPU: 0 PID: 4 at fs/d.c:4 d+0x1/0x2\n");
	assert_int_equal(kernel_log_next(&k), ALARM_HUNG_TASK);
	assert_non_null(strstr(k.text.data, "pid:1"));
	assert_null(strstr(k.text.data, "task b"));
	assert_int_equal(kernel_log_next(&k), ALARM_HUNG_TASK);
	assert_non_null(strstr(k.text.data, "pid:2"));
	assert_int_equal(kernel_log_next(&k), ALARM_OOPS);
	assert_non_null(strstr(k.text.data, "Comm: c"));
	assert_int_equal(kernel_log_next(&k), ALARM_WARNING);
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

/* Two CPUs write at once; where the kernel tells who writes, each has its own lines. */
static void two_at_once(void **state)
{
	static const char lines[] =
		"4,1,1,-,caller=T1;WARNING: CPU: 0 PID: 1 at fs/a.c:1 a+0x1/0x2\n"
		"4,2,1,-,caller=T2;kernel BUG at fs/b.c:2!\n"
		"4,3,1,-,caller=T1;CPU: 0 UID: 0 PID: 1 Comm: a Not tainted\n"
		"4,4,1,-,caller=T2;CPU: 1 UID: 0 PID: 2 Comm: b Not tainted\n"
		"4,5,1,-,caller=T2;---[ end trace 0 ]---\n"
		"4,6,1,-,caller=T1;---[ end trace 0 ]---\n";
	struct kernel_log k;

	kernel_log_open(&k, path);
	assert_int_equal(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	assert_int_equal(kernel_log_next(&k), ALARM_WARNING);
	assert_string_equal(k.text.data, "WARNING: CPU: 0 PID: 1 at fs/a.c:1 a+0x1/0x2\n"
					 "CPU: 0 UID: 0 PID: 1 Comm: a Not tainted\n"
					 "---[ end trace 0 ]---\n");
	assert_int_equal(kernel_log_next(&k), ALARM_BUG);
	assert_string_equal(k.text.data, "kernel BUG at fs/b.c:2!\n"
					 "CPU: 1 UID: 0 PID: 2 Comm: b Not tainted\n"
					 "---[ end trace 0 ]---\n");
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

static void one_that_cannot_be_read(void **state)
{
	struct kernel_log k;

	kernel_log_open(&k, "/nonesuch/log");
	assert_int_equal(kernel_log_next(&k), ALARM_NONE);
	kernel_log_close(&k);
}

static void stands_first(const char *console, enum kernel_alarm alarm, const char *place)
{
	char found[KERNEL_PLACE_MAX];

	assert_int_equal(kernel_log_first(console, found), alarm);
	assert_string_equal(found, place);
}

/* As a kernel in a process writes. */
static void a_console(void **state)
{
	stands_first("", ALARM_NONE, "");
	stands_first("[    1.230000] EXT4-fs (disk): mounted filesystem\n", ALARM_NONE, "");
	stands_first("[    1.230000] swapper (1): drop_caches: 3\n"
		     "[    2.000000] memory leak of kmalloc-64, dentry: 1, 2 more each time\n",
		     ALARM_LEAK, "kmalloc-64, dentry");
	stands_first("[    1.230000] \n[    1.230000] Pid: 1, comm: swapper Not tainted 6.12\n"
		     "[    1.230000] RIP: 0033:ext4_mkdir+0x17/0x110\n"
		     "[    1.230000] Kernel panic - not syncing: Segfault with no mm",
		     ALARM_OOPS, "ext4_mkdir");
	stands_first("[    1.230000] WARNING: CPU: 0 PID: 1 at fs/a.c:1 a+0x1/0x2\n"
		     "[    1.230000] kernel BUG at fs/b.c:2!\n",
		     ALARM_WARNING, "fs/a.c:1");
	stands_first("[    1.230000] WARNING: possible circular locking dependency detected\n",
		     ALARM_WARNING, "WARNING: possible circular locking dependency detected");
}

static void damage(void **state)
{
	assert_false(kernel_alarm_is_damage(ALARM_WARNING));
	assert_false(kernel_alarm_is_damage(ALARM_CORRUPTION));
	assert_false(kernel_alarm_is_damage(ALARM_HUNG_TASK));
	assert_true(kernel_alarm_is_damage(ALARM_BUG));
	assert_true(kernel_alarm_is_damage(ALARM_OOPS));
}

/* Of what a kernel writes, the first function that may be at fault. */
static void a_trace_makes_a_function_suspect(void **state)
{
	static const struct {
		const char *log, *function;
	} rows[] = {
		{ "WARNING: CPU: 0 PID: 9 at fs/ext4/inode.c:12 ext4_evict_inode+0x1/0x2\n",
		  "ext4_evict_inode" },
		{ "BUG: KASAN: use-after-free in xfs_iget+0x10/0x20\n", "xfs_iget" },
		{ "kernel BUG at fs/a.c:1!\nRIP: 0010:jfs_truncate.part.0+0x9/0x10\n",
		  "jfs_truncate.part.0" },
		{ "Call Trace:\n ? printk+0x0/0x94\n dump_stack_lvl+0x1/0x2\n __warn+0x1/0x2\n"
		  " f2fs_write_end+0x1/0x2\n vfs_write+0x1/0x2\n",
		  "f2fs_write_end" },
		{ "backtrace:\n [<1>] kmem_cache_alloc+0x1/0x2\n [<2>] bfs_iget+0x1/0x2\n",
		  "bfs_iget" },
		{ "EXT4-fs error (device loop0): bad block at 0x12\n", "" },
		{ "0x12+0x34 9+0x1", "" },
	};
	char function[KERNEL_PLACE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(kernel_trace_function(rows[i].log, function),
				 *rows[i].function != '\0');
		assert_string_equal(function, rows[i].function);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_words),
		cmocka_unit_test(programs_that_crash),
		cmocka_unit_test(a_warning),
		cmocka_unit_test(a_warning_of_newer_kernels),
		cmocka_unit_test(damage_that_a_file_system_tells),
		cmocka_unit_test(a_bug),
		cmocka_unit_test(an_oops),
		cmocka_unit_test(a_use_after_free),
		cmocka_unit_test(a_hung_task),
		cmocka_unit_test(a_lockup),
		cmocka_unit_test(only_what_the_kernel_says),
		cmocka_unit_test(two_in_turn),
		cmocka_unit_test(several_without_an_end),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(one_that_cannot_be_read),
		cmocka_unit_test(a_console),
		cmocka_unit_test(damage),
		cmocka_unit_test(a_trace_makes_a_function_suspect),
	};

	return cmocka_run_group_tests(tests, make_log, remove_log);
}
