/* test_checkpoint.c -- a checkpoint that is cut, damaged, foreign or forged is refused, or does no
 * harm; the former one survives a writer that fails. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "tests/harness/checkpoints.h"
#include "tests/harness/unit.h"

enum { BYTES_MAX = 1 << 22 };

struct sample {
	enum strategy strategy;
	bool bitstate;
	char dir[64];
	struct buf bytes;
};

static struct explore_options options_of(const struct sample *s, bool resume)
{
	return (struct explore_options){
		.strategy = s->strategy,
		.seed = 5,
		.calls = resume ? 300 : 150,
		.depth_max = 1000,
		.verify_every = 1,
		.findings_max = 1,
		.bitstate = s->bitstate,
		.resume = resume,
		.checkpoint_seconds = 1000,
		.kernel_log = "/dev/null",
	};
}

/* Searches on, from what is in the directory where it is resumed. */
static int sample_search(const struct sample *s, bool resume, struct explore_figures *ret,
			 struct err *err)
{
	struct explore_options o = options_of(s, resume);
	struct target *t;
	struct universe u;
	struct cover cover;
	struct run run;
	int status;

	o.memory_max = s->bitstate ? BEGUN_BITS_BYTES : 1 << 24;
	must(!target_open(&t, "reffs", NULL, err) && !universe_open(&u, "tiny", NULL, 0, err) &&
	     !run_open(&run, "explore", t->name, s->dir, o.seed, err));
	cover_init(&cover);
	status = explore(&o, t, &u, &run, &cover, ret, err);
	cover_free(&cover);
	run_free(&run);
	universe_free(&u);
	target_close(t);
	return status;
}

static const char *sample_path(const struct sample *s)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/checkpoint", s->dir);
	return path;
}

static void sample_open(struct sample *s, enum strategy strategy, bool bitstate)
{
	struct explore_figures figures;
	struct err err = { 0 };

	*s = (struct sample){ strategy, bitstate, "/tmp/assay-checkpoint-XXXXXX", BUF_INIT };
	assert_non_null(mkdtemp(s->dir));
	if (sample_search(s, false, &figures, &err) ||
	    buf_read_file(&s->bytes, sample_path(s), BYTES_MAX, &err))
		fail_msg("%s", err.text);
}

static void sample_close(struct sample *s)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", s->dir);
	assert_int_equal(system(command), 0);
	buf_free(&s->bytes);
}

static void sample_write(const struct sample *s, const void *bytes, size_t len)
{
	int fd = open(sample_path(s), O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

static void check_refused(struct begun *b, const void *bytes, size_t len)
{
	struct err err = { 0 };

	assert_int_equal(begun_load(b, bytes, len, &err), -EINVAL);
	assert_non_null(strstr(err.text, "checkpoint: "));
	assert_int_equal(b->x.graph.count, 0); /* nothing of it was taken */
}

static void damage_is_refused(void **state)
{
	struct sample s;
	struct begun b;

	sample_open(&s, STRATEGY_BEST, true);
	begun_open(&b, s.strategy, s.bitstate);
	for (size_t i = 0; i < s.bytes.len; i++) {
		s.bytes.data[i] ^= 1 << i % 8;
		check_refused(&b, s.bytes.data, s.bytes.len);
		s.bytes.data[i] ^= 1 << i % 8;
		check_refused(&b, s.bytes.data, i);
	}
	begun_close(&b);
	sample_close(&s);
}

/* The checksum is right, the contents are not: refused, or a search goes on to its end. */
static void forged(struct sample *s, size_t at, unsigned char change)
{
	struct explore_figures figures;
	struct err err = { 0 };
	unsigned char *bytes = (unsigned char *)s->bytes.data;
	int status;

	bytes[at] ^= change;
	begun_seal(bytes, s->bytes.len);
	sample_write(s, bytes, s->bytes.len);
	status = sample_search(s, true, &figures, &err);
	assert_true(!status || status == -EINVAL);
	/* What is left in figures of a damaged file is as large as the file says, but no wrap of
	 * a difference. */
	assert_true(status || figures.end);
	bytes[at] ^= change;
}

static void forgery_does_no_harm(void **state)
{
	enum { STEP = 1009 };
	struct sample s;

	for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++)
		for (int bits = 0; bits < 2; bits++) {
			if (bits && !strategy_branches(strategy))
				continue;
			sample_open(&s, strategy, bits);
			for (size_t i = strategy; i + 16 < s.bytes.len; i += STEP)
				forged(&s, i, (unsigned char)(1 << i % 8));
			sample_close(&s);
		}
}

/* It goes on where it ended: as many calls as without an end in between. */
static void whole_ones_are_taken(void **state)
{
	struct explore_figures figures;
	struct err err = { 0 };
	struct sample s;

	sample_open(&s, STRATEGY_BFS, false);
	assert_int_equal(sample_search(&s, true, &figures, &err), 0);
	assert_int_equal(figures.calls, 300);
	sample_write(&s, "assayX3\0 and what followed in an earlier version", 48);
	assert_int_equal(sample_search(&s, true, &figures, &err), -EINVAL);
	sample_close(&s);
}

static void is_said(const struct sample *s, size_t at, char byte, const char *what)
{
	unsigned char *bytes = (unsigned char *)s->bytes.data;
	struct err err = { 0 };
	struct begun b;
	unsigned char before = bytes[at];

	bytes[at] = (unsigned char)byte;
	begun_seal(bytes, s->bytes.len);
	begun_open(&b, s->strategy, s->bitstate);
	assert_int_equal(begun_load(&b, bytes, s->bytes.len, &err), -EINVAL);
	assert_non_null(strstr(err.text, what));
	begun_close(&b);
	bytes[at] = before;
}

static void strangers_are_told(void **state)
{
	struct sample s;

	sample_open(&s, STRATEGY_BFS, false);
	is_said(&s, 0, 'b', "not a checkpoint");
	is_said(&s, 6, '3', "of another version");
	is_said(&s, 8, s.bytes.data[8] ^ 1, "another profile or target");
	s.strategy = STRATEGY_DFS;
	is_said(&s, 0, 'a', "another strategy or memory: bfs");
	sample_close(&s);
}

/* A file that may not grow: the error is told, the former checkpoint stays, nothing is left. */
static void a_full_disk_loses_nothing(void **state)
{
	struct rlimit limit, small;
	struct explore_figures figures;
	struct buf now = BUF_INIT;
	struct err err = { 0 };
	char beside[160];
	struct sample s;

	sample_open(&s, STRATEGY_BFS, false);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ 4096, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(sample_search(&s, true, &figures, &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(buf_read_file(&now, sample_path(&s), BYTES_MAX, &err), 0);
	assert_int_equal(now.len, s.bytes.len);
	assert_memory_equal(now.data, s.bytes.data, now.len);
	snprintf(beside, sizeof(beside), "%s.new", sample_path(&s));
	assert_int_equal(access(beside, F_OK), -1);
	buf_free(&now);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_refused),         cmocka_unit_test(forgery_does_no_harm),
		cmocka_unit_test(whole_ones_are_taken),      cmocka_unit_test(strangers_are_told),
		cmocka_unit_test(a_full_disk_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
