/* swarm_search.c -- a run of a swarm that is one search: what each worker does. */
#include "workers/swarm_search.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "swarm/share_redis.h"
#include "workers/explore_jobs.h"
#include "workers/swarm_command.h"

/* In the process of a worker. */
static struct swarm_worker *here;

static struct share *join_search(void *to, unsigned channel)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", channel);
	return share_redis_open(here, name);
}

static void say_progress(void *to, const struct explore_figures *f, struct run *run)
{
	atomic_store(&here->page->calls, f->calls);
	atomic_store(&here->page->transitions, f->transitions);
}

static bool has_option(const json_t *args, const char *name)
{
	size_t i, len = strlen(name);
	const json_t *arg;

	json_array_foreach(args, i, arg)
	{
		const char *text = json_string_value(arg);

		if (text && !strncmp(text, name, len) && (!text[len] || text[len] == '='))
			return true;
	}
	return false;
}

/* Its workers share nothing but what they find. */
static bool is_diverse(const json_t *about)
{
	return json_is_true(json_object_get(about, "diverse"));
}

/* Without --strategy, each worker of a diverse run has another one that suits the target. */
static const char *diverse_strategy(const char *target, uint64_t worker)
{
	static const char *const walks[] = { "tour", "random" };
	static const char *const all[] = { "tour", "dfs", "random", "best", "bfs" };

	if (!strncmp(target, "reffs", 5) || !strncmp(target, "kernel:", 7))
		return all[worker % ARRAY_LEN(all)];
	return walks[worker % ARRAY_LEN(walks)];
}

/* The command line of the run, and what is this worker's own. */
static int search_argv(const char **argv, const json_t *about, const char *dir, char seed[32])
{
	const json_t *args = json_object_get(about, "args");
	uint64_t number = here->page->number,
		 first = (uint64_t)json_integer_value(json_object_get(about, "seed"));
	int argc = 0;

	for (size_t i = 0; i < json_array_size(args) && argc < SWARM_ARGS_MAX; i++)
		argv[argc++] = json_string_value(json_array_get(args, i));
	if (is_diverse(about) && !has_option(args, "--strategy")) {
		argv[argc++] = "--strategy";
		argv[argc++] = diverse_strategy(json_string_value(json_array_get(args, 1)), number);
		if (strcmp(argv[argc - 1], "tour") != 0 && strcmp(argv[argc - 1], "random") != 0)
			argv[argc++] = "--bitstate";
	}
	snprintf(seed, 32, "%" PRIu64, first + number);
	argv[argc++] = "--seed";
	argv[argc++] = seed;
	argv[argc++] = "--jobs";
	argv[argc++] = "1";
	argv[argc++] = "--json";
	argv[argc++] = "--out";
	argv[argc++] = dir;
	argv[argc] = NULL;
	return argc;
}

int swarm_search_work(struct swarm_worker *w, const struct command *c, const json_t *about,
		      const char *dir, bool *ret_done, struct err *err)
{
	const char *argv[SWARM_ARGS_MAX + 16];
	char seed[32], known[PATH_MAX];
	int argc, code;

	here = w;
	argc = search_argv(argv, about, dir, seed);
	if (swarm_add_known(about, dir, known, argv, &argc, err))
		return EXIT_UNKNOWN;
	explore_part.shared = (struct share_source){ is_diverse(about) ? NULL : join_search, NULL };
	explore_part.progress = say_progress;
	if (opt_parse(c->opts, c->settings, &argc, (char **)argv, err))
		return EXIT_USAGE;
	code = c->run(argc, (char **)argv, err);
	*ret_done = w->searches && w->searches == w->searches_done;
	return code;
}
