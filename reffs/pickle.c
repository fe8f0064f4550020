/* pickle.c -- states of RefFS as bytes. */
#include "reffs/pickle.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/must.h"
#include "tree/check.h"
#include "tree/pack.h"

static const char magic[8] = "REFFSPK1";

enum { HEAD_LEN = sizeof(magic) + 8, HASH_LEN = 16 };

static void pickle_put64(struct buf *out, uint64_t value)
{
	value = htole64(value);
	buf_add(out, &value, sizeof(value));
}

static uint64_t pickle_get64(const char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

static void put_hash(struct buf *out)
{
	struct hash hash = hash128(out->data, out->len, 0);

	pickle_put64(out, hash.lo);
	pickle_put64(out, hash.hi);
}

/* A state on its way in or out. */
struct keyed_tree {
	uint64_t key;
	struct tree tree;
};

/* ---- out ---- */

static void put_tree(struct buf *out, const struct keyed_tree *from)
{
	struct buf tree = BUF_INIT;

	tree_pack(&from->tree, &tree);
	pickle_put64(out, from->key);
	pickle_put64(out, tree.len);
	buf_add(out, tree.data, tree.len);
	buf_free(&tree);
}

/* Shares of the trees that are wanted. A share is never written to, and only its counts, which
 * packing does not look at, are others' business: it can be read without the lock. */
static struct keyed_tree *share_trees(const struct core *c, const uint64_t *wanted,
				      size_t *ret_count)
{
	size_t count = 0, max = wanted ? 1 : c->pool.count;
	struct keyed_tree *trees = must_alloc((max + 1) * sizeof(*trees));
	const struct core_snapshot *s;
	uint64_t key = wanted ? *wanted : 0;

	while (count < max) {
		s = wanted ? core_find(c, key)
			   : (const struct core_snapshot *)pmap_next(&c->pool, !count, &key);
		if (!s)
			break;
		trees[count++] = (struct keyed_tree){ key, tree_copy(&s->state.tree) };
	}
	*ret_count = count;
	return trees;
}

int pickle_pack(struct core *c, const uint64_t *key, struct buf *out, struct err *err)
{
	struct keyed_tree *trees;
	size_t count;

	pthread_mutex_lock(&c->lock);
	trees = share_trees(c, key, &count);
	pthread_mutex_unlock(&c->lock);
	buf_add(out, magic, sizeof(magic));
	pickle_put64(out, count);
	for (size_t i = 0; i < count; i++)
		put_tree(out, &trees[i]);
	put_hash(out);
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < count; i++)
		tree_free(&trees[i].tree);
	pthread_mutex_unlock(&c->lock);
	free(trees);
	if (key && !count)
		return err_set(err, ENOENT, "no state is saved under key %llu",
			       (unsigned long long)*key);
	return 0;
}

/* ---- in ---- */

static int pickle_damaged(struct err *err, const char *how)
{
	return err_set(err, EINVAL, "not a pickle of RefFS, or damaged: %s", how);
}

static int check_frame(const struct buf *bytes, struct err *err)
{
	struct hash hash;

	if (bytes->len < HEAD_LEN + HASH_LEN || memcmp(bytes->data, magic, sizeof(magic)))
		return pickle_damaged(err, "it does not begin like one");
	hash = hash128(bytes->data, bytes->len - HASH_LEN, 0);
	if (hash.lo != pickle_get64(bytes->data + bytes->len - HASH_LEN) ||
	    hash.hi != pickle_get64(bytes->data + bytes->len - 8))
		return pickle_damaged(err, "its checksum does not match");
	return 0;
}

/* One state at *at; moves it behind. */
static int get_tree(const char **at, const char *end, struct keyed_tree *ret, struct err *err)
{
	struct err why = { 0 };
	const char *tree_end;
	uint64_t len;

	if (end - *at < 16 || (len = pickle_get64(*at + 8)) > (uint64_t)(end - *at - 16))
		return pickle_damaged(err, "it ends too early");
	ret->key = pickle_get64(*at);
	*at += 16;
	tree_end = *at + len;
	if (tree_unpack(&ret->tree, at, tree_end, CORE_TREE_FIELDS, false, &why))
		return pickle_damaged(err, why.text);
	if (*at == tree_end && !tree_check(&ret->tree, &why))
		return 0;
	tree_free(&ret->tree);
	return pickle_damaged(err, *at == tree_end ? why.text : "bytes follow a tree");
}

static int check_keys(const struct keyed_tree *trees, uint64_t count, struct err *err)
{
	struct hash_map seen = HASH_MAP_INIT;
	bool new = true;

	for (uint64_t i = 0; new &&i < count; i++)
		hash_map_put(&seen, (struct hash){ trees[i].key, 0 }, &new);
	hash_map_free(&seen);
	return new ? 0 : pickle_damaged(err, "two states have one key");
}

static int get_trees(const struct buf *bytes, struct keyed_tree *trees, uint64_t count,
		     uint64_t *ret_done, struct err *err)
{
	const char *at = bytes->data + HEAD_LEN, *end = bytes->data + bytes->len - HASH_LEN;
	uint64_t done = 0;
	int r = 0;

	for (; done < count && !r; done += !r)
		r = get_tree(&at, end, &trees[done], err);
	*ret_done = done;
	if (!r && at != end)
		r = pickle_damaged(err, "bytes follow the last state");
	return r ? r : check_keys(trees, count, err);
}

static int count_trees(const struct buf *bytes, bool one, uint64_t *ret, struct err *err)
{
	uint64_t count = pickle_get64(bytes->data + sizeof(magic));

	if (one && count != 1)
		return err_set(err, EINVAL, "it holds %llu states, not one",
			       (unsigned long long)count);
	if (count > (bytes->len - HEAD_LEN - HASH_LEN) / 16)
		return pickle_damaged(err, "too many states");
	*ret = count;
	return 0;
}

/* All or nothing. */
static int put_trees(struct core *c, const uint64_t *key, struct keyed_tree *trees, uint64_t count,
		     struct err *err)
{
	uint64_t more = 0;
	int r;

	pthread_mutex_lock(&c->lock);
	for (uint64_t i = 0; i < count; i++)
		more += !core_find(c, key ? *key : trees[i].key);
	r = core_need_snapshots(c, more, err);
	for (uint64_t i = 0; !r && i < count; i++)
		core_put(c, key ? *key : trees[i].key, &trees[i].tree);
	pthread_mutex_unlock(&c->lock);
	return r;
}

int pickle_unpack(struct core *c, const uint64_t *key, const struct buf *bytes, struct err *err)
{
	struct keyed_tree *trees;
	uint64_t count = 0, done;
	int r = check_frame(bytes, err);

	if (!r)
		r = count_trees(bytes, key, &count, err);
	if (r)
		return r;
	trees = must_alloc((count + 1) * sizeof(*trees));
	r = get_trees(bytes, trees, count, &done, err);
	if (!r)
		r = put_trees(c, key, trees, count, err);
	for (uint64_t i = 0; r && i < done; i++)
		tree_free(&trees[i].tree);
	free(trees);
	return r;
}
