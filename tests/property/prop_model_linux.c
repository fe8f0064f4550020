/* prop_model_linux.c -- the model answers like the Linux it runs on: random calls of three users,
 * made on a fresh tmpfs and in the model, come out the same, and so do the trees.
 *
 * ASSAY_SEED=N and ASSAY_CALLS=N choose another run; ASSAY_FIRST=1 also complains where an
 * outcome is allowed but not the one that Linux's order of checks gives in the model. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "exec/exec.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "tree/take.h"

enum {
	EPISODE = 60,
	CALLS = 12000,
	TREE_EVERY = 5,
	USERS = 3,
	LONG_NAME = 300,
	READ_ONLY_ODDS = 5
};

static char root[] = "/tmp/assay-model-XXXXXX";
static char long_name[LONG_NAME + 1];

static const char *const texts[] = {
	"a",   "b",     "c",     "a",     "b",       "a/b",     "a/c",       "b/a",
	"b/c", "a/b/c", "a/",    "b/",    "c/",      "a/b/",    "/a",        "/b/",
	".",   "..",    "/",     "a/.",   "a/..",    "b/..",    "../a",      "a/b/../c",
	"",    "./b",   "a//b",  "a/b/.", "s",       "s/",      "s/a",       "t",
	"t/",  "t/b",   "/../a", "a/./c", long_name, "a/b/c/a", "missing/x", NULL,
};

static const char *const targets[] = { "a",  "b",       "/a", "../b", "s", "t",
				       "a/", "missing", ".",  "/",    "",  NULL };

static const int64_t open_flags[] = {
	O_CREAT,  O_CREAT | O_EXCL, O_EXCL,    O_TRUNC,   O_DIRECTORY, O_NOFOLLOW,
	O_APPEND, O_PATH,           O_TMPFILE, O_NOATIME, O_NONBLOCK,
};

static const int64_t modes[] = { 0777,  0755,  0644, 0600,  0,    01777,
				 02775, 02777, 0711, 06755, 0222, 0555 };

static const enum op operations[] = {
	OP_open,       OP_open,     OP_openat,     OP_openat2,         OP_creat,
	OP_open_close, OP_close,    OP_close,      OP_mkdir,           OP_mkdir,
	OP_mkdirat,    OP_rmdir,    OP_rmdir,      OP_unlink,          OP_unlink,
	OP_unlinkat,   OP_rename,   OP_rename,     OP_renameat,        OP_renameat2,
	OP_link,       OP_link,     OP_linkat,     OP_symlink,         OP_symlink,
	OP_symlinkat,  OP_readlink, OP_readlinkat, OP_mknod,           OP_mknodat,
	OP_chmod,      OP_chmod,    OP_chown,      OP_chdir,           OP_fchdir,
	OP_umask,      OP_stat,     OP_lstat,      OP_set_inode_flags,
};

static struct arg text_arg(struct rng *rng, const char *const *pool)
{
	size_t count = 0;
	struct arg arg;

	while (pool[count])
		count++;
	arg = (struct arg){ .text = pool[rng_below(rng, count)] };
	arg.len = (uint32_t)strlen(arg.text);
	return arg;
}

static int64_t one_of(struct rng *rng, const int64_t *values, size_t count)
{
	return values[rng_below(rng, count)];
}

static int64_t some_flags(struct rng *rng)
{
	int64_t flags = rng_chance(rng, 1, 30) ? 3 : (int64_t)rng_below(rng, 3);

	for (uint64_t n = rng_below(rng, 4); n; n--)
		flags |= one_of(rng, open_flags, ARRAY_LEN(open_flags));
	/* A fifo without it may wait forever. */
	return flags | O_NONBLOCK;
}

static int64_t some_number(struct rng *rng, enum kind kind)
{
	static const int64_t resolves[] = { 0,
					    0,
					    RESOLVE_BENEATH,
					    RESOLVE_IN_ROOT,
					    RESOLVE_NO_SYMLINKS,
					    RESOLVE_BENEATH | RESOLVE_IN_ROOT,
					    1 << 20 };
	static const int64_t renames[] = { 0,
					   RENAME_NOREPLACE,
					   RENAME_EXCHANGE,
					   RENAME_WHITEOUT,
					   RENAME_EXCHANGE | RENAME_NOREPLACE,
					   RENAME_NOREPLACE | RENAME_WHITEOUT,
					   64 };
	static const int64_t ats[] = { 0,
				       0,
				       AT_REMOVEDIR,
				       AT_SYMLINK_FOLLOW,
				       AT_EMPTY_PATH,
				       AT_EMPTY_PATH | AT_SYMLINK_FOLLOW,
				       AT_SYMLINK_NOFOLLOW };
	static const int64_t types[] = { 0,       S_IFREG, S_IFIFO, S_IFSOCK,
					 S_IFCHR, S_IFDIR, S_IFLNK, 0170000 };
	static const int64_t inode_flags[] = { 0, 0, 0, 0, FS_IMMUTABLE_FL, FS_APPEND_FL };

	switch (kind) {
	case KIND_DIRFD:
		return rng_chance(rng, 1, 2) ? AT_FDCWD : 3 + (int64_t)rng_below(rng, 4);
	case KIND_FD:
		return 3 + (int64_t)rng_below(rng, 4);
	case KIND_OPEN_FLAGS:
		return some_flags(rng);
	case KIND_RESOLVE:
		return one_of(rng, resolves, ARRAY_LEN(resolves));
	case KIND_RENAME_FLAGS:
		return one_of(rng, renames, ARRAY_LEN(renames));
	case KIND_AT_FLAGS:
		return one_of(rng, ats, ARRAY_LEN(ats));
	case KIND_MODE:
		return one_of(rng, modes, ARRAY_LEN(modes));
	case KIND_NODE_MODE:
		return one_of(rng, types, ARRAY_LEN(types)) | one_of(rng, modes, ARRAY_LEN(modes));
	case KIND_INODE_FLAGS:
		return one_of(rng, inode_flags, ARRAY_LEN(inode_flags));
	case KIND_UID:
	case KIND_GID:
		return (int64_t)rng_below(rng, USERS + 1) - 1;
	default:
		return 0;
	}
}

static struct call some_call(struct rng *rng)
{
	struct call c = { .op = (uint16_t)operations[rng_below(rng, ARRAY_LEN(operations))] };
	const struct op_info *info = &op_table[c.op];

	c.pid = (uint16_t)(rng_chance(rng, 1, 2) ? 1 : 1 + rng_below(rng, USERS));
	for (unsigned i = 0; i < info->args; i++) {
		enum kind kind = info->arg[i].kind;

		c.arg[i] = kind == KIND_PATH   ? text_arg(rng, texts)
			 : kind == KIND_TARGET ? text_arg(rng, targets)
					       : (struct arg){ .num = some_number(rng, kind) };
	}
	if (c.op == OP_openat2 && !(c.openat2.flags.num & (O_CREAT | O_TMPFILE)) &&
	    rng_chance(rng, 7, 8))
		c.openat2.mode.num = 0;
	return c;
}

struct world {
	struct model model;
	struct state state;
	struct exec_crew *crew;
	struct taker *taker;
	struct buf history;
	int root_fd;
	bool first;
	unsigned mismatches;
};

static void complain(struct world *w, const char *what, const struct envelope *env,
		     const struct call *c, const char *more)
{
	struct buf allowed = BUF_INIT;

	if (env)
		envelope_print(env, c->op, DIALECT_NATIVE, &allowed);
	fprintf(stderr, "%s# %s; the model says %s %s\n\n", buf_str(&w->history), what,
		buf_str(&allowed), more);
	w->mismatches++;
	buf_free(&allowed);
}

static bool check_tree(struct world *w)
{
	struct err err = { 0 };
	struct buf text = BUF_INIT;
	struct tree seen;
	bool same;

	must(!tree_take(w->taker, w->root_fd, &seen, &err));
	same = hash_equal(tree_hash(&seen), tree_hash(&w->state.tree));
	if (!same) {
		tree_diff(&w->state.tree, &seen, 10, &text);
		complain(w, "another tree", NULL, NULL, buf_str(&text));
	}
	tree_free(&seen);
	buf_free(&text);
	return same;
}

/* False where the two no longer agree about the state. */
static bool make_call(struct world *w, const struct call *c)
{
	struct envelope before, env;
	struct outcome seen;
	struct err err = { 0 };
	enum verdict verdict;
	int ret;

	model_allow(&w->model, &w->state, c, &before);
	if (before.undefined)
		return true;
	ret = exec_crew_call(w->crew, c, &seen, &err);
	if (ret) {
		fprintf(stderr, "%s# %s\n\n", buf_str(&w->history), err.text);
		w->mismatches++;
		return false;
	}
	call_print(c, DIALECT_NATIVE, &w->history);
	buf_adds(&w->history, " = ");
	outcome_print(&seen, c->op, DIALECT_NATIVE, &w->history);
	buf_addch(&w->history, '\n');
	verdict = model_step(&w->model, &w->state, c, &seen, &env);
	if (verdict == VERDICT_BAD)
		complain(w, "not allowed", &before, c, "");
	else if (w->first && (before.first != seen.error))
		complain(w, "not the first", &before, c, "");
	return verdict == VERDICT_OK;
}

/* What most episodes begin with, so that calls find something. */
static const char beginning[] = "mkdir(\"a\", 0777)\n"
				"[2] mkdir(\"b\", 0777)\n"
				"mkdir(\"a/b\", 0777)\n"
				"[3] open_close(\"a/c\", O_CREAT|O_WRONLY, 0666)\n"
				"open_close(\"c\", O_CREAT|O_WRONLY, 0666)\n"
				"[2] symlink(\"a\", \"s\")\n"
				"symlink(\"c\", \"t\")\n"
				"open(\"a\", O_RDONLY, 0)\n"
				"[2] open(\"b\", O_RDONLY, 0)\n"
				"[3] open(\"a/c\", O_RDWR, 0)\n";

static bool make_all(struct world *w, const char *text)
{
	struct script script = { 0 };
	struct err err = { 0 };
	bool made = true;

	must(!script_parse(&script, "beginning", text, strlen(text), &err));
	for (size_t i = 0; i < script.count && made; i++)
		if (script.items[i].type == ITEM_CALL)
			made = make_call(w, &script.items[i].call);
	script_free(&script);
	return made;
}

static void set_up_users(struct world *w)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = true,
					 .root_mode = 0777 };
	struct outcome seen;
	struct err err = { 0 };

	state_init(&w->state, &options);
	for (unsigned user = 1; user < USERS; user++) {
		struct call c = { .op = OP_create_process, .pid = (uint16_t)(user + 1) };

		c.create_process.uid.num = c.create_process.gid.num = user;
		must(!exec_crew_call(w->crew, &c, &seen, &err) && !seen.error);
		model_run(&w->model, &w->state, &c, &seen);
	}
}

static bool mount_fresh(struct world *w)
{
	if (mount("assay", root, "tmpfs", 0, "mode=0777,size=16m"))
		return false;
	w->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return w->root_fd >= 0;
}

/* Half-way some episodes go on read-only, unless a file is open for writing. */
static void go_read_only(struct world *w)
{
	if (mount(NULL, root, NULL, MS_REMOUNT | MS_RDONLY, NULL))
		return;
	w->state.read_only = true;
	buf_adds(&w->history, "# from here on read-only\n");
}

static void run_episode(struct world *w, struct rng *rng)
{
	struct exec_options options = { .deadline_seconds = 20 };
	struct err err = { 0 };

	must(mount_fresh(w));
	must(!exec_crew_open(&w->crew, w->root_fd, &options, &err));
	set_up_users(w);
	must(make_all(w, rng_chance(rng, 9, 10) ? beginning : ""));
	for (unsigned i = 0; i < EPISODE; i++) {
		struct call c = some_call(rng);

		if (i == EPISODE / 2 && rng_chance(rng, 1, READ_ONLY_ODDS))
			go_read_only(w);
		if (!make_call(w, &c) || (i % TREE_EVERY == 0 && !check_tree(w)))
			break;
	}
	exec_crew_close(w->crew);
	state_free(&w->state);
	close(w->root_fd);
	must(!umount2(root, MNT_DETACH));
	buf_clear(&w->history);
}

static unsigned long setting(const char *name, unsigned long usual)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : usual;
}

static unsigned this_kernel(void)
{
	struct utsname name;
	unsigned major = 0, minor = 0;

	uname(&name);
	return sscanf(name.release, "%u.%u", &major, &minor) == 2 ? 100 * major + minor
								  : KERNEL_CURRENT;
}

static void answers_like_linux(void **state)
{
	struct take_options options = { .fields = TREE_FIELDS_DEFAULT,
					.objects_max = 10000,
					.bytes_max = 1 << 20 };
	struct world w = { .taker = taker_new(&options), .first = setting("ASSAY_FIRST", 0) };
	unsigned long calls = setting("ASSAY_CALLS", CALLS);
	struct rng rng;

	memset(long_name, 'n', LONG_NAME);
	model_init(&w.model, PLATFORM_LINUX, this_kernel());
	rng_seed(&rng, setting("ASSAY_SEED", 1));
	for (unsigned long i = 0; i < calls && w.mismatches < 10; i += EPISODE)
		run_episode(&w, &rng);
	taker_free(w.taker);
	buf_free(&w.history);
	assert_int_equal(w.mismatches, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers_like_linux) };
	int ret;

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("1..0 # SKIP needs root and a mount namespace\n");
		return 0;
	}
	must(mkdtemp(root));
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(root);
	return ret;
}
