/* disk.c -- system calls on the disk: what is read from it is symbolic, what is written is noted.
 */
#include "pathtool/disk.h"

#include "pathtool/conditions.h"
#include "pathtool/helpers.h"
#include "pathtool/positions.h"
#include "pathtool/server.h"
#include "pathtool/shadow.h"
#include <libvex_guest_offsets.h>
#include <pub_tool_guest.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

enum { VECTOR_MAX = 64 };

/* --- what is read and written --- */

/* A call that moves data between memory and the disk. */
struct transfer {
	Bool writes;
	Int fd;
	Bool has_offset;
	Off64T offset; /* where it has one */
	Bool is_vector;
	Addr buffer;
	SizeT len; /* of the buffer, or of the vector */
};

static Bool transfer_parse(struct transfer *t, UInt call, const UWord *args)
{
	*t = (struct transfer){
		.fd = args[0], .buffer = args[1], .len = args[2], .offset = args[3]
	};
	switch (call) {
	case __NR_read:
		return True;
	case __NR_pread64:
		t->has_offset = True;
		return True;
	case __NR_readv:
		t->is_vector = True;
		return True;
	case __NR_preadv:
		t->is_vector = t->has_offset = True;
		return True;
	case __NR_write:
	case __NR_pwrite64:
	case __NR_writev:
	case __NR_pwritev:
		t->writes = True;
		t->has_offset = call == __NR_pwrite64 || call == __NR_pwritev;
		t->is_vector = call == __NR_writev || call == __NR_pwritev;
		return True;
	default:
		return False;
	}
}

static SizeT transfer_len(const struct transfer *t)
{
	const struct vki_iovec *vector = (const struct vki_iovec *)t->buffer;
	SizeT len = 0;

	if (!t->is_vector)
		return t->len;
	for (SizeT i = 0; i < t->len && i < VECTOR_MAX; i++)
		len += vector[i].iov_len;
	return len;
}

static void note_write(ULong at, ULong len)
{
	UInt i = tool_log->write_count;

	if (i == PATH_WRITES_MAX) {
		tool_log->whole_disk = 1;
		return;
	}
	tool_log->writes[i] = (struct path_range){ at, len };
	tool_log->write_count = i + 1;
}

/* Moves the shadows of one piece of a transfer. */
static void move_shadows(Bool writes, Addr buffer, Off64T at, SizeT len)
{
	if (writes) {
		shadow_clear(&shadow_disk, at, len);
		shadow_copy(&shadow_disk, at, &shadow_memory, buffer, len);
	} else {
		shadow_clear(&shadow_memory, buffer, len);
		shadow_copy(&shadow_memory, buffer, &shadow_disk, at, len);
	}
}

static void transfer_done(const struct transfer *t, SizeT len)
{
	const struct vki_iovec *vector = (const struct vki_iovec *)t->buffer;
	Off64T at = t->has_offset ? t->offset : VG_(lseek)(t->fd, 0, VKI_SEEK_CUR) - (Off64T)len;

	if (!t->is_vector) {
		move_shadows(t->writes, t->buffer, at, len);
		return;
	}
	for (SizeT i = 0; i < t->len && len; i++) {
		SizeT n = vector[i].iov_len < len ? vector[i].iov_len : len;

		move_shadows(t->writes, (Addr)vector[i].iov_base, at, n);
		at += n;
		len -= n;
	}
}

/* --- arguments that depend on the input --- */

static const UInt argument_registers[] = { OFFSET_amd64_RDI, OFFSET_amd64_RSI, OFFSET_amd64_RDX,
					   OFFSET_amd64_R10, OFFSET_amd64_R8,  OFFSET_amd64_R9 };

static void fix_arguments(UInt call, const UWord *args)
{
	/* What is printed, and how the checker exits, are results. */
	if (call == __NR_exit_group || call == __NR_exit)
		return;
	for (UInt i = 0; i < 6; i++) {
		if (shadow_register_flags[argument_registers[i] / 8])
			helper_fix_argument(argument_registers[i], args[i], 0x1000 + 8 * call + i);
	}
}

/* Calls that change the disk in ways that are not followed. */
static Bool changes_disk(UInt call, const UWord *args)
{
	switch (call) {
	case __NR_ftruncate:
	case __NR_fallocate:
		return positions_is_disk(args[0]);
	case __NR_copy_file_range:
		return positions_is_disk(args[2]);
	case __NR_execve:
		return True;
	case __NR_mmap:
		return (args[3] & VKI_MAP_SHARED) && (args[2] & VKI_PROT_WRITE) &&
		       !(args[3] & VKI_MAP_ANONYMOUS) && positions_is_disk(args[4]);
	default:
		return False;
	}
}

static Bool reads_disk(UInt call, const UWord *args)
{
	struct transfer t;

	if (call == __NR_mmap)
		return !(args[3] & VKI_MAP_ANONYMOUS) && positions_is_disk(args[4]);
	return transfer_parse(&t, call, args) && positions_is_disk(t.fd);
}

void disk_before_call(ThreadId tid, UInt call, UWord *args, UInt count)
{
	struct transfer t;

	if (!tool_is_run && reads_disk(call, args))
		server_serve(tid);
	if (!tool_is_run)
		return;
	if (tool_following)
		fix_arguments(call, args);
	if (changes_disk(call, args)) {
		tool_log->whole_disk = 1;
		if (call == __NR_mmap)
			tool_gap(GAP_MAPPED);
	}
	if (transfer_parse(&t, call, args) && t.writes && positions_is_disk(t.fd))
		note_write(t.has_offset ? t.offset : VG_(lseek)(t.fd, 0, VKI_SEEK_CUR),
			   transfer_len(&t));
}

void disk_after_call(ThreadId tid, UInt call, UWord *args, UInt count, SysRes result)
{
	struct transfer t;

	if (!tool_following || sr_isError(result))
		return;
	if (call == __NR_mmap && !(args[3] & VKI_MAP_ANONYMOUS) && positions_is_disk(args[4])) {
		move_shadows(False, sr_Res(result), args[5], args[1]);
	} else if (transfer_parse(&t, call, args) && positions_is_disk(t.fd)) {
		transfer_done(&t, sr_Res(result));
	}
}

void disk_begin_run(void)
{
	uint32_t number = 0;

	for (UInt i = 0; i < tool_log->range_count; i++) {
		const struct path_range *r = &tool_log->ranges[i];

		for (ULong j = 0; j < r->len; j++)
			shadow_set(&shadow_disk, r->at + j, expr_input(&tool_store, number++));
	}
}
