/* blob.c -- immutable bytes, shared by reference. */
#include <string.h>

#include "tree/inode.h"
#include "tree/pool.h"

static void blob_free(struct ref *object)
{
	pool_free(object, blob_size_of((struct blob *)object));
}

const struct pmap_type blob_type = { .free = blob_free };

struct blob *blob_make(const void *data, size_t len, bool hashed)
{
	struct blob *blob = pool_alloc(blob_size(len));

	*blob = (struct blob){ .ref.count = 1, .len = len };
	if (len) {
		memcpy(blob->bytes, data, len);
		if (hashed)
			blob->hash = hash128(data, len, 0);
	}
	blob->bytes[len] = '\0';
	return blob;
}

struct blob *blob_new(const void *data, size_t len)
{
	return blob_make(data, len, true);
}

struct blob *blob_of_part(struct blob_part part, const char *bytes, size_t len)
{
	struct blob *blob = pool_alloc(sizeof(*blob) + sizeof(part));

	*blob = (struct blob){ .ref.count = 1, .len = (uint32_t)len, .is_made = 1 };
	if (len)
		blob->hash = hash128(bytes, len, 0);
	memcpy(blob->bytes, &part, sizeof(part));
	return blob;
}

const char *blob_read(const struct blob *block, char there[TREE_BLOCK])
{
	struct blob_part part;

	if (!block->is_made)
		return block->bytes;
	memcpy(&part, block->bytes, sizeof(part));
	part.fill(part.seed, part.from, there, block->len);
	return there;
}

void blob_drop(struct blob *blob)
{
	if (blob && --blob->ref.count == 0)
		blob_free(&blob->ref);
}
