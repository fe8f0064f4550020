/* loss.c -- what a repair has lost. */
#include "fsck/loss.h"

#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/must.h"
#include "tree/list.h"

enum { PATHS_TOLD = 8 };

/* What makes two objects the same, whatever their names are. */
static struct hash content_of(const struct inode *inode)
{
	struct {
		uint64_t type, size, rdev;
		struct hash data;
	} content = { .type = inode->mode & S_IFMT };

	if (S_ISREG(inode->mode)) {
		content.size = inode->size;
		content.data = inode->file.data;
	} else if (S_ISLNK(inode->mode) && inode->target) {
		content.data = inode->target->hash;
	} else if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode)) {
		content.rdev = inode->rdev;
	}
	return hash128(&content, sizeof(content), 0);
}

static bool is_counted(const struct path_list *list, size_t i)
{
	return list->items[i].first == i && !S_ISDIR(list->items[i].inode->mode);
}

/* How often each content is there. */
static void count_contents(struct hash_map *counts, const struct tree *t)
{
	struct path_list list = { 0 };

	path_list_make(&list, t);
	for (size_t i = 0; i < list.count; i++)
		if (is_counted(&list, i))
			++*hash_map_put(counts, content_of(list.items[i].inode), NULL);
	path_list_free(&list);
}

static bool path_is_in(const char *path, const char *touched)
{
	size_t len = strlen(touched);

	return len && !strncmp(path, touched, len) &&
	       (touched[len - 1] == '/' || !path[len] || path[len] == '/');
}

/* By any of its names. */
static bool is_touched(const struct path_list *list, size_t object, const struct corruption *c)
{
	struct buf path = BUF_INIT, damaged = BUF_INIT;
	bool touched = false;

	for (size_t i = object; i < list->count && !touched; i++) {
		if (list->items[i].first != object)
			continue;
		buf_clear(&path);
		add_item_path(&path, list, i);
		for (size_t k = 0; k < c->count; k++) {
			buf_clear(&damaged);
			corruption_path(&c->changes[k], &damaged);
			touched |= path_is_in(path.data, buf_str(&damaged));
		}
	}
	buf_free(&path);
	buf_free(&damaged);
	return touched;
}

uint64_t loss_count(const struct tree *before, const struct tree *after, const struct corruption *c,
		    uint64_t *ret_touched, struct buf *out)
{
	struct hash_map left = HASH_MAP_INIT;
	struct path_list list = { 0 };
	uint64_t lost = 0;

	*ret_touched = 0;
	count_contents(&left, after);
	path_list_make(&list, before);
	for (size_t i = 0; i < list.count; i++) {
		uint64_t *there;

		if (!is_counted(&list, i))
			continue;
		there = hash_map_get(&left, content_of(list.items[i].inode));
		if (there && *there) {
			--*there;
			continue;
		}
		if (is_touched(&list, i, c)) {
			++*ret_touched;
			continue;
		}
		if (lost++ < PATHS_TOLD) {
			add_item_path(out, &list, i);
			buf_addch(out, '\n');
		}
	}
	if (lost > PATHS_TOLD)
		buf_addf(out, "and %llu more\n", (unsigned long long)(lost - PATHS_TOLD));
	path_list_free(&list);
	hash_map_free(&left);
	return lost;
}
