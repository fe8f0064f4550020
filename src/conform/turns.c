/* turns.c -- the order in which races are searched: one of each family in turn. */
#include "conform/turns.h"

#include <stdlib.h>

#include "base/must.h"
#include "suite/suite.h"

/* The scripts of one family, as the suite has them. */
struct family_turn {
	const struct family *family; /* NULL: from files */
	size_t *scripts, count, step;
};

static size_t divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Steps of the golden section reach every script once and stay apart from those before. */
static size_t turn_step(size_t count)
{
	size_t step = count * 618 / 1000;

	while (step > 1 && divisor(count, step) != 1)
		step--;
	return step ? step : 1;
}

static struct family_turn *turn_of(struct family_turn *turns, size_t *count,
				   const struct family *family)
{
	for (size_t i = 0; i < *count; i++)
		if (turns[i].family == family)
			return &turns[i];
	turns[*count].family = family;
	return &turns[(*count)++];
}

size_t *turns_order(const struct suite *s)
{
	struct family_turn *turns = must_alloc((s->families.count + 1) * sizeof(*turns));
	size_t *order = must_alloc((s->count + 1) * sizeof(*order)), count = 0, done = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct family_turn *t = turn_of(turns, &count, s->scripts[i].family);

		if (!t->scripts)
			t->scripts = must_alloc(s->count * sizeof(*t->scripts));
		t->scripts[t->count++] = i;
	}
	for (size_t i = 0; i < count; i++)
		turns[i].step = turn_step(turns[i].count);
	for (size_t round = 0; done < s->count; round++)
		for (size_t i = 0; i < count; i++)
			if (round < turns[i].count)
				order[done++] =
					turns[i].scripts[round * turns[i].step % turns[i].count];
	for (size_t i = 0; i < count; i++)
		free(turns[i].scripts);
	free(turns);
	return order;
}
