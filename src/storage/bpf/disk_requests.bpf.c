// SPDX-License-Identifier: GPL-2.0
/* disk_requests.bpf.c -- hands over, from the kernel, what one loop device is asked to write.
 *
 * A request is seen when the device gets it, and its data are read from the pages they lie in.
 * Where the kernel has mapped a page follows from the address of its struct page by one constant,
 * which is learned from a write whose data have a known address (struct buffer_head). */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "disk_event.h"

char LICENSE[] SEC("license") = "GPL";

#define LOOP_MAJOR 7
#define SECTOR_SHIFT 9
#define OP_MASK 0xff
#define PIECES_MAX 4096

const volatile __u64 page_size;

int watched;         /* the minor number of the device, + 1; 0: none */
bool learning;       /* the next write is that of a buffer, to learn from */
__u64 base_distance; /* address of a page - its struct's address * pages_per_struct() */
__u64 lost;          /* events that found no room */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DISK_EVENTS_BYTES);
} events SEC(".maps");

/* As an offset in the array of all struct page is to one in memory. */
static __u64 pages_per_struct(void)
{
	return page_size / bpf_core_type_size(struct page);
}

static void learn(struct bio *bio)
{
	struct buffer_head *buffer = BPF_CORE_READ(bio, bi_private);
	struct bio_vec segment;

	bpf_probe_read_kernel(&segment, sizeof(segment), BPF_CORE_READ(bio, bi_io_vec));
	base_distance = (__u64)BPF_CORE_READ(buffer, b_data) - segment.bv_offset -
			(__u64)segment.bv_page * pages_per_struct();
	learning = false;
}

/* Where in the data of a request we are. */
struct position {
	struct bio *bio;
	__u32 segment, done; /* of the bio's segments, and in one */
	__u32 left;          /* of the bio */
	__u64 request, offset;
};

static void position_at(struct position *p, struct bio *bio)
{
	p->bio = bio;
	if (!bio)
		return;
	p->segment = BPF_CORE_READ(bio, bi_iter.bi_idx);
	p->done = BPF_CORE_READ(bio, bi_iter.bi_bvec_done);
	p->left = BPF_CORE_READ(bio, bi_iter.bi_size);
}

static void position_move(struct position *p, __u32 size, __u32 segment_len)
{
	struct bio *bio = p->bio;

	p->offset += size;
	p->left -= size;
	p->done += size;
	if (p->done >= segment_len) {
		p->done = 0;
		p->segment++;
	}
	if (!p->left)
		position_at(p, BPF_CORE_READ(bio, bi_next));
}

static long hand_over_piece(__u32 i, struct position *p)
{
	struct disk_event_piece *piece;
	struct bio *bio = p->bio;
	struct bio_vec segment;
	__u64 address, size;

	if (!bio)
		return 1;
	bpf_probe_read_kernel(&segment, sizeof(segment),
			      BPF_CORE_READ(bio, bi_io_vec) + p->segment);
	size = segment.bv_len - p->done;
	if (size > p->left)
		size = p->left;
	barrier_var(size); /* or the verifier does not see the bound */
	if (size > DISK_EVENT_DATA)
		size = DISK_EVENT_DATA;
	piece = bpf_ringbuf_reserve(&events, sizeof(*piece), 0);
	if (!piece) {
		__sync_fetch_and_add(&lost, 1);
		return 1;
	}
	piece->event = (struct traced_request){ p->request, p->offset, (__u32)size, DISK_EVENT_PIECE };
	address = (__u64)segment.bv_page * pages_per_struct() + base_distance + segment.bv_offset +
		  p->done;
	if (bpf_probe_read_kernel(piece->data, size, (void *)address))
		__sync_fetch_and_add(&lost, 1);
	bpf_ringbuf_submit(piece, BPF_RB_NO_WAKEUP);
	position_move(p, (__u32)size, segment.bv_len);
	return 0;
}

static bool is_ours(struct request *request)
{
	struct gendisk *disk = BPF_CORE_READ(request, q, disk);

	return watched && disk && BPF_CORE_READ(disk, major) == LOOP_MAJOR &&
	       BPF_CORE_READ(disk, first_minor) + 1 == watched;
}

static __u32 what_is_asked(__u32 flags, struct bio *bio)
{
	__u32 what;

	switch (flags & OP_MASK) {
	case REQ_OP_WRITE:
		what = DISK_EVENT_WRITE;
		break;
	case REQ_OP_WRITE_ZEROES:
		what = DISK_EVENT_ZEROES;
		break;
	case REQ_OP_DISCARD: /* the device makes a hole, which reads as zeroes */
		what = DISK_EVENT_DISCARD | DISK_EVENT_ZEROES;
		break;
	case REQ_OP_FLUSH:
		return DISK_EVENT_FLUSH;
	default:
		return 0;
	}
	/* The device is asked for a write and a flush; what was meant is in the bio. */
	if (bio &&
	    BPF_CORE_READ(bio, bi_opf) & (1u << bpf_core_enum_value(enum req_flag_bits, __REQ_FUA)))
		what |= DISK_EVENT_FUA;
	return what;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(issue, struct request *request)
{
	struct bio *bio;
	struct position position = { 0 };
	struct traced_request *event;
	__u32 what;

	if (!is_ours(request))
		return 0;
	bio = BPF_CORE_READ(request, bio);
	what = what_is_asked(BPF_CORE_READ(request, cmd_flags), bio);
	if (!what)
		return 0;
	if (learning && bio && what & DISK_EVENT_WRITE)
		learn(bio);
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	position.request = (__u64)request;
	position.offset = BPF_CORE_READ(request, __sector) << SECTOR_SHIFT;
	*event = (struct traced_request){ position.request, position.offset,
				      BPF_CORE_READ(request, __data_len), what };
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	if (!(what & DISK_EVENT_WRITE))
		return 0;
	position_at(&position, bio);
	bpf_loop(PIECES_MAX, hand_over_piece, &position, 0);
	return 0;
}
