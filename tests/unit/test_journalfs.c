/* test_journalfs.c -- a file system with a journal: what it commits comes back, whatever a crash
 * leaves; and with each of its faults it does not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "journalfs/journal_faults.h"
#include "journalfs/layout.h"
#include "target/target.h"
#include "tests/harness/crash_states.h"
#include "trace/script.h"
#include "universe/universe.h"

enum { CALLS_MAX = 128 };

/* A target, and what it did. */
struct subject {
	struct target *target;
	struct arena arena;
	struct hash trees[CALLS_MAX + 1]; /* after so many calls */
	size_t synced[CALLS_MAX + 1];     /* how many calls are surely durable after so many */
	size_t calls;
	char *image; /* as mkfs left it */
	struct buf record;
	int crashed_fd; /* for images to be loaded, */
	char *crashed;  /* mapped */
	size_t states, wrong;
	char why[256]; /* of the first that is wrong */
};

static struct hash subject_tree(const struct subject *s)
{
	enum target_fate fate;
	struct tree tree;
	struct hash hash;

	assert_int_equal(target_observe(s->target, &tree, &fate, NULL), 0);
	assert_int_equal(fate, FATE_FINE);
	hash = tree_hash(&tree);
	tree_free(&tree);
	return hash;
}

static void subject_open(struct subject *s, const char *spec)
{
	struct target_options options = { .record = true };
	struct err err = { 0 };

	*s = (struct subject){ .arena = ARENA_INIT };
	if (target_open(&s->target, spec, &options, &err))
		fail_msg("%s: %s", spec, err.text);
	s->image = must_alloc(LAYOUT_SIZE);
	s->crashed_fd = memfd_create("crashed", MFD_CLOEXEC);
	assert_int_equal(ftruncate(s->crashed_fd, LAYOUT_SIZE), 0);
	s->crashed = mmap(NULL, LAYOUT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->crashed_fd, 0);
	assert_true(s->crashed != MAP_FAILED);
	s->trees[0] = subject_tree(s);
}

static void subject_close(struct subject *s)
{
	munmap(s->crashed, LAYOUT_SIZE);
	close(s->crashed_fd);
	target_close(s->target);
	buf_free(&s->record);
	arena_free(&s->arena);
	free(s->image);
}

static bool call_persists(const struct call *c)
{
	return c->op == OP_remount || op_table[c->op].traits & TRAIT_SYNC ||
	       (c->op == OP_write_file && c->write_file.flags.num & O_DSYNC);
}

static int subject_call(struct subject *s, const struct call *c)
{
	struct outcome outcome;
	enum target_fate fate;

	must(s->calls < CALLS_MAX);
	assert_int_equal(target_call(s->target, c, &outcome, &fate, NULL), 0);
	s->calls++;
	s->trees[s->calls] = subject_tree(s);
	s->synced[s->calls] =
		!outcome.error && call_persists(c) ? s->calls : s->synced[s->calls - 1];
	return outcome.error;
}

static void subject_do(struct subject *s, const char *text)
{
	struct call c;
	int error;

	assert_int_equal(call_parse(&c, text, &s->arena, NULL), 0);
	error = subject_call(s, &c);
	if (error)
		fail_msg("%s: %s", text, errno_name(error));
}

static void subject_run(struct subject *s, const char *text)
{
	struct script script = { 0 };
	struct err err = { 0 };

	if (script_parse(&script, "script", text, strlen(text), &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++) {
		int error = subject_call(s, &script.items[i].call);

		/* Where a write fails, EIO says so. */
		assert_true(!error || (error == EIO && strstr(text, "fail_write")));
	}
	script_free(&script);
}

/* Calls of all sorts; some of them persist. */
static void subject_run_random(struct subject *s, uint64_t seed, size_t calls)
{
	struct err err = { 0 };
	struct universe u;
	struct call c;
	struct rng rng;

	assert_int_equal(universe_open(&u, "default", NULL, 0, &err), 0);
	rng_seed(&rng, seed);
	for (size_t i = 0; i < calls; i++) {
		if (rng_below(&rng, 6)) {
			universe_call(&u, universe_draw(&u, &rng), &c);
			subject_call(s, &c);
		} else {
			subject_do(s, rng_below(&rng, 8) ? "sync()" : "remount()");
		}
	}
	universe_free(&u);
}

static void subject_take_record(struct subject *s)
{
	struct err err = { 0 };
	int fd;

	buf_clear(&s->record);
	if (s->target->kind->recorded(s->target, &fd, &s->record, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pread(fd, s->image, LAYOUT_SIZE, 0), LAYOUT_SIZE);
}

/* What mounting the image in s->crashed answers. */
static int subject_load_crashed(struct subject *s)
{
	enum target_fate fate = FATE_DIED;
	struct err err = { 0 };
	int error;

	if (s->target->kind->load(s->target, s->crashed_fd, &error, &fate, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fate, FATE_FINE);
	return error;
}

static int subject_load(struct subject *s, const char *image)
{
	memcpy(s->crashed, image, LAYOUT_SIZE);
	return subject_load_crashed(s);
}

/* ---- crashes ---- */

static void subject_wrong(struct subject *s, size_t marks, const char *what)
{
	if (!s->wrong++)
		snprintf(s->why, sizeof(s->why), "state %zu, after %zu calls: %s", s->states, marks,
			 what);
}

/* The tree after one of the calls between the last durable one and the one that was under way. */
static bool subject_allows(const struct subject *s, size_t marks, struct hash tree)
{
	size_t last = marks < s->calls ? marks + 1 : s->calls;

	for (size_t i = s->synced[marks]; i <= last; i++)
		if (hash_equal(tree, s->trees[i]))
			return true;
	return false;
}

/* A crash of recovery. */
struct second_crash {
	struct subject *subject;
	size_t marks;
	struct hash recovered;
};

static void visit_second(void *to, size_t marks, bool in_order)
{
	const struct second_crash *second = to;
	struct subject *s = second->subject;

	s->states++;
	if (subject_load_crashed(s))
		subject_wrong(s, second->marks, "it cannot be mounted after a crash of recovery");
	else if (!hash_equal(subject_tree(s), second->recovered))
		subject_wrong(s, second->marks, "another tree after a crash of recovery");
}

static void crash_recovery(struct subject *s, size_t marks)
{
	struct second_crash second = { s, marks, subject_tree(s) };
	struct buf record = BUF_INIT;
	int fd;

	assert_int_equal(s->target->kind->recorded(s->target, &fd, &record, NULL), 0);
	if (record.len)
		crash_each(s->crashed, LAYOUT_SIZE, &record, s->crashed, visit_second, &second);
	buf_free(&record);
}

static void visit_first(void *to, size_t marks, bool in_order)
{
	struct subject *s = to;

	s->states++;
	if (subject_load_crashed(s))
		subject_wrong(s, marks, "it cannot be mounted");
	else if (!subject_allows(s, marks, subject_tree(s)))
		subject_wrong(s, marks, "a tree that must not be");
	else if (in_order)
		crash_recovery(s, marks);
}

/* Every crash of what was recorded, and of recovery from those in order. */
static void subject_crash(struct subject *s)
{
	subject_take_record(s);
	crash_each(s->image, LAYOUT_SIZE, &s->record, s->crashed, visit_first, s);
}

static const char *const workloads[] = {
	"mkdir(\"a\", 0755)\nmkdir(\"a/b\", 0700)\nsymlink(\"../x\", \"a/s\")\nsync()\n"
	"rename(\"a/b\", \"c\")\nrmdir(\"c\")\nsync()\n",
	"write_file(\"a\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)\nlink(\"a\", "
	"\"b\")\nsync()\n"
	"truncate(\"a\", 5000)\nunlink(\"a\")\nsync()\nwrite_file(\"b\", O_WRONLY, data(8, 5000), "
	"5000,"
	" 20000)\nremount()\nchmod(\"b\", 0600)\nsync()\n",
	"setxattr(\"/\", \"user.x\", data(7, 3000), 3000, 0)\nmknod(\"n\", S_IFCHR|0600, 259)\n"
	"open(\"f\", O_CREAT|O_RDWR, 0644)\nfallocate(3, 0, 0, 20000)\nfsync(3)\nunlink(\"f\")\n"
	"write(3, \"xyz\", 3)\nfdatasync(3)\nremovexattr(\"/\", \"user.x\")\nsync()\n",
	/* Without a sync: by number of calls. */
	"mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\nmkdir(\"c\", 0755)\nmkdir(\"d\", 0755)\n"
	"rename(\"a\", \"b/a\")\nrename(\"b\", \"c/b\")\nrename(\"c\", \"d/c\")\nmkdir(\"e\", "
	"0755)\n"
	"rmdir(\"e\")\nmkdir(\"f\", 0755)\n",
};

static void assert_whole(struct subject *s, const char *what)
{
	subject_crash(s);
	assert_true(s->states > 0);
	if (s->wrong)
		fail_msg("%s: %zu of %zu states are wrong: %s", what, s->wrong, s->states, s->why);
}

static void every_crash_leaves_what_was_committed(void **state)
{
	struct subject s;

	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		subject_open(&s, "journalfs");
		subject_run(&s, workloads[i]);
		assert_whole(&s, workloads[i]);
		subject_close(&s);
	}
	for (uint64_t seed = 1; seed <= 4; seed++) {
		subject_open(&s, "journalfs");
		subject_run_random(&s, seed, 60);
		assert_whole(&s, "random calls");
		subject_close(&s);
	}
}

static void every_fault_shows_by_a_crash_and_only_by_one(void **state)
{
	struct buf spec = BUF_INIT;
	struct subject s;

	assert_true(journal_fault_count > 15);
	for (size_t i = JOURNAL_FAULT_NONE + 1; i < journal_fault_count; i++) {
		const struct journal_fault_info *fault = &journal_fault_table[i];
		struct subject whole;

		subject_open(&whole, "journalfs");
		subject_run(&whole, fault->script);
		buf_clear(&spec);
		buf_addf(&spec, "journalfs!%s", fault->name);
		subject_open(&s, spec.data);
		subject_run(&s, fault->script);
		assert_memory_equal(s.trees, whole.trees, sizeof(s.trees));
		subject_crash(&s);
		if (!s.wrong)
			fail_msg("%s: none of %zu states shows it", fault->name, s.states);
		print_message("# %-16s %zu of %zu states: %s\n", fault->name, s.wrong, s.states,
			      s.why);
		subject_close(&s);
		assert_whole(&whole, fault->script);
		subject_close(&whole);
	}
	buf_free(&spec);
}

/* ---- the format ---- */

/* What was recorded, all of it, in its order. */
static void replay_record(char *image, const struct buf *record)
{
	struct disk_record r;

	for (size_t at = 0; at < record->len;) {
		memcpy(&r, record->data + at, sizeof(r));
		at += sizeof(r);
		if (r.what & RECORD_WRITE) {
			memcpy(image + r.offset, record->data + at, r.size);
			at += r.size;
		}
	}
}

static void read_disk(struct subject *s, char *to)
{
	int fd = memfd_create("disk", MFD_CLOEXEC);
	struct buf path = BUF_INIT;
	struct err err = { 0 };

	buf_addf(&path, "/proc/self/fd/%d", fd);
	if (s->target->kind->image(s->target, path.data, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pread(fd, to, LAYOUT_SIZE, 0), LAYOUT_SIZE);
	close(fd);
	buf_free(&path);
}

static void image_and_record_are_the_disk(void **state)
{
	char *disk = must_alloc(LAYOUT_SIZE);
	struct subject s;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		subject_open(&s, "journalfs");
		subject_run_random(&s, seed, 100);
		read_disk(&s, disk);
		subject_take_record(&s);
		replay_record(s.image, &s.record);
		assert_memory_equal(s.image, disk, LAYOUT_SIZE);
		/* The record of one that is loaded begins with it. */
		assert_int_equal(subject_load(&s, disk), 0);
		read_disk(&s, disk);
		subject_take_record(&s);
		replay_record(s.image, &s.record);
		assert_memory_equal(s.image, disk, LAYOUT_SIZE);
		subject_close(&s);
	}
	free(disk);
}

static void what_is_synced_is_on_the_disk(void **state)
{
	static const char *const ends[] = { "sync()", "remount()" };
	char *disk = must_alloc(LAYOUT_SIZE);
	struct subject s;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		subject_open(&s, "journalfs");
		subject_run_random(&s, seed, 100);
		subject_do(&s, ends[seed % 2]);
		assert_true(hash_equal(s.trees[s.calls], subject_tree(&s)));
		read_disk(&s, disk);
		assert_int_equal(subject_load(&s, disk), 0);
		assert_true(hash_equal(s.trees[s.calls], subject_tree(&s)));
		/* And it goes on from there. */
		subject_run_random(&s, seed, 20);
		subject_do(&s, "remount()");
		assert_true(hash_equal(s.trees[s.calls - 1], s.trees[s.calls]));
		subject_close(&s);
	}
	free(disk);
}

static void states_repeat_what_they_write(void **state)
{
	struct buf first = BUF_INIT;
	struct err err = { 0 };
	struct subject s;

	subject_open(&s, "journalfs");
	subject_run(&s, workloads[1]);
	assert_int_equal(s.target->kind->save(s.target, 7, &err), 0);
	subject_run(&s, workloads[0]);
	subject_take_record(&s);
	first = s.record;
	s.record = (struct buf)BUF_INIT;
	assert_int_equal(s.target->kind->restore(s.target, 7, &err), 0);
	subject_run(&s, workloads[0]);
	subject_take_record(&s);
	assert_int_equal(s.record.len, first.len);
	assert_memory_equal(s.record.data, first.data, first.len);
	/* A fresh one is empty, and has written nothing. */
	assert_int_equal(target_reset(s.target, &err), 0);
	assert_true(hash_equal(subject_tree(&s), s.trees[0]));
	subject_take_record(&s);
	assert_int_equal(s.record.len, 0);
	s.target->kind->drop(s.target, 7);
	assert_int_equal(s.target->kind->restore(s.target, 7, &err), -ENOENT);
	buf_free(&first);
	subject_close(&s);
}

/* ---- space ---- */

static void space_ends_without_harm(void **state)
{
	struct subject s;
	struct call c;
	int error = 0;

	subject_open(&s, "journalfs");
	for (unsigned i = 0; i < CALLS_MAX - 10 && !error; i++) {
		struct buf text = BUF_INIT;

		buf_addf(&text, "write_file(\"f%u\", O_CREAT|O_WRONLY, data(%u, 50000), 50000, 0)",
			 i, i);
		assert_int_equal(call_parse(&c, text.data, &s.arena, NULL), 0);
		error = subject_call(&s, &c);
		buf_free(&text);
	}
	assert_int_equal(error, ENOSPC);
	assert_true(hash_equal(s.trees[s.calls], s.trees[s.calls - 1]));
	subject_do(&s, "remount()");
	assert_true(hash_equal(s.trees[s.calls], s.trees[s.calls - 1]));
	subject_do(&s, "unlink(\"f0\")");
	subject_do(&s, "write_file(\"g\", O_CREAT|O_WRONLY, data(1, 50000), 50000, 0)");
	subject_do(&s, "remount()");
	assert_true(hash_equal(s.trees[s.calls], s.trees[s.calls - 1]));
	/* What does not fit into the journal at once is refused. */
	assert_int_equal(call_parse(&c, "setxattr(\"g\", \"user.a\", data(1, 65536), 65536, 0)",
				    &s.arena, NULL),
			 0);
	error = subject_call(&s, &c);
	assert_true(!error || error == ENOSPC);
	subject_close(&s);
}

/* ---- images that are none ---- */

/* Whatever it is, calls can be made on it. */
static void use_loaded(struct subject *s, const char *image, uint64_t seed)
{
	int error = subject_load(s, image);
	struct outcome outcome;
	enum target_fate fate;
	struct call c;

	s->calls = 0;
	if (!error) {
		subject_run_random(s, seed, 12);
		return;
	}
	assert_true(error == EINVAL || error == EUCLEAN);
	assert_int_equal(call_parse(&c, "mkdir(\"a\", 0755)", &s->arena, NULL), 0);
	assert_int_equal(target_call(s->target, &c, &outcome, &fate, NULL), 0);
	assert_int_equal(outcome.error, EIO);
}

static void random_bytes_are_no_file_system(void **state)
{
	char *image = must_alloc(LAYOUT_SIZE);
	enum target_fate fate;
	struct subject s;
	int error;

	subject_open(&s, "journalfs");
	assert_int_equal(subject_load(&s, image), EINVAL);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		data_fill(seed, 0, image, LAYOUT_SIZE);
		use_loaded(&s, image, seed);
	}
	assert_int_equal(ftruncate(s.crashed_fd, LAYOUT_SIZE / 2), 0);
	assert_int_equal(s.target->kind->load(s.target, s.crashed_fd, &error, &fate, NULL), 0);
	assert_int_equal(error, EINVAL);
	assert_int_equal(target_reset(s.target, NULL), 0);
	assert_true(hash_equal(subject_tree(&s), s.trees[0]));
	subject_close(&s);
	free(image);
}

/* Where there is something: most of the disk is data or empty. */
static size_t meaningful_place(const char *image, struct rng *rng)
{
	for (;;) {
		uint32_t block = (uint32_t)rng_below(rng, LAYOUT_BLOCKS);
		const char *bytes = image + (size_t)block * LAYOUT_BLOCK;
		uint32_t magic = 0;

		memcpy(&magic, bytes, sizeof(magic));
		if (block < LAYOUT_HOME || magic == LAYOUT_MAGIC_CHAIN)
			return (size_t)block * LAYOUT_BLOCK + rng_below(rng, 160);
	}
}

static void damaged_images_do_no_harm(void **state)
{
	char *disk = must_alloc(LAYOUT_SIZE), *image = must_alloc(LAYOUT_SIZE);
	struct rng rng;
	struct subject s;

	rng_seed(&rng, 1);
	subject_open(&s, "journalfs");
	for (uint64_t round = 0; round < 600; round++) {
		if (round % 100 == 0) {
			assert_int_equal(target_reset(s.target, NULL), 0);
			s.calls = 0;
			subject_run_random(&s, round, 60);
			subject_do(&s, round % 200 ? "sync()" : "remount()");
			read_disk(&s, disk);
		}
		memcpy(image, disk, LAYOUT_SIZE);
		for (uint64_t i = 1 + rng_below(&rng, 6); i; i--)
			image[meaningful_place(image, &rng)] = (char)rng_below(&rng, 256);
		use_loaded(&s, image, round);
	}
	subject_close(&s);
	free(disk);
	free(image);
}

static void unknown_faults_are_refused(void **state)
{
	struct target *t = NULL;
	struct err err = { 0 };

	assert_int_equal(target_open(&t, "journalfs!nonsense", NULL, &err), -ENOENT);
	err = (struct err){ 0 };
	assert_int_equal(target_open(&t, "journalfs:x", NULL, &err), -EINVAL);
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_crash_leaves_what_was_committed),
		cmocka_unit_test(every_fault_shows_by_a_crash_and_only_by_one),
		cmocka_unit_test(image_and_record_are_the_disk),
		cmocka_unit_test(what_is_synced_is_on_the_disk),
		cmocka_unit_test(states_repeat_what_they_write),
		cmocka_unit_test(space_ends_without_harm),
		cmocka_unit_test(random_bytes_are_no_file_system),
		cmocka_unit_test(damaged_images_do_no_harm),
		cmocka_unit_test(unknown_faults_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
