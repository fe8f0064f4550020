/* pjd_calls.c -- every operation that the program pjdfstest has, in its words. */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/must.h"
#include "finding/pjd.h"

/* A call in the words of pjdfstest: $0 to $5 are the arguments, # is the number of the descriptor
 * that the call opens, % are the fields that stat is asked for. */
static const char *const pjd_forms[OP_COUNT] = {
	[OP_open] = "open $0 $1",
	[OP_openat] = "openat $0 $1 $2",
	[OP_creat] = "open $0 O_WRONLY,O_CREAT,O_TRUNC $1",
	[OP_open_close] = "open $0 $1",
	[OP_create_file] = "open $0 $1",
	[OP_write_file] = "open $0 $1 : pwrite # $2 $4",
	[OP_pread] = "pread $0 $1 $2",
	[OP_pread_all] = "pread $0 $1 $2",
	[OP_write] = "write $0 $1",
	[OP_write_all] = "write $0 $1",
	[OP_pwrite] = "pwrite $0 $1 $3",
	[OP_pwrite_all] = "pwrite $0 $1 $3",
	[OP_truncate] = "truncate $0 $1",
	[OP_ftruncate] = "ftruncate $0 $1",
	[OP_mkdir] = "mkdir $0 $1",
	[OP_mkdirat] = "mkdirat $0 $1 $2",
	[OP_rmdir] = "rmdir $0",
	[OP_unlink] = "unlink $0",
	[OP_unlinkat] = "unlinkat $0 $1 $2",
	[OP_rename] = "rename $0 $1",
	[OP_renameat] = "renameat $0 $1 $2 $3",
	[OP_link] = "link $0 $1",
	[OP_linkat] = "linkat $0 $1 $2 $3 $4",
	[OP_symlink] = "symlink $0 $1",
	[OP_symlinkat] = "symlinkat $0 $1 $2",
	[OP_mknod] = "mknod $0 $1 $2",
	[OP_mknodat] = "mknodat $0 $1 $2 $3",
	[OP_chmod] = "chmod $0 $1",
	[OP_fchmod] = "fchmod $0 $1",
	[OP_fchown] = "fchown $0 $1 $2",
	[OP_chown] = "chown $0 $1 $2",
	[OP_lchown] = "lchown $0 $1 $2",
	[OP_fchownat] = "fchownat $0 $1 $2 $3 $4",
	[OP_chown_file] = "chown $0 $1 -1",
	[OP_chgrp_file] = "chown $0 -1 $1",
	[OP_utimensat] = "utimensat $0 $1 $2 $3 $4",
	[OP_stat] = "stat $0 %",
	[OP_lstat] = "lstat $0 %",
	[OP_fstat] = "fstat $0 %",
};

void pjd_cannot(struct pjd *p, const char *what, const char *call)
{
	if (!p->why.len)
		buf_addf(&p->why, "the program pjdfstest cannot %s %s()", what, call);
}

bool pjd_is_word(const char *text, size_t len)
{
	static const char *const meanings[] = { "NULL", "DEADCODE", ":" };

	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (strlen(meanings[i]) == len && !memcmp(text, meanings[i], len))
			return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._/-+,:@%=", text[i]))
			return false;
	return len;
}

bool pjd_add_path(const char *path, struct buf *out)
{
	bool from_root = path && path[0] == '/';

	if (!path) {
		buf_adds(out, "NULL");
		return true;
	}
	path += strspn(path, "/");
	if (from_root && !*path)
		path = ".";
	if (!pjd_is_word(path, strlen(path)))
		return false;
	buf_adds(out, path);
	return true;
}

static const struct pjd_flag {
	int64_t bit;
	const char *name;
} pjd_open_flags[] = {
	{ O_NONBLOCK, "O_NONBLOCK" }, { O_APPEND, "O_APPEND" },     { O_CREAT, "O_CREAT" },
	{ O_TRUNC, "O_TRUNC" },       { O_EXCL, "O_EXCL" },         { O_SYNC, "O_SYNC" },
	{ O_NOFOLLOW, "O_NOFOLLOW" }, { O_NOCTTY, "O_NOCTTY" },     { O_DIRECTORY, "O_DIRECTORY" },
	{ 0, NULL },
}, pjd_at_flags[] = {
	{ AT_REMOVEDIR, "AT_REMOVEDIR" },
	{ AT_SYMLINK_FOLLOW, "AT_SYMLINK_FOLLOW" },
	{ AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW" },
	{ 0, NULL },
};

/* False if there is a flag without a name. */
static bool pjd_add_flags(const struct pjd_flag *names, int64_t flags, const char *separator,
			  struct buf *out)
{
	for (; names->name; names++)
		if ((flags & names->bit) == names->bit) {
			buf_addf(out, "%s%s", separator, names->name);
			separator = ",";
			flags &= ~names->bit;
		}
	if (!*separator)
		buf_adds(out, "none");
	return !flags;
}

/* With the mode where there is one. */
static bool pjd_add_open_flags(const struct call *c, int64_t flags, struct buf *out)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR" };
	int64_t mode = c->op == OP_write_file ? 0644 : c->arg[c->op == OP_openat ? 3 : 2].num;

	flags &= ~OPEN_RDONLY;
	if (c->op == OP_create_file)
		flags |= O_CREAT;
	if ((flags & O_ACCMODE) == O_ACCMODE || (mode == MODE_ABSENT && flags & O_CREAT))
		return false;
	buf_adds(out, access[flags & O_ACCMODE]);
	if (!pjd_add_flags(pjd_open_flags, flags & ~(int64_t)O_ACCMODE, ",", out))
		return false;
	if (flags & O_CREAT)
		buf_addf(out, " 0%" PRIo64, (uint64_t)mode);
	return true;
}

static bool pjd_add_node(int64_t mode, struct buf *out)
{
	static const struct {
		mode_t type;
		char letter;
	} types[] = { { S_IFREG, 'o' }, { S_IFIFO, 'f' }, { S_IFCHR, 'c' }, { S_IFBLK, 'b' } };

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if ((mode & S_IFMT) == types[i].type) {
			buf_addf(out, "%c 0%o", types[i].letter, (unsigned)(mode & 07777));
			return true;
		}
	return false;
}

static void pjd_add_time(int64_t ns, struct buf *out)
{
	if (ns == TIME_NOW)
		buf_adds(out, "0 UTIME_NOW");
	else if (ns == TIME_OMIT)
		buf_adds(out, "0 UTIME_OMIT");
	else
		buf_addf(out, "%" PRId64 " %" PRId64, ns / 1000000000, ns % 1000000000);
}

/* What is written: the bytes of the argument, no more and no less. */
static bool pjd_add_data(const struct call *c, unsigned i, struct buf *out)
{
	const struct arg *data = &c->arg[i], *count = &c->arg[i + 1];

	if (data->generated || !data->text || count->num != (int64_t)data->len ||
	    !pjd_is_word(data->text, data->len))
		return false;
	buf_add(out, data->text, data->len);
	return true;
}

static bool pjd_add_descriptor(const struct pjd *p, int64_t fd, struct buf *out)
{
	if (fd < 0 || fd >= PJD_FDS || !p->position[fd])
		return false;
	buf_addf(out, "%" PRId64, p->position[fd] - 1);
	return true;
}

static bool pjd_add_arg(const struct pjd *p, const struct call *c, unsigned i, struct buf *out)
{
	const struct arg *arg = &c->arg[i];

	switch (op_table[c->op].arg[i].kind) {
	case KIND_PATH:
		return pjd_add_path(arg->text, out);
	case KIND_TARGET:
		if (!arg->text || !pjd_is_word(arg->text, strlen(arg->text)))
			return false;
		buf_adds(out, arg->text);
		return true;
	case KIND_DIRFD:
		buf_adds(out, "AT_FDCWD");
		return arg->num == AT_FDCWD;
	case KIND_OPEN_FLAGS:
		return pjd_add_open_flags(c, arg->num, out);
	case KIND_AT_FLAGS:
		return pjd_add_flags(pjd_at_flags, arg->num, "", out);
	case KIND_MODE:
		buf_addf(out, "0%o", (unsigned)arg->num);
		return arg->num >= 0;
	case KIND_NODE_MODE:
		return pjd_add_node(arg->num, out);
	case KIND_DEV:
		buf_addf(out, "%u %u", major((dev_t)arg->num), minor((dev_t)arg->num));
		return true;
	case KIND_TIME:
		pjd_add_time(arg->num, out);
		return arg->num >= 0;
	case KIND_DATA:
		return pjd_add_data(c, i, out);
	case KIND_FD:
		return pjd_add_descriptor(p, arg->num, out);
	case KIND_UID:
	case KIND_GID:
		buf_addf(out, "%" PRId32, (int32_t)arg->num);
		return true;
	default:
		buf_addf(out, "%" PRId64, arg->num);
		return true;
	}
}

/* Who calls, where that is not the user of the test. */
static void pjd_add_user(const struct pjd *p, const struct call *c, struct buf *out)
{
	for (size_t i = 0; c->pid != 1 && i < p->finding->count; i++) {
		const struct call *made = &p->finding->calls[i];

		if (made->op == OP_create_process && made->pid == c->pid)
			buf_addf(out, "-u %" PRId64 " -g %" PRId64 " ",
				 made->create_process.uid.num, made->create_process.gid.num);
	}
}

/* The form of a call that depends on its arguments. */
static const char *pjd_form_of(const struct call *c)
{
	if (c->op == OP_write_file && !c->write_file.count.num)
		return "open $0 $1"; /* writes nothing */
	if (c->op == OP_fallocate && !c->fallocate.mode.num)
		return "posix_fallocate $0 $2 $3";
	return pjd_forms[c->op];
}

/* The call itself: "mkdir d 0755". fields: what stat is asked for. */
static void pjd_add_words(struct pjd *p, const struct call *c, const char *fields, struct buf *out)
{
	const char *form = pjd_form_of(c);

	if (!form) {
		pjd_cannot(p, "make", op_table[c->op].name);
		return;
	}
	for (const char *at = form; *at; at++) {
		if (*at == '%')
			buf_adds(out, fields);
		else if (*at == '#')
			buf_addu(out, p->opened);
		else if (*at != '$')
			buf_addch(out, *at);
		else if (!pjd_add_arg(p, c, (unsigned)(*++at - '0'), out))
			pjd_cannot(p, "take these arguments of", op_table[c->op].name);
	}
}

/* "-u 1 -g 1 -U 022 -- " as far as these words need it. */
static void pjd_add_options(const struct pjd *p, const struct call *c, const char *words,
			    struct buf *out)
{
	pjd_add_user(p, c, out);
	if (p->chained ||
	    (op_table[c->op].traits & TRAIT_ALLOC && op_table[c->op].traits & TRAIT_NAMES))
		buf_adds(out, "-U 022 ");
	if (strstr(words, " -"))
		buf_adds(out, "-- ");
}

static bool pjd_opens(const struct call *c)
{
	return !strncmp(pjd_forms[c->op] ? pjd_forms[c->op] : "", "open", 4);
}

/* One more call of a run; which descriptor its success opens is known. */
static void pjd_chain(struct pjd *p, size_t i, const char *fields)
{
	const struct outcome *o = finding_observed(p->finding, i);
	const struct call *c = &p->finding->calls[i];

	if (p->chained && c->pid != 1)
		pjd_cannot(p, "change its user between calls on a descriptor, for",
			   op_table[c->op].name);
	if (p->chained && i + 1 < p->finding->count && (!o || o->error))
		pjd_cannot(p, "continue with open descriptors after the error of",
			   op_table[c->op].name);
	buf_adds(&p->chain, p->chain.len ? " : " : "");
	pjd_add_words(p, c, fields, &p->chain);
	if (pjd_opens(c)) {
		p->opened++;
		if (o && op_table[c->op].result == RESULT_FD && o->num >= 0 && o->num < PJD_FDS)
			p->position[o->num] = p->opened;
	}
}

void pjd_call(struct pjd *p, size_t i, const char *expected, const char *fields)
{
	const struct call *c = &p->finding->calls[i];

	p->chained |= op_table[c->op].result == RESULT_FD && c->op != OP_dup && c->op != OP_dup2;
	pjd_chain(p, i, fields);
	if (p->chained && i + 1 < p->finding->count)
		return;
	buf_addf(&p->body, expected ? "expect %s " : "${fstest} ", expected);
	p->tests += expected != NULL;
	pjd_add_options(p, c, buf_str(&p->chain), &p->body);
	buf_adds(&p->body, buf_str(&p->chain));
	buf_adds(&p->body, expected ? "\n" : " >/dev/null 2>&1\n");
	buf_clear(&p->chain);
	p->opened = 0;
}
