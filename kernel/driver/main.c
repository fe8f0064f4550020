// SPDX-License-Identifier: GPL-2.0
/*
 * main.c -- takes the place of init: gives the kernel to the agent, and the agent system calls.
 *
 * There is no user space. Calls are made by a kernel thread, whose pointers are plain memory to
 * copy_from_user() and the like. Time passes only when all tasks sleep.
 */
#include <linux/panic_notifier.h>
#include <linux/sched/debug.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>
#include <asm/syscall.h>

#include "assay.h"

extern const sys_call_ptr_t sys_call_table[];
extern int syscall_table_size;

static int on_panic(struct notifier_block *block, unsigned long value, void *message)
{
	assay_host_exit(ASSAY_EXIT_PANIC);
}

static struct notifier_block panic_block = { .notifier_call = on_panic, .priority = INT_MAX };

static void on_deadlock(struct timer_list *timer)
{
	pr_err("a call did not end in %d virtual seconds: deadlock\n", ASSAY_DEADLOCK_SECONDS);
	show_state_filter(TASK_UNINTERRUPTIBLE);
	assay_host_exit(ASSAY_EXIT_DEADLOCK);
}

static DEFINE_TIMER(deadlock_timer, on_deadlock);

void assay_watch(void)
{
	mod_timer(&deadlock_timer, jiffies + ASSAY_DEADLOCK_SECONDS * HZ);
}

void assay_unwatch(void)
{
	del_timer(&deadlock_timer);
}

static long call(long number, long a, long b, long c, long d, long e, long f)
{
	bool out = number == __NR_write || number == __NR_pwrite64;

	switch (number) {
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
		if (assay_is_direct(a))
			return assay_direct(a, (void *)b, c,
					    number == __NR_read || number == __NR_write ? NULL : &d,
					    out);
	}
	if (assay_space_has(number))
		return assay_space_call(number, a, b, c, d, e, f);
	return sys_call_table[number](a, b, c, d, e, f);
}

/* What a return to user space would do comes behind the call: closing files, unmounting. */
long assay_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number < 0 || number >= syscall_table_size / (long)sizeof(void *))
		return -ENOSYS;
	assay_faults_enter();
	result = call(number, a, b, c, d, e, f);
	task_work_run();
	assay_faults_leave();
	return result;
}

/* No tick ends a grace period while the kernel is busy, so that what is freed behind one (files,
 * names) would pile up. Sleeping here also lets ready threads of the kernel run. */
void assay_settle(void)
{
	rcu_barrier();
}

void assay_sleep_ms(unsigned long ms)
{
	schedule_timeout_uninterruptible(msecs_to_jiffies(ms));
}

/* Only the clock that files get their times from: no timer runs earlier for it. */
void assay_move_clock(long ns)
{
	struct timespec64 now;

	ktime_get_real_ts64(&now);
	now = timespec64_add(now, ns_to_timespec64(ns));
	do_settimeofday64(&now);
}

void assay_warn(const char *text)
{
	pr_warn("%s\n", text);
}

void assay_failed(const char *why)
{
	pr_err("the agent failed: %s\n", why);
	assay_host_exit(ASSAY_EXIT_BROKEN);
}

void assay_main(void);
void assay_main(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	panic_on_oops = 1;
	assay_host_catch();
	assay_agent();
}
