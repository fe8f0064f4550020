/* check.c -- traces judged: item by item, with words for what is wrong. */
#include "history/check.h"
#include "history/envelope.h"

#include <string.h>

#include "base/must.h"

void trace_checker_init(struct trace_checker *c, const struct model *m,
			const struct state_options *start)
{
	*c = (struct trace_checker){ .posix = *m, .start = *start };
	c->start.hashed = true;
	c->posix.platform = PLATFORM_POSIX;
	c->posix.rule_hits = NULL;
	overlap_init(&c->overlap, m);
}

void trace_checker_free(struct trace_checker *c)
{
	overlap_free(&c->overlap);
	buf_free(&c->call);
	buf_free(&c->seen);
	buf_free(&c->allowed);
}

void trace_checker_begin(struct trace_checker *c)
{
	struct state s;

	state_init(&s, &c->start);
	trace_checker_begin_at(c, &s);
}

void trace_checker_begin_at(struct trace_checker *c, struct state *s)
{
	overlap_begin(&c->overlap, s);
	c->window = 0;
}

/* What the trace says that the call at this place returns; NULL if it ends before. */
static const struct item_return *find_return(const struct script *trace, size_t at)
{
	uint16_t pid = trace->items[at].pid;

	for (size_t i = at + 1; i < trace->count; i++) {
		const struct item *item = &trace->items[i];

		if (item->pid == pid && item->type == ITEM_RETURN)
			return &item->ret;
		if (item->pid == pid && item->type == ITEM_CALL)
			return NULL;
	}
	return NULL;
}

static void print_seen(struct trace_checker *c, const struct pending *p, enum dialect dialect)
{
	buf_clear(&c->call);
	buf_clear(&c->seen);
	call_print(p->call, dialect, &c->call);
	if (p->ret->any_success)
		buf_adds(&c->seen, "-");
	for (size_t i = 0; i < p->ret->count; i++) {
		buf_adds(&c->seen, i ? " or " : "");
		outcome_print(&p->ret->outcomes[i], p->call->op, dialect, &c->seen);
	}
}

/* What would have been allowed, once for each hypothesis that says something else. */
static void print_allowed(struct trace_checker *c, const struct envelope *env, enum op op,
			  enum dialect dialect)
{
	struct buf text = BUF_INIT;

	envelope_print(env, op, dialect, &text);
	if (!strstr(buf_str(&c->allowed), buf_str(&text))) {
		buf_adds(&c->allowed, c->allowed.len ? " or " : "");
		buf_adds(&c->allowed, buf_str(&text));
	}
	buf_free(&text);
}

static bool posix_allows(const struct trace_checker *c, const struct pending *p,
			 const struct state *from)
{
	struct envelope env;
	bool allowed = false;

	for (size_t i = 0; i < p->ret->count && !allowed; i++) {
		struct state s = state_copy(from);

		allowed = model_step(&c->posix, &s, p->call, &p->ret->outcomes[i], &env) !=
			  VERDICT_BAD;
		state_free(&s);
	}
	return allowed;
}

/* No hypothesis explains the return: reports what was allowed, and continues from there. */
static void explain_mismatch(struct trace_checker *c, size_t place, enum dialect dialect,
			     struct mismatch *ret)
{
	struct overlap *o = &c->overlap;
	const struct pending *p = &o->pending[place];
	const struct outcome *seen = pending_outcome(p, 0);
	struct envelope env;

	print_seen(c, p, dialect);
	buf_clear(&c->allowed);
	ret->line = p->line;
	ret->window = c->window;
	ret->reach = REACH_OUTSIDE_POSIX;
	for (size_t i = 0; i < o->count; i++) {
		struct hypothesis *h = &o->items[i];

		if (o->model.platform != PLATFORM_POSIX && posix_allows(c, p, &h->state))
			ret->reach = REACH_INSIDE_POSIX;
		model_allow(&o->model, &h->state, p->call, &env);
		print_allowed(c, &env, p->call->op, dialect);
		ret->rule_count = env.rule_count;
		memcpy(ret->rules, env.rules, sizeof(ret->rules));
		overlap_effect(o, p, &h->state, seen, &env);
		h->taken |= 1u << place;
	}
	ret->call = buf_str(&c->call);
	ret->seen = buf_str(&c->seen);
	ret->allowed = buf_str(&c->allowed);
}

/* The usual case: one hypothesis, one call under way, one outcome. Nothing is copied. */
static bool is_plain(const struct overlap *o, size_t place)
{
	for (size_t i = 0; i < OVERLAP_MAX; i++)
		if (o->pending[i].pid && i != place)
			return false;
	return o->count == 1 && !o->items[0].taken && pending_outcomes(&o->pending[place]) == 1;
}

static enum verdict judge_plain(struct trace_checker *c, size_t place, enum dialect dialect,
				struct mismatch *ret)
{
	struct overlap *o = &c->overlap;
	const struct pending *p = &o->pending[place];
	const struct outcome *seen = pending_outcome(p, 0);
	struct hypothesis *h = &o->items[0];
	struct state before = state_copy(&h->state);
	struct envelope env;
	enum verdict verdict = overlap_effect(o, p, &h->state, seen, &env);

	if (verdict == VERDICT_BAD) {
		state_free(&h->state);
		h->state = before;
		explain_mismatch(c, place, dialect, ret);
	} else {
		state_free(&before);
	}
	/* What failed has changed nothing, whatever it was. */
	o->lost |= verdict == VERDICT_UNKNOWN && !(seen && seen->error);
	h->taken = 0;
	o->pending[place].pid = 0;
	return verdict;
}

static enum verdict judge_return(struct trace_checker *c, const struct item *item,
				 enum dialect dialect, struct mismatch *ret)
{
	size_t place = overlap_find(&c->overlap, item->pid);
	enum verdict verdict = VERDICT_OK;

	if (place == OVERLAP_MAX)
		return VERDICT_UNKNOWN; /* of no call, or of one too many */
	if (is_plain(&c->overlap, place))
		return judge_plain(c, place, dialect, ret);
	if (!overlap_explain(&c->overlap, place)) {
		explain_mismatch(c, place, dialect, ret);
		verdict = VERDICT_BAD;
	}
	overlap_return(&c->overlap, place);
	return verdict;
}

/* A window is open while a call is under way. */
static bool is_quiet(const struct overlap *o)
{
	for (size_t i = 0; i < OVERLAP_MAX; i++)
		if (o->pending[i].pid)
			return false;
	return true;
}

static enum verdict begin_call(struct trace_checker *c, const struct script *trace, size_t at)
{
	const struct item *item = &trace->items[at];
	struct pending p = { item->pid, item->line, &item->call, find_return(trace, at) };
	size_t place;

	if (is_quiet(&c->overlap))
		c->window = item->line;
	place = overlap_call(&c->overlap, &p);
	if (place == OVERLAP_MAX)
		return VERDICT_UNKNOWN;
	/* Published traces do not say that a process was made or ended. */
	if (!p.ret && op_table[item->call.op].traits & TRAIT_PROC) {
		overlap_explain(&c->overlap, place);
		overlap_return(&c->overlap, place);
	}
	return VERDICT_OK;
}

/* One line of a dump without the inode number, which is the file system's own. */
static void add_without_ino(struct buf *out, const char *line, size_t len)
{
	const char *end = line + len, *at = line + 1, *rest;

	while (at < end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	at += 3; /* behind the path: "|F */
	if (at >= end || (at[-1] != 'F' && at[-1] != 'D')) {
		buf_add(out, line, len);
		return;
	}
	buf_add(out, line, (size_t)(at - line));
	rest = at + 1;
	while (rest < end && *rest >= '0' && *rest <= '9')
		rest++;
	/* A file's number is followed by its size; one alone is the size. */
	if (at[-1] == 'F' && rest < end && rest[1] == '"')
		rest = at;
	buf_add(out, rest, (size_t)(end - rest));
}

static void normalise_dump(const char *text, struct buf *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len)
			add_without_ino(out, text, len);
		buf_addch(out, '\n');
		text += len + (text[len] == '\n');
	}
}

struct dumped {
	struct trace_checker *checker;
	const char *path;
};

static bool is_dumped(const struct state *s, void *own)
{
	const struct dumped *d = own;
	struct trace_checker *c = d->checker;

	buf_clear(&c->allowed);
	tree_dump(&s->tree, d->path, false, &c->allowed);
	return !strcmp(buf_str(&c->allowed), buf_str(&c->seen));
}

/* Keeps the hypotheses whose tree the dump could be of, unless there are none. */
static enum verdict judge_dump(struct trace_checker *c, const struct item *item,
			       struct mismatch *ret)
{
	struct dumped dumped = { c, item->path };

	buf_clear(&c->seen);
	normalise_dump(item->text, &c->seen);
	if (overlap_keep(&c->overlap, is_dumped, &dumped))
		return VERDICT_OK;
	*ret = (struct mismatch){
		.line = item->line,
		.window = item->line,
		.call = "dump",
		.seen = buf_str(&c->seen),
		.allowed = buf_str(&c->allowed),
	};
	return VERDICT_BAD;
}

enum verdict trace_checker_item(struct trace_checker *c, const struct script *trace, size_t at,
				struct mismatch *ret)
{
	const struct item *item = &trace->items[at];
	enum verdict verdict = VERDICT_OK;

	switch (item->type) {
	case ITEM_CALL:
		verdict = begin_call(c, trace, at);
		break;
	case ITEM_RETURN:
		verdict = judge_return(c, item, trace->dialect, ret);
		break;
	case ITEM_DUMP_RESULT:
		verdict = judge_dump(c, item, ret);
		break;
	default:
		break;
	}
	return c->overlap.lost && verdict == VERDICT_BAD ? VERDICT_UNKNOWN : verdict;
}
