/* test_repro_sh.c -- the shell scripts of findings: of every described target one that shells and
 * shellcheck take, and that makes, remounts and leaves its file system where this machine has it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "finding/finding.h"
#include "storage/mounting.h"
#include "storage/program.h"
#include "target/description.h"
#include "target/target.h"
#include "tests/harness/unit.h"

static char work[] = "/tmp/assay-repro-sh-XXXXXX";

/* A name that would be a command where it is not data. */
static const char nasty[] = "x'; touch owned; '\ntouch owned\n$(touch owned)`touch owned`*/";

struct pretended {
	struct target target;
	struct target_description d;
};

/* As if it were open: a script needs no more of it than its description. */
static void pretend(struct pretended *p, const char *spec)
{
	struct err err = { 0 };

	if (description_find(&p->d, spec, NULL, &err))
		fail_msg("%s", err.text);
	p->target = (struct target){
		.name = (char *)spec,
		.description = &p->d,
		.kind = target_kind_find(p->d.kind),
	};
}

/* mkdir("d", 0700), remount, stat("d"): the last may only answer as told. */
static void fill(struct finding *f, const char *target, bool remounts, bool may_succeed)
{
	finding_init(f);
	finding_reserve(f, 3);
	f->calls[f->count] = (struct call){ .op = OP_mkdir, .pid = 1 };
	f->calls[f->count].mkdir.path = (struct arg){ .text = "d", .len = 1 };
	f->calls[f->count++].mkdir.mode.num = 0700;
	if (remounts)
		f->calls[f->count++] = (struct call){ .op = OP_remount, .pid = 1 };
	f->calls[f->count] = (struct call){ .op = OP_rmdir, .pid = 1 };
	f->calls[f->count++].rmdir.path = (struct arg){ .text = "d", .len = 1 };
	for (size_t i = 0; i < f->count; i++)
		f->evidence[i] = EVIDENCE_OBSERVED;
	f->outcomes[f->count - 1].error = ENOTEMPTY;
	f->discrepancy.code = PROBLEM_OUTCOME;
	f->discrepancy.success_allowed = may_succeed;
	errset_add(&f->discrepancy.allowed, EEXIST);
	buf_adds(&f->target, target);
	buf_adds(&f->discrepancy.title, nasty);
}

static void write_text(const char *name, const struct buf *text)
{
	struct err err = { 0 };

	if (buf_write_file(text, name, &err))
		fail_msg("%s", err.text);
}

static void write_finding(const struct finding *f, const struct target *t)
{
	struct buf c = BUF_INIT, sh = BUF_INIT;

	finding_repro_c(f, &c);
	finding_repro_sh(f, t, &sh);
	write_text("repro.c", &c);
	write_text("repro.sh", &sh);
	buf_free(&c);
	buf_free(&sh);
}

static void check_text(const char *name)
{
	struct buf output = BUF_INIT;
	struct err err = { 0 };
	int status = 0;

	assert_int_equal(program_run("sh -n repro.sh", -1, 60, &status, &output, &err), 0);
	if (!status && program_exists("shellcheck"))
		program_run("shellcheck -s sh repro.sh", -1, 60, &status, &output, &err);
	if (status)
		fail_msg("%s: %s", name, buf_str(&output));
	buf_free(&output);
}

static void every_target_has_a_script(void **unused)
{
	struct buf names = BUF_INIT;
	struct err err = { 0 };
	struct pretended p;
	struct finding f;

	assert_int_equal(description_names(NULL, &names, &err), 0);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		pretend(&p, names.data + at);
		if (!strcmp(p.d.name, p.d.kind)) /* the kind itself, which wants an argument */
			p.d.argument = nasty;
		fill(&f, nasty, true, true);
		write_finding(&f, &p.target);
		check_text(names.data + at);
		finding_free(&f);
		description_free(&p.d);
	}
	buf_free(&names);
}

static int run_script(const char *arguments)
{
	char command[256];
	struct buf output = BUF_INIT;
	struct err err = { 0 };
	int status = -1;

	snprintf(command, sizeof(command), "sh repro.sh %s", arguments);
	if (program_run(command, -1, 100, &status, &output, &err))
		fail_msg("%s: %s", err.text, buf_str(&output));
	if (status > 1)
		print_message("# %s\n", buf_str(&output));
	buf_free(&output);
	return status;
}

/* With a bug, without one; and nothing stays mounted. */
static void runs_on(const char *spec, bool remounts)
{
	struct buf mounts = BUF_INIT;
	struct pretended p;
	struct finding f;

	pretend(&p, spec);
	for (int fine = 0; fine < 2; fine++) {
		fill(&f, spec, remounts, fine);
		write_finding(&f, &p.target);
		assert_int_equal(run_script(""), !fine);
		finding_free(&f);
	}
	description_free(&p.d);
	assert_int_equal(buf_read_file(&mounts, "/proc/self/mountinfo", 1 << 24, NULL), 0);
	assert_null(strstr(buf_str(&mounts), work));
	buf_free(&mounts);
}

static bool can_make(const char *fs, const char *program)
{
	bool can = !geteuid() && (!fs || mounting_knows(fs)) && program_exists(program) &&
		   (!fs || !access("/dev/loop-control", R_OK | W_OK));

	if (!can)
		print_message("# %s cannot be made here\n", fs ? fs : program);
	return can;
}

static void ext4_is_made_and_remounted(void **unused)
{
	if (!can_make("ext4", "mkfs.ext4"))
		skip();
	runs_on("ext4", true);
	runs_on("kernel:ext4", true);
}

static void file_systems_in_memory_are_made(void **unused)
{
	if (!can_make("tmpfs", "mount") || !can_make("overlay", "mount"))
		skip();
	runs_on("tmpfs", false);
	runs_on("overlay", true);
	runs_on("kernel:overlay", false);
}

static void a_daemon_is_started_and_remounted(void **unused)
{
	if (access("/dev/fuse", R_OK | W_OK) || !can_make(NULL, "bindfs"))
		skip();
	runs_on("bindfs", true);
	if (can_make(NULL, "fuse2fs"))
		runs_on("fuse2fs", true); /* on an image */
	if (can_make(NULL, "ntfs-3g"))
		runs_on("ntfs-3g", true); /* on a device */
}

static const char waiting[] = "#include <unistd.h>\n"
			      "int main(void)\n{\n\twrite(1, \"!\", 1);\n\tpause();\n}\n";

/* Starts the script, and kills it when its program runs. */
static pid_t start_and_kill(const char *spec)
{
	struct buf c = BUF_INIT;
	struct pretended p;
	struct finding f;
	int output[2];
	pid_t pid;
	char byte;

	pretend(&p, spec);
	fill(&f, spec, false, false);
	write_finding(&f, &p.target);
	finding_free(&f);
	description_free(&p.d);
	buf_adds(&c, waiting);
	write_text("repro.c", &c);
	buf_free(&c);
	assert_int_equal(mkdir("tmp", 0700), 0);
	assert_int_equal(pipe(output), 0);
	pid = fork();
	if (!pid) {
		dup2(output[1], 1);
		close(output[0]);
		close(output[1]);
		setenv("TMPDIR", "tmp", 1);
		execlp("sh", "sh", "repro.sh", (char *)NULL);
		_exit(127);
	}
	close(output[1]);
	assert_int_equal(read(output[0], &byte, 1), 1);
	/* The end of the output is the end of all its processes. */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(read(output[0], &byte, 1), 0);
	close(output[0]);
	return pid;
}

/* Which loop device has a file below our directory; they are let go of a little later. */
static bool has_loop_device(void)
{
	static const char command[] = "losetup --list --noheadings --output BACK-FILE";
	struct buf output = BUF_INIT;
	struct err err = { 0 };
	int status;
	bool has = true;

	for (int i = 0; i < 500 && has; i++) {
		buf_clear(&output);
		assert_int_equal(program_run(command, -1, 60, &status, &output, &err), 0);
		has = strstr(buf_str(&output), work);
		if (has)
			usleep(10000);
	}
	buf_free(&output);
	return has;
}

/* The guard removes the directories a little later. */
static bool becomes_empty(const char *path)
{
	bool empty = false;

	for (int i = 0; i < 1000 && !empty; i++) {
		empty = !rmdir(path);
		if (!empty)
			usleep(10000);
	}
	return empty;
}

static void nothing_stays_of(const char *spec)
{
	struct buf mounts = BUF_INIT;
	pid_t pid = start_and_kill(spec);

	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(buf_read_file(&mounts, "/proc/self/mountinfo", 1 << 24, NULL), 0);
	assert_null(strstr(buf_str(&mounts), work));
	assert_false(has_loop_device());
	assert_true(becomes_empty("tmp"));
	buf_free(&mounts);
}

static void a_script_that_is_killed_leaves_nothing(void **unused)
{
	if (!can_make("ext4", "mkfs.ext4"))
		skip();
	nothing_stays_of("ext4");
	if (!access("/dev/fuse", R_OK | W_OK) && can_make(NULL, "bindfs"))
		nothing_stays_of("bindfs");
	if (!access("/dev/fuse", R_OK | W_OK) && can_make(NULL, "ntfs-3g"))
		nothing_stays_of("ntfs-3g");
}

/* Commands that note how they are called; what UBIFS would be is a tmpfs. /proc/mtd, which a kernel
 * without MTD does not have, is read by a sed that knows one device. */
static void make_stubs(void)
{
	static const char command[] =
		"mkdir stubs && for name in modprobe ubiattach ubimkvol ubidetach; do\n"
		"printf '#!/bin/sh\\necho %s \"$@\" >>%s/log\\n' $name \"$PWD\" >stubs/$name; "
		"done\n"
		"cat >stubs/mount <<'END'\n#!/bin/sh\n"
		"case $2 in ubifs) shift $(($# - 1)) && set -- -t tmpfs none \"$1\" ;; esac\n"
		"exec /bin/mount \"$@\"\nEND\n"
		"printf '#!/bin/sh\\necho 7\\n' >stubs/sed\n"
		"chmod +x stubs/*";

	assert_int_equal(system(command), 0);
}

/* What the kernel keeps of flash memory when no process is left. */
static void flash_memory_does_not_outlive_its_script(void **unused)
{
	static const char ending[] = "ubidetach --devn=31\nmodprobe -r mtdram\n";
	struct buf log = BUF_INIT, path = BUF_INIT;
	const char *old = getenv("PATH");

	if (geteuid() || !access("/sys/module/mtdram", F_OK))
		skip();
	make_stubs();
	buf_addf(&path, "%s/stubs:%s", work, old);
	setenv("PATH", path.data, 1);
	nothing_stays_of("kernel:ubifs");
	setenv("PATH", strstr(path.data, ":") + 1, 1);
	assert_int_equal(buf_read_file(&log, "log", 1 << 20, NULL), 0);
	assert_non_null(strstr(buf_str(&log), "ubiattach --mtdn=7 --devn=31\n"));
	assert_true(log.len > strlen(ending));
	assert_string_equal(log.data + log.len - strlen(ending), ending);
	assert_int_equal(system("rm -r stubs log"), 0);
	buf_free(&log);
	buf_free(&path);
}

/* What cannot be made is no bug that shows. */
static void a_script_that_fails_cannot_tell(void **unused)
{
	struct pretended p;
	struct finding f;

	if (geteuid())
		skip();
	pretend(&p, "ext4");
	p.d.mkfs = "false {image}";
	fill(&f, "ext4", false, false);
	write_finding(&f, &p.target);
	assert_int_equal(run_script(""), 2);
	finding_free(&f);
	description_free(&p.d);
}

/* Names are data wherever they stand. */
static void no_name_is_a_command(void **unused)
{
	struct pretended p;
	struct finding f;

	pretend(&p, "dir:/nowhere");
	p.d.argument = nasty;
	fill(&f, nasty, false, false);
	write_finding(&f, &p.target);
	run_script("");
	assert_int_equal(access("owned", F_OK), -1);
	assert_int_equal(mkdir("here", 0755), 0);
	assert_int_equal(run_script("here"), 1);
	assert_int_equal(rmdir("here"), 0);
	finding_free(&f);
	description_free(&p.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_target_has_a_script),
		cmocka_unit_test(ext4_is_made_and_remounted),
		cmocka_unit_test(file_systems_in_memory_are_made),
		cmocka_unit_test(a_daemon_is_started_and_remounted),
		cmocka_unit_test(a_script_that_is_killed_leaves_nothing),
		cmocka_unit_test(flash_memory_does_not_outlive_its_script),
		cmocka_unit_test(a_script_that_fails_cannot_tell),
		cmocka_unit_test(no_name_is_a_command),
	};
	int failed;

	if (!mkdtemp(work) || chdir(work))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink("repro.c");
	unlink("repro.sh");
	return chdir("/") || rmdir(work) ? 1 : failed;
}
