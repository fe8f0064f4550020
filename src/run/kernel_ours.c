/* kernel_ours.c -- what the kernel may name of ours in its log: processes, disks, file system. */
#include "run/kernel_ours.h"
#include "target/target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"
#include "process/descendants.h"
#include "sandbox/sandbox.h"
#include "storage/image.h"
#include "storage/mounting.h"

enum { PIDS_MAX = 4096 };

/* The kernel counts processes as the first namespace does. */
static bool counts_like_the_kernel(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO */
	char name[32];
	ssize_t len = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	return len == (ssize_t)strlen(first) && !memcmp(name, first, strlen(first));
}

static void look_at_processes(struct kernel_ours *ours)
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	sandbox_comm(ours->comm);
	if (proc_fd < 0)
		return;
	if (!ours->pids)
		ours->pids = must_alloc(PIDS_MAX * sizeof(*ours->pids));
	if (!ours->pid_count)
		ours->pids[ours->pid_count++] = getpid();
	if (counts_like_the_kernel())
		ours->pid_count = descendants_add(proc_fd, ours->pids, ours->pid_count, PIDS_MAX);
	else
		ours->pid_count = 0;
	close(proc_fd);
}

static void add_device(void *to, const char *name, unsigned major, unsigned minor)
{
	struct kernel_ours *ours = to;

	buf_add(&ours->devices, name, strlen(name) + 1);
	buf_addf(&ours->devices, "flush-%u:%u", major, minor);
	buf_addch(&ours->devices, '\0');
}

static void count_device(void *to, const char *name, unsigned major, unsigned minor)
{
	++*(size_t *)to;
}

void kernel_ours_look(struct kernel_ours *ours, const struct target *t)
{
	char images[32]; /* as a loop device reports them: a blank follows */
	size_t all = 0, own = 0;

	look_at_processes(ours);
	buf_clear(&ours->devices);
	snprintf(images, sizeof(images), IMAGE_NAME "%d ", (int)getpid());
	loop_each(images, add_device, ours);
	loop_each(images, count_device, &own);
	loop_each(IMAGE_NAME, count_device, &all);
	ours->fs = t->fs;
	ours->alone = t->fs && all == own && !mounting_has(t->fs);
}

void kernel_ours_free(struct kernel_ours *ours)
{
	free(ours->pids);
	buf_free(&ours->devices);
	*ours = (struct kernel_ours){ 0 };
}
