// SPDX-License-Identifier: GPL-2.0
/* seat.c -- waiting for one's turn, and being copied: how a state of the kernel is kept. */
#include "seat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/driver/assay.h"

_Static_assert(sizeof(struct disk_record) == sizeof(struct assay_record) &&
		       offsetof(struct disk_record, what) == offsetof(struct assay_record, what) &&
		       (int)RECORD_MARK == ASSAY_RECORD_MARK,
	       "checker and driver write the same records");
_Static_assert((int)HALL_FD == ASSAY_HALL_FD && (int)HALL_IMAGE_FD == ASSAY_IMAGE_FD &&
		       (int)HALL_EXIT_BROKEN == ASSAY_EXIT_BROKEN &&
		       (int)HALL_EXIT_HUNG == ASSAY_EXIT_DEADLOCK,
	       "checker and driver agree");

static uint32_t seat = 1;

struct hall *seat_enter(void)
{
	uint64_t at;
	struct hall *hall;

	if (pread(ASSAY_HALL_FD, &at, sizeof(at), 0) != sizeof(at))
		return NULL;
	hall = mmap((void *)at, sizeof(*hall), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, ASSAY_HALL_FD, 0);
	return hall == MAP_FAILED ? NULL : hall;
}

int seat_open_image(const struct hall *hall)
{
	char path[64];
	long fd;

	if (hall->image_fd < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", hall->owner_pid, hall->image_fd);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* The owner may have gone before the copy asked to go with it. */
static void take_seat(struct hall *hall, uint32_t number)
{
	seat = number;
	hall->fork_pid = (uint32_t)syscall(SYS_getpid);
	if ((uint32_t)syscall(SYS_getppid) != hall->owner_pid)
		assay_host_exit(0);
}

static void wait_for_call(struct hall *hall)
{
	_Atomic uint32_t *called = &hall->seats[seat];

	while (!atomic_exchange(called, 0))
		syscall(SYS_futex, called, FUTEX_WAIT, 0, NULL, NULL, 0);
}

void seat_wait(struct hall *hall)
{
	int pid;

	board_pass(&hall->board, TURN_OWNER);
	for (;;) {
		wait_for_call(hall);
		if (!hall->fork_to)
			return;
		pid = assay_host_fork();
		if (!pid) {
			take_seat(hall, hall->fork_to);
			return;
		}
		if (pid > 0)
			continue;
		hall->board.failure = err_sys(&hall->board.err, -pid, "cannot copy the kernel");
		board_pass(&hall->board, TURN_OWNER);
	}
}
