/* SPDX-License-Identifier: GPL-2.0 */
/* assay.h -- what the parts of the driver have in common: kernel, host and agent. */
#ifndef ASSAY_H
#define ASSAY_H

/* What the host passes, as descriptors. */
enum {
	ASSAY_HALL_FD = 3,  /* memory shared with the checker */
	ASSAY_IMAGE_FD = 4, /* the disk; may be missing */
};

/* How a kernel ends that cannot go on. */
enum {
	ASSAY_EXIT_BROKEN = 97,   /* our own failure */
	ASSAY_EXIT_DEADLOCK = 98,
	ASSAY_EXIT_PANIC = 99,
};

/* Kernel side. */
int assay_disk_add(void);
long assay_call(long number, long a, long b, long c, long d, long e, long f);
void assay_sleep_ms(unsigned long ms);
void *assay_alloc(unsigned long size);
void *assay_realloc(void *old, unsigned long size);
void assay_failed(const char *why) __attribute__((noreturn));
void assay_settle(void);
void assay_watch(void);
void assay_unwatch(void);

/* Host side. */
void *assay_host_image(unsigned long *ret_size);
void *assay_host_memory(unsigned long size);
void assay_host_unmap(void *memory, unsigned long size);
int assay_host_fork(void);
void assay_host_exit(int code) __attribute__((noreturn));

/* Agent. */
void assay_agent(void) __attribute__((noreturn));
void assay_agent_console(const char *text, unsigned int len);

#endif
