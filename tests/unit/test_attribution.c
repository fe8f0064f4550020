/* test_attribution.c -- complaints of kernels, as they were written: which of them are ours. */
#include "run/attribution.h"

#include <string.h>

#include "base/must.h"
#include "tests/harness/unit.h"

static pid_t pids[] = { 700, 701 };
static const char devices[] = "loop3\0flush-7:3";

static struct kernel_ours testing(const char *fs, bool alone)
{
	return (struct kernel_ours){
		.comm = "assay:700",
		.pids = pids,
		.pid_count = ARRAY_LEN(pids),
		.devices = { (char *)devices, sizeof(devices), sizeof(devices) },
		.fs = fs,
		.alone = alone,
	};
}

static void is(enum attribution expected, enum kernel_alarm alarm, const char *text)
{
	struct kernel_ours ours = testing("ext4", true);

	if (attribution_of(&ours, alarm, text) != expected)
		fail_msg("attributed to %d: %s", attribution_of(&ours, alarm, text), text);
}

static void a_process_was_running(void **state)
{
	is(ATTRIBUTION_PROCESS, ALARM_OOPS,
	   "BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
	   "Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
	   "CPU: 1 UID: 0 PID: 4711 Comm: assay:700 Not tainted 6.12.1 #1\n"
	   "RIP: 0010:ext4_mkdir+0x17/0x110\n");
	is(ATTRIBUTION_PROCESS, ALARM_OOPS, /* a daemon, by its number */
	   "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]\n"
	   "CPU: 1 UID: 0 PID: 701 Comm: bindfs Tainted: G    W 6.12.1 #1\n");
	is(ATTRIBUTION_NONE, ALARM_OOPS,
	   "BUG: kernel NULL pointer dereference, address: 0000000000000010\n"
	   "CPU: 1 UID: 0 PID: 7010 Comm: assay:7001 Not tainted 6.12.1 #1\n"
	   "RIP: 0010:ext4_mkdir+0x17/0x110\n");
	is(ATTRIBUTION_PROCESS, ALARM_WARNING,
	   "WARNING: fs/iomap/buffered-io.c:1024 at f+0x1a/0x40, CPU#1: cat/701\n");
	is(ATTRIBUTION_NONE, ALARM_WARNING,
	   "WARNING: fs/iomap/buffered-io.c:1024 at f+0x1a/0x40, CPU#1: cat/70\n");
	is(ATTRIBUTION_PROCESS, ALARM_BUG,
	   "BUG: KASAN: slab-use-after-free in ext4_find_extent+0xc5c/0xd80\n"
	   "Read of size 4 at addr ffff88810b6e4010 by task kworker/u8:2/701\n");
	is(ATTRIBUTION_NONE, ALARM_BUG,
	   "BUG: KASAN: slab-use-after-free in ip_rcv+0xc5c/0xd80\n"
	   "Read of size 4 at addr ffff88810b6e4010 by task curl/9\n");
	is(ATTRIBUTION_PROCESS, ALARM_WARNING,
	   "WARNING: possible circular locking dependency detected\n6.12.1 Not tainted\n"
	   "cp/701 is trying to acquire lock:\n");
	is(ATTRIBUTION_PROCESS, ALARM_BUG,
	   "BUG: sleeping function called from invalid context at mm/slab.h:1\n"
	   "in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 700, name: assay\n");
	is(ATTRIBUTION_PROCESS, ALARM_BUG, "BUG: scheduling while atomic: assay/700/0x00000002\n");
}

static void tasks_that_hang(void **state)
{
	is(ATTRIBUTION_PROCESS, ALARM_HUNG_TASK,
	   "INFO: task ntfs-3g:701 blocked for more than 120 seconds.\n");
	is(ATTRIBUTION_PROCESS, ALARM_HUNG_TASK,
	   "INFO: task assay:700:8123 blocked for more than 120 seconds.\n");
	is(ATTRIBUTION_NONE, ALARM_HUNG_TASK,
	   "INFO: task ntfs-3g:26048 blocked for more than 120 seconds.\n"
	   "task:ntfs-3g state:D stack:0 pid:26048\n"
	   "Showing all locks held in the system:\n"
	   "1 lock held by assay:700/4711:\n");
	is(ATTRIBUTION_DEVICE, ALARM_HUNG_TASK,
	   "INFO: task jbd2/loop3-8:26048 blocked for more than 120 seconds.\n");
	is(ATTRIBUTION_NONE, ALARM_HUNG_TASK,
	   "INFO: task jbd2/loop33-8:26048 blocked for more than 120 seconds.\n");
	is(ATTRIBUTION_NONE, ALARM_HUNG_TASK,
	   "INFO: task jbd2/sda1-8:26048 blocked for more than 120 seconds.\n");
}

static void watchdogs(void **state)
{
	is(ATTRIBUTION_PROCESS, ALARM_LOCKUP,
	   "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [assay:700:4242]\n"
	   "CPU: 1 UID: 0 PID: 4242 Comm: assay:700 Not tainted 6.12.1 #1\n <IRQ>\n");
	is(ATTRIBUTION_NONE, ALARM_LOCKUP,
	   "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [stress:4242]\n"
	   "CPU: 1 UID: 0 PID: 4242 Comm: stress Not tainted 6.12.1 #1\n <IRQ>\n");
	is(ATTRIBUTION_PROCESS, ALARM_LOCKUP,
	   "rcu: INFO: rcu_preempt self-detected stall on CPU\n"
	   "rcu: \t1-....: (20999 ticks this GP) idle=1/1/0x4 softirq=1/1 fqs=1\n"
	   "CPU: 1 UID: 0 PID: 701 Comm: fuse2fs Not tainted 6.12.1 #1\n <IRQ>\n");
	is(ATTRIBUTION_NONE, ALARM_LOCKUP,
	   "BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 30s!\n");
}

/* An interrupt runs on anybody's time. */
static void interrupts(void **state)
{
	is(ATTRIBUTION_NONE, ALARM_WARNING,
	   "WARNING: CPU: 1 PID: 4711 at drivers/net/x.c:1 net_rx+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 4711 Comm: assay:700 Not tainted 6.12.1 #1\n"
	   " <IRQ>\n __napi_poll+0x2e/0x1c0\n </IRQ>\n <TASK>\n ext4_mkdir_x\n");
	is(ATTRIBUTION_CODE, ALARM_WARNING,
	   "WARNING: CPU: 1 PID: 4711 at fs/ext4/page-io.c:1 ext4_end_bio+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 4711 Comm: stress Not tainted 6.12.1 #1\n"
	   " <IRQ>\n ext4_end_bio+0x2e/0x1c0\n </IRQ>\n");
}

static const char writeback[] =
	"WARNING: CPU: 1 PID: 33 at fs/ext4/inode.c:2345 ext4_writepages+0x1/0x2\n"
	"CPU: 1 UID: 0 PID: 33 Comm: kworker/u8:2 Not tainted 6.12.1 #1\n"
	"Workqueue: writeback wb_workfn (flush-%s)\n"
	"Call Trace:\n"
	" ? __ext4_writepages+0x55/0x90\n";

/* Threads of the kernel's work for whoever asks. */
static void threads_of_the_kernel(void **state)
{
	struct kernel_ours shared = testing("ext4", false), xfs = testing("xfs", true);
	struct buf text = BUF_INIT;

	is(ATTRIBUTION_CODE, ALARM_WARNING, writeback);
	assert_int_equal(attribution_of(&shared, ALARM_WARNING, writeback), ATTRIBUTION_NONE);
	assert_int_equal(attribution_of(&xfs, ALARM_WARNING, writeback), ATTRIBUTION_NONE);
	buf_addf(&text, "%.*sflush-7:3)\n", (int)(strstr(writeback, "flush-") - writeback),
		 writeback);
	assert_int_equal(attribution_of(&shared, ALARM_WARNING, text.data), ATTRIBUTION_DEVICE);
	buf_clear(&text);
	buf_addf(&text, "%.*sflush-7:31)\n", (int)(strstr(writeback, "flush-") - writeback),
		 writeback);
	assert_int_equal(attribution_of(&shared, ALARM_WARNING, text.data), ATTRIBUTION_NONE);
	buf_free(&text);
	is(ATTRIBUTION_NONE, ALARM_WARNING,
	   "WARNING: CPU: 1 PID: 33 at net/core/dev.c:1 x+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 33 Comm: kworker/u8:2 Not tainted 6.12.1 #1\n");
	is(ATTRIBUTION_NONE, ALARM_WARNING, /* somebody's process in the same code */
	   "WARNING: CPU: 1 PID: 33 at fs/ext4/inode.c:2345 ext4_writepages+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 33 Comm: cp Not tainted 6.12.1 #1\n");
}

static void damage_of_a_file_system(void **state)
{
	struct kernel_ours none = testing("ext4", true);

	is(ATTRIBUTION_DEVICE, ALARM_CORRUPTION,
	   "EXT4-fs error (device loop3): ext4_lookup:1859: inode #12: comm cat: deleted inode\n");
	is(ATTRIBUTION_NONE, ALARM_CORRUPTION,
	   "EXT4-fs error (device sda1): ext4_lookup:1859: inode #12: comm assay:700: deleted\n");
	is(ATTRIBUTION_DEVICE, ALARM_CORRUPTION,
	   "XFS (loop3): Metadata corruption detected at xfs_agf_read_verify+0x6d/0xe0\n");
	is(ATTRIBUTION_NONE, ALARM_CORRUPTION,
	   "BTRFS critical (device vda2): corrupt leaf: root=5 block=1 slot=2\n");
	/* In a directory nobody knows which disk is ours. */
	none.devices.len = 0;
	assert_int_equal(attribution_of(&none, ALARM_CORRUPTION,
					"EXT4-fs error (device sda1): ext4_lookup:1859: inode #12: "
					"comm assay:700: deleted inode referenced: 13\n"),
			 ATTRIBUTION_PROCESS);
}

/* Two CPUs write at once, and nothing tells their lines apart: one of them was about us. */
static void a_mixture(void **state)
{
	is(ATTRIBUTION_PROCESS, ALARM_BUG,
	   "kernel BUG at drivers/x.c:1!\nWARNING: CPU: 0 PID: 700 at fs/a.c:1 a+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 9 Comm: curl Not tainted 6.12.1 #1\n"
	   "CPU: 0 UID: 0 PID: 700 Comm: assay Not tainted 6.12.1 #1\n");
	is(ATTRIBUTION_NONE, ALARM_BUG,
	   "kernel BUG at drivers/x.c:1!\nWARNING: CPU: 0 PID: 8 at fs/a.c:1 a+0x1/0x2\n"
	   "CPU: 1 UID: 0 PID: 9 Comm: curl Not tainted 6.12.1 #1\n"
	   "CPU: 0 UID: 0 PID: 8 Comm: wget Not tainted 6.12.1 #1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_was_running),
		cmocka_unit_test(tasks_that_hang),
		cmocka_unit_test(watchdogs),
		cmocka_unit_test(interrupts),
		cmocka_unit_test(threads_of_the_kernel),
		cmocka_unit_test(damage_of_a_file_system),
		cmocka_unit_test(a_mixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
