// SPDX-License-Identifier: GPL-2.0
/*
 * faults.c -- allocations of memory and requests of the disk that fail, chosen by number.
 *
 * Numbers count from 1 what happens within system calls of the agent while faults are armed.
 * Allocations of other threads are not counted: no call would return their failure. Those that
 * may not fail (__GFP_NOFAIL) do not.
 */
#include <linux/types.h> /* which the next one needs, and does not include, in 6.1 */
#include <linux/fault-inject.h>
#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "assay.h"

static struct {
	struct assay_faults armed;
	struct task_struct *task; /* in a system call; else NULL */
	unsigned int seen[ASSAY_FAULTS];
} faults;

void assay_faults_arm(const struct assay_faults *armed)
{
	memset(&faults, 0, sizeof(faults));
	faults.armed = *armed;
}

void assay_faults_enter(void)
{
	faults.task = faults.armed.any ? current : NULL;
}

void assay_faults_leave(void)
{
	faults.task = NULL;
}

static bool fails(unsigned int kind)
{
	const unsigned int *number = faults.armed.number[kind];
	unsigned int n = ++faults.seen[kind];

	return n == number[0] || n == number[1];
}

bool assay_alloc_fails(gfp_t gfp)
{
	if (likely(!faults.task) || current != faults.task || !in_task())
		return false;
	return !(gfp & __GFP_NOFAIL) && fails(ASSAY_FAULT_ALLOC);
}

bool assay_request_fails(bool write)
{
	return unlikely(faults.task) && fails(write ? ASSAY_FAULT_WRITE : ASSAY_FAULT_READ);
}
