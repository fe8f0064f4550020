/* pickle.c -- states of RefFS in a file. */
#include "reffs/pickle.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/must.h"
#include "tree/pack.h"

static const char magic[8] = "REFFSPK1";

enum { HEAD_LEN = sizeof(magic) + 8, HASH_LEN = 16 };
static const size_t file_max = (size_t)64 << 30;

static void put64(struct buf *out, uint64_t value)
{
	value = htole64(value);
	buf_add(out, &value, sizeof(value));
}

static uint64_t get64(const char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

static void put_hash(struct buf *out)
{
	struct hash hash = hash128(out->data, out->len, 0);

	put64(out, hash.lo);
	put64(out, hash.hi);
}

static void put_state(struct buf *out, uint64_t key, const struct state *state)
{
	struct buf tree = BUF_INIT;

	tree_pack(&state->tree, &tree);
	put64(out, key);
	put64(out, tree.len);
	buf_add(out, tree.data, tree.len);
	buf_free(&tree);
}

static void put_pool(struct buf *out, const struct core *c)
{
	uint64_t key = 0;
	const struct ref *r;

	for (bool first = true; (r = pmap_next(&c->pool, first, &key)); first = false)
		put_state(out, key, &((const struct snapshot *)r)->state);
}

int pickle_write(const struct core *c, const uint64_t *key, const char *path, struct err *err)
{
	const struct snapshot *s = key ? core_find(c, *key) : NULL;
	struct buf out = BUF_INIT;
	int r;

	if (key && !s)
		return err_set(err, ENOENT, "no state is saved under key %llu",
			       (unsigned long long)*key);
	buf_add(&out, magic, sizeof(magic));
	put64(&out, key ? 1 : c->pool.count);
	if (key)
		put_state(&out, *key, &s->state);
	else
		put_pool(&out, c);
	put_hash(&out);
	r = buf_write_file(&out, path, err);
	buf_free(&out);
	return r;
}

struct loaded {
	uint64_t key;
	struct tree tree;
};

static int damaged(struct err *err, const char *path, const char *how)
{
	return err_set(err, EINVAL, "%s: not a pickle of RefFS, or damaged: %s", path, how);
}

static int check_file(const struct buf *file, const char *path, struct err *err)
{
	struct hash hash;

	if (file->len < HEAD_LEN + HASH_LEN || memcmp(file->data, magic, sizeof(magic)))
		return damaged(err, path, "it does not begin like one");
	hash = hash128(file->data, file->len - HASH_LEN, 0);
	if (hash.lo != get64(file->data + file->len - HASH_LEN) ||
	    hash.hi != get64(file->data + file->len - 8))
		return damaged(err, path, "its checksum does not match");
	return 0;
}

/* One state at *at; moves it behind. */
static int load_state(const struct core *c, const char **at, const char *end, struct loaded *ret,
		      const char *path, struct err *err)
{
	const char *tree_end;
	uint64_t len;

	if (end - *at < 16 || (len = get64(*at + 8)) > (uint64_t)(end - *at - 16))
		return damaged(err, path, "it ends too early");
	ret->key = get64(*at);
	*at += 16;
	tree_end = *at + len;
	return tree_unpack(&ret->tree, at, tree_end, c->state.tree.fields, c->state.tree.hashed,
			   err);
}

int pickle_read(struct core *c, const uint64_t *key, const char *path, struct err *err)
{
	struct buf file = BUF_INIT;
	struct loaded *loaded = NULL;
	uint64_t count = 0, done = 0;
	const char *at, *end;
	int r = buf_read_file(&file, path, file_max, err);

	if (!r)
		r = check_file(&file, path, err);
	if (r)
		goto out;
	count = get64(file.data + sizeof(magic));
	at = file.data + HEAD_LEN;
	end = file.data + file.len - HASH_LEN;
	if (count > (uint64_t)(end - at) / 16 || (key && count != 1)) {
		r = key ? err_set(err, EINVAL, "%s: holds %llu states, not one", path,
				  (unsigned long long)count)
			: damaged(err, path, "too many states");
		goto out;
	}
	loaded = must_alloc((count + 1) * sizeof(*loaded));
	for (; done < count && !r; done += !r)
		r = load_state(c, &at, end, &loaded[done], path, err);
	/* All or nothing: only now does anything change. */
	for (uint64_t i = 0; i < done; i++) {
		if (r)
			tree_free(&loaded[i].tree);
		else
			core_put(c, key ? *key : loaded[i].key, &loaded[i].tree);
	}
out:
	free(loaded);
	buf_free(&file);
	return r;
}
