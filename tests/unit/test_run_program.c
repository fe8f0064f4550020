/* test_run_program.c -- programs run on targets: what they see, what they may change, how they
 * end. What this machine lacks for a target is a reason to skip it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/compile.h"
#include "target/target.h"
#include "tests/harness/unit.h"

static const char headers[] = "#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n"
			      "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
			      "#include <string.h>\n#include <sys/stat.h>\n"
			      "#include <sys/sysmacros.h>\n#include <sys/wait.h>\n"
			      "#include <unistd.h>\n";

static struct target *open_target(const char *spec)
{
	struct target_options options = { .deadline_seconds = 20 };
	struct target *t = NULL;
	struct err err = { 0 };

	if (target_open(&t, spec, &options, &err)) {
		print_message("# %s: %s\n", spec, err.text);
		return NULL;
	}
	return t;
}

static struct program_report run(struct target *t, const char *text, double seconds)
{
	struct buf source = BUF_INIT;
	struct program_report end;
	struct err err = { 0 };

	buf_adds(&source, headers);
	buf_adds(&source, text);
	if (target_run_program(t, buf_str(&source), seconds, &end, &err))
		fail_msg("%s: %s", t->name, err.text);
	buf_free(&source);
	return end;
}

static void expect(struct target *t, const char *text, enum program_fate fate, int status)
{
	struct program_report end = run(t, text, 30);

	if (end.fate != fate || end.status != status)
		fail_msg("%s: ended %d, status %d, not %d, %d: %s", t->name, end.fate, end.status,
			 fate, status, buf_str(&end.output));
	program_report_free(&end);
}

/* It starts outside, in the file system that calls are made in. */
static void sees_what_calls_made(struct target *t)
{
	struct call mkdir = { .op = OP_mkdir, .pid = 1 };
	enum target_fate fate;
	struct outcome outcome;
	struct err err = { 0 };

	mkdir.arg[0] = (struct arg){ .text = "made", .len = 4 };
	mkdir.arg[1].num = 0700;
	assert_int_equal(target_call(t, &mkdir, &outcome, &fate, &err), 0);
	assert_int_equal(outcome.error, 0);
	expect(t,
	       "int main(int argc, char **argv) { struct stat st; return argc < 2 || "
	       "chdir(argv[1]) || stat(\"made\", &st) || mkdir(\"made/below\", 0755) ? 2 : 1; }",
	       PROGRAM_EXITED, 1);
}

/* What is there survives; what is held keeps it from being unmounted. */
static void remounts(struct target *t)
{
	if (t->caps & TARGET_REMOUNT)
		expect(t,
		       "int main(int argc, char **argv) {\n"
		       "if (argc != 3 || chdir(argv[1]) || mkdir(\"kept\", 0755)) return 2;\n"
		       "int fd = open(\"kept\", O_RDONLY);\n"
		       "if (chdir(\"/\") || !system(argv[2])) return 3;\n"
		       "close(fd);\n"
		       "if (system(argv[2]) || chdir(argv[1]) || mkdir(\"after\", 0755)) return "
		       "4;\n"
		       "return rmdir(\"kept\") || rmdir(\"after\") ? 5 : 1; }",
		       PROGRAM_EXITED, 1);
	else
		expect(t, "int main(int argc, char **argv) { return argc == 2; }", PROGRAM_EXITED,
		       1);
}

/* Neither a file nor a device of this machine can be written to. */
static void changes_nothing_else(struct target *t)
{
	char place[] = "/var/tmp/assay-confined-XXXXXX";
	struct buf text = BUF_INIT;

	assert_non_null(mkdtemp(place));
	buf_addf(&text,
		 "int main(int argc, char **argv) {\n"
		 "if (!mkdir(\"%s/x\", 0755) || errno != EROFS) return 2;\n"
		 "if (open(\"/dev/loop-control\", O_RDWR) >= 0) return 3;\n"
		 "if (open(\"/dev/kmsg\", O_RDWR) >= 0) return 4;\n"
		 "if (chdir(argv[1])) return 5;\n"
		 "if (!mknod(\"null\", S_IFCHR | 0666, makedev(1, 3)) &&\n"
		 "    open(\"null\", O_RDWR) >= 0) return 6;\n"
		 "return 1; }",
		 place);
	expect(t, text.data, PROGRAM_EXITED, 1);
	buf_free(&text);
	assert_int_equal(rmdir(place), 0);
}

static void ends_in_every_way(struct target *t)
{
	struct program_report end;

	expect(t, "int main(void) { return 7; }", PROGRAM_EXITED, 7);
	expect(t, "int main(void) { raise(SIGSEGV); }", PROGRAM_KILLED, SIGSEGV);
	end = run(t,
		  "int main(void) { sigset_t all; sigfillset(&all); "
		  "sigprocmask(SIG_BLOCK, &all, NULL); for (;;) pause(); }",
		  0.5);
	assert_int_equal(end.fate, PROGRAM_HUNG);
	program_report_free(&end);
	end = run(t, "int main(void) { return no_such_thing; }", 30);
	assert_int_equal(end.fate, PROGRAM_NOT_COMPILED);
	assert_non_null(strstr(buf_str(&end.output), "no_such_thing"));
	program_report_free(&end);
	end = run(t, "int main(void) { puts(\"said\"); return 0; }", 30);
	assert_string_equal(buf_str(&end.output), "said\n");
	program_report_free(&end);
}

/* As good as new after a reset, whatever a program did. */
static void can_be_reset(struct target *t)
{
	enum target_fate fate;
	struct err err = { 0 };
	struct tree seen;
	uint64_t cookie = 0;

	if (target_reset(t, &err) || target_observe(t, &seen, &fate, &err))
		fail_msg("%s: %s", t->name, err.text);
	assert_int_equal(fate, FATE_FINE);
	assert_null(tree_next_entry(&seen, TREE_ROOT, &cookie));
	tree_free(&seen);
}

static void on_target(const char *spec)
{
	struct target *t = open_target(spec);

	if (!t)
		skip();
	assert_non_null(t->kind->run_program);
	sees_what_calls_made(t);
	remounts(t);
	changes_nothing_else(t);
	ends_in_every_way(t);
	can_be_reset(t);
	target_close(t);
}

static void on_ext4(void **unused)
{
	on_target("ext4");
}

static void on_tmpfs(void **unused)
{
	on_target("tmpfs");
}

static void on_overlay(void **unused)
{
	on_target("overlay");
}

static void on_bindfs(void **unused)
{
	on_target("bindfs");
}

/* Users, pointers and processes are those of the kernel in the process. */
static void lives_in_the_kernel(struct target *t)
{
	expect(t,
	       "int main(int argc, char **argv) {\n"
	       "if (chdir(argv[1]) || chroot(\".\") || mkdir(\"/d\", 0700)) return 2;\n"
	       "if (seteuid(1000) || geteuid() != 1000) return 3;\n"
	       "if (!mkdir(\"/d/x\", 0755) || errno != EACCES) return 4;\n"
	       "if (seteuid(0) || mkdir(\"/d/x\", 0755)) return 5;\n"
	       "return 1; }",
	       PROGRAM_EXITED, 1);
	expect(t,
	       "int main(int argc, char **argv) {\n"
	       "int fd = chdir(argv[1]) ? -1 : open(\"f\", O_RDWR | O_CREAT, 0600);\n"
	       "char *volatile bad[] = { NULL, (char *)8, (char *)-1, (char *)(1UL << 55) };\n"
	       "if (fd < 0 || write(fd, \"abc\", 3) != 3) return 2;\n"
	       "for (int i = 0; i < 4; i++) {\n"
	       "if (!mkdir(bad[i], 0755) || errno != EFAULT) return 3;\n"
	       "if (pread(fd, bad[i], 3, 0) >= 0 || errno != EFAULT) return 4;\n"
	       "if (pwrite(fd, bad[i], 3, 0) >= 0 || errno != EFAULT) return 5;\n"
	       "if (!fstat(fd, (struct stat *)bad[i]) || errno != EFAULT) return 6;\n"
	       "}\n"
	       "return 1; }",
	       PROGRAM_EXITED, 1);
	expect(t,
	       "int main(int argc, char **argv) {\n"
	       "int status, fd = chdir(argv[1]) ? -1 : open(\"f\", O_RDWR | O_CREAT, 0600);\n"
	       "pid_t pid = fork();\n"
	       "if (!pid) _exit(write(fd, \"abc\", 3) != 3 || mkdir(\"d\", 0755));\n"
	       "if (waitpid(pid, &status, 0) != pid || status) return 2;\n"
	       "return rmdir(\"d\") || lseek(fd, 0, SEEK_CUR) != 3 ? 3 : 1; }",
	       PROGRAM_EXITED, 1);
}

/* The call that never returns is a child's, which can be killed. */
static void outlives_a_call_that_never_returns(struct target *t)
{
	expect(t,
	       "int main(int argc, char **argv) {\n"
	       "if (chdir(argv[1]) || mkfifo(\"p\", 0600)) return 2;\n"
	       "pid_t pid = fork();\n"
	       "if (!pid) _exit(open(\"p\", O_RDONLY) < 0);\n"
	       "sleep(1);\n"
	       "if (waitpid(pid, NULL, WNOHANG)) return 3;\n"
	       "kill(pid, SIGKILL);\n"
	       "return waitpid(pid, NULL, 0) != pid || unlink(\"p\") ? 4 : 1; }",
	       PROGRAM_EXITED, 1);
}

static void on_kernel_ext4(void **unused)
{
	struct target *t = open_target("kernel:ext4");

	if (!t)
		skip();
	assert_non_null(t->kind->run_program);
	sees_what_calls_made(t);
	remounts(t);
	lives_in_the_kernel(t);
	outlives_a_call_that_never_returns(t);
	ends_in_every_way(t);
	can_be_reset(t);
	target_close(t);
}

static void on_a_directory(void **unused)
{
	char place[] = "/tmp/assay-dir-XXXXXX";
	struct buf spec = BUF_INIT;

	assert_non_null(mkdtemp(place));
	buf_addf(&spec, "dir:%s", place);
	on_target(spec.data);
	buf_free(&spec);
	assert_int_equal(rmdir(place), 0);
}

static void a_program_is_compiled(void **unused)
{
	struct buf program = BUF_INIT;
	struct program_report end;
	struct err err = { 0 };

	assert_int_equal(
		compile_program("int main(void) { return 0; }", "-O1", &program, &end, &err), 0);
	assert_int_equal(end.fate, PROGRAM_EXITED);
	assert_true(program.len > 4 && !memcmp(program.data, "\177ELF", 4));
	program_report_free(&end);
	buf_free(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_ext4),
		cmocka_unit_test(on_tmpfs),
		cmocka_unit_test(on_overlay),
		cmocka_unit_test(on_bindfs),
		cmocka_unit_test(on_kernel_ext4),
		cmocka_unit_test(on_a_directory),
		cmocka_unit_test(a_program_is_compiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
