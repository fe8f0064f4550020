/* f2fs_dir.c -- entries of directories and extended attributes of F2FS. */
#include "base/err.h"
#include "ondisk/f2fs.h"

enum {
	F2FS_SLOT = 8,
	F2FS_DENTRY = 11,
	F2FS_XATTR_HEADER = 24,
	F2FS_XATTR_ENTRY = 4,
	F2FS_NAME_MAX = 255,
};

/* Bitmap, padding, entries, slots for names: as many as fit. */
void f2fs_walk_dentries(struct f2fs_disk *x, uint32_t dir, uint64_t at, uint32_t size)
{
	uint32_t count = size * 8 / ((F2FS_DENTRY + F2FS_SLOT) * 8 + 1);
	uint64_t names = at + size - count * F2FS_SLOT, entries = names - count * F2FS_DENTRY;
	const uint8_t *bitmap = walk_read(&x->walk, at, size, "directory");

	if (!bitmap || !count)
		return;
	walk_add(&x->walk, &f2fs_def_dentry_bitmap, at, (count + 7) / 8, "inode %u", dir);
	for (uint32_t i = 0; i < count && !x->walk.status;) {
		const uint8_t *p = x->walk.disk + entries + i * F2FS_DENTRY;
		const uint8_t *name = x->walk.disk + names + i * F2FS_SLOT;
		uint32_t len = ONDISK_LE(p, dir_entry, name_len);

		if (!(bitmap[i / 8] >> i % 8 & 1)) {
			i++;
			continue;
		}
		if (!len || len > F2FS_NAME_MAX || len > (count - i) * F2FS_SLOT) {
			walk_fail(&x->walk, "directory %u has a name of %u bytes", dir, len);
			return;
		}
		walk_add(&x->walk, &f2fs_def_dir_entry, entries + i * F2FS_DENTRY, F2FS_DENTRY,
			 "inode %u, entry %.*s", dir, (int)len, (const char *)name);
		walk_add(&x->walk, &f2fs_def_filename, names + i * F2FS_SLOT, len,
			 "inode %u, entry %.*s", dir, (int)len, (const char *)name);
		walk_name(&x->walk, ONDISK_LE(p, dir_entry, ino), dir, name, len);
		i += (len + F2FS_SLOT - 1) / F2FS_SLOT;
	}
}

/* Four zero bytes end the entries. */
void f2fs_walk_xattrs(struct f2fs_disk *x, uint32_t inode, uint64_t at, uint32_t size)
{
	const uint8_t *p = walk_read(&x->walk, at, size, "attributes");

	if (!p || size < F2FS_XATTR_HEADER || !ONDISK_LE(p, xattr_header, h_magic))
		return;
	walk_add(&x->walk, &f2fs_def_xattr_header, at, F2FS_XATTR_HEADER, "inode %u", inode);
	for (uint32_t i = F2FS_XATTR_HEADER; i + F2FS_XATTR_ENTRY <= size && !x->walk.status;) {
		uint32_t name = ONDISK_LE(p + i, xattr_entry, e_name_len);
		uint32_t len = F2FS_XATTR_ENTRY + name +
			       (uint32_t)ONDISK_LE(p + i, xattr_entry, e_value_size);

		if (!ondisk_le(p + i, 4))
			return;
		/* The rest is in another node. */
		len = len < size - i ? len : size - i;
		walk_add(&x->walk, &f2fs_def_xattr_entry, at + i, len, "inode %u, attribute %.*s",
			 inode, (int)name, (const char *)p + i + F2FS_XATTR_ENTRY);
		i += (len + 3) & ~3U;
	}
}
