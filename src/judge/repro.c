/* repro.c -- a finding as a C program that anyone can compile and run.
 *
 * The body is written first, so that only the functions it needs come before it. Calls before
 * the last must go as they went; the last one, and the facts about the tree, are what shows. */
#include "judge/repro.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/must.h"
#include "judge/finding.h"
#include "op/script.h"

/* Headers and variables, each where the code has the word. */
static const struct need {
	const char *word, *text;
} headers[] = {
	{ "DIR *", "dirent.h" },
	{ "", "errno.h" },
	{ "", "fcntl.h" },
	{ "SIGALRM", "signal.h" },
	{ "int64_t", "stdint.h" },
	{ "", "stdio.h" },
	{ "", "stdlib.h" },
	{ "", "string.h" },
	{ "flock(", "sys/file.h" },
	{ "ioctl(", "sys/ioctl.h" },
	{ "mmap(", "sys/mman.h" },
	{ "", "sys/stat.h" },
	{ "statfs(", "sys/statfs.h" },
	{ "SYS_", "sys/syscall.h" },
	{ "iovec", "sys/uio.h" },
	{ "xattr(", "sys/xattr.h" },
	{ "", "unistd.h" },
	{ "FALLOC_", "linux/falloc.h" },
	{ "ioctl(", "linux/fs.h" },
	{ "open_how", "linux/openat2.h" },
}, variables[] = {
	{ "fd[", "static int fd[256];\n" },
	{ "stream[", "static DIR *stream[256];\n" },
	{ "&st)", "static struct stat st;\n" },
	{ "&stx)", "static struct statx stx;\n" },
	{ "&stfs)", "static struct statfs stfs;\n" },
	{ "remount()", "static const char *directory, *remount_command;\n" },
};

static const char frame[] =
	"static long result; /* of the last call */\n"
	"static int error;   /* its errno, 0 if it succeeded */\n"
	"static int shown;   /* whether the bug showed */\n"
	"\n"
	"static void answer(long value)\n"
	"{\n"
	"	result = value;\n"
	"	error = value < 0 ? errno : 0;\n"
	"}\n"
	"\n"
	"/* What must be so for the bug to be there to see. */\n"
	"static void need(int ok, const char *what)\n"
	"{\n"
	"	if (ok)\n"
	"		return;\n"
	"	printf(\"cannot tell: %s gives %ld, %s\\n\", what, result, strerror(error));\n"
	"	exit(2);\n"
	"}\n"
	"\n"
	"/* What is so in a file system without the bug. */\n"
	"static void want(int ok, const char *what)\n"
	"{\n"
	"	if (ok)\n"
	"		return;\n"
	"	printf(\"wrong: %s\\n\", what);\n"
	"	shown = 1;\n"
	"}\n"
	"\n"
	"#define CALL(call, expected) (answer(call), need(error == (expected), #call))\n"
	"\n";

/* Text that may hold anything, for inside a comment. */
static void comment(const char *text, struct buf *out)
{
	for (; *text; text++) {
		buf_addch(out, *text);
		if (*text == '*' && text[1] == '/')
			buf_addch(out, ' ');
		if (*text == '\n')
			buf_adds(out, " * ");
	}
}

static bool needs_root(const struct finding *f)
{
	const struct call *c;

	for (size_t i = 0; i < f->count; i++) {
		c = &f->calls[i];
		if (c->op == OP_chdir || c->op == OP_fchdir)
			return true;
		if ((c->op == OP_symlink && c->symlink.target.text[0] == '/') ||
		    (c->op == OP_symlinkat && c->symlinkat.target.text[0] == '/'))
			return true;
	}
	return false;
}

static size_t longest_data(const struct finding *f)
{
	const struct op_info *info;
	size_t most = 4096;

	for (size_t i = 0; i < f->count; i++) {
		info = &op_table[f->calls[i].op];
		for (unsigned j = 0; j < info->args; j++) {
			const struct arg *arg = &f->calls[i].arg[j];
			enum kind kind = info->arg[j].kind;

			if (kind == KIND_COUNT && arg->num > (int64_t)most && arg->num <= 64 << 20)
				most = (size_t)arg->num;
			if ((kind == KIND_DATA || kind == KIND_XATTR_VALUE) && arg->len > most)
				most = arg->len;
		}
	}
	return most;
}

/* Calls of another process are made under its user; the first process is whoever runs this. */
static void change_user(struct repro *r, const struct finding *f, size_t i)
{
	unsigned before = i ? f->calls[i - 1].pid : 1, pid = f->calls[i].pid;
	int64_t uid = 0, gid = 0;

	if (pid == before)
		return;
	for (size_t j = 0; j < i; j++)
		if (f->calls[j].op == OP_create_process && f->calls[j].pid == pid) {
			uid = f->calls[j].create_process.uid.num;
			gid = f->calls[j].create_process.gid.num;
		}
	r->needs[HELPER_become] = true;
	buf_addf(r->out, "\tCALL(become(%" PRId64 ", %" PRId64 "), 0);\n", uid, gid);
}

static void setup_call(struct repro *r, const struct finding *f, size_t i)
{
	const struct outcome *o = &f->outcomes[i];

	change_user(r, f, i);
	buf_adds(r->out, "\tCALL(");
	repro_call(r, &f->calls[i], o->num);
	buf_addf(r->out, ", %s); /* = ", o->error ? errno_name(o->error) : "0");
	outcome_print(o, f->calls[i].op, DIALECT_NATIVE, r->out);
	buf_adds(r->out, " */\n");
}

static void want_begin(struct repro *r)
{
	buf_adds(r->out, "\twant(");
}

static void want_end(struct repro *r, const char *what)
{
	buf_adds(r->out, ", ");
	repro_string(what, strlen(what), r->out);
	buf_adds(r->out, ");\n");
}

/* error == 0 || error == ENOENT || ... */
static void want_errors(struct repro *r, const struct finding *f)
{
	const char *separator = "";

	want_begin(r);
	if (f->success_allowed) {
		buf_adds(r->out, "error == 0");
		separator = " || ";
	}
	for (int error = 1; error < 192; error++)
		if (errset_has(&f->allowed, error)) {
			buf_addf(r->out, "%serror == %s", separator, errno_name(error));
			separator = " || ";
		}
	want_end(r, buf_str(&f->title));
}

static void want_stat(struct repro *r, const struct stat_result *s)
{
	if (s->mode & STAT_TYPE_ONLY)
		buf_addf(r->out, "(st.st_mode & S_IFMT) == 0%o", s->mode & S_IFMT);
	else
		buf_addf(r->out, "st.st_mode == 0%o", s->mode);
	if (s->nlink != STAT_UNKNOWN)
		buf_addf(r->out, " && st.st_nlink == %" PRId64, s->nlink);
	if (s->size != STAT_UNKNOWN)
		buf_addf(r->out, " && st.st_size == %" PRId64, s->size);
	if (s->uid != STAT_UNKNOWN)
		buf_addf(r->out, " && st.st_uid == %" PRId64 " && st.st_gid == %" PRId64, s->uid,
			 s->gid);
}

/* The value of a success that is allowed. */
static void want_value(struct repro *r, const struct finding *f)
{
	const struct outcome *value = &f->value;

	if (!f->success_allowed || f->outcomes[f->count - 1].error)
		return;
	switch (value->result) {
	case RESULT_NUM:
	case RESULT_PERM:
		want_begin(r);
		buf_addf(r->out, "result == %" PRId64, value->num);
		break;
	case RESULT_BYTES:
	case RESULT_TARGET:
		if (value->len > 4096)
			return;
		want_begin(r);
		buf_addf(r->out, "result == %zu && !memcmp(got, ", value->len);
		repro_string(value->bytes, value->len, r->out);
		buf_addf(r->out, ", %zu)", value->len);
		break;
	case RESULT_STAT:
		if (f->calls[f->count - 1].op == OP_statx)
			return;
		want_begin(r);
		want_stat(r, &value->stat);
		break;
	default:
		return;
	}
	want_end(r, buf_str(&f->title));
}

static void last_call(struct repro *r, const struct finding *f)
{
	size_t i = f->count - 1;

	if (f->code != FINDING_OUTCOME && f->code != FINDING_HANG && f->code != FINDING_DEATH) {
		setup_call(r, f, i);
		return;
	}
	change_user(r, f, i);
	buf_adds(r->out, "\n\t/* expected: ");
	comment(buf_str(&f->expected), r->out);
	buf_adds(r->out, "; seen: ");
	comment(buf_str(&f->seen), r->out);
	buf_adds(r->out, " */\n");
	if (f->code == FINDING_HANG) {
		r->needs[HELPER_hung] = true;
		buf_adds(r->out, "\tsignal(SIGALRM, hung);\n\talarm(60);\n");
	}
	buf_adds(r->out, "\tanswer(");
	repro_call(r, &f->calls[i], f->value.num);
	buf_adds(r->out, ");\n");
	if (f->code != FINDING_OUTCOME) {
		buf_adds(r->out,
			 "\twant(!access(\".\", F_OK), \"the directory is still served\");\n");
		return;
	}
	want_errors(r, f);
	want_value(r, f);
}

static void put_info(struct repro *r, const struct fact *fact, const char *field)
{
	r->needs[HELPER_info] = true;
	buf_adds(r->out, "info(");
	repro_path(r, fact->path, r->out);
	buf_addf(r->out, ").%s", field);
}

static void put_has(struct repro *r, const struct fact *fact, enum repro_helper helper,
		    const char *name)
{
	r->needs[helper] = true;
	buf_addf(r->out, "%s(", name);
	repro_path(r, fact->path, r->out);
}

static void put_xattr(struct repro *r, const struct fact *fact)
{
	if (fact->absent) {
		buf_adds(r->out, "lgetxattr(");
		repro_path(r, fact->path, r->out);
		buf_adds(r->out, ", ");
		repro_string(fact->name, strlen(fact->name), r->out);
		buf_adds(r->out, ", NULL, 0) < 0");
		return;
	}
	put_has(r, fact, HELPER_has_xattr, "has_xattr");
	buf_adds(r->out, ", ");
	repro_string(fact->name, strlen(fact->name), r->out);
	buf_adds(r->out, ", ");
	repro_string(fact->bytes, fact->len, r->out);
	buf_addf(r->out, ", %zu)", fact->len);
}

/* The fact as an expression; false where there is none. */
static bool put_fact(struct repro *r, const struct fact *fact)
{
	switch (fact->kind) {
	case FACT_UNREADABLE:
		put_has(r, fact, HELPER_readable, "readable");
		buf_addch(r->out, ')');
		return true;
	case FACT_MISSING:
	case FACT_EXTRA:
		put_has(r, fact, HELPER_exists, fact->kind == FACT_EXTRA ? "!exists" : "exists");
		buf_addch(r->out, ')');
		return true;
	case FACT_TYPE:
		buf_addch(r->out, '(');
		put_info(r, fact, "st_mode");
		buf_addf(r->out, " & S_IFMT) == 0%o", fact->mode & S_IFMT);
		return true;
	case FACT_MODE:
		put_info(r, fact, "st_mode");
		buf_addf(r->out, " == 0%o", fact->mode);
		return true;
	case FACT_OWNER:
		put_info(r, fact, "st_uid");
		buf_addf(r->out, " == %u && ", fact->uid);
		put_info(r, fact, "st_gid");
		buf_addf(r->out, " == %u", fact->gid);
		return true;
	case FACT_NLINK:
		put_info(r, fact, "st_nlink");
		buf_addf(r->out, " == %u", fact->nlink);
		return true;
	case FACT_SIZE:
		put_info(r, fact, "st_size");
		buf_addf(r->out, " == %" PRIu64, fact->size);
		return true;
	case FACT_RDEV:
		put_info(r, fact, "st_rdev");
		buf_addf(r->out, " == %" PRIu64, fact->rdev);
		return true;
	case FACT_LINKS:
		put_info(r, fact, "st_ino");
		buf_addf(r->out, " %s info(", fact->absent ? "!=" : "==");
		repro_path(r, fact->name, r->out);
		buf_adds(r->out, ").st_ino");
		return true;
	case FACT_DATA:
		put_has(r, fact, HELPER_has_bytes, "has_bytes");
		buf_addf(r->out, ", %" PRIu64 ", ", fact->offset);
		repro_string(fact->bytes, fact->len, r->out);
		buf_addf(r->out, ", %zu)", fact->len);
		return true;
	case FACT_TARGET:
		put_has(r, fact, HELPER_has_target, "has_target");
		buf_adds(r->out, ", ");
		repro_string(fact->bytes, fact->len, r->out);
		buf_addch(r->out, ')');
		return true;
	case FACT_XATTR:
		put_xattr(r, fact);
		return true;
	default:
		return false;
	}
}

static void put_facts(struct repro *r, const struct finding *f)
{
	struct buf what = BUF_INIT, *out = r->out;
	struct buf text = BUF_INIT;

	if (f->fact_count)
		buf_adds(out, "\n\t/* What should be so now. */\n");
	for (size_t i = 0; i < f->fact_count; i++) {
		buf_clear(&text);
		buf_clear(&what);
		buf_addf(&what, "%s of %s", fact_names[f->facts[i].kind], f->facts[i].path);
		r->out = &text;
		if (put_fact(r, &f->facts[i]))
			buf_addf(out, "\twant(%s, \"%s\");\n", buf_str(&text), buf_str(&what));
		r->out = out;
	}
	buf_free(&text);
	buf_free(&what);
}

static void put_body(struct repro *r, const struct finding *f)
{
	for (size_t i = 0; i + 1 < f->count; i++)
		setup_call(r, f, i);
	last_call(r, f);
	put_facts(r, f);
}

static void put_head(const struct finding *f, struct buf *out)
{
	buf_adds(out, "/* repro.c -- ");
	comment(buf_str(&f->title), out);
	buf_addf(out,
		 "\n *\n * Found on %s. Compile with cc alone; give it an empty directory of the\n"
		 " * file system under test. Exit status 1: the bug shows; 0: it does not; 2: the\n"
		 " * calls that lead to it went differently. */\n",
		 buf_str(&f->target));
}

/* body: what main does; code: all functions. */
static void put_variables(const struct repro *r, const char *body, const char *code,
			  struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (strstr(body, variables[i].word))
			buf_adds(out, variables[i].text);
	if (strstr(code, "memset(data, "))
		buf_addf(out, "static char data[%zu];\n", r->data_max + 1);
	if (strstr(code, "got, "))
		buf_addf(out, "static char got[%zu];\n", r->data_max + 1);
}

static void put_headers(const char *code, struct buf *out)
{
	buf_adds(out, "#define _GNU_SOURCE\n");
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (strstr(code, headers[i].word))
			buf_addf(out, "#include <%s>\n", headers[i].text);
	buf_addch(out, '\n');
}

static void put_main(const struct repro *r, const struct buf *body, struct buf *out)
{
	buf_adds(out, "int main(int argc, char **argv)\n{\n"
		      "	if (argc < 2 || chdir(argv[1])) {\n"
		      "		fprintf(stderr, \"usage: %s DIRECTORY [REMOUNT-COMMAND]\\n\", "
		      "argv[0]);\n"
		      "		return 2;\n"
		      "	}\n");
	if (r->rooted)
		buf_adds(out, "	answer(chroot(\".\"));\n"
			      "	need(error == 0, \"chroot, which needs root,\");\n");
	if (r->needs[HELPER_remount])
		buf_adds(out, "	directory = realpath(\".\", NULL);\n"
			      "	remount_command = argc > 2 ? argv[2] : NULL;\n");
	if (strstr(buf_str(body), "fd["))
		buf_adds(out, "	memset(fd, -1, sizeof(fd));\n");
	buf_adds(out, "	umask(022);\n\n");
	buf_adds(out, buf_str(body));
	buf_adds(out, "\n	puts(shown ? \"the bug shows\" : \"the bug does not show\");\n"
		      "	return shown;\n}\n");
}

void finding_repro_c(const struct finding *f, struct buf *out)
{
	static const char *const helpers[HELPER_COUNT] = {
#define HELPER(name, text) text,
#include "judge/helpers.def"
#undef HELPER
	};
	struct buf body = BUF_INIT, code = BUF_INIT;
	struct repro r = { .out = &body, .rooted = needs_root(f), .data_max = longest_data(f) };

	put_body(&r, f);
	for (size_t i = 0; i < HELPER_COUNT; i++)
		if (r.needs[i])
			buf_addf(&code, "%s\n", helpers[i]);
	put_main(&r, &body, &code);
	put_head(f, out);
	put_headers(buf_str(&code), out);
	put_variables(&r, buf_str(&body), buf_str(&code), out);
	buf_adds(out, frame);
	buf_add(out, code.data, code.len);
	buf_free(&body);
	buf_free(&code);
}
