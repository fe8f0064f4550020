/* manual.c -- what places answer to an example; rules and operations in words. */
#include "manual/manual.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "history/envelope.h"
#include "op/kind.h"

void manual_answer(const struct model *model, const struct manual_example *example,
		   struct buf *before, struct buf *out)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0777 };
	struct model here = *model;
	struct envelope env;
	struct state state;
	struct err err = { 0 };

	if (example->trait[0])
		must(!traits_assign(&here.traits, example->trait, &err));
	state_init(&state, &options);
	for (unsigned i = 0; i < example->count; i++) {
		const struct call *call = &example->calls[i];
		bool last = i == example->count - 1;
		struct buf *to = last ? out : before;

		state.read_only = last && example->read_only;
		model_move(&here, &state, call, &env);
		if (!to)
			continue;
		if (!last) {
			call_print(call, DIALECT_NATIVE, to);
			buf_adds(to, " = ");
		}
		envelope_print(&env, call->op, DIALECT_NATIVE, to);
		if (!last)
			buf_addch(to, '\n');
	}
	state_free(&state);
}

void manual_script(const struct manual *m, const struct manual_entry *entry, struct buf *out)
{
	const struct manual_example *e = &entry->example;
	const struct model *model =
		entry->force == MANUAL_ELSEWHERE ? &m->places[entry->place].model : &m->model;
	struct buf answer = BUF_INIT;

	if (!e->count)
		return;
	manual_answer(model, e, out, &answer);
	call_print(&e->calls[e->count - 1], DIALECT_NATIVE, out);
	buf_addf(out, " = %s\n", buf_str(&answer));
	buf_free(&answer);
}

/* Versions of Linux follow each other, from new to old: of a row that agrees, the newest is named.
 */
void manual_differences(const struct manual *m, const struct manual_example *example,
			struct buf *out)
{
	struct buf own = BUF_INIT, answer = BUF_INIT, last = BUF_INIT;

	if (example->count)
		manual_answer(&m->model, example, NULL, &own);
	for (unsigned i = 0; i < m->place_count && example->count; i++) {
		const struct manual_place *place = &m->places[i];
		bool versioned = place->model.platform == PLATFORM_LINUX;

		buf_clear(&answer);
		manual_answer(&place->model, example, NULL, &answer);
		if (strcmp(buf_str(&answer), buf_str(&own)) &&
		    (!versioned || strcmp(buf_str(&answer), buf_str(&last))))
			buf_addf(out, "%s%s: %s\n", versioned ? "up to " : "", place->name,
				 strcmp(buf_str(&answer), "-") ? buf_str(&answer) : "undefined");
		if (versioned) {
			buf_clear(&last);
			buf_adds(&last, buf_str(&answer));
		}
	}
	buf_free(&own);
	buf_free(&answer);
	buf_free(&last);
}

void manual_where(enum rule rule, struct buf *out)
{
	static const char *const names[PLATFORM_COUNT] = { "POSIX", "Linux", "macOS", "FreeBSD" };
	const struct rule_info *info = &rule_table[rule];
	const char *separator = "";

	if (info->where == (1u << PLATFORM_COUNT) - 1)
		buf_adds(out, "everywhere");
	for (unsigned p = 0; p < PLATFORM_COUNT && info->where != (1u << PLATFORM_COUNT) - 1; p++) {
		if (!(info->where >> p & 1))
			continue;
		buf_addf(out, "%s%s", separator, names[p]);
		separator = ", ";
	}
	if (version_known(info->until) && !version_compare(info->until, KERNEL_PUBLISHED)) {
		buf_adds(out, ", only in the published model");
		return;
	}
	/* From 3.20 on means: not in the published model. */
	if (version_known(info->since) &&
	    version_compare(info->since, (struct version)VERSION(3, 20))) {
		buf_adds(out,
			 info->where == 1u << PLATFORM_LINUX ? " since " : ", on Linux since ");
		version_print(info->since, out);
	}
	if (version_known(info->until)) {
		buf_adds(out,
			 info->where == 1u << PLATFORM_LINUX ? " up to " : ", on Linux up to ");
		version_print(info->until, out);
	}
}

void manual_synopsis(enum op op, struct buf *out)
{
	const struct op_info *info = &op_table[op];

	buf_addf(out, "%s(", info->name);
	for (unsigned i = 0; i < info->args; i++)
		buf_addf(out, "%s%s %s", i ? ", " : "", kind_table[info->arg[i].kind]->name,
			 info->arg[i].name);
	buf_addch(out, ')');
}

void manual_summary(enum op op, struct buf *out)
{
	static const char *const results[] = {
		[RESULT_NONE] = "nothing but success",
		[RESULT_NUM] = "a number",
		[RESULT_FD] = "a descriptor",
		[RESULT_BYTES] = "bytes",
		[RESULT_STAT] = "the attributes of a file",
		[RESULT_NAME] = "one name",
		[RESULT_PERM] = "permission bits",
		[RESULT_STATFS] = "figures of the file system",
		[RESULT_NAMES] = "names",
		[RESULT_TARGET] = "the contents of a symbolic link",
	};
	static const char *const traits[] = {
		"changes names",           "changes data",      "changes attributes",
		"may need space",          "persists",          "opens something",
		"acts on the environment", "acts on a process", "makes several system calls",
	};
	const struct op_info *info = &op_table[op];

	buf_addf(out, "Returns %s.", results[info->result]);
	if (info->base != op)
		buf_addf(out, " Its coverage counts for %s.", op_table[info->base].name);
	for (size_t i = 0; i < ARRAY_LEN(traits); i++)
		if (info->traits & 1u << i)
			buf_addf(out, " It %s.", traits[i]);
}
