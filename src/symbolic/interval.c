/* interval.c -- between which values an expression lies. */
#include "symbolic/interval.h"

enum {
	DEPTH_MAX = 48,
	VISITS_MAX = 2000,
};

struct interval_walk {
	const struct expr_store *s;
	const struct interval_facts *f;
	unsigned visits;
};

static struct interval interval_walk(struct interval_walk *w, uint32_t e, unsigned depth);

/* The fact of an expression, or the slot where it would be. */
static uint32_t interval_slot(const struct interval_facts *f, uint32_t e)
{
	uint32_t i = e * UINT32_C(0x9e3779b1) % INTERVAL_FACTS_MAX;

	while (f->facts[i].expr && f->facts[i].expr != e)
		i = (i + 1) % INTERVAL_FACTS_MAX;
	return i;
}

static struct interval interval_full(unsigned width)
{
	return (struct interval){ 0, expr_mask(width) };
}

static struct interval interval_sum(struct interval a, struct interval b, unsigned width)
{
	uint64_t mask = expr_mask(width), span_a = a.high - a.low, span_b = b.high - b.low,
		 low = (a.low + b.low) & mask, span;

	if (__builtin_add_overflow(span_a, span_b, &span) || span > mask - low)
		return interval_full(width);
	return (struct interval){ low, low + span };
}

static struct interval interval_product(struct interval a, struct interval b, unsigned width)
{
	uint64_t high;

	if (__builtin_mul_overflow(a.high, b.high, &high) || high > expr_mask(width))
		return interval_full(width);
	return (struct interval){ a.low * b.low, high };
}

/* All bits below the highest that either can have. */
static uint64_t interval_ones(struct interval a, struct interval b)
{
	uint64_t bits = a.high | b.high;

	return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0;
}

static struct interval interval_quotient(enum expr_op op, struct interval a, struct interval b,
					 unsigned width)
{
	if (!b.low)
		return interval_full(width);
	if (op == EXPR_UDIV)
		return (struct interval){ a.low / b.high, a.high / b.low };
	if (a.high < b.low)
		return a;
	return (struct interval){ 0, a.high < b.high - 1 ? a.high : b.high - 1 };
}

static struct interval interval_binary(const struct expr *e, struct interval a, struct interval b)
{
	switch ((enum expr_op)e->op) {
	case EXPR_ADD:
		return interval_sum(a, b, e->width);
	case EXPR_SUB:
		if (a.low >= b.high)
			return (struct interval){ a.low - b.high, a.high - b.low };
		break;
	case EXPR_MUL:
		return interval_product(a, b, e->width);
	case EXPR_UDIV:
	case EXPR_UREM:
		return interval_quotient(e->op, a, b, e->width);
	case EXPR_AND:
		return (struct interval){ 0, a.high < b.high ? a.high : b.high };
	case EXPR_OR:
		return (struct interval){ a.low > b.low ? a.low : b.low, interval_ones(a, b) };
	case EXPR_XOR:
		return (struct interval){ 0, interval_ones(a, b) };
	case EXPR_LSHR:
		return (struct interval){ 0, a.high };
	default:
		break;
	}
	return interval_full(e->width);
}

static struct interval interval_plain(struct interval_walk *w, const struct expr *e, unsigned depth)
{
	const struct expr *exprs = w->s->exprs;
	struct interval a, b;

	switch ((enum expr_op)e->op) {
	case EXPR_CONST:
		return (struct interval){ e->value, e->value };
	case EXPR_CONCAT: {
		unsigned shift = exprs[e->args[1]].width;

		a = interval_walk(w, e->args[0], depth + 1);
		b = interval_walk(w, e->args[1], depth + 1);
		return (struct interval){ a.low << shift | b.low, a.high << shift | b.high };
	}
	case EXPR_EXTRACT:
		if (exprs[e->args[0]].width > 64)
			break;
		a = interval_walk(w, e->args[0], depth + 1);
		a.low >>= e->value;
		a.high >>= e->value;
		if (a.high <= expr_mask(e->width))
			return a;
		break;
	case EXPR_SEXT:
		a = interval_walk(w, e->args[0], depth + 1);
		if (!(a.high >> (exprs[e->args[0]].width - 1)))
			return a;
		break;
	case EXPR_ITE:
		a = interval_walk(w, e->args[1], depth + 1);
		b = interval_walk(w, e->args[2], depth + 1);
		return (struct interval){ a.low < b.low ? a.low : b.low,
					  a.high > b.high ? a.high : b.high };
	case EXPR_INPUT:
	case EXPR_NONE:
		break;
	default:
		if (exprs[e->args[0]].width > 64 || e->width == 1)
			break;
		a = interval_walk(w, e->args[0], depth + 1);
		b = interval_walk(w, e->args[1], depth + 1);
		return interval_binary(e, a, b);
	}
	return interval_full(e->width);
}

static struct interval interval_walk(struct interval_walk *w, uint32_t e, unsigned depth)
{
	const struct expr *x = &w->s->exprs[e];
	const struct interval_fact *known;
	struct interval r;

	if (depth > DEPTH_MAX || x->width > 64 || ++w->visits > VISITS_MAX)
		return interval_full(x->width);
	r = interval_plain(w, x, depth);
	known = &w->f->facts[interval_slot(w->f, e)];
	if (known->expr && known->in.low > r.low)
		r.low = known->in.low;
	if (known->expr && known->in.high < r.high)
		r.high = known->in.high;
	return r;
}

struct interval interval_of(const struct expr_store *s, const struct interval_facts *f, uint32_t e)
{
	struct interval_walk w = { s, f, 0 };

	return interval_walk(&w, e, 0);
}

/* --- learning --- */

static void interval_bound(const struct expr_store *s, struct interval_facts *f, uint32_t e,
			   struct interval in)
{
	const struct expr *x = &s->exprs[e];
	struct interval r = interval_of(s, f, e);
	uint32_t i = interval_slot(f, e);

	if (in.low > r.low)
		r.low = in.low;
	if (in.high < r.high)
		r.high = in.high;
	if (r.low > r.high)
		return;
	if (!f->facts[i].expr && f->count >= INTERVAL_FACTS_MAX / 4 * 3)
		return;
	f->count += !f->facts[i].expr;
	f->facts[i].expr = e;
	f->facts[i].in = r;
	if (x->op == EXPR_CONCAT && expr_is_const(s, x->args[0]) && !s->exprs[x->args[0]].value) {
		interval_bound(s, f, x->args[1], r);
	} else if (x->op == EXPR_ADD && expr_is_const(s, x->args[1])) {
		uint64_t by = s->exprs[x->args[1]].value, mask = expr_mask(x->width);
		struct interval shifted = { (r.low - by) & mask, (r.high - by) & mask };

		if (shifted.low <= shifted.high)
			interval_bound(s, f, x->args[0], shifted);
	}
}

static void interval_learn_equal(const struct expr_store *s, struct interval_facts *f, uint32_t e,
				 uint64_t value, bool holds)
{
	struct interval r = interval_of(s, f, e);

	if (holds)
		interval_bound(s, f, e, (struct interval){ value, value });
	else if (r.low == value && r.high > value)
		interval_bound(s, f, e, (struct interval){ value + 1, r.high });
	else if (r.high == value && r.low < value)
		interval_bound(s, f, e, (struct interval){ r.low, value - 1 });
}

/* a < b, or a <= b where `equal` is set. */
static void interval_learn_order(const struct expr_store *s, struct interval_facts *f, uint32_t a,
				 uint32_t b, bool equal)
{
	struct interval ia = interval_of(s, f, a), ib = interval_of(s, f, b);
	uint64_t less = !equal;

	if (ib.high >= less)
		interval_bound(s, f, a, (struct interval){ 0, ib.high - less });
	if (ia.low <= UINT64_MAX - less)
		interval_bound(s, f, b, (struct interval){ ia.low + less, UINT64_MAX });
}

void interval_learn(const struct expr_store *s, struct interval_facts *f, uint32_t condition,
		    bool holds)
{
	const struct expr *c = &s->exprs[condition];

	switch ((enum expr_op)c->op) {
	case EXPR_XOR:
		if (c->width == 1 && expr_is_const(s, c->args[1]))
			interval_learn(s, f, c->args[0], !holds);
		break;
	case EXPR_AND:
	case EXPR_OR:
		if (c->width == 1 && holds == (c->op == EXPR_AND)) {
			interval_learn(s, f, c->args[0], holds);
			interval_learn(s, f, c->args[1], holds);
		}
		break;
	case EXPR_EQ:
		if (expr_is_const(s, c->args[1]))
			interval_learn_equal(s, f, c->args[0], s->exprs[c->args[1]].value, holds);
		break;
	case EXPR_ULT:
	case EXPR_ULE:
		if (holds)
			interval_learn_order(s, f, c->args[0], c->args[1], c->op == EXPR_ULE);
		else
			interval_learn_order(s, f, c->args[1], c->args[0], c->op == EXPR_ULT);
		break;
	default:
		break;
	}
}

static bool interval_decides_order(enum expr_op op, struct interval a, struct interval b,
				   bool *ret_holds)
{
	switch (op) {
	case EXPR_EQ:
		*ret_holds = a.low == a.high && b.low == b.high && a.low == b.low;
		return *ret_holds || a.high < b.low || b.high < a.low;
	case EXPR_ULT:
		*ret_holds = a.high < b.low;
		return *ret_holds || a.low >= b.high;
	case EXPR_ULE:
		*ret_holds = a.high <= b.low;
		return *ret_holds || a.low > b.high;
	default:
		return false;
	}
}

/* Whether none of its values is negative. */
static bool interval_is_positive(struct interval in, unsigned width)
{
	return in.high >> (width - 1) == 0;
}

bool interval_decides(const struct expr_store *s, const struct interval_facts *f,
		      uint32_t condition, bool *ret_holds)
{
	const struct expr *c = &s->exprs[condition];
	enum expr_op op = c->op;
	unsigned width = s->exprs[c->args[0]].width;
	struct interval a, b;

	if (op < EXPR_EQ || op > EXPR_SLE)
		return false;
	a = interval_of(s, f, c->args[0]);
	b = interval_of(s, f, c->args[1]);
	if ((op == EXPR_SLT || op == EXPR_SLE) && interval_is_positive(a, width) &&
	    interval_is_positive(b, width))
		op = op == EXPR_SLT ? EXPR_ULT : EXPR_ULE;
	return interval_decides_order(op, a, b, ret_holds);
}

static unsigned interval_zeros(const struct expr_store *s, uint32_t e, unsigned depth)
{
	const struct expr *x = &s->exprs[e];
	unsigned a, b;

	if (depth > DEPTH_MAX / 4)
		return 0;
	switch ((enum expr_op)x->op) {
	case EXPR_CONST:
		return x->value ? (unsigned)__builtin_ctzll(x->value) : 63;
	case EXPR_CONCAT:
		b = interval_zeros(s, x->args[1], depth + 1);
		if (!expr_is_const(s, x->args[1]) || s->exprs[x->args[1]].value)
			return b < s->exprs[x->args[1]].width ? b : s->exprs[x->args[1]].width;
		return s->exprs[x->args[1]].width + interval_zeros(s, x->args[0], depth + 1);
	case EXPR_SEXT:
		return interval_zeros(s, x->args[0], depth + 1);
	case EXPR_MUL:
		a = interval_zeros(s, x->args[0], depth + 1) +
		    interval_zeros(s, x->args[1], depth + 1);
		return a > 63 ? 63 : a;
	case EXPR_ADD:
	case EXPR_SUB:
		a = interval_zeros(s, x->args[0], depth + 1);
		b = interval_zeros(s, x->args[1], depth + 1);
		return a < b ? a : b;
	default:
		return 0;
	}
}

unsigned interval_step_log2(const struct expr_store *s, uint32_t e)
{
	const struct expr *x = &s->exprs[e];

	if (x->op == EXPR_ADD && expr_is_const(s, x->args[1]))
		return interval_step_log2(s, x->args[0]);
	return interval_zeros(s, e, 0);
}
