/* envelope.c -- allowed outcomes as text. */
#include "history/envelope.h"

#include "base/buf.h"

enum { ERRNO_LIMIT = 192 };

static bool is_further(const struct envelope *env, int error)
{
	return error != env->first && errset_has(&env->errors, error);
}

static void envelope_add_error(int error, enum op op, enum dialect dialect, struct buf *out)
{
	struct outcome outcome = { .error = error };

	outcome_print(&outcome, op, dialect, out);
}

void envelope_print(const struct envelope *env, enum op op, enum dialect dialect, struct buf *out)
{
	bool published = dialect == DIALECT_PUBLISHED, several = false;

	if (env->undefined) {
		buf_addch(out, '-');
		return;
	}
	for (int error = 1; error < ERRNO_LIMIT; error++)
		several |= is_further(env, error);
	if (several && published)
		buf_addch(out, '{');
	if (env->success)
		outcome_print(&env->value, op, dialect, out);
	else
		envelope_add_error(env->first, op, dialect, out);
	for (int error = 1; error < ERRNO_LIMIT; error++) {
		if (!is_further(env, error))
			continue;
		buf_adds(out, published ? ";" : " or ");
		envelope_add_error(error, op, dialect, out);
	}
	if (several && published)
		buf_addch(out, '}');
}
