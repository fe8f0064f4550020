/* envelope.c -- allowed outcomes as text. */
#include "base/buf.h"
#include "model/model.h"

enum { ERRNO_LIMIT = 192 };

struct list {
	struct buf *out;
	const char *separator;
	unsigned count;
};

static void begin_item(struct list *list)
{
	if (list->count++)
		buf_adds(list->out, list->separator);
}

static void add_error(struct list *list, int error, enum op op, enum dialect dialect)
{
	struct outcome outcome = { .error = error };

	begin_item(list);
	outcome_print(&outcome, op, dialect, list->out);
}

void envelope_print(const struct envelope *env, enum op op, enum dialect dialect, struct buf *out)
{
	struct list list = { out, dialect == DIALECT_PUBLISHED ? ";" : ", ", 0 };
	size_t start = out->len;

	if (env->undefined) {
		buf_addch(out, '-');
		return;
	}
	buf_addch(out, '{');
	if (env->success) {
		begin_item(&list);
		outcome_print(&env->value, op, dialect, out);
	} else {
		add_error(&list, env->first, op, dialect);
	}
	for (int error = 1; error < ERRNO_LIMIT; error++)
		if (errset_has(&env->errors, error) && error != env->first)
			add_error(&list, error, op, dialect);
	if (list.count > 1) {
		buf_addch(out, '}');
		return;
	}
	/* One outcome stands alone. */
	out->len--;
	for (size_t i = start; i <= out->len; i++)
		out->data[i] = out->data[i + 1];
}
