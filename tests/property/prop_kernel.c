/* prop_kernel.c -- the model is right about the kernel it runs on: whatever several processes of
 * several users do to a tmpfs and to an ext4, in whatever order, the model allows what came back
 * and has the same tree.
 *
 * Calls the model leaves undefined (they may wait, or reach devices) are not made. Seeds are
 * fixed; PROP_SEED, PROP_SEEDS and PROP_CALLS make a longer run of it, PROP_FS chooses the file
 * system and PROP_TRACE=1 prints every call.
 * time limit: 3600 s */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "exec/exec.h"
#include "model/model.h"
#include "op/kind.h"
#include "op/script.h"
#include "tests/harness/unit.h"
#include "tree/take.h"

enum { SEEDS = 12, CALLS = 1500, CALLS_PER_TREE = 25, TEXT_BYTES = 8192, TRIES = 50 };

/* Values to draw from. Lists name the common ones more than once. */
static const int64_t modes[] = { 0644, 0755, 0600, 0666,  0777,  0777,  0700,  0,     0444,
				 0311, 0750, 0070, 04755, 02755, 02745, 06777, 01777, 07777 };
static const int64_t node_modes[] = {
	S_IFREG | 0644, S_IFREG | 06777, S_IFIFO | 0666, S_IFSOCK | 0600, S_IFCHR | 0666,
	S_IFBLK | 0600, S_IFDIR | 0755,  0600,           S_IFLNK
};
static const int64_t devices[] = { 0, 0, 0x103, 0x7fff };
static const int64_t counts[] = { 0, 1, 2, 5, 7, 100, 511, 512, 4095, 4096, 4097, 8192, 20000 };
static const int64_t lengths[] = { 0, 1, 3, 100, 4095, 4096, 4096, 4097, 8192, 8192, 12288, 70000 };
static const int64_t offsets[] = { 0,    0,    0,    1,    2,    100,  511,
				   4095, 4096, 4096, 4097, 8192, 8192, 20000 };
static const int64_t whences[] = { SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 5, -1 };
static const int64_t falloc_modes[] = {
	0,
	0,
	FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_ZERO_RANGE,
	FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_COLLAPSE_RANGE,
	FALLOC_FL_COLLAPSE_RANGE,
	FALLOC_FL_INSERT_RANGE,
	FALLOC_FL_INSERT_RANGE,
	FALLOC_FL_UNSHARE_RANGE,
	FALLOC_FL_PUNCH_HOLE,
	FALLOC_FL_INSERT_RANGE | FALLOC_FL_KEEP_SIZE,
	0x80,
	0x100,
	FALLOC_FL_ZERO_RANGE | FALLOC_FL_COLLAPSE_RANGE,
};
static const int64_t rename_flags[] = { 0,
					0,
					RENAME_NOREPLACE,
					RENAME_EXCHANGE,
					RENAME_WHITEOUT,
					RENAME_NOREPLACE | RENAME_EXCHANGE,
					8 };
static const int64_t at_flags[] = { 0,
				    0,
				    0,
				    AT_SYMLINK_NOFOLLOW,
				    AT_SYMLINK_NOFOLLOW,
				    AT_EMPTY_PATH,
				    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				    AT_REMOVEDIR,
				    AT_SYMLINK_FOLLOW,
				    0x8000 };
static const int64_t access_flags[] = {
	0, 0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 0x8000
};
static const int64_t access_modes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
static const int64_t users[] = { -1, 0, 1000, 1001 };
static const int64_t groups[] = { -1, 0, 1000, 1001, 1002 };
static const int64_t xattr_flags[] = { 0, 0, 0, 1, 2, 3, 4 };
static const int64_t times[] = { TIME_NOW, TIME_NOW, TIME_OMIT,  TIME_OMIT,
				 0,        1,        1000000000, 1700000000123456789 };
static const int64_t statx_masks[] = { 0x7ff, 0xfff, 0xfff, 0, 1, 0x80000000 };
static const int64_t rwf_flags[] = { 0,          0,          0,    0,    RWF_DSYNC, RWF_SYNC,
				     RWF_APPEND, RWF_APPEND, 0x20, 0x20, 0x30,      0x400 };
static const int64_t copy_flags[] = { 0, 0, 0, 0, 0, 0, 0, 1 };
static const int64_t lock_ops[] = {
	LOCK_SH, LOCK_EX, LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN | LOCK_NB, 0, 3
};
static const int64_t inode_flags[] = { 0, 0, 0, 0, FS_IMMUTABLE_FL, FS_APPEND_FL };
static const int64_t resolves[] = { 0, 0, 1, 2, 4, 8, 16, 0x18, 0x100 };
static const int64_t extremes[] = { -1, -2, -4096, INT64_MIN, INT64_MAX, (int64_t)1 << 62 };
static const char *const names[] = { "a", "b", "c", "d", "e" };
static const char *const xattr_names[] = { "user.a",    "user.a",     "user.b",   "user.long",
					   "trusted.a", "security.a", "system.a", "user.",
					   "trusted.",  "none",       "none.a",   "" };

struct world {
	struct rng rng;
	struct model model;
	struct state state;
	struct exec_crew *crew;
	int root_fd;
	struct taker *taker;
	struct buf trace;
	enum op last;
	bool is_xfs;
	char texts[OP_ARGS_MAX][TEXT_BYTES];
	uint64_t calls, skipped, errors;
};

#define PICK(rng, list) ((list)[rng_below(rng, ARRAY_LEN(list))])

static int64_t some_fd(struct world *w, unsigned pid)
{
	const struct process *process = state_process(&w->state, pid);
	uint64_t fds[64], fd;
	size_t count = 0;

	for (bool first = true;
	     process && count < ARRAY_LEN(fds) && pmap_next(&process->fds, first, &fd);
	     first = false)
		fds[count++] = fd;
	if (!count || rng_chance(&w->rng, 1, 16))
		return rng_chance(&w->rng, 1, 3) ? -1 : 30 + (int64_t)rng_below(&w->rng, 10);
	return (int64_t)fds[rng_below(&w->rng, count)];
}

static int64_t some_open_flags(struct world *w)
{
	static const int64_t rare[] = { O_EXCL,      O_TRUNC,    O_APPEND,  O_NONBLOCK,
					O_DIRECTORY, O_NOFOLLOW, O_PATH,    O_TMPFILE,
					O_DIRECT,    O_SYNC,     O_NOATIME, O_CLOEXEC };
	int64_t flags = rng_chance(&w->rng, 1, 40) ? O_ACCMODE : (int64_t)rng_below(&w->rng, 3);

	if (flags == O_RDONLY)
		flags = OPEN_RDONLY;
	if (rng_chance(&w->rng, 1, 2))
		flags |= O_CREAT;
	for (size_t i = 0; i < ARRAY_LEN(rare); i++)
		if (rng_chance(&w->rng, 1, i < 3 ? 6 : 24))
			flags |= rare[i];
	return flags;
}

/* The path of something there, found by a random walk down. */
static const char *path_of_something(struct world *w, char *text)
{
	const struct entry *entry;
	uint64_t dir = TREE_ROOT;
	char *at = text;

	do {
		const struct inode *inode = tree_inode(&w->state.tree, dir);
		uint64_t cookie = 0, skip = rng_below(&w->rng, inode->dir.entries.count + 1);

		entry = NULL;
		for (uint64_t i = 0; i <= skip; i++)
			entry = tree_next_entry(&w->state.tree, dir, &cookie);
		if (!entry || at - text > 100)
			break;
		*at++ = '/';
		at = stpcpy(at, entry->name);
		dir = entry->ino;
	} while (S_ISDIR(tree_inode(&w->state.tree, dir)->mode) && rng_chance(&w->rng, 2, 3));
	return at == text ? "/" : text;
}

static const char *some_path(struct world *w, char *text)
{
	struct rng *rng = &w->rng;
	char *at = text;
	size_t depth = rng_chance(rng, 1, 2) ? 1 : 1 + rng_below(rng, 3);

	if (rng_chance(rng, 1, 100))
		return rng_chance(rng, 1, 3) ? NULL : "";
	if (rng_chance(rng, 1, 3))
		return path_of_something(w, text);
	if (rng_chance(rng, 1, 150)) {
		memset(text, 'n', 256);
		text[rng_chance(rng, 1, 2) ? 255 : 256] = '\0';
		return text;
	}
	if (rng_chance(rng, 1, 300)) {
		for (size_t i = 0; i < 4095; i += 2)
			memcpy(text + i, "./", 2);
		text[rng_chance(rng, 1, 2) ? 4095 : 4096] = '\0';
		return text;
	}
	if (rng_chance(rng, 1, 4))
		*at++ = '/';
	for (size_t i = 0; i < depth; i++) {
		const char *name = PICK(rng, names);

		if (rng_chance(rng, 1, 16))
			name = rng_chance(rng, 1, 2) ? "." : "..";
		at = stpcpy(at, name);
		*at++ = '/';
		if (rng_chance(rng, 1, 40))
			*at++ = '/';
	}
	if (!rng_chance(rng, 1, 12))
		at--;
	*at = '\0';
	return text;
}

static const char *some_xattr_name(struct world *w, char *text)
{
	if (rng_chance(&w->rng, 1, 40)) {
		memset(text, 'x', 256);
		memcpy(text, "user.", 5);
		text[rng_chance(&w->rng, 1, 2) ? 255 : 256] = '\0';
		return text;
	}
	return rng_chance(&w->rng, 1, 100) ? NULL : PICK(&w->rng, xattr_names);
}

/* Extreme numbers, where what would succeed with them does not take the whole machine. */
static int64_t some_extent(struct world *w, int64_t usual)
{
	return rng_chance(&w->rng, 1, 30) ? PICK(&w->rng, extremes) : usual;
}

static int64_t some_number(struct world *w, unsigned pid, enum kind kind)
{
	struct rng *rng = &w->rng;

	switch (kind) {
	case KIND_DIRFD:
		return rng_chance(rng, 1, 2) ? AT_FDCWD : some_fd(w, pid);
	case KIND_FD:
		return some_fd(w, pid);
	case KIND_DH:
		return 1 + (int64_t)rng_below(rng, rng_chance(rng, 1, 10) ? 30 : 2);
	case KIND_OPEN_FLAGS:
		return some_open_flags(w);
	case KIND_RESOLVE:
		return PICK(rng, resolves);
	case KIND_MODE:
		return PICK(rng, modes);
	case KIND_NODE_MODE:
		return PICK(rng, node_modes);
	case KIND_DEV:
		return PICK(rng, devices);
	case KIND_COUNT:
		return some_extent(w, PICK(rng, counts));
	case KIND_LENGTH:
		return some_extent(w, PICK(rng, lengths));
	case KIND_OFFSET:
		return some_extent(w, PICK(rng, offsets));
	case KIND_WHENCE:
		return PICK(rng, whences);
	case KIND_FALLOC_MODE:
		return PICK(rng, falloc_modes);
	case KIND_RENAME_FLAGS:
		return PICK(rng, rename_flags);
	case KIND_AT_FLAGS:
		return PICK(rng, at_flags);
	case KIND_ACCESS_FLAGS:
		return PICK(rng, access_flags);
	case KIND_ACCESS_MODE:
		return PICK(rng, access_modes);
	case KIND_UID:
		return PICK(rng, users);
	case KIND_GID:
		return PICK(rng, groups);
	case KIND_XATTR_FLAGS:
		return PICK(rng, xattr_flags);
	case KIND_TIME:
		return PICK(rng, times);
	case KIND_STATX_MASK:
		return PICK(rng, statx_masks);
	case KIND_RWF_FLAGS:
		return PICK(rng, rwf_flags);
	case KIND_COPY_FLAGS:
		return PICK(rng, copy_flags);
	case KIND_LOCK_OP:
		return PICK(rng, lock_ops);
	case KIND_INODE_FLAGS:
		return PICK(rng, inode_flags);
	default:
		return 0;
	}
}

static struct arg some_arg(struct world *w, unsigned pid, enum kind kind, char *text)
{
	struct arg arg = { 0 };

	switch (kind) {
	case KIND_PATH:
	case KIND_TARGET:
		arg.text = some_path(w, text);
		break;
	case KIND_XATTR_NAME:
		arg.text = some_xattr_name(w, text);
		break;
	case KIND_DATA:
	case KIND_XATTR_VALUE:
		return (struct arg){ .seed = rng_u64(&w->rng),
				     .len = (uint32_t)rng_below(&w->rng, 9000),
				     .generated = true };
	default:
		arg.num = some_number(w, pid, kind);
		return arg;
	}
	arg.len = arg.text ? (uint32_t)strlen(arg.text) : 0;
	return arg;
}

/* What a crew does not do, what would disturb others, and what a mapping of that size would not
 * survive. */
static bool is_out_of_reach(const struct call *c, bool is_xfs)
{
	if (op_table[c->op].traits & TRAIT_ENV || c->op == OP_sync)
		return true;
	/* On xfs the group of a whiteout is that of the wrong directory. */
	if (c->op == OP_renameat2 && c->renameat2.flags.num == RENAME_WHITEOUT && is_xfs)
		return true;
	return c->op == OP_mmap_write && c->mmap_write.count.num > 1 << 20;
}

static unsigned weight(enum op op)
{
	switch (op) {
	case OP_open:
	case OP_mkdir:
		return 8;
	case OP_close:
	case OP_unlink:
	case OP_rmdir:
	case OP_create_process:
	case OP_destroy_process:
	case OP_add_user_to_group:
	case OP_set_inode_flags:
		return 1;
	case OP_creat:
	case OP_write:
	case OP_pwrite:
	case OP_readdir:
		return 5;
	default:
		return 2;
	}
}

static struct call some_call(struct world *w)
{
	static unsigned weights[OP_COUNT];
	struct call c = { 0 };

	for (unsigned op = 0; op < OP_COUNT; op++)
		weights[op] = weight(op);
	c.op = (uint16_t)rng_weighted(&w->rng, weights, OP_COUNT);
	/* Root gets furthest. */
	c.pid = (uint16_t)(rng_chance(&w->rng, 1, 3) ? 1 : 1 + rng_below(&w->rng, 4));
	for (unsigned i = 0; i < op_table[c.op].args; i++)
		c.arg[i] = some_arg(w, c.pid, op_table[c.op].arg[i].kind, w->texts[i]);
	return c;
}

/* Gigabytes to move: out of a huge file, or into space there is not. */
static bool wants_too_much(struct world *w, const struct call *c)
{
	const int64_t most = 1 << 20;
	bool large = op_table[c->op].base == OP_fallocate || c->op == OP_pwritev2, much = false;

	for (unsigned i = 0; i < op_table[c->op].args; i++) {
		enum kind kind = op_table[c->op].arg[i].kind;
		const struct open_file *f =
			kind == KIND_FD ? state_file(&w->state, c->pid, c->arg[i].num) : NULL;

		large |= f && tree_inode(&w->state.tree, f->ino)->size > (uint64_t)most;
		much |= (kind == KIND_COUNT || kind == KIND_LENGTH) && c->arg[i].num > most;
	}
	return large && much;
}

static void note_call(struct world *w, const struct call *c, const struct outcome *o)
{
	call_print(c, DIALECT_NATIVE, &w->trace);
	buf_adds(&w->trace, " = ");
	outcome_print(o, c->op, DIALECT_NATIVE, &w->trace);
	buf_addch(&w->trace, '\n');
	if (getenv("PROP_TRACE"))
		fputs(w->trace.data, stderr), buf_clear(&w->trace);
}

static void print_last(const struct world *w)
{
	const char *at = buf_str(&w->trace) + w->trace.len;

	for (int lines = 0; at > w->trace.data && lines < 40; lines += *--at == '\n')
		;
	fprintf(stderr, "%s", at);
}

static void fail_at(struct world *w, const struct envelope *env, const char *what)
{
	struct buf value = BUF_INIT;

	print_last(w);
	fprintf(stderr, "# allowed:%s", env->success ? " success" : "");
	for (int error = 1; error < 192; error++)
		if (errset_has(&env->errors, error))
			fprintf(stderr, " %s", errno_name(error));
	fprintf(stderr, "; rules:");
	for (unsigned i = 0; i < env->rule_count; i++)
		fprintf(stderr, " %s", rule_table[env->rules[i]].name);
	if (env->success) {
		outcome_print(&env->value, w->last, DIALECT_NATIVE, &value);
		fprintf(stderr, "; value %s (from %lld, %zu bytes)", buf_str(&value),
			(long long)env->least_num, env->shortest_len);
	}
	fprintf(stderr, "\n");
	buf_free(&value);
	fail_msg("%s", what);
}

static void compare_trees(struct world *w)
{
	struct err err = { 0 };
	struct buf diff = BUF_INIT;
	struct tree seen;

	if (tree_take(w->taker, w->root_fd, &seen, &err))
		fail_msg("%s", err.text);
	if (tree_diff(&w->state.tree, &seen, 10, &diff)) {
		print_last(w);
		fprintf(stderr, "%s", diff.data);
		fail_msg("the trees differ");
	}
	buf_free(&diff);
	tree_free(&seen);
}

static void make_call(struct world *w, const struct call *c)
{
	struct outcome seen;
	struct envelope env;
	struct err err = { 0 };

	if (exec_crew_call(w->crew, c, &seen, &err)) {
		print_last(w);
		call_print(c, DIALECT_NATIVE, &w->trace);
		fail_msg("%s: %s", w->trace.data, err.text);
	}
	note_call(w, c, &seen);
	w->last = c->op;
	if (model_step(&w->model, &w->state, c, &seen, &env) != VERDICT_OK)
		fail_at(w, &env, "the model does not allow this");
	w->calls++;
	w->errors += seen.error != 0;
}

static bool is_sensible(struct world *w, const struct call *c)
{
	struct envelope env;

	if (is_out_of_reach(c, w->is_xfs) || wants_too_much(w, c))
		return false;
	/* Most processes live on, and the first one always. */
	if (c->op == OP_destroy_process && (c->pid == 1 || !rng_chance(&w->rng, 1, 8)))
		return false;
	if (!state_process(&w->state, c->pid) && c->op != OP_create_process)
		return false;
	model_allow(&w->model, &w->state, c, &env);
	return !env.undefined;
}

static void one_call(struct world *w)
{
	struct call c;

	for (int tries = 0; tries < TRIES; tries++) {
		c = some_call(w);
		if (is_sensible(w, &c)) {
			make_call(w, &c);
			return;
		}
		w->skipped++;
	}
}

static void create_processes(struct world *w)
{
	static const int64_t ids[] = { 1000, 1001, 1000 };
	struct call c = { .op = OP_create_process };

	for (unsigned i = 0; i < ARRAY_LEN(ids); i++) {
		c.pid = (uint16_t)(i + 2);
		c.create_process.uid.num = ids[i];
		c.create_process.gid.num = ids[i];
		make_call(w, &c);
	}
}

static int64_t setting(const char *name, int64_t usual)
{
	const char *text = getenv(name);

	return text ? strtoll(text, NULL, 0) : usual;
}

struct file_system {
	const char *name;
	const char *mkfs;          /* of an image "image" of 64 MiB; NULL: none needed */
	const char *options;       /* of mount(8) */
	const char *const *traits; /* name, value pairs */
	unsigned fields_less;      /* what its trees do not tell */
};

static unsigned fields_of(const struct file_system *fs)
{
	return (TREE_FIELDS_DEFAULT | TREE_FLAGS) & ~fs->fields_less;
}

static bool host_protects(const char *what)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	char path[64];
	bool on;

	snprintf(path, sizeof(path), "/proc/sys/fs/protected_%s", what);
	on = !buf_read_file(&text, path, 64, &err) && buf_str(&text)[0] != '0';
	buf_free(&text);
	return on;
}

static void run_seed(struct world *w, const struct file_system *fs, const char *dir, uint64_t seed,
		     struct taker *taker)
{
	const struct state_options options = {
		.fields = fields_of(fs),
		.hashed = true,
		.root_mode = 0777,
	};
	static const struct exec_options crew = { .deadline_seconds = 20 };
	struct err err = { 0 };
	char path[256];

	*w = (struct world){ .taker = taker, .is_xfs = !strcmp(fs->name, "xfs") };
	rng_seed(&w->rng, seed);
	model_init(&w->model, PLATFORM_LINUX, KERNEL_CURRENT);
	for (const char *const *trait = fs->traits; *trait; trait += 2)
		assert_int_equal(traits_set(&w->model.traits, trait[0], trait[1], &err), 0);
	w->model.traits.protected_hardlinks = host_protects("hardlinks");
	w->model.traits.protected_regular = host_protects("regular");
	w->model.traits.protected_fifos = host_protects("fifos");
	state_init(&w->state, &options);
	snprintf(path, sizeof(path), "%s/%llu", dir, (unsigned long long)seed);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	w->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (exec_crew_open(&w->crew, w->root_fd, &crew, &err))
		fail_msg("%s", err.text);
	create_processes(w);
	for (int64_t i = 0; i < setting("PROP_CALLS", CALLS); i++) {
		must_note("%s, seed %llu, call %lld", fs->name, (unsigned long long)seed,
			  (long long)i);
		one_call(w);
		if (i % CALLS_PER_TREE == 0)
			compare_trees(w);
	}
	compare_trees(w);
	exec_crew_close(w->crew);
	close(w->root_fd);
	state_free(&w->state);
	buf_free(&w->trace);
}

static void run_file_system(const struct file_system *fs, const char *dir)
{
	struct take_options options = { .fields = fields_of(fs) };
	static const char *const prefixes[] = { "user.", "trusted.", "security.", NULL };
	uint64_t calls = 0, errors = 0, skipped = 0;
	struct world *w = must_alloc(sizeof(*w));
	struct taker *taker;

	options.xattr_prefixes = prefixes;
	taker = taker_new(&options);
	for (int64_t i = 0; i < setting("PROP_SEEDS", SEEDS); i++) {
		int64_t seed = setting("PROP_SEED", 1) + i;

		print_message("# %s, seed %lld\n", fs->name, (long long)seed);
		run_seed(w, fs, dir, (uint64_t)seed, taker);
		calls += w->calls;
		errors += w->errors;
		skipped += w->skipped;
	}
	print_message("# %s: %llu calls, %llu of them errors; %llu passed over\n", fs->name,
		      (unsigned long long)calls, (unsigned long long)errors,
		      (unsigned long long)skipped);
	taker_free(taker);
	free(w);
}

/* In a mount namespace of our own, so that nothing stays behind whatever happens. */
static char work[] = "/tmp/assay-kernel-XXXXXX";

static bool mount_it(const struct file_system *fs)
{
	char command[512];

	if (!fs->mkfs)
		return !mount("none", work, fs->name, 0, fs->options);
	snprintf(command, sizeof(command),
		 "{ truncate -s 512M %s.image && %s %s.image && mount -t %s -o loop%s %s.image %s; "
		 "} "
		 ">/dev/null 2>&1",
		 work, fs->mkfs, work, fs->name, fs->options, work, work);
	return !system(command);
}

static void judge_file_system(const struct file_system *fs)
{
	const char *only = getenv("PROP_FS");
	char image[64];

	if (only && strcmp(only, fs->name))
		skip();
	if (!mount_it(fs)) {
		print_message("# %s cannot be mounted here\n", fs->name);
		skip();
	}
	snprintf(image, sizeof(image), "%s.image", work);
	unlink(image);
	run_file_system(fs, work);
	assert_int_equal(umount(work), 0);
}

static void tmpfs(void **state)
{
	static const char *const traits[] = {
		"no_zero_range", "yes", "no_collapse_range", "yes", "no_insert_range", "yes", NULL
	};
	static const struct file_system fs = { "tmpfs", NULL, "size=512m", traits, 0 };

	judge_file_system(&fs);
}

static void ext4(void **state)
{
	static const char *const traits[] = { "file_size_max",
					      "17592186040320",
					      "fallocate_drops_early",
					      "yes",
					      "xattr_space",
					      "3800",
					      NULL };
	static const struct file_system fs = { "ext4", "mkfs.ext4 -q", "", traits, 0 };

	judge_file_system(&fs);
}

static void xfs(void **state)
{
	static const char *const traits[] = { "fallocate_drops_early", "yes", "no_reflink", "no",
					      "no_unshare_range",      "no",  NULL };
	static const struct file_system fs = { "xfs", "mkfs.xfs -q", "", traits, 0 };

	judge_file_system(&fs);
}

static void btrfs(void **state)
{
	static const char *const traits[] = { "no_collapse_range",
					      "yes",
					      "no_insert_range",
					      "yes",
					      "no_reflink",
					      "no",
					      "xattr_space",
					      "3800",
					      "no_dir_nlink",
					      "yes",
					      "lists_trusted",
					      "yes",
					      "seek_negative",
					      "yes",
					      NULL };
	static const struct file_system fs = { "btrfs", "mkfs.btrfs -q", "", traits,
					       TREE_NLINK_DIR };

	judge_file_system(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tmpfs),
		cmocka_unit_test(ext4),
		cmocka_unit_test(xfs),
		cmocka_unit_test(btrfs),
	};
	int failed;

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		puts("1..0 # SKIP file systems of its own need root");
		return 0;
	}
	if (!mkdtemp(work))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	umount2(work, MNT_DETACH);
	rmdir(work);
	return failed;
}
