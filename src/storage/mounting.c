/* mounting.c -- loop devices and mounts of a private mount namespace. */
#include "storage/mounting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/holder.h"

enum {
	LOOP_TRIES = 100,
	MESSAGES_MAX = 8,
	BUSY_MS = 10, /* from one attempt to unmount to the next */
	BUSY_TRIES = 300,
	FORGET_MS = 1, /* the same for forgetting */
	FORGET_TRIES = 3000,
	SYS_CACHESTAT = 451, /* the headers of Debian 12 are older */
};

bool mounting_knows(const char *fs)
{
	struct buf text = BUF_INIT;
	char *save = NULL;
	bool known = false;
	int fd = fsopen(fs, FSOPEN_CLOEXEC);

	/* Asking for it loads its module; only root may ask. */
	if (fd >= 0) {
		close(fd);
		return true;
	}
	if (buf_read_file(&text, "/proc/filesystems", 1 << 16, NULL))
		return false;
	for (char *line = strtok_r(text.data, "\n", &save); line && !known;
	     line = strtok_r(NULL, "\n", &save))
		known = !strcmp(strrchr(line, '\t') ? strrchr(line, '\t') + 1 : line, fs);
	buf_free(&text);
	return known;
}

/* The type in a line of mountinfo: "id parent major:minor root mount options fields... - type
 * source ..."; NULL at the end. */
static const char *mountinfo_type(const char *line, size_t *ret_len)
{
	const char *type = strstr(line, " - ");

	if (!type)
		return NULL;
	*ret_len = strcspn(type + 3, " ");
	return type + 3;
}

/* Visits the lines of mountinfo until one is the right one. */
static bool mountinfo_find(bool (*is_right)(const char *line, void *to), void *to)
{
	struct buf text = BUF_INIT;
	char *save = NULL;
	bool found = false;

	if (buf_read_file(&text, "/proc/self/mountinfo", 1 << 24, NULL))
		return false;
	for (char *line = strtok_r(text.data, "\n", &save); line && !found;
	     line = strtok_r(NULL, "\n", &save))
		found = is_right(line, to);
	buf_free(&text);
	return found;
}

struct mount_sought {
	uint64_t id;
	struct buf *type;
};

static bool has_id(const char *line, void *to)
{
	struct mount_sought *sought = to;
	size_t len;
	const char *type = mountinfo_type(line, &len);

	if (!type || strtoull(line, NULL, 10) != sought->id)
		return false;
	buf_add(sought->type, type, len);
	return true;
}

bool mounting_type_of(const char *path, struct buf *out)
{
	struct mount_sought sought = { .type = out };
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st) || !(st.stx_mask & STATX_MNT_ID))
		return false;
	sought.id = st.stx_mnt_id;
	return mountinfo_find(has_id, &sought);
}

static bool has_mount_point(const char *line, void *to)
{
	return strstr(line, to);
}

bool mounting_is_mounted(const char *path)
{
	struct buf field = BUF_INIT;
	bool found;

	buf_addf(&field, " %s ", path);
	found = mountinfo_find(has_mount_point, field.data);
	buf_free(&field);
	return found;
}

static bool has_type(const char *line, void *to)
{
	const char *fs = to;
	size_t len;
	const char *type = mountinfo_type(line, &len);

	return type && len == strlen(fs) && !memcmp(type, fs, len);
}

bool mounting_has(const char *fs)
{
	return mountinfo_find(has_type, (void *)fs);
}

/* One attempt; -EBUSY if someone else took the device in between. */
static int loop_try(int control, int image_fd, struct buf *path, int *ret_loop_fd, struct err *err)
{
	struct loop_config config = { .fd = (uint32_t)image_fd,
				      .info.lo_flags = LO_FLAGS_AUTOCLEAR };
	int number = ioctl(control, LOOP_CTL_GET_FREE), fd, error;
	char name[32];

	if (number < 0)
		return err_sys(err, errno, "there is no free loop device");
	snprintf(name, sizeof(name), "/dev/loop%d", number);
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", name);
	if (ioctl(fd, LOOP_CONFIGURE, &config)) {
		error = errno;
		close(fd);
		return error == EBUSY ? -EBUSY : err_sys(err, error, "cannot set up %s", name);
	}
	buf_adds(path, name);
	*ret_loop_fd = fd;
	return 0;
}

int loop_attach(int image_fd, struct buf *path, int *ret_loop_fd, struct err *err)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), ret = -EBUSY;

	if (control < 0)
		return err_sys(err, errno, "cannot open /dev/loop-control");
	for (int i = 0; i < LOOP_TRIES && ret == -EBUSY; i++)
		ret = loop_try(control, image_fd, path, ret_loop_fd, err);
	close(control);
	return ret == -EBUSY ? err_set(err, EBUSY, "loop devices are taken away all the time")
			     : ret;
}

/* The text of a file in /sys/block/NAME; false if there is none. */
static bool read_block(const char *name, const char *file, struct buf *out)
{
	struct buf path = BUF_INIT;
	bool ok;

	buf_clear(out);
	buf_addf(&path, "/sys/block/%s/%s", name, file);
	ok = !access(path.data, R_OK) && !buf_read_file(out, path.data, 2 * PATH_MAX, NULL);
	buf_free(&path);
	return ok;
}

void loop_each(const char *words,
	       void (*visit)(void *to, const char *name, unsigned major, unsigned minor), void *to)
{
	DIR *dir = opendir("/sys/block");
	struct buf text = BUF_INIT;
	struct dirent *entry;
	unsigned major, minor;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "loop", 4) &&
		    read_block(entry->d_name, "loop/backing_file", &text) &&
		    strstr(buf_str(&text), words) && read_block(entry->d_name, "dev", &text) &&
		    sscanf(buf_str(&text), "%u:%u", &major, &minor) == 2)
			visit(to, entry->d_name, major, minor);
	if (dir)
		closedir(dir);
	buf_free(&text);
}

/* Pages of the device in the page cache; 0 also where the kernel cannot tell (before Linux 6.5). */
static uint64_t loop_cached(int loop_fd)
{
	const struct {
		uint64_t offset, length;
	} all = { 0, 0 };
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} pages = { 0 };

	return syscall(SYS_CACHESTAT, loop_fd, &all, &pages, 0) ? 0 : pages.cached;
}

/* Of a page that someone has in hand, the kernel keeps what the disk had before
 * (mapping_evict_folio): a reader, or reclaim, on a busy machine. Another file system mounted there
 * would read that. */
int loop_forget(int loop_fd, struct err *err)
{
	const struct timespec pause = { .tv_nsec = FORGET_MS * 1000000L };

	for (int i = 0; i < FORGET_TRIES; i++) {
		if (ioctl(loop_fd, BLKFLSBUF, 0))
			return err_sys(err, errno, "cannot flush the loop device");
		if (!loop_cached(loop_fd))
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_set(err, EBUSY, "a process keeps pages of the loop device");
}

static const struct {
	const char *name;
	unsigned attribute;
} attributes[] = {
	{ "noatime", MOUNT_ATTR_NOATIME },
	{ "strictatime", MOUNT_ATTR_STRICTATIME },
	{ "relatime", MOUNT_ATTR_RELATIME },
	{ "nodiratime", MOUNT_ATTR_NODIRATIME },
};

/* "name", "name=value" or an attribute of the mount. */
static int set_option(int context, char *option, unsigned *attribute)
{
	char *value = strchr(option, '=');

	for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
		if (!strcmp(option, attributes[i].name)) {
			*attribute = (*attribute & ~MOUNT_ATTR__ATIME) | attributes[i].attribute;
			return 0;
		}
	}
	if (!value)
		return fsconfig(context, FSCONFIG_SET_FLAG, option, NULL, 0);
	*value++ = '\0';
	return fsconfig(context, FSCONFIG_SET_STRING, option, value, 0);
}

static int set_options(int context, const char *options, unsigned *attribute)
{
	char *copy = must_strdup(options), *save = NULL;
	int ret = 0;

	for (char *option = strtok_r(copy, ",", &save); option && !ret;
	     option = strtok_r(NULL, ",", &save))
		ret = set_option(context, option, attribute);
	free(copy);
	return ret;
}

/* The error with what the kernel wrote to the context about it. */
static int mount_error(int context, const char *fs, int error, struct err *err)
{
	char line[256], text[512] = "";
	ssize_t n;

	for (int i = 0; i < MESSAGES_MAX && (n = read(context, line, sizeof(line) - 1)) > 2; i++) {
		line[n] = '\0';
		if (line[0] == 'e')
			snprintf(text, sizeof(text), " (%s)", line + 2);
	}
	return err_sys(err, error, "cannot mount %s%s", fs, text);
}

static int loop_configure(int context, const char *source, const char *options, unsigned *attribute)
{
	if (source && fsconfig(context, FSCONFIG_SET_STRING, "source", source, 0))
		return -1;
	if (options && set_options(context, options, attribute))
		return -1;
	return fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

int mounting_mount(const char *fs, const char *source, const char *options, const char *at,
		   struct err *err)
{
	unsigned attribute = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME;
	int context = fsopen(fs, FSOPEN_CLOEXEC), mount_fd, ret = 0;

	if (context < 0)
		return err_sys(err, errno, "cannot mount %s", fs);
	if (loop_configure(context, source, options, &attribute)) {
		ret = mount_error(context, fs, errno, err);
	} else {
		mount_fd = fsmount(context, FSMOUNT_CLOEXEC, attribute);
		if (mount_fd < 0 || move_mount(mount_fd, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH))
			ret = mount_error(context, fs, errno, err);
		if (mount_fd >= 0)
			close(mount_fd);
	}
	close(context);
	return ret;
}

int mounting_forbid_devices(const char *at, struct err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID };

	return mount_setattr(AT_FDCWD, at, AT_SYMLINK_NOFOLLOW, &attr, sizeof(attr))
		     ? err_sys(err, errno, "cannot mount without devices")
		     : 0;
}

void mounting_abort(const char *at)
{
	/* Open files keep the mount: this fails, but not before the connection has ended. */
	umount2(at, MNT_FORCE | UMOUNT_NOFOLLOW);
}

int mounting_unmount(const char *at, struct err *err)
{
	const struct timespec moment = { .tv_nsec = BUSY_MS * 1000000L };
	struct buf holder = BUF_INIT;
	int error = 0;

	for (int i = 0; i < BUSY_TRIES && umount2(at, UMOUNT_NOFOLLOW); i++) {
		error = errno;
		if (error != EBUSY)
			return err_sys(err, error, "cannot unmount");
		nanosleep(&moment, NULL);
		error = i + 1 < BUSY_TRIES ? 0 : EBUSY;
	}
	if (!error)
		return 0;
	if (holder_find(at, &holder))
		error = EUSERS;
	err_set(err, error, "cannot unmount: %s", holder.len ? holder.data : "it is busy");
	buf_free(&holder);
	return -error;
}

int mounting_private_place(const char **ret_path, struct err *err)
{
	static const char *const places[] = { "/mnt", "/media", "/srv", "/opt", "/tmp" };

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (access(places[i], F_OK))
			continue;
		*ret_path = places[i];
		return mounting_mount("tmpfs", "assay", "mode=0755", places[i], err);
	}
	return err_set(err, ENOENT, "there is no directory to mount on: neither /mnt nor /tmp");
}
