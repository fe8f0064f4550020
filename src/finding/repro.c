/* repro.c -- a finding as a C program that anyone can compile and run.
 *
 * The body is written first, so that only the functions it needs come before it. Calls before
 * the last must go as they went; the last one, and the facts about the tree, are what shows. */
#include "finding/repro.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/must.h"
#include "finding/finding.h"
#include "op/c_text.h"
#include "op/kind.h"
#include "trace/script.h"

enum { COMMENT_MAX = 300, FDS_PER_PROCESS = 256, WAIT_USUAL = 30 };

/* Headers, each where the code has the word. */
static const struct {
	const char *word, *text;
} headers[] = {
	{ "dirent", "dirent.h" },
	{ "", "errno.h" },
	{ "", "fcntl.h" },
	{ "nftw(", "ftw.h" },
	{ "setgroups(", "grp.h" },
	{ "CPU_SET(", "sched.h" },
	{ "sigjmp_buf", "setjmp.h" },
	{ "SIG", "signal.h" },
	{ "_Atomic", "stdatomic.h" },
	{ "offsetof(", "stddef.h" },
	{ "int64_t", "stdint.h" },
	{ "", "stdio.h" },
	{ "", "stdlib.h" },
	{ "", "string.h" },
	{ "flock(", "sys/file.h" },
	{ "ioctl(", "sys/ioctl.h" },
	{ "klogctl(", "sys/klog.h" },
	{ "mmap(", "sys/mman.h" },
	{ "msync(", "sys/mman.h" },
	{ "munmap(", "sys/mman.h" },
	{ "", "sys/stat.h" },
	{ "statfs(", "sys/statfs.h" },
	{ "SYS_", "sys/syscall.h" },
	{ "iovec", "sys/uio.h" },
	{ "waitpid(", "sys/wait.h" },
	{ "xattr(", "sys/xattr.h" },
	{ "nanosleep(", "time.h" },
	{ "", "unistd.h" },
	{ "FALLOC_", "linux/falloc.h" },
	{ "fiemap", "linux/fiemap.h" },
	{ "FS_", "linux/fs.h" },
	{ "FICLONE", "linux/fs.h" },
	{ "RWF_", "linux/fs.h" },
	{ "open_how", "linux/openat2.h" },
	{ "ACL_TYPE_", "linux/posix_acl.h" },
	{ "XATTR_CAPS_", "linux/capability.h" },
	{ "posix_acl_xattr_", "linux/posix_acl_xattr.h" },
};

/* Whether a path that begins this deep below the root leads above it, as it is written. */
static bool leads_out(const char *path, int depth)
{
	size_t len;

	for (; *(path += strspn(path, "/")); path += len) {
		len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2) && --depth < 0)
			return true;
		depth += !(len <= 2 && !strncmp(path, "..", len));
	}
	return false;
}

static int depth_of_parent(const char *path)
{
	int depth = 0;

	for (; path && *(path += strspn(path, "/")); path += strcspn(path, "/"))
		depth++;
	return depth ? depth - 1 : 0;
}

/* Links are followed from where they lie. */
static bool link_leads_out(const struct arg *target, const struct arg *path, bool elsewhere)
{
	if (!target->text)
		return false;
	return target->text[0] == '/' ||
	       leads_out(target->text, elsewhere ? 0 : depth_of_parent(path->text));
}

/* A program that only starts in the directory would leave it where a root directory is one. */
static bool needs_root(const struct finding *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct call *c = &f->calls[i];
		const struct op_info *info = &op_table[c->op];

		if (c->op == OP_chdir || c->op == OP_fchdir)
			return true;
		if (c->op == OP_symlink &&
		    link_leads_out(&c->symlink.target, &c->symlink.path, false))
			return true;
		if (c->op == OP_symlinkat &&
		    link_leads_out(&c->symlinkat.target, &c->symlinkat.path,
				   c->symlinkat.dirfd.num != AT_FDCWD))
			return true;
		for (unsigned j = 0; j < info->args; j++)
			if (info->arg[j].kind == KIND_PATH && c->arg[j].text &&
			    leads_out(c->arg[j].text, 0))
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
			const struct kind_info *kind = kind_table[info->arg[j].kind];

			if (kind->sizes_data && arg->num > (int64_t)most && arg->num <= 64 << 20)
				most = (size_t)arg->num;
			if (kind->form == FORM_DATA && arg->len > most)
				most = arg->len;
		}
	}
	return most;
}

/* Calls of another process are made under its user; the first process is the user who runs this. */
static void change_user(struct repro *r, const struct finding *f, size_t i)
{
	unsigned before = i ? f->calls[i - 1].pid : 1, pid = f->calls[i].pid;
	uint32_t uid = 0, gid = 0;

	if (pid == before)
		return;
	for (size_t j = 0; j < i; j++)
		if (f->calls[j].op == OP_create_process && f->calls[j].pid == pid) {
			uid = (uint32_t)f->calls[j].create_process.uid.num;
			gid = (uint32_t)f->calls[j].create_process.gid.num;
		}
	r->needs[HELPER_become] = r->needs[HELPER_CALL] = true;
	buf_addf(r->out, "\tCALL(become(%u, %u), 0);\n", uid, gid);
}

/* No command that remounts reports the kernel's errno. */
static int expected_error(const struct call *c, const struct outcome *o)
{
	return c->op == OP_remount && o->error ? EIO : o->error;
}

static void setup_call(struct repro *r, const struct finding *f, size_t i)
{
	const struct outcome *o = finding_observed(f, i);
	struct buf text = BUF_INIT;

	change_user(r, f, i);
	r->needs[o ? HELPER_CALL : HELPER_answer] = true;
	buf_adds(r->out, o ? "\tCALL(" : "\tanswer(");
	repro_call(r, &f->calls[i], o);
	if (!o) {
		buf_adds(r->out, ");\n");
		return;
	}
	buf_adds(r->out, ", ");
	if (o->error)
		repro_errno(expected_error(&f->calls[i], o), r->out);
	else
		buf_addch(r->out, '0');
	outcome_print(o, f->calls[i].op, DIALECT_NATIVE, &text);
	buf_adds(r->out, "); /* = ");
	repro_comment(buf_str(&text), COMMENT_MAX, r->out);
	buf_adds(r->out, " */\n");
	buf_free(&text);
}

static void put_expectation(struct repro *r, const struct finding *f)
{
	buf_adds(r->out, "\n\t/* expected: ");
	repro_comment(buf_str(&f->discrepancy.expected), COMMENT_MAX, r->out);
	if (!f->expects) {
		buf_adds(r->out, "; seen: ");
		repro_comment(buf_str(&f->discrepancy.seen), COMMENT_MAX, r->out);
	}
	buf_adds(r->out, " */\n");
}

/* The last call in a separate process, so that its fate can be reported. */
static void call_in_child(struct repro *r, const struct finding *f)
{
	r->needs[HELPER_ended] = r->needs[HELPER_answer] = r->needs[HELPER_want] = true;
	buf_adds(r->out,
		 "\tfflush(stdout);\n\tpid_t child = fork();\n\tif (!child) {\n\t\tanswer(");
	repro_call(r, &f->calls[f->count - 1], NULL);
	buf_adds(r->out, ");\n\t\t_exit(0);\n\t}\n"
			 "\twant(child > 0 && ended(child), \"the call returns\");\n");
}

/* The words of the complaint that say where in the sources it came from, without the line. */
static void put_complaint(struct repro *r, const struct finding *f)
{
	const char *place = strstr(f->discrepancy.signature, " fs/"), *end;

	place = place ? place + 1 : "";
	end = place + strcspn(place, ": ");
	r->needs[HELPER_complains] = r->needs[HELPER_want] = true;
	buf_adds(r->out, "\twant(!complains(log_before, ");
	c_string(place, (size_t)(end - place), r->out);
	buf_adds(r->out, "), \"the kernel does not complain of itself\");\n");
}

static void last_call(struct repro *r, const struct finding *f)
{
	size_t i = f->count - 1;

	switch (f->discrepancy.code) {
	case PROBLEM_OUTCOME:
	case PROBLEM_HANG:
	case PROBLEM_DEATH:
	case PROBLEM_KERNEL:
	case PROBLEM_FSCK:
		change_user(r, f, i);
		put_expectation(r, f);
		break;
	default:
		setup_call(r, f, i);
		return;
	}
	if (f->discrepancy.code == PROBLEM_HANG) {
		call_in_child(r, f);
		return;
	}
	r->needs[HELPER_answer] = true;
	buf_adds(r->out, "\tanswer(");
	repro_call(r, &f->calls[i], NULL);
	buf_adds(r->out, ");\n");
}

static void put_checks(struct repro *r, const struct finding *f)
{
	switch (f->discrepancy.code) {
	case PROBLEM_OUTCOME:
		repro_check_outcome(r, f);
		break;
	case PROBLEM_TREE:
	case PROBLEM_DRIFT:
	case PROBLEM_TIMES:
		repro_check_facts(r, f);
		break;
	case PROBLEM_HANG:
	case PROBLEM_LOST: /* by crash.sh, when the daemon serves again */
	case PROBLEM_RECOVERY:
		break;
	case PROBLEM_DEATH:
		r->needs[HELPER_want] = r->needs[HELPER_served] = true;
		buf_adds(r->out, "\twant(served(), \"the directory is still served\");\n");
		break;
	case PROBLEM_KERNEL:
		put_complaint(r, f);
		break;
	case PROBLEM_FSCK:
		r->needs[HELPER_want] = true;
		buf_adds(r->out, "\twant(error != EUCLEAN, \"the checker finds nothing\");\n");
		break;
	default:
		repro_cannot_see(r, buf_str(&f->discrepancy.title));
	}
}

static void put_observe(struct repro *r)
{
	r->needs[HELPER_observe] = true;
	buf_addf(r->out, "\tobserve(\"%s\");\n", r->rooted ? "/" : ".");
}

/* Whether everything is read after this call. */
static bool observes(const struct finding *f, size_t i, size_t last_remount)
{
	switch (f->proof.watch) {
	case WATCH_NOTHING:
		return false;
	case WATCH_SINCE_REMOUNT:
		return i >= last_remount && i + 1 < f->count;
	case WATCH_CALLS:
		return i + 1 < f->count;
	case WATCH_ALL:
		break;
	}
	return true;
}

static void put_body(struct repro *r, const struct finding *f)
{
	size_t last_remount = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->calls[i].op == OP_remount)
			last_remount = i;
	if (f->proof.watch >= WATCH_CALLS)
		put_observe(r);
	for (size_t i = 0; i < f->count; i++) {
		if (i + 1 < f->count) {
			setup_call(r, f, i);
		} else {
			repro_look_before(r, f);
			last_call(r, f);
		}
		if (observes(f, i, last_remount))
			put_observe(r);
	}
	if (f->count)
		put_checks(r, f);
	else
		repro_cannot_see(r, "no calls are known that lead to it");
}

static void put_head(const struct finding *f, struct buf *out)
{
	buf_adds(out, "/* repro.c -- ");
	repro_comment(buf_str(&f->discrepancy.title), COMMENT_MAX, out);
	buf_adds(out, "\n *\n * Found on ");
	repro_comment(buf_str(&f->target), COMMENT_MAX, out);
	buf_adds(out,
		 " . Compile with cc alone; give it an empty directory of the\n"
		 " * file system under test and, where it remounts, a command that unmounts and\n"
		 " * mounts it again. Exit status 1: the bug shows; 0: it does not; 2: the calls\n"
		 " * that lead to it went differently, or it cannot be seen from here. */\n");
}

static void put_headers(const char *code, const struct repro_frame *frame, struct buf *out)
{
	const char *before = "";

	if (!frame->gnu_source)
		buf_adds(out, "#define _GNU_SOURCE\n");
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (strcmp(before, headers[i].text) && strstr(code, headers[i].word)) {
			buf_addf(out, "#include <%s>\n", headers[i].text);
			before = headers[i].text;
		}
	if (frame->headers)
		buf_addf(out, "\n%s", frame->headers);
	buf_addch(out, '\n');
}

void repro_begin_calls(const struct repro *r, struct buf *out)
{
	if (r->rooted)
		buf_adds(out, "	outside = open(\"/\", O_PATH | O_DIRECTORY | O_CLOEXEC);\n"
			      "	answer(chroot(\".\"));\n"
			      "	need(error == 0, \"chroot, which needs root,\");\n");
	if (r->needs[HELPER_complains])
		buf_adds(out, "	const char *log_before = kernel_log();\n\n");
	buf_adds(out, "	umask(022);\n\n");
}

void repro_begin_main(const struct repro *r, const struct finding *f, struct buf *out)
{
	buf_adds(out, "int main(int argc, char **argv)\n{\n"
		      "	if (argc < 2 || chdir(argv[1])) {\n"
		      "		fprintf(stderr, \"usage: %s DIRECTORY [REMOUNT-COMMAND]\\n\", "
		      "argv[0]);\n"
		      "		return 2;\n"
		      "	}\n");
	if (r->needs[HELPER_directory])
		buf_adds(out, "	directory = realpath(\".\", NULL);\n"
			      "	remount_command = argc > 2 ? argv[2] : NULL;\n");
	repro_begin_calls(r, out);
}

static void put_end(const struct repro *r, const struct finding *f, struct buf *out)
{
	if (r->needs[HELPER_unseen])
		buf_adds(out, "\n	if (unseen && !shown)\n		return 2;");
	buf_adds(out, "\n	puts(shown ? \"the bug shows\" : \"the bug does not show\");\n"
		      "	return shown;\n}\n");
}

static const struct repro_frame frame_alone = {
	.head = put_head,
	.begin = repro_begin_main,
	.end = put_end,
};

/* How many descriptors all processes have together. */
static unsigned descriptors(const struct finding *f)
{
	unsigned pids = 1;

	for (size_t i = 0; i < f->count; i++)
		pids = f->calls[i].pid > pids ? f->calls[i].pid : pids;
	return pids * FDS_PER_PROCESS;
}

static const char *helper_text(const struct repro_frame *frame, size_t i)
{
	static const char *const texts[HELPER_COUNT] = {
#define HELPER(name, text) text,
#include "finding/helpers.def"
#undef HELPER
	};

	return frame->texts[i] ? frame->texts[i] : texts[i];
}

/* A text mentions only what comes before it. */
static void close_needs(struct repro *r, const struct repro_frame *frame)
{
	r->needs[HELPER_shown] = true;
	if (r->rooted)
		r->needs[HELPER_outside] = r->needs[HELPER_need] = r->needs[HELPER_answer] = true;
	for (size_t i = HELPER_COUNT; i-- > 0;)
		if (r->needs[i])
			repro_mentions(r, helper_text(frame, i));
}

static void put_helpers(const struct repro *r, const struct finding *f,
			const struct repro_frame *frame, struct buf *out)
{
	for (size_t i = 0; i < HELPER_COUNT; i++) {
		if (!r->needs[i])
			continue;
		if (i == HELPER_BYTES)
			buf_addf(out, "enum { BYTES = %zu };\n", r->data_max);
		else if (i == HELPER_FDS)
			buf_addf(out, "enum { FDS = %u };\n", descriptors(f));
		else if (i == HELPER_WAIT_SECONDS)
			buf_addf(out, "enum { WAIT_SECONDS = %u };\n",
				 f->proof.wait_seconds ? f->proof.wait_seconds : WAIT_USUAL);
		else
			buf_addf(out, "%s\n", helper_text(frame, i));
	}
}

static void repro_write_body(const struct finding *f, const struct repro_frame *frame,
			     struct buf *body, struct repro *ret)
{
	*ret = (struct repro){ .out = body, .rooted = needs_root(f), .data_max = longest_data(f) };
	if (frame->body)
		frame->body(ret, f);
	else
		put_body(ret, f);
	close_needs(ret, frame);
}

void repro_survey(const struct finding *f, struct repro *ret)
{
	struct buf body = BUF_INIT;

	repro_write_body(f, &frame_alone, &body, ret);
	ret->out = NULL;
	buf_free(&body);
}

void repro_program(const struct finding *f, const struct repro_frame *frame, struct buf *out)
{
	struct buf body = BUF_INIT, code = BUF_INIT;
	struct repro r;

	repro_write_body(f, frame, &body, &r);
	put_helpers(&r, f, frame, &code);
	frame->begin(&r, f, &code);
	buf_add(&code, body.data, body.len);
	frame->end(&r, f, &code);
	frame->head(f, out);
	put_headers(buf_str(&code), frame, out);
	buf_add(out, code.data, code.len);
	buf_free(&body);
	buf_free(&code);
}

void finding_repro_c(const struct finding *f, struct buf *out)
{
	repro_program(f, &frame_alone, out);
}

/* ---- calls that a crash follows ---- */

static void put_crash_head(const struct finding *f, struct buf *out)
{
	buf_adds(out, "/* crash.c -- the calls before: ");
	repro_comment(buf_str(&f->discrepancy.title), COMMENT_MAX, out);
	buf_adds(out, "\n *\n * Run by crash.sh: its arguments are a directory of the file system "
		      "under test, a command\n * that remounts it, and one that kills its daemon. "
		      "Exit status 2: the calls went differently. */\n");
}

static void put_crash_end(const struct repro *r, const struct finding *f, struct buf *out)
{
	if (r->rooted)
		buf_adds(out, "\n	if (fchdir(outside) || chroot(\".\"))\n"
			      "		return 2;");
	buf_adds(out,
		 "\n	/* While files are open: closing one may make the daemon write. */\n"
		 "	return argc > 3 && !system(argv[3]) ? shown : 2;\n}\n");
}

static const struct repro_frame frame_crash = {
	.head = put_crash_head,
	.begin = repro_begin_main,
	.end = put_crash_end,
};

void finding_crash_c(const struct finding *f, struct buf *out)
{
	repro_program(f, &frame_crash, out);
}
