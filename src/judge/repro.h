/* repro.h -- inside the reproducers: calls and values as C text. */
#ifndef JUDGE_REPRO_H
#define JUDGE_REPRO_H

#include "base/buf.h"
#include "op/op.h"

/* Functions a reproducer needs besides the calls themselves, each written only where used. */
enum repro_helper {
#define HELPER(name, text) HELPER_##name,
#include "judge/helpers.def"
#undef HELPER
	HELPER_COUNT
};

struct repro {
	struct buf *out;
	bool rooted;     /* the program changes its root: paths are written as they are */
	size_t data_max; /* longest data argument */
	bool needs[HELPER_COUNT];
};

/* A string literal. */
void repro_string(const char *bytes, size_t len, struct buf *out);
/* A path as the program sees it from its working directory. */
void repro_path(const struct repro *r, const char *path, struct buf *out);
/* The call as an expression that is -1 with errno, or else not negative; notes what it needs.
 * result is the number that success gave (descriptors, streams). */
void repro_call(struct repro *r, const struct call *c, int64_t result);

#endif
