/* turn_store.c -- turns in the database, and what they change in their arms. */
#include "campaign/turn_store.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/must.h"
#include "campaign/arms_store.h"
#include "gen/version.h"
#include "run/known.h"
#include "run/run_dir.h"
#include "target/description.h"
#include "target/kernels.h"
#include "target/target.h"

/* So many failures in a row, and an arm is put aside. */
enum { FAILURES_MAX = 3, NAME_BYTES_MAX = 80 };

static const char time_used_up[] = "its time is used up";

/* ---- where and on what ---- */

/* The release of the kernel that a target runs on; "" where none does. */
static void turn_kernel(const struct campaign_arm *m, const char *config, struct buf *ret)
{
	struct target_description d;
	const struct target_kind *kind;
	struct err none = { 0 };
	struct utsname names;

	if (description_find(&d, m->target, config, &none)) {
		description_free(&d);
		return;
	}
	kind = target_kind_find(d.kind);
	if (!strcmp(d.kind, "kernel"))
		kernels_version(d.argument, ret);
	else if (kind && !kind->in_process && !uname(&names))
		buf_adds(ret, names.release);
	description_free(&d);
}

/* "arms/0003-explore_kernel_ext4-2": the third arm, begun for the third time. */
static void turn_folder(const struct campaign_arm *m, int64_t turn, char ret[PATH_MAX])
{
	bool resumes = m->instrument->resumes;
	int len = snprintf(ret, PATH_MAX, resumes ? "arms/%04" PRId64 "-" : "turns/%06" PRId64 "-",
			   resumes ? m->id : turn);
	int end = len + NAME_BYTES_MAX;

	for (const char *c = m->name; *c && len < end; c++)
		ret[len++] = isalnum((unsigned char)*c) || strchr(".-", *c) ? *c : '_';
	ret[len] = '\0';
	if (resumes && m->folder)
		snprintf(ret + len, (size_t)(PATH_MAX - len), "-%" PRIu64, m->folder + 1);
}

/* A search that is continued keeps its seed. */
static uint64_t turn_seed(const struct campaign_arm *m, int64_t turn, uint64_t seed)
{
	uint64_t from[3] = { (uint64_t)m->id, m->folder,
			     m->instrument->resumes ? 0 : (uint64_t)turn };

	return hash64(from, sizeof(from), seed) >> 11 | 1;
}

/* ---- the beginning ---- */

/* Begins in a new directory, with another seed. */
static void arm_begin_again(struct campaign_arm *m)
{
	m->folder++;
	m->run_states = m->run_code = 0;
}

static void turn_set_folder(struct campaign_turn *t, const struct campaign_arm *m, const char *dir)
{
	turn_folder(m, t->id, t->folder);
	snprintf(t->path, sizeof(t->path), "%.3000s/%.1000s", dir, t->folder);
}

/* Findings in the database name folders in the directory of an arm: where that was deleted, another
 * run must not use the same names. */
static void turn_choose_folder(struct campaign_turn *t, struct campaign_arm *m, const char *dir)
{
	turn_set_folder(t, m, dir);
	if (!m->instrument->resumes)
		return;
	if (m->turns && access(t->path, F_OK)) {
		arm_begin_again(m);
		turn_set_folder(t, m, dir);
	}
	t->resumed = run_dir_has_checkpoint(t->path);
}

static int turn_insert(struct campaign_db *d, struct campaign_turn *t, struct campaign_arm *m,
		       const char *dir, uint64_t seed, int64_t now, const char *config,
		       struct err *err)
{
	struct buf kernel = BUF_INIT;
	char seed_text[32];
	int status;

	turn_kernel(m, config, &kernel);
	status = campaign_db_run(d, err,
				 "INSERT INTO turns(arm, state, started, folder, resumed, seed, "
				 "version, kernel) VALUES(?, 'running', ?, '', 0, '', ?, ?)",
				 "iiss", m->id, now, ASSAY_VERSION, buf_str(&kernel));
	buf_free(&kernel);
	if (status)
		return status;
	t->id = campaign_db_last_id(d);
	turn_choose_folder(t, m, dir);
	t->seed = turn_seed(m, t->id, seed);
	snprintf(seed_text, sizeof(seed_text), "%" PRIu64, t->seed);
	return campaign_db_run(d, err,
			       "UPDATE turns SET folder = ?, resumed = ?, seed = ? WHERE id = ?",
			       "sisi", t->folder, (int64_t)t->resumed, seed_text, t->id);
}

int turn_store_begin(struct campaign_db *d, struct campaign_turn *t, struct campaign_arm *m,
		     const char *dir, uint64_t seed, int64_t now, const char *config,
		     struct err *err)
{
	int status = campaign_db_begin(d, err);

	if (status)
		return status;
	status = turn_insert(d, t, m, dir, seed, now, config, err);
	if (status)
		campaign_db_rollback(d);
	else
		status = campaign_db_commit(d, err);
	return status ? status : dirs_make_all(t->path, err);
}

/* ---- the end ---- */

static uint64_t turn_figure(const json_t *run, const char *name)
{
	json_int_t value = name ? json_integer_value(json_object_get(run, name)) : 0;

	return value > 0 ? (uint64_t)value : 0;
}

/* Scripts less those that were not made, or not possible, on the target. */
static uint64_t turn_executed(const json_t *run, uint64_t scripts)
{
	uint64_t others = turn_figure(run, "not_run") + turn_figure(run, "skipped");

	return scripts > others ? scripts - others : 0;
}

/* What exceeds the figure so far is new; the figure becomes the larger one. */
static uint64_t turn_new(uint64_t *so_far, uint64_t figure)
{
	uint64_t more = figure > *so_far ? figure - *so_far : 0;

	*so_far += more;
	return more;
}

/* The new states and code of a turn. A run that begins again has none of those that were counted:
 * what exceeds the largest one so far is new for certain. */
static void turn_count_yield(const struct campaign_turn *t, const struct turn_result *r,
			     struct campaign_arm *m, struct bandit_yield *y)
{
	const struct instrument *instrument = m->instrument;
	uint64_t states = turn_figure(r->run, instrument->states);
	uint64_t code = instrument->code
			      ? turn_figure(r->run, instrument->code)
			      : turn_figure(json_object_get(r->run, "kernel_coverage"), "reached");

	y->seconds = r->seconds;
	y->cpu_seconds = r->cpu_seconds;
	if (r->end != TURN_OK)
		return;
	if (instrument->in_parts)
		y->states =
			m->turns <= m->section->parts ? (double)turn_executed(r->run, states) : 0;
	else
		y->states = (double)turn_new(&m->run_states, states);
	y->code = (double)turn_new(&m->run_code, code);
	m->states += (uint64_t)y->states;
	m->code += (uint64_t)y->code;
}

static void arm_note_failure(struct campaign_arms *a, size_t arm, const struct turn_result *r)
{
	struct campaign_arm *m = &a->list[arm];

	m->failures++;
	m->failures_in_row++;
	/* What it would continue may be what it fails for. */
	if (m->instrument->resumes)
		arm_begin_again(m);
	if (r->end == TURN_CANNOT || m->failures_in_row >= FAILURES_MAX)
		campaign_arm_set_state(a, arm, ARM_ASIDE, r->reason);
}

/* A part that the end of the campaign has cut off is run again. */
static void arm_note_success(struct campaign_arms *a, size_t arm, const struct turn_result *r,
			     bool stopped)
{
	struct campaign_arm *m = &a->list[arm];
	const struct campaign_section *section = m->section;

	m->failures_in_row = 0;
	if (m->instrument->in_parts && !stopped)
		m->part++;
	if (json_is_true(json_object_get(r->run, "exhausted")))
		campaign_arm_set_state(a, arm, ARM_DONE, "every call was made in every state");
	else if (m->instrument->in_parts && m->part >= section->parts && m->instrument->ends)
		campaign_arm_set_state(a, arm, ARM_DONE, "all parts were run");
	else if (!strcmp(json_text(r->run, "end"), "findings"))
		arm_begin_again(m); /* what it has found is known to the next one */
	if (m->part >= section->parts)
		m->part = 0;
}

static void arm_note(struct campaign_arms *a, size_t arm, const struct turn_result *r, bool stopped)
{
	struct campaign_arm *m = &a->list[arm];

	if (r->end == TURN_OK)
		arm_note_success(a, arm, r, stopped);
	else
		arm_note_failure(a, arm, r);
	if (m->state == ARM_ACTIVE && m->section->seconds > 0 && m->seconds >= m->section->seconds)
		campaign_arm_set_state(a, arm, ARM_DONE, time_used_up);
}

static int turn_kernel_of(struct campaign_db *d, int64_t turn, struct buf *ret, struct err *err)
{
	struct sqlite3_stmt *s;
	int status =
		campaign_db_query(d, &s, err, "SELECT kernel FROM turns WHERE id = ?", "i", turn);

	if (status)
		return status;
	status = campaign_db_step(d, s, err);
	if (status > 0)
		buf_adds(ret, campaign_db_text(s, 0));
	campaign_db_end(s);
	return status < 0 ? status : 0;
}

static int turn_take_findings(struct campaign_db *d, const struct campaign_turn *t,
			      const struct turn_result *r, const struct campaign_arm *m,
			      const char *dir, int64_t now, const struct known *known,
			      struct sighting_counts *ret, struct err *err)
{
	struct buf kernel = BUF_INIT;
	int status = turn_kernel_of(d, t->id, &kernel, err);
	const struct sighting_place place = { .target = m->target,
					      .arm = m->id,
					      .turn = t->id,
					      .kernel = buf_str(&kernel),
					      .at = now,
					      .dir = dir,
					      .folder = t->folder,
					      .resumed = t->resumed };

	if (!status && r->run)
		status = findings_store_take(d, r->run, &place, known, ret, err);
	buf_free(&kernel);
	return status;
}

static int turn_update(struct campaign_db *d, const struct campaign_turn *t,
		       const struct turn_result *r, const struct bandit_yield *y, int64_t now,
		       struct err *err)
{
	return campaign_db_run(d, err,
			       "UPDATE turns SET state = ?, ended = ?, exit_code = ?, signal = ?, "
			       "reason = ?, seconds = ?, cpu_seconds = ?, states = ?, code = ?, "
			       "findings = ? WHERE id = ?",
			       "siiisddiiii", r->end == TURN_OK ? "ok" : "failed", now,
			       (int64_t)r->exit_code, (int64_t)r->signal, r->reason, r->seconds,
			       r->cpu_seconds, (int64_t)y->states, (int64_t)y->code,
			       (int64_t)y->findings, t->id);
}

int turn_store_end(struct campaign_db *d, const struct campaign_turn *t,
		   const struct turn_result *r, struct campaign_arms *a, const char *dir,
		   int64_t now, const struct known *known, struct sighting_counts *ret,
		   struct err *err)
{
	struct campaign_arm *m = &a->list[t->arm];
	struct bandit_yield y = { 0 };
	int status = turn_take_findings(d, t, r, m, dir, now, known, ret, err);

	if (status)
		return status;
	m->turns++;
	m->seconds += r->seconds;
	m->cpu_seconds += r->cpu_seconds;
	m->findings += ret->findings;
	y.findings = ret->findings;
	turn_count_yield(t, r, m, &y);
	arm_note(a, t->arm, r, t->stopped);
	status = turn_update(d, t, r, &y, now, err);
	if (!status)
		status = arms_store_fade(d, a, err);
	bandit_learn(&a->bandit, t->arm, &y);
	return status ? status : arms_store_save(d, a, t->arm, err);
}

/* ---- turns whose end was not seen ---- */

static int turn_take_interrupted(struct campaign_db *d, struct sqlite3_stmt *s, const char *dir,
				 int64_t now, const struct known *known,
				 struct sighting_counts *ret, struct err *err)
{
	struct campaign_turn t = { .id = campaign_db_integer(s, 0) };
	struct campaign_arm m = { .id = campaign_db_integer(s, 1),
				  .target = must_strdup(campaign_db_text(s, 2)) };
	struct turn_result r = { 0 };
	unsigned before = ret->findings;
	int status;

	snprintf(t.folder, sizeof(t.folder), "%s", campaign_db_text(s, 3));
	snprintf(t.path, sizeof(t.path), "%.3000s/%.1000s", dir, t.folder);
	t.resumed = campaign_db_integer(s, 4);
	r.run = campaign_turn_report(t.path);
	status = turn_take_findings(d, &t, &r, &m, dir, now, known, ret, err);
	if (!status)
		status = campaign_db_run(d, err,
					 "UPDATE turns SET state = 'interrupted', ended = ?, "
					 "findings = ? WHERE id = ?",
					 "iii", now, (int64_t)(ret->findings - before), t.id);
	if (!status)
		status = campaign_db_run(d, err,
					 "UPDATE arms SET findings = findings + ? WHERE id = ?",
					 "ii", (int64_t)(ret->findings - before), m.id);
	json_decref(r.run);
	free(m.target);
	return status;
}

int turn_store_interrupted(struct campaign_db *d, const char *dir, int64_t now,
			   const struct known *known, struct sighting_counts *ret, struct err *err)
{
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err,
				       "SELECT turns.id, arms.id, arms.target, turns.folder, "
				       "turns.resumed FROM turns JOIN arms ON arms.id = turns.arm "
				       "WHERE turns.state = 'running' ORDER BY turns.id",
				       ""),
	    row = 0;

	if (status)
		return status;
	while (!status && (row = campaign_db_step(d, s, err)) > 0)
		status = turn_take_interrupted(d, s, dir, now, known, ret, err);
	campaign_db_end(s);
	return row < 0 ? row : status;
}

/* ---- what is left ---- */

static bool folder_is_needed(struct campaign_db *d, const char *folder)
{
	struct sqlite3_stmt *s;
	struct err none = { 0 };
	bool needed = true;

	if (!campaign_db_query(d, &s, &none,
			       "SELECT 1 FROM findings WHERE substr(folder, 1, length(?1) + 1) = "
			       "?1 || '/'",
			       "s", folder))
		needed = campaign_db_step(d, s, &none) != 0;
	campaign_db_end(s);
	return needed;
}

void turn_store_clean(struct campaign_db *d, const struct campaign_turn *t,
		      const struct campaign_arm *m)
{
	char folder[PATH_MAX];

	turn_folder(m, t->id, folder);
	if ((!m->instrument->resumes || strcmp(folder, t->folder)) &&
	    !folder_is_needed(d, t->folder))
		run_dir_remove(t->path);
}

void turn_store_clean_interrupted(struct campaign_db *d, const char *dir)
{
	struct err none = { 0 };
	struct sqlite3_stmt *s;
	char path[PATH_MAX];

	if (campaign_db_query(
		    d, &s, &none,
		    "SELECT folder FROM turns WHERE state = 'interrupted' AND folder LIKE "
		    "'turns/%'",
		    ""))
		return;
	while (campaign_db_step(d, s, &none) > 0) {
		snprintf(path, sizeof(path), "%.3000s/%.1000s", dir, campaign_db_text(s, 0));
		if (!folder_is_needed(d, campaign_db_text(s, 0)))
			run_dir_remove(path);
	}
	campaign_db_end(s);
}

/* Whether its last turn was with this Assay on this kernel. */
static int arm_is_current(struct campaign_db *d, const struct campaign_arm *m, const char *config,
			  bool *ret, struct err *err)
{
	struct buf kernel = BUF_INIT;
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err,
				       "SELECT version, kernel FROM turns WHERE arm = ? "
				       "ORDER BY id DESC LIMIT 1",
				       "i", m->id);

	if (status)
		return status;
	status = campaign_db_step(d, s, err);
	turn_kernel(m, config, &kernel);
	*ret = status > 0 && !strcmp(campaign_db_text(s, 0), ASSAY_VERSION) &&
	       !strcmp(campaign_db_text(s, 1), buf_str(&kernel));
	campaign_db_end(s);
	buf_free(&kernel);
	return status < 0 ? status : 0;
}

int turn_store_revive(struct campaign_db *d, struct campaign_arms *a, const char *config,
		      struct err *err)
{
	bool current = true, in_time;
	int status = 0;

	for (size_t i = 0; i < a->count && !status; i++) {
		struct campaign_arm *m = &a->list[i];

		if (m->state != ARM_DONE)
			continue;
		status = arm_is_current(d, m, config, &current, err);
		in_time = m->section->seconds <= 0 || m->seconds < m->section->seconds;
		if (status || !in_time || (current && strcmp(m->reason, time_used_up)))
			continue;
		if (strcmp(m->reason, time_used_up))
			arm_begin_again(m);
		campaign_arm_set_state(a, i, ARM_ACTIVE, "");
		status = arms_store_save(d, a, i, err);
	}
	return status;
}
