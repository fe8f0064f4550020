/* finding.c -- the life of a finding in memory, and reading one back from its folder. */
#include "finding/finding.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "judge/group.h"

void finding_init(struct finding *f)
{
	*f = (struct finding){ .arena = ARENA_INIT };
	discrepancy_init(&f->discrepancy);
}

void finding_free(struct finding *f)
{
	discrepancy_free(&f->discrepancy);
	buf_free(&f->target);
	buf_free(&f->seen_on);
	buf_free(&f->upstream);
	buf_free(&f->notes);
	arena_free(&f->arena);
	finding_init(f);
}

void finding_reserve(struct finding *f, size_t count)
{
	f->calls = arena_alloc(&f->arena, (count + 1) * sizeof(*f->calls));
	f->outcomes = arena_alloc(&f->arena, (count + 1) * sizeof(*f->outcomes));
	f->evidence = arena_alloc(&f->arena, (count + 1) * sizeof(*f->evidence));
}

const struct outcome *finding_observed(const struct finding *f, size_t i)
{
	return f->evidence && f->evidence[i] == EVIDENCE_OBSERVED ? &f->outcomes[i] : NULL;
}

bool finding_is_confirmed(const struct finding *f)
{
	return f->shown || f->discrepancy.in_log;
}

bool finding_is_by_crash(const struct finding *f)
{
	return problem_table[problem_of_signature(f->discrepancy.signature)].by_crash;
}

bool finding_is_by_damage(const struct finding *f)
{
	return problem_table[f->discrepancy.code].by_damage;
}

void finding_group(const struct finding *f, char ret[SIGNATURE_MAX])
{
	if (f->discrepancy.code == PROBLEM_HANG && !finding_is_confirmed(f))
		strcpy(ret, problem_table[PROBLEM_HANG].name);
	else
		group_of(&f->discrepancy, ret);
}

void finding_take_remarks(struct finding *f, const struct finding *from)
{
	buf_clear(&f->seen_on);
	buf_clear(&f->upstream);
	buf_adds(&f->seen_on, buf_str(&from->seen_on));
	buf_adds(&f->upstream, buf_str(&from->upstream));
}
