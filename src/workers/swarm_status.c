/* swarm_status.c -- how far a run of a swarm is. */
#include "workers/swarm_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/must.h"
#include "swarm/work_parts.h"

static uint64_t sum_figure(const json_t *figures, const char *name)
{
	const char *number;
	uint64_t sum = 0;
	json_t *own;

	json_object_foreach((json_t *)figures, number, own) sum +=
		(uint64_t)json_integer_value(json_object_get(own, name));
	return sum;
}

/* Of a run whose work is divided. */
static int status_add_parts(struct swarm_run *r, json_t *o, struct err *err)
{
	json_int_t parts = json_integer_value(json_object_get(r->about, "parts"));
	struct work_parts_counts counts;
	int status = work_parts_count(r, &counts, err);

	if (status)
		return status;
	json_object_set_new(o, "parts", json_integer(parts));
	json_object_set_new(
		o, "parts_done",
		json_integer(parts - (json_int_t)counts.open - (json_int_t)counts.given_up));
	json_object_set_new(o, "parts_given_up", json_integer((json_int_t)counts.given_up));
	return 0;
}

static json_t *status_object(const struct swarm_run *r, const json_t *figures,
			     const struct swarm_counts *c, uint64_t states, bool done)
{
	double seconds =
		(double)time(NULL) - json_number_value(json_object_get(r->about, "started"));
	uint64_t transitions = sum_figure(figures, "transitions");
	json_t *o = json_object();
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "workers", c->living },
		{ "workers_waiting", c->waiting },
		{ "workers_ever", c->workers },
		{ "workers_dead", c->dead - c->left },
		{ "states", states },
		{ "transitions", transitions },
		{ "duplicates", sum_figure(figures, "duplicates") },
		{ "works", sum_figure(figures, "works") },
		{ "works_twice", sum_figure(figures, "works_twice") },
		{ "server_lost", sum_figure(figures, "server_lost") },
		{ "findings", c->findings },
		{ "unconfirmed", c->unconfirmed },
	};

	json_object_set_new(o, "run", json_string(r->names.run));
	json_object_set_new(o, "args", json_deep_copy(json_object_get(r->about, "args")));
	json_object_set_new(o, "seconds", json_real(seconds));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		json_object_set_new(o, rows[i].name, json_integer((json_int_t)rows[i].value));
	json_object_set_new(o, "transitions_per_second",
			    json_real(seconds > 0 ? (double)transitions / seconds : 0));
	json_object_set_new(o, "exhausted", json_boolean(done));
	return o;
}

void swarm_status_print(const json_t *o)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)o, name, value)
	{
		char *text =
			json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));

		printf("%-24s %s\n", name, text);
		free(text);
	}
}

int swarm_status(struct swarm_run *r, bool in_parts, json_t **ret, struct err *err)
{
	struct swarm_counts counts = { 0 };
	json_t *figures = NULL;
	uint64_t states = 0;
	bool done, summed;
	struct hash sum;
	int status = results_fetch(r, "figures", &figures, err);

	if (!status)
		status = results_counts(r, &counts, err);
	if (!status)
		status = results_states(r, 0, &states, &sum, &summed, err);
	if (!status)
		status = results_is_done(r, &done, err);
	if (!status)
		*ret = status_object(r, figures, &counts, states, done);
	if (!status && in_parts)
		status = status_add_parts(r, *ret, err);
	json_decref(figures);
	return status;
}
