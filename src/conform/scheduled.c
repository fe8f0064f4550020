/* scheduled.c -- calls that overlap under every schedule with few switches, each outcome judged. */
#include "conform/scheduled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "conform/aftermath.h"
#include "conform/race.h"
#include "process/debugger.h"
#include "schedule/search.h"

/* Runs with each process first in which it is stopped to learn what memory is used then. */
enum { PROBES = 3 };

/* The set-up, as a saved state of the target. */
static const uint64_t setup_key = 1;

struct outcome_list {
	struct hash *items;
	size_t count, cap;
};

struct scheduled {
	struct race_run *race;
	struct target *target;
	struct schedule_board *board;
	unsigned processes;
	struct outcome_list known; /* outcomes that are explained, */
	struct outcome_list
		examined; /* and those with what is free afterwards, as they were looked at */
	struct aftermath aftermath;
	bool examines;         /* what they leave behind is looked at */
	bool repeats;          /* one schedule, which was reported */
	bool draws;            /* a schedule leaves open what the run decides */
	uint64_t *serial_hash; /* to be filled: points of the runs without a switch; or NULL */
	bool over;             /* something is wrong, or the verdict is unknown */
	struct buf text;
};

/* Without times, which are not judged here. */
static struct outcome scheduled_outcome(const struct race_outcome *raced)
{
	struct outcome o = raced->outcome;

	if (!o.error && o.result == RESULT_STAT)
		o.stat.atime = o.stat.mtime = o.stat.ctime = o.stat.btime = 0;
	return o;
}

/* Everything that the verdict depends on: outcomes, the tree, and, if they are `ordered`, what had
 * returned before what was called. */
static struct hash scheduled_hash(struct scheduled *s, bool ordered)
{
	const struct script_walk *w = s->race->walk;
	struct hash tree = tree_hash(&s->race->tree);

	buf_clear(&s->text);
	buf_add(&s->text, (const char *)&tree, sizeof(tree));
	for (unsigned i = 0; i < w->count; i++) {
		const struct race_outcome *raced = &s->race->raced[i];
		struct outcome outcome;

		for (unsigned j = 0; j < w->count && ordered; j++)
			buf_addch(&s->text,
				  s->race->raced[j].returned_ns < raced->called_ns ? '<' : ' ');
		outcome = scheduled_outcome(raced);
		outcome_print(&outcome, w->calls[i].op, DIALECT_NATIVE, &s->text);
	}
	return hash128(s->text.data, s->text.len, 0);
}

static bool outcome_list_has(const struct outcome_list *l, struct hash h)
{
	for (size_t i = 0; i < l->count; i++)
		if (hash_equal(l->items[i], h))
			return true;
	return false;
}

static void outcome_list_add(struct outcome_list *l, struct hash h)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		l->items = must_realloc(l->items, l->cap * sizeof(*l->items));
	}
	l->items[l->count++] = h;
}

/* The processes of the script, in the order of their first calls; returns how many. */
static unsigned scheduled_pids(const struct script_walk *w, unsigned ret[SCHEDULE_PROCESSES_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < w->count; i++) {
		unsigned at = 0;

		while (at < count && ret[at] != w->calls[i].pid)
			at++;
		if (at < SCHEDULE_PROCESSES_MAX && at == count)
			ret[count++] = w->calls[i].pid;
	}
	return count;
}

static void scheduled_add_task(const unsigned *pids, unsigned task, const char *verb,
			       struct buf *out)
{
	if (task == SCHEDULE_THREADS)
		buf_addf(out, "threads of the kernel %s", verb);
	else
		buf_addf(out, "[%u] %s%s", pids[task], verb, "s");
}

static void scheduled_add_stop(const struct scheduled *s, const struct schedule_point *p,
			       const unsigned *pids, struct buf *out)
{
	if (p->task == SCHEDULE_THREADS)
		buf_adds(out, "threads of the kernel are stopped ");
	else
		buf_addf(out, "[%u] is stopped ", pids[p->task]);
	if (p->code) {
		buf_adds(out, "in ");
		s->target->kind->name_code(s->target, p->code, out);
	} else {
		buf_adds(out, "before a call");
	}
}

/* "schedule 2@14=3: [2] begins; [2] is stopped in vfs_link (fs/namei.c:4711), [3] continues". */
static void scheduled_describe(const struct scheduled *s, const struct schedule *schedule,
			       bool ended, struct buf *out)
{
	unsigned pids[SCHEDULE_PROCESSES_MAX] = { 0 };

	scheduled_pids(s->race->walk, pids);
	buf_addf(out, "schedule %u", pids[schedule->first]);
	for (uint32_t i = 0; i < schedule->count; i++) {
		buf_addf(out, "%c%u=", i ? ',' : '@', schedule->at[i]);
		if (schedule->to[i] == SCHEDULE_THREADS)
			buf_addch(out, 'k');
		else
			buf_addf(out, "%u", pids[schedule->to[i]]);
	}
	buf_addf(out, ": [%u] begins", pids[schedule->first]);
	for (uint32_t i = 0; i < schedule->count; i++) {
		buf_adds(out, "; ");
		scheduled_add_stop(s, &s->board->point[schedule->at[i]], pids, out);
		buf_adds(out, ", ");
		scheduled_add_task(pids, schedule->to[i], "continue", out);
	}
	if (!ended)
		buf_adds(out, "; it did not end");
}

static void scheduled_report(struct scheduled *s, const struct schedule *schedule, bool ended)
{
	struct deviation *d = s->race->walk->deviation;
	struct buf text = BUF_INIT;

	scheduled_describe(s, schedule, ended, &text);
	buf_addf(&d->detail, "%s%s", d->detail.len ? "\n" : "", text.data);
	buf_addf(&d->history, "# %s\n", text.data);
	buf_free(&text);
	s->over = true;
}

static int scheduled_make(struct scheduled *s, const struct schedule *schedule,
			  enum target_fate *ret_fate, struct err *err)
{
	const struct script_walk *w = s->race->walk;
	double from = clock_seconds();
	int r;

	s->board->schedule = *schedule;
	s->board->points = s->board->uses = s->board->made = 0;
	r = target_overlap(s->target, setup_key, w->calls, w->count, s->race->raced, &s->race->tree,
			   ret_fate, err);
	s->race->walker->figures.exec_seconds += clock_seconds() - from;
	return r;
}

/* A run that was not as the schedule, or the same schedule before, has it: nothing follows. */
static void scheduled_note_unsteady(struct scheduled *s)
{
	s->race->walker->figures.unsteady++;
}

/* What is reported is run once more: it has to show again. What a kernel says of itself counts
 * once and for all. */
static int scheduled_confirm(struct scheduled *s, const struct schedule *schedule,
			     enum target_fate fate, struct hash outcome, struct err *err)
{
	enum target_fate again = FATE_FINE;
	bool same;
	int r = scheduled_make(s, schedule, &again, err);

	if (r)
		return r;
	same = again == fate;
	if (again == FATE_FINE) {
		same = same && hash_equal(scheduled_hash(s, true), outcome);
		tree_free(&s->race->tree);
	}
	if (same)
		return 0;
	scheduled_note_unsteady(s);
	if (fate == FATE_FINE) {
		deviation_clear(s->race->walk->deviation);
		s->race->walk->fate = SCRIPT_ACCEPTED;
		s->over = false;
	}
	return 0;
}

/* Whether calls did overlap. What deviates where one came behind the other is not about races. */
static bool scheduled_overlaps(const struct scheduled *s)
{
	const struct race_outcome *raced = s->race->raced;

	for (unsigned i = 0; i < s->race->walk->count; i++)
		for (unsigned j = 0; j < i; j++)
			if (raced[i].called_ns < raced[j].returned_ns &&
			    raced[j].called_ns < raced[i].returned_ns)
				return true;
	return false;
}

/* The present state, and what is free in it. */
static int scheduled_add_space(struct scheduled *s, struct hash *outcome,
			       enum target_fate *ret_fate, struct err *err)
{
	struct call c = { .op = OP_statfs, .pid = 1 };
	struct outcome answer = { 0 };
	int64_t space[2];
	int r;

	c.statfs.path = (struct arg){ .text = "/", .len = 1 };
	r = target_call(s->target, &c, &answer, ret_fate, err);
	space[0] = answer.statfs.bfree;
	space[1] = answer.statfs.ffree;
	*outcome = hash_add(*outcome, hash128(space, sizeof(space), 0));
	return r;
}

/* The schedule is made once more, so that the present state, and what came back, are its. */
static int scheduled_look(struct scheduled *s, const struct schedule *schedule,
			  struct discrepancy *found, bool *ret_bad, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	int r = scheduled_make(s, schedule, &fate, err);

	*ret_bad = false;
	if (r || fate != FATE_FINE)
		return r;
	race_write_trace(s->race);
	race_judge(s->race);
	if (s->race->walk->fate == SCRIPT_ACCEPTED)
		r = aftermath_examine(&s->aftermath, s->race->walker,
				      &s->race->checker.overlap.items[0].state, found, ret_bad,
				      err);
	if (*ret_bad)
		race_report_aftermath(s->race, found);
	tree_free(&s->race->tree);
	return r;
}

/* Of an outcome that is explained: what is left behind. What is wrong has to be so twice. */
static int scheduled_examine(struct scheduled *s, const struct schedule *schedule,
			     struct hash left_behind, struct err *err)
{
	struct script_walk *w = s->race->walk;
	enum target_fate fate = FATE_FINE;
	struct discrepancy found;
	bool bad = false;
	int r = scheduled_add_space(s, &left_behind, &fate, err);

	if (r || fate != FATE_FINE || outcome_list_has(&s->examined, left_behind))
		return r;
	outcome_list_add(&s->examined, left_behind);
	for (unsigned i = 0; i < 2 && !r && (!i || bad); i++) {
		w->fate = SCRIPT_ACCEPTED;
		discrepancy_init(&found);
		r = scheduled_look(s, schedule, &found, &bad, err);
		discrepancy_free(&found);
	}
	if (!r && bad)
		scheduled_report(s, schedule, true);
	return r;
}

static int scheduled_run(void *own, const struct schedule *schedule, bool *ret_ended,
			 struct err *err)
{
	struct scheduled *s = own;
	struct script_walk *w = s->race->walk;
	enum target_fate fate = FATE_FINE;
	struct hash outcome, left_behind;
	struct schedule decided;
	int r = scheduled_make(s, schedule, &fate, err);

	if (r)
		return r;
	if (s->draws) {
		decided = s->board->schedule;
		decided.count = s->board->made;
		schedule = &decided;
	}
	*ret_ended = fate == FATE_FINE;
	if (fate != FATE_FINE) {
		race_report_fate(s->race, fate);
		scheduled_report(s, schedule, false);
		return scheduled_confirm(s, schedule, fate, (struct hash){ 0, 0 }, err);
	}
	if (s->serial_hash && !schedule->count)
		s->serial_hash[schedule->first] = s->board->hash;
	if (s->board->made != schedule->count) {
		scheduled_note_unsteady(s);
		tree_free(&s->race->tree);
		*ret_ended = false;
		return s->repeats ? err_set(err, EIO,
					    "the schedule is not that of a run: %u of %u switches",
					    s->board->made, schedule->count)
				  : 0;
	}
	if (s->board->overflows) { /* there is no room for so many points */
		w->fate = SCRIPT_UNKNOWN;
		s->over = true;
	}
	outcome = scheduled_hash(s, true);
	left_behind = s->examines ? scheduled_hash(s, false) : outcome;
	if (!r && !s->over && !outcome_list_has(&s->known, outcome)) {
		race_write_trace(s->race);
		race_judge(s->race);
		if (w->fate == SCRIPT_REJECTED && !scheduled_overlaps(s))
			w->fate = SCRIPT_UNKNOWN;
		if (w->fate == SCRIPT_ACCEPTED)
			outcome_list_add(&s->known, outcome);
		else if (w->fate == SCRIPT_REJECTED)
			scheduled_report(s, schedule, true);
		s->over |= w->fate != SCRIPT_ACCEPTED;
	}
	tree_free(&s->race->tree);
	if (!r && w->fate == SCRIPT_REJECTED)
		r = scheduled_confirm(s, schedule, fate, outcome, err);
	else if (!r && !s->over && s->examines)
		r = scheduled_examine(s, schedule, left_behind, err);
	return r;
}

/* Runs a schedule for what memory it uses alone. *ret_points: how many there were. */
static int scheduled_probe(struct scheduled *s, const struct schedule *schedule,
			   uint32_t *ret_points, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	int r = scheduled_make(s, schedule, &fate, err);

	if (!r && fate == FATE_FINE)
		tree_free(&s->race->tree);
	*ret_points = s->board->points;
	return r;
}

/* What a stopped process has not finished, the other one may meet in no other run. */
static int scheduled_learn_stopped(struct scheduled *s, struct err *err)
{
	int r = 0;

	s->board->learns = SCHEDULE_LEARNS_STOPPED;
	for (uint32_t first = 0; first < s->processes && !r && !s->over; first++) {
		struct schedule schedule = { .first = first };
		uint32_t points, unused;

		r = scheduled_probe(s, &schedule, &points, err);
		schedule.count = 1;
		for (uint32_t i = 0; i < PROBES && !r; i++) {
			schedule.at[0] = points * (i + 1) / (PROBES + 1);
			schedule.to[0] = SCHEDULE_ANY;
			r = scheduled_probe(s, &schedule, &unused, err);
		}
	}
	s->board->learns = 0;
	return r;
}

/* One process behind the other, each of them first. */
static int scheduled_learn_words(struct scheduled *s, struct err *err)
{
	struct schedule_board *b = s->board;
	int r = 0;

	memset(b->word, 0, sizeof(b->word));
	memset(b->word_use, 0, sizeof(b->word_use));
	b->words = 0;
	b->learns = SCHEDULE_LEARNS_SERIAL;
	s->aftermath.serial = true;
	for (uint32_t first = 0; first < s->processes && !r && !s->over; first++) {
		struct schedule schedule = { .first = first };
		bool ended;

		r = scheduled_run(s, &schedule, &ended, err);
	}
	b->learns = 0;
	s->aftermath.serial = false;
	return r || s->over ? r : scheduled_learn_stopped(s, err);
}

/* The same schedule is the same run, whatever was run in between. */
static int scheduled_check(struct scheduled *s, const uint64_t *hash, struct err *err)
{
	for (uint32_t first = 0; first < s->processes && !s->over; first++) {
		struct schedule schedule = { .first = first };
		bool ended;
		int r = scheduled_run(s, &schedule, &ended, err);

		if (r)
			return r;
		if (!s->over && s->board->hash != hash[first])
			scheduled_note_unsteady(s);
	}
	return 0;
}

/* What the search has added up. */
static void scheduled_count(const struct scheduled *s, const struct schedule_search *search,
			    const struct scheduled_options *o, unsigned others)
{
	struct session_figures *f = &s->race->walker->figures;
	double chance = o->drawn ? schedule_chance(search, o->preemptions, others) : 1;

	if (o->drawn && search->schedules && (!f->chance || chance < f->chance))
		f->chance = chance;
	if (o->preemptions == 1 && !o->drawn) {
		f->whole += search->points + s->processes;
		f->reduced += search->schedules;
	}
	f->pairs += o->preemptions == 1 || o->drawn;
	f->searched[o->preemptions]++;
	f->schedules += search->schedules;
	f->left += search->left;
	f->outcomes += s->known.count;
}

static int scheduled_search(struct scheduled *s, const struct scheduled_options *o, struct err *err)
{
	unsigned others = s->processes - 1 + o->background;
	uint64_t serial[SCHEDULE_PROCESSES_MAX] = { 0 };
	struct schedule_search search = {
		.processes = s->processes,
		.board = s->board,
		.run = scheduled_run,
		.own = s,
		.whole = o->whole,
		.limit = o->limit,
		.stop = &s->over,
	};
	struct rng rng;
	int r = scheduled_learn_words(s, err);

	s->serial_hash = serial;
	s->draws = o->drawn;
	rng_seed(&rng, s->race->walk->deviation->script + 1);
	if (!r && !s->over)
		r = o->drawn ? schedule_draw(&search, o->preemptions, others, o->drawn, &rng, err)
			     : schedule_search(&search, o->preemptions, err);
	s->draws = false;
	s->serial_hash = NULL;
	if (!r)
		r = scheduled_check(s, serial, err);
	scheduled_count(s, &search, o, others);
	schedule_search_free(&search);
	return r;
}

static uint8_t scheduled_task(const unsigned *pids, unsigned pid)
{
	uint8_t task = 0;

	while (task + 1 < SCHEDULE_PROCESSES_MAX && pids[task] != pid)
		task++;
	return task;
}

/* One schedule for the user of gdb alone, who may do anything with that kernel. */
static int scheduled_debug(struct scheduled *s, const struct schedule *schedule, struct err *err)
{
	uint32_t points;
	pid_t debugger, pid;
	int r = s->target->kind->debug(s->target, &debugger, &pid, err);

	if (r)
		return r;
	r = scheduled_probe(s, schedule, &points, err);
	debugger_finish(debugger, pid);
	return r;
}

/* One that was reported, again. */
static int scheduled_repeat(struct scheduled *s, const struct scheduled_options *o, struct err *err)
{
	const struct scheduled_one *one = o->one;
	struct session_figures *f = &s->race->walker->figures;
	struct schedule schedule = one->schedule;
	unsigned pids[SCHEDULE_PROCESSES_MAX] = { 0 };
	int r;
	bool ended;

	scheduled_pids(s->race->walk, pids);
	schedule.first = scheduled_task(pids, one->pid);
	for (uint32_t i = 0; i < schedule.count; i++)
		schedule.to[i] = one->to[i] ? scheduled_task(pids, one->to[i]) : SCHEDULE_THREADS;
	r = scheduled_learn_words(s, err);
	if (!r && !s->over && o->debugs)
		r = scheduled_debug(s, &schedule, err);
	if (!r && !s->over)
		r = scheduled_run(s, &schedule, &ended, err);
	f->pairs++;
	f->schedules++;
	return r;
}

int scheduled_parse(const char *text, struct scheduled_one *ret, struct err *err)
{
	const char *whole = text;
	char *end;

	*ret = (struct scheduled_one){ 0 };
	ret->pid = (unsigned)strtoul(text, &end, 10);
	while (end != text && (*end == '@' || *end == ',')) {
		uint32_t n = ret->schedule.count;

		if (n == SCHEDULE_SWITCHES_MAX)
			return err_set(err, E2BIG, "%s: at most %d switches", whole,
				       SCHEDULE_SWITCHES_MAX);
		text = end + 1;
		ret->schedule.at[n] = (uint32_t)strtoul(text, &end, 10);
		text = end;
		if (*end == '=' && end[1] == 'k')
			end += 2;
		else if (*end == '=')
			ret->to[n] = (unsigned)strtoul(end + 1, &end, 10);
		ret->schedule.count++;
	}
	if (end == text || *end)
		return err_set(err, EINVAL, "%s: a schedule is PROCESS@POINT=PROCESS,...", whole);
	return 0;
}

int scheduled_walk(struct walker *x, struct script_walk *w, const struct scheduled_options *o,
		   struct err *err)
{
	struct scheduled s = {
		.race = race_new(x, w),
		.target = x->target,
		.board = target_board(x->target),
		.examines = o->examines,
		.repeats = o->one,
	};
	unsigned pids[SCHEDULE_PROCESSES_MAX];
	int r = walker_prefix(x, w, err);

	s.processes = scheduled_pids(w, pids);
	s.board->background = o->background;
	s.race->stays = true;
	if (!r && !w->prefix_failed) {
		r = x->target->kind->save(x->target, setup_key, err);
		if (!r)
			r = o->one ? scheduled_repeat(&s, o, err) : scheduled_search(&s, o, err);
		if (!r)
			r = x->target->kind->restore(x->target, setup_key, err);
		x->target->kind->drop(x->target, setup_key);
	}
	race_free(s.race);
	free(s.known.items);
	free(s.examined.items);
	buf_free(&s.text);
	return r;
}
