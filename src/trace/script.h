/* script.h -- the trace language: scripts to execute, traces of what came back.
 *
 * The parser reads two dialects; the first line that is neither blank nor a comment decides:
 * the published one ("@type script", "@type trace") and our own, which reads like strace:
 *
 *     [2] open("a/b", O_CREAT|O_RDWR, 0644) = 3
 *     [2] mkdir("d", 0755) = EEXIST or ENOTDIR
 *     stat("d") = {type=dir mode=0755 nlink=2 uid=0 gid=0 size=0}
 *     write(3, data(7, 8192), 8192) = 8192
 *     dump "/"
 *
 * "[2]" is the process (1 where left out); a call without " = " is a script's; "[2] = 3" alone
 * is a return whose call was read earlier (calls overlap in between). Comments are lines that
 * begin with '#'. Several outcomes are all that are allowed; "-" is any success. Data is in quotes
 * when short, data(SEED, LENGTH) when it is the generator's. */
#ifndef TRACE_SCRIPT_H
#define TRACE_SCRIPT_H

#include "base/arena.h"
#include "op/op.h"

struct buf;
struct err;

enum { SCRIPT_PID_MAX = 1023, SCRIPT_TEXT_MAX = 1 << 30 };

enum dialect { DIALECT_NATIVE, DIALECT_PUBLISHED };

enum item_type {
	ITEM_CALL,
	ITEM_RETURN,      /* outcome of the process's open call */
	ITEM_TAU,         /* published traces: an internal step */
	ITEM_DUMP,        /* of the tree at path */
	ITEM_DUMP_RESULT, /* text: the lines between, verbatim */
	ITEM_COMMENT,     /* text, without newline */
	ITEM_BLANK,
};

/* A return as traces write it: one outcome, or several allowed ones, or any success. */
struct item_return {
	const struct outcome *outcomes;
	size_t count;
	bool any_success; /* "-" */
};

struct item {
	enum item_type type;
	uint32_t line;
	uint16_t pid;
	bool has_pid; /* written out in the source */
	union {
		struct call call;
		struct item_return ret;
		struct {
			const char *path, *text;
		};
	};
};

struct script {
	const char *name; /* as given to the reader */
	enum dialect dialect;
	bool is_trace; /* has outcomes */
	struct item *items;
	size_t count, cap;
	struct arena arena; /* holds all text */
};

/* Reads text; a mistake gives "name:line:column: expected ..., found ..." and -EINVAL. */
int script_parse(struct script *s, const char *name, const char *text, size_t len, struct err *err);
int script_read(struct script *s, const char *path, struct err *err);
/* Empties it, keeping memory, for the next parse. */
void script_reset(struct script *s);
void script_free(struct script *s);
/* Adds an item at the end, of process 1 and otherwise empty; valid until the next. */
struct item *script_add(struct script *s, enum item_type type, uint32_t line);
/* The canonical form in the given dialect; parsing it gives an equal script. */
void script_print(const struct script *s, enum dialect dialect, struct buf *out);
/* Same calls, returns and dumps; comments, blank lines and line numbers do not count. */
bool script_equal(const struct script *a, const struct script *b);

/* Single lines, without newline. */
void call_print(const struct call *c, enum dialect dialect, struct buf *out);
/* " = 3" without the " = ". Op says how to spell the value. */
void outcome_print(const struct outcome *o, enum op op, enum dialect dialect, struct buf *out);
/* One call in our own dialect, "mkdir(\"a\", 0755)"; text goes to the arena. */
int call_parse(struct call *c, const char *text, struct arena *arena, struct err *err);

#endif
