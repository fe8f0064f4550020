/* test_resource.c -- what of the user's a command names, and that one uses it at a time. */
#include "target/resource.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"

static char place[] = "/tmp/assay-resource-XXXXXX";

static void make(const char *name, const char *bytes, size_t len, mode_t mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

static int set_up(void **state)
{
	if (!mkdtemp(place) || chdir(place) || mkdir("back", 0755) || mkdir("two words", 0755))
		return -1;
	make("image", "a\0b", 3, 0600);
	make("text", "a = b\n", 6, 0600);
	make("program", "\177ELF\0", 5, 0700);
	return 0;
}

static int tear_down(void **state)
{
	return unlink("image") || unlink("text") || unlink("program") || rmdir("back") ||
	       rmdir("two words") || chdir("/") || rmdir(place);
}

static int visit(void *to, enum resource_kind kind, const char *path, struct buf *replaced,
		 struct err *err)
{
	buf_addf(to, "%s:%s;", kind == RESOURCE_IMAGE ? "image" : "place", path);
	buf_addf(replaced, "{%s}", kind == RESOURCE_IMAGE ? "image" : "place");
	return 0;
}

static void names(const char *command, const char *expected, const char *replaced)
{
	struct buf seen = BUF_INIT, out = BUF_INIT;
	const struct resource_visitor visitor = { visit, &seen };

	assert_int_equal(resource_each(command, &visitor, &out, NULL), 0);
	assert_string_equal(buf_str(&seen), expected);
	assert_string_equal(buf_str(&out), replaced);
	buf_free(&seen);
	buf_free(&out);
}

static void what_a_command_names(void **state)
{
	names("fuse2fs image", "image:image;", "fuse2fs {image}");
	names("fuse2fs  ./image -o rw {mount}", "image:./image;", "fuse2fs  {image} -o rw {mount}");
	names("bindfs back", "place:back;", "bindfs {place}");
	names("bindfs 'two words' x", "place:two words;", "bindfs {place} x");
	names("bindfs two\\ words", "place:two words;", "bindfs {place}");
	names("daemon --data=back,rw -o conf=text", "place:back;",
	      "daemon --data={place},rw -o conf=text");
	/* Lists, and several values of one option; not the names of options. */
	names("mergerfs back:./back", "place:back;place:./back;", "mergerfs {place}:{place}");
	names("mhddfs back,image", "place:back;image:image;", "mhddfs {place},{image}");
	names("unionfs ./back=RW:/none=RO", "place:./back;", "unionfs {place}=RW:/none=RO");
	names("overlay -o lowerdir=back:none,upperdir=./back", "place:back;place:./back;",
	      "overlay -o lowerdir={place}:none,upperdir={place}");
	names("daemon -o back,rw", "", "daemon -o back,rw");
	/* The program itself, text, programs, and what the shell makes of it are left alone. */
	names("./image", "", "./image");
	names("python3 text program none", "", "python3 text program none");
	names("sh -c 'bindfs back $0' {mount}", "", "sh -c 'bindfs back $0' {mount}");
	names("bindfs $HOME b*ck", "", "bindfs $HOME b*ck");
	names("", "", "");
	assert_true(resource_is_named("bindfs back"));
	assert_false(resource_is_named("fuse2fs image"));
}

/* Holds the lock until it is killed. */
static pid_t hold(const char *path)
{
	int ready[2], fd;
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (!resource_lock(path, &fd, NULL) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void words_for_a_shell_are_refused(void **state)
{
	static const char *const refused[] = {
		"bindfs $HOME", "bindfs \"$HOME\"/x", "bindfs ~",         "bindfs ~/x {mount}",
		"daemon *.img", "daemon `x`",         "daemon -o src=$x", "daemon a[12]",
	};
	static const char *const fine[] = {
		"bindfs back {mount}",
		"sh -c 'bindfs $0 $1' back {mount}",
		"sh -c 'x & until [ -e none ]; do kill $! || exit; done' {mount}",
		"bindfs 'two words' {mount}",
		"python3 -c 'print(text)'",
		"daemon '$HOME'",
		"daemon \\$HOME",
		"daemon a~",
		"x & y",
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		assert_int_equal(resource_check(refused[i], NULL), -EINVAL);
	for (size_t i = 0; i < ARRAY_LEN(fine); i++)
		assert_int_equal(resource_check(fine[i], NULL), 0);
	assert_int_equal(resource_check("bindfs $HOME", &err), -EINVAL);
	assert_non_null(strstr(err.text, "$HOME: only a shell"));
}

/* What a line for another shell names, however it is written. */
static void texts_that_name_something_are_refused(void **state)
{
	static const char *const refused[] = {
		"sh -c 'bindfs back $0' {mount}",
		"sh -c 'fuse2fs image' {mount}",
		"sh -c \"fuse2fs image; x\"",
		"sh -c fuse2fs\\ image",
		"env x=y sh -c 'd=back; bindfs x'",
		"daemon -o 'source=back,name=a b'",
		"fuse2fs image;true",
		"daemon <image",
		"sh -c 'bindfs $HOME $0' {mount}",
		"sh -c 'bindfs ~/x $0' {mount}",
		"sh -c 'daemon *.img'",
		"sh -c 'daemon $(x) $0'",
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (resource_check(refused[i], NULL) != -EINVAL)
			fail_msg("taken: %s", refused[i]);
	assert_int_equal(resource_check(refused[0], &err), -EINVAL);
	assert_non_null(strstr(err.text, "back: named inside"));
	assert_non_null(strstr(err.text, "script file"));
}

static void one_at_a_time(void **state)
{
	struct err err = { 0 };
	int fd, other;
	pid_t pid = hold("back");

	/* By whatever name. */
	assert_int_equal(symlink("back", "link"), 0);
	assert_int_equal(resource_lock("link", &fd, &err), -EBUSY);
	assert_non_null(strstr(err.text, "in use by another run"));
	assert_int_equal(resource_lock("two words", &other, NULL), 0);
	close(other);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(resource_lock("link", &fd, NULL), 0);
	close(fd);
	unlink("link");
	assert_int_equal(resource_lock("none", &fd, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_command_names),
		cmocka_unit_test(words_for_a_shell_are_refused),
		cmocka_unit_test(texts_that_name_something_are_refused),
		cmocka_unit_test(one_at_a_time),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
