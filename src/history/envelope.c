/* envelope.c -- allowed outcomes as text. */
#include "history/envelope.h"

#include <string.h>

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

/* What a directory stream may return besides the name or the end that is predicted. */
static void envelope_add_names(const struct envelope *env, enum op op, struct buf *out)
{
	struct outcome other = { .result = RESULT_NAME };

	for (const char *name = env->names; name < env->names + env->names_len;
	     name += other.len + 1) {
		other.bytes = name;
		other.len = strlen(name);
		if (name == env->value.bytes)
			continue;
		buf_adds(out, " or ");
		outcome_print(&other, op, DIALECT_NATIVE, out);
	}
	if (!env->end_allowed || env->value.end)
		return;
	other = (struct outcome){ .result = RESULT_NAME, .end = true, .bytes = "" };
	buf_adds(out, " or ");
	outcome_print(&other, op, DIALECT_NATIVE, out);
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
	if (env->success && !published)
		envelope_add_names(env, op, out);
	for (int error = 1; error < ERRNO_LIMIT; error++) {
		if (!is_further(env, error))
			continue;
		buf_adds(out, published ? ";" : " or ");
		envelope_add_error(error, op, dialect, out);
	}
	if (several && published)
		buf_addch(out, '}');
}
