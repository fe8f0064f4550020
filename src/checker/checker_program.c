/* checker_program.c -- checkers in a few lines of INI. */
#include "checker/checker_program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/described.h"
#include "settings/ini.h"
#include "settings/opt.h"
#include "storage/program.h"

enum { EXIT_CODE_MAX = 255, SECONDS_USUAL = 10, SECONDS_MAX = 3600 };
#define MEMORY_USUAL (UINT64_C(1) << 30)
/* Later than what any disk was made at, so that none is from the future: May 2033. */
#define NOW_USUAL UINT64_C(2000000000)

const char *const checker_answer_names[ANSWERS] = { "clean", "repaired", "left", "failed",
						    "unknown" };

static const char repair_prefix[] = "repair.";
static const char check_prefix[] = "check.";

static const struct described_text shipped[] = {
#define EMBEDDED(name, text) { name, text },
#include "gen/embedded_checkers.h"
#undef EMBEDDED
};

static const struct described_kind described_checkers = {
	.prefix = "checker.",
	.folder = "checkers",
	.shipped = shipped,
	.shipped_count = ARRAY_LEN(shipped),
};

#define ROW(key, type, what, min, max) \
	{ \
#key, type, offsetof(struct checker_program, key), "", what, min, max \
	}

static const struct opt keys[] = {
	ROW(summary, OPT_TEXT, "what it is, in a few words", 0, 0),
	ROW(packages, OPT_TEXT, "Debian packages it needs", 0, 0),
	ROW(file_system, OPT_TEXT, "which kernel:FS mounts its disks", 0, 0),
	ROW(fields, OPT_TEXT, "STRUCTURE.FIELD OFFSET SIZE [ROLE [LABEL]] in each line", 0, 0),
	ROW(own_tests, OPT_TEXT, "command by which its own tests run it, with {image}", 0, 0),
	ROW(mkfs, OPT_TEXT, "command that makes a disk, with {image}", 0, 0),
	ROW(disk_size, OPT_U64, "size of that disk", 4096, UINT64_C(1) << 40),
	ROW(content, OPT_TEXT, "calls besides the usual ones that fill it: deep", 0, 0),
	ROW(crash, OPT_TEXT, "calls that it is crashed after, not unmounted: dirty", 0, 0),
	ROW(disks, OPT_TEXT, "names of checkers whose disks are for this one, too", 0, 0),
	ROW(partial, OPT_TEXT, "names of ways to repair that read a part of the disk only", 0, 0),
	ROW(input, OPT_TEXT, "line that it reads from stdin, again and again", 0, 0),
	ROW(seconds, OPT_DOUBLE, "CPU time after which a run hangs", 0, SECONDS_MAX),
	ROW(memory, OPT_U64, "bytes of memory that a run can have", 1 << 20, UINT64_C(1) << 40),
	ROW(now, OPT_U64, "the time it is for it", 0, INT64_MAX),
	OPT_END,
};

/* One item of "0 4-7", and what follows it; false where it is none. */
static bool codes_take(const char **at, long *ret_first, long *ret_last)
{
	char *end;

	*ret_first = *ret_last = strtol(*at, &end, 10);
	if (end == *at)
		return false;
	*at = end;
	if (*end == '-') {
		*ret_last = strtol(end + 1, &end, 10);
		if (end == *at + 1)
			return false;
		*at = end;
	}
	*at += strspn(*at, " ");
	return *ret_first >= 0 && *ret_first <= *ret_last && *ret_last <= EXIT_CODE_MAX;
}

static bool codes_have(const char *codes, int code)
{
	long first, last;

	while (codes && *codes && codes_take(&codes, &first, &last))
		if (first <= code && code <= last)
			return true;
	return false;
}

/* Whether the key is an answer, and then its codes. */
static int program_set_codes(struct checker_program *p, const char **codes, const char *key,
			     const char *value, bool *ret_done, struct err *err)
{
	const char *at = value;
	long first, last;

	*ret_done = false;
	for (size_t i = 0; i < ANSWER_UNKNOWN; i++)
		if (!strcmp(key, checker_answer_names[i])) {
			codes[i] = arena_strdup(&p->arena, value);
			*ret_done = true;
		}
	while (*ret_done && *at)
		if (!codes_take(&at, &first, &last))
			return err_set(err, EINVAL, "%s = %s: these are no exit codes", key, value);
	return 0;
}

static int program_set_command(struct checker_program *p, struct checker_mode *m, const char *name,
			       const char *command, struct err *err)
{
	if (!strstr(command, "{image}"))
		return err_set(err, EINVAL, "%s has no {image}", command);
	m->name = arena_strdup(&p->arena, name);
	m->command = arena_strdup(&p->arena, command);
	return 0;
}

static int program_set_mode(struct checker_program *p, const char *name, const char *command,
			    struct err *err)
{
	size_t i;

	for (i = 0; i < p->mode_count && strcmp(p->modes[i].name, name); i++)
		;
	if (i == CHECKER_MODES_MAX)
		return err_set(err, EINVAL, "more than %d ways to repair", CHECKER_MODES_MAX);
	p->mode_count += i == p->mode_count;
	return program_set_command(p, &p->modes[i], name, command, err);
}

static int program_set_row(void *own, const struct ini_row *row, bool is_shipped, struct err *err)
{
	struct checker_program *p = own;
	const size_t repair_len = sizeof(repair_prefix) - 1, check_len = sizeof(check_prefix) - 1;
	bool done;
	int ret;

	if (!strncmp(row->key, repair_prefix, repair_len))
		return program_set_mode(p, row->key + repair_len, row->value, err);
	if (!strcmp(row->key, "repair"))
		return program_set_mode(p, row->key, row->value, err);
	if (!strcmp(row->key, "check"))
		return program_set_command(p, &p->check, "check", row->value, err);
	if (!strcmp(row->key, "list"))
		return program_set_command(p, &p->list, "list", row->value, err);
	if (!strncmp(row->key, check_prefix, check_len))
		ret = program_set_codes(p, p->check_codes, row->key + check_len, row->value, &done,
					err);
	else
		ret = program_set_codes(p, p->codes, row->key, row->value, &done, err);
	if (ret || done)
		return ret;
	return opt_set(keys, p, row->key, arena_strdup(&p->arena, row->value), err);
}

static int program_unknown(const struct described *all, const char *name, struct err *err)
{
	struct buf names = BUF_INIT, list = BUF_INIT;
	struct nearest n = NEAREST_TO(name);
	int ret;

	described_names(all, &names);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		buf_addf(&list, "%s%s", list.len ? ", " : "", names.data + at);
		nearest_offer(&n, names.data + at);
	}
	ret = err_set(err, ENOENT, "%s: no such checker; there are: %s", name, buf_str(&list));
	err_suggest(err, &n);
	buf_free(&names);
	buf_free(&list);
	return ret;
}

static int program_complete(const struct checker_program *p, struct err *err)
{
	const char *missing = !p->mode_count && !p->check.command ? "repair, nor check"
			    : !p->mkfs                            ? "mkfs"
			    : !p->disk_size                       ? "disk_size"
			    : !p->codes[ANSWER_CLEAN]             ? "clean"
								  : NULL;

	return missing ? err_set(err, EINVAL, "the checker %s is described without %s", p->name,
				 missing)
		       : 0;
}

int checker_program_find(struct checker_program *ret, const char *name, const char *config,
			 struct err *err)
{
	struct checker_program p = {
		.arena = ARENA_INIT,
		.seconds = SECONDS_USUAL,
		.memory = MEMORY_USUAL,
		.now = NOW_USUAL,
	};
	struct described *all;
	char path[PATH_MAX];
	int r = described_read(&all, &described_checkers, config, err);

	if (r)
		return r;
	p.name = arena_strdup(&p.arena, name);
	if (config && realpath(config, path))
		p.config = arena_strdup(&p.arena, path);
	r = described_has(all, name) ? described_apply(all, name, program_set_row, &p, err)
				     : program_unknown(all, name, err);
	if (!r)
		r = program_complete(&p, err);
	if (!r && p.file_system && !*p.file_system)
		p.file_system = NULL;
	described_free(all);
	if (r)
		checker_program_free(&p);
	else
		*ret = p;
	return r;
}

void checker_program_free(struct checker_program *p)
{
	arena_free(&p->arena);
}

static const char *program_keep(struct checker_program *p, const char *text)
{
	return text ? arena_strdup(&p->arena, text) : NULL;
}

int checker_program_take_disk(struct checker_program *p, const char *name, const char *config,
			      struct err *err)
{
	struct checker_program other;
	int r = checker_program_find(&other, name, config, err);

	if (r)
		return r;
	p->file_system = program_keep(p, other.file_system);
	p->mkfs = program_keep(p, other.mkfs);
	p->content = program_keep(p, other.content);
	p->crash = program_keep(p, other.crash);
	p->disk_size = other.disk_size;
	checker_program_free(&other);
	return 0;
}

int checker_program_names(const char *config, struct buf *ret_names_nul, struct err *err)
{
	struct described *all;
	int ret = described_read(&all, &described_checkers, config, err);

	if (ret)
		return ret;
	described_names(all, ret_names_nul);
	described_free(all);
	return 0;
}

/* Behind "env A=B", which sets what the program sees. */
static const char *program_of(const char *command)
{
	static const char env[] = "env ";
	size_t len;

	if (!command || strncmp(command, env, sizeof(env) - 1))
		return command;
	for (command += sizeof(env) - 1; *command; command += len + strspn(command + len, " ")) {
		len = strcspn(command, " ");
		if (!memchr(command, '=', len))
			break;
	}
	return command;
}

void checker_program_lacking(const struct checker_program *p, struct buf *out)
{
	program_lacking(program_of(p->mkfs), p->packages, out);
	program_lacking(program_of(p->check.command), p->packages, out);
	program_lacking(program_of(p->list.command), p->packages, out);
	for (size_t i = 0; i < p->mode_count; i++)
		program_lacking(program_of(p->modes[i].command), p->packages, out);
}

const struct checker_mode *checker_program_mode(const struct checker_program *p, int mode)
{
	must(mode >= CHECKER_LIST && mode < (int)p->mode_count);
	return mode == CHECKER_CHECK ? &p->check
	     : mode == CHECKER_LIST  ? &p->list
				     : &p->modes[mode];
}

/* The first answer from this one on that has the code. */
static enum checker_answer answer_from(const char *const *codes, size_t from, int exit_code)
{
	for (size_t i = from; i < ANSWER_UNKNOWN; i++)
		if (codes_have(codes[i], exit_code))
			return (enum checker_answer)i;
	return ANSWER_UNKNOWN;
}

enum checker_answer checker_program_answer(const struct checker_program *p, int mode, int exit_code,
					   bool changed)
{
	const char *const *codes = p->codes;
	enum checker_answer answer, other;

	for (size_t i = 0; i < ANSWERS && mode == CHECKER_CHECK; i++)
		if (p->check_codes[i])
			codes = p->check_codes;
	answer = answer_from(codes, 0, exit_code);
	if (answer != ANSWER_REPAIRED || changed)
		return answer;
	other = answer_from(codes, answer + 1, exit_code);
	return other == ANSWER_UNKNOWN ? answer : other;
}

bool checker_program_has_code(const struct checker_program *p, enum checker_answer answer,
			      int exit_code)
{
	return codes_have(p->codes[answer], exit_code);
}

bool checker_program_is_partial(const struct checker_program *p, int mode)
{
	const char *name = checker_program_mode(p, mode)->name;
	size_t len;

	for (const char *at = p->partial ? p->partial : ""; *at; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		if (name && len == strlen(name) && !strncmp(at, name, len))
			return true;
	}
	return false;
}
