/* tar.c -- the files of a tar archive in memory.
 *
 * Headers of 512 bytes, each followed by the contents, which fill whole blocks. A header of type
 * 'L' has the name of the next file as its contents. */
#include "suite/tar.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

enum { TAR_BLOCK = 512 };

/* Where a header has its fields, and how long they are. */
enum {
	TAR_NAME_MAX = 100, /* at 0 */
	TAR_SIZE = 124,
	TAR_SIZE_MAX = 12,
	TAR_TYPE = 156,
	TAR_MAGIC = 257,
	TAR_PREFIX = 345, /* of the name */
	TAR_PREFIX_MAX = 155,
};

static uint64_t tar_octal(const char *field, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		number = number * 8 + (uint64_t)(field[i] - '0');
	return number;
}

static void tar_name(const char *header, struct buf *name)
{
	buf_clear(name);
	if (header[TAR_PREFIX])
		buf_addf(name, "%.*s/", TAR_PREFIX_MAX, header + TAR_PREFIX);
	buf_addf(name, "%.*s", TAR_NAME_MAX, header);
}

bool tar_is_archive(const struct buf *archive)
{
	return archive->len >= TAR_BLOCK && !memcmp(archive->data + TAR_MAGIC, "ustar", 5);
}

void tar_each(const struct buf *archive,
	      void (*visit)(void *to, const char *name, const char *text, size_t len), void *to)
{
	struct buf name = BUF_INIT;
	bool named = false;
	size_t at = 0, size, blocks;

	while (archive->len - at >= TAR_BLOCK && archive->data[at]) {
		const char *header = archive->data + at, *text = header + TAR_BLOCK;
		char type = header[TAR_TYPE];

		at += TAR_BLOCK;
		size = tar_octal(header + TAR_SIZE, TAR_SIZE_MAX);
		if (size > archive->len - at)
			break;
		if (type == 'L') {
			buf_clear(&name);
			buf_addf(&name, "%.*s", (int)strnlen(text, size), text);
		} else if (!named) {
			tar_name(header, &name);
		}
		named = type == 'L';
		if (type == '0' || !type)
			visit(to, buf_str(&name), text, size);
		blocks = (size + TAR_BLOCK - 1) / TAR_BLOCK;
		if (blocks > (archive->len - at) / TAR_BLOCK)
			break;
		at += blocks * TAR_BLOCK;
	}
	buf_free(&name);
}
