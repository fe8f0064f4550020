/* discrepancy.c -- a discrepancy in words that others share. */
#include "judge/discrepancy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/must.h"
#include "trace/script.h"

void discrepancy_init(struct discrepancy *d)
{
	*d = (struct discrepancy){ .arena = ARENA_INIT };
}

void discrepancy_free(struct discrepancy *d)
{
	buf_free(&d->title);
	buf_free(&d->expected);
	buf_free(&d->seen);
	buf_free(&d->diff);
	buf_free(&d->rule);
	buf_free(&d->heading);
	buf_free(&d->detail);
	buf_free(&d->said);
	buf_free(&d->ended);
	buf_free(&d->output);
	arena_free(&d->arena);
	discrepancy_init(d);
}

bool stat_differs(int64_t expected, int64_t seen)
{
	return expected != seen && expected != STAT_UNKNOWN && seen != STAT_UNKNOWN;
}

/* What is compared of stat. */
struct stat_field {
	const char *name;
	bool octal;
	int64_t seen, allowed;
};
enum { STAT_FIELDS = 6 };

static void stat_fields(const struct stat_result *allowed, const struct stat_result *seen,
			struct stat_field ret[STAT_FIELDS])
{
	const struct stat_field fields[STAT_FIELDS] = {
		{ "type", true, seen->mode & S_IFMT, allowed->mode & S_IFMT },
		{ "mode", true, seen->mode & ~S_IFMT, allowed->mode & ~S_IFMT },
		{ "nlink", false, seen->nlink, allowed->nlink },
		{ "uid", false, seen->uid, allowed->uid },
		{ "gid", false, seen->gid, allowed->gid },
		{ "size", false, seen->size, allowed->size },
	};

	memcpy(ret, fields, sizeof(fields));
}

/* Fields of stat that are wrong; those that are unknown on one side are not. */
static void discrepancy_print_stat(const struct discrepancy *d, struct buf *out)
{
	struct stat_field fields[STAT_FIELDS];
	const char *before = "wrong ";

	stat_fields(&d->value.stat, &d->answer.stat, fields);
	for (size_t i = 0; i < STAT_FIELDS; i++) {
		if (!stat_differs(fields[i].allowed, fields[i].seen))
			continue;
		buf_addf(out, "%s%s", before, fields[i].name);
		before = ", ";
	}
}

static void stat_print_field(const struct stat_field *f, const char *before, int64_t value,
			     struct buf *out)
{
	buf_addf(out, "%s%s=", before, f->name);
	if (f->octal)
		buf_addf(out, "%04llo", (unsigned long long)value);
	else
		buf_addf(out, "%lld", (long long)value);
}

bool stat_print_difference(const struct stat_result *allowed, const struct stat_result *seen,
			   struct buf *ret_allowed, struct buf *ret_seen)
{
	struct stat_field fields[STAT_FIELDS];
	const char *before = "";

	stat_fields(allowed, seen, fields);
	if (fields[0].allowed != fields[0].seen)
		return false;
	for (size_t i = 1; i < STAT_FIELDS; i++) {
		const struct stat_field *f = &fields[i];

		if (!stat_differs(f->allowed, f->seen))
			continue;
		stat_print_field(f, before, f->allowed, ret_allowed);
		stat_print_field(f, before, f->seen, ret_seen);
		before = " ";
	}
	return *before;
}

static void discrepancy_print_answer(const struct discrepancy *d, struct buf *out)
{
	size_t start = out->len;

	if (d->answer.error)
		buf_adds(out, errno_name(d->answer.error));
	else if (d->success_allowed && d->answer.result == RESULT_STAT)
		discrepancy_print_stat(d, out);
	else if (!d->success_allowed)
		buf_adds(out, "success");
	if (out->len == start)
		buf_adds(out, "wrong value");
}

void discrepancy_print_seen(const struct discrepancy *d, struct buf *out)
{
	static const char *const fates[PROBLEMS] = {
		[PROBLEM_HANG] = "does not return",
		[PROBLEM_KERNEL] = "the kernel reports an error",
		[PROBLEM_LEAK] = "the kernel reports a leak",
		[PROBLEM_DEATH] = "the file system is gone",
	};

	if (d->code == PROBLEM_OUTCOME)
		discrepancy_print_answer(d, out);
	else if (fates[d->code])
		buf_adds(out, fates[d->code]);
	else
		facts_print(d->facts, d->fact_count, out);
}

/* ENOSPC and EDQUOT are allowed for nearly every call on a target whose space may end. */
static bool discrepancy_is_about_space(const struct discrepancy *d, int error)
{
	if (error != ENOSPC && error != EDQUOT)
		return false;
	for (unsigned i = 0; i < d->rule_count; i++)
		if (rule_table[d->rules[i]].error == error &&
		    (d->rules[i] == RULE_space_ended || d->rules[i] == RULE_quota_ended))
			return true;
	return false;
}

void discrepancy_print_allowed(const struct discrepancy *d, struct buf *out)
{
	size_t start = out->len;

	if (d->code != PROBLEM_OUTCOME) {
		buf_adds(out, d->facts ? "the tree of the model" : "a return");
		return;
	}
	if (d->success_allowed)
		buf_adds(out, "success");
	for (int error = 1; error < 192; error++) {
		if (!errset_has(&d->allowed, error) || discrepancy_is_about_space(d, error))
			continue;
		if (out->len > start)
			buf_adds(out, " or ");
		buf_adds(out, errno_name(error));
	}
}

const char *discrepancy_rule(const struct discrepancy *d)
{
	return d->rule_count && d->rules[0] != RULE_space_ended ? rule_table[d->rules[0]].name : "";
}
