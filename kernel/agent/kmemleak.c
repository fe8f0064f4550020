// SPDX-License-Identifier: GPL-2.0
/* kmemleak.c -- the kernel's own search for memory without a pointer to it. */
#include "kmemleak.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kernel/driver/assay.h"

enum { TEXT_BYTES = 4096 };

/* It asks the thread that searches whether it is to stop, which only the kernel's own know. */
static void order(int fd, const char *word)
{
	if (assay_write_apart(fd, word, strlen(word)) < 0)
		assay_warn("kmemleak does not listen");
}

int kmemleak_open(void)
{
	if (mount("debugfs", "/debug", "debugfs", 0, NULL))
		return -1;
	return open("/debug/kmemleak", O_RDWR | O_CLOEXEC);
}

/* Only what a search has found can be forgotten. */
void kmemleak_forget(int fd)
{
	if (fd < 0)
		return;
	order(fd, "scan");
	order(fd, "clear");
}

void kmemleak_report(int fd)
{
	char text[TEXT_BYTES];
	ssize_t n;

	if (fd < 0)
		return;
	order(fd, "scan");
	while ((n = read(fd, text, sizeof(text))) > 0)
		assay_agent_console(text, (unsigned)n);
}
