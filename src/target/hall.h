/* hall.h -- the memory that a checker and all the states of one kernel share.
 *
 * A saved state is a process that waits in its seat; one at a time has the turn and uses the
 * board. It lies at the same address in all of them, which is why that is chosen by hand: where
 * neither a program, nor its sanitizer, nor a kernel in a process has anything. */
#ifndef TARGET_HALL_H
#define TARGET_HALL_H

#include "target/board.h"
#include "target/code_map.h"
#include "target/sysctls.h"

enum {
	HALL_SEATS_MAX = 1 << 16,
	HALL_CONSOLE_MAX = 64 << 10,
	HALL_TEXT_MAX = 256,
};

/* What a kernel finds open, and how it ends where its agent fails or a call can never return. */
enum { HALL_FD = 3, HALL_IMAGE_FD = 4, HALL_EXIT_BROKEN = 97, HALL_EXIT_HUNG = 98 };

/* Where halls lie: some below the kernel, where a sanitizer leaves room too, the others below the
 * end of what the kernel takes for a process's memory (0x7f80000000). */
enum { HALL_PLACES_LOW = 3, HALL_PLACES = 64 };
static inline uint64_t hall_place(unsigned i)
{
	return i < HALL_PLACES_LOW ? UINT64_C(0x10000000) + i * UINT64_C(0x18000000)
				   : UINT64_C(0x4000000000) + i * UINT64_C(0x18000000);
}

struct hall {
	uint64_t at;   /* its address */
	uint32_t owner_pid;
	char fs[HALL_TEXT_MAX];      /* type for mount(2) */
	char source[HALL_TEXT_MAX];  /* what is mounted: a path in the kernel's first root */
	char options[HALL_TEXT_MAX]; /* of the mount */
	uint8_t sysctls[SYSCTL_COUNT]; /* set before it is mounted */
	bool keeps;                  /* what is there survives unmounting */
	unsigned fields;             /* enum tree_field */
	bool records;                /* what is written to the disk, from mounting on */
	int image_fd;                /* the owner's: mounted instead of the disk; -1: none */

	uint32_t fork_to;  /* seat of a copy to make, which takes on the errand; 0: none */
	uint32_t fork_pid; /* the copy's */

	uint32_t console_len;
	char console[HALL_CONSOLE_MAX]; /* the kernel's log since it was last cleared */

	struct code_map code;

	_Atomic uint32_t seats[HALL_SEATS_MAX]; /* 1: called; a futex. The first is number 1 */
	struct board board;
};

#endif
