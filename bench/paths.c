/* paths.c -- how many paths of e2fsck over one field are found in a CPU-minute, beside how often
 * Valgrind alone could run it.
 *
 *	paths [IMAGE AT LEN SECONDS COMMAND]
 *
 * Without arguments: i_flags of the root inode, and the inode number of a directory entry, on an
 * ext4 without checksums. CPU time is that of all processes that have a part in it, and includes
 * the start of the checker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/image.h"
#include "storage/program.h"
#include "symbolic/path_process.h"

enum {
	BLOCK = 1024,
	DISK_BYTES = 1 << 20,
	PLAIN_RUNS = 5,
	SECONDS = 120,
};

#define MKFS "mkfs.ext4 -q -F -O ^metadata_csum,^64bit,^has_journal -b 1024 " PROGRAM_FD_PATH
#define CHECKER "e2fsck -fy {image}"

static void bench_fail(const struct err *err)
{
	fprintf(stderr, "paths: %s\n", err->text);
	exit(1);
}

static bool bench_found(void *to, const uint8_t *values, struct hash path)
{
	return true;
}

/* Paths in a CPU-minute. */
static double bench_paths(const struct image *disk, const char *name, const char *command,
			  struct path_range range, double seconds)
{
	struct paths_options o = { .ranges = &range, .range_count = 1, .seconds = seconds };
	struct path_process *process = path_process_open(command, disk, 0);
	double began = cpu_seconds(), cpu;
	struct paths_result result;
	struct err err = { 0 };

	if (path_process_explore(process, &o, bench_found, NULL, &result, &err))
		bench_fail(&err);
	path_process_close(process);
	cpu = cpu_seconds() - began;
	printf("%s: %ju paths, %ju runs, %.1f CPU s, %.0f paths per CPU-minute, %ju branches; %s\n",
	       name, (uintmax_t)result.paths, (uintmax_t)result.runs, cpu,
	       (double)result.paths * 60 / cpu, (uintmax_t)result.branches,
	       result.complete ? "complete" : buf_str(&result.why_not));
	cpu = (double)result.paths * 60 / cpu;
	paths_result_free(&result);
	return cpu;
}

/* Runs under Valgrind, without a tool that does anything, in a CPU-minute. */
static double bench_plain(const struct image *disk)
{
	struct buf output = BUF_INIT;
	double began = cpu_seconds();
	struct err err = { 0 };
	int status;

	for (int i = 0; i < PLAIN_RUNS; i++) {
		if (program_run("valgrind -q --tool=none e2fsck -fy " PROGRAM_FD_PATH, disk->fd,
				SECONDS, &status, &output, &err))
			bench_fail(&err);
	}
	buf_free(&output);
	return PLAIN_RUNS * 60 / (cpu_seconds() - began);
}

static uint64_t bench_number(const struct image *disk, uint64_t at, size_t len)
{
	uint64_t number = 0;

	memcpy(&number, disk->bytes + at, len);
	return number;
}

static void bench_ext4(void)
{
	struct buf output = BUF_INIT;
	struct err err = { 0 };
	struct image disk;
	uint64_t inode, block;
	double plain, flags, entry;
	int status;

	if (image_make(&disk, DISK_BYTES, &err) ||
	    program_run(MKFS, disk.fd, SECONDS, &status, &output, &err))
		bench_fail(&err);
	must(!status);
	/* The second inode of the table that the first group names; its first extent. */
	inode = bench_number(&disk, 2 * BLOCK + 8, 4) * BLOCK + bench_number(&disk, BLOCK + 88, 2);
	block = bench_number(&disk, inode + 40 + 12 + 8, 4) * BLOCK;
	plain = bench_plain(&disk);
	flags = bench_paths(&disk, "i_flags", CHECKER, (struct path_range){ inode + 32, 4 },
			    SECONDS);
	entry = bench_paths(&disk, "inode of a directory entry", CHECKER,
			    (struct path_range){ block + 24, 4 }, SECONDS);
	printf("Valgrind alone: %.0f runs per CPU-minute; ratio %.1f, %.1f\n", plain, flags / plain,
	       entry / plain);
	buf_free(&output);
	image_free(&disk);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	struct image disk;
	struct stat st;
	int fd;

	if (argc == 1) {
		bench_ext4();
		return 0;
	}
	must(argc == 6);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[1]);
		return 1;
	}
	if (image_make(&disk, (uint64_t)st.st_size, &err) || image_fill(&disk, fd, &err))
		bench_fail(&err);
	bench_paths(&disk, argv[5], argv[5],
		    (struct path_range){ strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0) },
		    strtod(argv[4], NULL));
	image_free(&disk);
	close(fd);
	return 0;
}
