// SPDX-License-Identifier: GPL-2.0
/* slot.c -- waiting for one's turn, and being copied: how a state of the kernel is kept. */
#include "slot.h"
#include "storage/write_log.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/driver/assay.h"

_Static_assert(sizeof(struct disk_record) == sizeof(struct assay_record) &&
		       offsetof(struct disk_record, what) == offsetof(struct assay_record, what) &&
		       (int)RECORD_MARK == ASSAY_RECORD_MARK &&
		       (int)RECORD_PROGRAM == ASSAY_RECORD_PROGRAM,
	       "checker and driver write the same records");
_Static_assert((int)KERNEL_SHM_FD == ASSAY_SHM_FD && (int)KERNEL_SHM_IMAGE_FD == ASSAY_IMAGE_FD &&
		       (int)KERNEL_SHM_EXIT_BROKEN == ASSAY_EXIT_BROKEN &&
		       (int)KERNEL_SHM_EXIT_HUNG == ASSAY_EXIT_DEADLOCK &&
		       (int)KERNEL_SHM_FLASH_ERASE_BYTES == ASSAY_FLASH_ERASE_BYTES &&
		       (int)KERNEL_SHM_FLASH_WRITE_BYTES == ASSAY_FLASH_WRITE_BYTES,
	       "checker and driver agree");

static uint32_t slot = 1;

struct kernel_shm *slot_enter(void)
{
	uint64_t at;
	struct kernel_shm *shm;

	if (pread(ASSAY_SHM_FD, &at, sizeof(at), 0) != sizeof(at))
		return NULL;
	shm = mmap((void *)at, sizeof(*shm), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, ASSAY_SHM_FD, 0);
	return shm == MAP_FAILED ? NULL : shm;
}

/* The owner may have gone before the copy asked to go with it. */
static void slot_take(struct kernel_shm *shm, uint32_t number)
{
	slot = number;
	shm->fork_pid = (uint32_t)syscall(SYS_getpid);
	if ((uint32_t)syscall(SYS_getppid) != shm->owner_pid)
		assay_host_exit(0);
}

static void slot_park(struct kernel_shm *shm)
{
	struct turn *turn = &shm->slots[slot];

	while (!turn_await(turn, SIDE_SERVER, INT64_MAX))
		;
	turn_pass(turn, SIDE_CLIENT);
}

/* Makes the copy that the owner wants; true: this is it. */
static bool slot_copy(struct kernel_shm *shm)
{
	struct channel *channel = &shm->message.channel;
	bool reverts = shm->message.request == REQUEST_LOAD || shm->message.request == REQUEST_RACE;
	int origin = (int)syscall(SYS_getpid), pid;

	if (reverts)
		assay_revert_allow();
	pid = assay_host_fork();
	if (!pid) {
		slot_take(shm, shm->fork_to);
		if (reverts)
			assay_revert_begin(origin);
		return true;
	}
	if (pid < 0) {
		channel->failure = err_sys(&channel->err, -pid, "cannot copy the kernel");
		turn_pass(&channel->turn, SIDE_CLIENT);
	}
	return false;
}

/* A copy that is put back to what its origin is continues where that is parked, too. */
void slot_wait(struct kernel_shm *shm)
{
	static void *parked[5];
	struct channel *channel = &shm->message.channel;

	turn_pass(&channel->turn, SIDE_CLIENT);
	for (;;) {
		if (__builtin_setjmp(parked)) {
			slot = shm->revert_to;
			return;
		}
		slot_park(shm);
		if (shm->fork_to) {
			/* What the owner wants next is for the copy already. */
			if (slot_copy(shm))
				return;
			continue;
		}
		if (!shm->revert_to)
			return;
		assay_revert(parked);
		shm->revert_to = 0;
		turn_pass(&channel->turn, SIDE_CLIENT);
	}
}
