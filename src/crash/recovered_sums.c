/* recovered_sums.c -- the recovered tree as lines that a program in a guest compares with what it
 * sees (confirm/guest/compare.c): more than crash.sh can, also links and attributes. */
#include <inttypes.h>
#include <string.h>

#include "crash/crash_report.h"
#include "target/description.h"
#include "tree/list.h"

/* FNV-1a. */
static const uint64_t sum_start = UINT64_C(0xcbf29ce484222325), sum_prime = UINT64_C(0x100000001b3);
static const char user_prefix[] = "user.";

static uint64_t sum_add(uint64_t sum, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * sum_prime;
	return sum;
}

static uint64_t inode_sum_contents(const struct tree *t, const struct inode *inode)
{
	uint64_t sum = sum_start;
	char bytes[TREE_BLOCK];
	size_t len;

	if (S_ISLNK(inode->mode) && inode->target)
		return sum_add(sum, inode->target->bytes, inode->target->len);
	if (!S_ISREG(inode->mode))
		return sum;
	for (uint64_t at = 0; (len = tree_read(t, inode->ino, at, bytes, sizeof(bytes))); at += len)
		sum = sum_add(sum, bytes, len);
	return sum;
}

/* In no order; those of users. */
static uint64_t inode_sum_attributes(const struct inode *inode)
{
	const struct xattr *x;
	uint64_t cookie = 0, sum = 0;

	while ((x = tree_next_xattr(inode, &cookie)))
		if (!strncmp(x->bytes, user_prefix, sizeof(user_prefix) - 1))
			sum += sum_add(sum_start, x->bytes, (size_t)x->name_len + 1 + x->value_len);
	return sum;
}

/* As its bytes are. */
static void add_raw_path(struct buf *out, const struct path_list *list, size_t index)
{
	if (!index)
		return;
	add_raw_path(out, list, list->items[index].parent);
	buf_addf(out, "/%s", list->items[index].name);
}

void crash_print_sums(const struct target *t, const struct crash_violation *v, struct buf *out)
{
	const char *wrong =
		v->broken.what ? buf_str(&v->broken.seen) : recovery_end_sentences[v->end];
	struct path_list list = { 0 };

	buf_addf(out, "root %s\nwrong ", t->description->image ? "" : "/root");
	buf_add(out, wrong, strcspn(wrong, "\n"));
	buf_addch(out, '\n');
	path_list_make(&list, &v->tree);
	for (size_t i = 1; i < list.count; i++) {
		const struct inode *inode = list.items[i].inode;

		buf_addf(out, "%o %u %" PRIu64 " %" PRIx64 " %" PRIx64 " ", inode->mode,
			 inode->nlink, inode->size, inode_sum_contents(&v->tree, inode),
			 inode_sum_attributes(inode));
		add_raw_path(out, &list, i);
		buf_addch(out, '\n');
	}
	path_list_free(&list);
}
