/* swarm_graph.h -- for tests and benchmarks of the swarm: a Redis server of their own, and workers
 * that exhaust an artificial graph as a search does. */
#ifndef TESTS_SWARM_GRAPH_H
#define TESTS_SWARM_GRAPH_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "swarm/share_redis.h"

/* ---- a server ---- */

struct test_server {
	char dir[64], url[128];
	unsigned port; /* on loopback; 0: only the socket */
	pid_t pid;
};

/* On a socket in its own directory; its file of changes is appended to, so that it can be killed.
 */
static inline void server_start(struct test_server *s)
{
	struct redis_link l;
	struct redis_url u;
	struct err err = { 0 };
	char socket[96], port[16];
	int status = -1;

	snprintf(socket, sizeof(socket), "%s/socket", s->dir);
	snprintf(port, sizeof(port), "%u", s->port);
	if (s->port)
		snprintf(s->url, sizeof(s->url), "redis://127.0.0.1:%u", s->port);
	else
		snprintf(s->url, sizeof(s->url), "unix://%s", socket);
	s->pid = fork();
	if (!s->pid) {
		int out = open("/dev/null", O_WRONLY);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out, 1);
		execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1",
		       "--unixsocket", socket, "--dir", s->dir, "--save", "", "--appendonly", "yes",
		       "--appendfsync", "everysec", "--daemonize", "no", (char *)NULL);
		_exit(77);
	}
	must(!redis_url_parse(&u, s->url, &err));
	for (int i = 0; i < 400 && status; i++) {
		err = (struct err){ 0 };
		status = redis_link_open(&l, &u, &err);
		if (!status)
			status = redis_link_do(&l, &err, "DBSIZE");
		redis_link_close(&l);
		if (status)
			usleep(25000);
	}
	redis_url_free(&u);
	if (status) {
		fprintf(stderr, "redis-server does not start: %s\n", err.text);
		exit(1);
	}
}

static inline bool server_is_there(void)
{
	return !system("command -v redis-server >/dev/null");
}

static inline void server_open(struct test_server *s)
{
	strcpy(s->dir, "/tmp/assay-swarm-XXXXXX");
	must(mkdtemp(s->dir));
	server_start(s);
}

static inline void server_kill(struct test_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static inline void server_close(struct test_server *s)
{
	char command[128];

	server_kill(s);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	must(!system(command));
}

/* The file of changes. */
static inline void server_file(const struct test_server *s, char ret[256])
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "ls %.60s/appendonlydir/*.incr.aof | tail -1", s->dir);
	f = popen(command, "r");
	must(f && fgets(ret, 256, f));
	ret[strcspn(ret, "\n")] = 0;
	pclose(f);
}

static inline off_t server_file_size(const struct test_server *s)
{
	char path[256];
	struct stat st;

	server_file(s, path);
	must(!stat(path, &st));
	return st.st_size;
}

/* It has lost its end, as after a power failure. */
static inline void server_forget(const struct test_server *s, off_t bytes)
{
	char path[256];

	server_file(s, path);
	must(!truncate(path, server_file_size(s) - bytes));
}

/* A command whose reply is a number. */
static inline uint64_t server_number(const struct test_server *s, const char *command)
{
	struct redis_link l;
	struct redis_url u;
	struct err err = { 0 };
	redisReply *reply;
	uint64_t number;

	must(!redis_url_parse(&u, s->url, &err));
	if (redis_link_open(&l, &u, &err) || redis_link_ask(&l, &reply, &err, command)) {
		fprintf(stderr, "%s: %s\n", command, err.text);
		abort();
	}
	number = redis_reply_number(reply);
	freeReplyObject(reply);
	redis_link_close(&l);
	redis_url_free(&u);
	return number;
}

/* ---- a graph ---- */

/* States 0 to size-1, each with three edges. */
struct test_graph {
	uint64_t size;
	unsigned work_us; /* that one state takes */
	bool breadth;
	bool is_tree;   /* one way leads to each state: what is not expanded is missed */
	bool is_silent; /* nothing is announced: no claim is ahead of need, and given back */
};

enum { GRAPH_EDGES = 3 };

static inline uint64_t graph_next(const struct test_graph *g, uint64_t state, unsigned edge)
{
	static const uint64_t factors[GRAPH_EDGES] = { 2, 3, 7 };

	if (g->is_tree)
		return state * GRAPH_EDGES + edge + 1 < g->size ? state * GRAPH_EDGES + edge + 1
								: 0;
	return (state * factors[edge] + edge + 1) % g->size;
}

static inline struct hash graph_hash(uint64_t state)
{
	return hash128(&state, sizeof(state), 0);
}

/* How many states there are behind the first. */
static inline uint64_t graph_reachable(const struct test_graph *g)
{
	uint64_t *stack = must_alloc((g->size + 1) * sizeof(*stack)), count = 1, top = 1, next;
	bool *seen = must_alloc(g->size);

	seen[0] = true;
	stack[0] = 0;
	while (top) {
		uint64_t state = stack[--top];

		for (unsigned i = 0; i < GRAPH_EDGES; i++) {
			next = graph_next(g, state, i);
			if (seen[next])
				continue;
			seen[next] = true;
			stack[top++] = next;
			count++;
		}
	}
	free(stack);
	free(seen);
	return count;
}

/* What a worker knows: all states it has come to; those before `done` it has looked at. */
struct test_search {
	const struct test_graph *graph;
	struct swarm_worker worker;
	struct redis_url url;
	struct share *share;
	uint64_t *states, *foreign;
	size_t count, done, foreign_count;
	struct hash_map seen;
	uint64_t expanded;
};

static inline void search_add(struct test_search *s, uint64_t state)
{
	struct err err = { 0 };
	bool is_new;

	hash_map_put(&s->seen, graph_hash(state), &is_new);
	if (!is_new)
		return;
	s->states[s->count++] = state;
	if (!s->graph->is_silent)
		s->share->ops->announce(s->share, graph_hash(state));
	if (s->share->ops->count(s->share, graph_hash(state), &err)) {
		fprintf(stderr, "count: %s\n", err.text);
		_exit(2);
	}
}

static inline void search_expand(struct test_search *s, uint64_t state)
{
	s->expanded++;
	if (s->graph->work_us)
		usleep(s->graph->work_us);
	for (unsigned i = 0; i < GRAPH_EDGES; i++)
		search_add(s, graph_next(s->graph, state, i));
}

static inline bool search_take(struct test_search *s, uint64_t state)
{
	struct err err = { 0 };
	bool mine;

	if (s->share->ops->take(s->share, graph_hash(state), &mine, &err)) {
		fprintf(stderr, "take: %s\n", err.text);
		_exit(2);
	}
	return mine;
}

/* The next state, by breadth or by depth; it is removed from those that are open. */
static inline uint64_t search_pop(struct test_search *s)
{
	return s->graph->breadth ? s->states[s->done++] : s->states[--s->count];
}

static inline void search_step(struct test_search *s)
{
	uint64_t state = search_pop(s);
	struct err err = { 0 };
	int status;

	if (!search_take(s, state)) {
		s->foreign[s->foreign_count++] = state;
		return;
	}
	if (s->count - s->done > 1 && s->share->ops->is_wanted(s->share)) {
		status = s->share->ops->give(s->share, graph_hash(state), &state, sizeof(state),
					     &err);
		if (!status) {
			s->foreign[s->foreign_count++] = state;
			return;
		}
	}
	search_expand(s, state);
}

static inline void search_look_again(struct test_search *s)
{
	size_t count = s->foreign_count, kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (search_take(s, s->foreign[i]))
			search_expand(s, s->foreign[i]);
		else
			s->foreign[kept++] = s->foreign[i];
	}
	s->foreign_count = kept;
}

/* True at the end. */
static inline bool search_wait(struct test_search *s, double seconds)
{
	struct buf item = BUF_INIT;
	struct err err = { 0 };
	enum share_wait answer;
	uint64_t state;

	if (s->share->ops->wait(s->share, seconds, &item, &answer, &err)) {
		fprintf(stderr, "wait: %s\n", err.text);
		_exit(2);
	}
	if (answer == SHARE_GOT) {
		must(item.len == sizeof(state));
		memcpy(&state, item.data, sizeof(state));
		search_add(s, state);
		search_expand(s, state);
	}
	if (answer == SHARE_LOOK_AGAIN)
		search_look_again(s);
	buf_free(&item);
	return answer == SHARE_NOTHING_LEFT;
}

/* Joins a run, and knows the first state. */
static inline void search_open(struct test_search *s, const struct test_graph *g, const char *url,
			       const struct worker_options *options, struct worker_page *page)
{
	struct worker_options o = *options;
	struct err err = { 0 };

	*s = (struct test_search){ .graph = g };
	must(!redis_url_parse(&s->url, url, &err));
	o.url = &s->url;
	if (worker_open(&s->worker, &o, page, &err)) {
		fprintf(stderr, "worker: %s\n", err.text);
		_exit(2);
	}
	s->worker.options.url = &s->url;
	s->share = share_redis_open(&s->worker, "0");
	s->states = must_alloc((g->size + 1) * sizeof(*s->states));
	s->foreign = must_alloc((4 * g->size + 1) * sizeof(*s->foreign));
	search_add(s, 0);
}

/* One state, or a wait of so long where there is none; true at the end. */
static inline bool search_advance(struct test_search *s, double seconds)
{
	if (s->done == s->count)
		return search_wait(s, seconds);
	search_step(s);
	return false;
}

static inline void search_close(struct test_search *s, const char *how)
{
	s->share->ops->close(s->share);
	worker_close(&s->worker, how);
	hash_map_free(&s->seen);
	free(s->states);
	free(s->foreign);
	redis_url_free(&s->url);
}

/* A worker of a run, to its end. */
static inline void search_run(const struct test_graph *g, const char *url,
			      const struct worker_options *options, struct worker_page *page)
{
	struct test_search s;

	search_open(&s, g, url, options, page);
	while (!search_advance(&s, 0.2))
		;
	search_close(&s, "done");
}

static inline pid_t search_start(const struct test_graph *g, const char *url,
				 const struct worker_options *o, struct worker_page *page)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(page, 0, sizeof(*page));
	search_run(g, url, o, page);
	_exit(0);
}

/* Memory that workers and their parent share. */
static inline struct worker_page *pages_make(size_t count)
{
	void *pages = mmap(NULL, count * sizeof(struct worker_page), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(pages != MAP_FAILED);
	return pages;
}

#endif
