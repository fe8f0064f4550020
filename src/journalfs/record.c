/* record.c -- an inode as bytes on the disk. */
#include "journalfs/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/check.h"

static void home_data_free(struct ref *object)
{
	blob_drop(((struct home_data *)object)->bytes);
	free(object);
}

const struct pmap_type home_data_type = { .free = home_data_free };

struct home_data *home_data_new(struct blob *bytes, uint16_t count, const uint16_t *blocks)
{
	struct home_data *data = must_alloc(sizeof(*data));

	*data = (struct home_data){ .ref = { 1 }, .bytes = bytes, .count = count };
	bytes->ref.count++;
	memcpy(data->blocks, blocks, count * sizeof(*blocks));
	return data;
}

/* ---- packing ---- */

static void record_add(struct buf *out, uint64_t number, size_t size)
{
	buf_add(out, &number, size); /* the low bytes come first */
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "record_add() takes the low bytes");

static void record_pack_xattrs(const struct inode *inode, struct buf *out)
{
	uint64_t cookie = 0;
	const struct xattr *x;

	while ((x = tree_next_xattr(inode, &cookie))) {
		record_add(out, x->name_len, 2);
		record_add(out, x->value_len, 4);
		buf_add(out, x->bytes, x->name_len);
		buf_add(out, x->bytes + x->name_len + 1, x->value_len);
	}
}

static void record_pack_data(const struct inode *inode, const struct pmap *data, struct buf *out)
{
	const struct blob *blob;
	uint64_t index = 0;

	for (bool first = true;
	     (blob = (const struct blob *)pmap_next(&inode->file.blocks, first, &index));
	     first = false) {
		const struct home_data none = { .count = record_pieces(blob->len) }, *home = &none;

		if (data)
			home = (const struct home_data *)pmap_get(data, index);
		must(home && home->count == none.count);
		record_add(out, index, 8);
		record_add(out, blob->len, 2);
		buf_add(out, home->blocks, home->count * sizeof(home->blocks[0]));
	}
}

static void record_pack_name(void *to, uint64_t key, const struct ref *none,
			     const struct ref *object)
{
	const struct entry *entry = (const struct entry *)object;

	record_add(to, entry->ino, 4);
	record_add(to, entry->len, 2);
	buf_add(to, entry->name, entry->len);
}

static uint32_t record_count_items(const struct inode *inode)
{
	switch (inode->mode & S_IFMT) {
	case S_IFDIR:
		return inode->dir.entries.count;
	case S_IFREG:
		return inode->file.blocks.count;
	case S_IFLNK:
		return inode->target ? inode->target->len : 0;
	default:
		return 0;
	}
}

void record_pack(const struct inode *inode, uint32_t nlink, uint64_t size, const struct pmap *data,
		 struct buf *out)
{
	const struct inode_times *times = &inode->times;
	struct layout_inode fixed = {
		inode->mode,
		nlink,
		inode->uid,
		inode->gid,
		inode->flags,
		inode->rdev,
		size,
		times->access,
		times->modify,
		times->change,
		times->birth,
		inode->xattrs.count,
		record_count_items(inode),
	};
	const struct pmap none = PMAP_INIT;

	buf_add(out, &fixed, sizeof(fixed));
	record_pack_xattrs(inode, out);
	if (S_ISREG(inode->mode))
		record_pack_data(inode, data, out);
	else if (S_ISDIR(inode->mode))
		pmap_diff(&none, &inode->dir.entries, record_pack_name, out);
	else if (S_ISLNK(inode->mode) && inode->target)
		buf_add(out, inode->target->bytes, inode->target->len);
}

/* ---- reading ---- */

/* NULL where there is not so much left. */
static const char *record_take(struct journal_record *r, size_t len)
{
	const char *bytes = r->next;

	if (r->bad || len > (size_t)(r->end - r->next)) {
		r->bad = true;
		return NULL;
	}
	r->next += len;
	return bytes;
}

static uint64_t record_number(struct journal_record *r, size_t size)
{
	const char *bytes = record_take(r, size);
	uint64_t number = 0;

	if (bytes)
		memcpy(&number, bytes, size);
	return number;
}

void record_open(struct journal_record *r, const char *bytes, size_t len)
{
	*r = (struct journal_record){ .next = bytes, .end = bytes + len };
	bytes = record_take(r, sizeof(r->inode));
	if (bytes)
		memcpy(&r->inode, bytes, sizeof(r->inode));
	r->left = r->inode.xattrs;
}

/* Whether there is one more. */
static bool record_begin(struct journal_record *r)
{
	if (r->bad || !r->left)
		return false;
	r->left--;
	return true;
}

bool record_next_xattr(struct journal_record *r, struct record_xattr *ret)
{
	size_t name_len;
	const char *name;

	if (!record_begin(r))
		return false;
	name_len = record_number(r, 2);
	ret->len = (uint32_t)record_number(r, 4);
	name = record_take(r, name_len);
	ret->value = record_take(r, ret->len);
	if (!name || !ret->value || !name_len || name_len > CHECK_NAME_MAX ||
	    ret->len > CHECK_XATTR_MAX || memchr(name, 0, name_len)) {
		r->bad = true;
		return false;
	}
	memcpy(ret->name, name, name_len);
	ret->name[name_len] = '\0';
	return true;
}

void record_items(struct journal_record *r)
{
	r->left = r->inode.items;
}

bool record_next_data(struct journal_record *r, struct record_data *ret)
{
	const char *blocks;
	size_t size;

	if (!record_begin(r))
		return false;
	ret->index = record_number(r, 8);
	ret->len = (uint16_t)record_number(r, 2);
	size = record_pieces(ret->len) * sizeof(ret->blocks[0]);
	blocks = record_take(r, size);
	if (!blocks || ret->len > TREE_BLOCK || ret->index > INT64_MAX / TREE_BLOCK - 1) {
		r->bad = true;
		return false;
	}
	memcpy(ret->blocks, blocks, size);
	return true;
}

bool record_next_name(struct journal_record *r, const char **ret_name, size_t *ret_len,
		      uint64_t *ret_ino)
{
	const char *name;
	size_t len;

	if (!record_begin(r))
		return false;
	*ret_ino = record_number(r, 4);
	len = record_number(r, 2);
	name = record_take(r, len);
	if (!name || !*ret_ino || !len || len > CHECK_NAME_MAX || memchr(name, '/', len) ||
	    memchr(name, 0, len) ||
	    (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))) {
		r->bad = true;
		return false;
	}
	*ret_name = name;
	*ret_len = len;
	return true;
}

const char *record_target(struct journal_record *r, size_t *ret_len)
{
	const char *target = record_take(r, r->left);

	*ret_len = r->left;
	r->left = 0;
	return target;
}
