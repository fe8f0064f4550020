/* remark.c -- what a scan says about a directory besides its entries. */
#include "tree/remark.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tree/inode.h"
#include "tree/list.h"

enum { NAME_BYTES = 512 }; /* a word and the longest name of an entry */

static const struct {
	const char *word, *call;
	const char *before, *after; /* of the sentence: around the name of the entry */
} remarks[REMARK_COUNT] = {
	[REMARK_TWICE] = { "twice", "getdents", "a name is listed twice", "" },
	[REMARK_LOST] = { "lost", "open", "it was gone when the walk returned to it", "" },
	[REMARK_MORE] = { "more", "walk", "the walk reached its limits here", "" },
	[REMARK_INO] = { "d_ino", "getdents", "d_ino of ", " is not st_ino of what it names" },
	[REMARK_TYPE] = { "d_type", "getdents", "d_type of ", " is not the type of what it names" },
	[REMARK_ABSENT] = { "absent", "getdents", "", " is not listed" },
	[REMARK_NAME] = { "name", "stat", "", " has other attributes by its other names" },
	[REMARK_EMPTY] = { "empty", "getdents", "an entry has an empty name", "" },
};

static struct inode *remark_inode(struct tree *t, uint64_t dir, uint64_t ino, enum remark remark,
				  const char *about, int code)
{
	char name[NAME_BYTES];
	struct inode *inode;

	snprintf(name, sizeof(name), "/%s%s%s", remarks[remark].word, about ? ":" : "",
		 about ? about : "");
	if (tree_find(t, dir, name, strlen(name)))
		return NULL;
	inode = inode_add(t, ino, 0);
	name_add(t, dir, name, strlen(name), ino);
	inode->error.code = code;
	snprintf(inode->error.call, sizeof(inode->error.call), "%s", remarks[remark].call);
	return inode;
}

bool remark_add(struct tree *t, uint64_t dir, uint64_t ino, enum remark remark, const char *about,
		int code)
{
	return remark_inode(t, dir, ino, remark, about, code);
}

bool remark_add_name(struct tree *t, uint64_t dir, const char *name, const struct inode *by_name,
		     uint64_t first, uint64_t ino)
{
	struct inode *remark;

	if (!inode_attributes_differ(tree_inode(t, first), by_name, t->fields))
		return false;
	remark = remark_inode(t, dir, ino, REMARK_NAME, name, EUCLEAN);
	if (!remark)
		return false;
	remark->mode = by_name->mode & ~(uint32_t)S_IFMT;
	remark->uid = by_name->uid;
	remark->gid = by_name->gid;
	remark->nlink = by_name->nlink;
	remark->flags = by_name->flags;
	remark->rdev = by_name->rdev;
	remark->size = by_name->size;
	return true;
}

bool remark_parse(const char *name, enum remark *ret, const char **ret_about)
{
	for (int i = 0; i < REMARK_COUNT && name[0] == '/'; i++) {
		size_t len = strlen(remarks[i].word);

		if (strncmp(name + 1, remarks[i].word, len) != 0 ||
		    (name[1 + len] && name[1 + len] != ':'))
			continue;
		*ret = (enum remark)i;
		*ret_about = name[1 + len] ? name + 1 + len + 1 : "";
		return true;
	}
	return false;
}

void remark_print(enum remark remark, const char *about, struct buf *out)
{
	buf_adds(out, remarks[remark].before);
	if (*about)
		add_quoted(out, about, strlen(about));
	buf_adds(out, remarks[remark].after);
}
