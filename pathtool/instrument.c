/* instrument.c -- code of the checker, translated with calls that follow values.
 *
 * Every temporary that may be symbolic has a shadow, the number of its expression. Code looks at
 * flags and shadows first, so that what is not symbolic costs a few instructions. */
#include "pathtool/instrument.h"

#include "pathtool/branches.h"
#include "pathtool/conditions.h"
#include "pathtool/emit.h"
#include "pathtool/functions.h"
#include "pathtool/helpers.h"
#include "pathtool/shadow.h"
#include "pathtool/translations.h"
#include <libvex_guest_offsets.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>

enum { OPERATIONS_MAX = 0x2000 };

/* Made once for each, since translated code has their addresses. */
static const struct operation *operation_get(IROp op, IRType result, IRType first, IRType second)
{
	static struct operation *known[OPERATIONS_MAX];
	UInt i = op - Iop_INVALID;

	tl_assert(i < OPERATIONS_MAX);
	if (!known[i]) {
		known[i] = VG_(calloc)("operation", 1, sizeof(*known[i]));
		*known[i] =
			(struct operation){ op, operation_bits(result), operation_bits(first),
					    second == Ity_INVALID ? 0 : operation_bits(second) };
	}
	return known[i];
}

static IRType type_of(const struct emitter *m, const IRExpr *e)
{
	return typeOfIRExpr(m->block->tyenv, e);
}

static IRExpr *in_temporary(struct emitter *m, IRExpr *atom)
{
	return atom->tag == Iex_RdTmp ? atom : emit_value(m, atom);
}

/* --- what writes --- */

static Bool is_followed_register(UInt offset, UInt len)
{
	return offset + len <= SHADOW_REGISTERS && offset != OFFSET_amd64_RSP &&
	       offset != OFFSET_amd64_RIP;
}

static void follow_put(struct emitter *m, UInt offset, UInt len, IRExpr *shadow)
{
	IRExpr *flag;

	if (!is_followed_register(offset, len))
		return;
	flag = emit_or(m, emit_register_flag(m, offset, len), shadow);
	emit_call(m, emit_is_nonzero(m, flag), "helper_put", helper_put,
		  mkIRExprVec_3(emit_word(offset), emit_word(len), shadow ? shadow : emit_word(0)));
}

static void follow_store(struct emitter *m, IRExpr *address, IRExpr *data)
{
	IRExpr *at = in_temporary(m, address), *shadow = emit_shadow(m, address), *flag;

	if (shadow)
		emit_call(m, emit_is_nonzero(m, shadow), "helper_store_address",
			  helper_store_address, mkIRExprVec_3(shadow, at, emit_word(m->pc)));
	flag = emit_or(m, emit_memory_flag(m, at), emit_shadow(m, data));
	emit_call(m, emit_is_nonzero(m, flag), "helper_store", helper_store,
		  mkIRExprVec_3(at, emit_word(sizeofIRType(type_of(m, data))),
				emit_shadow_or_zero(m, data)));
}

/* Something of this length is written that is not symbolic. */
static void follow_overwrite(struct emitter *m, IRExpr *guard, IRExpr *address, UInt len)
{
	emit_call(m, guard, "helper_store", helper_store,
		  mkIRExprVec_3(in_temporary(m, address), emit_word(len), emit_word(0)));
}

static void follow_cas(struct emitter *m, const IRCAS *cas)
{
	UInt len = sizeofIRType(type_of(m, cas->dataLo)) * (cas->dataHi ? 2 : 1);
	IRExpr *at = in_temporary(m, cas->addr),
	       *guard = emit_is_nonzero(m, emit_memory_flag(m, at));

	follow_overwrite(m, guard, at, len);
}

/* A helper of VEX's own: what it reads is lost, what it writes is not symbolic. */
static void follow_dirty(struct emitter *m, const IRDirty *d)
{
	for (Int i = 0; i < d->nFxState; i++) {
		UInt offset = d->fxState[i].offset, len = d->fxState[i].size;

		if (!is_followed_register(offset, len) || len > SHADOW_ACCESS_MAX)
			continue;
		if (d->fxState[i].fx != Ifx_Write)
			emit_call(m, emit_is_nonzero(m, emit_register_flag(m, offset, len)),
				  "helper_lost", helper_lost, mkIRExprVec_1(emit_word(0)));
		if (d->fxState[i].fx != Ifx_Read)
			follow_put(m, offset, len, NULL);
	}
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		follow_overwrite(m, d->guard, d->mAddr, d->mSize);
}

/* --- what computes: the temporary that holds the result's shadow --- */

static IRTemp follow_get(struct emitter *m, UInt offset, UInt len)
{
	if (!is_followed_register(offset, len))
		return IRTemp_INVALID;
	return emit_call_for(m, emit_is_nonzero(m, emit_register_flag(m, offset, len)),
			     "helper_get", helper_get,
			     mkIRExprVec_2(emit_word(offset), emit_word(len)));
}

static IRTemp follow_load(struct emitter *m, IRExpr *address, UInt len)
{
	IRExpr *at = in_temporary(m, address),
	       *flag = emit_or(m, emit_memory_flag(m, at), emit_shadow(m, address));

	return emit_call_for(m, emit_is_nonzero(m, flag), "helper_load", helper_load,
			     mkIRExprVec_4(at, emit_word(len), emit_shadow_or_zero(m, address),
					   emit_word(m->pc)));
}

static IRTemp follow_unary(struct emitter *m, const IRExpr *e, IRType type)
{
	IRExpr *a = e->Iex.Unop.arg, *shadow = emit_shadow(m, a);
	const struct operation *o;

	if (!shadow)
		return IRTemp_INVALID;
	o = operation_get(e->Iex.Unop.op, type, type_of(m, a), Ity_INVALID);
	return emit_call_for(m, emit_is_nonzero(m, shadow), "helper_unary", helper_unary,
			     mkIRExprVec_2(emit_word((Addr)o), shadow));
}

static IRTemp follow_binary(struct emitter *m, const IRExpr *e, IRType type)
{
	IRExpr *a = e->Iex.Binop.arg1, *b = e->Iex.Binop.arg2,
	       *flag = emit_or(m, emit_shadow(m, a), emit_shadow(m, b));
	const struct operation *o;

	if (!flag)
		return IRTemp_INVALID;
	o = operation_get(e->Iex.Binop.op, type, type_of(m, a), type_of(m, b));
	emit_wide_operand(m, a, 0);
	emit_wide_operand(m, b, 1);
	return emit_call_for(m, emit_is_nonzero(m, flag), "helper_binary", helper_binary,
			     mkIRExprVec_6(emit_word((Addr)o), emit_shadow_or_zero(m, a),
					   emit_shadow_or_zero(m, b), emit_widened(m, a),
					   emit_widened(m, b), emit_word(m->pc)));
}

static IRTemp follow_ite(struct emitter *m, const IRExpr *e, IRType type)
{
	IRExpr *c = e->Iex.ITE.cond, *a = e->Iex.ITE.iftrue, *b = e->Iex.ITE.iffalse,
	       *flag = emit_or(m, emit_shadow(m, c),
			       emit_or(m, emit_shadow(m, a), emit_shadow(m, b))),
	       *value;

	if (!flag)
		return IRTemp_INVALID;
	value = emit_value(m, IRExpr_Binop(Iop_Or64, emit_widened(m, c),
					   emit_word(operation_bits(type) << 1)));
	emit_wide_operand(m, a, 0);
	emit_wide_operand(m, b, 1);
	return emit_call_for(m, emit_is_nonzero(m, flag), "helper_ite", helper_ite,
			     mkIRExprVec_6(emit_shadow_or_zero(m, c), value,
					   emit_shadow_or_zero(m, a), emit_shadow_or_zero(m, b),
					   emit_widened(m, a), emit_widened(m, b)));
}

/* An operation that is not modelled: its result is taken as it is. */
static IRTemp follow_lost(struct emitter *m, UInt op, IRExpr *const *operands)
{
	IRExpr *flag = NULL;

	for (; *operands; operands++)
		flag = emit_or(m, flag, emit_shadow(m, *operands));
	if (flag)
		emit_call(m, emit_is_nonzero(m, flag), "helper_lost", helper_lost,
			  mkIRExprVec_1(emit_word(op)));
	return IRTemp_INVALID;
}

/* Functions of VEX that compute flags: of the operands, only those that the flags come from. */
static IRTemp follow_flags(struct emitter *m, IRExpr *condition, IRExpr *cc_op, IRExpr *dep1,
			   IRExpr *dep2)
{
	IRExpr *flag = emit_or(m, emit_shadow(m, dep1), emit_shadow(m, dep2));

	if (!flag)
		return IRTemp_INVALID;
	return emit_call_for(m, emit_is_nonzero(m, flag), "helper_flags", helper_flags,
			     mkIRExprVec_6(condition, cc_op, emit_shadow_or_zero(m, dep1),
					   emit_shadow_or_zero(m, dep2), dep1, dep2));
}

static IRTemp follow_ccall(struct emitter *m, const IRExpr *e)
{
	IRExpr **args = e->Iex.CCall.args;
	const HChar *name = e->Iex.CCall.cee->name;

	if (!VG_(strcmp)(name, "amd64g_calculate_condition"))
		return follow_flags(m, args[0], args[1], args[2], args[3]);
	if (!VG_(strcmp)(name, "amd64g_calculate_rflags_c"))
		return follow_flags(m, emit_word(2), args[0], args[1], args[2]);
	return follow_lost(m, 0, args);
}

static IRTemp follow_expression(struct emitter *m, const IRExpr *e, IRType type)
{
	switch (e->tag) {
	case Iex_RdTmp:
		return m->shadows[e->Iex.RdTmp.tmp];
	case Iex_Get:
		return follow_get(m, e->Iex.Get.offset, sizeofIRType(type));
	case Iex_Load:
		return follow_load(m, e->Iex.Load.addr, sizeofIRType(type));
	case Iex_Unop:
		return follow_unary(m, e, type);
	case Iex_Binop:
		return follow_binary(m, e, type);
	case Iex_ITE:
		return follow_ite(m, e, type);
	case Iex_CCall:
		return follow_ccall(m, e);
	case Iex_Triop: {
		IRTriop *t = e->Iex.Triop.details;
		IRExpr *operands[] = { t->arg1, t->arg2, t->arg3, NULL };

		return follow_lost(m, t->op, operands);
	}
	case Iex_Qop: {
		IRQop *q = e->Iex.Qop.details;
		IRExpr *operands[] = { q->arg1, q->arg2, q->arg3, q->arg4, NULL };

		return follow_lost(m, q->op, operands);
	}
	default:
		return IRTemp_INVALID;
	}
}

/* --- statements --- */

static void follow_statement(struct emitter *m, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_Put:
		follow_put(m, s->Ist.Put.offset, sizeofIRType(type_of(m, s->Ist.Put.data)),
			   emit_shadow(m, s->Ist.Put.data));
		break;
	case Ist_PutI: {
		IRExpr *operands[] = { s->Ist.PutI.details->data, NULL };

		follow_lost(m, 0, operands);
		break;
	}
	case Ist_Store:
		follow_store(m, s->Ist.Store.addr, s->Ist.Store.data);
		break;
	case Ist_StoreG: {
		IRStoreG *g = s->Ist.StoreG.details;

		emit_call(m, g->guard, "helper_store", helper_store,
			  mkIRExprVec_3(g->addr, emit_word(sizeofIRType(type_of(m, g->data))),
					emit_shadow_or_zero(m, g->data)));
		break;
	}
	case Ist_CAS:
		follow_cas(m, s->Ist.CAS.details);
		break;
	case Ist_Dirty:
		follow_dirty(m, s->Ist.Dirty.details);
		break;
	case Ist_WrTmp:
		m->shadows[s->Ist.WrTmp.tmp] = follow_expression(
			m, s->Ist.WrTmp.data, typeOfIRTemp(m->block->tyenv, s->Ist.WrTmp.tmp));
		break;
	case Ist_Exit: {
		IRExpr *guard = s->Ist.Exit.guard, *shadow = emit_shadow(m, guard);

		if (shadow)
			emit_call(m, emit_is_nonzero(m, shadow), "helper_branch", helper_branch,
				  mkIRExprVec_3(shadow, emit_widened(m, guard), emit_word(m->pc)));
		break;
	}
	default:
		break;
	}
}

/* Stores 1 where the direction that the branch takes is counted. VEX turns some branches round, so
 * the direction is told by where the exit leads. */
static void count_branch(struct emitter *m, const IRStmt *exit, Addr after)
{
	UChar *slot = branches_slot(m->pc);
	Bool turned = exit->Ist.Exit.dst->Ico.U64 == after;
	IRExpr *at;

	if (!slot || exit->Ist.Exit.guard->tag != Iex_RdTmp)
		return;
	at = emit_value(m,
			IRExpr_Binop(turned ? Iop_Sub64 : Iop_Add64, emit_word((Addr)slot + turned),
				     emit_widened(m, exit->Ist.Exit.guard)));
	addStmtToIRSB(m->block, IRStmt_Store(Iend_LE, at, IRExpr_Const(IRConst_U8(1))));
}

/* A function that is entered here may be one that is treated as a whole. */
static void follow_entry(struct emitter *m, Addr at)
{
	static const UInt arguments[] = { OFFSET_amd64_RDI, OFFSET_amd64_RSI };
	IRExpr *always = IRExpr_Const(IRConst_U1(True));

	switch (functions_kind(at)) {
	case FUNCTION_PRINTS:
		emit_call(m, always, "conditions_suspend", conditions_suspend,
			  mkIRExprVec_1(emit_value(m, IRExpr_Get(OFFSET_amd64_RSP, Ity_I64))));
		break;
	case FUNCTION_ALLOCATES:
		for (UInt i = 0; i < 2; i++)
			emit_call(m, emit_is_nonzero(m, emit_register_flag(m, arguments[i], 8)),
				  "helper_fix_argument", helper_fix_argument,
				  mkIRExprVec_3(emit_word(arguments[i]),
						emit_value(m, IRExpr_Get(arguments[i], Ity_I64)),
						emit_word(at)));
		break;
	case FUNCTION_PLAIN:
		break;
	}
}

static void follow_end(struct emitter *m, const IRSB *in)
{
	IRExpr *shadow = emit_shadow(m, in->next);

	if (in->jumpkind == Ijk_Ret) {
		IRExpr *at = emit_word((Addr)&conditions_suspended),
		       *flag = emit_value(m, IRExpr_Load(Iend_LE, Ity_I8, at)),
		       *stack = emit_value(m, IRExpr_Get(OFFSET_amd64_RSP, Ity_I64));

		flag = emit_is_nonzero(m, emit_value(m, IRExpr_Unop(Iop_8Uto64, flag)));
		emit_call(m, flag, "conditions_returned", conditions_returned,
			  mkIRExprVec_1(stack));
	}
	if (shadow)
		emit_call(m, emit_is_nonzero(m, shadow), "helper_jump", helper_jump,
			  mkIRExprVec_3(shadow, in->next, emit_word(m->pc)));
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		 IRType host_word)
{
	IRTemp *shadows = VG_(malloc)("shadows", sizeof(*shadows) * (in->tyenv->types_used + 1));
	struct emitter m = { deepCopyIRSBExceptStmts(in), shadows, 0 };
	Addr after = 0; /* the instruction */

	translations_note(closure->nraddr);
	for (Int i = 0; i < in->tyenv->types_used; i++)
		shadows[i] = IRTemp_INVALID;
	for (Int i = 0; i < in->stmts_used; i++) {
		IRStmt *s = in->stmts[i];
		/* What is written is followed before it is, what a helper of VEX wrote after. */
		Bool first = s->tag != Ist_Dirty && s->tag != Ist_CAS;

		if (s->tag == Ist_IMark) {
			Bool jumped = s->Ist.IMark.addr != after;

			m.pc = s->Ist.IMark.addr;
			after = m.pc + s->Ist.IMark.len;
			addStmtToIRSB(m.block, s);
			if (tool_symbolic && jumped)
				follow_entry(&m, m.pc);
			continue;
		}
		if (s->tag == Ist_Exit && s->Ist.Exit.jk == Ijk_Boring)
			count_branch(&m, s, after);
		if (tool_symbolic && first)
			follow_statement(&m, s);
		addStmtToIRSB(m.block, s);
		if (tool_symbolic && !first)
			follow_statement(&m, s);
	}
	if (tool_symbolic)
		follow_end(&m, in);
	VG_(free)(shadows);
	return m.block;
}
