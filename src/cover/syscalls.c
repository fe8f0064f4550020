/* syscalls.c -- the table of system calls, and finding a row by its name. */
#include "cover/syscalls.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <threads.h>

#include "base/must.h"
#include "cover/name_table.h"
#include "op/kind.h"

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452 /* since Linux 6.6 */
#endif
#ifndef __NR_open
enum { /* what newer architectures never had */
       __NR_open = -1,
       __NR_creat = -1,
       __NR_dup2 = -1,
       __NR_mkdir = -1,
       __NR_rmdir = -1,
       __NR_unlink = -1,
       __NR_rename = -1,
       __NR_renameat = -1,
       __NR_link = -1,
       __NR_symlink = -1,
       __NR_readlink = -1,
       __NR_mknod = -1,
       __NR_chmod = -1,
       __NR_chown = -1,
       __NR_lchown = -1,
       __NR_utime = -1,
       __NR_utimes = -1,
       __NR_futimesat = -1,
       __NR_stat = -1,
       __NR_lstat = -1,
       __NR_access = -1,
       __NR_getdents = -1,
};
#endif

#define CWD TRACE_CWD
#define FD(n) .where = WHERE_FD, .fd = n, .path = -1, .fd2 = -1, .path2 = -1
#define FDS(n, m) .where = WHERE_FD, .fd = n, .path = -1, .fd2 = m, .path2 = -1
#define PATH(d, p) .where = WHERE_PATH, .fd = d, .path = p, .fd2 = -1, .path2 = -1
#define PATHS(d, p, e, q) .where = WHERE_PATH, .fd = d, .path = p, .fd2 = e, .path2 = q
#define ANYWHERE .where = WHERE_ANYWHERE, .fd = -1, .path = -1, .fd2 = -1, .path2 = -1
#define A(f, t) { .from = f, .to = t },
#define SYSCALL(name, op, place, how, args) \
	{ #name,       OP_##op, OP_##op, \
	  __NR_##name, 0,       { place, .special = SPECIAL_##how, .arg = { args } } },
#define AS(result, value, name, op, place, how, args) \
	{ #name, OP_##op, OP_##result, \
	  -1,    value,   { place, .special = SPECIAL_##how, .arg = { args } } },
#define REQUEST(name, op, place, how, args) \
	{ #name, OP_##op, OP_##op, -1, name, { place, .special = SPECIAL_##how, .arg = { args } } },

static struct syscall rows[] = {
#include "cover/syscalls.def"
};
const size_t syscall_count = ARRAY_LEN(rows);
_Static_assert(ARRAY_LEN(rows) < TRACE_ROWS, "all rows fit the tracer");

static struct name_table names;
static once_flag once = ONCE_FLAG_INIT;

/* How many arguments there are, and how each is counted, follows from the operation. */
static void syscall_complete(struct syscall *s)
{
	const struct op_info *info = &op_table[s->op];
	struct trace_arg *arg = s->row.arg;

	for (; s->row.args < TRACE_ARGS && arg->to; arg++, s->row.args++) {
		must(arg->to < info->args);
		arg->number = !kind_names(info->arg[arg->to].kind);
	}
	s->row.descriptor = info->result == RESULT_FD;
	s->row.sized = syscall_returns_number(s->op);
	s->row.makes = s->row.special == SPECIAL_OPEN || s->row.special == SPECIAL_HOW;
}

static void syscalls_fill(void)
{
	for (size_t i = 0; i < syscall_count; i++) {
		syscall_complete(&rows[i]);
		if (!rows[i].request)
			name_table_add(&names, rows[i].name, (int)i);
	}
}

const struct syscall *syscall_rows(void)
{
	call_once(&once, syscalls_fill);
	return rows;
}

const struct syscall *syscall_find(const char *name, size_t len)
{
	int row;

	syscall_rows();
	row = name_table_find(&names, name, len);
	return row < 0 ? NULL : &rows[row];
}

const struct syscall *syscall_request(const struct syscall *s, unsigned request)
{
	for (s++; s < rows + syscall_count && s->request; s++)
		if (s->request == request)
			return s;
	return NULL;
}

const struct syscall *syscall_exactly(const struct syscall *s, const int64_t value[SYSCALL_VALUES])
{
	const struct syscall *other = NULL;

	if (s->row.special == SPECIAL_REMOVE)
		other = syscall_request(s, (unsigned)value[2]);
	return other ? other : s;
}

bool syscall_returns_number(enum op op)
{
	enum result result = op_table[op].result;

	return result == RESULT_NUM || result == RESULT_BYTES || result == RESULT_NAMES ||
	       result == RESULT_TARGET;
}
