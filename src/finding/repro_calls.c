/* repro_calls.c -- every operation as a C expression.
 *
 * Most operations are functions of the same name with the arguments in order and need no row. In
 * a form, $0 to $5 are the arguments, # is the number that success returned, and @ is the first
 * stream or mapping of the process: all processes of a finding are one program. */
#include <inttypes.h>
#include <string.h>

#include "finding/repro.h"
#include "op/c_text.h"
#include "op/kind.h"

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
	[OP_mmap] = "do_mmap($0, $1, $2, $3, $4, @)",
	[OP_map_read] = "do_map_read($0, $1, $2)",
	[OP_map_write] = "do_map_write($0, $1, $2, $3)",
	[OP_write_mapped] = "write_mapped($0, $1, $2, $3, $4)",
	[OP_msync] = "do_msync($0, $1, $2, $3)",
	[OP_munmap] = "do_munmap($0)",
	[OP_map_read_file] = "map_read_file($0, $1, $2, $3)",
	[OP_map_write_file] = "map_write_file($0, $1, $2, $3, $4)",
	[OP_fadvise] = "syscall(SYS_fadvise64, $0, $1, $2, $3)",
	[OP_readahead] = "syscall(SYS_readahead, $0, $1, $2)",
	[OP_sync_file_range] = "syscall(SYS_sync_file_range, $0, $1, $2, $3)",
	[OP_fadvise_file] = "fadvise_file($0, $1, $2, $3)",
	[OP_direct_read] = "direct_read($0, $1, $2)",
	[OP_direct_write] = "direct_write($0, $1, $2, $3)",
	[OP_copy_file_range] = "copy_range($0, $1, $2, $3, $4, $5)",
	[OP_sendfile] = "send_file($0, $1, $2, $3)",
	[OP_splice] = "splice_range($0, $1, $2, $3, $4)",
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
	[OP_set_acl] = "set_acl($0, $1, $2)",
	[OP_set_capabilities] = "setxattr($0, \"security.capability\", $1, XATTR_CAPS_SZ_2, 0)",
	[OP_take_handle] = "take_handle($0, $1)",
	[OP_open_handle] = "fd[#] = open_handle($0, $1)",
	[OP_opendir] = "do_opendir($0, @)",
	[OP_readdir] = "do_readdir($0)",
	[OP_rewinddir] = "do_rewinddir($0)",
	[OP_seekdir] = "do_seekdir($0, $1)",
	[OP_closedir] = "do_closedir($0)",
	[OP_create_process] = "done()",
	[OP_destroy_process] = "done()",
	[OP_add_user_to_group] = "join_group($0, $1)",
	[OP_sync] = "sync_here()",
	[OP_create_file] = "open_close($0, $1 | O_CREAT, $2)",
	[OP_write_file] = "write_file($0, $1, $2, $3, $4)",
	[OP_chown_file] = "chown($0, $1, (gid_t)-1)",
	[OP_chgrp_file] = "chown($0, (uid_t)-1, $1)",
	[OP_copy_file] = "copy_file($0, $1, $2, $3, $4)",
	[OP_clone_file] = "clone_file($0, $1, $2, $3, $4)",
	[OP_fallocate_file] = "fallocate_file($0, $1, $2, $3)",
	[OP_inspect_file] = "inspect_file($0)",
	[OP_read_file] = "read_file($0, $1, $2)",
	[OP_list_dir] = "list_dir($0)",
	[OP_remount] = "remount()",
	[OP_drop_caches] = "drop_caches()",
	[OP_advance_time] = "pass_time($0)",
	[OP_fail_alloc] = "impossible(\"no program makes an allocation of the kernel fail\")",
	[OP_fail_read] = "impossible(\"no program makes a read of the disk fail\")",
	[OP_fail_write] = "impossible(\"no program makes a write to the disk fail\")",
	[OP_seek_leaks] = "done()",
	[OP_fsck] = "check_disk()",
	[OP_seek_space] = "done()",
	[OP_wait] = "pass_time($0)",
};

/* Which of the processes of the finding calls; each has a part of the program's arrays. */
static unsigned repro_process_of(const struct call *c)
{
	return c->pid - 1U;
}

/* The text may mention helpers. */
static void repro_put_arg(struct repro *r, const struct call *c, unsigned i)
{
	const struct kind_info *kind = kind_table[op_table[c->op].arg[i].kind];
	struct buf text = BUF_INIT;
	struct c_text to = { .out = &text,
			     .rooted = r->rooted,
			     .data_max = r->data_max,
			     .process = repro_process_of(c) };

	kind->c_text(kind, &c->arg[i], &to);
	repro_mentions(r, buf_str(&text));
	buf_add(r->out, text.data, text.len);
	buf_free(&text);
}

/* "name($0, $1)" for operations that are what their name says. */
static void repro_put_plain(struct repro *r, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	buf_addf(r->out, "%s(", info->name);
	for (unsigned i = 0; i < info->args; i++) {
		buf_adds(r->out, i ? ", " : "");
		repro_put_arg(r, c, i);
	}
	buf_addch(r->out, ')');
}

static void repro_put_form(struct repro *r, const struct call *c, const char *form, int64_t result)
{
	repro_mentions(r, form);
	for (const char *at = form; *at; at++) {
		if (*at == '$')
			repro_put_arg(r, c, (unsigned)(*++at - '0'));
		else if (*at == '#')
			buf_addf(r->out, "%" PRId64,
				 (result & (C_FDS_MAX - 1)) + repro_process_of(c) * C_FDS_MAX);
		else if (*at == '@')
			buf_addf(r->out, "%u", repro_process_of(c) * C_STREAMS_MAX);
		else
			buf_addch(r->out, *at);
	}
}

/* What makes a descriptor: its number is known, is none, or is found as the calls count them. */
static void repro_put_opening(struct repro *r, const struct call *c, const char *form,
			      const struct outcome *outcome)
{
	static const char assignment[] = "fd[#] = ";

	if (outcome && !outcome->error) {
		repro_put_form(r, c, form, outcome->num);
		return;
	}
	form += strlen(assignment);
	if (outcome) {
		repro_put_form(r, c, form, 0);
		return;
	}
	buf_adds(r->out, "keep(");
	repro_put_form(r, c, form, 0);
	buf_addf(r->out, ", %u)", repro_process_of(c) * C_FDS_MAX);
	r->needs[HELPER_keep] = true;
}

/* The form of a call that depends on its arguments. */
static const char *repro_form_of(const struct call *c)
{
	if (c->op == OP_close && c_is_descriptor(c->close.fd.num))
		return "do_close(&$0)";
	if (c->op == OP_dup2)
		return c_is_descriptor(c->dup2.newfd.num) ? "do_dup2($0, &$1)" : "dup2($0, -1)";
	return forms[c->op];
}

void repro_call(struct repro *r, const struct call *c, const struct outcome *outcome)
{
	const char *form = repro_form_of(c);

	if (!form)
		repro_put_plain(r, c);
	else if (!strncmp(form, "fd[#]", 5))
		repro_put_opening(r, c, form, outcome);
	else
		repro_put_form(r, c, form, 0);
}
