/* paths.c -- all paths of an unmodified checker over chosen bytes of a disk. */
#include "symbolic/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "storage/image.h"
#include "symbolic/exploration.h"
#include "symbolic/path_server.h"

enum { RUN_SECONDS_DEFAULT = 5 };

static const char *const gap_text[EXPLORATION_GAPS] = {
	[EXPLORATION_TIME] = "inputs left when the time was up",
	[EXPLORATION_LIMIT] = "inputs left at the limit of paths",
	[EXPLORATION_STOPPED] = "inputs left when it was stopped",
	[EXPLORATION_TIMED_OUT] = "runs were killed after their time",
	[EXPLORATION_UNSOLVED] = "conditions were too hard for the solver",
	[EXPLORATION_REPEATED] = "runs decide more often at one place than is tried",
	[EXPLORATION_DIVERGED] = "runs did not take the path that they were made for",
	[EXPLORATION_WRONG] = "logged conditions do not hold for their own input",
};

static const char *const log_gap_text[GAPS] = {
	[GAP_EXPRS] = "runs computed too many expressions to follow to their end",
	[GAP_CONDITIONS] = "runs had too many conditions to follow to their end",
	[GAP_LOST] = "operations on symbolic bytes are not modelled",
	[GAP_FLAGS] = "uses of processor flags are not modelled",
	[GAP_MAPPED] = "writable mappings of the disk were not followed",
};

struct paths_session {
	char *command;
	const struct image *disk;
	double run_seconds;
	struct path_server *server; /* NULL: it is not running */
	bool reads_nothing;         /* it ends without reading the disk */
	uint64_t branches;          /* when it was stopped */
};

struct paths_session *paths_session_open(const char *command, const struct image *disk,
					 double run_seconds)
{
	struct paths_session *s = must_alloc(sizeof(*s));

	s->command = must_strdup(command);
	s->disk = disk;
	s->run_seconds = run_seconds > 0 ? run_seconds : RUN_SECONDS_DEFAULT;
	return s;
}

static int session_start(struct paths_session *s, struct err *err)
{
	const struct path_server_options o = { s->command, s->disk, true, s->run_seconds };
	int r;

	if (s->server || s->reads_nothing)
		return 0;
	r = path_server_start(&o, &s->server, err);
	s->reads_nothing = !r && !s->server;
	return r;
}

static void session_stop(struct paths_session *s)
{
	s->branches = paths_session_branches(s);
	path_server_stop(s->server);
	s->server = NULL;
}

void paths_session_close(struct paths_session *s)
{
	if (!s)
		return;
	session_stop(s);
	free(s->command);
	free(s);
}

uint64_t paths_session_branches(const struct paths_session *s)
{
	uint64_t branches = s->server ? path_server_branches(s->server) : 0;

	return branches > s->branches ? branches : s->branches;
}

typedef bool paths_found(void *to, const uint8_t *values, struct hash path);

struct paths {
	const struct paths_options *o;
	struct paths_result *result;
	size_t len; /* of the inputs */
	paths_found *found;
	void *to;
	struct path_server *server; /* the session's; NULL: it reads nothing */
	struct exploration x;
	struct hash_map known; /* paths, by hash */
	uint64_t log_gaps[GAPS];
};

void paths_result_free(struct paths_result *r)
{
	buf_free(&r->why_not);
}

bool paths_available(struct buf *ret_missing)
{
	return path_server_available(ret_missing);
}

/* Of this process alone. */
static double own_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* False: nothing else is wanted, or *ret_status is a failure. */
static bool paths_run(struct paths *p, const struct frontier_input *input, int *ret_status,
		      struct err *err)
{
	const struct path_log *log = path_server_log(p->server);
	struct path_run run;
	struct hash path;
	bool new;

	*ret_status = path_server_run(p->server, input->values, &run, err);
	if (*ret_status)
		return false;
	p->result->runs++;
	p->x.gaps[EXPLORATION_TIMED_OUT] += run.timed_out;
	for (int i = 0; i < GAPS; i++)
		p->log_gaps[i] += log->gaps[i];
	path = exploration_walk(&p->x, log, input);
	hash_map_put(&p->known, path, &new);
	if (!new)
		return true;
	p->result->paths++;
	return p->found(p->to, input->values, path);
}

static void paths_explain(struct paths *p)
{
	struct buf *out = &p->result->why_not;

	for (int i = 0; i < EXPLORATION_GAPS + GAPS; i++) {
		bool ours = i < EXPLORATION_GAPS;
		uint64_t count = ours ? p->x.gaps[i] : p->log_gaps[i - EXPLORATION_GAPS];

		if (count)
			buf_addf(out, "%s%ju %s", out->len ? "; " : "", (uintmax_t)count,
				 ours ? gap_text[i] : log_gap_text[i - EXPLORATION_GAPS]);
	}
	p->result->complete = !out->len;
}

/* The bytes that are on the disk, and the seeds. */
static void paths_begin(struct paths *p)
{
	const struct paths_options *o = p->o;
	uint8_t inputs[PATH_INPUTS_MAX];
	size_t len = 0;

	for (size_t i = 0; i < o->range_count; i++) {
		memcpy(inputs + len, o->session->disk->bytes + o->ranges[i].at, o->ranges[i].len);
		len += o->ranges[i].len;
	}
	frontier_add(&p->x.frontier, inputs, (struct hash){ 0, 0 }, 0);
	for (size_t i = 0; i < o->seed_count; i++)
		frontier_add(&p->x.frontier, o->seeds + i * p->len, (struct hash){ 0, 0 }, 0);
}

static int paths_run_all(struct paths *p, struct err *err)
{
	enum exploration_gap end = EXPLORATION_STOPPED;
	struct frontier_input input;
	bool more = true;
	int r = 0;

	while (more && !r && !stop_requested) {
		if (exploration_time_is_up(&p->x)) {
			end = EXPLORATION_TIME;
			break;
		}
		if (p->o->paths_max && p->result->paths >= p->o->paths_max) {
			end = EXPLORATION_LIMIT;
			break;
		}
		if (!frontier_take(&p->x.frontier, &input))
			return 0;
		more = paths_run(p, &input, &r, err);
		free(input.values);
	}
	p->result->left = p->x.frontier.count;
	p->x.gaps[end] += p->x.frontier.count;
	return r;
}

/* A checker that never reads the disk has one path. */
static void paths_unread(struct paths *p)
{
	struct frontier_input input;

	frontier_take(&p->x.frontier, &input);
	p->result->paths = p->result->runs = 1;
	p->found(p->to, input.values, (struct hash){ 0, 0 });
	free(input.values);
}

static int paths_check(const struct paths_options *o, size_t *ret_len, struct err *err)
{
	size_t len = 0;

	if (!o->range_count || o->range_count > PATH_RANGES_MAX)
		return err_set(err, EINVAL, "paths over %zu ranges of bytes", o->range_count);
	for (size_t i = 0; i < o->range_count; i++) {
		const struct path_range *r = &o->ranges[i];

		if (!r->len || r->len > PATH_INPUTS_MAX || r->at > o->session->disk->size ||
		    r->len > o->session->disk->size - r->at)
			return err_set(err, EINVAL, "bytes %ju to %ju are not on the disk",
				       (uintmax_t)r->at, (uintmax_t)(r->at + r->len));
		len += r->len;
	}
	if (len > PATH_INPUTS_MAX)
		return err_set(err, E2BIG, "paths over more than %d bytes", PATH_INPUTS_MAX);
	*ret_len = len;
	return 0;
}

static void paths_free(struct paths *p)
{
	solver_close(p->x.solver);
	path_tree_free(&p->x.tree);
	frontier_free(&p->x.frontier);
	hash_map_free(&p->known);
}

/* With a checker that is started, if need be. A failure may have left it in any state. */
static int paths_serve(struct paths *p, struct err *err)
{
	struct paths_session *s = p->o->session;
	double before = s->server ? path_server_cpu_seconds(s->server) : 0;
	int r = session_start(s, err);

	if (r)
		return r;
	p->server = s->server;
	if (!s->server) {
		paths_unread(p);
		return 0;
	}
	path_server_set_ranges(s->server, p->o->ranges, p->o->range_count);
	r = paths_run_all(p, err);
	p->result->branches = paths_session_branches(s);
	p->result->cpu_seconds = path_server_cpu_seconds(s->server) - before;
	if (r)
		session_stop(s);
	return r;
}

int paths_explore(const struct paths_options *o,
		  bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
		  struct paths_result *ret, struct err *err)
{
	struct paths p = { .o = o, .result = ret, .found = found, .to = to };
	double before = own_cpu_seconds();
	int r = paths_check(o, &p.len, err);

	*ret = (struct paths_result){ .why_not = BUF_INIT };
	if (r)
		return r;
	frontier_init(&p.x.frontier, p.len);
	paths_begin(&p);
	p.x.solver = solver_open((uint32_t)p.len);
	p.x.until = o->seconds > 0 ? clock_seconds() + o->seconds : 0;
	r = paths_serve(&p, err);
	ret->questions = solver_questions(p.x.solver);
	paths_explain(&p);
	paths_free(&p);
	ret->cpu_seconds += own_cpu_seconds() - before;
	if (r)
		paths_result_free(ret);
	return r;
}
