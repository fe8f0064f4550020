/* test_share_memory.c -- what workers of one machine share: taken by one, counted once, given, and
 * free again when one dies; also between processes, and where they are killed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/must.h"
#include "base/rng.h"
#include "share/memory.h"
#include "share/shared_set.h"
#include "tests/harness/unit.h"

enum { BYTES = 1 << 24 };

static struct share_memory *memory_of(unsigned workers)
{
	struct err err = { 0 };
	struct share_memory *m = share_memory_open(workers, BYTES, &err);

	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static struct hash hash_of(uint64_t n)
{
	return hash128(&n, sizeof(n), 0);
}

static bool takes(struct share *s, uint64_t work)
{
	struct err err = { 0 };
	bool mine;

	assert_int_equal(s->ops->take(s, hash_of(work), &mine, &err), 0);
	return mine;
}

static enum share_wait waits(struct share *s, struct buf *item)
{
	enum share_wait answer;
	struct err err = { 0 };

	assert_int_equal(s->ops->wait(s, 0, item, &answer, &err), 0);
	return answer;
}

static void gives(struct share *s, uint64_t work, const char *text)
{
	struct err err = { 0 };

	assert_int_equal(s->ops->give(s, hash_of(work), text, strlen(text) + 1, &err), 0);
}

static void work_is_taken_by_one(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0);

	assert_true(takes(a, 1));
	assert_true(takes(a, 1));
	assert_false(takes(b, 1));
	assert_true(takes(b, 2));
	assert_false(takes(a, 2));
	a->ops->close(a);
	b->ops->close(b);
	share_memory_close(m);
}

static void a_state_is_counted_once(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 3);
	struct hash sum, expected = { 0 };
	struct err err = { 0 };
	uint64_t counted;

	for (uint64_t i = 0; i < 5000; i++) {
		expected = hash_add(expected, hash_of(i));
		assert_int_equal(a->ops->count(a, hash_of(i), &err), 0);
		assert_int_equal(b->ops->count(b, hash_of(i / 2), &err), 0);
	}
	assert_int_equal(a->ops->counted(a, &counted, &err), 0);
	assert_int_equal(counted, 5000);
	assert_int_equal(share_memory_states(m, &sum), 5000);
	assert_true(hash_equal(sum, expected));
	a->ops->close(a);
	b->ops->close(b);
	share_memory_close(m);
}

static void a_set_is_exact_until_it_is_full(void **state)
{
	struct shared_set s;
	struct err err = { 0 };
	struct hash sum;
	uint64_t count = 0;
	bool is_new = true;

	assert_int_equal(shared_set_open(&s, 2 << 20, &err), 0);
	while (shared_set_put(&s, hash_of(count), &is_new) != SHARED_SET_NONE) {
		assert_true(is_new);
		assert_true(shared_set_put(&s, hash_of(count / 2), &is_new) != SHARED_SET_NONE);
		assert_false(is_new);
		count++;
	}
	/* Most of its memory is used by then. */
	assert_true(count > (2 << 20) / 18 / 2);
	assert_int_equal(shared_set_count(&s, &sum), count);
	/* Hashes of which one half is 0, or the same as that of others. */
	shared_set_close(&s);
	assert_int_equal(shared_set_open(&s, 1 << 20, &err), 0);
	for (uint64_t i = 0; i < 8; i++) {
		assert_true(shared_set_put(&s, (struct hash){ 0, i + 2 }, &is_new) >= 0);
		assert_true(is_new);
		assert_true(shared_set_put(&s, (struct hash){ i + 2, 0 }, &is_new) >= 0);
		assert_true(is_new);
	}
	assert_int_equal(shared_set_count(&s, &sum), 16);
	shared_set_close(&s);
}

static void full_memory_is_said(void **state)
{
	struct err err = { 0 };
	struct share_memory *m = share_memory_open(1, 1, &err);
	struct share *a = share_memory_join(m, 0, 0);
	int status = 0;
	bool mine;

	for (uint64_t i = 0; i < 1 << 20 && !status; i++)
		status = a->ops->take(a, hash_of(i), &mine, &err);
	assert_int_equal(status, -ENOSPC);
	a->ops->close(a);
	share_memory_close(m);
}

static void what_is_given_is_got_by_one_who_waits(void **state)
{
	struct share_memory *m = memory_of(3);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0);
	struct share *c = share_memory_join(m, 2, 0), *other = share_memory_join(m, 2, 1);
	struct buf item = BUF_INIT;

	assert_true(takes(a, 7));
	assert_false(a->ops->is_wanted(a));
	assert_int_equal(waits(b, &item), SHARE_NOTHING_YET);
	assert_int_equal(waits(other, &item), SHARE_NOTHING_YET);
	assert_true(a->ops->is_wanted(a));
	gives(a, 7, "seven");
	assert_false(a->ops->is_wanted(a));
	/* On its way it is nobody's, and of another search no business. */
	assert_false(takes(a, 7));
	assert_int_equal(waits(other, &item), SHARE_NOTHING_YET);
	assert_int_equal(waits(b, &item), SHARE_GOT);
	assert_string_equal(item.data, "seven");
	assert_true(takes(b, 7));
	assert_false(takes(a, 7));
	assert_int_equal(waits(c, &item), SHARE_NOTHING_YET);
	buf_free(&item);
	a->ops->close(a);
	b->ops->close(b);
	c->ops->close(c);
	other->ops->close(other);
	share_memory_close(m);
}

static void all_wait_is_the_end(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0);
	struct buf item = BUF_INIT;

	assert_int_equal(waits(a, &item), SHARE_NOTHING_YET);
	assert_true(takes(b, 1));
	gives(b, 1, "one");
	/* There is something for a: b alone does not end it. */
	assert_int_equal(waits(a, &item), SHARE_GOT);
	assert_int_equal(waits(b, &item), SHARE_NOTHING_YET);
	assert_false(share_memory_is_over(m, 0));
	assert_int_equal(waits(a, &item), SHARE_NOTHING_LEFT);
	assert_int_equal(waits(b, &item), SHARE_NOTHING_LEFT);
	assert_true(share_memory_is_over(m, 0));
	assert_false(share_memory_is_over(m, 1));
	buf_free(&item);
	a->ops->close(a);
	b->ops->close(b);
	share_memory_close(m);
}

static void what_a_dead_worker_had_is_free(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0), *c;
	struct buf item = BUF_INIT;
	uint64_t freed = a->ops->freed(a);

	assert_true(takes(b, 1));
	assert_true(takes(b, 2));
	assert_false(takes(a, 1));
	assert_int_equal(waits(a, &item), SHARE_NOTHING_YET);
	gives(b, 2, "two");
	share_memory_died(m, 1);
	assert_true(a->ops->freed(a) > freed);
	/* Before anything is over, who waits has to look; what the dead one gave is not got. */
	assert_int_equal(waits(a, &item), SHARE_LOOK_AGAIN);
	assert_true(takes(a, 1));
	assert_true(takes(a, 2));
	/* One that takes its place has another number. */
	assert_int_equal(share_memory_add(m), 2);
	c = share_memory_join(m, 2, 0);
	assert_false(takes(c, 1));
	assert_int_equal(waits(a, &item), SHARE_NOTHING_YET);
	assert_int_equal(waits(c, &item), SHARE_NOTHING_LEFT);
	buf_free(&item);
	a->ops->close(a);
	b->ops->close(b);
	c->ops->close(c);
	share_memory_close(m);
}

static void what_cannot_be_done_is_for_others(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0);
	struct buf item = BUF_INIT;
	struct err err = { 0 };

	assert_true(takes(a, 1));
	assert_false(takes(b, 1));
	assert_int_equal(waits(b, &item), SHARE_NOTHING_YET);
	assert_int_equal(a->ops->release(a, hash_of(1), &err), 0);
	assert_int_equal(waits(b, &item), SHARE_LOOK_AGAIN);
	assert_true(takes(b, 1));
	assert_false(takes(a, 1));
	buf_free(&item);
	a->ops->close(a);
	b->ops->close(b);
	share_memory_close(m);
}

/* One that is killed when all others have ended: nobody is left to give its work to. */
static void what_is_free_after_the_end_is_for_one(void **state)
{
	struct share_memory *m = memory_of(2);
	struct share *a = share_memory_join(m, 0, 0), *b = share_memory_join(m, 1, 0), *c;
	struct buf item = BUF_INIT;

	assert_true(takes(a, 1));
	assert_int_equal(waits(a, &item), SHARE_NOTHING_YET);
	assert_int_equal(waits(b, &item), SHARE_NOTHING_LEFT);
	share_memory_died(m, 0);
	assert_int_equal(share_memory_add(m), 2);
	c = share_memory_join(m, 2, 0);
	assert_true(takes(c, 1));
	assert_false(c->ops->is_wanted(c));
	assert_int_equal(waits(c, &item), SHARE_NOTHING_LEFT);
	buf_free(&item);
	a->ops->close(a);
	b->ops->close(b);
	c->ops->close(c);
	share_memory_close(m);
}

/* Processes that take, count and give numbers; some are killed, and others take their place. Every
 * number is done by one that lived. */
enum { NUMBERS = 20000, PROCESSES = 4, KILLS = 6 };

static _Noreturn void process_main(struct share_memory *m, unsigned worker, _Atomic uint16_t *done)
{
	struct share *s = share_memory_join(m, worker, 0);
	struct buf item = BUF_INIT;
	struct err err = { 0 };
	enum share_wait answer = SHARE_LOOK_AGAIN;

	for (; answer != SHARE_NOTHING_LEFT; s->ops->wait(s, 0.01, &item, &answer, &err)) {
		for (uint64_t i = 0; answer == SHARE_LOOK_AGAIN && i < NUMBERS; i++) {
			s->ops->count(s, hash_of(i), &err);
			if (!takes(s, i))
				continue;
			if (i % 16 == 0 && s->ops->is_wanted(s) &&
			    !s->ops->give(s, hash_of(i), &i, sizeof(i), &err))
				continue;
			done[i] = (uint16_t)(worker + 1);
		}
		if (answer == SHARE_GOT)
			done[*(uint64_t *)item.data] = (uint16_t)(worker + 1);
	}
	_exit(err.code ? 1 : 0);
}

static pid_t process_start(struct share_memory *m, unsigned worker, _Atomic uint16_t *done)
{
	pid_t pid = fork();

	if (!pid)
		process_main(m, worker, done);
	assert_true(pid > 0);
	return pid;
}

static void processes_that_are_killed_lose_nothing(void **state)
{
	struct share_memory *m = memory_of(PROCESSES);
	struct shared_set done_set; /* only for its memory */
	struct err err = { 0 };
	pid_t pids[PROCESSES + KILLS];
	bool dead[PROCESSES + KILLS] = { false };
	unsigned count = PROCESSES;
	struct rng rng;
	struct hash sum;
	int status;

	assert_int_equal(shared_set_open(&done_set, 1 << 22, &err), 0);
	rng_seed(&rng, 5);
	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = process_start(m, i, done_set.owners);
	for (unsigned k = 0; k < KILLS; k++) {
		unsigned victim = (unsigned)rng_below(&rng, count);

		usleep(500 + (unsigned)rng_below(&rng, 3000));
		if (dead[victim] || waitpid(pids[victim], &status, WNOHANG))
			continue;
		kill(pids[victim], SIGKILL);
		waitpid(pids[victim], &status, 0);
		dead[victim] = true;
		share_memory_died(m, victim);
		assert_int_equal(share_memory_add(m), count);
		pids[count] = process_start(m, count, done_set.owners);
		count++;
	}
	for (unsigned i = 0; i < count; i++)
		if (!dead[i] && waitpid(pids[i], &status, 0) > 0)
			assert_int_equal(status, 0);
	for (unsigned i = 0; i < NUMBERS; i++) {
		unsigned by = done_set.owners[i];

		if (!by || dead[by - 1])
			fail_msg("number %u is done by %u", i, by);
	}
	assert_int_equal(share_memory_states(m, &sum), NUMBERS);
	shared_set_close(&done_set);
	share_memory_close(m);
}

/* Pages of the set that have memory. */
static size_t set_pages_resident(const struct shared_set *s)
{
	size_t pages = s->bytes / 4096, count = 0;
	unsigned char *in_memory = must_alloc(pages + 1);

	assert_int_equal(mincore(s->slots, s->bytes, in_memory), 0);
	for (size_t i = 0; i < pages; i++)
		count += in_memory[i] & 1;
	free(in_memory);
	return count;
}

/* A level begins with all of its memory at once, so none may be much larger than those before. */
static void a_set_takes_little_more_than_its_members(void **state)
{
	enum { MEMBERS = 20000, SET_BYTES = 64 << 20 };
	struct shared_set s;
	struct err err = { 0 };
	bool is_new;

	assert_int_equal(shared_set_open(&s, SET_BYTES, &err), 0);
	for (uint64_t i = 0; i < MEMBERS; i++)
		assert_true(shared_set_put(&s, hash_of(i), &is_new) >= 0);
	assert_in_range(set_pages_resident(&s) * 4096, 0,
			MEMBERS * sizeof(struct shared_slot) / 2 * 5);
	shared_set_close(&s);
}

/* Levels that nothing was added to are not read: that would take their memory. */
static void counting_takes_no_memory(void **state)
{
	enum { HASHES = 1000, SET_BYTES = 64 << 20 };
	struct shared_set s;
	struct hash sum;
	struct err err = { 0 };
	size_t before;
	bool is_new;

	assert_int_equal(shared_set_open(&s, SET_BYTES, &err), 0);
	for (uint64_t i = 0; i < HASHES; i++)
		assert_true(shared_set_put(&s, hash_of(i), &is_new) >= 0);
	before = set_pages_resident(&s);
	assert_int_equal(shared_set_count(&s, &sum), HASHES);
	assert_in_range(set_pages_resident(&s), before, before + 8);
	shared_set_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_taken_by_one),
		cmocka_unit_test(a_state_is_counted_once),
		cmocka_unit_test(a_set_is_exact_until_it_is_full),
		cmocka_unit_test(full_memory_is_said),
		cmocka_unit_test(what_is_given_is_got_by_one_who_waits),
		cmocka_unit_test(all_wait_is_the_end),
		cmocka_unit_test(what_a_dead_worker_had_is_free),
		cmocka_unit_test(what_cannot_be_done_is_for_others),
		cmocka_unit_test(what_is_free_after_the_end_is_for_one),
		cmocka_unit_test(processes_that_are_killed_lose_nothing),
		cmocka_unit_test(counting_takes_no_memory),
		cmocka_unit_test(a_set_takes_little_more_than_its_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
