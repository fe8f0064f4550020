/* checker.c -- how many runs of e2fsck a CPU-second has: as copies of a process that has opened the
 * disk, and plainly, by fork and exec on a file in memory.
 *
 * Both see the same disks, one changed byte each, in turn; CPU time is that of all processes that
 * have a part in it, ours as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "checker/checker_session.h"
#include "storage/image.h"
#include "storage/program.h"

enum { ROUNDS = 7, RUNS = 400, INTERESTING = 64 << 10 };

struct checker_bench {
	struct checker_program program;
	struct image base;
	struct checker_session *session;
	struct image plain; /* the disk of plain runs */
	char *command;      /* of plain runs */
	int output_fd;
};

static void bench_fail(const struct err *err)
{
	fprintf(stderr, "checker: %s\n", err->text);
	exit(1);
}

static void bench_fill(const char *command, struct buf *out)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };

	program_fill(out, command, &value, 1);
}

static void bench_open(struct checker_bench *b, const char *name)
{
	struct buf command = BUF_INIT, output = BUF_INIT;
	struct err err = { 0 };
	int status;

	if (checker_program_find(&b->program, name, NULL, &err) ||
	    image_make(&b->base, b->program.disk_size, &err) ||
	    image_make(&b->plain, b->program.disk_size, &err))
		bench_fail(&err);
	bench_fill(b->program.mkfs, &command);
	if (program_run(command.data, b->base.fd, 30, &status, &output, &err))
		bench_fail(&err);
	must(!status);
	memcpy(b->plain.bytes, b->base.bytes, b->base.size);
	b->session = checker_session_open(&b->program, &b->base, &err);
	if (!b->session)
		bench_fail(&err);
	buf_clear(&command);
	bench_fill(b->program.modes[0].command, &command);
	b->command = command.data;
	b->output_fd = memfd_create("output", MFD_CLOEXEC);
	buf_free(&output);
}

/* Where a disk of this size has its metadata, as a rule. */
static void bench_corrupt(struct rng *rng, uint64_t *ret_at, uint8_t *ret_byte)
{
	*ret_at = 1024 + rng_below(rng, INTERESTING);
	*ret_byte = (uint8_t)rng_below(rng, 256);
}

/* The plain way, without a shell: as cheap as it can be. */
static void bench_plain(struct checker_bench *b, uint64_t seed)
{
	char *argv[16], *text = must_strdup(b->command), *save = NULL;
	int argc = 0, status;
	struct rng rng;
	uint64_t at;
	uint8_t byte;
	pid_t pid;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	rng_seed(&rng, seed);
	for (int i = 0; i < RUNS; i++) {
		bench_corrupt(&rng, &at, &byte);
		memcpy(b->plain.bytes, b->base.bytes, b->base.size);
		b->plain.bytes[at] = (char)byte;
		lseek(b->output_fd, 0, SEEK_SET);
		pid = vfork();
		if (!pid) {
			dup2(b->plain.fd, PROGRAM_FD);
			dup2(b->output_fd, STDOUT_FILENO);
			dup2(b->output_fd, STDERR_FILENO);
			execvp(argv[0], argv);
			_exit(127);
		}
		must(waitpid(pid, &status, 0) == pid);
	}
	free(text);
}

static void bench_copies(struct checker_bench *b, uint64_t seed)
{
	struct checker_run run = { 0 };
	struct err err = { 0 };
	struct rng rng;
	uint64_t at;
	uint8_t byte;

	rng_seed(&rng, seed);
	for (int i = 0; i < RUNS; i++) {
		bench_corrupt(&rng, &at, &byte);
		checker_disk_restore(b->session);
		checker_disk_write(b->session, at, &byte, 1);
		if (checker_session_run(b->session, 0, &run, &err))
			bench_fail(&err);
	}
	checker_run_free(&run);
}

static int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the session's processes we learn when they have ended. */
static double bench_cpu(struct checker_bench *b)
{
	struct err err = { 0 };

	checker_session_close(b->session);
	b->session = checker_session_open(&b->program, &b->base, &err);
	if (!b->session)
		bench_fail(&err);
	return cpu_seconds();
}

int main(int argc, char **argv)
{
	double plain[ROUNDS], copies[ROUNDS], ratio[ROUNDS], began;
	struct checker_bench b = { 0 };

	bench_open(&b, argc > 1 ? argv[1] : "e2fsck-nojournal");
	for (int i = 0; i < ROUNDS; i++) {
		began = bench_cpu(&b);
		bench_plain(&b, (uint64_t)i);
		plain[i] = RUNS / (cpu_seconds() - began);
		began = cpu_seconds();
		bench_copies(&b, (uint64_t)i);
		copies[i] = RUNS / (bench_cpu(&b) - began);
		ratio[i] = copies[i] / plain[i];
	}
	qsort(plain, ROUNDS, sizeof(*plain), bench_compare);
	qsort(copies, ROUNDS, sizeof(*copies), bench_compare);
	qsort(ratio, ROUNDS, sizeof(*ratio), bench_compare);
	printf("%s: %.0f runs per CPU-second, plain %.0f, ratio %.2f (median of %d)\n",
	       b.program.name, copies[ROUNDS / 2], plain[ROUNDS / 2], ratio[ROUNDS / 2], ROUNDS);
	checker_session_close(b.session);
	return 0;
}
