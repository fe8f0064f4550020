/* test_trust.c -- what somebody else could have made or can change is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/trust.h"
#include "tests/harness/unit.h"

enum { SOMEBODY = 65534 };

static char root[] = "/tmp/assay-trust-XXXXXX";
static struct err err;

/* root/private/file, root/sticky (everybody's, sticky), root/open (everybody's). */
static int set_up(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return !mkdtemp(root) || chdir(root) || mkdir("private", 0755) || mkdir("sticky", 0755) ||
	       chmod("sticky", 01777) || mkdir("open", 0755) || chmod("open", 0777) ||
	       close(open("private/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	unsetenv("SUDO_UID");
	return chdir("/") || system(command);
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static int opened(const char *path)
{
	int fd;

	err = (struct err){ 0 };
	fd = trust_open(path, O_RDONLY, &err);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int output(const char *path)
{
	err = (struct err){ 0 };
	return trust_output(path, &err);
}

static void need_root(void)
{
	if (geteuid())
		skip();
}

static void own_files_are_opened(void **state)
{
	char absolute[64];

	snprintf(absolute, sizeof(absolute), "%s//private/./file", root);
	assert_int_equal(opened("private/file"), 0);
	assert_int_equal(opened("sticky/../private/file"), 0);
	assert_int_equal(opened(absolute), 0);
	assert_int_equal(opened("private/none"), -ENOENT);
	assert_int_equal(opened("private/file/none"), -ENOTDIR);
}

static void files_others_can_write_to_are_refused(void **state)
{
	assert_int_equal(chmod("private/file", 0646), 0);
	assert_int_equal(opened("private/file"), -EPERM);
	assert_non_null(strstr(err.text, "private/file"));
	assert_non_null(strstr(err.text, "others can write"));
}

static void files_of_others_are_refused(void **state)
{
	need_root();
	assert_int_equal(chown("private/file", SOMEBODY, 0), 0);
	assert_int_equal(opened("private/file"), -EPERM);
	assert_non_null(strstr(err.text, "belongs to user 65534"));
}

static void groups_of_others_are_refused(void **state)
{
	need_root();
	assert_int_equal(chmod("private/file", 0664), 0);
	assert_int_equal(opened("private/file"), 0); /* the group root is nobody else */
	assert_int_equal(chown("private/file", 0, SOMEBODY), 0);
	assert_int_equal(opened("private/file"), -EPERM);
}

static void directories_on_the_way_count(void **state)
{
	make_file("open/file");
	make_file("sticky/file");
	assert_int_equal(opened("open/file"), -EPERM);
	assert_int_equal(opened("sticky/file"), 0);
	need_root();
	assert_int_equal(chown("private", SOMEBODY, 0), 0);
	assert_int_equal(opened("private/file"), -EPERM);
}

/* Also relative ones, where the directory itself is not named. */
static void the_current_directory_counts(void **state)
{
	make_file("open/file");
	assert_int_equal(chdir("open"), 0);
	assert_int_equal(opened("file"), -EPERM);
}

static void links_are_followed_if_they_are_ours(void **state)
{
	assert_int_equal(symlink("../private/file", "sticky/link"), 0);
	assert_int_equal(symlink("loop", "private/loop"), 0);
	assert_int_equal(opened("sticky/link"), 0);
	assert_int_equal(opened("private/loop"), -ELOOP);
	need_root();
	assert_int_equal(lchown("sticky/link", SOMEBODY, 0), 0);
	assert_int_equal(opened("sticky/link"), -EPERM);
}

static void a_link_leads_to_what_is_checked(void **state)
{
	make_file("open/file");
	assert_int_equal(symlink("../open/file", "private/link"), 0);
	assert_int_equal(opened("private/link"), -EPERM);
}

/* Where links to others' files are allowed, a sticky directory says nothing of who made one. */
static void another_name_in_a_sticky_directory_is_refused(void **state)
{
	assert_int_equal(link("private/file", "sticky/file"), 0);
	assert_int_equal(opened("sticky/file"), -EPERM);
	assert_int_equal(opened("private/file"), 0);
}

static void output_goes_where_nobody_else_is(void **state)
{
	assert_int_equal(output("private"), 0);
	assert_int_equal(output("sticky"), -EPERM);
	assert_int_equal(output("none"), -ENOENT);
	assert_int_equal(mkdir("sticky/runs", 0755), 0);
	assert_int_equal(output("sticky/runs"), 0);
	assert_int_equal(mkdir("open/runs", 0755), 0);
	assert_int_equal(output("open/runs"), -EPERM);
	need_root();
	assert_int_equal(chown("sticky/runs", SOMEBODY, 0), 0);
	assert_int_equal(output("sticky/runs"), -EPERM);
}

static void output_goes_into_directories_of_others(void **state)
{
	need_root();
	assert_int_equal(chown("private", SOMEBODY, 0), 0);
	assert_int_equal(mkdir("private/runs", 0755), 0);
	assert_int_equal(output("private/runs"), 0);
	assert_int_equal(output("private"), -EPERM);
	setenv("SUDO_UID", "65534", 1);
	assert_int_equal(output("private"), 0);
	assert_int_equal(opened("private/file"), -EPERM); /* it could name commands */
}

static void output_follows_no_link_of_others(void **state)
{
	assert_int_equal(symlink("../private", "sticky/runs"), 0);
	assert_int_equal(output("sticky/runs"), 0);
	need_root();
	assert_int_equal(lchown("sticky/runs", SOMEBODY, 0), 0);
	assert_int_equal(output("sticky/runs"), -EPERM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_files_are_opened),
		TEST(files_others_can_write_to_are_refused),
		TEST(files_of_others_are_refused),
		TEST(groups_of_others_are_refused),
		TEST(directories_on_the_way_count),
		TEST(the_current_directory_counts),
		TEST(links_are_followed_if_they_are_ours),
		TEST(a_link_leads_to_what_is_checked),
		TEST(another_name_in_a_sticky_directory_is_refused),
		TEST(output_goes_where_nobody_else_is),
		TEST(output_goes_into_directories_of_others),
		TEST(output_follows_no_link_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
