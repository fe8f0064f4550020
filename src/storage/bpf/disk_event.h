/* disk_event.h -- what the tracer of a disk in the kernel and its user share. */
#ifndef STORAGE_BPF_DISK_EVENT_H
#define STORAGE_BPF_DISK_EVENT_H

#ifndef __BPF__
#include <linux/types.h>
#endif

enum {
	DISK_EVENT_DATA = 4096,
	DISK_EVENTS_BYTES = 16 << 20, /* of the ring: what one call may have written */
};

/* What a request asks for; as much of a struct disk_record as the kernel can say. */
enum disk_event_what {
	DISK_EVENT_WRITE = 1 << 0,
	DISK_EVENT_ZEROES = 1 << 1,
	DISK_EVENT_DISCARD = 1 << 2,
	DISK_EVENT_FLUSH = 1 << 3,
	DISK_EVENT_FUA = 1 << 4,
	DISK_EVENT_PIECE = 1 << 16, /* of the data of the request */
};

/* A request, and behind it its data in pieces. Those of another may be between. */
struct traced_request {
	__u64 request; /* the same in all of its events */
	__u64 offset;
	__u32 size; /* of the request, or of the piece */
	__u32 what; /* enum disk_event_what */
};
struct disk_event_piece {
	struct traced_request event;
	char data[DISK_EVENT_DATA];
};

#endif
