/* tree.c -- what trees cost: states, edits, and the walk over a real directory beside a bare one.
 *
 * Prints "name value unit" lines. The directory has ten objects and lies on the tmpfs at
 * /dev/shm. */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "tree/scan.h"

enum { STATES = 20000, RUNS = 50, REPEATS = 20000, WALKS = 50 };

/* Nanoseconds a turn, the least over many short runs: the others were disturbed. */
#define TIME(turns, body) \
	({ \
		double least_ = 1e9; \
		for (int run_ = 0; run_ < RUNS; run_++) { \
			double start_ = clock_seconds(), seconds_; \
			for (int i = 0; i < (turns); i++) { \
				body; \
			} \
			seconds_ = clock_seconds() - start_; \
			least_ = seconds_ < least_ ? seconds_ : least_; \
		} \
		least_ / (turns)*1e9; \
	})

static uint64_t make_tree_object(struct tree *t, uint64_t dir, const char *name, uint32_t mode)
{
	uint64_t ino = tree_new(t, mode, 0, 0, 0);

	tree_link(t, dir, name, strlen(name), ino);
	return ino;
}

/* Ten objects: three directories, five files (four of them with contents), two links. */
static struct tree ten_objects(uint64_t *ret_file)
{
	struct tree t;
	uint64_t a, b;

	tree_init(&t, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	a = make_tree_object(&t, TREE_ROOT, "a", S_IFDIR | 0755);
	b = make_tree_object(&t, a, "b", S_IFDIR | 0755);
	make_tree_object(&t, TREE_ROOT, "c", S_IFDIR | 0755);
	for (int i = 0; i < 5; i++) {
		*ret_file = make_tree_object(&t, i % 2 ? a : b, &"fghij"[4 - i], S_IFREG | 0644);
		tree_write(&t, *ret_file, 0, "0123456789", i);
	}
	tree_set_target(&t, make_tree_object(&t, a, "l", S_IFLNK | 0777), "b/f", 3);
	tree_set_target(&t, make_tree_object(&t, TREE_ROOT, "m", S_IFLNK | 0777), "a", 1);
	tree_settle(&t);
	return t;
}

static void print_figure(const char *name, double value, const char *unit)
{
	printf("%s %.4g %s\n", name, value, unit);
}

static void bench_states(void)
{
	static struct tree states[STATES];
	uint64_t file;
	struct tree t = ten_objects(&file), copy;
	size_t before, bytes;

	print_figure("tree.snapshot_release", TIME(REPEATS, copy = tree_copy(&t); tree_free(&copy)),
		     "ns");
	print_figure("tree.find", TIME(REPEATS, must(tree_find(&t, TREE_ROOT, "a", 1))), "ns");
	print_figure("tree.chmod", TIME(REPEATS, tree_edit(&t, file)->mode ^= 1; tree_settle(&t)),
		     "ns");
	print_figure("tree.snapshot_chmod_release",
		     TIME(REPEATS, copy = tree_copy(&t); tree_edit(&copy, file)->mode ^= 1;
			  tree_settle(&copy); tree_free(&copy)),
		     "ns");
	print_figure("tree.snapshot_create_release",
		     TIME(REPEATS, copy = tree_copy(&t);
			  make_tree_object(&copy, TREE_ROOT, "new", S_IFREG | 0644);
			  tree_settle(&copy); tree_free(&copy)),
		     "ns");
	print_figure("tree.snapshot_write_release",
		     TIME(REPEATS, copy = tree_copy(&t); tree_write(&copy, file, 0, "x", 1);
			  tree_settle(&copy); tree_free(&copy)),
		     "ns");

	before = mallinfo2().uordblks;
	for (int i = 0; i < STATES; i++) {
		states[i] = tree_copy(&t);
		tree_edit(&states[i], file)->mode ^= 1;
		tree_settle(&states[i]);
	}
	bytes = mallinfo2().uordblks - before;
	print_figure("tree.bytes_per_state", (double)bytes / STATES + sizeof(struct tree), "bytes");
	for (int i = 0; i < STATES; i++)
		tree_free(&states[i]);
	tree_free(&t);
}

static void make_host_directory(const char *dir)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p a/b c && : >a/b/j && printf 1 >a/i && printf 22 >a/b/h &&"
		 "printf 333 >a/g && printf 4444 >a/b/f && ln -s b/f a/l && ln -s a m",
		 dir);
	must(system(command) == 0);
}

/* The calls a walk cannot do without, and nothing else. */
static void bare_walk(int fd)
{
	static char data[4096];
	char dents[4096];
	ssize_t n = getdents64(fd, dents, sizeof(dents));
	struct stat st;

	for (ssize_t at = 0; at < n; at += ((struct dirent64 *)(dents + at))->d_reclen) {
		const struct dirent64 *entry = (const struct dirent64 *)(dents + at);
		int child;

		if (entry->d_name[0] == '.')
			continue;
		fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW);
		if (S_ISLNK(st.st_mode)) {
			must(readlinkat(fd, entry->d_name, data, sizeof(data)) > 0);
			continue;
		}
		if (!S_ISDIR(st.st_mode) && !st.st_size)
			continue;
		child = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		flistxattr(child, data, sizeof(data));
		if (S_ISDIR(st.st_mode))
			bare_walk(child);
		else
			must(read(child, data, sizeof(data)) == st.st_size);
		close(child);
	}
	must(getdents64(fd, dents, sizeof(dents)) == 0);
}

static void bench_walk(void)
{
	char dir[] = "/dev/shm/assay-bench.XXXXXX", command[64];
	struct scan_options options = { .fields = TREE_FIELDS_DEFAULT };
	struct scanner *scanner = scanner_new(&options);
	struct err err = { 0 };
	struct tree t;
	double bare, walk;
	int fd;

	if (!mkdtemp(dir))
		return;
	make_host_directory(dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bare = TIME(WALKS, lseek(fd, 0, SEEK_SET); bare_walk(fd)) / 1000;
	walk = TIME(WALKS, must(tree_scan(scanner, fd, &t, &err) == 0); tree_free(&t)) / 1000;
	print_figure("tree.bare_walk", bare, "us");
	print_figure("tree.walk", walk, "us");
	print_figure("tree.walk_ratio", walk / bare, "times");
	close(fd);
	scanner_free(scanner);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	must(system(command) == 0);
}

int main(void)
{
	bench_states();
	bench_walk();
	return 0;
}
