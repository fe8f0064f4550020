/* blob.c -- immutable bytes, shared by reference. */
#include <string.h>

#include "tree/inode.h"
#include "tree/pool.h"

static void blob_free(struct ref *object)
{
	pool_free(object, blob_size(((struct blob *)object)->len));
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

void blob_drop(struct blob *blob)
{
	if (blob && --blob->ref.count == 0)
		blob_free(&blob->ref);
}
