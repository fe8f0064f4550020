/* swarm_session.c -- what all of `assay swarm` has: its options, the server, the run. */
#include "workers/swarm_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "workers/swarm_command.h"

enum { OPEN_TRIES = 4, OPEN_PAUSE_US = 300000 };

struct swarm_settings swarm_settings = { .parts = 32, .dead = 10, .offline = 60, .patience = 300 };

void swarm_close(struct swarm *s)
{
	swarm_run_close(&s->run);
	redis_url_free(&s->url);
	buf_free(&s->url_text);
}

const json_t *swarm_args(const struct swarm *s)
{
	return json_object_get(s->run.about, "args");
}

const char *swarm_target(const struct swarm *s)
{
	const char *target = json_string_value(json_array_get(swarm_args(s), 1));

	return target ? target : "";
}

const struct command *swarm_run_command(const struct swarm *s)
{
	return swarm_command(swarm_args(s));
}

uint64_t swarm_seed(const struct swarm *s)
{
	return (uint64_t)json_integer_value(json_object_get(s->run.about, "seed"));
}

/* What the server says is not to be trusted. */
static int swarm_read(struct swarm *s, struct err *err)
{
	int status = swarm_run_read(&s->run, err);

	if (status)
		return status;
	if (!swarm_run_command(s) || !swarm_part_count(s->run.about))
		return err_set(err, EPROTO, "no worker can do what the run %s asks for", s->name);
	return 0;
}

static int swarm_try_open(struct swarm *s, bool is_new, const char **ret_warning, struct err *err)
{
	int status = 0;

	if (!swarm_settings.run && !is_new)
		status = swarm_run_find(&s->url, s->name, err);
	if (!status)
		status = swarm_run_open(&s->run, &s->url, s->name, ret_warning, err);
	if (!status && !is_new && (status = swarm_read(s, err)))
		swarm_run_close(&s->run);
	return status;
}

/* A server that is lost at once may have a bad line; one that is not there is soon reported. */
static int swarm_open_run(struct swarm *s, bool is_new, const char **ret_warning, struct err *err)
{
	for (unsigned tries = 1;; tries++) {
		int status = swarm_try_open(s, is_new, ret_warning, err);

		if (status != -ENOTCONN || tries == OPEN_TRIES)
			return status;
		err_forget(err, status, ENOTCONN);
		usleep(OPEN_PAUSE_US);
	}
}

int swarm_open(struct swarm *s, bool is_new, struct err *err)
{
	const char *warning = NULL;
	int status;

	*s = (struct swarm){ 0 };
	if (swarm_settings.run && !swarm_name_is_valid(swarm_settings.run)) {
		err_set(err, EINVAL,
			"--run %s: a name has letters, digits, dots, _ and -, at most %d",
			swarm_settings.run, RUN_NAME_MAX);
		return EXIT_USAGE;
	}
	if (redis_url_choose(&s->url_text, swarm_settings.redis, swarm_settings.redis_file, err) ||
	    redis_url_parse(&s->url, buf_str(&s->url_text), err))
		return EXIT_USAGE;
	if (swarm_settings.run)
		strcpy(s->name, swarm_settings.run);
	else if (is_new)
		snprintf(s->name, sizeof(s->name), "run-%08" PRIx64, rng_fresh_seed() >> 32);
	status = swarm_open_run(s, is_new, &warning, err);
	if (warning && is_new)
		fprintf(stderr, "assay swarm: %s\n", warning);
	return status ? EXIT_UNKNOWN : EXIT_CLEAN;
}
