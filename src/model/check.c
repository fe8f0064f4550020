/* check.c -- traces judged: hypotheses about when overlapping calls took effect. */
#include "model/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

struct hypothesis {
	struct state state;
	uint32_t taken; /* calls under way that have taken effect: bits of places in pending */
	struct hash key;
};

void checker_init(struct checker *c, const struct model *m, const struct state_options *start)
{
	*c = (struct checker){ .model = *m, .posix = *m, .start = *start };
	c->start.hashed = true;
	c->posix.platform = PLATFORM_POSIX;
	c->posix.rule_hits = NULL;
}

static void drop_all(struct checker *c)
{
	for (size_t i = 0; i < c->count; i++)
		state_free(&c->hypotheses[i].state);
	c->count = 0;
}

void checker_free(struct checker *c)
{
	drop_all(c);
	free(c->hypotheses);
	buf_free(&c->call);
	buf_free(&c->seen);
	buf_free(&c->allowed);
}

/* The key tells states apart, and who has taken effect. */
static struct hash key_of(const struct state *s, uint32_t taken)
{
	struct hash mark = { taken, 0 };

	return hash_add(state_hash(s), hash128(&mark, sizeof(mark), 0));
}

/* Takes over the state. A hypothesis that is there already is not added again. */
static void add(struct checker *c, struct state *s, uint32_t taken)
{
	struct hash key = key_of(s, taken);

	for (size_t i = 0; i < c->count; i++)
		if (hash_equal(c->hypotheses[i].key, key)) {
			state_free(s);
			return;
		}
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 4;
		c->hypotheses = must_realloc(c->hypotheses, c->cap * sizeof(*c->hypotheses));
	}
	c->hypotheses[c->count++] = (struct hypothesis){ *s, taken, key };
}

void checker_begin(struct checker *c)
{
	struct state s;

	drop_all(c);
	memset(c->pending, 0, sizeof(c->pending));
	c->lost = false;
	state_init(&s, &c->start);
	add(c, &s, 0);
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

static size_t pending_of(const struct checker *c, uint16_t pid)
{
	size_t i = 0;

	while (i < CHECK_PENDING_MAX && c->pending[i].pid != pid)
		i++;
	return i;
}

/* One way for a call to take effect in a state. */
static enum verdict take_effect(const struct checker *c, const struct pending *p, struct state *s,
				const struct outcome *seen, struct envelope *env)
{
	if (seen)
		return model_step(&c->model, s, p->call, seen, env);
	model_move(&c->model, s, p->call, env);
	if (env->undefined)
		return VERDICT_UNKNOWN;
	return env->success || !p->ret ? VERDICT_OK : VERDICT_BAD;
}

/* The outcomes a return may stand for; one, NULL, where any success or anything at all will do. */
static size_t outcome_count(const struct pending *p)
{
	return p->ret && !p->ret->any_success ? p->ret->count : 1;
}

static const struct outcome *outcome_at(const struct pending *p, size_t i)
{
	return p->ret && !p->ret->any_success ? &p->ret->outcomes[i] : NULL;
}

/* Adds what follows if a call under way takes effect in the hypothesis at this place. */
static void add_effects(struct checker *c, size_t at, size_t place)
{
	const struct pending *p = &c->pending[place];
	uint32_t taken = c->hypotheses[at].taken | 1u << place;
	struct envelope env;

	for (size_t i = 0; i < outcome_count(p); i++) {
		struct state s = state_copy(&c->hypotheses[at].state);
		enum verdict verdict = take_effect(c, p, &s, outcome_at(p, i), &env);

		c->lost |= verdict == VERDICT_UNKNOWN;
		if (verdict == VERDICT_BAD)
			state_free(&s);
		else
			add(c, &s, taken);
	}
}

/* All hypotheses in which the call at that place has taken effect, and whatever others under way
 * before it. Those without it stay among them. */
static void explore(struct checker *c, size_t place)
{
	for (size_t at = 0; at < c->count && c->count <= CHECK_HYPOTHESES_MAX; at++) {
		uint32_t taken = c->hypotheses[at].taken;

		if (taken >> place & 1)
			continue;
		for (size_t i = 0; i < CHECK_PENDING_MAX; i++)
			if (c->pending[i].pid && !(taken >> i & 1))
				add_effects(c, at, i);
	}
	c->lost |= c->count > CHECK_HYPOTHESES_MAX;
}

static bool has_taken(const struct checker *c, size_t place)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->hypotheses[i].taken >> place & 1)
			return true;
	return false;
}

/* Keeps the hypotheses in which the call has taken effect; it is no longer under way. */
static void settle(struct checker *c, size_t place)
{
	size_t before = c->count, kept = 0;
	uint32_t bit = 1u << place;

	for (size_t i = 0; i < before; i++) {
		struct hypothesis h = c->hypotheses[i];

		if (!(h.taken & bit)) {
			state_free(&h.state);
			continue;
		}
		h.taken &= ~bit;
		h.key = key_of(&h.state, h.taken);
		c->hypotheses[kept++] = h;
	}
	c->count = kept;
	c->pending[place] = (struct pending){ 0 };
}

static void print_seen(struct checker *c, const struct pending *p, enum dialect dialect)
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
static void print_allowed(struct checker *c, const struct envelope *env, enum op op,
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

static bool posix_allows(const struct checker *c, const struct pending *p, const struct state *from)
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

static void note_rules(struct mismatch *ret, const struct envelope *env)
{
	ret->rule_count = env->rule_count;
	memcpy(ret->rules, env->rules, sizeof(ret->rules));
}

/* No hypothesis explains the return: says what was allowed, and goes on from there. */
static void complain(struct checker *c, size_t place, enum dialect dialect, struct mismatch *ret)
{
	const struct pending *p = &c->pending[place];
	const struct outcome *seen = outcome_at(p, 0);
	struct envelope env;

	print_seen(c, p, dialect);
	buf_clear(&c->allowed);
	ret->line = p->line;
	ret->reach = REACH_OUTSIDE_POSIX;
	for (size_t i = 0; i < c->count; i++) {
		struct hypothesis *h = &c->hypotheses[i];

		if (c->model.platform != PLATFORM_POSIX && posix_allows(c, p, &h->state))
			ret->reach = REACH_INSIDE_POSIX;
		model_allow(&c->model, &h->state, p->call, &env);
		print_allowed(c, &env, p->call->op, dialect);
		note_rules(ret, &env);
		take_effect(c, p, &h->state, seen, &env);
		h->taken |= 1u << place;
	}
	ret->call = buf_str(&c->call);
	ret->seen = buf_str(&c->seen);
	ret->allowed = buf_str(&c->allowed);
}

/* The usual case: one hypothesis, one call under way, one outcome. Nothing is copied. */
static bool is_plain(const struct checker *c, size_t place)
{
	for (size_t i = 0; i < CHECK_PENDING_MAX; i++)
		if (c->pending[i].pid && i != place)
			return false;
	return c->count == 1 && !c->hypotheses[0].taken && outcome_count(&c->pending[place]) == 1;
}

static enum verdict judge_plain(struct checker *c, size_t place, enum dialect dialect,
				struct mismatch *ret)
{
	const struct pending *p = &c->pending[place];
	struct hypothesis *h = &c->hypotheses[0];
	struct state before = state_copy(&h->state);
	struct envelope env;
	enum verdict verdict = take_effect(c, p, &h->state, outcome_at(p, 0), &env);

	if (verdict == VERDICT_BAD) {
		state_free(&h->state);
		h->state = before;
		complain(c, place, dialect, ret);
	} else {
		state_free(&before);
	}
	/* What failed has changed nothing, whatever it was. */
	c->lost |= verdict == VERDICT_UNKNOWN && !(outcome_at(p, 0) && outcome_at(p, 0)->error);
	h->taken = 0;
	c->pending[place].pid = 0;
	return verdict;
}

static enum verdict judge_return(struct checker *c, const struct item *item, enum dialect dialect,
				 struct mismatch *ret)
{
	size_t place = pending_of(c, item->pid);
	enum verdict verdict = VERDICT_OK;

	if (place == CHECK_PENDING_MAX)
		return VERDICT_UNKNOWN; /* of no call, or of one too many */
	if (is_plain(c, place))
		return judge_plain(c, place, dialect, ret);
	explore(c, place);
	if (!has_taken(c, place)) {
		complain(c, place, dialect, ret);
		verdict = VERDICT_BAD;
	}
	settle(c, place);
	return verdict;
}

static enum verdict begin_call(struct checker *c, const struct script *trace, size_t at)
{
	const struct item *item = &trace->items[at];
	size_t place = pending_of(c, 0);

	if (place == CHECK_PENDING_MAX || pending_of(c, item->pid) < CHECK_PENDING_MAX) {
		c->lost = true;
		return VERDICT_UNKNOWN;
	}
	c->pending[place] = (struct pending){
		.pid = item->pid,
		.line = item->line,
		.call = &item->call,
		.ret = find_return(trace, at),
	};
	/* Published traces do not say that a process was made or ended. */
	if (!c->pending[place].ret && op_table[item->call.op].traits & TRAIT_PROC) {
		explore(c, place);
		settle(c, place);
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

static bool is_dumped(struct checker *c, const struct hypothesis *h, const char *path)
{
	buf_clear(&c->allowed);
	tree_dump(&h->state.tree, path, false, &c->allowed);
	return !strcmp(buf_str(&c->allowed), buf_str(&c->seen));
}

/* Keeps the hypotheses whose tree the dump could be of, unless there are none. */
static enum verdict judge_dump(struct checker *c, const struct item *item, struct mismatch *ret)
{
	size_t kept = 0;

	buf_clear(&c->seen);
	normalise_dump(item->text, &c->seen);
	for (size_t i = 0; i < c->count; i++) {
		struct hypothesis h = c->hypotheses[i];

		if (!is_dumped(c, &h, item->path))
			continue;
		c->hypotheses[i] = c->hypotheses[kept];
		c->hypotheses[kept++] = h;
	}
	if (kept) {
		while (c->count > kept)
			state_free(&c->hypotheses[--c->count].state);
		return VERDICT_OK;
	}
	*ret = (struct mismatch){
		.line = item->line,
		.call = "dump",
		.seen = buf_str(&c->seen),
		.allowed = buf_str(&c->allowed),
	};
	return VERDICT_BAD;
}

enum verdict checker_item(struct checker *c, const struct script *trace, size_t at,
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
	return c->lost && verdict == VERDICT_BAD ? VERDICT_UNKNOWN : verdict;
}
