/* positions.c -- descriptors of the disk and where they stand. */
#include "pathtool/positions.h"

#include <pub_tool_libcfile.h>
#include <pub_tool_vki.h>

enum {
	DESCRIPTORS_MAX = 256,
	POSITIONS_MAX = 16,
};

Bool positions_is_disk(Int fd)
{
	struct vg_stat st;

	return fd >= 0 && VG_(fstat)(fd, &st) == 0 && st.dev == tool_log->disk_device &&
	       st.ino == tool_log->disk_inode;
}

static struct {
	Int fd;
	Off64T at;
} positions[POSITIONS_MAX];
static UInt position_count;

void positions_save(void)
{
	position_count = 0;
	for (Int fd = 0; fd < DESCRIPTORS_MAX && position_count < POSITIONS_MAX; fd++) {
		if (!positions_is_disk(fd))
			continue;
		positions[position_count].fd = fd;
		positions[position_count++].at = VG_(lseek)(fd, 0, VKI_SEEK_CUR);
	}
}

void positions_restore(void)
{
	for (UInt i = 0; i < position_count; i++)
		VG_(lseek)(positions[i].fd, positions[i].at, VKI_SEEK_SET);
}
