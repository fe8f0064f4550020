/* SPDX-License-Identifier: GPL-2.0 */
/* kmemleak.h -- the kernel's own search for memory without a pointer to it, where it has one: it
 * reports who allocated it. */
#ifndef AGENT_KMEMLEAK_H
#define AGENT_KMEMLEAK_H

/* Its control, in a first root with a directory /debug; -1: this kernel has none. */
int kmemleak_open(void);
/* What is suspected by now does not count. */
void kmemleak_forget(int fd);
/* Says on the console what has come since. */
void kmemleak_report(int fd);

#endif
