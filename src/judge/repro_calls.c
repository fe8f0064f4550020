/* repro_calls.c -- every operation as a C expression.
 *
 * Most operations are system calls of their own name with their arguments in order and need no
 * row. In a form, $0 to $5 stand for the arguments and # for the number that success gave. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/repro.h"
#include "op/kind.h"

enum { FDS_MAX = 256, LITERAL_MAX = 48 };

struct form {
	const char *text;
	enum repro_helper helpers[2];
	unsigned uses; /* how many of them */
};

#define FORM(name, form) [OP_##name] = { form, { 0 }, 0 }
#define FORM_1(name, form, helper) [OP_##name] = { form, { HELPER_##helper }, 1 }
#define FORM_2(name, form, a, b) [OP_##name] = { form, { HELPER_##a, HELPER_##b }, 2 }

static const struct form forms[OP_COUNT] = {
	FORM(open, "fd[#] = open($0, $1, $2)"),
	FORM(openat, "fd[#] = openat($0, $1, $2, $3)"),
	FORM_1(openat2, "fd[#] = do_openat2($0, $1, $2, $3, $4)", do_openat2),
	FORM(creat, "fd[#] = creat($0, $1)"),
	FORM_2(open_close, "open_close($0, $1, $2)", then_close, open_close),
	FORM(dup, "fd[#] = dup($0)"),
	FORM(dup2, "dup2($0, fd[#] < 0 ? (fd[#] = dup($0)) : fd[#])"),
	FORM(read, "read($0, got, $1)"),
	FORM(read_all, "read($0, got, $1)"),
	FORM(pread, "pread($0, got, $1, $2)"),
	FORM(pread_all, "pread($0, got, $1, $2)"),
	FORM_1(preadv2, "preadv2($0, vector(got, $1), 1, $2, $3)", vector),
	FORM(write_all, "write($0, $1, $2)"),
	FORM(pwrite_all, "pwrite($0, $1, $2, $3)"),
	FORM_1(pwritev2, "pwritev2($0, vector($1, $2), 1, $3, $4)", vector),
	FORM_1(mmap_write, "mmap_write($0, $1, $2, $3)", mmap_write),
	FORM_2(direct_write, "direct_write($0, $1, $2, $3)", then_close, direct_write),
	FORM_1(copy_file_range, "copy_range($0, $1, $2, $3, $4, $5)", copy_range),
	FORM(ficlone, "ioctl($0, FICLONE, $1)"),
	FORM_1(ficlonerange, "clone_range($0, $1, $2, $3, $4)", clone_range),
	FORM(readlink, "readlink($0, got, sizeof(got))"),
	FORM(readlinkat, "readlinkat($0, $1, got, sizeof(got))"),
	FORM(fchmodat, "fchmodat($0, $1, $2, 0)"),
	FORM_1(utimensat, "set_times($0, $1, $2, $3, $4)", set_times),
	FORM_1(set_inode_flags, "set_flags($0, $1)", set_flags),
	FORM_1(get_inode_flags, "get_flags($0)", get_flags),
	FORM(stat, "stat($0, &st)"),
	FORM(lstat, "lstat($0, &st)"),
	FORM(fstat, "fstat($0, &st)"),
	FORM(statx, "statx($0, $1, $2, $3, &stx)"),
	FORM(faccessat2, "faccessat($0, $1, $2, $3)"),
	FORM(statfs, "statfs($0, &stfs)"),
	FORM(fstatfs, "fstatfs($0, &stfs)"),
	FORM(getxattr, "getxattr($0, $1, got, $2)"),
	FORM(lgetxattr, "lgetxattr($0, $1, got, $2)"),
	FORM(fgetxattr, "fgetxattr($0, $1, got, $2)"),
	FORM(listxattr, "listxattr($0, got, $1)"),
	FORM(llistxattr, "llistxattr($0, got, $1)"),
	FORM(flistxattr, "flistxattr($0, got, $1)"),
	FORM_1(opendir, "do_opendir(&stream[#], $0)", do_opendir),
	FORM_1(readdir, "do_readdir($0)", do_readdir),
	FORM_1(rewinddir, "(rewinddir($0), done())", done),
	FORM_1(create_process, "done()", done),
	FORM_1(destroy_process, "done()", done),
	FORM_1(add_user_to_group, "done()", done),
	FORM_1(sync, "(sync(), done())", done),
	FORM_2(create_file, "open_close($0, $1 | O_CREAT, $2)", then_close, open_close),
	FORM_2(write_file, "write_file($0, $1, $2, $3, $4)", then_close, write_file),
	FORM(chown_file, "chown($0, $1, (gid_t)-1)"),
	FORM(chgrp_file, "chown($0, (uid_t)-1, $1)"),
	FORM_2(fallocate_file, "fallocate_file($0, $1, $2, $3)", then_close, fallocate_file),
	FORM_1(remount, "remount()", remount),
	FORM_1(drop_caches, "drop_caches()", drop_caches),
	FORM(advance_time, "usleep($0 * 1000)"),
	FORM_1(fail_alloc, "done()", done),
	FORM_1(fail_read, "done()", done),
	FORM_1(fail_write, "done()", done),
	FORM_1(seek_leaks, "done()", done),
};

void repro_string(const char *bytes, size_t len, struct buf *out)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '"' || byte == '\\')
			buf_addf(out, "\\%c", byte);
		else if (byte < ' ' || byte > '~')
			buf_addf(out, "\\%03o", byte);
		else
			buf_addch(out, (char)byte);
	}
	buf_addch(out, '"');
}

void repro_path(const struct repro *r, const char *path, struct buf *out)
{
	const char *below = path + strspn(path, "/");

	if (r->rooted || below == path)
		repro_string(path, strlen(path), out);
	else if (*below)
		repro_string(below, strlen(below), out);
	else
		buf_adds(out, "\".\"");
}

static void put_number(int64_t num, struct buf *out)
{
	if (num > INT32_MIN && num <= INT32_MAX)
		buf_addf(out, "%" PRId64, num);
	else if (num == INT64_MIN) /* no literal in C */
		buf_addf(out, "(%" PRId64 "LL - 1)", num + 1);
	else
		buf_addf(out, "%" PRId64 "LL", num);
}

static void put_descriptor(int64_t num, const char *table, struct buf *out)
{
	if (num >= 3 && num < FDS_MAX)
		buf_addf(out, "%s[%" PRId64 "]", table, num);
	else
		put_number(num, out);
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

static void put_arg(struct repro *r, const struct arg *arg, enum kind kind)
{
	struct arg plain = *arg;

	switch (kind) {
	case KIND_PATH:
		if (arg->text)
			repro_path(r, arg->text, r->out);
		else
			buf_adds(r->out, "NULL");
		break;
	case KIND_TARGET:
	case KIND_XATTR_NAME:
		repro_string(arg->text, arg->len, r->out);
		break;
	case KIND_DATA:
	case KIND_XATTR_VALUE:
		put_data(r, arg);
		break;
	case KIND_DIRFD:
		if (arg->num == AT_FDCWD)
			buf_adds(r->out, "AT_FDCWD");
		else
			put_descriptor(arg->num, "fd", r->out);
		break;
	case KIND_FD:
		put_descriptor(arg->num, "fd", r->out);
		break;
	case KIND_DH:
		buf_addf(r->out, "stream[%d]", (int)(arg->num & (FDS_MAX - 1)));
		break;
	case KIND_OPEN_FLAGS:
		plain.num &= INT32_MAX; /* what lies above has no number in Linux */
		arg_print(&plain, kind, r->out);
		break;
	case KIND_MODE:
		buf_addf(r->out, "0%o", arg->num == MODE_ABSENT ? 0 : (unsigned)arg->num);
		break;
	default:
		if (kind_names(kind))
			arg_print(arg, kind, r->out);
		else
			put_number(arg->num, r->out);
	}
}

/* "name($0, $1)" for operations that are what their name says. */
static void put_plain(struct repro *r, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	buf_addf(r->out, "%s(", info->name);
	for (unsigned i = 0; i < info->args; i++) {
		buf_adds(r->out, i ? ", " : "");
		put_arg(r, &c->arg[i], info->arg[i].kind);
	}
	buf_addch(r->out, ')');
}

void repro_call(struct repro *r, const struct call *c, int64_t result)
{
	const struct form *form = &forms[c->op];

	if (!form->text) {
		put_plain(r, c);
		return;
	}
	for (unsigned i = 0; i < form->uses; i++)
		r->needs[form->helpers[i]] = true;
	for (const char *at = form->text; *at; at++) {
		if (*at == '$') {
			unsigned i = (unsigned)(*++at - '0');

			put_arg(r, &c->arg[i], op_table[c->op].arg[i].kind);
		} else if (*at == '#') {
			buf_addf(r->out, "%" PRId64, result & (FDS_MAX - 1));
		} else {
			buf_addch(r->out, *at);
		}
	}
}
