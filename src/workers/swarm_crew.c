/* swarm_crew.c -- processes of one machine that are workers of a swarm. */
#include "workers/swarm_crew.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"

static const double beat_seconds = 0.5, publish_seconds = 1, connect_seconds = 1;

/* So many are replaced for each process. */
enum { REPLACED_PER_JOB = 4, RETRY_US = 200000 };

int swarm_crew_open(struct swarm_crew *c, unsigned count, struct err *err)
{
	c->max = count * (REPLACED_PER_JOB + 1);
	c->pages = mmap(NULL, c->max * sizeof(*c->pages), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->pages == MAP_FAILED)
		return err_sys(err, errno, "cannot get shared memory");
	c->senders = must_alloc(c->max * sizeof(*c->senders));
	c->ended = must_alloc(c->max * sizeof(*c->ended));
	return 0;
}

void swarm_crew_close(struct swarm_crew *c)
{
	for (unsigned i = 0; i < c->max; i++)
		results_sender_free(&c->senders[i]);
	free(c->senders);
	free(c->ended);
	munmap(c->pages, c->max * sizeof(*c->pages));
}

static void crew_dir(const struct swarm_crew *c, unsigned number, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%.4000s/job-%u", c->dir, number);
}

/* Is the server there? Tries to connect from time to time. */
static bool crew_is_online(struct swarm_crew *c)
{
	double now = clock_seconds();
	struct err none = { 0 };

	if (swarm_run_is_open(c->run))
		return true;
	if (now < c->connect_at)
		return false;
	c->connect_at = now + connect_seconds;
	c->connected_at = now;
	return !swarm_run_reopen(c->run, c->url, &none);
}

/* ---- what is published ---- */

/* Of a process that works: what it has done so far; of one that has ended, what its run.json says.
 */
static json_t *crew_figures(const struct swarm_crew *c, unsigned number)
{
	const struct worker_page *p = &c->pages[number];
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "works", p->taken },       { "works_twice", p->duplicates },
		{ "works_asked", p->asked }, { "round_trips", p->trips },
		{ "server_lost", p->lost },
	};
	char path[PATH_MAX], dir[PATH_MAX];
	json_t *o = NULL;

	crew_dir(c, number, dir);
	snprintf(path, sizeof(path), "%.4000s/run.json", dir);
	if (c->ended[number])
		o = json_load_file(path, 0, NULL);
	if (!json_object_get(o, "transitions")) {
		json_decref(o);
		o = json_object();
		json_object_set_new(o, "calls", json_integer((json_int_t)p->calls));
		json_object_set_new(o, "transitions", json_integer((json_int_t)p->transitions));
	}
	json_object_del(o, "findings");
	json_object_del(o, "unconfirmed");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		json_object_set_new(o, rows[i].name, json_integer((json_int_t)rows[i].value));
	return o;
}

static int crew_publish(struct swarm_crew *c, unsigned number, struct err *err)
{
	uint64_t worker = c->pages[number].number;
	char dir[PATH_MAX];
	json_t *figures;
	int status;

	if (!worker)
		return 0;
	crew_dir(c, number, dir);
	c->senders[number].worker = worker;
	figures = crew_figures(c, number);
	status = results_send_figures(c->run, worker, figures, err);
	json_decref(figures);
	if (!status)
		status = results_send_findings(c->run, &c->senders[number], dir, err);
	if (!status && c->ended[number])
		status = results_send_end(c->run, worker, dir, err);
	return status;
}

/* One that has ended: everything it has is published, as soon as the server is there. Where it
 * could not end its work, that is free for others. */
static void crew_publish_end(struct swarm_crew *c, unsigned number, bool bury)
{
	double until = clock_seconds() + c->patience_seconds;
	int status = -ENOTCONN;

	c->ended[number] = true;
	while (status == -ENOTCONN && clock_seconds() < until) {
		struct err err = { 0 };

		if (!crew_is_online(c)) {
			usleep(RETRY_US);
			continue;
		}
		status = crew_publish(c, number, &err);
		if (!status && bury && c->pages[number].number)
			status = swarm_run_bury(c->run, c->pages[number].number, &err);
		if (status && status != -ENOTCONN)
			c->lost = err;
	}
	if (status == -ENOTCONN)
		err_set(&c->lost, EHOSTDOWN, "the Redis server is away: %s/job-%u is not published",
			c->dir, number);
}

/* ---- looking after them ---- */

static int crew_beat(struct swarm_crew *c, struct err *err)
{
	double now = clock_seconds();
	bool may_bury = now - c->connected_at > c->dead_seconds, stopped;
	int status = 0;

	for (unsigned i = 0; i < c->count && !status; i++) {
		if (c->ended[i] || !c->pages[i].number)
			continue;
		status = swarm_run_beat(c->run, c->pages[i].number, may_bury ? c->dead_seconds : 0,
					&stopped, err);
		c->is_over |= !status && stopped;
	}
	return status;
}

static bool crew_look(void *to)
{
	struct swarm_crew *c = to;
	double now = clock_seconds();
	struct err err = { 0 };
	int status = 0;

	if (now < c->beat_at || !crew_is_online(c))
		return c->is_over;
	c->beat_at = now + beat_seconds;
	status = crew_beat(c, &err);
	if (now >= c->publish_at) {
		c->publish_at = now + publish_seconds;
		for (unsigned i = 0; i < c->count && !status; i++)
			if (!c->ended[i])
				status = crew_publish(c, i, &err);
	}
	if (status && status != -ENOTCONN && !c->lost.code)
		c->lost = err;
	return c->is_over;
}

static void crew_job_ended(void *to, unsigned number, int code, bool failed)
{
	crew_publish_end(to, number, failed);
}

static int crew_job_killed(void *to, unsigned number)
{
	struct swarm_crew *c = to;

	crew_publish_end(c, number, true);
	if (c->count == c->max)
		return -ENOSPC;
	return (int)c->count++;
}

int swarm_crew_run(struct swarm_crew *c, const struct run *local, unsigned count,
		   const struct job *job, struct err *err)
{
	struct job_care care = { crew_look, crew_job_ended, crew_job_killed, c };
	int status;

	c->dir = local->dir;
	c->count = count;
	c->connected_at = clock_seconds();
	status = jobs_run_together(local, count, job, &care, err);
	if (!status && c->lost.code)
		status = err_set(err, -c->lost.code, "%s", c->lost.text);
	return status;
}
