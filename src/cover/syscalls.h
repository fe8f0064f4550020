/* syscalls.h -- system calls as operations: the rows of syscalls.def. */
#ifndef COVER_SYSCALLS_H
#define COVER_SYSCALLS_H

#include <stddef.h>

#include "cover/bpf/shared.h"
#include "op/op.h"

struct syscall {
	const char *name; /* "pwrite64"; of a request "FICLONE" */
	enum op op;
	enum op result;       /* what its results count for: mostly the same */
	int number;           /* on this machine, or -1 where it has none */
	unsigned request;     /* the value that names this row, else 0 */
	struct trace_row row; /* as the tracer needs it */
};

extern const size_t syscall_count;
/* Rows with everything that follows from the kinds of the arguments filled in. */
const struct syscall *syscall_rows(void);
/* The row of that name, or NULL. */
const struct syscall *syscall_find(const char *name, size_t len);
/* The row of a request, where s is ioctl itself; NULL where it has none. */
const struct syscall *syscall_request(const struct syscall *s, unsigned request);
/* The row that the values of the arguments name. */
const struct syscall *syscall_exactly(const struct syscall *s, const int64_t value[SYSCALL_VALUES]);

/* Does the operation return a number of bytes? */
bool syscall_returns_number(enum op op);

#endif
