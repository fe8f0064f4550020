/* prop_kernel.c -- the model is right about the kernel it runs on: whatever several processes of
 * several users do to a tmpfs and to an ext4, in whatever order, the model allows what came back
 * and has the same tree.
 *
 * Calls the model leaves undefined (they may wait, or reach devices) are not made. Seeds are
 * fixed; PROP_SEED, PROP_SEEDS and PROP_CALLS make a longer run of it, PROP_FS chooses the file
 * system, PROP_TRACE=1 prints every call and PROP_RULES=1 what was never met.
 *
 * RefFS is saved and restored in between, with descriptors and working directories inside.
 * time limit: 3600 s */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "model/model.h"
#include "reffs/reffs.h"
#include "sandbox/crew.h"
#include "target/sysctls.h"
#include "tests/harness/unit.h"
#include "tests/property/checkpoints.h"
#include "tests/property/some_calls.h"
#include "trace/script.h"
#include "tree/scan.h"

enum { SEEDS = 8, CALLS = 1500, CALLS_READ_ONLY = 300, CALLS_PER_TREE = 25, TRIES = 50 };
enum { CALLS_PER_SAVE = 20 };
enum { PROCESSES_MAX = 16, KEYS = 3 };

/* Over all seeds of a file system. */
struct tally {
	uint64_t calls, skipped, errors;
	uint64_t successes[OP_COUNT], hits[RULE_COUNT];
};

struct world {
	struct draw draw;
	struct model model;
	struct state state;
	struct crew *crew;
	int root_fd;
	struct scanner *taker;
	struct buf trace;
	enum op last;
	bool is_xfs, is_btrfs, is_fuse;
	struct state kept[KEYS]; /* RefFS: its checkpoints */
	bool is_kept[KEYS];
	struct tally *tally;
};

/* Asked for less than everything, the kernel does not ask the daemon for the rest. */
static bool asks_for_part(const struct call *c)
{
	return c->op == OP_statx && ((c->statx.mask.num & STATX_BASIC_STATS) != STATX_BASIC_STATS ||
				     c->statx.flags.num & AT_STATX_DONT_SYNC);
}

/* The kernel does not learn of the flags of a FUSE inode, so that errors come in another order;
 * and it passes on no change of owner that changes neither. */
static bool is_lost_in_fuse(const struct call *c)
{
	const struct op_info *op = &op_table[c->op];
	bool changes = op->base != OP_chown;

	for (unsigned i = 0; i < op->args; i++)
		changes |= (op->arg[i].kind == KIND_UID || op->arg[i].kind == KIND_GID) &&
			   c->arg[i].num != -1;
	return c->op == OP_set_inode_flags || !changes || asks_for_part(c);
}

/* What a crew does not do, what would disturb others, and what a mapping of that size would not
 * survive. */
static bool is_out_of_reach(const struct world *w, const struct call *c)
{
	if (op_table[c->op].traits & TRAIT_ENV || c->op == OP_sync)
		return true;
	/* On xfs the group of a whiteout is that of the wrong directory. */
	if (c->op == OP_renameat2 && c->renameat2.flags.num == RENAME_WHITEOUT && w->is_xfs)
		return true;
	/* On btrfs, punching where there is a hole already leaves setuid; where, only it knows. */
	if (w->is_btrfs && op_table[c->op].base == OP_fallocate && c->pid != 1)
		return true;
	if (w->is_fuse && is_lost_in_fuse(c))
		return true;
	return c->op == OP_mmap_write && c->mmap_write.count.num > 1 << 20;
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

	if (tree_scan(w->taker, w->root_fd, &seen, &err))
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

	if (crew_call(w->crew, c, &seen, &err)) {
		call_print(c, DIALECT_NATIVE, &w->trace);
		buf_addch(&w->trace, '\n');
		print_last(w);
		fail_msg("%s", err.text);
	}
	note_call(w, c, &seen);
	w->last = c->op;
	if (model_step(&w->model, &w->state, c, &seen, &env) != VERDICT_OK)
		fail_at(w, &env, "the model does not allow this");
	w->tally->calls++;
	w->tally->errors += seen.error != 0;
	w->tally->successes[c->op] += !seen.error;
}

static bool is_sensible(struct world *w, const struct call *c)
{
	struct envelope env;

	if (is_out_of_reach(w, c) || wants_too_much(&w->draw, c))
		return false;
	/* Most processes live on, and the first one always. */
	if (c->op == OP_destroy_process && (c->pid == 1 || !rng_chance(&w->draw.rng, 1, 8)))
		return false;
	if (!state_process(&w->state, c->pid) && c->op != OP_create_process)
		return false;
	/* Asking is not exercising. */
	w->model.rule_hits = NULL;
	model_allow(&w->model, &w->state, c, &env);
	w->model.rule_hits = w->tally->hits;
	return !env.undefined;
}

static void one_call(struct world *w)
{
	struct call c;

	for (int tries = 0; tries < TRIES; tries++) {
		c = some_call(&w->draw);
		if (is_sensible(w, &c)) {
			make_call(w, &c);
			return;
		}
		w->tally->skipped++;
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

/* ---- checkpoints of RefFS ---- */

static void checkpoint(struct world *w, unsigned long request, unsigned key)
{
	struct reffs_key k = { .key = key };

	buf_addf(&w->trace, "# %s %u\n", request == REFFS_SAVE ? "save" : "restore", key);
	if (ioctl(w->root_fd, request, &k))
		fail_msg("checkpoint: %s", strerror(errno));
}

static void save(struct world *w, unsigned key)
{
	checkpoint(w, REFFS_SAVE, key);
	if (w->is_kept[key])
		state_free(&w->kept[key]);
	w->kept[key] = state_copy(&w->state);
	w->is_kept[key] = true;
}

/* Streams are in the middle of directories that change under them. */
static void close_streams(struct world *w, uint16_t pid)
{
	struct call c = { .op = OP_closedir, .pid = pid };
	uint64_t handle;

	while (pmap_next(&state_process(&w->state, pid)->streams, true, &handle)) {
		c.closedir.dh.num = (int64_t)handle;
		make_call(w, &c);
	}
}

/* A mapping keeps its file open. */
static void end_mappings(struct world *w, uint16_t pid)
{
	struct call c = { .op = OP_munmap, .pid = pid };
	uint64_t handle;

	while (pmap_next(&state_process(&w->state, pid)->maps, true, &handle)) {
		c.munmap.map.num = (int64_t)handle;
		make_call(w, &c);
	}
}

/* The descriptor of an object that is no more says so, and can be closed. */
static void close_lost(struct world *w, uint16_t pid, const struct state *then)
{
	struct call stat = { .op = OP_fstat, .pid = pid }, close = { .op = OP_close, .pid = pid };
	struct outcome seen;
	struct err err = { 0 };
	uint64_t fd = 0;

	for (bool first = true; pmap_next(&state_process(&w->state, pid)->fds, first, &fd);
	     first = false) {
		uint64_t ino = state_file(&w->state, pid, (int64_t)fd)->ino;

		if (!is_lost(&w->state, then, ino))
			continue;
		stat.fstat.fd.num = close.close.fd.num = (int64_t)fd;
		assert_int_equal(crew_call(w->crew, &stat, &seen, &err), 0);
		if (!tree_inode(&then->tree, ino) && seen.error != ESTALE)
			fail_msg("a lost object answers %s", errno_name(seen.error));
		make_call(w, &close);
	}
}

static void look_at_descriptors(struct world *w, uint16_t pid)
{
	struct call c = { .op = OP_fstat, .pid = pid };
	uint64_t fd = 0;

	for (bool first = true; pmap_next(&state_process(&w->state, pid)->fds, first, &fd);
	     first = false) {
		c.fstat.fd.num = (int64_t)fd;
		make_call(w, &c);
	}
}

/* Out of a working directory that will be no more; a process that may go nowhere else ends. */
static void leave_lost(struct world *w, uint16_t pid, const struct state *then)
{
	struct call chdir = { .op = OP_chdir, .pid = pid, .chdir.path = { .text = "/", .len = 1 } };
	struct call destroy = { .op = OP_destroy_process, .pid = pid };

	if (is_lost(&w->state, then, state_process(&w->state, pid)->cwd))
		make_call(w, &chdir);
	if (is_lost(&w->state, then, state_process(&w->state, pid)->cwd))
		make_call(w, &destroy);
}

static void restore(struct world *w, unsigned key)
{
	const struct state *then = &w->kept[key];
	uint16_t pid;

	for (pid = 1; pid < PROCESSES_MAX; pid++) {
		if (!state_process(&w->state, pid))
			continue;
		close_streams(w, pid);
		end_mappings(w, pid);
		leave_lost(w, pid, then);
	}
	checkpoint(w, REFFS_RESTORE, key);
	for (pid = 1; pid < PROCESSES_MAX; pid++)
		if (state_process(&w->state, pid))
			close_lost(w, pid, then);
	restore_tree(&w->state, then);
	for (pid = 1; pid < PROCESSES_MAX; pid++)
		if (state_process(&w->state, pid))
			look_at_descriptors(w, pid);
	compare_trees(w);
}

static void maybe_checkpoint(struct world *w)
{
	unsigned key = (unsigned)rng_below(&w->draw.rng, KEYS);

	if (rng_chance(&w->draw.rng, 1, CALLS_PER_SAVE))
		save(w, key);
	else if (w->is_kept[key] && rng_chance(&w->draw.rng, 1, CALLS_PER_SAVE))
		restore(w, key);
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

/* Nothing open for writing, so that the file system can be made read-only. */
static void let_go(struct world *w)
{
	struct call close = { .op = OP_close, .pid = 1 },
		    closedir = { .op = OP_closedir, .pid = 1 };
	struct call chdir = { .op = OP_chdir, .pid = 1, .chdir.path = { .text = "/", .len = 1 } };
	struct call destroy = { .op = OP_destroy_process };
	uint64_t key;

	for (destroy.pid = 2; destroy.pid < PROCESSES_MAX; destroy.pid++)
		if (state_process(&w->state, destroy.pid))
			make_call(w, &destroy);
	while (pmap_next(&state_process(&w->state, 1)->fds, true, &key)) {
		close.close.fd.num = (int64_t)key;
		make_call(w, &close);
	}
	while (pmap_next(&state_process(&w->state, 1)->streams, true, &key)) {
		closedir.closedir.dh.num = (int64_t)key;
		make_call(w, &closedir);
	}
	end_mappings(w, 1);
	make_call(w, &chdir);
}

/* A file system may be busy for a while with what was removed. */
static void make_read_only(struct world *w, const char *dir)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	for (int tries = 0; mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL); tries++) {
		if (errno != EBUSY || tries == 500)
			fail_msg("read-only: %s", strerror(errno));
		syncfs(w->root_fd);
		nanosleep(&pause, NULL);
	}
}

/* More calls while nothing may change. */
static void run_read_only(struct world *w, const char *dir)
{
	let_go(w);
	make_read_only(w, dir);
	buf_adds(&w->trace, "# from here on read-only\n");
	w->state.read_only = true;
	create_processes(w);
	for (int i = 0; i < CALLS_READ_ONLY; i++)
		one_call(w);
	compare_trees(w);
	assert_int_equal(mount(NULL, dir, NULL, MS_REMOUNT, NULL), 0);
}

static void run_seed(struct world *w, const struct file_system *fs, const char *dir, uint64_t seed)
{
	const struct state_options options = {
		.fields = fields_of(fs),
		.hashed = true,
		.root_mode = 0777,
	};
	static const struct crew_options crew = { .deadline_seconds = 20, .handles = true };
	struct err err = { 0 };
	char path[256];

	w->is_xfs = !strcmp(fs->name, "xfs");
	w->is_btrfs = !strcmp(fs->name, "btrfs");
	w->is_fuse = !strcmp(fs->name, "reffs");
	w->draw.state = &w->state;
	rng_seed(&w->draw.rng, seed);
	model_init(&w->model, PLATFORM_LINUX, version_running());
	for (const char *const *trait = fs->traits; *trait; trait += 2)
		assert_int_equal(traits_set(&w->model.traits, trait[0], trait[1], &err), 0);
	sysctls_read(&w->model.traits);
	state_init(&w->state, &options);
	snprintf(path, sizeof(path), "%s/%llu", dir, (unsigned long long)seed);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	w->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (crew_open(&w->crew, w->root_fd, &crew, &err))
		fail_msg("%s", err.text);
	create_processes(w);
	for (int64_t i = 0; i < setting("PROP_CALLS", CALLS); i++) {
		must_note("%s, seed %llu, call %lld", fs->name, (unsigned long long)seed,
			  (long long)i);
		one_call(w);
		if (w->is_fuse)
			maybe_checkpoint(w);
		if (i % setting("PROP_EVERY", CALLS_PER_TREE) == 0)
			compare_trees(w);
	}
	compare_trees(w);
	if (!w->is_fuse) /* which cannot be remounted like this */
		run_read_only(w, dir);
	crew_close(w->crew);
	close(w->root_fd);
	for (unsigned key = 0; key < KEYS; key++)
		if (w->is_kept[key])
			state_free(&w->kept[key]);
	state_free(&w->state);
	buf_free(&w->trace);
}

static void print_tally(const struct tally *t, const char *name)
{
	struct model m;

	print_message("# %s: %llu calls, %llu of them errors; %llu passed over\n", name,
		      (unsigned long long)t->calls, (unsigned long long)t->errors,
		      (unsigned long long)t->skipped);
	if (!getenv("PROP_RULES"))
		return;
	model_init(&m, PLATFORM_LINUX, version_running());
	for (int rule = 0; rule < RULE_COUNT; rule++)
		if (!t->hits[rule] && rule_applies(&m, (enum rule)rule))
			print_message("# %s: %s was never met\n", name, rule_table[rule].name);
	for (int op = 0; op < OP_COUNT; op++)
		print_message("# %s: %s succeeded %llu times\n", name, op_table[op].name,
			      (unsigned long long)t->successes[op]);
}

static void run_file_system(const struct file_system *fs, const char *dir)
{
	struct scan_options options = { .fields = fields_of(fs) };
	static const char *const prefixes[] = { "user.", "trusted.", "security.",
						"system.posix_acl_", NULL };
	struct tally *tally = must_alloc(sizeof(*tally));
	struct world *w = must_alloc(sizeof(*w));
	struct scanner *taker;

	options.xattr_prefixes = prefixes;
	taker = scanner_new(&options);
	for (int64_t i = 0; i < setting("PROP_SEEDS", SEEDS); i++) {
		int64_t seed = setting("PROP_SEED", 1) + i;

		print_message("# %s, seed %lld\n", fs->name, (long long)seed);
		*w = (struct world){ .taker = taker, .tally = tally };
		run_seed(w, fs, dir, (uint64_t)seed);
	}
	print_tally(tally, fs->name);
	scanner_free(taker);
	free(tally);
	free(w);
}

/* In a mount namespace of our own, so that nothing stays behind whatever happens. */
static char work[] = "/tmp/assay-kernel-XXXXXX";

static bool mount_it(const struct file_system *fs)
{
	const char *assay = getenv("ASSAY");
	char command[512];

	if (!fs->mkfs && !strcmp(fs->name, "reffs")) {
		snprintf(command, sizeof(command), "%s reffs %s %s 2>/dev/null",
			 assay ? assay : "build/assay", work, fs->options);
		return !system(command);
	}
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
	static const char *const traits[] = { "no_zero_range",
					      "yes",
					      "no_collapse_range",
					      "yes",
					      "no_insert_range",
					      "yes",
					      "map_tail_kept",
					      "yes",
					      "no_acl",
					      "no",
					      "no_handles",
					      "no",
					      "acl_removal_drops_setgid",
					      "yes",
					      NULL };
	static const struct file_system fs = { "tmpfs", NULL, "size=512m", traits, 0 };

	judge_file_system(&fs);
}

/* The model behind a mount of its own: what FUSE makes of it in between is judged. Permissions
 * are the kernel's; without them FUSE asks too late for errors in the right order. */
static void reffs(void **state)
{
	static const char *const traits[] = { "no_collapse_range", "yes", "no_insert_range", "yes",
					      NULL };
	static const struct file_system fs = { "reffs", NULL, "--allow-other", traits, 0 };

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
					      "no_acl",
					      "no",
					      "no_handles",
					      "no",
					      NULL };
	static const struct file_system fs = { "ext4", "mkfs.ext4 -q", "", traits, 0 };

	judge_file_system(&fs);
}

static void xfs(void **state)
{
	static const char *const traits[] = {
		"fallocate_drops_early",     "yes", "no_reflink", "no", "no_unshare_range", "no",
		"truncate_empty_keeps_bits", "yes", "no_acl",     "no", "no_handles",       "no",
		"lists_acl_twice",           "yes", NULL
	};
	static const struct file_system fs = { "xfs", "mkfs.xfs -q", "", traits, 0 };

	judge_file_system(&fs);
}

static void btrfs(void **state)
{
	static const char *const traits[] = { "no_collapse_range",
					      "yes",
					      "empty_punch_keeps_bits",
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
					      "no_acl",
					      "no",
					      "no_handles",
					      "no",
					      NULL };
	static const struct file_system fs = { "btrfs", "mkfs.btrfs -q", "", traits,
					       TREE_NLINK_DIR };

	judge_file_system(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tmpfs), cmocka_unit_test(reffs), cmocka_unit_test(ext4),
		cmocka_unit_test(xfs),   cmocka_unit_test(btrfs),
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
