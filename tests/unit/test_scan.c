/* test_scan.c -- a directory made by system calls is the tree made by functions. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "tests/harness/unit.h"
#include "tree/pack.h"
#include "tree/scan.h"

static char dir[256];
static int dir_fd;
static struct tree made; /* the tree made by functions */

static int in_new_directory(void **state)
{
	const char *work = getenv("WORK");

	snprintf(dir, sizeof(dir), "%s/assay-take.XXXXXX", work ? work : "/tmp");
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir_fd >= 0);
	umask(0);
	assert_int_equal(fchmod(dir_fd, 0755), 0);
	tree_init(&made, TREE_FIELDS_DEFAULT, true, 0755, geteuid(), getegid());
	return 0;
}

static int remove_directory(void **state)
{
	char command[300];

	tree_free(&made);
	close(dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static uint64_t make(uint64_t parent, const char *name, uint32_t mode)
{
	uint64_t ino = tree_new(&made, mode, geteuid(), getegid(), 0);

	tree_link(&made, parent, name, strlen(name), ino);
	return ino;
}

static int make_file_at(int fd, const char *name, const char *data, size_t len)
{
	int file = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(file >= 0);
	assert_int_equal(write(file, data, len), len);
	return close(file);
}

static struct tree take(const struct scan_options *options)
{
	struct scanner *taker = scanner_new(options);
	struct err err = { 0 };
	struct tree t;

	assert_int_equal(tree_scan(taker, dir_fd, &t, &err), 0);
	scanner_free(taker);
	return t;
}

static const struct scan_options usual = { .fields = TREE_FIELDS_DEFAULT };

/* What is taken must be what was made. */
static void expect_made(void)
{
	struct buf out = BUF_INIT;
	struct tree t = take(&usual);

	tree_settle(&made);
	tree_diff(&made, &t, 10, &out);
	assert_string_equal(buf_str(&out), "");
	assert_true(hash_equal(tree_hash(&made), tree_hash(&t)));
	tree_free(&t);
	buf_free(&out);
}

static int expect_error(const struct scan_options *options)
{
	struct scanner *taker = scanner_new(options);
	struct err err = { 0 };
	struct tree t;
	int r = tree_scan(taker, dir_fd, &t, &err);

	assert_true(r < 0);
	assert_int_equal(err.code, r);
	assert_true(err.text[0]);
	scanner_free(taker);
	return r;
}

static void an_empty_directory(void **state)
{
	expect_made();
}

static void objects_of_all_types(void **state)
{
	uint64_t d, f, l;

	assert_int_equal(mkdirat(dir_fd, "d", 0750), 0);
	d = make(TREE_ROOT, "d", S_IFDIR | 0750);
	assert_int_equal(mkdirat(dir_fd, "d/e", 01777), 0);
	make(d, "e", S_IFDIR | 01777);
	make_file_at(dir_fd, "d/f", "data", 4);
	f = make(d, "f", S_IFREG | 0644);
	tree_write(&made, f, 0, "data", 4);
	assert_int_equal(linkat(dir_fd, "d/f", dir_fd, "g", 0), 0);
	tree_link(&made, TREE_ROOT, "g", 1, f);
	make_file_at(dir_fd, "empty", "", 0);
	make(TREE_ROOT, "empty", S_IFREG | 0644);
	assert_int_equal(symlinkat("d/nowhere", dir_fd, "l"), 0);
	l = make(TREE_ROOT, "l", S_IFLNK | 0777);
	tree_set_target(&made, l, "d/nowhere", 9);
	assert_int_equal(mkfifoat(dir_fd, "p", 0600), 0); /* opening it would not come back */
	make(TREE_ROOT, "p", S_IFIFO | 0600);
	assert_int_equal(mknodat(dir_fd, "s", S_IFSOCK | 0600, 0), 0);
	make(TREE_ROOT, "s", S_IFSOCK | 0600);
	expect_made();
}

static void files_larger_than_the_buffer(void **state)
{
	size_t len = 700 * 1000;
	char *data = malloc(len);
	uint64_t f = make(TREE_ROOT, "f", S_IFREG | 0644);

	for (size_t i = 0; i < len; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	make_file_at(dir_fd, "f", data, len);
	tree_write(&made, f, 0, data, len);
	free(data);
	expect_made();
}

static void holes_are_not_read(void **state)
{
	uint64_t f = make(TREE_ROOT, "f", S_IFREG | 0644), size = (uint64_t)1 << 40;
	struct scan_options options = usual;
	struct tree t;
	int fd;

	make_file_at(dir_fd, "f", "", 0);
	fd = openat(dir_fd, "f", O_WRONLY | O_CLOEXEC);
	if (ftruncate(fd, (off_t)size) < 0) {
		close(fd);
		skip(); /* no such large files here */
	}
	assert_int_equal(pwrite(fd, "x", 1, (off_t)size / 2), 1);
	close(fd);
	tree_truncate(&made, f, size);
	tree_write(&made, f, size / 2, "x", 1);
	expect_made();
	options.bytes_max = 1 << 20;
	t = take(&options);
	tree_free(&t);
}

static void attributes_are_taken(void **state)
{
	uint64_t f = make(TREE_ROOT, "f", S_IFREG | 0644), e = make(TREE_ROOT, "e", S_IFREG | 0644);
	char path[300];

	make_file_at(dir_fd, "f", "x", 1);
	make_file_at(dir_fd, "e", "", 0);
	if (fsetxattr(dir_fd, "user.root", "r", 1, 0) < 0)
		skip(); /* not supported here */
	tree_set_xattr(&made, TREE_ROOT, "user.root", "r", 1);
	snprintf(path, sizeof(path), "%s/f", dir);
	assert_int_equal(setxattr(path, "user.a", "1", 1, 0), 0);
	assert_int_equal(setxattr(path, "user.b", "", 0, 0), 0);
	tree_set_xattr(&made, f, "user.a", "1", 1);
	tree_set_xattr(&made, f, "user.b", "", 0);
	snprintf(path, sizeof(path), "%s/e", dir);
	assert_int_equal(setxattr(path, "user.c", "value", 5, 0), 0);
	tree_set_xattr(&made, e, "user.c", "value", 5);
	tree_write(&made, f, 0, "x", 1);
	expect_made();
}

static void many_entries(void **state)
{
	char name[48];

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a name to fill a buffer %d", i);
		make_file_at(dir_fd, name, "", 0);
		make(TREE_ROOT, name, S_IFREG | 0644);
	}
	expect_made();
}

static void lost_found_is_as_if_not_there(void **state)
{
	struct scan_options options = usual;
	struct tree t;

	assert_int_equal(mkdirat(dir_fd, "lost+found", 0700), 0);
	expect_made();
	options.lost_found = true;
	t = take(&options);
	assert_non_null(tree_find(&t, TREE_ROOT, "lost+found", 10));
	assert_int_equal(tree_inode(&t, TREE_ROOT)->nlink, 3);
	tree_free(&t);
}

static void what_cannot_be_read_is_part_of_the_tree(void **state)
{
	const struct inode *f, *d;
	struct tree t;
	uid_t user = geteuid();

	make_file_at(dir_fd, "f", "secret", 6);
	assert_int_equal(mkdirat(dir_fd, "d", 0700), 0);
	assert_int_equal(fchmodat(dir_fd, "f", 0, 0), 0);
	assert_int_equal(fchmodat(dir_fd, "d", 0, 0), 0);
	assert_true(user || seteuid(65534) == 0);
	t = take(&usual);
	assert_int_equal(seteuid(user), 0);
	f = tree_inode(&t, tree_find(&t, TREE_ROOT, "f", 1)->ino);
	d = tree_inode(&t, tree_find(&t, TREE_ROOT, "d", 1)->ino);
	assert_int_equal(f->mode & S_IFMT, 0);
	assert_int_equal(f->error.code, EACCES);
	assert_string_equal(f->error.call, "open");
	assert_int_equal(d->error.code, EACCES);
	tree_free(&t);
	assert_int_equal(fchmodat(dir_fd, "d", 0700, 0), 0);
}

static void limits_are_kept(void **state)
{
	struct scan_options options = usual;
	struct tree t;

	make_file_at(dir_fd, "a", "12345", 5);
	make_file_at(dir_fd, "b", "", 0);
	options.objects_max = 1;
	assert_int_equal(expect_error(&options), -EOVERFLOW);
	options.objects_max = 2;
	options.bytes_max = 4;
	assert_int_equal(expect_error(&options), -EOVERFLOW);
	options.bytes_max = 5;
	t = take(&options);
	tree_free(&t);
}

/* Beyond its limits the tree says so itself; no object can have such a name. */
static void limits_can_be_part_of_the_tree(void **state)
{
	struct scan_options options = usual;
	struct tree t;
	const struct entry *more;

	make_file_at(dir_fd, "a", "12345", 5);
	make_file_at(dir_fd, "b", "", 0);
	options.objects_max = 1;
	options.bounded = true;
	t = take(&options);
	more = tree_find(&t, TREE_ROOT, "/more", strlen("/more"));
	assert_non_null(more);
	assert_int_equal(tree_inode(&t, more->ino)->error.code, EOVERFLOW);
	tree_free(&t);
}

/* Of a file that is too large, the first and the last part. Where the file system tells its holes,
 * everything is read but those. */
static void large_files_have_a_beginning_and_an_end(void **state)
{
	enum { LARGE = 16 << 20, ENOUGH = 1 << 20 };
	struct scan_options options = usual;
	static char data[LARGE];
	const struct inode *inode;
	const struct entry *entry;
	struct tree t;
	char byte;

	memset(data, 'x', sizeof(data));
	make_file_at(dir_fd, "f", data, sizeof(data));
	options.bytes_max = ENOUGH;
	assert_int_equal(expect_error(&options), -EOVERFLOW);
	options.bounded = true;
	t = take(&options);
	entry = tree_find(&t, TREE_ROOT, "f", 1);
	inode = tree_inode(&t, entry->ino);
	assert_int_equal(inode->size, LARGE);
	assert_false(tree_is_zero(&t, entry->ino, 0, 1));
	assert_true(tree_is_zero(&t, entry->ino, 4 * ENOUGH, LARGE - 2 * SCAN_TAIL));
	for (uint64_t at = LARGE - SCAN_TAIL; at < LARGE; at += 4095)
		assert_true(tree_read(&t, entry->ino, at, &byte, 1) == 1 && byte == 'x');
	tree_free(&t);
}

static void make_deep(int levels)
{
	int fd = dup(dir_fd);

	for (int i = 0; i < levels; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0755), 0);
		make_file_at(fd, "z", "", 0); /* often comes after the directory */
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(fd);
		fd = next;
	}
	close(fd);
}

/* Whatever the depth, few directories are open at a time. */
static void depth_has_no_end(void **state)
{
	enum { LEVELS = 5000, DESCRIPTORS = 100 };
	struct rlimit before, few;
	struct tree t;

	make_deep(LEVELS);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ DESCRIPTORS, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	t = take(&usual);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(t.inodes.count, 1 + 2 * LEVELS);
	tree_free(&t);
}

static void a_walk_leaves_no_descriptor_and_can_be_repeated(void **state)
{
	struct scanner *taker = scanner_new(&usual);
	int before, after;
	struct tree one, two;
	struct err err = { 0 };

	assert_int_equal(mkdirat(dir_fd, "d", 0755), 0);
	make_file_at(dir_fd, "d/f", "data", 4);
	before = dup(0);
	close(before);
	assert_int_equal(tree_scan(taker, dir_fd, &one, &err), 0);
	assert_int_equal(tree_scan(taker, dir_fd, &two, &err), 0);
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
	assert_true(hash_equal(tree_hash(&one), tree_hash(&two)));
	tree_free(&one);
	tree_free(&two);
	scanner_free(taker);
}

static void without_a_root_there_is_no_tree(void **state)
{
	struct scanner *taker = scanner_new(&usual);
	struct err err = { 0 };
	struct tree t;

	assert_int_equal(tree_scan(taker, -1, &t, &err), -EBADF);
	assert_int_equal(err.code, -EBADF);
	scanner_free(taker);
}

/* ---- entries against what they name ---- */

static const struct scan_options with_entries = { .fields = TREE_FIELDS_DEFAULT | TREE_ENTRIES };

/* What the file system says about one name is another thing, or it does not say it at all. */
static struct {
	const char *name;
	uint64_t ino; /* added to d_ino */
	int type;     /* -1: as it is */
	bool absent;
	/* What stat says about a file by its second name; times: how many were looked up. */
	uint32_t mode, nlink, uid;
	uint64_t size;
	int times;
} lie;

static void tell_lie(struct dirent64 *entry)
{
	if (!lie.name || strcmp(entry->d_name, lie.name) != 0)
		return;
	entry->d_ino += lie.ino;
	if (lie.type >= 0)
		entry->d_type = (unsigned char)lie.type;
	if (lie.absent)
		strcpy(entry->d_name, "f"); /* as long as "." at least, and listed twice then */
}

/* In place of the library's. */
ssize_t getdents64(int fd, void *buffer, size_t size)
{
	ssize_t n = syscall(SYS_getdents64, fd, buffer, size);

	for (ssize_t at = 0; at < n;) {
		struct dirent64 *entry = (struct dirent64 *)((char *)buffer + at);

		tell_lie(entry);
		at += entry->d_reclen;
	}
	return n;
}

/* Likewise. */
int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	int ret = (int)syscall(SYS_statx, fd, path, flags, mask, st);

	if (flags & AT_EMPTY_PATH)
		lie.times = 0; /* the root, where a scan begins */
	if (ret || !S_ISREG(st->stx_mode) || st->stx_nlink < 2 || ++lie.times < 2)
		return ret;
	st->stx_mode ^= (uint16_t)lie.mode;
	st->stx_nlink += lie.nlink;
	st->stx_uid += lie.uid;
	st->stx_size += lie.size;
	return ret;
}

/* The directory that the tests are in may be of a file system whose entries are not to be judged.
 */
static bool entries_are_sound(void)
{
	struct statfs fs;

	return !fstatfs(dir_fd, &fs) &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == EXT4_SUPER_MAGIC ||
		fs.f_type == XFS_SUPER_MAGIC);
}

/* The lie gives this line and no other. */
static void expect_line(const char *line)
{
	struct tree plain, t;
	struct buf out = BUF_INIT;

	plain = take(&usual);
	t = take(&with_entries);
	tree_diff(&plain, &t, 10, &out);
	assert_string_equal(buf_str(&out), line);
	assert_int_equal(hash_equal(tree_hash(&plain), tree_hash(&t)), !*line);
	tree_free(&plain);
	tree_free(&t);
	buf_free(&out);
}

static int in_directory_without_lies(void **state)
{
	memset(&lie, 0, sizeof(lie));
	lie.type = -1;
	in_new_directory(state);
	assert_int_equal(mkdirat(dir_fd, "d", 0755), 0);
	assert_int_equal(mkdirat(dir_fd, "d/e", 0755), 0);
	make_file_at(dir_fd, "d/f", "data", 4);
	assert_int_equal(linkat(dir_fd, "d/f", dir_fd, "g", 0), 0);
	assert_int_equal(mkfifoat(dir_fd, "p", 0600), 0);
	return 0;
}

static void true_entries_are_not_remarked(void **state)
{
	if (!entries_are_sound())
		skip();
	expect_line("");
}

static void a_wrong_inode_number_is_remarked(void **state)
{
	lie.name = "g";
	lie.ino = 1;
	expect_line("/: d_ino of \"g\" is not st_ino of what it names\n");
}

static void a_wrong_type_is_remarked(void **state)
{
	lie.name = "p";
	lie.type = DT_REG;
	expect_line("/: d_type of \"p\" is not the type of what it names\n");
	lie.type = DT_UNKNOWN;
	expect_line("");
}

/* Above the root the scan knows nothing. */
static void a_wrong_parent_is_remarked(void **state)
{
	lie.name = "..";
	lie.ino = 1;
	expect_line("/d: d_ino of \"..\" is not st_ino of what it names\n"
		    "/d/e: d_ino of \"..\" is not st_ino of what it names\n");
	lie.ino = 0;
	lie.type = DT_LNK;
	expect_line("/: d_type of \"..\" is not the type of what it names\n"
		    "/d: d_type of \"..\" is not the type of what it names\n"
		    "/d/e: d_type of \"..\" is not the type of what it names\n");
}

static void a_wrong_dot_is_remarked(void **state)
{
	assert_int_equal(unlinkat(dir_fd, "d/e", AT_REMOVEDIR), 0);
	lie.name = ".";
	lie.ino = 1;
	expect_line("/: d_ino of \".\" is not st_ino of what it names\n"
		    "/d: d_ino of \".\" is not st_ino of what it names\n");
}

/* Without its ".", a directory has another name twice here. */
static void an_absent_dot_is_remarked(void **state)
{
	struct tree t;
	uint64_t d;

	lie.name = ".";
	lie.absent = true;
	t = take(&with_entries);
	d = tree_find(&t, TREE_ROOT, "d", 1)->ino;
	assert_non_null(tree_find(&t, d, "/absent:.", strlen("/absent:.")));
	assert_null(tree_find(&t, d, "/absent:..", strlen("/absent:..")));
	assert_non_null(tree_find(&t, d, "/twice", strlen("/twice")));
	tree_free(&t);
}

/* Fields decide what is judged. */
static void what_means_nothing_is_not_remarked(void **state)
{
	struct scan_options types = { .fields = TREE_FIELDS_DEFAULT | TREE_ENTRY_TYPE };
	struct tree plain = take(&usual), t;

	lie.name = "g";
	lie.ino = 1;
	t = take(&types);
	assert_true(hash_equal(tree_hash(&plain), tree_hash(&t)));
	tree_free(&t);
	lie.type = DT_DIR;
	t = take(&types);
	assert_false(hash_equal(tree_hash(&plain), tree_hash(&t)));
	tree_free(&t);
	tree_free(&plain);
}

/* The line, whichever of the two names the scan meets first. */
static void expect_by_name(const char *second, const char *first)
{
	struct tree t = take(&with_entries);
	bool g = tree_find(&t, TREE_ROOT, "/name:g", strlen("/name:g"));
	struct buf line = BUF_INIT;

	buf_addf(&line, "%s: %s by this name, but %s by %s, the same inode\n", g ? "/g" : "/d/f",
		 second, first, g ? "/d/f" : "/g");
	expect_line(buf_str(&line));
	buf_free(&line);
	tree_free(&t);
}

static void other_attributes_by_another_name_are_remarked(void **state)
{
	char owner[2][32];

	lie.mode = 0111;
	expect_by_name("mode 0755", "mode 0644");
	lie.mode = 0;
	lie.nlink = 3;
	expect_by_name("link count 5", "link count 2");
	lie.nlink = 0;
	lie.size = 7;
	expect_by_name("size 11", "size 4");
	lie.size = 0;
	lie.uid = 1;
	snprintf(owner[0], sizeof(owner[0]), "owner %u:%u", geteuid() + 1, getegid());
	snprintf(owner[1], sizeof(owner[1]), "owner %u:%u", geteuid(), getegid());
	expect_by_name(owner[0], owner[1]);
}

/* A name with the number of an object of another type is not another name of it. */
static void another_type_by_another_name_is_an_error(void **state)
{
	struct tree t;
	struct buf out = BUF_INIT;

	lie.mode = S_IFREG ^ S_IFLNK;
	t = take(&with_entries);
	tree_print(&t, &out);
	assert_non_null(strstr(buf_str(&out), "error"));
	assert_non_null(strstr(buf_str(&out), "EUCLEAN"));
	buf_free(&out);
	tree_free(&t);
}

/* Where the field means nothing, only the first name counts; packing keeps what is remarked. */
static void attributes_by_name_are_a_field(void **state)
{
	struct scan_options types = { .fields = TREE_FIELDS_DEFAULT | TREE_ENTRY_TYPE };
	struct tree plain = take(&usual), t, unpacked;
	struct buf packed = BUF_INIT, before = BUF_INIT, after = BUF_INIT;
	struct err err = { 0 };
	const char *at;

	lie.size = 7;
	t = take(&types);
	assert_true(hash_equal(tree_hash(&plain), tree_hash(&t)));
	tree_free(&t);
	t = take(&with_entries);
	tree_pack(&t, &packed);
	at = buf_str(&packed);
	assert_int_equal(tree_unpack(&unpacked, &at, at + packed.len, t.fields, true, &err), 0);
	tree_diff(&plain, &t, 10, &before);
	tree_diff(&plain, &unpacked, 10, &after);
	assert_string_equal(buf_str(&before), buf_str(&after));
	tree_adopt(&unpacked);
	tree_adopt(&plain);
	assert_true(hash_equal(tree_hash(&plain), tree_hash(&unpacked)));
	assert_int_equal(plain.inodes.count, unpacked.inodes.count);
	buf_free(&packed);
	buf_free(&before);
	buf_free(&after);
	tree_free(&unpacked);
	tree_free(&t);
	tree_free(&plain);
}

/* What is remarked does not become part of a tree that calls continue from. */
static void remarks_are_not_adopted(void **state)
{
	struct tree plain = take(&usual), t;

	lie.name = "g";
	lie.ino = 1;
	t = take(&with_entries);
	tree_adopt(&t);
	tree_adopt(&plain);
	assert_true(hash_equal(tree_hash(&plain), tree_hash(&t)));
	tree_free(&t);
	tree_free(&plain);
}

int main(void)
{
#define ENTRIES(name) \
	cmocka_unit_test_setup_teardown(name, in_directory_without_lies, remove_directory)
#define TEST(name) cmocka_unit_test_setup_teardown(name, in_new_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_directory),
		TEST(objects_of_all_types),
		TEST(files_larger_than_the_buffer),
		TEST(holes_are_not_read),
		TEST(attributes_are_taken),
		TEST(many_entries),
		TEST(lost_found_is_as_if_not_there),
		TEST(what_cannot_be_read_is_part_of_the_tree),
		TEST(limits_are_kept),
		TEST(limits_can_be_part_of_the_tree),
		TEST(large_files_have_a_beginning_and_an_end),
		TEST(depth_has_no_end),
		TEST(a_walk_leaves_no_descriptor_and_can_be_repeated),
		TEST(without_a_root_there_is_no_tree),
		ENTRIES(true_entries_are_not_remarked),
		ENTRIES(a_wrong_inode_number_is_remarked),
		ENTRIES(a_wrong_type_is_remarked),
		ENTRIES(a_wrong_parent_is_remarked),
		ENTRIES(a_wrong_dot_is_remarked),
		ENTRIES(an_absent_dot_is_remarked),
		ENTRIES(what_means_nothing_is_not_remarked),
		ENTRIES(other_attributes_by_another_name_are_remarked),
		ENTRIES(another_type_by_another_name_is_an_error),
		ENTRIES(attributes_by_name_are_a_field),
		ENTRIES(remarks_are_not_adopted),
	};

	return cmocka_run_group_tests_name("take", tests, NULL, NULL);
}
