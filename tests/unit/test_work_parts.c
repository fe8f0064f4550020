/* test_work_parts.c -- parts of a run on a Redis server: each is one worker's, again another's when
 * that dies, and counted once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "swarm/work_parts.h"
#include "tests/unit/swarm_graph.h"

enum { PARTS = 3 };

static struct test_server server;
static struct redis_url url;

static int start_server(void **state)
{
	struct err err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	if (server_is_there()) {
		server_open(&server);
		must(!redis_url_parse(&url, server.url, &err));
	}
	return 0;
}

static int end_server(void **state)
{
	if (server.pid)
		server_close(&server);
	redis_url_free(&url);
	return 0;
}

/* ---- a run and its workers ---- */

static struct swarm_run make_run(const char *name)
{
	struct swarm_run run;
	struct err err = { 0 };
	const char *warning;
	bool made;

	if (!server.pid)
		skip();
	must(!swarm_run_open(&run, &url, name, &warning, &err));
	must(!swarm_run_make(&run,
			     json_pack("{s:[s,s], s:i, s:i}", "args", "crash", "x", "shards", 1,
				       "parts", PARTS),
			     &made, &err) &&
	     made);
	must(!work_parts_put(&run, PARTS, &err));
	return run;
}

static void join(struct swarm_worker *w, const char *run)
{
	struct worker_options o = WORKER_OPTIONS_INIT;
	struct err err = { 0 };

	o.url = &url;
	o.run = run;
	o.label = "test";
	o.dead_seconds = 1;
	must(!worker_open(w, &o, pages_make(1), &err));
}

static enum part_offer take(struct swarm_worker *w, unsigned *ret_number)
{
	struct err err = { 0 };
	enum part_offer offer;

	if (work_parts_take(w, &offer, ret_number, &err))
		fail_msg("%s", err.text);
	return offer;
}

static void end(struct swarm_worker *w, unsigned number, int value, bool is_done)
{
	struct results_sender sender = { 0 };
	struct err err = { 0 };
	json_t *printed = json_pack("{s:i}", "value", value);

	if (work_parts_end(w, &sender, number, "/nonexistent", printed, is_done, &err))
		fail_msg("%s", err.text);
	results_sender_free(&sender);
	json_decref(printed);
}

/* The sum of all results; -1 where there are not so many. */
static json_int_t sum(struct swarm_run *run, size_t count)
{
	struct err err = { 0 };
	json_int_t sum = 0;
	const char *number;
	json_t *all, *one;

	must(!work_parts_fetch(run, &all, &err));
	json_object_foreach(all, number, one) sum +=
		json_integer_value(json_object_get(one, "value"));
	if (json_object_size(all) != count)
		sum = -1;
	json_decref(all);
	return sum;
}

static struct work_parts_counts counts(struct swarm_run *run)
{
	struct work_parts_counts c;
	struct err err = { 0 };

	must(!work_parts_count(run, &c, &err));
	return c;
}

/* ---- the tests ---- */

static void test_once(void **state)
{
	struct swarm_run run = make_run("once");
	struct swarm_worker a, b;
	struct err err = { 0 };
	unsigned one, two, three, none;

	join(&a, "once");
	join(&b, "once");
	assert_int_equal(take(&a, &one), PART_MINE);
	/* As where the answer was lost. */
	assert_int_equal(take(&a, &two), PART_MINE);
	assert_int_equal(one, two);
	assert_int_equal(take(&b, &two), PART_MINE);
	assert_int_not_equal(one, two);
	end(&a, one, 1, true);
	end(&a, one, 1, true);
	assert_int_equal(take(&a, &three), PART_MINE);
	end(&a, three, 100, true);
	assert_int_equal(take(&a, &none), PART_WAIT);
	/* Parts that are done do not come back. */
	must(!work_parts_put(&run, PARTS, &err));
	assert_int_equal(take(&a, &none), PART_WAIT);
	end(&b, two, 10, true);
	assert_int_equal(take(&a, &none), PART_NONE_LEFT);
	assert_int_equal(take(&b, &none), PART_NONE_LEFT);
	assert_int_equal(sum(&run, PARTS), 111);
	assert_int_equal(counts(&run).open, 0);
	worker_close(&a, "done");
	worker_close(&b, "done");
	must(!swarm_run_remove(&run, &err));
	swarm_run_close(&run);
	assert_int_equal(server_number(&server, "DBSIZE"), 0);
}

/* One that dies, one that leaves with a part of its part done: others do theirs, from the start. */
static void test_again(void **state)
{
	struct swarm_run run = make_run("again");
	struct swarm_worker dies, leaves, w;
	struct err err = { 0 };
	unsigned one, two, number;
	unsigned done = 0;

	join(&dies, "again");
	join(&leaves, "again");
	join(&w, "again");
	assert_int_equal(take(&dies, &one), PART_MINE);
	assert_int_equal(take(&leaves, &two), PART_MINE);
	end(&leaves, two, 5, false);
	worker_close(&leaves, "left");
	must(!swarm_run_bury(&run, dies.page->number, &err));
	while (take(&w, &number) == PART_MINE) {
		end(&w, number, number == two ? 7 : 1, true);
		done++;
	}
	assert_int_equal(done, PARTS);
	assert_int_equal(sum(&run, PARTS), 7 + 1 + 1);
	/* The dead one was alive, and comes with a result. */
	end(&dies, one, 1, true);
	assert_int_equal(take(&dies, &number), PART_WAIT);
	assert_int_equal(take(&dies, &number), PART_NONE_LEFT);
	assert_int_equal(sum(&run, PARTS), 9);
	worker_close(&dies, "left");
	worker_close(&w, "done");
	must(!swarm_run_remove(&run, &err));
	swarm_run_close(&run);
}

/* A part that ends all who begin it is given up. */
static void test_given_up(void **state)
{
	struct swarm_run run = make_run("given");
	struct swarm_worker w;
	struct err err = { 0 };
	unsigned first, number;

	join(&w, "given");
	assert_int_equal(take(&w, &first), PART_MINE);
	for (int i = 1; i < PART_TRIES; i++) {
		assert_int_equal(take(&w, &number), PART_MINE);
		assert_int_equal(number, first);
	}
	for (int i = 1; i < PARTS; i++) {
		assert_int_equal(take(&w, &number), PART_MINE);
		assert_int_not_equal(number, first);
		end(&w, number, 1, true);
	}
	assert_int_equal(take(&w, &number), PART_NONE_LEFT);
	assert_int_equal(counts(&run).given_up, 1);
	assert_int_equal(counts(&run).open, 0);
	worker_close(&w, "done");
	must(!swarm_run_remove(&run, &err));
	swarm_run_close(&run);
}

/* The server is killed while a part is done, and comes back. */
static void test_server_lost(void **state)
{
	struct swarm_run run = make_run("lost");
	struct swarm_worker w;
	unsigned number, done = 0;

	join(&w, "lost");
	assert_int_equal(take(&w, &number), PART_MINE);
	sleep(2); /* until the server has written that */
	server_kill(&server);
	server_start(&server);
	end(&w, number, 1, true);
	while (take(&w, &number) == PART_MINE) {
		end(&w, number, 1, true);
		done++;
	}
	assert_int_equal(done, PARTS - 1);
	worker_close(&w, "done");
	swarm_run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_server_lost),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
