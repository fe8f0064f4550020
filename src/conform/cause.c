/* cause.c -- deviations by cause. */
#include "conform/cause.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/must.h"

/* Where a call succeeds, as it may, and returns something wrong, what is seen says it all. */
static bool says_wrong(const struct deviation *d)
{
	return !strncmp(buf_str(&d->seen), "wrong ", 6) && !strcmp(buf_str(&d->allowed), "success");
}

static void say(const struct deviation *d, struct buf *out)
{
	const char *op = op_table[d->op].name;

	buf_clear(out);
	if (d->history.len) {
		if (d->code == PROBLEM_TREE)
			buf_addf(out, "race of %s: wrong tree (%s)", d->allowed.data, d->seen.data);
		else
			buf_addf(out, "race with %s: %s: %s", d->allowed.data, op, d->seen.data);
		return;
	}
	if (d->code == PROBLEM_TIMES)
		buf_addf(out, "after %s: %s", op, buf_str(&d->seen));
	else if (d->code == PROBLEM_TREE)
		buf_addf(out, "after %s: wrong tree (%s)", op, buf_str(&d->seen));
	else if (d->code == PROBLEM_OUTCOME && !says_wrong(d))
		buf_addf(out, "%s: %s, allowed: %s", op, buf_str(&d->seen), buf_str(&d->allowed));
	else
		buf_addf(out, "%s: %s", op, buf_str(&d->seen));
	if (d->rule.len)
		buf_addf(out, " (%s)", d->rule.data);
}

/* Fewer calls before more, shorter ones before longer. */
static bool is_smaller(const struct deviation *a, const struct deviation *b)
{
	if (a->calls != b->calls)
		return a->calls < b->calls;
	return a->call.len < b->call.len;
}

static int by_weight(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->outside_posix != y->outside_posix)
		return x->outside_posix ? -1 : 1;
	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	if (x->scripts != y->scripts)
		return x->scripts > y->scripts ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The cause of a deviation, by its order; made where it is new. */
static struct cause *cause_of(struct causes *c, struct str_map *orders, const struct deviation *d,
			      struct buf *text)
{
	uint64_t *order;
	bool is_new;

	say(d, text);
	order = str_map_put(orders, text->data, &is_new);
	if (is_new) {
		*order = c->count;
		c->items = must_realloc(c->items, (c->count + 1) * sizeof(*c->items));
		c->items[c->count++] = (struct cause){
			.text = must_strdup(text->data),
			.example = d,
			.severity = d->severity,
			.order = (uint32_t)*order,
		};
	}
	return &c->items[*order];
}

/* Sorts the causes; what was known by their order is then known by their place. */
static void sort_causes(struct causes *c, size_t deviations)
{
	uint32_t *places = must_alloc((c->count + 1) * sizeof(*places));

	if (c->count)
		qsort(c->items, c->count, sizeof(*c->items), by_weight);
	for (size_t i = 0; i < c->count; i++)
		places[c->items[i].order] = (uint32_t)i;
	for (size_t i = 0; i < deviations; i++)
		c->of[i] = places[c->of[i]];
	free(places);
}

void causes_gather(struct causes *ret, const struct conform_result *r)
{
	struct str_map orders = STR_MAP_INIT;
	struct buf text = BUF_INIT;
	struct cause *cause;

	*ret = (struct causes){ 0 };
	ret->of = must_alloc((r->deviation_count + 1) * sizeof(*ret->of));
	for (size_t i = 0; i < r->deviation_count; i++) {
		struct deviation *d = &r->deviations[i];

		d->calls = r->suite->scripts[d->script].count;
		cause = cause_of(ret, &orders, d, &text);
		cause->scripts++;
		cause->outside_posix |= d->outside_posix;
		if (d->severity < cause->severity)
			cause->severity = d->severity;
		if (is_smaller(d, cause->example))
			cause->example = d;
		ret->of[i] = cause->order;
	}
	sort_causes(ret, r->deviation_count);
	ret->unexpected = ret->count;
	str_map_free(&orders);
	buf_free(&text);
}

void causes_free(struct causes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->items[i].text);
	free(c->items);
	free(c->of);
	*c = (struct causes){ 0 };
}

const struct cause *causes_head(const struct causes *c, const struct cause *of)
{
	const struct deviation *d = of->example;
	const struct cause *head = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct cause *other = &c->items[i];

		if (!other->reason == !of->reason &&
		    !strcmp(buf_str(&other->example->group), buf_str(&d->group)) &&
		    (!head || other->example->calls < head->example->calls))
			head = other;
	}
	return d->group.len ? head : of;
}

const struct cause *causes_find(const struct causes *c, const char *text)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->items[i].text, text))
			return &c->items[i];
	return NULL;
}

void causes_mark_known(struct causes *c, struct known *known, const char *target)
{
	for (size_t i = 0; i < c->count; i++) {
		struct cause *cause = &c->items[i];
		const struct known_row *row =
			known_meet(known, target, cause->text, buf_str(&cause->example->group),
				   cause->scripts);

		if (!row)
			continue;
		cause->reason = row->reason;
		c->unexpected--;
	}
}

void causes_print_unknown(const struct causes *c, const char *target, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++)
		if (!c->items[i].reason)
			known_print_failure(target, c->items[i].text, out);
}
