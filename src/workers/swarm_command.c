/* swarm_command.c -- which commands a swarm can work on, and what of their options is its own. */
#include "workers/swarm_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/must.h"
#include "cli/operands.h"
#include "cli/parts.h"
#include "cli/table.h"
#include "target/target.h"

extern const struct command command_explore;

/* Workers of a search share its states; other commands are divided in parts. */
static const struct command *command_of_swarm(const char *name)
{
	const struct command *c = name ? command_find(name) : NULL;

	return c && (c->parts || c == &command_explore) ? c : NULL;
}

const struct command *swarm_command(const json_t *args)
{
	return command_of_swarm(json_string_value(json_array_get(args, 0)));
}

unsigned swarm_part_count(const json_t *about)
{
	json_int_t parts = json_integer_value(json_object_get(about, "parts"));

	return parts < 1 || parts > PARTS_MAX ? 0 : (unsigned)parts;
}

int swarm_add_known(const json_t *about, const char *dir, char path[PATH_MAX], const char **argv,
		    int *argc, struct err *err)
{
	const char *known = json_text(about, "known");
	struct buf text = BUF_INIT;
	int status;

	if (!*known)
		return 0;
	snprintf(path, PATH_MAX, "%.4000s/known", dir);
	buf_adds(&text, known);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	argv[(*argc)++] = "--known";
	argv[(*argc)++] = path;
	argv[*argc] = NULL;
	return status;
}

int swarm_command_parse(const struct command *c, const json_t *args, bool json, struct err *err)
{
	const char *argv[SWARM_ARGS_MAX + 2];
	int argc = 0;

	for (size_t i = 0; i < json_array_size(args) && argc < SWARM_ARGS_MAX; i++)
		argv[argc++] = json_string_value(json_array_get(args, i));
	if (json)
		argv[argc++] = "--json";
	argv[argc] = NULL;
	return opt_parse(c->opts, c->settings, &argc, (char **)argv, err);
}

/* What a swarm sets itself, or what is of one machine only. */
static const char *const not_here[] = { "--out",  "--resume", "--all",         "--jobs",
					"--json", "--known",  "--write-known", NULL };
static const char *const not_of_parts[] = { "--part", NULL };
/* Each worker of a search has its own. */
static const char *const not_in_search[] = { "--seed", NULL };

static int refuse_options(int argc, char **argv, const char *const *refused, struct err *err)
{
	for (int i = 2; i < argc; i++)
		for (size_t k = 0; refused[k]; k++)
			if (!strncmp(argv[i], refused[k], strlen(refused[k])))
				return err_set(err, EINVAL,
					       "%s cannot be an option of the command of a swarm",
					       argv[i]);
	return 0;
}

static int check_args(int argc, char **argv, bool diverse, uint64_t parts, struct err *err)
{
	const struct command *c = argc > 0 ? command_of_swarm(argv[0]) : NULL;
	int status;

	if (!c || argc < 2 || argv[1][0] == '-')
		return err_set(err, EINVAL,
			       "expected -- explore|crash|conform|fsck TARGET [OPTIONS]");
	if (diverse && c->parts)
		return err_set(err, EINVAL, "--diverse is for explore");
	if (argc > SWARM_ARGS_MAX - 8)
		return err_set(err, E2BIG, "too many arguments");
	status = refuse_options(argc, argv, not_here, err);
	if (!status)
		status = refuse_options(argc, argv, c->parts ? c->parts->whole_only : not_in_search,
					err);
	if (!status && parts > 1)
		status = refuse_options(argc, argv, not_of_parts, err);
	if (!status && target_is_single(argv[1], NULL))
		status = err_set(err, EINVAL, "%s is a directory or device of this machine",
				 argv[1]);
	return status;
}

/* The same checks as the command itself makes. An exit code. */
static int check_operand(const struct command *c, int argc, char **argv, struct err *err)
{
	if (opt_parse(c->opts, c->settings, &argc, argv, err))
		return EXIT_USAGE;
	if (argc != 2) {
		err_set(err, EINVAL, "one target at a time");
		return EXIT_USAGE;
	}
	return c->parts ? c->parts->check(argv[1], err) : operand_target(argv[1], NULL, err);
}

/* In a separate process, so that the settings of the command stay there. */
static int check_command(int argc, char **argv, struct err *err)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		const char *copy[SWARM_ARGS_MAX + 1];
		struct err why = { 0 };

		for (int i = 0; i <= argc; i++)
			copy[i] = argv[i];
		status = check_operand(command_of_swarm(argv[0]), argc, (char **)copy, &why);
		if (status)
			fprintf(stderr, "assay swarm: %s\n", why.text);
		fflush(NULL);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return err_sys(err, errno, "cannot check the command");
	if (status)
		return err_set(err, EINVAL, "the command of the run is wrong");
	return 0;
}

int swarm_command_check(int argc, char **argv, bool diverse, uint64_t parts, struct err *err)
{
	int status = check_args(argc, argv, diverse, parts, err);

	return status ? status : check_command(argc, argv, err);
}
