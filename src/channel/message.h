/* message.h -- a request to the server of a file system, and its reply, on a channel.
 *
 * The server is a sandbox (sandbox/sandbox_server.c) or a kernel in a process (kernel/agent). */
#ifndef CHANNEL_MESSAGE_H
#define CHANNEL_MESSAGE_H

#include "channel/channel.h"
#include "channel/limits.h"
#include "channel/request.h"
#include "syscall/syscall.h"

enum {
	MESSAGE_STEPS_MAX = 64,
	MESSAGE_TEXT_MAX = SYSCALL_DATA_MAX + (1 << 20),
	MESSAGE_DATA_MAX = 256 << 20,
};

enum message_request {
	REQUEST_FOLLOW,
	REQUEST_OBSERVE,
	REQUEST_RACE,
	REQUEST_ATTACH,
	REQUEST_DETACH,
	REQUEST_CLEAR,
	REQUEST_RECORD,
	REQUEST_END,
	REQUEST_PROGRAM,
	REQUEST_DISK, /* what unmounting leaves on the disk; a kernel in a process */
	REQUEST_LOAD, /* mounts a disk with other pages; the same */
};

/* A page of a disk, as REQUEST_DISK and REQUEST_LOAD hand it over. */
struct disk_page {
	uint64_t page; /* its number */
	char bytes[DISK_PAGE_BYTES];
};

/* The text of the channel holds what steps point to, or a program. Its data holds the bytes of
 * outcomes, a packed tree, a record of writes, pages of a disk, or the output of a program. */
struct message {
	struct channel channel;
	_Atomic uint32_t progress; /* goes up with every step begun */
	_Atomic uint32_t mounting; /* the step is a remount, which takes as long as mounting may */
	struct limits limits;      /* as of the last mount; no bound and nothing refused: none */
	enum message_request request;
	size_t step_count;
	struct plan_step steps[MESSAGE_STEPS_MAX];
	struct plan_report report; /* of a plan */
	enum target_fate fate;     /* of what is not a plan */
	bool alarm;                /* a kernel in a process has logged an error */
	uint64_t seed;             /* of a race; its calls are those of the steps */
	struct race_outcome races[TARGET_RACE_MAX];
	double program_seconds;
	enum program_fate program_fate;
	int program_status;
	size_t page_count;    /* in the data of the channel; REQUEST_LOAD */
	int disk_error;       /* what unmounting or mounting answered; REQUEST_DISK, REQUEST_LOAD */
	bool keeps_processes; /* REQUEST_DETACH: they are there again after the next attach */
};

#endif
