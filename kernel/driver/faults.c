// SPDX-License-Identifier: GPL-2.0
/*
 * faults.c -- allocations of memory and requests of the disk that fail, chosen by number.
 *
 * Numbers count from 1 what happens within system calls of the agent while faults are armed.
 * Allocations of other threads are not counted: nobody would be told of their failure. Those that
 * may not fail (__GFP_NOFAIL) do not.
 */
#include <linux/fault-inject.h>
#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "assay.h"

static struct {
	struct assay_faults armed;
	struct task_struct *task; /* in a system call; else NULL */
	unsigned int seen;
	unsigned int failed;
} faults;

void assay_faults_arm(const struct assay_faults *armed)
{
	memset(&faults, 0, sizeof(faults));
	if (armed)
		faults.armed = *armed;
}

unsigned int assay_faults_seen(void)
{
	return faults.seen;
}

unsigned int assay_faults_failed(void)
{
	return faults.failed;
}

void assay_faults_enter(void)
{
	faults.task = faults.armed.kind ? current : NULL;
}

void assay_faults_leave(void)
{
	faults.task = NULL;
}

static bool fails(void)
{
	unsigned int i;

	faults.seen++;
	for (i = 0; i < ASSAY_FAULTS_MAX; i++) {
		if (faults.armed.number[i] == faults.seen) {
			faults.failed++;
			return true;
		}
	}
	return false;
}

bool assay_alloc_fails(gfp_t gfp)
{
	if (likely(!faults.task) || faults.armed.kind != ASSAY_FAULT_ALLOC)
		return false;
	return current == faults.task && in_task() && !(gfp & __GFP_NOFAIL) && fails();
}

bool assay_request_fails(bool write)
{
	if (likely(!faults.task))
		return false;
	return faults.armed.kind == (write ? ASSAY_FAULT_WRITE : ASSAY_FAULT_READ) && fails();
}
