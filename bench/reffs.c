/* reffs.c -- the mounted reference file system: checkpoints, and a model checker's step.
 *
 * A step is some 22 requests, of which 11 ask for attributes. It is compared with as many turns
 * of two processes, and done once by a process that is bound to a CPU (RefFS serves it there) and
 * once by one that is not (the kernel wakes another CPU for every request and answer). */
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

#include "base/clock.h"
#include "base/err.h"
#include "bench/turn.h"
#include "reffs/reffs.h"
#include "tree/scan.h"

enum { STEPS = 500, TRIES = 6, CHECKPOINTS = 20000, MANY = 100000 };

static char mountpoint[] = "/tmp/assay-bench-XXXXXX";

static void bench_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int run_and_wait(const char *program, const char *a, const char *b)
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

static void reffs_checkpoint(int fd, unsigned long request, uint64_t key)
{
	struct reffs_key k = { .key = key };

	if (ioctl(fd, request, &k))
		bench_fail("checkpoint");
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
			bench_fail("write");
		close(file);
	}
	if (symlinkat("f0", fd, "link"))
		bench_fail("symlinkat");
}

static void scan_mount(struct scanner *scanner, int fd, struct hash *ret)
{
	struct err err = { 0 };
	struct tree tree;

	if (tree_scan(scanner, fd, &tree, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*ret = tree_hash(&tree);
	tree_free(&tree);
}

static void branch_step(struct scanner *scanner, int fd, bool removes)
{
	struct hash hash;

	reffs_checkpoint(fd, REFFS_SAVE, 1);
	if (removes ? unlinkat(fd, "f1", 0) : mkdirat(fd, "new", 0755))
		bench_fail("a call of the step");
	scan_mount(scanner, fd, &hash);
	reffs_checkpoint(fd, REFFS_RESTORE, 1);
}

/* Save, one call, look at everything, restore: what a search by snapshots does. Of the fastest of
 * a few tries, the others were disturbed. */
static double step_seconds(int fd, bool xattrs)
{
	struct scan_options options = { .fields =
						TREE_FIELDS_DEFAULT & ~(xattrs ? 0 : TREE_XATTR) };
	struct scanner *scanner = scanner_new(&options);
	struct hash first, last;
	double least = 1, start, spent;

	scan_mount(scanner, fd, &first);
	for (int try = 0; try < TRIES; try++) {
		start = clock_seconds();
		for (int i = 0; i < STEPS; i++)
			branch_step(scanner, fd, i % 2);
		spent = (clock_seconds() - start) / STEPS;
		least = spent < least ? spent : least;
	}
	scan_mount(scanner, fd, &last);
	if (!hash_equal(first, last))
		fprintf(stderr, "the tree is not what it was\n");
	scanner_free(scanner);
	return least;
}

static void checkpoint_cost(int fd, const char *what)
{
	double began = clock_seconds(), save;

	for (int i = 0; i < CHECKPOINTS; i++)
		reffs_checkpoint(fd, REFFS_SAVE, 2);
	save = (clock_seconds() - began) / CHECKPOINTS * 1e6;
	began = clock_seconds();
	for (int i = 0; i < CHECKPOINTS; i++)
		reffs_checkpoint(fd, REFFS_RESTORE, 2);
	printf("%s: save %.1f us, restore %.1f us\n", what, save,
	       (clock_seconds() - began) / CHECKPOINTS * 1e6);
}

static void make_many(int fd)
{
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		if (mknodat(fd, name, S_IFREG | 0644, 0))
			bench_fail("mknod");
	}
}

int main(void)
{
	const char *assay = getenv("ASSAY");
	double bound;
	int fd;

	if (!mkdtemp(mountpoint))
		bench_fail(mountpoint);
	if (run_and_wait(assay ? assay : "build/assay", "reffs", mountpoint)) {
		fprintf(stderr, "RefFS cannot be mounted here\n");
		rmdir(mountpoint);
		return 77;
	}
	fd = open(mountpoint, O_RDONLY | O_DIRECTORY);
	make_tree(fd);
	printf("save, call, observe 11 objects, restore: %.0f/s from any CPU\n",
	       1 / step_seconds(fd, true));
	stay_on_one_cpu();
	bound = step_seconds(fd, true);
	printf("from one CPU: %.0f/s, without attributes %.0f/s\n", 1 / bound,
	       1 / step_seconds(fd, false));
	printf("a step is %.1f turns of two processes\n", bound / turn_seconds());
	checkpoint_cost(fd, "11 objects");
	make_many(fd);
	checkpoint_cost(fd, "100,011 objects");
	close(fd);
	run_and_wait("fusermount3", "-u", mountpoint);
	rmdir(mountpoint);
	return 0;
}
