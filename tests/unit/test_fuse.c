/* test_fuse.c -- FUSE daemons: served, remounted, dead, hung, and commands that do not mount. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "explore/portfolio.h"
#include "storage/remove_tree.h"
#include "tests/harness/plans.h"

enum { CALLS_MAX = 10000, PAUSE_US = 20000 };

static char place[] = "/tmp/assay-fuse-XXXXXX";

static int make_place(void **state)
{
	return mkdtemp(place) ? 0 : -1;
}

/* Fails where a directory of a test is still in it. */
static int remove_place(void **state)
{
	return rmdir(place);
}

static void remove_below(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(remove_tree_below(fd, NULL), 0);
	close(fd);
	assert_int_equal(rmdir(path), 0);
}

/* Skips where there is no daemon or no privilege. */
static void open_or_skip(struct pair *p, const char *spec, double deadline_seconds)
{
	struct err why = { 0 };

	if (pair_open(p, spec, deadline_seconds, &why))
		return;
	if (why.code != -ENOTSUP)
		fail_msg("%s", why.text);
	print_message("# %s\n", why.text);
	skip();
}

static void use(struct pair *p)
{
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_RDWR, data(7, 9000), 9000, 100)");
	pair_do(p, "symlink(\"a/f\", \"s\")");
	pair_do(p, "rename(\"a/f\", \"a/h\")");
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "remount()");
	pair_do(p, "truncate(\"a/h\", 5)");
}

static void reset(struct pair *p)
{
	struct err err = { 0 };

	if (target_reset(p->target, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	state_free(&p->state);
	if (target_initial_state(p->target, &p->state, &err))
		fail_msg("%s: %s", p->target->name, err.text);
}

/* What has no image of ours cannot be saved. */
static void assert_no_search_branches(const struct target *t)
{
	struct portfolio_search searches[PORTFOLIO_MAX];
	size_t count = portfolio_list(t, NULL, false, searches);

	assert_int_not_equal(count, 0);
	for (size_t i = 0; i < count; i++)
		assert_false(strategy_branches(searches[i].strategy));
}

static void a_command_with_its_own_data(void **state)
{
	struct buf spec = BUF_INIT;
	struct pair p;

	buf_addf(&spec, "fuse:bindfs %s", place);
	open_or_skip(&p, spec.data, 60);
	assert_true(p.target->caps & TARGET_REMOUNT); /* found out */
	assert_no_search_branches(p.target);
	use(&p);
	reset(&p);
	use(&p);
	pair_close(&p);
	buf_free(&spec);
}

/* Where the unified hierarchy is mounted and we may write to it. */
static bool find_groups(struct buf *ret)
{
	FILE *mounts =
		popen("findmnt --first-only --noheadings --types cgroup2 --output TARGET", "r");
	char line[256] = "";

	if (mounts && fgets(line, sizeof(line), mounts))
		buf_add(ret, line, strcspn(line, "\n"));
	if (mounts)
		pclose(mounts);
	return ret->len && !access(ret->data, W_OK);
}

/* The path of the daemon's control group, from what it has written of itself. */
static void read_group(const char *file, struct buf *groups)
{
	struct buf text = BUF_INIT;
	char *line;

	assert_int_equal(buf_read_file(&text, file, 1 << 16, NULL), 0);
	line = strstr(buf_str(&text), "0::");
	assert_non_null(line);
	buf_add(groups, line + 3, strcspn(line + 3, "\n"));
	buf_free(&text);
}

static void a_daemon_has_a_control_group(void **state)
{
	struct buf spec = BUF_INIT, note = BUF_INIT, group = BUF_INIT;
	struct pair p;

	if (geteuid() || !find_groups(&group))
		skip();
	buf_addf(&note, "%s-group", place);
	buf_addf(&spec, "fuse:sh -c 'cat /proc/self/cgroup >%s; exec bindfs $0 $1' %s {mount}",
		 note.data, place);
	open_or_skip(&p, spec.data, 60);
	use(&p);
	read_group(note.data, &group);
	assert_non_null(strstr(group.data, "/assay-fuse-"));
	assert_int_equal(access(group.data, F_OK), 0);
	pair_close(&p);
	assert_int_equal(access(group.data, F_OK), -1);
	assert_int_equal(unlink(note.data), 0);
	buf_free(&spec);
	buf_free(&note);
	buf_free(&group);
}

static void a_daemon_on_an_image(void **state)
{
	enum verdict verdict = VERDICT_BAD;
	struct buf report = BUF_INIT;
	struct err err = { 0 };
	struct pair p;

	open_or_skip(&p, "fuse2fs", 60);
	use(&p);
	if (target_fsck(p.target, &verdict, &report, &err))
		fail_msg("%s", err.text);
	assert_int_not_equal(verdict, VERDICT_UNKNOWN);
	assert_int_equal(p.target->kind->save(p.target, 1, &err), 0);
	pair_do(&p, "unlink(\"s\")");
	assert_int_equal(p.target->kind->restore(p.target, 1, &err), 0);
	reset(&p);
	use(&p);
	pair_close(&p);
	buf_free(&report);
}

/* A daemon to which something is done when a file appears. */
static void open_victim(struct pair *p, const char *command, struct buf *trigger,
			double deadline_seconds)
{
	struct buf spec = BUF_INIT;

	buf_addf(trigger, "%s-trigger", place);
	buf_addf(&spec,
		 "fuse:sh -c 'bindfs -f $0 $1 & until [ -e %s ]; do sleep 0.05; "
		 "kill -0 $! || exit; done; %s' %s {mount}",
		 trigger->data, command, place);
	open_or_skip(p, spec.data, deadline_seconds);
	buf_free(&spec);
}

static void pull(const struct buf *trigger)
{
	int fd = open(trigger->data, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* Calls until one has another fate. */
static enum target_fate await_fate(struct pair *p)
{
	struct plan_step step = { .call = pair_call(p, "mkdir(\"a\", 0755)") };
	enum target_fate fate = FATE_FINE;

	for (int i = 0; i < CALLS_MAX && fate == FATE_FINE; i++) {
		fate = pair_follow(p, &step, 1).fate;
		usleep(PAUSE_US);
	}
	return fate;
}

static void a_death_is_told(void **state)
{
	struct buf trigger = BUF_INIT;
	struct pair p;

	open_victim(&p, "kill -9 $!; wait", &trigger, 60);
	pull(&trigger);
	assert_int_equal(await_fate(&p), FATE_DIED);
	unlink(trigger.data);
	reset(&p);
	pair_do(&p, "mkdir(\"b\", 0755)");
	pair_close(&p);
	buf_free(&trigger);
}

static void a_hang_is_told(void **state)
{
	struct buf trigger = BUF_INIT;
	struct pair p;

	open_victim(&p, "kill -STOP $!; wait", &trigger, 3);
	pull(&trigger);
	assert_int_equal(await_fate(&p), FATE_HUNG);
	unlink(trigger.data);
	reset(&p);
	pair_do(&p, "mkdir(\"b\", 0755)");
	pair_close(&p);
	buf_free(&trigger);
}

static struct hash hash_of_file(const char *path)
{
	struct hash_stream *stream = hash_stream_new();
	struct buf bytes = BUF_INIT;

	assert_int_equal(buf_read_file(&bytes, path, 64 << 20, NULL), 0);
	hash_stream_add(stream, bytes.data, bytes.len);
	buf_free(&bytes);
	return hash_stream_end(stream);
}

/* The daemon has a copy of an image that a command names; a reset is another copy. */
static void an_image_of_the_users_stays_as_it_is(void **state)
{
	struct buf image = BUF_INIT, spec = BUF_INIT, mkfs = BUF_INIT;
	struct pair p, second;
	struct hash before;

	buf_addf(&image, "%s-image", place);
	buf_addf(&mkfs, "mke2fs -q -F -t ext4 %s 8M >/dev/null 2>&1", image.data);
	if (geteuid() || system(mkfs.data)) {
		unlink(image.data);
		skip();
	}
	before = hash_of_file(image.data);
	buf_addf(&spec, "fuse:fuse2fs -o rw,fakeroot %s", image.data);
	open_or_skip(&p, spec.data, 60);
	assert_false(target_is_single(spec.data, NULL));
	open_or_skip(&second, spec.data, 60);
	pair_do(&p, "mkdir(\"a\", 0755)");
	pair_do(&second, "symlink(\"x\", \"a\")");
	reset(&p);
	pair_do(&p, "mkdir(\"a\", 0755)");
	pair_do(&p, "remount()");
	pair_close(&p);
	pair_close(&second);
	assert_true(hash_equal(before, hash_of_file(image.data)));
	unlink(image.data);
	buf_free(&image);
	buf_free(&spec);
	buf_free(&mkfs);
}

/* A daemon that wants the name of its image, or a device, gets a loop device. */
static void an_image_may_have_to_be_a_device(void **state)
{
	static const char text[] = "#!/bin/sh\n[ -b \"$(readlink -f $1)\" ] || exit 11\n"
				   "exec fuse2fs -f -o rw,fakeroot $1 $2\n";
	struct buf image = BUF_INIT, script = BUF_INIT, spec = BUF_INIT, mkfs = BUF_INIT;
	struct buf program = BUF_INIT;
	struct err err = { 0 };
	struct pair p;

	buf_addf(&image, "%s-image", place);
	buf_addf(&script, "%s-script", place);
	buf_adds(&program, text);
	buf_addf(&mkfs, "mke2fs -q -F -t ext4 %s 8M >/dev/null 2>&1", image.data);
	assert_int_equal(buf_write_file(&program, script.data, &err), 0);
	assert_int_equal(chmod(script.data, 0700), 0);
	buf_addf(&spec, "fuse:%s %s {mount}", script.data, image.data);
	if (!geteuid() && !system(mkfs.data) && !access("/usr/bin/fuse2fs", X_OK)) {
		open_or_skip(&p, spec.data, 60);
		pair_do(&p, "mkdir(\"a\", 0755)");
		reset(&p);
		pair_do(&p, "mkdir(\"a\", 0755)");
		pair_do(&p, "remount()");
		pair_close(&p);
	}
	unlink(image.data);
	unlink(script.data);
	buf_free(&image);
	buf_free(&script);
	buf_free(&program);
	buf_free(&spec);
	buf_free(&mkfs);
}

/* What it keeps in a directory of the user's is there once. */
static void a_directory_of_the_users_has_one_daemon(void **state)
{
	struct buf spec = BUF_INIT;
	struct err err = { 0 };
	struct pair p, second;

	buf_addf(&spec, "fuse:bindfs %s", place);
	open_or_skip(&p, spec.data, 60);
	assert_true(target_is_single(spec.data, NULL));
	assert_false(pair_open(&second, spec.data, 60, &err));
	assert_int_equal(err.code, -EBUSY);
	pair_close(&p);
	assert_true(pair_open(&p, spec.data, 60, &err));
	pair_close(&p);
	buf_free(&spec);
}

/* Also where the daemon asks for devices. */
static void no_device_is_opened(void **state)
{
	struct plan_step step;
	struct buf spec = BUF_INIT;
	struct plan_report end;
	struct pair p;

	if (geteuid())
		skip();
	buf_addf(&spec, "fuse:bindfs -o dev,suid %s", place);
	open_or_skip(&p, spec.data, 60);
	pair_do(&p, "mknod(\"null\", S_IFCHR|0600, 259)");
	step = (struct plan_step){ .call = pair_call(&p, "open(\"null\", O_RDWR)") };
	end = pair_follow(&p, &step, 1);
	assert_int_equal(end.fate, FATE_FINE);
	assert_int_equal(end.outcome.error, EACCES);
	pair_close(&p);
	buf_free(&spec);
}

/* Mounting has a time of its own: neither it nor a remount is a call that hangs. */
static void mounting_may_take_longer_than_a_call(void **state)
{
	struct buf spec = BUF_INIT;
	struct pair p;

	buf_addf(&spec, "fuse:sh -c 'sleep 4; exec bindfs $0 $1' %s {mount}", place);
	open_or_skip(&p, spec.data, 2);
	pair_do(&p, "mkdir(\"a\", 0755)");
	pair_do(&p, "remount()");
	pair_close(&p);
	buf_free(&spec);
}

static void kill_it(struct target *t)
{
	struct buf said = BUF_INIT;
	struct err err = { 0 };
	int error = -1;

	if (t->kind->kill(t, &error, &said, &err))
		fail_msg("%s", err.text);
	assert_int_equal(error, 0);
	buf_free(&said);
}

/* The next call does not return; whether it was carried out is not known. */
static void die_during(struct pair *p, const char *text)
{
	enum target_fate fate = FATE_FINE;
	struct arena arena = ARENA_INIT;
	struct outcome outcome;
	struct err err = { 0 };
	struct call c;

	assert_int_equal(call_parse(&c, text, &arena, &err), 0);
	p->target->kind->kill_during(p->target, 1);
	if (target_call(p->target, &c, &outcome, &fate, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fate, FATE_DIED);
	arena_free(&arena);
}

/* Of a large write the daemon is asked many times; what it writes is there already. */
static void a_killed_daemon_is_started_again(void **state)
{
	struct pair p;

	open_or_skip(&p, "bindfs", 60);
	assert_true(p.target->caps & TARGET_KILL);
	use(&p);
	kill_it(p.target);
	pair_do(&p, "mkdir(\"a/after\", 0755)");
	pair_do(&p, "write_file(\"large\", O_CREAT|O_RDWR, data(1, 1048576), 1048576, 0)");
	die_during(&p, "write_file(\"large\", O_RDWR, data(1, 1048576), 1048576, 0)");
	kill_it(p.target);
	pair_do(&p, "rmdir(\"a/after\")");
	reset(&p);
	use(&p);
	pair_close(&p);
}

static void commands_that_do_not_mount_say_why(void **state)
{
	struct err err = { 0 };
	struct pair p;

	if (access("/dev/fuse", R_OK | W_OK) || geteuid())
		skip();
	assert_false(pair_open(&p, "fuse:sh -c 'echo no such disk; exit 3'", 60, &err));
	assert_non_null(strstr(err.text, "status 3"));
	assert_non_null(strstr(err.text, "no such disk"));
	/* Not after the two minutes that a daemon has for mounting. */
	err = (struct err){ 0 };
	assert_false(pair_open(&p, "fuse:sh -c '(echo bad option; exit 4) & exit 0'", 60, &err));
	assert_non_null(strstr(err.text, "mounted nothing"));
	assert_non_null(strstr(err.text, "bad option"));
	err = (struct err){ 0 };
	assert_false(pair_open(&p, "fuse:nonesuch-fs /x", 60, &err));
	assert_int_equal(err.code, -ENOENT);
	assert_non_null(strstr(err.text, "nonesuch-fs is missing"));
	err = (struct err){ 0 };
	assert_false(pair_open(&p, "fuse:", 60, &err));
}

/* One that ends as soon as it is mounted may have been asked something before; then what was made
 * in its directory stays there, since no daemon of this command lives to remove it. */
static void a_daemon_that_ends_at_once_says_why(void **state)
{
	struct buf spec = BUF_INIT, below = BUF_INIT;
	struct err err = { 0 };
	struct pair p;

	if (access("/dev/fuse", R_OK | W_OK) || geteuid() || access("/usr/bin/bindfs", X_OK))
		skip();
	buf_addf(&below, "%s/below", place);
	assert_int_equal(mkdir(below.data, 0755), 0);
	buf_addf(&spec,
		 "fuse:sh -c 'bindfs -f $0 $1 & until grep -q $1 /proc/self/mounts; do :; done; "
		 "echo internal error; kill -SEGV $!; exit 3' %s {mount}",
		 below.data);
	if (pair_open(&p, spec.data, 60, &err)) {
		pair_close(&p);
	} else {
		assert_non_null(strstr(err.text, "internal error"));
		assert_non_null(strstr(err.text, "exit status 3"));
	}
	remove_below(below.data);
	buf_free(&spec);
	buf_free(&below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_with_its_own_data),
		cmocka_unit_test(a_daemon_has_a_control_group),
		cmocka_unit_test(a_daemon_on_an_image),
		cmocka_unit_test(a_death_is_told),
		cmocka_unit_test(a_hang_is_told),
		cmocka_unit_test(an_image_of_the_users_stays_as_it_is),
		cmocka_unit_test(an_image_may_have_to_be_a_device),
		cmocka_unit_test(a_directory_of_the_users_has_one_daemon),
		cmocka_unit_test(no_device_is_opened),
		cmocka_unit_test(mounting_may_take_longer_than_a_call),
		cmocka_unit_test(a_killed_daemon_is_started_again),
		cmocka_unit_test(commands_that_do_not_mount_say_why),
		cmocka_unit_test(a_daemon_that_ends_at_once_says_why),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
