/* conform.c -- jobs: processes that share the scripts of a suite among them. */
#include "conform/conform.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "conform/turns.h"
#include "process/owner.h"
#include "run/run.h"

enum {
	PORTION = 64,
	LOOK_MS = 100,
	DEVIATIONS_BYTES = 256 << 20, /* address space for a job's; memory only as it is used */
};

/* What one job reports. */
struct job_report {
	pid_t pid;
	int failure; /* negative errno, and why */
	struct err err;
	struct session_figures figures;
	size_t used; /* of the deviations, JSON lines */
	char *deviations;
};

struct shared_jobs {
	const size_t *order; /* of the scripts; NULL: as they are */
	_Atomic size_t next; /* portion of the scripts that no job has taken, from round to round */
	_Atomic size_t done, rejected;
	_Atomic bool stop;
	struct job_report reports[CONFORM_JOBS_MAX];
	struct {
		uint32_t outcomes; /* of a race, in the round that had most */
		uint8_t fate;
	} scripts[];
};

static void *jobs_share_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static size_t jobs_size(const struct suite *suite)
{
	return sizeof(struct shared_jobs) +
	       suite->count * sizeof(((struct shared_jobs *)0)->scripts[0]);
}

static void jobs_free(struct shared_jobs *shared, const struct suite *suite)
{
	for (unsigned i = 0; i < CONFORM_JOBS_MAX; i++)
		if (shared->reports[i].deviations)
			munmap(shared->reports[i].deviations, DEVIATIONS_BYTES);
	munmap(shared, jobs_size(suite));
}

static struct shared_jobs *jobs_new(const struct suite *suite, unsigned jobs, struct err *err)
{
	struct shared_jobs *shared = jobs_share_memory(jobs_size(suite));
	bool complete = shared;

	for (unsigned i = 0; i < jobs && complete; i++) {
		shared->reports[i].deviations = jobs_share_memory(DEVIATIONS_BYTES);
		complete = shared->reports[i].deviations;
	}
	if (complete) {
		for (size_t i = 0; i < suite->count; i++)
			shared->scripts[i].fate = SCRIPT_FATES;
		return shared;
	}
	err_sys(err, errno, "cannot share memory among jobs");
	if (shared)
		jobs_free(shared, suite);
	return NULL;
}

static int job_report_add(struct job_report *r, const struct deviation *d, struct err *err)
{
	json_t *packed = deviation_pack(d);
	size_t room = DEVIATIONS_BYTES - r->used, len;

	must(packed);
	len = json_dumpb(packed, r->deviations + r->used, room, JSON_COMPACT);
	json_decref(packed);
	if (len >= room)
		return err_set(err, E2BIG, "too many deviations to remember");
	r->deviations[r->used + len] = '\n';
	r->used += len + 1;
	return 0;
}

static int job_run_portion(struct shared_jobs *shared, struct job_report *r, struct session *s,
			   size_t from, size_t end, struct err *err)
{
	const struct session_figures *f = session_figures(s);
	struct deviation d = { 0 };
	enum script_fate fate;
	int ret = 0;

	for (size_t at = from; at < end && !ret && !shared->stop && !stop_requested; at++) {
		size_t i = shared->order ? shared->order[at] : at;
		uint64_t outcomes = f->outcomes;

		if (shared->scripts[i].fate < SCRIPT_FATES &&
		    shared->scripts[i].fate != SCRIPT_ACCEPTED) {
			shared->done++;
			continue;
		}
		ret = session_run(s, i, &fate, &d, err);
		if (ret)
			break;
		outcomes = f->outcomes - outcomes;
		if (outcomes > shared->scripts[i].outcomes)
			shared->scripts[i].outcomes = (uint32_t)outcomes;
		shared->scripts[i].fate = (uint8_t)fate;
		shared->done++;
		if (fate != SCRIPT_REJECTED)
			continue;
		shared->rejected++;
		ret = job_report_add(r, &d, err);
	}
	deviation_free(&d);
	return ret;
}

unsigned conform_rounds(const struct conform_options *options)
{
	const struct scheduled_options *o = &options->session.schedules;

	return o->preemptions && !o->one && !o->drawn ? o->preemptions : 1;
}

static int job_work(struct shared_jobs *shared, struct job_report *r, const struct suite *suite,
		    const struct conform_options *options, struct err *err)
{
	const unsigned rounds = conform_rounds(options);
	/* Scripts that do not come in the order of their set-ups have nothing in common. */
	const size_t size = shared->order ? 1 : PORTION;
	size_t from, end, portions = (suite->count + size - 1) / size;
	struct session *s;
	int ret = session_open(&s, suite, &options->session, err);

	if (ret)
		return ret;
	while (!ret && !shared->stop && !stop_requested) {
		size_t portion = atomic_fetch_add(&shared->next, 1);

		if (portion >= rounds * portions)
			break;
		if (rounds > 1)
			session_set_switches(s, (unsigned)(portion / portions) + 1);
		from = portion % portions * size;
		end = from + size < suite->count ? from + size : suite->count;
		ret = job_run_portion(shared, r, s, from, end, err);
	}
	r->figures = *session_figures(s);
	session_close(s);
	return ret;
}

static pid_t job_start(struct shared_jobs *shared, struct job_report *r, const struct suite *suite,
		       const struct conform_options *options)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	owner_follow(parent, SIGTERM);
	r->failure = job_work(shared, r, suite, options, &r->err);
	fflush(NULL);
	_exit(r->failure != 0);
}

/* How a job ended, as one of our failures or 0. */
static int job_failure(struct job_report *r, unsigned number, int status, struct err *err)
{
	if (r->failure)
		return err_set(err, -r->failure, "%s", r->err.text);
	if (WIFSIGNALED(status))
		return err_set(err, EIO, "job %u was ended by signal %d", number, WTERMSIG(status));
	if (status)
		return err_set(err, EIO, "job %u ended with status %d", number,
			       WEXITSTATUS(status));
	return 0;
}

/* Waits for all jobs. One that fails stops the others. */
static int jobs_await(struct shared_jobs *shared, unsigned jobs,
		      const struct conform_options *options, struct err *err)
{
	struct timespec look = { 0, LOOK_MS * 1000000L };
	double from = clock_seconds();
	unsigned left = jobs;
	int status, ret = 0, r;

	while (left) {
		for (unsigned i = 0; i < jobs; i++) {
			struct job_report *report = &shared->reports[i];

			if (!report->pid || waitpid(report->pid, &status, WNOHANG) != report->pid)
				continue;
			report->pid = 0;
			left--;
			r = job_failure(report, i + 1, status, err);
			ret = ret ? ret : r;
		}
		shared->stop |= ret || stop_requested ||
				(options->seconds > 0 && clock_seconds() - from > options->seconds);
		if (options->progress)
			options->progress(options->progress_to, shared->done, shared->rejected);
		if (left)
			nanosleep(&look, NULL);
	}
	return ret;
}

static int jobs_start(struct shared_jobs *shared, unsigned jobs, const struct suite *suite,
		      const struct conform_options *options, struct err *err)
{
	fflush(NULL);
	for (unsigned i = 0; i < jobs; i++) {
		shared->reports[i].pid = job_start(shared, &shared->reports[i], suite, options);
		if (shared->reports[i].pid > 0)
			continue;
		shared->stop = true;
		shared->reports[i].pid = 0;
		jobs_await(shared, i, options, err);
		return err_sys(err, errno, "cannot start job %u", i + 1);
	}
	return jobs_await(shared, jobs, options, err);
}

static int deviation_by_script(const void *a, const void *b)
{
	const struct deviation *x = a, *y = b;

	return x->script < y->script ? -1 : x->script > y->script;
}

static void result_gather_deviations(struct conform_result *ret, const struct job_report *r)
{
	const char *at = r->deviations, *end = r->deviations + r->used, *newline;
	struct deviation *d;
	json_t *packed;

	for (; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		packed = json_loadb(at, (size_t)(newline - at), 0, NULL);
		ret->deviations = must_realloc(ret->deviations, (ret->deviation_count + 1) *
									sizeof(*ret->deviations));
		d = &ret->deviations[ret->deviation_count++];
		*d = (struct deviation){ 0 };
		must(packed && !deviation_unpack(d, packed));
		json_decref(packed);
	}
}

static void result_gather(struct conform_result *ret, const struct shared_jobs *shared,
			  unsigned jobs)
{
	struct session_figures *sum = &ret->figures;

	for (unsigned i = 0; i < jobs; i++) {
		const struct session_figures *f = &shared->reports[i].figures;

		result_gather_deviations(ret, &shared->reports[i]);
		sum->exec_seconds += f->exec_seconds / jobs;
		sum->check_seconds += f->check_seconds / jobs;
		sum->calls += f->calls;
		sum->resets += f->resets;
		sum->setups += f->setups;
		sum->reused += f->reused;
		sum->races += f->races;
		sum->pairs += f->pairs;
		sum->schedules += f->schedules;
		sum->left += f->left;
		if (f->chance && (!sum->chance || f->chance < sum->chance))
			sum->chance = f->chance;
		sum->unsteady += f->unsteady;
		sum->whole += f->whole;
		sum->reduced += f->reduced;
		for (unsigned n = 0; n <= SCHEDULE_SWITCHES_MAX; n++)
			sum->searched[n] += f->searched[n];
		sum->not_made += f->not_made;
		memcpy(sum->judged_by, f->judged_by, sizeof(sum->judged_by));
		for (unsigned rule = 0; rule < RULE_COUNT; rule++)
			sum->rule_hits[rule] += f->rule_hits[rule];
	}
	if (ret->deviation_count)
		qsort(ret->deviations, ret->deviation_count, sizeof(*ret->deviations),
		      deviation_by_script);
	ret->fates = must_alloc(ret->suite->count + 1);
	for (size_t i = 0; i < ret->suite->count; i++) {
		ret->fates[i] = shared->scripts[i].fate;
		ret->counts[ret->fates[i]]++;
		sum->outcomes += shared->scripts[i].outcomes;
	}
}

int conform_run(struct conform_result *ret, const struct suite *suite,
		const struct conform_options *options, struct err *err)
{
	unsigned jobs = options->jobs;
	double from = clock_seconds();
	struct shared_jobs *shared;
	size_t *order = NULL;
	int r;

	*ret = (struct conform_result){ .suite = suite };
	ret->target = must_strdup(options->session.target);
	must(jobs && jobs <= CONFORM_JOBS_MAX);
	shared = jobs_new(suite, jobs, err);
	if (!shared)
		return -ENOMEM;
	if (options->session.schedules.preemptions)
		shared->order = order = turns_order(suite);
	r = jobs_start(shared, jobs, suite, options, err);
	result_gather(ret, shared, jobs);
	ret->cut = shared->stop;
	jobs_free(shared, suite);
	free(order);
	ret->seconds = clock_seconds() - from;
	ret->stopped = stop_requested;
	return r;
}

void conform_result_free(struct conform_result *r)
{
	for (size_t i = 0; i < r->deviation_count; i++)
		deviation_free(&r->deviations[i]);
	free(r->deviations);
	free(r->fates);
	free(r->target);
	*r = (struct conform_result){ 0 };
}
