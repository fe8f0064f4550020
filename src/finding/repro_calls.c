/* repro_calls.c -- every operation as a C expression.
 *
 * Most operations are system calls of their own name with their arguments in order and need no
 * row. In a form, $0 to $5 stand for the arguments, # for the number that success gave, and @ for
 * where the process's streams begin: all processes of a finding are one here. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "finding/repro.h"
#include "op/kind.h"

enum { FDS_MAX = 256, STREAMS_MAX = 32, LITERAL_MAX = 48 };

static const char *const forms[OP_COUNT] = {
	[OP_open] = "fd[#] = open($0, $1, $2)",
	[OP_openat] = "fd[#] = openat($0, $1, $2, $3)",
	[OP_openat2] = "fd[#] = do_openat2($0, $1, $2, $3, $4)",
	[OP_creat] = "fd[#] = creat($0, $1)",
	[OP_open_close] = "open_close($0, $1, $2)",
	[OP_dup] = "fd[#] = dup($0)",
	[OP_read] = "read($0, got, $1)",
	[OP_read_all] = "read_all($0, $1)",
	[OP_pread] = "pread($0, got, $1, $2)",
	[OP_pread_all] = "pread_all($0, $1, $2)",
	[OP_preadv2] = "vector_call(SYS_preadv2, $0, got, $1, $2, $3)",
	[OP_pwritev2] = "vector_call(SYS_pwritev2, $0, $1, $2, $3, $4)",
	[OP_write_all] = "write_all($0, $1, $2)",
	[OP_pwrite_all] = "pwrite_all($0, $1, $2, $3)",
	[OP_mmap_write] = "mmap_write($0, $1, $2, $3)",
	[OP_direct_write] = "direct_write($0, $1, $2, $3)",
	[OP_copy_file_range] = "copy_range($0, $1, $2, $3, $4, $5)",
	[OP_ficlone] = "ioctl($0, FICLONE, $1)",
	[OP_ficlonerange] = "clone_range($0, $1, $2, $3, $4)",
	[OP_readlink] = "readlink($0, got, sizeof(got))",
	[OP_readlinkat] = "readlinkat($0, $1, got, sizeof(got))",
	[OP_mknod] = "mknod($0, $1, (unsigned)$2)",
	[OP_mknodat] = "mknodat($0, $1, $2, (unsigned)$3)",
	[OP_fchmodat] = "fchmodat($0, $1, $2, 0)",
	[OP_utimensat] = "set_times($0, $1, $2, $3, $4)",
	[OP_set_inode_flags] = "set_flags($0, $1)",
	[OP_get_inode_flags] = "get_flags($0)",
	[OP_stat] = "stat($0, &st)",
	[OP_lstat] = "lstat($0, &st)",
	[OP_fstat] = "fstat($0, &st)",
	[OP_statx] = "statx($0, $1, $2, $3, &stx)",
	[OP_faccessat2] = "syscall(SYS_faccessat2, $0, $1, $2, $3)",
	[OP_statfs] = "statfs($0, &stfs)",
	[OP_fstatfs] = "fstatfs($0, &stfs)",
	[OP_getxattr] = "getxattr($0, $1, got, $2)",
	[OP_lgetxattr] = "lgetxattr($0, $1, got, $2)",
	[OP_fgetxattr] = "fgetxattr($0, $1, got, $2)",
	[OP_listxattr] = "listxattr($0, got, $1)",
	[OP_llistxattr] = "llistxattr($0, got, $1)",
	[OP_flistxattr] = "flistxattr($0, got, $1)",
	[OP_opendir] = "do_opendir($0, @)",
	[OP_readdir] = "do_readdir($0)",
	[OP_rewinddir] = "do_rewinddir($0)",
	[OP_closedir] = "do_closedir($0)",
	[OP_create_process] = "done()",
	[OP_destroy_process] = "done()",
	[OP_add_user_to_group] = "join_group($0, $1)",
	[OP_sync] = "sync_here()",
	[OP_create_file] = "open_close($0, $1 | O_CREAT, $2)",
	[OP_write_file] = "write_file($0, $1, $2, $3, $4)",
	[OP_chown_file] = "chown($0, $1, (gid_t)-1)",
	[OP_chgrp_file] = "chown($0, (uid_t)-1, $1)",
	[OP_fallocate_file] = "fallocate_file($0, $1, $2, $3)",
	[OP_remount] = "remount()",
	[OP_drop_caches] = "drop_caches()",
	[OP_advance_time] = "pass_time($0)",
	[OP_fail_alloc] = "impossible(\"no program makes an allocation of the kernel fail\")",
	[OP_fail_read] = "impossible(\"no program makes a read of the disk fail\")",
	[OP_fail_write] = "impossible(\"no program makes a write to the disk fail\")",
	[OP_seek_leaks] = "done()",
};

static void put_number(int64_t num, struct buf *out)
{
	if (num > INT32_MIN && num <= INT32_MAX)
		buf_addf(out, "%" PRId64, num);
	else if (num == INT64_MIN) /* no literal in C */
		buf_addf(out, "(%" PRId64 "LL - 1)", num + 1);
	else
		buf_addf(out, "%" PRId64 "LL", num);
}

static bool is_descriptor(int64_t num)
{
	return num >= 0 && num < FDS_MAX;
}

/* Where the descriptors of a process begin; with as many streams for each eight of them. */
static int first_of(const struct call *c)
{
	return (c->pid - 1) * FDS_MAX;
}

static void put_descriptor(struct repro *r, const struct call *c, int64_t num)
{
	if (is_descriptor(num)) {
		r->needs[HELPER_fd] = true;
		buf_addf(r->out, "fd[%" PRId64 "]", num + first_of(c));
	} else {
		put_number((int32_t)num, r->out);
	}
}

/* One that is not there is number 0, which never is. */
static void put_stream(struct repro *r, const struct call *c, int64_t num)
{
	r->needs[HELPER_stream] = true;
	buf_addf(r->out, "&stream[%" PRId64 "]",
		 num > 0 && num < STREAMS_MAX ? num + first_of(c) / FDS_MAX * STREAMS_MAX : 0);
}

/* A compiler knows how long buffers are, and what no count can be. */
static void put_count(struct repro *r, int64_t num)
{
	bool fits = num >= 0 && (uint64_t)num <= r->data_max;

	r->needs[HELPER_big] |= !fits;
	buf_adds(r->out, fits ? "" : "big(");
	put_number(num, r->out);
	buf_adds(r->out, fits ? "" : ")");
}

static bool is_one_byte(const struct arg *data)
{
	for (uint32_t i = 1; i < data->len; i++)
		if (data->text[i] != data->text[0])
			return false;
	return true;
}

static void put_data(struct repro *r, const struct arg *data)
{
	if (data->generated) {
		r->needs[HELPER_pattern] = true;
		buf_addf(r->out, "pattern(%" PRIu64 "u, %u)", data->seed, data->len);
	} else if (data->len > LITERAL_MAX && is_one_byte(data)) {
		r->needs[HELPER_repeat] = true;
		buf_addf(r->out, "repeat(%d, %u)", data->text[0], data->len);
	} else {
		r->needs[HELPER_text] = true;
		buf_adds(r->out, "text(");
		repro_string(data->text, data->len, r->out);
		buf_addf(r->out, ", %u)", data->len);
	}
}

/* Names of flags that are newer than some headers have are numbers. */
static bool has_names(enum kind kind, int64_t num)
{
	switch (kind) {
	case KIND_RWF_FLAGS:
		return (uint64_t)num <= 0x1f; /* RWF_APPEND */
	case KIND_FALLOC_MODE:
		return (uint64_t)num <= 0x7f; /* FALLOC_FL_UNSHARE_RANGE */
	case KIND_STATX_MASK:
		return (uint64_t)num <= 0xfff; /* STATX_BTIME */
	default:
		return kind_names(kind);
	}
}

static void put_arg(struct repro *r, const struct call *c, unsigned i)
{
	enum kind kind = op_table[c->op].arg[i].kind;
	const struct arg *arg = &c->arg[i];
	struct arg plain = *arg;

	switch (kind) {
	case KIND_PATH:
		repro_path(r, arg->text);
		break;
	case KIND_TARGET:
	case KIND_XATTR_NAME:
		r->needs[HELPER_nothing] |= !arg->text;
		if (arg->text)
			repro_string(arg->text, arg->len, r->out);
		else
			buf_adds(r->out, "nothing");
		break;
	case KIND_DATA:
	case KIND_XATTR_VALUE:
		put_data(r, arg);
		break;
	case KIND_DIRFD:
		if (arg->num == AT_FDCWD)
			buf_adds(r->out, "AT_FDCWD");
		else
			put_descriptor(r, c, arg->num);
		break;
	case KIND_FD:
		put_descriptor(r, c, arg->num);
		break;
	case KIND_DH:
		put_stream(r, c, arg->num);
		break;
	case KIND_COUNT:
		put_count(r, arg->num);
		break;
	case KIND_OPEN_FLAGS:
		plain.num &= INT32_MAX; /* what lies above has no number in Linux */
		arg_print(&plain, kind, r->out);
		break;
	case KIND_MODE:
		buf_addf(r->out, "0%o", arg->num == MODE_ABSENT ? 0 : (unsigned)arg->num);
		break;
	case KIND_UID:
	case KIND_GID:
		if (arg->num == -1)
			buf_adds(r->out, "-1");
		else
			buf_addf(r->out, "%u", (unsigned)arg->num);
		break;
	case KIND_LENGTH:
	case KIND_OFFSET:
	case KIND_TIME:
	case KIND_DEV:
	case KIND_DURATION:
		put_number(arg->num, r->out);
		break;
	default: /* an int, or flags in one */
		plain.num = (uint32_t)arg->num;
		if (has_names(kind, plain.num))
			arg_print(&plain, kind, r->out);
		else
			put_number((int32_t)arg->num, r->out);
	}
}

/* "name($0, $1)" for operations that are what their name says. */
static void put_plain(struct repro *r, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	buf_addf(r->out, "%s(", info->name);
	for (unsigned i = 0; i < info->args; i++) {
		buf_adds(r->out, i ? ", " : "");
		put_arg(r, c, i);
	}
	buf_addch(r->out, ')');
}

static void put_form(struct repro *r, const struct call *c, const char *form, int64_t result)
{
	repro_mentions(r, form);
	for (const char *at = form; *at; at++) {
		if (*at == '$')
			put_arg(r, c, (unsigned)(*++at - '0'));
		else if (*at == '#')
			buf_addf(r->out, "%" PRId64, (result & (FDS_MAX - 1)) + first_of(c));
		else if (*at == '@')
			buf_addf(r->out, "%d", first_of(c) / FDS_MAX * STREAMS_MAX);
		else
			buf_addch(r->out, *at);
	}
}

/* What makes a descriptor: its number is known, is none, or is found as the calls count them. */
static void put_opening(struct repro *r, const struct call *c, const char *form,
			const struct outcome *outcome)
{
	static const char assignment[] = "fd[#] = ";

	if (outcome && !outcome->error) {
		put_form(r, c, form, outcome->num);
		return;
	}
	form += strlen(assignment);
	if (outcome) {
		put_form(r, c, form, 0);
		return;
	}
	buf_adds(r->out, "keep(");
	put_form(r, c, form, 0);
	buf_addf(r->out, ", %d)", first_of(c));
	r->needs[HELPER_keep] = true;
}

/* The form of a call that depends on its arguments. */
static const char *form_of(const struct call *c)
{
	if (c->op == OP_close && is_descriptor(c->close.fd.num))
		return "do_close(&$0)";
	if (c->op == OP_dup2)
		return is_descriptor(c->dup2.newfd.num) ? "do_dup2($0, &$1)" : "dup2($0, -1)";
	return forms[c->op];
}

void repro_call(struct repro *r, const struct call *c, const struct outcome *outcome)
{
	const char *form = form_of(c);

	if (!form)
		put_plain(r, c);
	else if (!strncmp(form, "fd[#]", 5))
		put_opening(r, c, form, outcome);
	else
		put_form(r, c, form, 0);
}
