/* emit.h -- VEX statements that look for something symbolic and call a helper if there is any. */
#ifndef PATHTOOL_EMIT_H
#define PATHTOOL_EMIT_H

#include <libvex_ir.h>
#include <pub_tool_basics.h>

/* A block that is being made. shadows[t] holds the number of the expression of temporary t of the
 * original block; IRTemp_INVALID: never symbolic. */
struct emitter {
	IRSB *block;
	IRTemp *shadows;
	Addr pc;
};

IRExpr *emit_word(ULong value);
/* In a temporary of its own. */
IRExpr *emit_value(struct emitter *m, IRExpr *e);
/* The shadow of an atom, or NULL. */
IRExpr *emit_shadow(const struct emitter *m, const IRExpr *atom);
IRExpr *emit_shadow_or_zero(const struct emitter *m, const IRExpr *atom);
/* The value of an atom in 64 bits; 0 for wider ones. */
IRExpr *emit_widened(struct emitter *m, IRExpr *atom);
/* Either may be NULL. */
IRExpr *emit_or(struct emitter *m, IRExpr *a, IRExpr *b);
IRExpr *emit_is_nonzero(struct emitter *m, IRExpr *word);
/* Nonzero if an access at this address, or this part of the guest state, may be symbolic. */
IRExpr *emit_memory_flag(struct emitter *m, IRExpr *address);
IRExpr *emit_register_flag(struct emitter *m, UInt offset, UInt len);
/* An operand wider than 64 bits, where helpers find it. */
void emit_wide_operand(struct emitter *m, IRExpr *atom, UInt which);

/* Calls if the guard holds. */
void emit_call(struct emitter *m, IRExpr *guard, const HChar *name, void *function, IRExpr **args);
/* The same, and the answer, 0 if it was not called, in a new temporary. */
IRTemp emit_call_for(struct emitter *m, IRExpr *guard, const HChar *name, void *function,
		     IRExpr **args);

#endif
