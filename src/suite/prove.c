/* prove.c -- that every possible choice of values is in a script.
 *
 * Nothing is taken from how the combinations were made: each choice of values is either found
 * among them or shown to be impossible, by one rule, or because every way to complete it is
 * forbidden. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "suite/family.h"

struct prover {
	const struct family *family;
	const struct combination *combinations;
	size_t count;
	struct proof *proof;
};

/* Is there a combination with these values that no rule forbids? */
static bool can_be(const struct family *family, struct combination *c, unsigned known)
{
	unsigned i = 0;

	if (family_forbids(family, c, known))
		return false;
	while (i < family->property_count && known >> i & 1)
		i++;
	if (i == family->property_count)
		return true;
	for (unsigned v = 0; v < family->properties[i]->count; v++) {
		c->value[i] = (uint8_t)v;
		if (can_be(family, c, known | 1u << i))
			return true;
	}
	return false;
}

static size_t combination_position(const struct family *family, unsigned which,
				   const struct combination *c)
{
	size_t at = 0;

	for (unsigned i = 0; i < family->property_count; i++)
		if (which >> i & 1)
			at = at * family->properties[i]->count + c->value[i];
	return at;
}

/* A choice that no combination has. */
static void prove_impossible(struct prover *p, unsigned which, const struct combination *c)
{
	const struct impossible *rule = family_forbids(p->family, c, which);
	struct combination trial = *c;

	if (rule) {
		p->proof->impossible++;
		p->proof->by_rule[rule - p->family->impossible]++;
	} else if (!can_be(p->family, &trial, which)) {
		p->proof->impossible++;
		p->proof->by_several++;
	} else {
		p->proof->missing++;
	}
}

/* All values of the properties in `which`, from property i on. */
static void prove_combinations(struct prover *p, unsigned which, unsigned i, struct combination *c,
			       const bool *found)
{
	if (i == p->family->property_count) {
		p->proof->choices++;
		if (found[combination_position(p->family, which, c)])
			p->proof->covered++;
		else
			prove_impossible(p, which, c);
		return;
	}
	if (!(which >> i & 1)) {
		prove_combinations(p, which, i + 1, c, found);
		return;
	}
	for (unsigned v = 0; v < p->family->properties[i]->count; v++) {
		c->value[i] = (uint8_t)v;
		prove_combinations(p, which, i + 1, c, found);
	}
}

static void prove_choice(struct prover *p, unsigned which)
{
	struct combination last = { 0 };
	bool *found;

	for (unsigned i = 0; i < p->family->property_count; i++)
		if (which >> i & 1)
			last.value[i] = (uint8_t)(p->family->properties[i]->count - 1);
	found = must_alloc(combination_position(p->family, which, &last) + 1);
	for (size_t k = 0; k < p->count; k++)
		found[combination_position(p->family, which, &p->combinations[k])] = true;
	prove_combinations(p, which, 0, &(struct combination){ 0 }, found);
	free(found);
}

void family_prove(const struct family *family, const struct combination *combinations, size_t count,
		  struct proof *ret)
{
	struct prover p = { family, combinations, count, ret };

	memset(ret, 0, sizeof(*ret));
	must(family->impossible_count <= ARRAY_LEN(ret->by_rule));
	for (unsigned which = 0; which < 1u << family->property_count; which++)
		if ((unsigned)__builtin_popcount(which) == family->strength)
			prove_choice(&p, which);
}
