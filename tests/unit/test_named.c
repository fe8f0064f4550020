/* test_named.c -- names whose hashes collide: the same code with keys of three bits. */
#define NAME_KEY_BITS 3
#include "tree/named.c"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/harness/unit.h"

enum { NAMES = 12, PRESENT_MAX = 7, STEPS = 20000 };

struct thing {
	struct ref ref;
	uint32_t len;
	char name[8];
};

static void thing_free(struct ref *object)
{
	free(object);
}

static const struct pmap_type type = { .free = thing_free };
static const struct named_kind kind = {
	.type = &type,
	.len_at = offsetof(struct thing, len),
	.name_at = offsetof(struct thing, name),
};

static size_t name_at(unsigned i, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "n%u", i);
}

static void put(struct pmap *m, unsigned i)
{
	struct thing *thing = must_alloc(sizeof(*thing));

	thing->ref.count = 1;
	thing->len = (uint32_t)name_at(i, thing->name, sizeof(thing->name));
	named_put(m, &kind, &thing->ref);
}

static void colliding_names_are_found_until_removed(void **state)
{
	struct pmap m = PMAP_INIT;
	bool present[NAMES] = { 0 };
	unsigned count = 0;
	struct rng rng;
	char name[8];

	rng_seed(&rng, 3);
	for (int step = 0; step < STEPS; step++) {
		unsigned i = (unsigned)rng_below(&rng, NAMES);
		uint64_t cookie = 0;
		unsigned seen = 0;

		if (present[i] && rng_chance(&rng, 2, 3)) {
			named_remove(&m, &kind, name, name_at(i, name, sizeof(name)));
			present[i] = false;
			count--;
		} else if (present[i] || count < PRESENT_MAX) {
			put(&m, i);
			count += !present[i];
			present[i] = true;
		}
		for (unsigned j = 0; j < NAMES; j++) {
			size_t len = name_at(j, name, sizeof(name));

			assert_int_equal(named_find(&m, &kind, name, len) != NULL, present[j]);
		}
		while (named_next(&m, &cookie))
			seen++;
		assert_int_equal(seen, count);
	}
	pmap_drop(&m, &type);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colliding_names_are_found_until_removed),
	};

	return cmocka_run_group_tests_name("named", tests, NULL, NULL);
}
