/* contents.c -- what is on a disk: the content of every file. */
#include "fsck/contents.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/list.h"

static void contents_add(struct contents *c, struct hash hash, const struct buf *names_nul)
{
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->items = must_realloc(c->items, c->cap * sizeof(*c->items));
	}
	c->items[c->count++] = (struct content){
		.hash = hash,
		.names_nul = arena_copy(&c->arena, buf_str(names_nul), names_nul->len),
	};
}

void contents_free(struct contents *c)
{
	free(c->items);
	arena_free(&c->arena);
	*c = (struct contents){ 0 };
}

bool contents_have(const struct contents *c, struct hash content)
{
	for (size_t i = 0; i < c->count; i++)
		if (hash_equal(c->items[i].hash, content))
			return true;
	return false;
}

static bool content_has_name(const struct content *x, const char *wanted)
{
	for (const char *name = x->names_nul; *name; name += strlen(name) + 1)
		if (!strcmp(name, wanted))
			return true;
	return false;
}

static bool content_is_named(const struct content *x, const struct content *other)
{
	for (const char *name = x->names_nul; *name; name += strlen(name) + 1)
		if (content_has_name(other, name))
			return hash_equal(x->hash, other->hash);
	return false;
}

bool contents_have_named(const struct contents *c, const struct content *x)
{
	for (size_t i = 0; i < c->count; i++)
		if (content_is_named(x, &c->items[i]))
			return true;
	return false;
}

/* One of them that is not taken yet is, where there is one with this content, and its name if that
 * is asked for. */
static bool contents_take(const struct contents *c, bool *taken, const struct content *x,
			  bool is_named)
{
	for (size_t i = 0; i < c->count; i++)
		if (!taken[i] && (is_named ? content_is_named(x, &c->items[i])
					   : hash_equal(c->items[i].hash, x->hash)))
			return taken[i] = true;
	return false;
}

void contents_common(struct contents *ret, const struct contents *c, const struct contents *other)
{
	bool *kept = must_alloc(c->count + 1), *taken = must_alloc(other->count + 1);

	for (size_t i = 0; i < c->count; i++)
		kept[i] = contents_take(other, taken, &c->items[i], true);
	for (size_t i = 0; i < c->count; i++)
		kept[i] = kept[i] || contents_take(other, taken, &c->items[i], false);
	ret->items = must_alloc((c->count + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < c->count; i++)
		if (kept[i])
			ret->items[ret->count++] = c->items[i];
	free(kept);
	free(taken);
}

void contents_unmoved(struct contents *ret, const struct contents *c, const struct contents *other)
{
	ret->items = must_alloc((c->count + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < c->count; i++)
		if (contents_have_named(other, &c->items[i]))
			ret->items[ret->count++] = c->items[i];
}

/* What makes two objects the same, whatever their names are. */
static struct hash inode_content(const struct inode *inode)
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

static void add_names(struct buf *names_nul, const struct path_list *list, size_t object)
{
	for (size_t i = object; i < list->count; i++) {
		if (list->items[i].first != object)
			continue;
		add_item_path(names_nul, list, i);
		buf_addch(names_nul, '\0');
	}
}

void contents_add_tree(struct contents *c, const struct tree *t)
{
	struct path_list list = { 0 };
	struct buf names_nul = BUF_INIT;

	path_list_make(&list, t);
	for (size_t i = 0; i < list.count; i++) {
		if (list.items[i].first != i || S_ISDIR(list.items[i].inode->mode))
			continue;
		buf_clear(&names_nul);
		add_names(&names_nul, &list, i);
		contents_add(c, inode_content(list.items[i].inode), &names_nul);
	}
	path_list_free(&list);
	buf_free(&names_nul);
}

void contents_add_lines(struct contents *c, const char *text)
{
	struct buf name_nul = BUF_INIT;

	for (size_t len; *text; text += len + (text[len] == '\n')) {
		size_t name_len;
		const char *content;

		len = strcspn(text, "\n");
		name_len = strcspn(text, "\t\n");
		content = name_len < len ? text + name_len + 1 : text;
		if (!len)
			continue;
		buf_clear(&name_nul);
		buf_add(&name_nul, text, name_len);
		buf_addch(&name_nul, '\0');
		contents_add(c, hash128(content, (size_t)(text + len - content), 0), &name_nul);
	}
	buf_free(&name_nul);
}
