/* test_swarm_cut.c -- workers of a swarm whose connection ends at any request, before or after the
 * server has done it; that die there; whose server restarts without its last changes. Together they
 * come to every state.
 *
 * The workers take turns in one process, in an order that a seed gives, so that a run can be
 * repeated with a cut one request later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "swarm/swarm_run.h"
#include "tests/unit/swarm_relay.h"

enum { SHARDS = 2, WORKERS = 3, TURNS_MAX = 20000, STATES = 20 };

static struct test_server server;
static struct test_relay relays[WORKERS];
static struct worker_page *pages;

static int start_server(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	if (!server_is_there())
		return 0;
	server_open(&server);
	pages = pages_make(WORKERS);
	for (int i = 0; i < WORKERS; i++)
		relay_open(&relays[i], &server, i);
	return 0;
}

static int end_server(void **state)
{
	if (!server.pid)
		return 0;
	for (int i = 0; i < WORKERS; i++)
		relay_close(&relays[i]);
	munmap(pages, WORKERS * sizeof(*pages));
	server_close(&server);
	return 0;
}

/* ---- a run ---- */

/* What happens in it, at turns of all workers; 0: it does not. */
struct accident {
	uint64_t seed;
	unsigned victim;           /* the worker whose line is cut */
	uint64_t request;          /* of the victim, from its first turn on */
	enum relay_cut what;       /* and what of it is lost */
	bool dies;                 /* it does not come back, and another worker takes its place */
	unsigned buried_at;        /* it is taken for dead in this turn */
	unsigned restart_at;       /* the server restarts */
	unsigned forgets_thousand; /* and has lost so much of what happened in the run */
};

struct turns {
	const struct accident *accident;
	struct test_graph graph;
	struct worker_options options;
	struct test_search searches[WORKERS];
	bool over[WORKERS];
	struct rng rng;
	off_t began; /* bytes of the server's file */
};

static void turns_join(struct turns *t, int i)
{
	memset(&pages[i], 0, sizeof(pages[i]));
	search_open(&t->searches[i], &t->graph, relays[i].url, &t->options, &pages[i]);
	t->over[i] = false;
}

/* What the process that watches a worker says when that has died. */
static void bury(uint64_t number)
{
	struct swarm_run run = { .names = { .run = "cut", .shards = SHARDS } };
	struct err err = { 0 };
	struct redis_url u;

	must(!redis_url_parse(&u, server.url, &err));
	if (swarm_run_reopen(&run, &u, &err) || swarm_run_bury(&run, number, &err)) {
		fprintf(stderr, "bury: %s\n", err.text);
		_exit(2);
	}
	swarm_run_close(&run);
	redis_url_free(&u);
}

/* As if by SIGKILL: nothing is sent any more. */
static void turns_kill(struct turns *t, int i)
{
	struct test_search *s = &t->searches[i];
	uint64_t number = pages[i].number;

	s->worker.lost_seconds = 1;
	s->worker.retry_seconds = 1e18;
	redis_net_close(&s->worker.net);
	s->share->ops->close(s->share);
	hash_map_free(&s->worker.known);
	buf_free(&s->worker.void_owners);
	free(s->worker.mine.items);
	free(s->worker.states.items);
	hash_map_free(&s->seen);
	free(s->states);
	free(s->foreign);
	redis_url_free(&s->url);
	bury(number);
	turns_join(t, i);
}

static void turns_restart(struct turns *t)
{
	off_t lost = server_file_size(&server) - t->began;

	server_kill(&server);
	server_forget(&server, lost * (off_t)t->accident->forgets_thousand / 1000);
	server_start(&server);
}

static void turns_open(struct turns *t, const struct accident *a)
{
	*t = (struct turns){
		.accident = a,
		.graph = { .size = STATES,
			   .breadth = a->seed & 1,
			   .is_silent = a->seed & 2,
			   .is_tree = true },
		.options = WORKER_OPTIONS_INIT,
	};
	t->options.run = "cut";
	t->options.label = "test";
	t->options.dead_seconds = 1;
	rng_seed(&t->rng, a->seed);
	server_number(&server, "FLUSHALL");
	server_number(&server, "HSET assay:{cut}:about shards 2");
	t->began = server_file_size(&server);
	for (int i = 0; i < WORKERS; i++)
		turns_join(t, i);
	relay_cut(&relays[a->victim], a->request, a->what);
}

/* One worker makes a step; true when all have come to the end. */
static bool turns_next(struct turns *t)
{
	int i = (int)rng_below(&t->rng, WORKERS);
	struct test_search *s = &t->searches[i];

	s->worker.look_seconds = 0; /* what it sees does not depend on time */
	t->over[i] = search_advance(s, 0);
	/* Where it dies with its line, the server has buried it by then. */
	if (t->accident->dies && i == (int)t->accident->victim && pages[i].lost)
		turns_kill(t, i);
	for (i = 0; i < WORKERS && t->over[i]; i++)
		;
	return i == WORKERS;
}

static uint64_t count_states(void)
{
	return server_number(&server, "SCARD assay:{cut:00}:states") +
	       server_number(&server, "SCARD assay:{cut:01}:states");
}

/* Returns how many requests the victim has made. */
static uint64_t check_run(const struct accident *a)
{
	uint64_t before, requests;
	struct turns t;
	unsigned turn = 1;

	turns_open(&t, a);
	before = relays[a->victim].page->requests;
	for (; !turns_next(&t); turn++) {
		if (turn == a->buried_at)
			bury(pages[a->victim].number);
		if (turn == a->restart_at)
			turns_restart(&t);
		if (turn > TURNS_MAX)
			fail_msg("seed %d, request %d, cut %d: no end", (int)a->seed,
				 (int)a->request, (int)a->what);
	}
	requests = relays[a->victim].page->requests - before;
	relay_cut(&relays[a->victim], 0, CUT_REQUEST);
	for (int i = 0; i < WORKERS; i++)
		search_close(&t.searches[i], "done");
	if (count_states() != graph_reachable(&t.graph))
		fail_msg("seed %d, request %d, cut %d, dies %d, buried %d, restart %d: %d of %d "
			 "states",
			 (int)a->seed, (int)a->request, (int)a->what, a->dies, (int)a->buried_at,
			 (int)a->restart_at, (int)count_states(), (int)graph_reachable(&t.graph));
	return requests;
}

/* ---- tests ---- */

/* Every so many requests of a run. */
static void cut_everywhere(struct accident a, unsigned step)
{
	uint64_t most;

	if (!server.pid)
		skip();
	a.request = 0;
	most = check_run(&a);
	assert_true(most > 20);
	for (a.request = 1 + a.seed % step; a.request <= most; a.request += step) {
		a.what = CUT_REQUEST;
		check_run(&a);
		a.what = CUT_ANSWER;
		check_run(&a);
	}
}

static void test_cut(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		cut_everywhere((struct accident){ .seed = seed, .victim = seed % WORKERS }, 5);
}

/* A worker whose line is cut and that others take for dead continues under a new number. */
static void test_buried(void **state)
{
	for (uint64_t seed = 5; seed <= 6; seed++)
		cut_everywhere((struct accident){ .seed = seed,
						  .victim = seed % WORKERS,
						  .buried_at = 40 + 30 * (unsigned)(seed % 2) },
			       12);
}

static void test_killed(void **state)
{
	for (uint64_t seed = 7; seed <= 8; seed++)
		cut_everywhere(
			(struct accident){ .seed = seed, .victim = seed % WORKERS, .dies = true },
			12);
}

/* The server has lost some or all of what happened; a worker dies after that. */
static void test_restarted(void **state)
{
	if (!server.pid)
		skip();
	for (unsigned i = 0; i < 8; i++)
		check_run(&(struct accident){ .seed = 20 + i,
					      .victim = i % WORKERS,
					      .request = 100 + 20 * i,
					      .what = i % 2 ? CUT_ANSWER : CUT_REQUEST,
					      .dies = i % 4 > 1,
					      .restart_at = 20 + 7 * i,
					      .forgets_thousand = i % 3 * 300 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_buried),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_restarted),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
