/* repro.h -- inside the reproducers: calls, values and checks as C text. */
#ifndef FINDING_REPRO_H
#define FINDING_REPRO_H

#include "base/buf.h"
#include "finding/finding.h"
#include "op/op.h"

/* Functions and variables a reproducer needs besides the calls themselves, each written only where
 * used. */
enum repro_helper {
#define HELPER(name, text) HELPER_##name,
#include "finding/helpers.def"
#undef HELPER
	HELPER_COUNT
};

struct repro {
	struct buf *out;
	bool rooted;     /* the program changes its root: paths are written as they are */
	size_t data_max; /* longest data argument */
	bool needs[HELPER_COUNT];
};

/* How a program begins, reports and ends: alone, or as a test of a suite. */
struct repro_frame {
	/* Take the place of the usual texts of helpers; NULL: the usual one. They may mention the
	 * same helpers. */
	const char *texts[HELPER_COUNT];
	bool gnu_source;     /* _GNU_SOURCE is defined by the compiler's options */
	const char *headers; /* lines behind those of the system; or NULL */
	void (*head)(const struct finding *f, struct buf *out);
	/* The calls and checks; NULL: one call behind the other. */
	void (*body)(struct repro *r, const struct finding *f);
	/* Up to the first call, and behind the last check. */
	void (*begin)(const struct repro *r, const struct finding *f, struct buf *out);
	void (*end)(const struct repro *r, const struct finding *f, struct buf *out);
};

/* The program in a frame. */
void repro_program(const struct finding *f, const struct repro_frame *frame, struct buf *out);
/* What the program needs, without its text: whether it remounts, changes its root, ... */
void repro_survey(const struct finding *f, struct repro *ret);
/* The beginning of a main() that takes a directory and a command that remounts. */
void repro_begin_main(const struct repro *r, const struct finding *f, struct buf *out);
/* The part of the beginning that every frame has: the working directory is the root by now. */
void repro_begin_calls(const struct repro *r, struct buf *out);

/* Text that may hold anything, so that it ends no comment and no line of it; cut, if longer than
 * max. */
void repro_comment(const char *text, size_t max, struct buf *out);
/* The name of an errno, or its number. */
void repro_errno(int error, struct buf *out);
/* A path as the program sees it from its working directory; NULL is one, too. */
void repro_path(struct repro *r, const char *path);
/* Notes every helper that the text mentions; its comments and strings do not count. */
void repro_mentions(struct repro *r, const char *text);

/* The call as an expression that is -1 with errno, or else not negative. outcome: what it gave,
 * where that is known, or NULL. */
void repro_call(struct repro *r, const struct call *c, const struct outcome *outcome);

/* The checks: what the last call may answer, and what should be so afterwards. */
void repro_check_outcome(struct repro *r, const struct finding *f);
void repro_check_facts(struct repro *r, const struct finding *f);
/* What is looked at before the last call, so that a change of times can be seen. */
void repro_look_before(struct repro *r, const struct finding *f);
/* A statement that says what the program cannot look at: without that, 0 would be a claim. */
void repro_cannot_see(struct repro *r, const char *what);

#endif
