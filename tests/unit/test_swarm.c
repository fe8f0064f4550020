/* test_swarm.c -- workers that share a search on a Redis server: together they come to what one
 * comes to, whoever is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/swarm_graph.h"

enum { SHARDS = 8, WORKERS = 4 };

static struct test_server server;

static int start_server(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	if (server_is_there())
		server_open(&server);
	return 0;
}

static int end_server(void **state)
{
	if (server.pid)
		server_close(&server);
	return 0;
}

static struct worker_options make_run(const char *name)
{
	struct worker_options o = WORKER_OPTIONS_INIT;
	char command[128];

	if (!server.pid)
		skip();
	snprintf(command, sizeof(command), "HSET assay:{%s}:about shards %d", name, SHARDS);
	server_number(&server, command);
	o.run = name;
	o.label = "test";
	o.dead_seconds = 1.5;
	return o;
}

static uint64_t count_states(const char *run)
{
	char command[128];
	uint64_t sum = 0;

	for (int i = 0; i < SHARDS; i++) {
		snprintf(command, sizeof(command), "SCARD assay:{%s:%02x}:states", run, i);
		sum += server_number(&server, command);
	}
	return sum;
}

/* ---- the URL ---- */

static void test_urls(void **state)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct redis_url u;

	assert_int_equal(redis_url_parse(&u, "redis://:pa%40ss@host:77/3", &err), 0);
	assert_string_equal(u.host, "host");
	assert_string_equal(u.password, "pa@ss");
	assert_null(u.user);
	assert_int_equal(u.port, 77);
	assert_int_equal(u.db, 3);
	redis_url_print(&u, &text);
	assert_string_equal(text.data, "redis://host:77/3");
	redis_url_free(&u);
	assert_int_equal(redis_url_parse(&u, "rediss://me:x@[::1]?ca=/a/b&key=k", &err), 0);
	assert_string_equal(u.host, "::1");
	assert_string_equal(u.user, "me");
	assert_string_equal(u.ca, "/a/b");
	assert_string_equal(u.key, "k");
	assert_true(u.tls);
	assert_int_equal(u.port, 6379);
	redis_url_free(&u);
	assert_int_equal(redis_url_parse(&u, "unix:///a/b?db=2", &err), 0);
	assert_string_equal(u.socket, "/a/b");
	assert_int_equal(u.db, 2);
	redis_url_free(&u);
	assert_int_equal(redis_url_parse(&u, "unix://:pw@/a/b", &err), 0);
	assert_string_equal(u.socket, "/a/b");
	assert_string_equal(u.password, "pw");
	redis_url_free(&u);
	buf_free(&text);
}

static void test_bad_urls(void **state)
{
	static const char *const bad[] = { "",
					   "http://a",
					   "redis://",
					   "redis://:p@",
					   "redis://a:0",
					   "redis://a:99999",
					   "redis://a/x",
					   "redis://a?x=1",
					   "unix://a",
					   "redis://:secret@a:b" };
	struct redis_url u;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(redis_url_parse(&u, bad[i], &err), -EINVAL);
		assert_null(strstr(err.text, "secret"));
	}
}

/* As the specification of Redis Cluster has it. */
static void test_slots(void **state)
{
	assert_int_equal(redis_slot("123456789"), 0x31c3);
	assert_int_equal(redis_slot("{user1000}.following"), redis_slot("{user1000}.followers"));
	assert_int_equal(redis_slot("foo{}{bar}"), redis_slot("foo{}{bar}"));
	assert_int_not_equal(redis_slot("assay:{a:00}:x"), redis_slot("assay:{a:01}:x"));
}

/* ---- searches ---- */

static void run_workers(const struct test_graph *g, const struct worker_options *o,
			struct worker_page *pages)
{
	pid_t pids[WORKERS];
	int status;

	for (int i = 0; i < WORKERS; i++)
		pids[i] = search_start(g, server.url, o, &pages[i]);
	for (int i = 0; i < WORKERS; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
}

static void check_union(const char *name, bool breadth)
{
	struct test_graph g = { .size = 5000, .breadth = breadth };
	struct worker_options o = make_run(name);
	struct worker_page *pages = pages_make(WORKERS);
	uint64_t taken = 0, all = graph_reachable(&g);

	run_workers(&g, &o, pages);
	assert_int_equal(count_states(name), all);
	for (int i = 0; i < WORKERS; i++) {
		taken += pages[i].taken;
		assert_int_equal(pages[i].duplicates, 0);
	}
	/* Nothing is done twice, but for what is given and taken once more. */
	assert_true(taken >= all);
	munmap(pages, WORKERS * sizeof(*pages));
}

static void test_union_by_depth(void **state)
{
	check_union("depth", false);
}

static void test_union_by_breadth(void **state)
{
	check_union("breadth", true);
}

static void test_killed_workers(void **state)
{
	struct test_graph g = { .size = 3000, .work_us = 300 };
	struct worker_options o = make_run("killed");
	struct worker_page *pages = pages_make(WORKERS);
	pid_t pids[WORKERS];
	int status;

	for (int i = 0; i < WORKERS; i++)
		pids[i] = search_start(&g, server.url, &o, &pages[i]);
	for (int i = 0; i < 3; i++) {
		usleep(200000);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		if (i)
			pids[i] = search_start(&g, server.url, &o, &pages[i]);
	}
	for (int i = 1; i < WORKERS; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_states("killed"), graph_reachable(&g));
	munmap(pages, WORKERS * sizeof(*pages));
}

static void test_killed_server(void **state)
{
	struct test_graph g = { .size = 4000, .work_us = 300, .breadth = true };
	struct worker_options o = make_run("server");
	struct worker_page *pages = pages_make(WORKERS);
	pid_t pids[WORKERS];
	int status;

	for (int i = 0; i < WORKERS; i++)
		pids[i] = search_start(&g, server.url, &o, &pages[i]);
	for (int i = 0; i < 2; i++) {
		usleep(300000);
		server_kill(&server);
		usleep(300000);
		server_start(&server);
	}
	kill(pids[0], SIGKILL);
	waitpid(pids[0], NULL, 0);
	for (int i = 1; i < WORKERS; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
		assert_true(pages[i].lost > 0);
	}
	assert_int_equal(count_states("server"), graph_reachable(&g));
	munmap(pages, WORKERS * sizeof(*pages));
}

/* The file of changes lost its end, as after a power failure: workers send again what they had. */
static void test_server_forgets(void **state)
{
	struct test_graph g = { .size = 4000, .work_us = 400 };
	struct worker_options o = make_run("forgets");
	struct worker_page *pages = pages_make(WORKERS);
	off_t began = server_file_size(&server);
	pid_t pids[WORKERS];
	int status;

	for (int i = 0; i < WORKERS; i++)
		pids[i] = search_start(&g, server.url, &o, &pages[i]);
	for (int i = 0; i < 3000 && server_file_size(&server) < began + 40000; i++)
		usleep(10000);
	server_kill(&server);
	server_forget(&server, 20000);
	server_start(&server);
	for (int i = 0; i < WORKERS; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_states("forgets"), graph_reachable(&g));
	munmap(pages, WORKERS * sizeof(*pages));
}

/* ---- one worker ---- */

struct alone {
	struct worker_page *page;
	struct redis_url url;
	struct swarm_worker worker;
	struct share *share;
};

static void alone_open(struct alone *a, const struct worker_options *o)
{
	struct worker_options own = *o;
	struct err err = { 0 };

	a->page = pages_make(1);
	assert_int_equal(redis_url_parse(&a->url, server.url, &err), 0);
	own.url = &a->url;
	assert_int_equal(worker_open(&a->worker, &own, a->page, &err), 0);
	a->share = share_redis_open(&a->worker, "0");
}

static void alone_close(struct alone *a, const char *how)
{
	a->share->ops->close(a->share);
	worker_close(&a->worker, how);
	redis_url_free(&a->url);
	munmap(a->page, sizeof(*a->page));
}

static bool takes(struct alone *a, uint64_t state)
{
	struct err err = { 0 };
	bool mine;

	assert_int_equal(a->share->ops->take(a->share, graph_hash(state), &mine, &err), 0);
	return mine;
}

/* Workers look at what is free from time to time. */
static bool takes_soon(struct alone *a, uint64_t state)
{
	for (int i = 0; i < 500 && !takes(a, state); i++)
		usleep(20000);
	return takes(a, state);
}

/* Claims: of one alone, free when it leaves, and not again those of one that is done. */
static void test_claims(void **state)
{
	struct worker_options o = make_run("claims");
	struct alone a, b;
	uint64_t freed;

	alone_open(&a, &o);
	alone_open(&b, &o);
	assert_true(takes(&a, 1));
	assert_true(takes(&a, 1));
	assert_false(takes(&b, 1));
	assert_true(takes(&b, 2));
	assert_false(takes(&a, 2));
	freed = b.share->ops->freed(b.share);
	alone_close(&a, "left");
	assert_true(takes_soon(&b, 1));
	assert_true(b.share->ops->freed(b.share) > freed);
	alone_close(&b, "done");
	alone_open(&a, &o);
	assert_false(takes(&a, 1));
	alone_close(&a, "left");
}

/* Two runs on one server know nothing of each other. */
static void test_two_runs(void **state)
{
	struct worker_options one = make_run("one"), two = make_run("two");
	struct alone a, b;

	alone_open(&a, &one);
	alone_open(&b, &two);
	assert_true(takes(&a, 1));
	assert_true(takes(&b, 1));
	alone_close(&a, "left");
	alone_close(&b, "left");
}

/* Entries of the stream that are nothing are dropped; their sender is, after some. */
static void test_garbage(void **state)
{
	struct worker_options o = make_run("garbage");
	struct buf item = BUF_INIT;
	struct err err = { 0 };
	enum share_wait answer;
	struct alone a, liar;
	char command[256];
	int status = 0;

	alone_open(&a, &o);
	alone_open(&liar, &o);
	assert_true(takes(&liar, 5));
	assert_false(takes(&a, 5));
	server_number(&server, "XADD assay:{garbage}:items:0 * nothing at");
	for (int i = 0; i < SWARM_BAD_MAX; i++) {
		snprintf(command, sizeof(command),
			 "XADD assay:{garbage}:items:0 * w short g %d i x", (int)liar.page->number);
		server_number(&server, command);
	}
	for (int i = 0; i < 100 && takes(&a, 6) && !takes(&a, 5); i++)
		assert_int_equal(a.share->ops->wait(a.share, 0.05, &item, &answer, &err), 0);
	assert_true(takes(&a, 5));
	assert_int_equal(server_number(&server, "XLEN assay:{garbage}:items:0"), 0);
	/* It cannot go on, once it has looked. */
	for (uint64_t i = 9; i < 509 && !status; i++) {
		bool mine;

		usleep(20000);
		status = liar.share->ops->take(liar.share, graph_hash(i), &mine, &err);
	}
	assert_int_equal(status, -EPERM);
	buf_free(&item);
	alone_close(&a, "left");
	alone_close(&liar, "left");
}

/* Work that was given and is not what it was said to be is free again, for who gave it as well. */
static void test_rejected(void **state)
{
	struct worker_options o = make_run("rejected");
	struct buf item = BUF_INIT;
	struct err err = { 0 };
	enum share_wait answer = SHARE_NOTHING_YET;
	struct alone a, b;

	alone_open(&a, &o);
	alone_open(&b, &o);
	assert_true(takes(&a, 5));
	assert_int_equal(a.share->ops->give(a.share, graph_hash(5), "junk", 4, &err), 0);
	assert_false(takes(&a, 5));
	for (int i = 0; i < 50 && answer != SHARE_GOT; i++)
		assert_int_equal(b.share->ops->wait(b.share, 0.05, &item, &answer, &err), 0);
	assert_int_equal(answer, SHARE_GOT);
	assert_int_equal(item.len, 4);
	assert_memory_equal(item.data, "junk", 4);
	/* By another name than it came under. */
	assert_int_equal(b.share->ops->release(b.share, graph_hash(77), &err), 0);
	assert_int_equal(server_number(&server, "HGET assay:{rejected}:bad 1"), 1);
	assert_true(takes_soon(&a, 5));
	buf_free(&item);
	alone_close(&a, "left");
	alone_close(&b, "left");
}

/* Without room on the server nothing is taken in silence. */
static void test_out_of_memory(void **state)
{
	struct worker_options o = make_run("memory");
	struct err err = { 0 };
	struct alone a;
	bool mine;

	alone_open(&a, &o);
	server_number(&server, "CONFIG SET maxmemory 1000");
	assert_int_equal(a.share->ops->take(a.share, graph_hash(1), &mine, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "out of memory"));
	server_number(&server, "CONFIG SET maxmemory 0");
	alone_close(&a, "left");
}

/* Away for longer than allowed: an error, not a wait for ever. */
static void test_patience(void **state)
{
	struct worker_options o = make_run("patience");
	struct err err = { 0 };
	struct alone a;
	bool mine = true;

	o.offline_seconds = 0.3;
	o.offline_works = 10;
	o.patience_seconds = 0.3;
	alone_open(&a, &o);
	server_kill(&server);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(takes(&a, i));
	assert_int_equal(a.share->ops->take(a.share, graph_hash(99), &mine, &err), -EHOSTDOWN);
	server_start(&server);
	alone_close(&a, "left");
}

/* A server that comes back without the run says so. */
static void test_run_is_gone(void **state)
{
	struct worker_options o = make_run("gone");
	struct err err = { 0 };
	struct alone a;
	int status = 0;
	bool mine;

	alone_open(&a, &o);
	server_number(&server, "DEL assay:{gone}:about");
	/* It looks from time to time. */
	for (uint64_t i = 1; i <= 200 && !status; i++) {
		usleep(50000);
		status = a.share->ops->take(a.share, graph_hash(i), &mine, &err);
	}
	assert_int_equal(status, -ENOENT);
	alone_close(&a, "left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_bad_urls),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_union_by_depth),
		cmocka_unit_test(test_union_by_breadth),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_run_is_gone),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_killed_workers),
		cmocka_unit_test(test_killed_server),
		cmocka_unit_test(test_server_forgets),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
