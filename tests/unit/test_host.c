/* test_host.c -- file systems of the running kernel: made, used, remounted, checked, put back.
 *
 * What this machine lacks for a file system is a reason to skip it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "tests/harness/plans.h"
#include "tests/harness/sandbox_process.h"

static const char *const targets[] = { "ext2", "ext3",  "ext4",  "ext4-nojournal",
				       "xfs",  "btrfs", "tmpfs", "overlay" };

static void use(struct pair *p)
{
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)");
	pair_do(p, "link(\"a/f\", \"g\")");
	pair_do(p, "symlink(\"a/f\", \"s\")");
	pair_do(p, "setxattr(\"a\", \"user.x\", \"value\", 5, 0)");
	pair_do(p, "chmod(\"g\", 0600)");
	pair_do(p, "rename(\"a/f\", \"a/h\")");
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "sync()");
}

static void check(struct pair *p)
{
	enum verdict verdict = VERDICT_UNKNOWN;
	struct buf report = BUF_INIT;
	struct err err = { 0 };

	if (target_fsck(p->target, &verdict, &report, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	if (verdict != VERDICT_OK)
		fail_msg("%s: verdict %d: %s", p->target->name, verdict, buf_str(&report));
	buf_free(&report);
	assert_true(hash_equal(pair_seen(p), tree_hash(&p->state.tree)));
}

/* Saved, changed, restored: as saved. */
static void save_and_restore(struct pair *p)
{
	const struct target_kind *kind = p->target->kind;
	struct hash saved = pair_seen(p);
	struct err err = { 0 };

	if (kind->save(p->target, 5, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	pair_do(p, "unlink(\"g\")");
	assert_false(hash_equal(pair_seen(p), saved));
	if (kind->restore(p->target, 5, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	assert_true(hash_equal(pair_seen(p), saved));
	kind->drop(p->target, 5);
	assert_int_equal(kind->restore(p->target, 5, &err), -ENOENT);
}

static void keep_image(struct pair *p)
{
	char path[] = "/tmp/assay-host-XXXXXX";
	struct err err = { 0 };
	int fd = mkstemp(path);
	struct stat st;

	assert_true(fd >= 0);
	close(fd);
	if (p->target->kind->image(p->target, path, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size >= 1 << 20 && st.st_blocks > 0);
	assert_true(st.st_blocks * 512 < st.st_size);
	unlink(path);
}

static void exercise(struct pair *p)
{
	struct hash fresh = pair_seen(p);
	struct err err = { 0 };

	use(p);
	if (p->target->caps & TARGET_DROP_CACHES)
		pair_do(p, "drop_caches()");
	if (p->target->caps & TARGET_REMOUNT)
		pair_do(p, "remount()");
	if (p->target->caps & TARGET_FSCK) {
		check(p);
		pair_do(p, "fsck()");
	}
	if (p->target->caps & TARGET_SPACE)
		pair_do(p, "seek_space()");
	if (p->target->caps & TARGET_IMAGE) {
		save_and_restore(p);
		keep_image(p);
	}
	if (target_reset(p->target, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	assert_true(hash_equal(pair_seen(p), fresh));
}

static void every_file_system_is_made_used_and_checked(void **state)
{
	pair_each(targets, ARRAY_LEN(targets), exercise);
}

/* Processes survive a remount, with their users and masks. */
static void processes_survive_a_remount(void **state)
{
	struct err why = { 0 };
	struct pair p;

	if (geteuid() || !pair_open(&p, "ext4", 60, &why))
		skip();
	pair_do(&p, "mkdir(\"a\", 0755)");
	pair_do(&p, "chmod(\"a\", 0777)");
	pair_do(&p, "umask(0)");
	pair_do(&p, "[2] create_process(1000, 1001)");
	pair_do(&p, "[2] umask(077)");
	pair_do(&p, "[3] create_process(1002, 1002)");
	pair_do(&p, "[3] destroy_process()");
	pair_do(&p, "remount()");
	pair_do(&p, "mkdir(\"b\", 0777)");
	pair_do(&p, "[2] mkdir(\"a/b\", 0777)");
	pair_do(&p, "[2] mkdir(\"c\", 0777)");
	pair_do(&p, "open(\"b\", O_RDONLY)");
	pair_do(&p, "chdir(\"b\")");
	pair_do(&p, "fsck()");
	pair_do(&p, "fstat(3)");
	pair_do(&p, "mkdir(\"d\", 0777)");
	pair_do(&p, "[2] mkdir(\"a/d\", 0777)");
	pair_close(&p);
}

/* File handles mean the same after a remount of the same disk, and nothing on another one. */
static void handles_belong_to_their_disk(struct pair *p)
{
	struct err err = { 0 };

	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "take_handle(\"a\", 1)");
	if (p->target->caps & TARGET_REMOUNT)
		pair_do(p, "remount()");
	pair_do(p, "open_handle(1, O_RDONLY|O_DIRECTORY)");
	pair_do(p, "close(3)");
	if (target_reset(p->target, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	state_free(&p->state);
	if (target_initial_state(p->target, &p->state, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "open_handle(1, O_RDONLY|O_DIRECTORY)");
}

static void handles_do_not_outlive_their_disk(void **state)
{
	static const char *const judged[] = { "ext4", "xfs", "btrfs", "tmpfs" };

	if (geteuid())
		skip();
	pair_each(judged, ARRAY_LEN(judged), handles_belong_to_their_disk);
}

static void a_hang_on_a_disk_is_left_behind(void **state)
{
	struct err why = { 0 };
	struct plan_step wait;
	struct pair p;
	struct hash fresh;

	if (geteuid() || !pair_open(&p, "ext4", 3, &why))
		skip();
	fresh = pair_seen(&p);
	pair_do(&p, "mknod(\"p\", S_IFIFO|0600, 0)");
	wait = (struct plan_step){ .call = pair_call(&p, "open(\"p\", O_RDONLY)") };
	assert_int_equal(pair_follow(&p, &wait, 1).fate, FATE_HUNG);
	assert_int_equal(target_reset(p.target, &why), 0);
	assert_true(hash_equal(pair_seen(&p), fresh));
	pair_close(&p);
}

/* Holds the file system of the target for some seconds, from outside. */
static pid_t hold(unsigned seconds)
{
	char path[64];
	int ready[2];
	pid_t pid;
	char byte;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)sandbox_server());
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);

		if (fd >= 0 && write(ready[1], "", 1) == 1)
			sleep(seconds);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* Somebody who looks at the mount for a moment is waited for; one who stays is told of. */
static void a_mount_that_is_held(void **state)
{
	struct plan_step step;
	struct plan_report end;
	struct err why = { 0 };
	struct pair p;
	pid_t holder;

	if (!pair_open(&p, "ext4", 60, &why)) {
		print_message("# %s\n", why.text);
		skip();
	}
	pair_do(&p, "mkdir(\"a\", 0755)");
	holder = hold(1);
	pair_do(&p, "remount()");
	waitpid(holder, NULL, 0);
	holder = hold(600);
	step = pair_step(&p, "remount()");
	assert_int_equal(target_follow(p.target, &step, 1, &end, &why), -EUSERS);
	assert_true(failure_is_ours(-EUSERS));
	assert_non_null(strstr(why.text, "holds it"));
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	pair_do(&p, "remount()");
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_system_is_made_used_and_checked),
		cmocka_unit_test(processes_survive_a_remount),
		cmocka_unit_test(handles_do_not_outlive_their_disk),
		cmocka_unit_test(a_hang_on_a_disk_is_left_behind),
		cmocka_unit_test(a_mount_that_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
