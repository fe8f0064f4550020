/* describe.c -- what a suite covers, family by family, for people. */
#include <stdlib.h>

#include "base/buf.h"
#include "suite/family.h"

static void describe_impossible(const struct family *family, const struct proof *proof,
				struct buf *out)
{
	for (unsigned i = 0; i < family->impossible_count; i++)
		if (proof->by_rule[i])
			buf_addf(out, "%14s impossible: %llu, %s: %s\n", "",
				 (unsigned long long)proof->by_rule[i], family->impossible[i].name,
				 family->impossible[i].reason);
	if (proof->by_several)
		buf_addf(out, "%14s impossible: %llu, by several rules together\n", "",
			 (unsigned long long)proof->by_several);
}

static void describe_properties(const struct family *family, struct buf *out)
{
	buf_addf(out, "%14s ", "");
	for (unsigned i = 0; i < family->property_count; i++)
		buf_addf(out, "%s%s (%u)", i ? " x " : "", family->properties[i]->name,
			 family->properties[i]->count);
	if (family->strength < family->property_count)
		buf_addf(out, ", any %u together", family->strength);
	buf_addch(out, '\n');
}

bool family_describe(const struct family *family, struct buf *out)
{
	struct proof proof;
	size_t count;
	struct combination *combinations = family_combine(family, &count);

	family_prove(family, combinations, count, &proof);
	free(combinations);
	buf_addf(out, "%-14s %s\n", family->name, family->summary);
	describe_properties(family, out);
	buf_addf(out, "%14s %zu scripts for %llu choices of values, %llu missing\n", "", count,
		 (unsigned long long)proof.choices, (unsigned long long)proof.missing);
	describe_impossible(family, &proof, out);
	return !proof.missing;
}
