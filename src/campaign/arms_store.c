/* arms_store.c -- arms in the database. */
#include "campaign/arms_store.h"

#include <string.h>

#include "base/must.h"

static void arm_read(struct campaign_arm *m, struct bandit_arm *b, struct sqlite3_stmt *s)
{
	uint64_t *const counts[] = { &m->turns,    &m->failures,   &m->part,
				     &m->folder,   &m->states,     &m->code,
				     &m->findings, &m->run_states, &m->run_code };
	double *const reals[] = { &m->seconds,      &m->cpu_seconds,   &b->weight,
				  &b->seconds,      &b->yield.seconds, &b->yield.cpu_seconds,
				  &b->yield.states, &b->yield.code,    &b->yield.findings,
				  &b->best_states,  &b->best_code };
	int column = 0;

	m->id = campaign_db_integer(s, column++);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		*counts[i] = (uint64_t)campaign_db_integer(s, column++);
	for (size_t i = 0; i < ARRAY_LEN(reals); i++)
		*reals[i] = campaign_db_real(s, column++);
	b->tried = m->turns;
}

/* 1: it has a row. */
static int arm_load(struct campaign_db *d, struct campaign_arms *a, size_t arm, struct err *err)
{
	struct sqlite3_stmt *s;
	int status = campaign_db_query(
		d, &s, err,
		"SELECT id, turns, failures, part, folder, states, code, findings, run_states, "
		"run_code, seconds, cpu_seconds, weight, recent_seconds, yield_seconds, yield_cpu, "
		"yield_states, yield_code, yield_findings, best_states, best_code, state = 'done', "
		"reason FROM arms WHERE name = ?",
		"s", a->list[arm].name);

	if (status)
		return status;
	status = campaign_db_step(d, s, err);
	if (status > 0) {
		arm_read(&a->list[arm], &a->bandit.arms[arm], s);
		if (a->list[arm].state == ARM_ACTIVE && campaign_db_integer(s, 21))
			campaign_arm_set_state(a, arm, ARM_DONE, campaign_db_text(s, 22));
	}
	campaign_db_end(s);
	return status;
}

static int arm_insert(struct campaign_db *d, struct campaign_arm *m, struct err *err)
{
	int status =
		campaign_db_run(d, err,
				"INSERT INTO arms(name, section, instrument, target, state, "
				"reason) VALUES(?, ?, ?, ?, '', '')",
				"ssss", m->name, m->section->name, m->instrument->name, m->target);

	if (!status)
		m->id = campaign_db_last_id(d);
	return status;
}

int arms_store_save(struct campaign_db *d, const struct campaign_arms *a, size_t arm,
		    struct err *err)
{
	const struct campaign_arm *m = &a->list[arm];
	const struct bandit_arm *b = &a->bandit.arms[arm];

	return campaign_db_run(
		d, err,
		"UPDATE arms SET section = ?, state = ?, reason = ?, turns = ?, failures = ?, "
		"failures_in_row = ?, part = ?, folder = ?, seconds = ?, cpu_seconds = ?, "
		"states = ?, code = ?, findings = ?, run_states = ?, run_code = ?, weight = ?, "
		"recent_seconds = ?, yield_seconds = ?, yield_cpu = ?, yield_states = ?, "
		"yield_code = ?, yield_findings = ?, best_states = ?, best_code = ? WHERE id = ?",
		"sssiiiiiddiiiiidddddddddi", m->section->name, arm_state_names[m->state], m->reason,
		(int64_t)m->turns, (int64_t)m->failures, (int64_t)m->failures_in_row,
		(int64_t)m->part, (int64_t)m->folder, m->seconds, m->cpu_seconds,
		(int64_t)m->states, (int64_t)m->code, (int64_t)m->findings, (int64_t)m->run_states,
		(int64_t)m->run_code, b->weight, b->seconds, b->yield.seconds, b->yield.cpu_seconds,
		b->yield.states, b->yield.code, b->yield.findings, b->best_states, b->best_code,
		m->id);
}

int arms_store_fade(struct campaign_db *d, const struct campaign_arms *a, struct err *err)
{
	double fading = bandit_fading(&a->bandit);

	return campaign_db_run(d, err,
			       "UPDATE arms SET weight = weight * ?1, "
			       "recent_seconds = recent_seconds * ?1",
			       "d", fading);
}

int arms_store_load(struct campaign_db *d, struct campaign_arms *a, struct err *err)
{
	int status = campaign_db_run(d, err,
				     "UPDATE arms SET state = 'gone', reason = 'not in the file' "
				     "WHERE state <> 'done'",
				     "");

	for (size_t i = 0; i < a->count && !status; i++) {
		status = arm_load(d, a, i, err);
		if (!status)
			status = arm_insert(d, &a->list[i], err);
		if (status >= 0)
			status = arms_store_save(d, a, i, err);
	}
	return status;
}
