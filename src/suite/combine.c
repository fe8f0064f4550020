/* combine.c -- which combinations of a family become scripts.
 *
 * All of them, or, with a strength t below the number of properties, few in which every possible
 * choice of t values meets: each is begun with a choice that no other has and completed, property
 * by property, with the value that brings the most choices not yet met. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "suite/family.h"

static bool term_holds(const struct term *t, const struct combination *c, unsigned known)
{
	if (!(known >> t->property & 1))
		return false;
	if (t->than < 0)
		return t->values >> c->value[t->property] & 1;
	return known >> t->than & 1 && c->value[t->property] > c->value[t->than];
}

const struct impossible *family_forbids(const struct family *family, const struct combination *c,
					unsigned known)
{
	for (unsigned i = 0; i < family->impossible_count; i++) {
		const struct impossible *rule = &family->impossible[i];
		unsigned t = 0;

		while (t < rule->count && term_holds(&rule->terms[t], c, known))
			t++;
		if (t == rule->count)
			return rule;
	}
	return NULL;
}

struct list {
	struct combination *items;
	size_t count, cap;
};

static void list_add_combination(struct list *list, const struct combination *c)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 256;
		list->items = must_realloc(list->items, list->cap * sizeof(*list->items));
	}
	list->items[list->count++] = *c;
}

/* Counts the combination up by one in the properties that `which` has; false at the end. */
static bool count_up(const struct family *family, unsigned which, struct combination *c)
{
	for (unsigned i = family->property_count; i-- > 0;) {
		if (!(which >> i & 1))
			continue;
		if (++c->value[i] < family->properties[i]->count)
			return true;
		c->value[i] = 0;
	}
	return false;
}

static void add_all(const struct family *family, struct list *list)
{
	unsigned all = (1u << family->property_count) - 1;
	struct combination c = { 0 };

	do {
		if (!family_forbids(family, &c, all))
			list_add_combination(list, &c);
	} while (count_up(family, all, &c));
}

/* A choice of properties, and which of their values have met. */
struct choice {
	unsigned which;
	bool *met;
};

struct combined_cover {
	const struct family *family;
	struct choice *choices;
	size_t count;
};

static size_t index_of(const struct family *family, unsigned which, const struct combination *c)
{
	size_t index = 0;

	for (unsigned i = 0; i < family->property_count; i++)
		if (which >> i & 1)
			index = index * family->properties[i]->count + c->value[i];
	return index;
}

static size_t choice_size(const struct family *family, unsigned which)
{
	size_t size = 1;

	for (unsigned i = 0; i < family->property_count; i++)
		if (which >> i & 1)
			size *= family->properties[i]->count;
	return size;
}

static void open_cover(struct combined_cover *cover, const struct family *family)
{
	*cover = (struct combined_cover){ .family = family };
	for (unsigned which = 0; which < 1u << family->property_count; which++) {
		if ((unsigned)__builtin_popcount(which) != family->strength)
			continue;
		cover->choices =
			must_realloc(cover->choices, (cover->count + 1) * sizeof(*cover->choices));
		cover->choices[cover->count++] =
			(struct choice){ which, must_alloc(choice_size(family, which)) };
	}
}

static void close_cover(struct combined_cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		free(cover->choices[i].met);
	free(cover->choices);
}

/* How many choices with the property i would meet for the first time. */
static unsigned choice_gain(const struct combined_cover *cover, const struct combination *c,
			    unsigned known, unsigned i)
{
	unsigned sum = 0;

	for (size_t k = 0; k < cover->count; k++) {
		const struct choice *choice = &cover->choices[k];

		if (choice->which >> i & 1 && !(choice->which & ~known))
			sum += !choice->met[index_of(cover->family, choice->which, c)];
	}
	return sum;
}

/* Chooses values for all properties not known yet; false if every choice is forbidden. */
static bool complete_combination(const struct combined_cover *cover, struct combination *c,
				 unsigned known)
{
	const struct family *family = cover->family;
	unsigned gains[VALUES_MAX] = { 0 }, i = 0; /* no values, nothing to gain */

	while (i < family->property_count && known >> i & 1)
		i++;
	if (i == family->property_count)
		return true;
	known |= 1u << i;
	for (unsigned v = 0; v < family->properties[i]->count; v++) {
		c->value[i] = (uint8_t)v;
		gains[v] =
			family_forbids(family, c, known) ? 0 : 1 + choice_gain(cover, c, known, i);
	}
	for (;;) {
		unsigned best = 0;

		for (unsigned v = 1; v < family->properties[i]->count; v++)
			if (gains[v] > gains[best])
				best = v;
		if (!gains[best])
			return false;
		gains[best] = 0;
		c->value[i] = (uint8_t)best;
		if (complete_combination(cover, c, known))
			return true;
	}
}

static void mark_covered(struct combined_cover *cover, const struct combination *c)
{
	for (size_t k = 0; k < cover->count; k++) {
		struct choice *choice = &cover->choices[k];

		choice->met[index_of(cover->family, choice->which, c)] = true;
	}
}

static void add_covering(const struct family *family, struct list *list)
{
	struct combined_cover cover;

	open_cover(&cover, family);
	for (size_t k = 0; k < cover.count; k++) {
		struct choice *choice = &cover.choices[k];
		struct combination from = { 0 };

		do {
			struct combination c = from;

			if (choice->met[index_of(family, choice->which, &c)] ||
			    family_forbids(family, &c, choice->which) ||
			    !complete_combination(&cover, &c, choice->which))
				continue;
			mark_covered(&cover, &c);
			list_add_combination(list, &c);
		} while (count_up(family, choice->which, &from));
	}
	close_cover(&cover);
}

struct combination *family_combine(const struct family *family, size_t *ret_count)
{
	struct list list = { 0 };

	if (family->strength == family->property_count)
		add_all(family, &list);
	else
		add_covering(family, &list);
	*ret_count = list.count;
	return list.items;
}
