/* cover.c -- what tracing costs, and how fast strace's text is read.
 *
 * The cost of a call is the fastest of many short loops, with the tracer and without, so that other
 * work on the machine does not count; of that, medians of several runs, alternating. The cost of a
 * mixed workload is CPU time with the tracer against CPU time without it: of pairs of runs, in turn
 * this one first and that one, the median of what one took of the other, and the quartiles, which
 * tell how far to believe it. Text is read against a bare search for the ends of its lines. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "cover/live.h"
#include "cover/readers.h"

enum {
	RUNS = 7,
	PAIRS = 31,
	LOOPS = 2000,
	LOOP_CALLS = 500,
	IO_CALLS = 4000,
	IO_BYTES = 1 << 16,
	TEXT_BYTES = 64 << 20,
};

/* Files by a shell, an archive of them, a tester that reads and writes at random. */
static const char mixed[] =
	"for n in 1 2 3 4 5; do mkdir d; i=0; while [ $i -lt 60 ]; do head -c 3000 /dev/zero "
	">d/$i; i=$((i + 1)); done; "
	"cp -a d e; tar cf x d e; rm -r e; tar xf x; ls -lR . >/dev/null; "
	"find . -type f | xargs cat >/dev/null; dd if=x of=y bs=4k 2>/dev/null; "
	"$0 io; rm -rf d e x y; done";

/* What file-system exercisers do: sizes, offsets and operations drawn at random. */
static void random_io(void)
{
	static char data[IO_BYTES];
	int fd = open("io", O_RDWR | O_CREAT, 0600);
	struct rng rng;

	rng_seed(&rng, 1);
	for (int i = 0; i < IO_CALLS; i++) {
		size_t len = (size_t)rng_below(&rng, IO_BYTES);
		off_t at = (off_t)rng_below(&rng, 4 * IO_BYTES);

		switch (rng_below(&rng, 8)) {
		case 0:
			must(!ftruncate(fd, at));
			break;
		case 1:
			must(lseek(fd, at, SEEK_SET) == at);
			break;
		case 2:
			must(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
					(off_t)len + 1));
			break;
		case 3:
		case 4:
			must(pwrite(fd, data, len, at) == (ssize_t)len);
			break;
		default:
			must(pread(fd, data, len, at) >= 0);
			break;
		}
	}
	close(fd);
}

/* Leaves the nanoseconds of a call in the file "cost". */
static void print_loop_cost(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	double best = 1e18, start, cost;
	char byte = 0;
	FILE *out;

	for (int i = 0; i < LOOPS; i++) {
		start = (double)clock_ns();
		for (int k = 0; k < LOOP_CALLS; k++)
			must(pread(fd, &byte, 1, 0) >= 0);
		cost = ((double)clock_ns() - start) / LOOP_CALLS;
		best = cost < best ? cost : best;
	}
	out = fopen("cost", "w");
	must(out && fprintf(out, "%f", best) > 0 && !fclose(out));
}

static double loop_cost(void)
{
	FILE *in = fopen("cost", "r");
	double cost = 0;

	must(in && fscanf(in, "%lf", &cost) == 1);
	fclose(in);
	return cost;
}

static double children_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int run_bare(char *const *command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status;
}

static int run_traced(char *const *command)
{
	const char *mounts[] = { "." };
	struct live_options options = { .mounts = mounts, .mount_count = 1, .command = command };
	struct err err = { 0 };
	struct coverage c;
	int status = 0, r;

	coverage_init(&c, "bpf");
	r = live_trace(&c, &options, &status, &err);
	coverage_free(&c);
	if (r)
		printf("no tracer: %s\n", err.text);
	return r || status;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool run_loop(char *const *command, bool traced, double *ret)
{
	if (traced ? run_traced(command) : run_bare(command))
		return false;
	*ret = loop_cost();
	return true;
}

static void measure_call(char *self)
{
	char word[] = "loop";
	char *command[] = { self, word, NULL };
	double bare[RUNS], traced[RUNS];

	for (size_t i = 0; i < RUNS; i++)
		if (!run_loop(command, false, &bare[i]) || !run_loop(command, true, &traced[i]))
			return;
	qsort(bare, RUNS, sizeof(double), by_size);
	qsort(traced, RUNS, sizeof(double), by_size);
	printf("tracer_call %.0f ns more than %.0f ns\n", traced[RUNS / 2] - bare[RUNS / 2],
	       bare[RUNS / 2]);
}

/* Loading a tracer takes longer than the workload: a bare run has that before it, too. */
static bool run_mixed(char *const *command, bool traced, double *ret)
{
	char nothing[] = "true", *idle[] = { nothing, NULL };
	double before;

	if (!traced && run_traced(idle))
		return false;
	before = children_seconds();
	if (traced ? run_traced(command) : run_bare(command))
		return false;
	*ret = children_seconds() - before;
	return true;
}

static void measure_mixed(char *self)
{
	char sh[] = "sh", c[] = "-c", *command[] = { sh, c, (char *)mixed, self, NULL };
	double seconds[2], ratios[PAIRS];

	for (size_t i = 0; i < PAIRS; i++) {
		if (!run_mixed(command, i % 2, &seconds[i % 2]) ||
		    !run_mixed(command, !(i % 2), &seconds[!(i % 2)]))
			return;
		ratios[i] = seconds[1] / seconds[0];
	}
	qsort(ratios, PAIRS, sizeof(double), by_size);
	printf("tracer_mixed %.3f times (quartiles %.3f, %.3f)\n", ratios[PAIRS / 2],
	       ratios[PAIRS / 4], ratios[PAIRS * 3 / 4]);
}

static void measure_tracer(char *self)
{
	char dir[] = "/tmp/assay-bench.XXXXXX";

	if (*live_missing() || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(dir)) {
		printf("no tracer: %s\n", *live_missing() ? live_missing() : "no private mounts");
		return;
	}
	if (mount("none", dir, "tmpfs", 0, NULL) || chdir(dir)) {
		printf("no tracer: cannot mount\n");
	} else {
		measure_call(self);
		measure_mixed(self);
		must(!chdir("/"));
		umount(dir);
	}
	rmdir(dir);
}

static size_t trace_line_count(const char *text, size_t len)
{
	const char *end = text + len;
	size_t lines = 0;

	for (; text < end && (text = memchr(text, '\n', (size_t)(end - text))); text++)
		lines++;
	return lines;
}

/* As `strace -f -y -s 0` writes it, with names and, as by -X raw, with numbers. */
static void fill_text(struct buf *text)
{
	static const char *const lines[] = {
		"7799  openat(-100</m/t>, \"f\", 0x80042, 0640) = 3</m/t/f>\n",
		"7799  pwrite64(3</m/t/f>, \"\"..., 100, 0) = 100\n",
		"7799  read(3</m/t/f>, \"\"..., 4096) = 100\n",
		"7799  newfstatat(3</m/t/f>, \"\", {st_mode=0100644, st_size=459, ...}, 0x1000) = "
		"0\n",
		"7799  lseek(3</m/t/f>, 0, 0x1)          = 0\n",
		"7799  mkdir(\"/m/t/d\", 0777)             = -1 EEXIST (File exists)\n",
		"7799  mmap(0x7fac706c4000, 208896, 0x3, 0x22, 4294967295, 0) = 0x7fac706c4000\n",
		"7799  close(3</m/t/f>)                  = 0\n",
		"7801  openat(AT_FDCWD</m/t>, \"/m/t/d/f\", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = "
		"4</m/t/d/f>\n",
		"7801  lseek(4</m/t/d/f>, 4096, SEEK_SET) = 4096\n",
		"7801  fallocate(4</m/t/d/f>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 512) = "
		"0\n",
		"7801  unlinkat(AT_FDCWD</m/t>, \"d\", AT_REMOVEDIR) = -1 ENOTEMPTY (Directory "
		"not empty)\n",
		"7801  rt_sigaction(SIGINT, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, NULL, 8) "
		"= "
		"0\n",
		"7801  close(4</m/t/d/f>)                = 0\n",
	};

	for (size_t i = 0; text->len < TEXT_BYTES; i++)
		buf_adds(text, lines[i % ARRAY_LEN(lines)]);
}

static void measure_strace(void)
{
	const char *mounts[] = { "/m" };
	struct read_options options = { .mounts = mounts, .mount_count = 1 };
	double start, seconds, best = 1e9, bare = 1e9;
	struct buf text = BUF_INIT;
	struct coverage c;

	fill_text(&text);
	for (int i = 0; i < RUNS; i++) {
		coverage_init(&c, "strace");
		start = cpu_seconds();
		read_strace_text(&c, &options, text.data, text.len);
		seconds = cpu_seconds() - start;
		best = seconds < best ? seconds : best;
		coverage_free(&c);
		start = cpu_seconds();
		must(trace_line_count(text.data, text.len) > 0);
		seconds = cpu_seconds() - start;
		bare = seconds < bare ? seconds : bare;
	}
	printf("strace_text %.0f MB/s, %.1f times as long as finding its lines\n",
	       (double)text.len / best / 1e6, best / bare);
	buf_free(&text);
}

int main(int argc, char **argv)
{
	char *self = realpath("/proc/self/exe", NULL);

	if (argc > 1 && !strcmp(argv[1], "loop")) {
		print_loop_cost();
	} else if (argc > 1) {
		random_io();
	} else {
		measure_strace();
		measure_tracer(self);
	}
	free(self);
	return 0;
}
