// SPDX-License-Identifier: GPL-2.0
/* flash.c -- the simulated flash memory as one volume of UBI, for file systems that want one. */
#include "flash.h"

#include <errno.h>
#include <fcntl.h>
#include <mtd/ubi-user.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"

/* A number of the kernel's, and the one behind it if there is one: "10:126". */
static long read_numbers(const char *path, long *ret_second)
{
	char text[32] = "", *end = text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long first = -1;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0) {
		first = strtol(text, &end, 10);
		if (ret_second)
			*ret_second = strtol(end + 1, NULL, 10);
	}
	if (fd >= 0)
		close(fd);
	return first;
}

/* Opens a device by what the kernel says its number is. */
static int open_device(const char *number_path, const char *path)
{
	long minor, major = read_numbers(number_path, &minor);

	if (major < 0)
		return -1;
	syscall(SYS_mknod, path, S_IFCHR | 0600, makedev((unsigned)major, (unsigned)minor));
	return open(path, O_RDWR | O_CLOEXEC);
}

static int request(int fd, unsigned long what, const void *arg)
{
	int ret = fd < 0 ? -1 : ioctl(fd, what, arg);

	if (fd >= 0)
		close(fd);
	return ret;
}

static int flash_make_volume(struct err *err)
{
	struct ubi_mkvol_req volume = {
		.vol_id = UBI_VOL_NUM_AUTO,
		.alignment = 1,
		.vol_type = UBI_DYNAMIC_VOLUME,
		.name_len = sizeof(FLASH_VOLUME) - 1,
		.name = FLASH_VOLUME,
	};

	volume.bytes = read_numbers("/sys/class/ubi/ubi0/avail_eraseblocks", NULL) *
		       read_numbers("/sys/class/ubi/ubi0/eraseblock_size", NULL);
	if (request(open_device("/sys/class/ubi/ubi0/dev", "/dev/ubi0"), UBI_IOCMKVOL, &volume))
		return err_sys(err, errno, "UBI makes no volume");
	return 0;
}

int flash_attach(bool blank, struct err *err)
{
	struct ubi_attach_req attach = { .ubi_num = 0, .mtd_num = 0 };

	mkdir("/sys", 0755);
	if (mount("sysfs", "/sys", "sysfs", 0, NULL) && errno != EBUSY)
		return err_sys(err, errno, "cannot mount sysfs");
	if (request(open_device("/sys/class/misc/ubi_ctrl/dev", "/dev/ubi_ctrl"), UBI_IOCATT,
		    &attach))
		return err_sys(err, errno, "UBI does not take the flash memory");
	return blank ? flash_make_volume(err) : 0;
}
