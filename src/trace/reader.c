/* reader.c -- from text to a script: which dialect it is, and the items both dialects share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "trace/dialect.h"

enum { OUTCOMES_MIN = 4 };

struct item *reader_add(struct script_reader *r, enum item_type type)
{
	return script_add(r->script, type, r->lex.line);
}

void reader_add_call(struct script_reader *r, const struct call *c, bool has_pid)
{
	struct item *item = reader_add(r, ITEM_CALL);

	item->pid = c->pid;
	item->has_pid = has_pid;
	item->call = *c;
	r->last_op[c->pid] = c->op;
}

struct outcome *reader_outcome(struct script_reader *r)
{
	if (r->outcome_count == r->outcome_cap) {
		r->outcome_cap = r->outcome_cap ? 2 * r->outcome_cap : OUTCOMES_MIN;
		r->outcomes = must_realloc(r->outcomes, r->outcome_cap * sizeof(*r->outcomes));
	}
	r->outcomes[r->outcome_count] = (struct outcome){ 0 };
	return &r->outcomes[r->outcome_count++];
}

void reader_add_return(struct script_reader *r, uint16_t pid, bool has_pid, bool any_success)
{
	struct item *item = reader_add(r, ITEM_RETURN);

	item->pid = pid;
	item->has_pid = has_pid;
	item->ret.count = r->outcome_count;
	item->ret.outcomes =
		arena_copy(&r->script->arena, r->outcomes, r->outcome_count * sizeof(*r->outcomes));
	item->ret.any_success = any_success;
	r->script->is_trace = true;
	r->outcome_count = 0;
}

bool reader_take_filler(struct script_reader *r)
{
	struct item *item;

	if (lex_at_end(&r->lex)) {
		if (*r->lex.next) {
			reader_add(r, ITEM_BLANK);
			lex_end(&r->lex);
		}
		return true;
	}
	if (*r->lex.next != '#')
		return false;
	item = reader_add(r, ITEM_COMMENT);
	item->text = lex_rest(&r->lex);
	return true;
}

int reader_path(struct script_reader *r, const char **ret)
{
	struct lexer start;
	uint32_t len;
	char *text;
	int err;

	lex_blanks(&r->lex);
	start = r->lex;
	err = lex_string(&r->lex, &text, &len);
	if (err)
		return err;
	if (strlen(text) != len)
		return lex_expected(&start, "a string without NUL");
	*ret = text;
	return 0;
}

/* The names move together where they lie, each with its NUL. */
int reader_names(struct script_reader *r, char separator, struct outcome *o)
{
	struct lexer *l = &r->lex;
	const char *name = "";
	char *to = NULL;
	int err;

	o->result = RESULT_NAMES;
	o->bytes = "";
	if (lex_take(l, ']'))
		return 0;
	do {
		err = reader_path(r, &name);
		if (err)
			return err;
		if (!to)
			o->bytes = to = (char *)name;
		memmove(to, name, strlen(name) + 1);
		to += strlen(to) + 1;
	} while (lex_take(l, separator));
	o->len = (size_t)(to - o->bytes);
	return lex_char(l, ']');
}

int reader_bytes(struct script_reader *r, enum op op, struct outcome *o)
{
	uint32_t len;
	char *text;
	int err;

	err = lex_string(&r->lex, &text, &len);
	if (err)
		return err;
	o->bytes = text;
	o->len = len;
	o->result = op < OP_COUNT ? op_table[op].result : RESULT_BYTES;
	if (o->result != RESULT_NAME && o->result != RESULT_TARGET)
		o->result = RESULT_BYTES;
	return 0;
}

void reader_num(enum op op, int64_t num, struct outcome *o)
{
	enum result result = op < OP_COUNT ? op_table[op].result : RESULT_NUM;

	if (result == RESULT_FD || result == RESULT_PERM || (result == RESULT_NONE && !num))
		o->result = result;
	else
		o->result = RESULT_NUM;
	o->num = num;
}

int reader_dump(struct script_reader *r, const char *path)
{
	reader_add(r, ITEM_DUMP)->path = path;
	return lex_end(&r->lex);
}

/* Takes "end dump-result", if the line begins so. */
static bool reader_take_dump_end(struct lexer *l)
{
	static const char end[] = "dump-result";
	struct lexer start = *l;

	if (lex_take_word(l, "end")) {
		lex_blanks(l);
		if (!strncmp(l->next, end, sizeof(end) - 1)) {
			l->next += sizeof(end) - 1;
			return true;
		}
	}
	*l = start;
	return false;
}

/* The lines move together where they lie, so that each ends in one newline. */
int reader_dump_result(struct script_reader *r, const char *path)
{
	struct item *item = reader_add(r, ITEM_DUMP_RESULT);
	char *to, *line;
	int err;

	err = lex_end(&r->lex);
	r->script->is_trace = true;
	item->path = path;
	item->text = to = r->lex.next;
	while (!err && !reader_take_dump_end(&r->lex)) {
		if (!*r->lex.next)
			return lex_expected(&r->lex, "end dump-result");
		line = lex_rest(&r->lex);
		if (!*line)
			continue;
		memmove(to, line, strlen(line));
		to += strlen(line);
		*to++ = '\n';
	}
	if (err)
		return err;
	err = lex_end(&r->lex);
	*to = '\0';
	return err;
}

/* Takes the line "@type script" or "@type trace"; the first of them decides on the dialect. */
static int reader_type(struct script_reader *r)
{
	struct lexer *l = &r->lex;

	if (!lex_take(l, '@'))
		return 0;
	if (!lex_take_word(l, "type"))
		return lex_expected(l, "type");
	if (lex_take_word(l, "trace"))
		r->script->is_trace = true;
	else if (!lex_take_word(l, "script"))
		return lex_expected(l, "script or trace");
	r->script->dialect = DIALECT_PUBLISHED;
	return lex_end(l);
}

static int reader_items(struct script_reader *r)
{
	int (*line)(struct script_reader * r);
	int err;

	while (*r->lex.next && reader_take_filler(r))
		;
	err = reader_type(r);
	line = r->script->dialect == DIALECT_PUBLISHED ? published_line : native_line;
	while (!err && *r->lex.next)
		err = reader_take_filler(r) ? 0 : line(r);
	return err;
}

/* NUL ends the text for the lexer; one inside is refused here, with its place. */
static int reader_check_nul(struct lexer l, size_t len)
{
	char *nul = memchr(l.next, '\0', len), *newline;

	if (!nul)
		return 0;
	while ((newline = memchr(l.next, '\n', (size_t)(nul - l.next)))) {
		l.next = l.line_start = newline + 1;
		l.line++;
	}
	return err_set(l.err, EINVAL, "%s:%u:%zu: expected text, found a NUL byte", l.name, l.line,
		       (size_t)(nul - l.line_start) + 1);
}

int script_parse(struct script *s, const char *name, const char *text, size_t len, struct err *err)
{
	struct script_reader r = { .script = s };
	int ret;

	script_reset(s);
	s->name = arena_strdup(&s->arena, name);
	if (len > (size_t)SCRIPT_TEXT_MAX)
		return err_set(err, EFBIG, "%s is longer than %zu bytes", name,
			       (size_t)SCRIPT_TEXT_MAX);
	lex_init(&r.lex, s->name, arena_copy(&s->arena, text, len), err);
	for (size_t i = 0; i < ARRAY_LEN(r.last_op); i++)
		r.last_op[i] = OP_COUNT;
	ret = reader_check_nul(r.lex, len);
	if (!ret)
		ret = reader_items(&r);
	free(r.outcomes);
	return ret;
}
