/* strace_line.h -- the parts of a line that strace wrote. */
#ifndef COVER_STRACE_LINE_H
#define COVER_STRACE_LINE_H

#include "cover/events.h"

enum { STRACE_ARGS_MAX = 8 };

struct strace_line {
	uint32_t pid;
	struct text name;
	struct text arg[STRACE_ARGS_MAX];
	unsigned args;
	const char *result, *end; /* behind "= " */
};

/* "[pid 12] " or "12  ", then perhaps a time: returns the beginning of the call itself. */
const char *strace_head(const char *p, const char *end, uint32_t *ret_pid);
/* The name of the call; returns what is behind it. */
const char *strace_name(struct strace_line *l, const char *p, const char *end);
/* Arguments and result; p is behind the name. False where the line is no whole call. */
bool strace_split(struct strace_line *l, const char *p, const char *end);
/* "3</m/f>", "-1 ENOENT (...)", "? ERESTARTSYS (...)"; false for a call that never returned. */
bool strace_result(const struct strace_line *l, int64_t *ret, struct text *ret_path);

/* The path behind a descriptor; empty for what is no file, NULL if strace did not print it. */
struct text strace_path_behind(struct text arg);
/* The value behind "label=" in a structure, or NULL. */
struct text strace_field(struct text arg, const char *label);
/* The bytes of a vector of pieces; false where strace left some out. */
bool strace_sum(struct text arg, int64_t *ret);

#endif
