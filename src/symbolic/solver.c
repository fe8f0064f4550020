/* solver.c -- inputs that satisfy conditions, by Z3. */
#include "symbolic/solver.h"

#include <stdlib.h>
#include <string.h>
#include <z3.h>

#include "base/map.h"
#include "base/must.h"

enum {
	LIMIT_DEFAULT = 3000000,
	SECONDS_MAX = 4,     /* of one question, where the limit does not hold */
	FORMULAS_MAX = 6000, /* beyond these the solver starts again */
	WORK_MAX = 4000000,  /* expressions evaluated by one solver_try_bytes() */
};

struct solver {
	uint32_t input_count, limit;
	uint64_t questions;

	const struct expr *exprs;
	const uint64_t *hashes;
	uint32_t expr_count;

	Z3_context z3;
	Z3_solver z3_solver;
	Z3_ast *inputs;
	/* By hash of an expression, or of a term: an index of formulas. */
	struct hash_map known;
	Z3_ast *formulas;
	size_t formula_count, formula_cap;
};

static void solver_ignore_error(Z3_context z3, Z3_error_code code)
{
	(void)z3;
	(void)code;
}

void solver_limit(struct solver *s, uint32_t limit)
{
	Z3_params params = Z3_mk_params(s->z3);

	s->limit = limit;
	Z3_params_inc_ref(s->z3, params);
	Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "rlimit"), limit);
	Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "timeout"),
			   SECONDS_MAX * 1000);
	Z3_solver_set_params(s->z3, s->z3_solver, params);
	Z3_params_dec_ref(s->z3, params);
}

static void solver_start(struct solver *s)
{
	Z3_config config = Z3_mk_config();

	s->z3 = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(s->z3, solver_ignore_error);
	s->z3_solver = Z3_mk_solver_for_logic(s->z3, Z3_mk_string_symbol(s->z3, "QF_BV"));
	Z3_solver_inc_ref(s->z3, s->z3_solver);
	solver_limit(s, s->limit);
	for (uint32_t i = 0; i < s->input_count; i++)
		s->inputs[i] = Z3_mk_const(s->z3, Z3_mk_int_symbol(s->z3, (int)i),
					   Z3_mk_bv_sort(s->z3, 8));
}

static void solver_end(struct solver *s)
{
	Z3_solver_dec_ref(s->z3, s->z3_solver);
	Z3_del_context(s->z3);
	hash_map_free(&s->known);
	s->known = (struct hash_map)HASH_MAP_INIT;
	s->formula_count = 0;
}

struct solver *solver_open(uint32_t inputs)
{
	struct solver *s = must_alloc(sizeof(*s));

	s->input_count = inputs;
	s->limit = LIMIT_DEFAULT;
	s->inputs = must_alloc((inputs + 1) * sizeof(*s->inputs));
	solver_start(s);
	return s;
}

void solver_close(struct solver *s)
{
	if (!s)
		return;
	solver_end(s);
	free(s->formulas);
	free(s->inputs);
	free(s);
}

void solver_use(struct solver *s, const struct expr *exprs, uint32_t count, const uint64_t *hashes)
{
	s->exprs = exprs;
	s->hashes = hashes;
	s->expr_count = count;
	if (s->formula_count > FORMULAS_MAX) {
		solver_end(s);
		solver_start(s);
	}
}

uint64_t solver_questions(const struct solver *s)
{
	return s->questions;
}

/* --- translation --- */

enum formula_kind {
	FORMULA_EXPR, /* of one bit: a Boolean */
	FORMULA_TERM, /* a Boolean constant that is true where a term holds */
};

static Z3_ast *formula_slot(struct solver *s, enum formula_kind kind, uint64_t hash, uint64_t value,
			    bool *ret_new)
{
	struct hash key = { hash, hash64(&value, sizeof(value), kind) };
	uint64_t *index = hash_map_put(&s->known, key, ret_new);

	if (*ret_new) {
		if (s->formula_count == s->formula_cap) {
			s->formula_cap = s->formula_cap ? 2 * s->formula_cap : 1024;
			s->formulas =
				must_realloc(s->formulas, s->formula_cap * sizeof(*s->formulas));
		}
		*index = s->formula_count++;
		s->formulas[*index] = NULL;
	}
	return &s->formulas[*index];
}

static Z3_ast z3_number(struct solver *s, unsigned width, uint64_t value)
{
	return Z3_mk_unsigned_int64(s->z3, value, Z3_mk_bv_sort(s->z3, width));
}

/* As a bit vector, also where it has one bit. */
static Z3_ast z3_vector(struct solver *s, uint32_t e)
{
	bool new;
	Z3_ast formula = *formula_slot(s, FORMULA_EXPR, s->hashes[e], 0, &new);

	if (s->exprs[e].width > 1)
		return formula;
	return Z3_mk_ite(s->z3, formula, z3_number(s, 1, 1), z3_number(s, 1, 0));
}

static Z3_ast z3_boolean(struct solver *s, uint32_t e)
{
	bool new;

	return *formula_slot(s, FORMULA_EXPR, s->hashes[e], 0, &new);
}

static Z3_ast z3_high_product(struct solver *s, const struct expr *e, Z3_ast a, Z3_ast b)
{
	Z3_ast (*extend)(Z3_context, unsigned, Z3_ast) =
		e->op == EXPR_MUL_HIGH_U ? Z3_mk_zero_ext : Z3_mk_sign_ext;

	return Z3_mk_extract(s->z3, 2u * e->width - 1, e->width,
			     Z3_mk_bvmul(s->z3, extend(s->z3, e->width, a),
					 extend(s->z3, e->width, b)));
}

typedef Z3_ast z3_binary(Z3_context, Z3_ast, Z3_ast);

static z3_binary *const z3_binaries[EXPR_OPS] = {
	[EXPR_ADD] = Z3_mk_bvadd,     [EXPR_SUB] = Z3_mk_bvsub,   [EXPR_MUL] = Z3_mk_bvmul,
	[EXPR_UDIV] = Z3_mk_bvudiv,   [EXPR_SDIV] = Z3_mk_bvsdiv, [EXPR_UREM] = Z3_mk_bvurem,
	[EXPR_SREM] = Z3_mk_bvsrem,   [EXPR_AND] = Z3_mk_bvand,   [EXPR_OR] = Z3_mk_bvor,
	[EXPR_XOR] = Z3_mk_bvxor,     [EXPR_SHL] = Z3_mk_bvshl,   [EXPR_LSHR] = Z3_mk_bvlshr,
	[EXPR_ASHR] = Z3_mk_bvashr,   [EXPR_EQ] = Z3_mk_eq,       [EXPR_ULT] = Z3_mk_bvult,
	[EXPR_ULE] = Z3_mk_bvule,     [EXPR_SLT] = Z3_mk_bvslt,   [EXPR_SLE] = Z3_mk_bvsle,
	[EXPR_CONCAT] = Z3_mk_concat,
};

/* An operation whose result has one bit, as a Boolean. */
static Z3_ast z3_translate_bit(struct solver *s, const struct expr *e)
{
	Z3_ast pair[2];

	switch ((enum expr_op)e->op) {
	case EXPR_CONST:
		return e->value ? Z3_mk_true(s->z3) : Z3_mk_false(s->z3);
	case EXPR_AND:
	case EXPR_OR:
		pair[0] = z3_boolean(s, e->args[0]);
		pair[1] = z3_boolean(s, e->args[1]);
		return e->op == EXPR_AND ? Z3_mk_and(s->z3, 2, pair) : Z3_mk_or(s->z3, 2, pair);
	case EXPR_XOR:
		return Z3_mk_xor(s->z3, z3_boolean(s, e->args[0]), z3_boolean(s, e->args[1]));
	case EXPR_ITE:
		return Z3_mk_ite(s->z3, z3_boolean(s, e->args[0]), z3_boolean(s, e->args[1]),
				 z3_boolean(s, e->args[2]));
	case EXPR_EXTRACT:
		return Z3_mk_eq(s->z3,
				Z3_mk_extract(s->z3, (unsigned)e->value, (unsigned)e->value,
					      z3_vector(s, e->args[0])),
				z3_number(s, 1, 1));
	case EXPR_EQ:
	case EXPR_ULT:
	case EXPR_ULE:
	case EXPR_SLT:
	case EXPR_SLE:
		return z3_binaries[e->op](s->z3, z3_vector(s, e->args[0]),
					  z3_vector(s, e->args[1]));
	default:
		return Z3_mk_eq(s->z3,
				z3_binaries[e->op](s->z3, z3_vector(s, e->args[0]),
						   z3_vector(s, e->args[1])),
				z3_number(s, 1, 1));
	}
}

static Z3_ast z3_translate(struct solver *s, const struct expr *e)
{
	if (e->width == 1)
		return z3_translate_bit(s, e);
	switch ((enum expr_op)e->op) {
	case EXPR_INPUT:
		return s->inputs[e->value];
	case EXPR_CONST:
		return z3_number(s, e->width, e->value);
	case EXPR_EXTRACT:
		return Z3_mk_extract(s->z3, (unsigned)e->value + e->width - 1, (unsigned)e->value,
				     z3_vector(s, e->args[0]));
	case EXPR_SEXT:
		return Z3_mk_sign_ext(s->z3, e->width - s->exprs[e->args[0]].width,
				      z3_vector(s, e->args[0]));
	case EXPR_ITE:
		return Z3_mk_ite(s->z3, z3_boolean(s, e->args[0]), z3_vector(s, e->args[1]),
				 z3_vector(s, e->args[2]));
	case EXPR_MUL_HIGH_U:
	case EXPR_MUL_HIGH_S:
		return z3_high_product(s, e, z3_vector(s, e->args[0]), z3_vector(s, e->args[1]));
	default:
		return z3_binaries[e->op](s->z3, z3_vector(s, e->args[0]),
					  z3_vector(s, e->args[1]));
	}
}

/* Marks the expressions that the terms are made of. */
static void solver_mark(const struct solver *s, const struct solver_term *terms, size_t count,
			uint8_t *marks)
{
	uint32_t top = 0;

	for (size_t i = 0; i < count; i++) {
		marks[terms[i].expr] = 1;
		if (terms[i].expr > top)
			top = terms[i].expr;
	}
	for (uint32_t i = top; i > 0; i--) {
		if (!marks[i])
			continue;
		for (unsigned a = 0; a < expr_arity(s->exprs[i].op); a++)
			marks[s->exprs[i].args[a]] = 1;
	}
}

/* What an expression is made of is translated first: operands have smaller numbers. */
static void solver_translate(struct solver *s, uint32_t e)
{
	const struct solver_term term = { e, true, 0 };
	uint8_t *marks = must_alloc(e + 1);

	solver_mark(s, &term, 1, marks);
	for (uint32_t i = 1; i <= e; i++) {
		bool new;

		if (!marks[i] || s->exprs[i].width > 64)
			continue;
		formula_slot(s, FORMULA_EXPR, s->hashes[i], 0, &new);
		if (new) {
			Z3_ast formula = z3_translate(s, &s->exprs[i]);

			*formula_slot(s, FORMULA_EXPR, s->hashes[i], 0, &new) = formula;
		}
	}
	free(marks);
}

/* A Boolean constant that is true exactly if the expression has the value. */
static Z3_ast solver_literal(struct solver *s, const struct solver_term *term)
{
	bool new;
	Z3_ast literal = *formula_slot(s, FORMULA_TERM, s->hashes[term->expr], term->value, &new);

	if (new) {
		Z3_ast holds;

		solver_translate(s, term->expr);
		if (s->exprs[term->expr].width == 1) {
			holds = z3_boolean(s, term->expr);
			if (!term->value)
				holds = Z3_mk_not(s->z3, holds);
		} else {
			holds = Z3_mk_eq(s->z3, z3_vector(s, term->expr),
					 z3_number(s, s->exprs[term->expr].width, term->value));
		}
		literal = Z3_mk_fresh_const(s->z3, "t", Z3_mk_bool_sort(s->z3));
		Z3_solver_assert(s->z3, s->z3_solver, Z3_mk_iff(s->z3, literal, holds));
		*formula_slot(s, FORMULA_TERM, s->hashes[term->expr], term->value, &new) = literal;
	}
	return term->equal ? literal : Z3_mk_not(s->z3, literal);
}

/* --- questions --- */

static void solver_read_model(struct solver *s, uint8_t *ret_inputs)
{
	Z3_model model = Z3_solver_get_model(s->z3, s->z3_solver);

	Z3_model_inc_ref(s->z3, model);
	for (uint32_t i = 0; i < s->input_count; i++) {
		Z3_ast value;
		uint64_t number = 0;

		if (Z3_model_eval(s->z3, model, s->inputs[i], true, &value))
			Z3_get_numeral_uint64(s->z3, value, &number);
		ret_inputs[i] = (uint8_t)number;
	}
	Z3_model_dec_ref(s->z3, model);
}

static enum solver_answer solver_check(struct solver *s, const struct solver_term *terms,
				       size_t count, uint8_t *ret_inputs)
{
	Z3_ast *literals = must_alloc((count + 1) * sizeof(*literals));
	enum solver_answer answer;

	s->questions++;
	for (size_t i = 0; i < count; i++)
		literals[i] = solver_literal(s, &terms[i]);
	switch (Z3_solver_check_assumptions(s->z3, s->z3_solver, (unsigned)count, literals)) {
	case Z3_L_TRUE:
		answer = SOLVER_YES;
		break;
	case Z3_L_FALSE:
		answer = SOLVER_NO;
		break;
	default:
		answer = SOLVER_UNKNOWN;
		break;
	}
	if (answer == SOLVER_YES && ret_inputs)
		solver_read_model(s, ret_inputs);
	free(literals);
	return answer;
}

enum solver_answer solver_ask(struct solver *s, const struct solver_term *terms, size_t count,
			      uint8_t *ret_inputs)
{
	return solver_check(s, terms, count, ret_inputs);
}

enum solver_answer solver_ask_other(struct solver *s, const struct solver_term *terms, size_t count,
				    const uint8_t *inputs)
{
	Z3_ast *others = must_alloc((s->input_count + 1) * sizeof(*others));
	enum solver_answer answer;

	for (uint32_t i = 0; i < s->input_count; i++)
		others[i] =
			Z3_mk_not(s->z3, Z3_mk_eq(s->z3, s->inputs[i], z3_number(s, 8, inputs[i])));
	Z3_solver_push(s->z3, s->z3_solver);
	Z3_solver_assert(s->z3, s->z3_solver, Z3_mk_or(s->z3, s->input_count, others));
	answer = solver_check(s, terms, count, NULL);
	Z3_solver_pop(s->z3, s->z3_solver, 1);
	free(others);
	return answer;
}

/* --- without Z3 --- */

static bool terms_hold(const struct solver_term *terms, size_t count, const uint64_t *values)
{
	for (size_t i = 0; i < count; i++) {
		if ((values[terms[i].expr] == terms[i].value) != terms[i].equal)
			return false;
	}
	return true;
}

/* The marked expressions, for these inputs. */
static void solver_evaluate(const struct solver *s, const uint32_t *marked, size_t count,
			    const uint8_t *inputs, uint64_t *values)
{
	for (size_t i = 0; i < count; i++) {
		const struct expr *e = &s->exprs[marked[i]];
		const uint64_t args[3] = { values[e->args[0]], values[e->args[1]],
					   values[e->args[2]] };

		values[marked[i]] = e->op == EXPR_INPUT ? inputs[e->value]
				  : e->op == EXPR_CONST ? e->value
							: expr_apply(e, s->exprs, args);
	}
}

bool solver_try_bytes(const struct solver *s, const struct solver_term *terms, size_t count,
		      const uint8_t *inputs, uint8_t *ret_inputs)
{
	uint8_t *marks = must_alloc(s->expr_count + 1), *tried = must_alloc(s->input_count + 1);
	uint32_t *marked = must_alloc((s->expr_count + 1) * sizeof(*marked));
	uint64_t *values = must_alloc((s->expr_count + 1) * sizeof(*values)), work = 0;
	size_t marked_count = 0;
	bool found = false;

	solver_mark(s, terms, count, marks);
	for (uint32_t i = 1; i < s->expr_count; i++) {
		if (marks[i])
			marked[marked_count++] = i;
	}
	memcpy(tried, inputs, s->input_count);
	for (uint32_t i = 0; i < s->input_count && !found; i++) {
		for (unsigned byte = 0; byte < 256 && !found && work < WORK_MAX; byte++) {
			tried[i] = (uint8_t)byte;
			solver_evaluate(s, marked, marked_count, tried, values);
			work += marked_count;
			found = terms_hold(terms, count, values);
		}
		if (!found)
			tried[i] = inputs[i];
	}
	if (found)
		memcpy(ret_inputs, tried, s->input_count);
	free(marks);
	free(marked);
	free(values);
	free(tried);
	return found;
}
