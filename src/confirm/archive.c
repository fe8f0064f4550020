/* archive.c -- an archive that Linux unpacks as its first file system (cpio, format newc).
 *
 * Documentation/driver-api/early-userspace/buffer-format.rst: a header of hexadecimal numbers, the
 * name with its NUL, the data; name and data are padded to four bytes. */
#include "confirm/archive.h"

#include <string.h>
#include <sys/stat.h>

enum { ALIGNMENT = 4 };

static void archive_pad(struct archive *a)
{
	while (a->bytes.len % ALIGNMENT)
		buf_addch(&a->bytes, '\0');
}

static void archive_add(struct archive *a, const char *name, mode_t mode, unsigned major,
			unsigned minor, const void *data, size_t len)
{
	size_t name_size = strlen(name) + 1;
	unsigned fields[] = {
		++a->entries,        /* inode */
		mode,                /* */
		0,                   /* user */
		0,                   /* group */
		1,                   /* links */
		0,                   /* modification time */
		(unsigned)len,       /* */
		0,                   /* device that it is on: major, */
		0,                   /* minor */
		major,               /* device that it is */
		minor,               /* */
		(unsigned)name_size, /* */
		0,                   /* checksum */
	};

	buf_adds(&a->bytes, "070701");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		buf_addf(&a->bytes, "%08X", fields[i]);
	buf_add(&a->bytes, name, name_size);
	archive_pad(a);
	buf_add(&a->bytes, data, len);
	archive_pad(a);
}

void archive_add_directory(struct archive *a, const char *name)
{
	archive_add(a, name, S_IFDIR | 0755, 0, 0, "", 0);
}

void archive_add_file(struct archive *a, const char *name, mode_t permissions, const void *data,
		      size_t len)
{
	archive_add(a, name, S_IFREG | permissions, 0, 0, data, len);
}

void archive_add_link(struct archive *a, const char *name, const char *target)
{
	archive_add(a, name, S_IFLNK | 0777, 0, 0, target, strlen(target));
}

void archive_add_device(struct archive *a, const char *name, unsigned major, unsigned minor)
{
	archive_add(a, name, S_IFCHR | 0600, major, minor, "", 0);
}

void archive_end(struct archive *a)
{
	archive_add(a, "TRAILER!!!", 0, 0, 0, "", 0);
}

void archive_free(struct archive *a)
{
	buf_free(&a->bytes);
}
