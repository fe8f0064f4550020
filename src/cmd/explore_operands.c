/* explore_operands.c -- operands of `assay explore` that mean more than a value. */
#include "cmd/explore_operands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/must.h"
#include "target/learn.h"

/* Where calls are drawn: of each sort of failure, and of looking for leaks, which takes as long as
 * a hundred other calls. */
enum { FAULT_WEIGHT = 100, LEAK_WEIGHT = 5 };

int explore_read_verify(const char *text, unsigned *ret, struct err *err)
{
	static const char prefix[] = "touched+";
	unsigned long every;
	char *end;

	if (!strcmp(text, "full")) {
		*ret = 1;
		return 0;
	}
	if (!strncmp(text, prefix, sizeof(prefix) - 1)) {
		every = strtoul(text + sizeof(prefix) - 1, &end, 10);
		if (!*end && every > 0 && every <= UINT_MAX) {
			*ret = (unsigned)every;
			return 0;
		}
	}
	return err_set(err, EINVAL, "--verify: expected full or touched+N, found %s", text);
}

int explore_read_coverage(const struct opt_list *files, struct cover *before, struct err *err)
{
	json_t *coverage;

	for (size_t i = 0; i < files->count; i++) {
		coverage = cover_load(files->items[i], err);
		if (!coverage)
			return -EINVAL;
		cover_add_json(before, coverage);
		json_decref(coverage);
	}
	return 0;
}

int explore_check_resume(const char *resume, const char *out, bool one_target, struct err *err)
{
	if (!resume)
		return 0;
	if (out)
		return err_set(err, EINVAL, "either --out or --resume");
	if (!one_target)
		return err_set(err, EINVAL, "--resume continues the search of one target only");
	return run_dir_check(resume, err);
}

size_t explore_add_operations(const char **overrides, const struct opt_list *faults, bool leaks,
			      struct arena *arena)
{
	size_t count = 0;
	char row[64];

	for (; count < faults->count; count++) {
		snprintf(row, sizeof(row), "ops.fail_%s=%d", faults->items[count], FAULT_WEIGHT);
		overrides[count] = arena_strdup(arena, row);
	}
	if (leaks) {
		snprintf(row, sizeof(row), "ops.seek_leaks=%d", LEAK_WEIGHT);
		overrides[count++] = arena_strdup(arena, row);
	}
	return count;
}

void explore_variants_find(struct explore_variants *v, const struct target *t)
{
	const struct buf *names = &v->names;

	target_variants(t, &v->names);
	for (size_t at = 0; at < names->len && v->count < PORTFOLIO_VARIANTS;
	     at += strlen(names->data + at) + 1)
		v->list[v->count++] = names->data + at;
}

void explore_targets_close(struct explore_targets *t)
{
	for (size_t i = 0; i < t->count; i++)
		target_close(t->list[i]);
	free(t->list);
}

int explore_targets_open(struct explore_targets *t, const char *first,
			 const struct opt_list *against, const struct target_options *with,
			 bool learn, struct err *err)
{
	struct target_options options = *with;
	unsigned fields = ~0u;
	size_t all = against->count + 1;
	int status = 0;

	t->list = must_alloc(all * sizeof(*t->list));
	for (size_t i = 0; i < all && !status; i++) {
		const char *name = i ? against->items[i - 1] : first;

		status = learn ? learn_open(&t->list[i], name, &options, err)
			       : target_open(&t->list[i], name, &options, err);
		t->count += !status;
		if (!status)
			fields &= t->list[i]->fields;
	}
	options.fields_off = ~fields;
	for (size_t i = 0; i < all && !status; i++) {
		struct target *before = t->list[i];

		if (before->fields == fields)
			continue;
		options.learned = before->learned;
		status = target_open(&t->list[i], before->name, &options, err);
		if (status)
			t->list[i] = before;
		else
			target_close(before);
	}
	return status;
}
