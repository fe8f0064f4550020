/* SPDX-License-Identifier: GPL-2.0 */
/* program.h -- a program of the host runs on the file systems of the kernel under test. */
#ifndef AGENT_PROGRAM_H
#define AGENT_PROGRAM_H

#include "channel/message.h"

struct program_host {
	void *own;
	/* Unmounts and mounts again; 0 or an errno. NULL: that is not possible. */
	int (*remount)(void *own);
};

/* Runs the program in the message, whose first argument is the root: how it ended and what it wrote
 * are in the message then. Its working directory and root are the caller's. What it holds open it
 * holds for good: this kernel is of no other use afterwards. */
int program_run_here(struct message *m, const char *root, const struct program_host *host,
		     struct err *err);

#endif
