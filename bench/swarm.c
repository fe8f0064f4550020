/* swarm.c -- what sharing a search on a Redis server costs, on loopback.
 *
 * cost: one worker takes and counts states that are new, announced as a search announces them. Per
 * state: the time that passes, our CPU time, and the server's. The server's is the bound of many
 * workers together: one server does so many states a second.
 * duplicates: two workers exhaust a graph; work that both did. */
#include <time.h>

#include "tests/unit/swarm_graph.h"

enum { STATES = 400000, AHEAD = 64, GRAPH_SIZE = 100000 };

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds of the server. */
static double server_cpu(const struct test_server *s)
{
	struct redis_link l;
	struct redis_url u;
	struct err err = { 0 };
	char user[32] = "0", sys[32] = "0";
	redisReply *info;

	must(!redis_url_parse(&u, s->url, &err) && !redis_link_open(&l, &u, &err) &&
	     !redis_link_ask(&l, &info, &err, "INFO"));
	redis_info(info, "used_cpu_user", user, sizeof(user));
	redis_info(info, "used_cpu_sys", sys, sizeof(sys));
	freeReplyObject(info);
	redis_link_close(&l);
	redis_url_free(&u);
	return strtod(user, NULL) + strtod(sys, NULL);
}

static uint64_t server_memory(const struct test_server *s)
{
	struct redis_link l;
	struct redis_url u;
	struct err err = { 0 };
	char used[32] = "0";
	redisReply *info;

	must(!redis_url_parse(&u, s->url, &err) && !redis_link_open(&l, &u, &err) &&
	     !redis_link_ask(&l, &info, &err, "INFO"));
	redis_info(info, "used_memory", used, sizeof(used));
	freeReplyObject(info);
	redis_link_close(&l);
	redis_url_free(&u);
	return strtoull(used, NULL, 10);
}

static struct worker_options bench_run(const struct test_server *s, const char *name)
{
	struct worker_options o = WORKER_OPTIONS_INIT;
	char command[128];

	snprintf(command, sizeof(command), "HSET assay:{%s}:about shards 1", name);
	server_number(s, command);
	o.run = name;
	o.label = "bench";
	return o;
}

/* As a search: new states are announced and counted, then taken one by one. */
static void share_states(struct share *share, uint64_t count)
{
	struct err err = { 0 };
	bool mine;

	for (uint64_t i = 0; i < count; i += AHEAD) {
		for (uint64_t k = i; k < i + AHEAD; k++) {
			share->ops->announce(share, graph_hash(k));
			must(!share->ops->count(share, graph_hash(k), &err));
		}
		for (uint64_t k = i; k < i + AHEAD; k++)
			must(!share->ops->take(share, graph_hash(k), &mine, &err) && mine);
	}
}

static void bench_cost(const struct test_server *s)
{
	struct worker_options o = bench_run(s, "cost");
	struct worker_page *page = pages_make(1);
	uint64_t memory = server_memory(s);
	double wall, cpu, theirs;
	struct swarm_worker w;
	struct share *share;
	struct redis_url u;
	struct err err = { 0 };

	must(!redis_url_parse(&u, s->url, &err));
	o.url = &u;
	must(!worker_open(&w, &o, page, &err));
	share = share_redis_open(&w, "0");
	theirs = server_cpu(s);
	wall = clock_seconds();
	cpu = cpu_now();
	share_states(share, STATES);
	must(!claims_flush(&w, &err));
	wall = clock_seconds() - wall;
	cpu = cpu_now() - cpu;
	theirs = server_cpu(s) - theirs;
	printf("cost per new state: %.2f us passed, %.2f us our CPU, %.2f us the server's CPU\n",
	       1e6 * wall / STATES, 1e6 * cpu / STATES, 1e6 * theirs / STATES);
	printf("round trips: %.4f per state; server: %.0f states/s by its CPU, %.0f bytes per "
	       "state\n",
	       (double)page->trips / STATES, STATES / theirs,
	       (double)(server_memory(s) - memory) / STATES);
	share->ops->close(share);
	worker_close(&w, "left");
	redis_url_free(&u);
}

static void bench_duplicates(const struct test_server *s)
{
	struct test_graph g = { .size = GRAPH_SIZE, .breadth = true };
	struct worker_options o = bench_run(s, "graph");
	struct worker_page *pages = pages_make(2);
	double wall = clock_seconds();
	uint64_t all = graph_reachable(&g), taken;
	pid_t pids[2];

	for (int i = 0; i < 2; i++)
		pids[i] = search_start(&g, s->url, &o, &pages[i]);
	for (int i = 0; i < 2; i++)
		waitpid(pids[i], NULL, 0);
	wall = clock_seconds() - wall;
	taken = pages[0].taken + pages[1].taken;
	printf("two workers: %llu states in %.2f s, %llu and %llu of them; work done twice: %.3f "
	       "%%\n",
	       (unsigned long long)all, wall, (unsigned long long)pages[0].taken,
	       (unsigned long long)pages[1].taken,
	       100 *
		       ((double)taken - (double)all + (double)pages[0].duplicates +
			(double)pages[1].duplicates) /
		       (double)all);
}

int main(void)
{
	struct test_server s = { .port = 20000 + (unsigned)getpid() % 20000 };

	if (!server_is_there()) {
		puts("no redis-server");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	server_open(&s);
	for (int i = 0; i < 3; i++) {
		server_number(&s, "FLUSHALL");
		bench_cost(&s);
	}
	bench_duplicates(&s);
	server_close(&s);
	return 0;
}
