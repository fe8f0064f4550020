/* test_ace.c -- generated workloads: how many there are, that their calls succeed, that they end
 * with something that persists; wide inputs and their bounds; workloads as files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "crash/ace.h"
#include "crash/ace_build.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { DISK = 16 << 20, LENGTH_MAX = DISK / 8, PAGE = 4096 };

struct fixture {
	struct ace ace;
	struct arena arena;
	struct workload workload;
};

static void make(struct fixture *f, struct ace_options options)
{
	*f = (struct fixture){ .arena = ARENA_INIT };
	ace_init(&f->ace, &options);
}

static void unmake(struct fixture *f)
{
	ace_free(&f->ace);
	arena_free(&f->arena);
}

static const struct workload *draw(struct fixture *f, uint64_t index)
{
	arena_reset(&f->arena);
	ace_workload(&f->ace, index, &f->arena, &f->workload);
	return &f->workload;
}

static uint64_t count_of(unsigned length, bool nested)
{
	struct fixture f;
	uint64_t count;

	make(&f, (struct ace_options){ .length = length, .nested = nested });
	count = f.ace.count;
	unmake(&f);
	return count;
}

/* "seq-1/17 link foo bar, fsync foo": without the number. */
static const char *what_it_does(const struct workload *w)
{
	return strchr(w->name, ' ') + 1;
}

/* One and two operations: as published. */
static void counts_are_known(void **state)
{
	assert_int_equal(count_of(1, false), 328);
	assert_int_equal(count_of(2, false), 241720);
	assert_int_equal(count_of(3, false), 4279230);
	assert_int_equal(count_of(1, true), 585);
	assert_int_equal(count_of(2, true), 903868);
	assert_int_equal(count_of(3, true), 16531754);
}

/* By operation, as the published generator has them. */
static void counts_by_operation(void **state)
{
	static const struct {
		const char *name;
		unsigned count;
	} expected[] = { { "creat ", 8 },    { "mkdir ", 4 },     { "falloc ", 120 },
			 { "write ", 24 },   { "dwrite ", 16 },   { "mmapwrite ", 16 },
			 { "link ", 36 },    { "unlink ", 16 },   { "remove ", 16 },
			 { "rename ", 40 },  { "fsetxattr ", 8 }, { "removexattr ", 8 },
			 { "truncate ", 16 } };
	struct fixture f;

	make(&f, (struct ace_options){ .length = 1 });
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		unsigned count = 0;

		for (uint64_t index = 0; index < f.ace.count; index++)
			count += !strncmp(what_it_does(draw(&f, index)), expected[i].name,
					  strlen(expected[i].name));
		assert_int_equal(count, expected[i].count);
	}
	unmake(&f);
}

static void print_calls(const struct workload *w, struct buf *out)
{
	for (size_t i = 0; i < w->count; i++) {
		call_print(&w->calls[i], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

/* Neither two names nor two workloads are the same. */
static void workloads_differ(void **state)
{
	struct fixture f;
	struct buf calls = BUF_INIT;
	struct hash *names, *bodies;

	make(&f, (struct ace_options){ .length = 1, .nested = true });
	names = test_calloc(f.ace.count, sizeof(*names));
	bodies = test_calloc(f.ace.count, sizeof(*bodies));
	for (uint64_t i = 0; i < f.ace.count; i++) {
		const struct workload *w = draw(&f, i);

		buf_clear(&calls);
		print_calls(w, &calls);
		names[i] = hash128(what_it_does(w), strlen(what_it_does(w)), 0);
		bodies[i] = hash128(calls.data, calls.len, 0);
		for (uint64_t j = 0; j < i; j++) {
			assert_false(hash_equal(names[i], names[j]));
			assert_false(hash_equal(bodies[i], bodies[j]));
		}
	}
	buf_free(&calls);
	test_free(names);
	test_free(bodies);
	unmake(&f);
}

static void assert_same(const struct workload *a, const struct workload *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->setup_count, b->setup_count);
	for (size_t i = 0; i < a->count; i++)
		assert_true(call_equal(&a->calls[i], &b->calls[i]));
}

static bool is_same(const struct workload *a, const struct workload *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!call_equal(&a->calls[i], &b->calls[i]))
			return false;
	return true;
}

/* By itself, or after others; by one generator or another. */
static void an_index_is_one_workload(void **state)
{
	struct ace_options options = { .length = 3, .wide = true, .seed = 7, .disk_bytes = DISK };
	struct fixture f, again, other;
	unsigned differ = 0;

	make(&f, options);
	make(&again, options);
	options.seed = 8;
	make(&other, options);
	draw(&again, 5);
	for (uint64_t i = 100; i < f.ace.count; i += f.ace.count / 100) {
		assert_same(draw(&f, i), draw(&again, i));
		assert_string_equal(f.workload.name, again.workload.name);
		differ += !is_same(draw(&f, i), draw(&other, i));
	}
	assert_true(differ > 50);
	unmake(&f);
	unmake(&again);
	unmake(&other);
}

/* Every call succeeds, transfers all, and no descriptor is left. */
static void succeeds(const struct workload *w)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0755 };
	struct outcome outcome;
	struct model model;
	struct state s;

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&s, &options);
	for (size_t i = 0; i < w->count; i++) {
		const struct call *c = &w->calls[i];

		model_run(&model, &s, c, &outcome);
		if (outcome.error)
			fail_msg("%s: call %zu (%s): %s", w->name, i, op_table[c->op].name,
				 errno_name(outcome.error));
		if (c->op == OP_pwrite)
			assert_int_equal(outcome.num, c->pwrite.count.num);
		if (c->op == OP_map_write)
			assert_int_equal(outcome.num, c->map_write.count.num);
		if (c->op == OP_direct_write)
			assert_int_equal(outcome.num, c->direct_write.count.num);
	}
	assert_null(state_file(&s, 1, STATE_FD_FIRST));
	assert_int_equal(s.maps, 0);
	state_free(&s);
}

static void ends_persisted(const struct workload *w)
{
	size_t last = w->count;

	while (w->calls[last - 1].op == OP_close || w->calls[last - 1].op == OP_munmap)
		last--;
	assert_true(last > w->setup_count);
	assert_true(op_table[w->calls[last - 1].op].traits & TRAIT_SYNC);
	if (w->setup_count)
		assert_int_equal(w->calls[w->setup_count - 1].op, OP_sync);
}

static void try_some(struct ace_options options, uint64_t wanted)
{
	struct fixture f;
	uint64_t step;

	make(&f, options);
	step = f.ace.count / wanted + 1;
	for (uint64_t i = 0; i < f.ace.count; i += step) {
		const struct workload *w = draw(&f, i);

		if (options.in_place)
			assert_int_equal(w->setup_count, 0);
		ends_persisted(w);
		succeeds(w);
	}
	/* The ends are where counting goes wrong. */
	succeeds(draw(&f, f.ace.count - 1));
	unmake(&f);
}

enum { ALL = 1 << 30, SOME = 3000, FEW = 300 };

static void published_calls_succeed(void **state)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct ace_options options = { .nested = variant & 1, .in_place = variant & 2 };

		options.length = 1;
		try_some(options, ALL);
		options.length = 2;
		try_some(options, SOME);
		options.length = 3;
		try_some(options, SOME);
	}
}

static void wide_calls_succeed(void **state)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct ace_options options = { .nested = variant & 1, .in_place = variant & 2 };

		options.wide = true;
		options.seed = variant;
		options.disk_bytes = DISK;
		for (options.length = 1; options.length <= 3; options.length++)
			try_some(options, FEW);
	}
}

static struct ace_use use_of(enum ace_op op, enum ace_path first, enum ace_path second)
{
	struct ace_use uses[ACE_USES_MAX];
	size_t count = ace_uses(true, uses);

	for (size_t i = 0; i < count; i++)
		if (uses[i].op == op && uses[i].paths[0] == first && uses[i].paths[1] == second)
			return uses[i];
	fail();
	return uses[0];
}

/* Rare ones among three operations: what a rename brings along is in the way of the next one. */
static void moved_names_are_followed(void **state)
{
	const struct ace_use creat = use_of(ACE_OP_creat, ACE_A_FOO, ACE_NO_PATH);
	const struct ace_use inner = use_of(ACE_OP_creat, ACE_A_C_FOO, ACE_NO_PATH);
	const struct ace_use there = use_of(ACE_OP_rename, ACE_A, ACE_B);
	const struct ace_use into = use_of(ACE_OP_rename, ACE_B, ACE_A_C);
	const struct ace_use links = use_of(ACE_OP_link, ACE_A_FOO, ACE_A_BAR);
	const struct ace_use same = use_of(ACE_OP_rename, ACE_A_FOO, ACE_A_BAR);
	const struct ace_use sequences[][3] = {
		{ creat, there, there }, { inner, there, there }, { inner, there, into },
		{ creat, there, into },  { links, there, there }, { links, same, there },
	};

	for (size_t i = 0; i < 2 * sizeof(sequences) / sizeof(*sequences); i++) {
		struct ace_skeleton skeleton = { .length = 3, .in_place = i % 2 };
		struct arena arena = ARENA_INIT;
		struct buf name = BUF_INIT;
		struct ace_values values;
		struct workload w;

		for (unsigned step = 0; step < 3; step++) {
			skeleton.steps[step].use = sequences[i / 2][step];
			skeleton.steps[step].persist = step < 2 ? ACE_B : ACE_SYNC;
		}
		values_init(&values);
		ace_build(&skeleton, &values, &arena, &name, &w);
		w.name = buf_str(&name);
		succeeds(&w);
		buf_free(&name);
		arena_free(&arena);
	}
}

static bool is_drawn_length(uint64_t length)
{
	for (uint64_t power = 16; power <= 2 << 20; power *= 2)
		if (length + 1 >= power && length <= power + 1)
			return true;
	return false;
}

static uint64_t bytes_taken(const struct call *c)
{
	switch (c->op) {
	case OP_pwrite:
		assert_true(is_drawn_length((uint64_t)c->pwrite.count.num));
		return (uint64_t)c->pwrite.count.num;
	case OP_write_file:
		return (uint64_t)c->write_file.count.num;
	case OP_map_write:
		assert_true(is_drawn_length((uint64_t)c->map_write.count.num));
		return (uint64_t)c->map_write.count.num;
	case OP_direct_write:
		assert_int_equal(c->direct_write.offset.num % PAGE, 0);
		assert_int_equal(c->direct_write.count.num % PAGE, 0);
		return (uint64_t)c->direct_write.count.num;
	case OP_fallocate:
		assert_true(is_drawn_length((uint64_t)c->fallocate.length.num));
		return (uint64_t)c->fallocate.length.num;
	}
	return 0;
}

/* No transfer is longer than an eighth of the disk, and all of them together fit on half of it. */
static void wide_is_bounded(void **state)
{
	struct ace_options options = { .length = 3, .wide = true, .disk_bytes = DISK };
	struct fixture f;

	make(&f, options);
	for (uint64_t i = 0; i < f.ace.count; i += f.ace.count / 2000) {
		const struct workload *w = draw(&f, i);
		uint64_t all = 0;

		for (size_t j = 0; j < w->count; j++) {
			assert_true(bytes_taken(&w->calls[j]) <= LENGTH_MAX);
			all += bytes_taken(&w->calls[j]);
		}
		assert_true(all <= DISK / 2);
	}
	unmake(&f);
}

/* On a disk of 64 kB, too: only a direct write cannot be shorter than a page. */
static void small_disks_bound_more(void **state)
{
	struct ace_options options = { .length = 1, .wide = true, .disk_bytes = 64 << 10 };
	struct fixture f;

	make(&f, options);
	for (uint64_t i = 0; i < f.ace.count; i++) {
		const struct workload *w = draw(&f, i);

		for (size_t j = 0; j < w->count; j++)
			assert_true(bytes_taken(&w->calls[j]) <= 8 << 10);
	}
	unmake(&f);
}

struct drawn {
	unsigned flags[64], modes[64]; /* distinct values */
	unsigned flag_count, mode_count;
	bool less, exact, more, aligned, unaligned, fdatasync;
};

static void note_value(unsigned *values, unsigned *count, int64_t value)
{
	for (unsigned i = 0; i < *count; i++)
		if (values[i] == (unsigned)value)
			return;
	assert_true(*count < 64);
	values[(*count)++] = (unsigned)value;
}

static void note_call(struct drawn *d, const struct call *c)
{
	uint64_t count;

	if (c->op == OP_fdatasync)
		d->fdatasync = true;
	if (c->op == OP_mkdir)
		note_value(d->modes, &d->mode_count, c->mkdir.mode.num);
	if (c->op == OP_open && c->open.flags.num & O_CREAT) {
		note_value(d->flags, &d->flag_count, c->open.flags.num);
		note_value(d->modes, &d->mode_count, c->open.mode.num);
	}
	if (c->op != OP_pwrite)
		return;
	count = (uint64_t)c->pwrite.count.num;
	d->less |= !((count + 1) & count);
	d->exact |= !(count & (count - 1));
	d->more |= !((count - 1) & (count - 2));
	d->aligned |= c->pwrite.offset.num && c->pwrite.offset.num % PAGE == 0;
	d->unaligned |= c->pwrite.offset.num % PAGE != 0;
}

static void wide_draws_everything(void **state)
{
	struct ace_options options = { .length = 2, .wide = true, .disk_bytes = DISK };
	struct drawn d = { .less = false };
	struct fixture f;

	make(&f, options);
	for (uint64_t i = 0; i < f.ace.count; i += 101) {
		const struct workload *w = draw(&f, i);

		for (size_t j = w->setup_count; j < w->count; j++)
			note_call(&d, &w->calls[j]);
	}
	assert_int_equal(d.flag_count, 6);
	assert_int_equal(d.mode_count, 7);
	assert_true(d.less && d.exact && d.more && d.aligned && d.unaligned && d.fdatasync);
	unmake(&f);
}

static void names_of_sequences(void **state)
{
	static const char *const wrong[] = { "seq-0",      "seq-4",       "seq-",          "seq-1-",
					     "seq-2-wide", "seq-1nested", "seq-1-nested2", "" };
	struct ace_options options = { .seed = 3 };
	struct err err;

	assert_int_equal(ace_parse(&options, "seq-2-nested", &err), 0);
	assert_int_equal(options.length, 2);
	assert_true(options.nested);
	assert_int_equal(options.seed, 3);
	assert_int_equal(ace_parse(&options, "seq-3", &err), 0);
	assert_int_equal(options.length, 3);
	assert_false(options.nested);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		err = (struct err){ 0 };
		assert_int_equal(ace_parse(&options, wrong[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "expected seq-1 to seq-3"));
	}
	assert_int_equal(options.length, 3);
}

static const char *work_path(struct buf *path)
{
	const char *work = getenv("WORK");

	buf_clear(path);
	buf_addf(path, "%s/workload", work ? work : "/tmp");
	return buf_str(path);
}

static int read_text(struct fixture *f, const char *text, struct workload *ret, struct err *err)
{
	struct buf path = BUF_INIT, file = BUF_INIT;
	int status;

	buf_adds(&file, text);
	status = buf_write_file(&file, work_path(&path), err);
	if (!status)
		status = workload_read(ret, buf_str(&path), &f->arena, err);
	buf_free(&file);
	buf_free(&path);
	return status;
}

static void files_are_read_back(void **state)
{
	struct buf text = BUF_INIT;
	struct workload read;
	struct fixture f;
	struct err err = { 0 };

	make(&f, (struct ace_options){ .length = 2, .wide = true, .disk_bytes = DISK });
	for (uint64_t i = 0; i < f.ace.count; i += f.ace.count / 50) {
		draw(&f, i);
		buf_clear(&text);
		workload_print(&f.workload, &text);
		if (read_text(&f, buf_str(&text), &read, &err))
			fail_msg("%s", err.text);
		assert_same(&f.workload, &read);
	}
	buf_free(&text);
	unmake(&f);
}

static void other_files_are_read(void **state)
{
	struct fixture f = { .arena = ARENA_INIT };
	struct err err = { 0 };
	struct workload w = { .name = "untouched" };

	assert_int_equal(read_text(&f, "mkdir(\"a\", 0755) = 0\nsync() = 0\n", &w, &err), 0);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.setup_count, 0);
	assert_int_equal(w.calls[1].op, OP_sync);
	w = (struct workload){ .name = "untouched" };
	assert_int_equal(read_text(&f, "sync()\n# run\n", &w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no call to test"));
	err = (struct err){ 0 };
	assert_int_equal(read_text(&f, "no_such_call()\n", &w, &err), -EINVAL);
	assert_string_equal(w.name, "untouched");
	arena_free(&f.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_known),
		cmocka_unit_test(counts_by_operation),
		cmocka_unit_test(workloads_differ),
		cmocka_unit_test(an_index_is_one_workload),
		cmocka_unit_test(published_calls_succeed),
		cmocka_unit_test(wide_calls_succeed),
		cmocka_unit_test(moved_names_are_followed),
		cmocka_unit_test(wide_is_bounded),
		cmocka_unit_test(small_disks_bound_more),
		cmocka_unit_test(wide_draws_everything),
		cmocka_unit_test(names_of_sequences),
		cmocka_unit_test(files_are_read_back),
		cmocka_unit_test(other_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
