/* reffs.c -- the mounted reference file system: checkpoints, and a model checker's step. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "reffs/reffs.h"
#include "tree/take.h"

enum { STEPS = 5000, CHECKPOINTS = 20000, MANY = 100000 };

static char mountpoint[] = "/tmp/assay-bench-XXXXXX";

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int run(const char *program, const char *a, const char *b)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		execlp(program, program, a, b, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void checkpoint(int fd, unsigned long request, uint64_t key)
{
	struct reffs_key k = { .key = key };

	if (ioctl(fd, request, &k))
		fail("checkpoint");
}

static void make_tree(int fd)
{
	char name[32];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		mkdirat(fd, name, 0755);
		snprintf(name, sizeof(name), "d%d/f", i);
		close(openat(fd, name, O_CREAT | O_WRONLY, 0644));
		snprintf(name, sizeof(name), "f%d", i);
		int file = openat(fd, name, O_CREAT | O_WRONLY, 0644);

		if (write(file, name, 3) != 3)
			fail("write");
		close(file);
	}
	symlinkat("f0", fd, "link");
}

static void observe(struct taker *taker, int fd, struct hash *ret)
{
	struct err err = { 0 };
	struct tree tree;

	if (tree_take(taker, fd, &tree, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*ret = tree_hash(&tree);
	tree_free(&tree);
}

/* Save, one call, look at everything, restore: what a search by snapshots does. */
static double steps_per_second(int fd, bool xattrs)
{
	struct take_options options = { .fields =
						TREE_FIELDS_DEFAULT & ~(xattrs ? 0 : TREE_XATTR) };
	struct taker *taker = taker_new(&options);
	struct hash first, now;
	double began;

	observe(taker, fd, &first);
	began = clock_seconds();
	for (int i = 0; i < STEPS; i++) {
		checkpoint(fd, REFFS_SAVE, 1);
		if (i % 2 ? mkdirat(fd, "new", 0755) : unlinkat(fd, "f1", 0))
			fail("a call of the step");
		observe(taker, fd, &now);
		checkpoint(fd, REFFS_RESTORE, 1);
	}
	began = clock_seconds() - began;
	observe(taker, fd, &now);
	if (!hash_equal(first, now))
		fprintf(stderr, "the tree is not what it was\n");
	taker_free(taker);
	return STEPS / began;
}

static void checkpoint_cost(int fd, const char *what)
{
	double began = clock_seconds(), save;

	for (int i = 0; i < CHECKPOINTS; i++)
		checkpoint(fd, REFFS_SAVE, 2);
	save = (clock_seconds() - began) / CHECKPOINTS * 1e6;
	began = clock_seconds();
	for (int i = 0; i < CHECKPOINTS; i++)
		checkpoint(fd, REFFS_RESTORE, 2);
	printf("%s: save %.1f us, restore %.1f us\n", what, save,
	       (clock_seconds() - began) / CHECKPOINTS * 1e6);
}

static void make_many(int fd)
{
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		if (mknodat(fd, name, S_IFREG | 0644, 0))
			fail("mknod");
	}
}

int main(void)
{
	const char *assay = getenv("ASSAY");
	int fd;

	if (!mkdtemp(mountpoint))
		fail(mountpoint);
	if (run(assay ? assay : "build/assay", "reffs", mountpoint)) {
		fprintf(stderr, "RefFS cannot be mounted here\n");
		rmdir(mountpoint);
		return 77;
	}
	fd = open(mountpoint, O_RDONLY | O_DIRECTORY);
	make_tree(fd);
	printf("save, call, observe 11 objects, restore: %.0f/s, without attributes %.0f/s\n",
	       steps_per_second(fd, true), steps_per_second(fd, false));
	checkpoint_cost(fd, "11 objects");
	make_many(fd);
	checkpoint_cost(fd, "100,011 objects");
	close(fd);
	run("fusermount3", "-u", mountpoint);
	rmdir(mountpoint);
	return 0;
}
