/* test_workloads.c -- workloads that are made of others: paths of a search, failing writes, full
 * disks; and those of two processes. */
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"
#include "trace/script.h"
#include "workload/failing.h"
#include "workload/full.h"
#include "workload/pair.h"
#include "workload/path.h"
#include "workload/resync.h"

enum { CALLS_MAX = 16, NUMBERS = 200 };

static struct {
	struct model model;
	struct state start;
	struct arena arena;
} w;

static int setup(void **state)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	model_init(&w.model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&w.start, &options);
	w.arena = (struct arena)ARENA_INIT;
	return 0;
}

static int teardown(void **state)
{
	state_free(&w.start);
	arena_free(&w.arena);
	return 0;
}

/* Calls, each on its line. */
static struct workload parse(const char *lines, size_t setup_count)
{
	struct call *calls = arena_alloc(&w.arena, CALLS_MAX * sizeof(*calls));
	struct workload load = { .name = "test", .calls = calls, .setup_count = setup_count };

	for (size_t len; (len = strcspn(lines, "\n")) > 0; lines += len + 1) {
		char line[128];

		assert_true(load.count < CALLS_MAX && len < sizeof(line));
		memcpy(line, lines, len);
		line[len] = '\0';
		assert_int_equal(call_parse(&calls[load.count++], line, &w.arena, NULL), 0);
	}
	return load;
}

static size_t count_op(const struct workload *load, enum op op)
{
	size_t count = 0;

	for (size_t i = 0; i < load->count; i++)
		count += load->calls[i].op == op;
	return count;
}

/* How many calls fail in the model. */
static size_t count_failing(const struct workload *load)
{
	struct state s = state_copy(&w.start);
	size_t failing = 0;

	for (size_t i = 0; i < load->count; i++) {
		struct outcome outcome;

		model_run(&w.model, &s, &load->calls[i], &outcome);
		failing += outcome.error != 0;
	}
	state_free(&s);
	return failing;
}

#define PATH \
	"mkdir(\"a\", 0755)\n" \
	"write_file(\"a/f\", O_WRONLY|O_CREAT, data(1, 5000), 5000, 0)\n" \
	"open(\"a/f\", O_RDWR)\n" \
	"rename(\"a/f\", \"g\")\n"

/* Its own calls in their order, some sync, and mostly fsync of what has changed. */
static void paths_become_durable(void **state)
{
	struct workload path = parse(PATH, 0);
	size_t syncs = 0, fsyncs = 0, synced = 0;

	for (uint64_t n = 0; n < NUMBERS; n++) {
		struct workload a, b;
		size_t at = 0;

		path_workload(&w.model, &w.start, path.calls, path.count, n, &w.arena, &a);
		path_workload(&w.model, &w.start, path.calls, path.count, n, &w.arena, &b);
		assert_int_equal(a.count, b.count);
		for (size_t i = 0; i < a.count; i++) {
			assert_true(call_equal(&a.calls[i], &b.calls[i]));
			if (at < path.count && call_equal(&a.calls[i], &path.calls[at]))
				at++;
		}
		assert_int_equal(at, path.count);
		assert_int_equal(count_failing(&a), 0);
		/* All that leads to the state precedes the first crash. */
		assert_true(a.setup_count >= path.count && a.setup_count < a.count);
		synced += a.setup_count > path.count;
		syncs += count_op(&a, OP_sync) > 0;
		fsyncs += count_op(&a, OP_fsync) + count_op(&a, OP_fdatasync) > 0;
	}
	assert_true(synced > NUMBERS / 4 && synced < NUMBERS);
	assert_true(syncs >= synced && fsyncs > NUMBERS / 2);
}

static void a_write_fails_in_a_call_that_syncs(void **state)
{
	struct workload load = parse("mkdir(\"a\", 0755)\nsync()\n"
				     "open(\"f\", O_RDWR|O_CREAT, 0644)\n"
				     "pwrite(3, \"hello\", 5, 0)\nfsync(3)\nsync()\nclose(3)\n"
				     "remount()\n",
				     2);
	struct workload none = parse("mkdir(\"a\", 0755)\n", 0), with;
	bool in_fsync = false, in_sync = false;
	size_t rewritten = 0;

	assert_false(failing_workload(&w.model, &w.start, &none, 1, &w.arena, &with));
	for (uint64_t n = 0; n < NUMBERS; n++) {
		size_t at = 0;

		assert_true(failing_workload(&w.model, &w.start, &load, n, &w.arena, &with));
		assert_int_equal(count_op(&with, OP_fail_write), 1);
		assert_int_equal(with.setup_count, load.setup_count);
		while (with.calls[at].op != OP_fail_write)
			at++;
		assert_true(at >= load.setup_count);
		in_fsync |= with.calls[at + 1].op == OP_fsync;
		in_sync |= with.calls[at + 1].op == OP_sync;
		/* The call is made again, behind a write that is made again or alone. */
		rewritten += with.calls[at + 2].op == OP_pwrite;
		assert_true(call_equal(&with.calls[at + 1],
				       &with.calls[at + 2 + (with.calls[at + 2].op == OP_pwrite)]));
		/* The other file at the end is synced; what a mount would find is not known. */
		assert_int_equal(with.calls[with.count - 2].op, OP_fsync);
		assert_int_equal(count_op(&with, OP_remount), 0);
	}
	assert_true(in_fsync && in_sync && rewritten > 0 && rewritten < NUMBERS);
}

static void a_disk_is_filled_behind_the_setup(void **state)
{
	struct workload load = parse("mkdir(\"a\", 0755)\nrename(\"a\", \"b\")\n", 1), full;
	int64_t bytes = 0;

	full_workload(&load, 2 << 20, &w.arena, &full);
	assert_true(call_equal(&full.calls[0], &load.calls[0]));
	assert_int_equal(full.calls[full.setup_count - 1].op, OP_sync);
	assert_int_equal(full.count, full.setup_count + 1);
	assert_true(call_equal(&full.calls[full.setup_count], &load.calls[1]));
	for (size_t i = 0; i < full.setup_count; i++)
		if (full.calls[i].op == OP_write_file)
			bytes += full.calls[i].write_file.count.num;
	assert_true(bytes > (2 << 20) - 2048 && bytes < 2 << 20);
	full_workload(&load, 128 << 20, &w.arena, &full);
	assert_int_equal(count_op(&full, OP_write_file), 0);
	assert_true(count_op(&full, OP_fallocate_file) > 10);
}

/* Two processes, of which one syncs once; only what lost its name by then cannot be opened. */
static void pairs_sync_once(void **state)
{
	size_t failing = 0;

	for (uint64_t n = 0; n < pair_count(); n++) {
		bool first = false, second = false;
		struct workload load;

		pair_workload(n, &w.arena, &load);
		assert_int_equal(count_op(&load, OP_fsync) + count_op(&load, OP_fdatasync), 1);
		for (size_t i = load.setup_count; i < load.count; i++) {
			first |= load.calls[i].pid == 1;
			second |= load.calls[i].pid == 2;
		}
		assert_true(first && second);
		failing += count_failing(&load) > 0;
		arena_reset(&w.arena);
	}
	assert_true(pair_count() > 300 && failing < pair_count() / 10);
}

static bool is_promise(const struct call *c)
{
	return c->op == OP_fsync || c->op == OP_fdatasync;
}

/* Durable files first; then calls that succeed, at the end a promise about one object. */
static void resyncs_end_with_a_promise(void **state)
{
	size_t twice = 0, renamed = 0, evicted = 0;

	for (uint64_t n = 0; n < 5 * (uint64_t)NUMBERS; n++) {
		struct workload load;
		size_t promises;

		resync_workload(&w.model, &w.start, n, 0, &w.arena, &load);
		assert_true(load.setup_count > 3 && load.setup_count < load.count);
		assert_int_equal(load.calls[load.setup_count - 1].op, OP_sync);
		assert_int_equal(count_failing(&load), 0);
		assert_int_equal(load.calls[load.count - 1].op, OP_close);
		assert_true(is_promise(&load.calls[load.count - 2]));
		promises = count_op(&load, OP_fsync) + count_op(&load, OP_fdatasync);
		twice += promises > 1;
		renamed += count_op(&load, OP_rename) > 0;
		evicted += count_op(&load, OP_drop_caches) > 0;
		arena_reset(&w.arena);
	}
	assert_true(twice > NUMBERS && renamed > NUMBERS && evicted > NUMBERS / 4);
}

/* What can be done to one file, and to names of files and directories, is soon there. */
static void resyncs_have_everything_soon(void **state)
{
	static const enum op ops[] = { OP_direct_write,    OP_map_write_file, OP_fallocate_file,
				       OP_copy_file_range, OP_chmod,          OP_chown,
				       OP_removexattr,     OP_truncate,       OP_linkat,
				       OP_rmdir,           OP_mkdir,          OP_symlink,
				       OP_renameat2,       OP_drop_caches };
	size_t has[ARRAY_LEN(ops)] = { 0 };

	for (uint64_t n = 0; n < 4 * (uint64_t)NUMBERS; n++) {
		struct workload load;

		resync_workload(&w.model, &w.start, n, 0, &w.arena, &load);
		load.calls += load.setup_count;
		load.count -= load.setup_count;
		for (size_t i = 0; i < ARRAY_LEN(ops); i++)
			has[i] += count_op(&load, ops[i]);
		arena_reset(&w.arena);
	}
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		assert_true(has[i] > 1);
}

/* Space that a durable file gives up is written to by another one at once, and holes reach behind
 * the end. */
static void resyncs_give_up_space_soon(void **state)
{
	size_t reused = 0, beyond = 0;

	for (uint64_t n = 0; n < NUMBERS; n++) {
		struct workload load;

		resync_workload(&w.model, &w.start, n, 0, &w.arena, &load);
		for (size_t i = load.setup_count; i + 1 < load.count; i++) {
			const struct call *c = &load.calls[i], *next = c + 1;

			reused += c->op == OP_truncate && !c->truncate.length.num &&
				  next->op == OP_direct_write &&
				  next->direct_write.count.num > 32768;
			beyond += next->op == OP_fallocate_file &&
				  next->fallocate_file.length.num > 32768;
		}
		arena_reset(&w.arena);
	}
	assert_true(reused > 0 && beyond > 0);
}

/* The number and the seed say what it is. */
/* A single change and fdatasync; a file that is synced when it was read again; more extents than an
 * inode has room for; a name that is removed after its directory was synced. */
static void resyncs_have_what_logs_forget(void **state)
{
	size_t single = 0, evicted = 0, extents = 0, removed = 0;

	for (uint64_t n = 0; n < NUMBERS; n++) {
		struct workload load;
		size_t writes = 0, synced = 0;

		resync_workload(&w.model, &w.start, n, 0, &w.arena, &load);
		for (size_t i = load.setup_count; i < load.count; i++) {
			const struct call *c = &load.calls[i];

			writes += c->op == OP_write_file;
			evicted += i + 3 == load.count && c->op == OP_open &&
				   c[-1].op == OP_drop_caches && c[-3].op == OP_sync_file_range;
			removed += synced && c->op == OP_unlink;
			synced += c->op == OP_fsync && c[-1].open.flags.num & O_DIRECTORY;
		}
		single += load.count - load.setup_count == 4 &&
			  load.calls[load.setup_count + 2].op == OP_fdatasync;
		extents += writes > 20;
		arena_reset(&w.arena);
	}
	assert_true(single > 0 && evicted > 0 && extents > 0 && removed > 0);
}

static void resyncs_can_be_repeated(void **state)
{
	size_t differ = 0;

	for (uint64_t n = 0; n < NUMBERS; n++) {
		struct buf texts[3] = { BUF_INIT, BUF_INIT, BUF_INIT };

		for (uint64_t i = 0; i < ARRAY_LEN(texts); i++) {
			struct workload load;

			resync_workload(&w.model, &w.start, n, i == 2, &w.arena, &load);
			workload_print(&load, &texts[i]);
		}
		assert_string_equal(texts[0].data, texts[1].data);
		differ += strcmp(texts[0].data, texts[2].data) != 0;
		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			buf_free(&texts[i]);
		arena_reset(&w.arena);
	}
	assert_true(differ > NUMBERS / 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(paths_become_durable),
		TEST(a_write_fails_in_a_call_that_syncs),
		TEST(a_disk_is_filled_behind_the_setup),
		TEST(pairs_sync_once),
		TEST(resyncs_end_with_a_promise),
		TEST(resyncs_have_everything_soon),
		TEST(resyncs_give_up_space_soon),
		TEST(resyncs_have_what_logs_forget),
		TEST(resyncs_can_be_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
