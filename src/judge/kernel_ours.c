/* kernel_ours.c -- what the kernel may name of ours in its log: processes, disks, file system. */
#include "judge/kernel_ours.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"
#include "target/image.h"
#include "target/keeper.h"
#include "target/mounting.h"

enum { PIDS_MAX = 4096, STAT_MAX = 4096 };

/* The kernel counts processes as the first namespace does. */
static bool counts_like_the_kernel(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO */
	char name[32];
	ssize_t len = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	return len == (ssize_t)strlen(first) && !memcmp(name, first, strlen(first));
}

static bool knows_pid(const struct kernel_ours *ours, pid_t pid)
{
	for (size_t i = 0; i < ours->pid_count; i++)
		if (ours->pids[i] == pid)
			return true;
	return false;
}

static void add_pid(struct kernel_ours *ours, pid_t pid)
{
	if (ours->pid_count == PIDS_MAX)
		return;
	ours->pids = must_realloc(ours->pids, (ours->pid_count + 1) * sizeof(*ours->pids));
	ours->pids[ours->pid_count++] = pid;
}

/* Its name, in brackets, may contain anything; the parent is the second field behind it. */
static pid_t parent_of(pid_t pid)
{
	char path[32];
	struct buf text = BUF_INIT;
	const char *rest;
	pid_t parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!access(path, R_OK) && !buf_read_file(&text, path, STAT_MAX, NULL) &&
	    (rest = strrchr(buf_str(&text), ')')) && strlen(rest) > 4)
		parent = (pid_t)strtol(rest + 4, NULL, 10);
	buf_free(&text);
	return parent;
}

/* One pass over all processes; true if one was found. Parents may stand behind their children. */
static bool add_children(struct kernel_ours *ours)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || knows_pid(ours, pid) || !knows_pid(ours, parent_of(pid)))
			continue;
		add_pid(ours, pid);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void look_at_processes(struct kernel_ours *ours)
{
	keeper_comm(ours->comm);
	if (!counts_like_the_kernel())
		return;
	if (!ours->pid_count)
		add_pid(ours, getpid());
	while (ours->pid_count < PIDS_MAX && add_children(ours))
		;
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
	char images[32]; /* as a loop device tells of them: a blank follows */
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
