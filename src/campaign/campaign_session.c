/* campaign_session.c -- a campaign that runs. */
#include "campaign/campaign_session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dirs.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "base/stop.h"
#include "campaign/arms_store.h"
#include "campaign/findings_store.h"
#include "campaign/turn_store.h"

enum { LOOK_MS = 200 };

double campaign_session_seconds(const struct campaign_session *s)
{
	return s->before_seconds + clock_seconds() - s->started_seconds;
}

static void session_warn(const struct campaign_session *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void session_warn(const struct campaign_session *s, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list args;

	va_start(args, format);
	buf_vaddf(&text, format, args);
	va_end(args);
	s->listener.warn(s->listener.to, text.data);
	buf_free(&text);
}

/* Where the clock goes back, time does not advance until it is there again: what was seen last was
 * never seen before what was seen first. */
static int64_t session_now(struct campaign_session *s)
{
	int64_t now = time(NULL);

	if (now < s->last_time && !s->clock_went_back)
		session_warn(s,
			     "the clock is %lld s behind the last time in the database, which is "
			     "used until then",
			     (long long)(s->last_time - now));
	s->clock_went_back = now < s->last_time;
	if (now > s->last_time)
		s->last_time = now;
	return s->last_time;
}

/* ---- opening ---- */

static int session_read_known(struct campaign_session *s, struct err *err)
{
	char today[KNOWN_DATE];
	time_t now = time(NULL);
	struct tm tm;

	if (!s->file->known)
		return 0;
	strftime(today, sizeof(today), "%Y-%m-%d", localtime_r(&now, &tm));
	return known_read(&s->known, s->file->known, today, err);
}

static int session_choose_seed(struct campaign_session *s, struct err *err)
{
	double seed;
	int status = campaign_db_get(&s->db, "seed", &seed, err);

	if (s->file->seed)
		seed = (double)s->file->seed;
	else if (!status && seed < 1)
		seed = (double)(rng_fresh_seed() >> 11 | 1);
	s->seed = (uint64_t)seed;
	return status ? status : campaign_db_set(&s->db, "seed", seed, err);
}

/* What turns had found when an earlier start of the campaign was killed. */
static int session_take_interrupted(struct campaign_session *s, struct err *err)
{
	struct sighting_counts counts = { .news = BUF_INIT };
	int status = turn_store_interrupted(&s->db, s->place.path, session_now(s), &s->known,
					    &counts, err);

	if (!status && counts.news.len)
		s->listener.found(s->listener.to, counts.news.data);
	s->findings += counts.findings;
	buf_free(&counts.news);
	return status;
}

static int session_load(struct campaign_session *s, struct err *err)
{
	double last_time;
	int status = campaign_db_get(&s->db, "seconds", &s->before_seconds, err);

	if (!status)
		status = campaign_db_get(&s->db, "time", &last_time, err);
	if (!status) {
		s->last_time = (int64_t)last_time;
		status = session_choose_seed(s, err);
	}
	/* This counts for the arms, which are read then. */
	if (!status)
		status = session_take_interrupted(s, err);
	if (!status)
		status = arms_store_load(&s->db, &s->arms, err);
	if (!status)
		status = findings_store_mark_known(&s->db, &s->known, err);
	return status ? status : turn_store_revive(&s->db, &s->arms, s->file->config, err);
}

static int session_make_places(const struct campaign_session *s, struct err *err)
{
	static const char *const places[] = { "arms", "turns" };
	char path[PATH_MAX];
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(places) && !status; i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", s->place.path, places[i]);
		status = dirs_make(path, err);
	}
	return status;
}

static int session_open_db(struct campaign_session *s, struct err *err)
{
	int status = campaign_db_open(&s->db, s->place.path, CAMPAIGN_DB_WRITE, err);

	if (!status)
		status = campaign_db_begin(&s->db, err);
	if (status)
		return status;
	status = session_load(s, err);
	if (!status)
		return campaign_db_commit(&s->db, err);
	campaign_db_rollback(&s->db);
	return status;
}

int campaign_session_open(struct campaign_session *s, const struct campaign_file *f,
			  const char *dir, const struct campaign_listener *listener,
			  struct err *err)
{
	int status;

	*s = (struct campaign_session){ .file = f,
					.listener = *listener,
					.place = { .lock_fd = -1 },
					.program_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
					.started_seconds = clock_seconds(),
					.turns = must_alloc(f->jobs * sizeof(*s->turns)) };
	status = s->program_fd < 0 ? err_sys(err, errno, "/proc/self/exe") : 0;
	if (!status)
		status = session_read_known(s, err);
	if (!status)
		status = campaign_arms_list(&s->arms, f, err);
	if (!status)
		status = run_dir_open(&s->place, "campaign", f->name, dir, err);
	if (!status)
		status = session_make_places(s, err);
	if (!status)
		status = session_open_db(s, err);
	if (status)
		campaign_session_close(s);
	else
		turn_store_clean_interrupted(&s->db, s->place.path);
	return status;
}

void campaign_session_close(struct campaign_session *s)
{
	if (s->program_fd >= 0)
		close(s->program_fd);
	campaign_arms_free(&s->arms);
	known_free(&s->known);
	if (s->db.sql)
		campaign_db_close(&s->db);
	run_dir_close(&s->place);
	free(s->turns);
	*s = (struct campaign_session){ .program_fd = -1 };
}

/* ---- the beginning of a turn ---- */

static bool session_has_space(const struct campaign_session *s, struct err *err)
{
	struct statvfs st;
	uint64_t left;

	if (statvfs(s->place.path, &st))
		return true;
	left = (uint64_t)st.f_bavail * st.f_frsize;
	if (left >= s->file->space)
		return true;
	err_set(err, ENOSPC, "%s: only %llu MiB are free on this disk (space = %llu MiB)",
		s->place.path, (unsigned long long)(left >> 20),
		(unsigned long long)(s->file->space >> 20));
	return false;
}

/* What is left of the campaign's time bounds the last turns. */
static double session_slice(const struct campaign_session *s, const struct campaign_arm *m)
{
	double slice =
		m->section->slice_seconds > 0 ? m->section->slice_seconds : s->file->slice_seconds;
	double left = s->until_seconds - clock_seconds();

	return fmax(1, ceil(fmin(slice, left)));
}

static int session_write_known(struct campaign_session *s, const struct campaign_turn *t,
			       const struct campaign_arm *m, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status;

	buf_adds(&text, "# because: found earlier in this campaign\n");
	status = findings_store_print_known(&s->db, m->target, s->place.path, &text, err);
	snprintf(path, sizeof(path), "%.4000s/known", t->path);
	if (!status)
		status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

static int session_start(struct campaign_session *s, size_t arm, struct err *err)
{
	struct campaign_turn *t = &s->turns[s->turn_count];
	struct campaign_arm *m = &s->arms.list[arm];
	int status = session_has_space(s, err) ? 0 : -ENOSPC;

	*t = (struct campaign_turn){ .arm = arm,
				     .slice_seconds = session_slice(s, m),
				     .on_swarm = s->on_swarm && !m->instrument->resumes };
	if (!status)
		status = turn_store_begin(&s->db, t, m, s->place.path, s->seed, session_now(s),
					  s->file->config, err);
	if (!status)
		status = session_write_known(s, t, m, err);
	if (!status)
		status = campaign_turn_start(t, m, s->program_fd, s->file->config, err);
	if (status)
		return status;
	m->running = true;
	campaign_arm_update(&s->arms, arm);
	s->turn_count++;
	return 0;
}

/* ---- its end ---- */

static int session_store(struct campaign_session *s, const struct campaign_turn *t,
			 const struct turn_result *r, struct sighting_counts *counts,
			 struct err *err)
{
	int status = campaign_db_begin(&s->db, err);

	if (status)
		return status;
	status = turn_store_end(&s->db, t, r, &s->arms, s->place.path, session_now(s), &s->known,
				counts, err);
	if (!status)
		status = campaign_db_set(&s->db, "seconds", campaign_session_seconds(s), err);
	if (!status)
		status = campaign_db_set(&s->db, "time", (double)s->last_time, err);
	if (!status)
		return campaign_db_commit(&s->db, err);
	campaign_db_rollback(&s->db);
	return status;
}

static int session_take(struct campaign_session *s, const struct campaign_turn *t,
			const struct turn_result *r, struct err *err)
{
	struct campaign_arm *m = &s->arms.list[t->arm];
	struct sighting_counts counts = { .news = BUF_INIT };
	enum arm_state before = m->state;
	int status;

	m->running = false;
	status = session_store(s, t, r, &counts, err);
	campaign_arm_update(&s->arms, t->arm);
	s->turns_ended++;
	s->findings += counts.findings;
	if (!status && counts.news.len)
		s->listener.found(s->listener.to, counts.news.data);
	if (m->state != before)
		session_warn(s, "%s: %s: %s", m->name, arm_state_names[m->state], m->reason);
	else if (*r->reason)
		session_warn(s, "%s: a turn %s: %s", m->name,
			     r->end == TURN_OK ? "is incomplete" : "failed", r->reason);
	if (!status)
		turn_store_clean(&s->db, t, m);
	buf_free(&counts.news);
	return status;
}

/* ---- turns ---- */

static bool session_is_over(const struct campaign_session *s)
{
	return stop_requested || clock_seconds() >= s->until_seconds ||
	       (s->file->end && time(NULL) >= s->file->end);
}

static int session_fill(struct campaign_session *s, struct err *err)
{
	int status = 0, arm;

	while (!status && s->turn_count < s->file->jobs) {
		arm = bandit_choose(&s->arms.bandit);
		if (arm == BANDIT_NONE)
			break;
		status = session_start(s, (size_t)arm, err);
	}
	return status;
}

/* Until one ends, or for a moment. */
static void session_wait(const struct campaign_session *s)
{
	struct pollfd ends[CAMPAIGN_JOBS_MAX];

	for (size_t i = 0; i < s->turn_count; i++)
		ends[i] = (struct pollfd){ .fd = s->turns[i].pid_fd, .events = POLLIN };
	poll(ends, s->turn_count, LOOK_MS);
}

static int session_collect(struct campaign_session *s, bool stop, struct err *err)
{
	struct turn_result result;
	int status = 0;

	for (size_t i = s->turn_count; i--;) {
		struct campaign_turn t = s->turns[i];
		const struct instrument *instrument = s->arms.list[t.arm].instrument;
		/* One that knows of its slice ends in time. */
		bool over = stop || (!instrument->timed && session_is_over(s));
		bool ended = campaign_turn_ended(&t, over, instrument, &result);

		s->turns[i] = t;
		if (!ended)
			continue;
		s->turns[i] = s->turns[--s->turn_count];
		if (!status)
			status = session_take(s, &t, &result, err);
		json_decref(result.run);
	}
	return status;
}

static void session_set_end(struct campaign_session *s, double seconds)
{
	s->until_seconds = INFINITY;
	if (seconds > 0)
		s->until_seconds = s->started_seconds + seconds;
	if (s->file->seconds > 0)
		s->until_seconds = fmin(s->until_seconds,
					s->started_seconds + s->file->seconds - s->before_seconds);
}

int campaign_session_run(struct campaign_session *s, double seconds, struct err *err)
{
	int status = 0, taken;

	session_set_end(s, seconds);
	for (;;) {
		if (!status && !session_is_over(s))
			status = session_fill(s, err);
		if (!s->turn_count)
			break;
		s->listener.progress(s->listener.to, s);
		session_wait(s);
		/* After a failure, those that run are still asked to end and waited for. */
		taken = session_collect(s, stop_requested || status, err);
		if (!status)
			status = taken;
	}
	return status;
}
