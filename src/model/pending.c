/* pending.c -- operations still to come. */
#include "model/step.h"

#define A(name, kind)
#define OP(name, base, result, traits, args) \
	__attribute__((weak)) void model_##name(struct step *x) \
	{ \
		must(!"implemented: " #name); \
	}
#include "op/ops.def"
#undef OP
#undef A
__attribute__((weak)) void streams_added(struct step *x, uint64_t dir, const char *name, size_t len)
{
	must(!x->state->streams);
}
__attribute__((weak)) void streams_removed(struct step *x, uint64_t dir, const char *name, size_t len)
{
	must(!x->state->streams);
}
