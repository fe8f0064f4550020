/* fuzz_unpack.c -- unpacking takes any bytes; what it takes packs to the same tree. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tree/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *next = (const char *)data, *end = next + size;
	struct buf packed = BUF_INIT, text = BUF_INIT;
	struct tree tree, back;
	struct err err = { 0 };
	int r = tree_unpack(&tree, &next, end, TREE_FIELDS_DEFAULT, true, &err);

	must(r == err.code);
	if (r < 0)
		return 0;
	must(next <= end);
	tree_pack(&tree, &packed);
	next = packed.data;
	end = next + packed.len;
	must(tree_unpack(&back, &next, end, TREE_FIELDS_DEFAULT, true, &err) == 0);
	must(next == end);
	must(hash_equal(tree_hash(&tree), tree_hash(&back)));
	must(tree_diff(&tree, &back, 10, &text) == 0);
	tree_print(&tree, &text);
	tree_free(&tree);
	tree_free(&back);
	buf_free(&packed);
	buf_free(&text);
	return 0;
}
