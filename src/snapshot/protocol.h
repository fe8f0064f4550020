/* protocol.h -- the memory that a checker and all the states of one kernel share.
 *
 * A saved state is a parked process: it waits for the turn of its slot. One process at a time has
 * that turn and serves the message, whose own turn says when it has an answer. The memory lies at
 * the same address in all processes, which is why that is chosen by hand: where neither a program,
 * nor its sanitizer, nor a kernel in a process has anything. */
#ifndef SNAPSHOT_PROTOCOL_H
#define SNAPSHOT_PROTOCOL_H

#include "channel/message.h"
#include "channel/schedule.h"
#include "codecov/code_map.h"

/* Settings of a kernel that change what calls return: files in /proc/sys/fs, and traits of a
 * target. */
#define SYSCTLS(ROW) \
	ROW(protected_symlinks) \
	ROW(protected_hardlinks) \
	ROW(protected_regular) \
	ROW(protected_fifos)

enum {
#define ROW(name) SYSCTL_##name,
	SYSCTLS(ROW)
#undef ROW
		SYSCTL_COUNT
};

enum {
	KERNEL_SHM_SLOTS_MAX = 1 << 16,
	KERNEL_SHM_CONSOLE_MAX = 64 << 10,
	KERNEL_SHM_TEXT_MAX = 256,
	KERNEL_SHM_SECTOR_BYTES = 512,
	KERNEL_SHM_SECTORS_MAX = 1 << 23, /* of a disk whose reads are noted: 4 GiB */
	KERNEL_SHM_FLASH_ERASE_BYTES = 16 << 10,
	KERNEL_SHM_FLASH_WRITE_BYTES = 1,
};

/* What a kernel finds open, and how it ends where its agent fails or a call can never return. */
enum {
	KERNEL_SHM_FD = 3,
	KERNEL_SHM_IMAGE_FD = 4,
	KERNEL_SHM_EXIT_BROKEN = 97,
	KERNEL_SHM_EXIT_HUNG = 98
};

/* Where the memory may lie: some places below the kernel, where a sanitizer leaves room too, the
 * others behind what its mappings and its memory take (assay.h, host.c), below its TASK_SIZE. */
enum { KERNEL_SHM_PLACES_LOW = 3, KERNEL_SHM_PLACES = 64 };
static inline uint64_t kernel_shm_place(unsigned i)
{
	return i < KERNEL_SHM_PLACES_LOW ? UINT64_C(0x10000000) + i * UINT64_C(0x18000000)
					 : UINT64_C(0x7000000000) + i * UINT64_C(0x18000000);
}

struct kernel_shm {
	uint64_t at; /* its address */
	uint32_t owner_pid;
	char fs[KERNEL_SHM_TEXT_MAX];      /* type for mount(2) */
	char source[KERNEL_SHM_TEXT_MAX];  /* what is mounted: a path in the kernel's first root */
	char options[KERNEL_SHM_TEXT_MAX]; /* of the mount */
	char below[KERNEL_SHM_TEXT_MAX];   /* attached to this directory instead; "": mounted */
	char seeded[KERNEL_SHM_TEXT_MAX];  /* the active one of its seeded bugs; "": none */
	uint8_t sysctls[SYSCTL_COUNT];     /* set before it is mounted */
	bool keeps;                        /* what is there survives unmounting */
	unsigned fields;                   /* enum tree_field */
	bool whole;                        /* its own root is the root of calls, no directory */
	bool records;                      /* what is written to the disk, from mounting on */
	bool flash;                        /* the image is that of flash memory, */
	bool blank;                        /* which has nothing on it yet */

	uint32_t fork_to;  /* slot of a copy to make, which takes on the request; 0: none */
	uint32_t fork_pid; /* the copy's */
	/* Slot of a copy that REQUEST_LOAD or REQUEST_RACE puts back to what its origin is; 0 where
	 * that cannot be done, and has not served the request. 0: none */
	uint32_t revert_to;

	uint32_t console_len;
	char console[KERNEL_SHM_CONSOLE_MAX]; /* the kernel's log since it was last cleared */

	struct code_map code;

	uint64_t medium_bytes; /* of its disk */
	/* A bit for each sector that a state since the last REQUEST_LOAD has read and not written
	 * before. Here, since a state that dies has read them, too. */
	uint64_t read_sectors[KERNEL_SHM_SECTORS_MAX / 64];

	struct schedule_board board; /* REQUEST_RACE: what is asked for, and what came of it */

	struct turn
		slots[KERNEL_SHM_SLOTS_MAX]; /* the client has it while parked; the first is 1 */
	struct message message;
	char text[MESSAGE_TEXT_MAX];
	char data[MESSAGE_DATA_MAX];
};

/* Of read_sectors, as far as there are sectors. */
static inline size_t kernel_shm_read_bytes(const struct kernel_shm *shm)
{
	uint64_t sectors = shm->medium_bytes / KERNEL_SHM_SECTOR_BYTES;

	return sectors > KERNEL_SHM_SECTORS_MAX ? sizeof(shm->read_sectors)
						: (sectors + 63) / 64 * sizeof(uint64_t);
}

#endif
