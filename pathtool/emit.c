/* emit.c -- VEX statements that look for something symbolic and call a helper if there is any. */
#include "pathtool/emit.h"

#include "pathtool/helpers.h"
#include "pathtool/shadow.h"
#include <pub_tool_machine.h>
#include <pub_tool_tooliface.h>

IRExpr *emit_word(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

IRExpr *emit_value(struct emitter *m, IRExpr *e)
{
	IRTemp t = newIRTemp(m->block->tyenv, typeOfIRExpr(m->block->tyenv, e));

	addStmtToIRSB(m->block, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

IRExpr *emit_shadow(const struct emitter *m, const IRExpr *atom)
{
	IRTemp shadow;

	if (atom->tag != Iex_RdTmp)
		return NULL;
	shadow = m->shadows[atom->Iex.RdTmp.tmp];
	return shadow == IRTemp_INVALID ? NULL : IRExpr_RdTmp(shadow);
}

IRExpr *emit_shadow_or_zero(const struct emitter *m, const IRExpr *atom)
{
	IRExpr *shadow = emit_shadow(m, atom);

	return shadow ? shadow : emit_word(0);
}

IRExpr *emit_widened(struct emitter *m, IRExpr *atom)
{
	switch (typeOfIRExpr(m->block->tyenv, atom)) {
	case Ity_I1:
		return emit_value(m, IRExpr_Unop(Iop_1Uto64, atom));
	case Ity_I8:
		return emit_value(m, IRExpr_Unop(Iop_8Uto64, atom));
	case Ity_I16:
		return emit_value(m, IRExpr_Unop(Iop_16Uto64, atom));
	case Ity_I32:
		return emit_value(m, IRExpr_Unop(Iop_32Uto64, atom));
	case Ity_I64:
		return atom;
	case Ity_F64:
		return emit_value(m, IRExpr_Unop(Iop_ReinterpF64asI64, atom));
	default:
		return emit_word(0);
	}
}

IRExpr *emit_or(struct emitter *m, IRExpr *a, IRExpr *b)
{
	if (!a || !b)
		return a ? a : b;
	return emit_value(m, IRExpr_Binop(Iop_Or64, a, b));
}

IRExpr *emit_is_nonzero(struct emitter *m, IRExpr *word)
{
	return emit_value(m, IRExpr_Binop(Iop_CmpNE64, word, emit_word(0)));
}

static IRExpr *emit_load_flag(struct emitter *m, IRType type, IROp widen, IRExpr *address)
{
	return emit_value(m,
			  IRExpr_Unop(widen, emit_value(m, IRExpr_Load(Iend_LE, type, address))));
}

IRExpr *emit_memory_flag(struct emitter *m, IRExpr *address)
{
	IRExpr *granule = emit_value(
		m, IRExpr_Binop(Iop_Shr64, address, IRExpr_Const(IRConst_U8(SHADOW_GRANULE_LOG2))));
	IRExpr *slot =
		emit_value(m, IRExpr_Binop(Iop_And64, granule, emit_word(SHADOW_FILTER - 1)));

	slot = emit_value(m, IRExpr_Binop(Iop_Add64, slot, emit_word((Addr)shadow_filter)));
	return emit_load_flag(m, Ity_I8, Iop_8Uto64, slot);
}

IRExpr *emit_register_flag(struct emitter *m, UInt offset, UInt len)
{
	UInt slots = (offset + len - 1) / 8 - offset / 8 + 1;
	IRExpr *at = emit_word((Addr)&shadow_register_flags[offset / 8]);

	if (slots == 1)
		return emit_load_flag(m, Ity_I8, Iop_8Uto64, at);
	if (slots == 2)
		return emit_load_flag(m, Ity_I16, Iop_16Uto64, at);
	return emit_load_flag(m, Ity_I32, Iop_32Uto64, at);
}

void emit_wide_operand(struct emitter *m, IRExpr *atom, UInt which)
{
	IRType type = typeOfIRExpr(m->block->tyenv, atom);
	Addr to = (Addr)helper_wide[which];

	if (type == Ity_V128 || type == Ity_V256) {
		addStmtToIRSB(m->block, IRStmt_Store(Iend_LE, emit_word(to), atom));
	} else if (type == Ity_I128) {
		IRExpr *low = emit_value(m, IRExpr_Unop(Iop_128to64, atom)),
		       *high = emit_value(m, IRExpr_Unop(Iop_128HIto64, atom));

		addStmtToIRSB(m->block, IRStmt_Store(Iend_LE, emit_word(to), low));
		addStmtToIRSB(m->block, IRStmt_Store(Iend_LE, emit_word(to + 8), high));
	}
}

void emit_call(struct emitter *m, IRExpr *guard, const HChar *name, void *function, IRExpr **args)
{
	IRDirty *call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), args);

	call->guard = guard;
	addStmtToIRSB(m->block, IRStmt_Dirty(call));
}

IRTemp emit_call_for(struct emitter *m, IRExpr *guard, const HChar *name, void *function,
		     IRExpr **args)
{
	IRTemp answer = newIRTemp(m->block->tyenv, Ity_I64),
	       result = newIRTemp(m->block->tyenv, Ity_I64);
	IRDirty *call = unsafeIRDirty_1_N(answer, 0, name, VG_(fnptr_to_fnentry)(function), args);

	call->guard = guard;
	addStmtToIRSB(m->block, IRStmt_Dirty(call));
	addStmtToIRSB(m->block,
		      IRStmt_WrTmp(result, IRExpr_ITE(guard, IRExpr_RdTmp(answer), emit_word(0))));
	return result;
}
