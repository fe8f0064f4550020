/* prop_pmap.c -- random changes to several maps that share, beside plain arrays. */
#include <stdlib.h>

#include "base/must.h"
#include "base/rng.h"
#include "tests/harness/unit.h"
#include "tree/pmap.h"

enum { KEYS = 96, MAPS = 5, STEPS = 30000 };

struct number {
	struct ref ref;
	uint64_t value;
};

static size_t live;

static struct ref *number_new(uint64_t value)
{
	struct number *n = must_alloc(sizeof(*n));

	live++;
	n->ref.count = 1;
	n->value = value;
	return &n->ref;
}

static struct ref *number_copy(const struct ref *object)
{
	return number_new(((const struct number *)object)->value);
}

static void number_free(struct ref *object)
{
	live--;
	free(object);
}

static const struct pmap_type type = { number_copy, number_free };

struct pair {
	struct pmap map;
	uint64_t plain[KEYS]; /* 0: absent */
};

static uint64_t keys[KEYS];

/* Dense, far apart in high bits only, and random: short and long common parts. */
static void choose_keys(struct rng *rng)
{
	for (unsigned i = 0; i < KEYS; i++) {
		if (i < 32)
			keys[i] = i;
		else if (i < 64)
			keys[i] = (uint64_t)(i - 31) << 58 | 7;
		else
			keys[i] = rng_u64(rng) | 1 << 10;
	}
}

static void check(const struct pair *p)
{
	uint64_t key = 0, before = 0;
	size_t present = 0, seen = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		const struct number *n = (const struct number *)pmap_get(&p->map, keys[i]);

		assert_int_equal(n ? n->value : 0, p->plain[i]);
		present += p->plain[i] != 0;
	}
	assert_int_equal(p->map.count, present);
	for (bool first = true; pmap_next(&p->map, first, &key); first = false) {
		assert_true(first || pmap_order(key) > before);
		before = pmap_order(key);
		seen++;
	}
	assert_int_equal(seen, present);
}

struct seen {
	const struct pair *a, *b;
	bool at[KEYS];
};

static void note(void *to, uint64_t key, const struct ref *in_a, const struct ref *in_b)
{
	struct seen *seen = to;
	unsigned i = 0;

	while (keys[i] != key)
		i++;
	assert_false(seen->at[i]);
	assert_ptr_equal(in_a, pmap_get(&seen->a->map, key));
	assert_ptr_equal(in_b, pmap_get(&seen->b->map, key));
	seen->at[i] = true;
}

/* Told are the keys whose objects differ, each once. */
static void check_diff(const struct pair *a, const struct pair *b)
{
	struct seen seen = { a, b, { 0 } };

	pmap_diff(&a->map, &b->map, note, &seen);
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(seen.at[i],
				 pmap_get(&a->map, keys[i]) != pmap_get(&b->map, keys[i]));
}

static void change(struct pair *p, struct rng *rng)
{
	unsigned i = (unsigned)rng_below(rng, KEYS);
	uint64_t value = rng_u64(rng) | 1;
	struct number *n;

	switch (rng_below(rng, 3)) {
	case 0:
		pmap_put(&p->map, &type, keys[i], number_new(value));
		p->plain[i] = value;
		break;
	case 1:
		n = (struct number *)pmap_edit(&p->map, &type, keys[i]);
		assert_int_equal(n != NULL, p->plain[i] != 0);
		if (n)
			n->value = p->plain[i] = value;
		break;
	default:
		assert_int_equal(pmap_remove(&p->map, &type, keys[i]), p->plain[i] != 0);
		p->plain[i] = 0;
	}
}

static void maps_behave_like_arrays(void **state)
{
	struct pair pairs[MAPS] = { 0 };
	struct rng rng;

	rng_seed(&rng, 7);
	choose_keys(&rng);
	for (int step = 0; step < STEPS; step++) {
		struct pair *p = &pairs[rng_below(&rng, MAPS)], *q = &pairs[rng_below(&rng, MAPS)];

		change(p, &rng);
		if (p != q && rng_chance(&rng, 1, 20)) {
			pmap_drop(&q->map, &type);
			*q = *p;
			q->map = pmap_share(&p->map);
		}
		if (step % 50 == 0) {
			for (int i = 0; i < MAPS; i++)
				check(&pairs[i]);
			check_diff(p, q);
		}
	}
	for (int i = 0; i < MAPS; i++)
		pmap_drop(&pairs[i].map, &type);
	assert_int_equal(live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_behave_like_arrays),
	};

	return cmocka_run_group_tests_name("pmap against arrays", tests, NULL, NULL);
}
