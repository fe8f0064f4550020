/* conform.c -- jobs: processes that share the scripts of a suite among them. */
#include "conform/conform.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "run/run.h"

enum {
	PORTION = 64,
	LOOK_MS = 100,
	DEVIATIONS_BYTES = 256 << 20, /* address space for a job's; memory only as it is used */
};

/* What one job tells. */
struct report {
	pid_t pid;
	int failure; /* negative errno, and why */
	struct err err;
	struct session_figures figures;
	size_t used; /* of the deviations, JSON lines */
	char *deviations;
};

struct channel {
	_Atomic size_t next; /* script that no job has taken */
	_Atomic size_t done, rejected;
	_Atomic bool stop;
	struct report reports[CONFORM_JOBS_MAX];
	uint8_t fates[];
};

static void *share(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static size_t channel_size(const struct suite *suite)
{
	return sizeof(struct channel) + suite->count;
}

static void close_channel(struct channel *b, const struct suite *suite)
{
	for (unsigned i = 0; i < CONFORM_JOBS_MAX; i++)
		if (b->reports[i].deviations)
			munmap(b->reports[i].deviations, DEVIATIONS_BYTES);
	munmap(b, channel_size(suite));
}

static struct channel *open_channel(const struct suite *suite, unsigned jobs, struct err *err)
{
	struct channel *b = share(channel_size(suite));
	bool complete = b;

	for (unsigned i = 0; i < jobs && complete; i++) {
		b->reports[i].deviations = share(DEVIATIONS_BYTES);
		complete = b->reports[i].deviations;
	}
	if (complete) {
		memset(b->fates, SCRIPT_FATES, suite->count);
		return b;
	}
	err_sys(err, errno, "cannot share memory among jobs");
	if (b)
		close_channel(b, suite);
	return NULL;
}

static int tell(struct report *r, const struct deviation *d, struct err *err)
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

static int run_portion(struct channel *b, struct report *r, struct session *s, size_t from,
		       size_t end, struct err *err)
{
	struct deviation d = { 0 };
	enum script_fate fate;
	int ret = 0;

	for (size_t i = from; i < end && !ret && !b->stop && !run_stop; i++) {
		ret = session_run(s, i, &fate, &d, err);
		if (ret)
			break;
		b->fates[i] = (uint8_t)fate;
		b->done++;
		if (fate != SCRIPT_REJECTED)
			continue;
		b->rejected++;
		ret = tell(r, &d, err);
	}
	deviation_free(&d);
	return ret;
}

static int work(struct channel *b, struct report *r, const struct suite *suite,
		const struct conform_options *options, struct err *err)
{
	struct session *s;
	size_t from, end;
	int ret = session_open(&s, suite, &options->session, err);

	if (ret)
		return ret;
	while (!ret && !b->stop && !run_stop) {
		from = atomic_fetch_add(&b->next, PORTION);
		if (from >= suite->count)
			break;
		end = from + PORTION < suite->count ? from + PORTION : suite->count;
		ret = run_portion(b, r, s, from, end, err);
	}
	r->figures = *session_figures(s);
	session_close(s);
	return ret;
}

static pid_t start_job(struct channel *b, struct report *r, const struct suite *suite,
		       const struct conform_options *options)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	r->failure = work(b, r, suite, options, &r->err);
	fflush(NULL);
	_exit(r->failure != 0);
}

/* How a job ended, as one of our failures or 0. */
static int job_end(struct report *r, unsigned number, int status, struct err *err)
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
static int await_jobs(struct channel *b, unsigned jobs, const struct conform_options *options,
		      struct err *err)
{
	struct timespec look = { 0, LOOK_MS * 1000000L };
	unsigned left = jobs;
	int status, ret = 0, r;

	while (left) {
		for (unsigned i = 0; i < jobs; i++) {
			struct report *report = &b->reports[i];

			if (!report->pid || waitpid(report->pid, &status, WNOHANG) != report->pid)
				continue;
			report->pid = 0;
			left--;
			r = job_end(report, i + 1, status, err);
			ret = ret ? ret : r;
		}
		b->stop |= ret || run_stop;
		if (options->progress)
			options->progress(options->progress_to, b->done, b->rejected);
		if (left)
			nanosleep(&look, NULL);
	}
	return ret;
}

static int start_jobs(struct channel *b, unsigned jobs, const struct suite *suite,
		      const struct conform_options *options, struct err *err)
{
	fflush(NULL);
	for (unsigned i = 0; i < jobs; i++) {
		b->reports[i].pid = start_job(b, &b->reports[i], suite, options);
		if (b->reports[i].pid > 0)
			continue;
		b->stop = true;
		b->reports[i].pid = 0;
		await_jobs(b, i, options, err);
		return err_sys(err, errno, "cannot start job %u", i + 1);
	}
	return await_jobs(b, jobs, options, err);
}

static int by_script(const void *a, const void *b)
{
	const struct deviation *x = a, *y = b;

	return x->script < y->script ? -1 : x->script > y->script;
}

static void gather_deviations(struct conform_result *ret, const struct report *r)
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

static void gather(struct conform_result *ret, const struct channel *b, unsigned jobs)
{
	struct session_figures *sum = &ret->figures;

	for (unsigned i = 0; i < jobs; i++) {
		const struct session_figures *f = &b->reports[i].figures;

		gather_deviations(ret, &b->reports[i]);
		sum->exec_seconds += f->exec_seconds / jobs;
		sum->check_seconds += f->check_seconds / jobs;
		sum->calls += f->calls;
		sum->resets += f->resets;
		sum->setups += f->setups;
		sum->reused += f->reused;
		sum->races += f->races;
		sum->not_made += f->not_made;
		memcpy(sum->judged_by, f->judged_by, sizeof(sum->judged_by));
		for (unsigned rule = 0; rule < RULE_COUNT; rule++)
			sum->rule_hits[rule] += f->rule_hits[rule];
	}
	if (ret->deviation_count)
		qsort(ret->deviations, ret->deviation_count, sizeof(*ret->deviations), by_script);
	ret->fates = must_alloc(ret->suite->count + 1);
	memcpy(ret->fates, b->fates, ret->suite->count);
	for (size_t i = 0; i < ret->suite->count; i++)
		ret->counts[ret->fates[i]]++;
}

int conform_run(struct conform_result *ret, const struct suite *suite,
		const struct conform_options *options, struct err *err)
{
	unsigned jobs = options->jobs;
	double from = clock_seconds();
	struct channel *b;
	int r;

	*ret = (struct conform_result){ .suite = suite };
	ret->target = must_strdup(options->session.target);
	must(jobs && jobs <= CONFORM_JOBS_MAX);
	b = open_channel(suite, jobs, err);
	if (!b)
		return -ENOMEM;
	r = start_jobs(b, jobs, suite, options, err);
	gather(ret, b, jobs);
	close_channel(b, suite);
	ret->seconds = clock_seconds() - from;
	ret->stopped = run_stop;
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
