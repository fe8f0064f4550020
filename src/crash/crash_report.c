/* crash_report.c -- from a violation to a finding: shrunk, shown again, explained.
 *
 * Fewer calls are tried first: whatever is left out, a workload that still shows the signature is
 * simpler. Then fewer lost writes. The disk, the recovered tree and a script that mounts it on any
 * Linux lie in the finding's folder. */
#include "crash/crash_report.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "storage/dm_log_writes.h"
#include "trace/script.h"
#include "workload/workload.h"

/* Replays that decide whether it is a finding, and that shrinking may take. */
enum { SHOW_TIMES = 3, SHRINK_TRIES = 200, SHRINK_WINDOW = 4 };

struct sought {
	const char *signature;
	struct crash_violation *ret;
	bool found;
};

static void violation_copy(struct crash_violation *to, const struct crash_case *c,
			   const struct crash_violation *v)
{
	*to = *v;
	if (v->point.lost) {
		bool *lost = must_alloc((c->events.count + 1) * sizeof(*lost));

		memcpy(lost, v->point.lost, v->point.at * sizeof(*lost));
		to->point.lost = lost;
	}
	to->broken.seen = to->broken.reason = to->text = (struct buf)BUF_INIT;
	buf_adds(&to->broken.seen, buf_str(&v->broken.seen));
	buf_adds(&to->broken.reason, buf_str(&v->broken.reason));
	buf_adds(&to->text, buf_str(&v->text));
	to->disk = page_disk_copy(&v->disk);
	if (v->has_tree)
		to->tree = tree_copy(&v->tree);
	if (crash_violation_is_second(v))
		to->uninterrupted = tree_copy(&v->uninterrupted);
}

static bool seek_signature(void *to, struct crash_case *c, const struct crash_violation *v)
{
	struct sought *sought = to;

	if (strcmp(v->signature, sought->signature))
		return true;
	violation_copy(sought->ret, c, v);
	sought->found = true;
	return false;
}

/* Recovery has to be crashed only for what that shows. */
static bool signature_is_second(const char *signature)
{
	return strstr(signature, recovery_end_names[RECOVERY_INTERRUPTED]) ||
	       strstr(signature, recovery_end_names[RECOVERY_REPAIR_INTERRUPTED]);
}

int crash_shows(struct crash_session *s, const struct call *calls, size_t count, size_t setup_count,
		const char *signature, struct crash_case *ret_case, struct crash_violation *ret,
		struct err *err)
{
	struct sought sought = { .signature = signature, .ret = ret };
	/* What it meets must not count as met. */
	struct hash_map images = s->images, repaired = s->repaired;
	const struct crash_effort before = s->options.effort;
	const struct crash_effort effort = { .during_recovery = signature_is_second(signature),
					     .checks_calls = true,
					     .unsound = before.unsound };
	int status;

	s->images = s->repaired = (struct hash_map)HASH_MAP_INIT;
	crash_set_effort(s, &effort);
	status = crash_execute(s, calls, count, setup_count, ret_case, err);
	if (status > 0)
		status = crash_each(s, ret_case, seek_signature, &sought, err);
	hash_map_free(&s->images);
	hash_map_free(&s->repaired);
	s->images = images;
	s->repaired = repaired;
	crash_set_effort(s, &before);
	if (status < 0 || !sought.found)
		crash_case_free(ret_case);
	return status < 0 ? status : sought.found;
}

/* ---- shrinking ---- */

/* A workload that shows the signature. */
struct shown_violation {
	struct call *calls;
	size_t count, setup_count;
	struct crash_case c;
	struct crash_violation v;
};

static void shown_free(struct shown_violation *x)
{
	crash_violation_free(&x->v);
	crash_case_free(&x->c);
	free(x->calls);
}

/* Without calls [from, from + window); 1: it shows it, and is *x now. */
static int shown_without(struct crash_session *s, struct shown_violation *x, size_t from,
			 size_t window, struct err *err)
{
	struct shown_violation less = { .count = x->count - window, .setup_count = x->setup_count };
	char signature[SIGNATURE_MAX];
	int shows;

	memcpy(signature, x->v.signature, sizeof(signature));
	less.calls = workload_without(x->calls, x->count, from, window, &less.setup_count);
	shows = crash_shows(s, less.calls, less.count, less.setup_count, signature, &less.c,
			    &less.v, err);
	if (shows <= 0) {
		free(less.calls);
		return shows;
	}
	shown_free(x);
	*x = less;
	return 1;
}

/* How many calls are left out at once: of a long workload many at first, with steps of half of
 * that; then few, everywhere. */
static size_t shrink_first(size_t count)
{
	return count / 2 > SHRINK_WINDOW ? count / 2 : SHRINK_WINDOW;
}

static size_t shrink_next(size_t window)
{
	if (window <= SHRINK_WINDOW)
		return window - 1;
	return window / 2 > SHRINK_WINDOW ? window / 2 : SHRINK_WINDOW;
}

/* 1: nothing simpler shows it; 0: it was not tried to the end. */
static int shown_shrink(struct crash_session *s, struct shown_violation *x, struct err *err)
{
	unsigned tries = 0;

	for (size_t window = shrink_first(x->count); window; window = shrink_next(window))
		for (size_t from = x->count; from-- > 0;) {
			int less;

			if (from + window > x->count || window == x->count ||
			    (window > SHRINK_WINDOW && from % (window / 2)))
				continue;
			if (tries++ == SHRINK_TRIES || stop_requested)
				return 0;
			less = shown_without(s, x, from, window, err);
			if (less < 0)
				return less;
		}
	return 1;
}

/* Writes that need not be lost reach the disk. */
static int shown_restore_writes(struct crash_session *s, struct shown_violation *x, struct err *err)
{
	bool *lost = (bool *)x->v.point.lost;
	const struct page_disk start = { 0 };

	for (size_t i = 0; lost && i < x->v.point.at; i++) {
		struct crash_violation v;
		struct page_disk d;
		int wrong;

		if (!lost[i])
			continue;
		lost[i] = false;
		d = views_disk(&x->c.events, &x->c.store, &start, &x->v.point);
		wrong = crash_judge(s, &x->c, &x->v.point, &d, &v, err);
		page_disk_free(&d);
		if (wrong < 0)
			return wrong;
		if (!wrong || strcmp(v.signature, x->v.signature)) {
			lost[i] = true;
			if (wrong)
				crash_violation_free(&v);
			continue;
		}
		crash_violation_free(&x->v);
		x->v = v;
		lost = (bool *)v.point.lost;
	}
	return 0;
}

/* ---- causes ---- */

/* Operations that can be part of a cause: not the setup, nor opening and closing what exists. */
static struct crash_cause cause_of(const struct crash_case *c, const struct crash_violation *v)
{
	static const char reordering[] = ", writes reordered";
	bool reordered =
		!v->unflushed && v->point.view != VIEW_ORDER && !crash_violation_is_second(v);
	struct crash_cause cause = { .count = 0 };

	if (v->unflushed)
		cause.ops[cause.count++] = op_table[c->calls[v->broken.call - 1].op].base;
	/* Where nothing is wrong in order, a flush is missing between two writes, whatever calls
	 * led to them. */
	snprintf(cause.signature, sizeof(cause.signature), "%.*s%s",
		 (int)(sizeof(cause.signature) - sizeof(reordering)), v->signature,
		 reordered ? reordering : "");
	for (size_t i = v->unflushed || reordered ? c->count : c->setup_count;
	     i < c->count && cause.count < CAUSE_OPS_MAX; i++) {
		enum op base = op_table[c->calls[i].op].base;

		if (base != OP_close &&
		    !(c->calls[i].op == OP_open && !(c->calls[i].open.flags.num & O_CREAT)))
			cause.ops[cause.count++] = (uint16_t)base;
	}
	return cause;
}

/* Does the other, which is longer, have all operations of the cause in their order? */
static bool cause_explains(const struct crash_cause *cause, const struct crash_cause *other)
{
	size_t at = 0;

	for (size_t i = 0; i < other->count && at < cause->count; i++)
		at += other->ops[i] == cause->ops[at];
	return at == cause->count && !strcmp(cause->signature, other->signature);
}

static bool cause_is_known(const struct crash_session *s, const struct crash_cause *cause)
{
	for (size_t i = 0; i < s->cause_count; i++)
		if (cause_explains(&s->causes[i], cause))
			return true;
	return false;
}

static void cause_remember(struct crash_session *s, const struct crash_cause *cause)
{
	s->causes = must_realloc(s->causes, (s->cause_count + 1) * sizeof(*s->causes));
	s->causes[s->cause_count++] = *cause;
}

/* "LOST name missing: open, fsync": one for each cause. */
static void cause_sign(const struct crash_cause *cause, char ret[SIGNATURE_MAX])
{
	struct buf text = BUF_INIT;

	buf_adds(&text, cause->signature);
	for (size_t i = 0; i < cause->count; i++)
		buf_addf(&text, "%s%s", i ? ", " : ": ", op_table[cause->ops[i]].name);
	snprintf(ret, SIGNATURE_MAX, "%.*s", SIGNATURE_MAX - 1, text.data);
	buf_free(&text);
}

/* ---- the finding ---- */

/* Whether the running kernel can mount the disk: journalfs is known to Assay only. */
static bool crash_has_script(const struct crash_session *s)
{
	return !s->target->kind->in_process;
}

static void add_crash_note(const struct crash_session *s, const struct crash_case *c,
			   const struct crash_violation *v, struct buf *out)
{
	const struct crash_point *p = &v->point;
	size_t lost = 0;

	buf_addf(out, "Crash: %zu disk requests since %s, ", p->at,
		 c->calls ? "mounting" : "the log began");
	if (!c->calls) {
		buf_addf(out, p->done ? "behind mark %zu (%s)" : "before the first mark", p->done,
			 p->done ? c->marks[p->done - 1] : "");
	} else if (p->begun > p->done) {
		buf_addf(out, "during call %zu, ", p->begun);
		call_print(&c->calls[p->begun - 1], DIALECT_NATIVE, out);
	} else {
		buf_addf(out, "after call %zu had returned", p->done);
	}
	buf_addf(out, "\nView: %s: %s\n", view_names[p->view], view_sentences[p->view]);
	for (size_t i = 0; p->lost && i < p->at; i++)
		if (p->lost[i])
			buf_addf(out, "%s%zu", lost++ ? ", " : "Lost writes, by number: ", i + 1);
	buf_adds(out, lost ? "\n" : "");
	crash_print_promise(&v->broken, c->calls, out);
	buf_adds(out, "All disk requests: the file `writes`. The disk after the crash: "
		      "crashed.image.\n");
	if (c->calls)
		buf_adds(out, "To reproduce: `assay replay` with this folder makes the calls and "
			      "the crash again.\n");
	if (crash_has_script(s))
		buf_adds(out, "`sh crash.sh`, as root, mounts the disk after the crash on the "
			      "running kernel.\n");
}

static void describe(const struct crash_session *s, const struct crash_case *c,
		     const struct crash_violation *v, struct finding *f)
{
	struct crash_cause cause = cause_of(c, v);
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = v->broken.what ? PROBLEM_LOST : PROBLEM_RECOVERY;
	cause_sign(&cause, d->signature);
	buf_adds(&f->target, s->target->name);
	finding_reserve(f, c->count);
	f->count = c->count;
	for (size_t i = 0; i < c->count; i++) {
		f->calls[i] = call_copy(&c->calls[i], &f->arena);
		f->outcomes[i] = outcome_copy(&c->outcomes[i], &f->arena);
		f->evidence[i] = EVIDENCE_OBSERVED;
	}
	if (c->count)
		d->call = f->calls[v->broken.call ? v->broken.call - 1 : c->count - 1];
	if (v->broken.what) {
		buf_adds(&d->title, crash_violation_is_second(v)
					    ? "after a crash, and another one during recovery, "
					    : "after a crash, ");
		buf_add_clipped(&d->title, buf_str(&v->broken.seen),
				strcspn(buf_str(&v->broken.seen), "\n"));
		if (v->unflushed)
			buf_addf(&d->seen,
				 "%s() returned before the cache of the disk was flushed.\n",
				 op_table[c->calls[v->broken.call - 1].op].name);
		buf_addf(&d->seen, "%s\n%s", buf_str(&v->broken.seen), buf_str(&v->text));
		buf_adds(&d->expected, buf_str(&v->broken.reason));
	} else {
		buf_addf(&d->title, "after a crash, %s", recovery_end_sentences[v->end]);
		buf_addf(&d->seen, "%s\n%s", recovery_end_sentences[v->end], buf_str(&v->text));
		buf_adds(&d->expected, "After a crash the file system can be mounted, read and "
				       "used, and its checker finds no error.");
	}
	if (v->has_tree && c->calls)
		tree_diff(&persistence_behind(&c->history, v->point.done)->tree, &v->tree, 20,
			  &d->diff);
	add_crash_note(s, c, v, &f->notes);
}

static int write_text(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	return buf_write_file(text, path, err);
}

/* What was written, and to which disk, for `assay crash --log` and other programs. */
static int write_disk_log(struct crash_session *s, const struct crash_case *c, const char *dir,
			  struct err *err)
{
	const struct page_disk base = { 0 };
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status = dm_log_writes_write(buf_str(&c->log), c->log.len, c->store.size, &text, err);

	if (!status)
		status = write_text(dir, "writes.dm-log", &text, err);
	snprintf(path, sizeof(path), "%.4000s/base.image", dir);
	if (!status)
		status = recovery_write_image(&s->recovery, &base, path, err);
	buf_free(&text);
	return status;
}

/* The disk, what recovery makes of it, and the script. */
static int write_evidence(struct crash_session *s, struct shown_violation *x, const char *dir,
			  struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status;

	snprintf(path, sizeof(path), "%.4000s/crashed.image", dir);
	status = recovery_write_image(&s->recovery, &x->v.disk, path, err);
	crash_print_writes(&x->c, &x->v.point, &text);
	if (!status)
		status = write_text(dir, "writes", &text, err);
	if (!status && x->c.calls && !s->target->medium.erase_bytes)
		status = write_disk_log(s, &x->c, dir, err);
	buf_clear(&text);
	if (x->v.has_tree)
		crash_print_tree(&x->v.tree, &text);
	if (!status && x->v.has_tree)
		status = write_text(dir, "recovered", &text, err);
	buf_clear(&text);
	buf_addf(&text, "%s\nexpected: %s\n",
		 x->v.broken.seen.len ? buf_str(&x->v.broken.seen) : buf_str(&x->v.text),
		 x->v.broken.reason.len ? buf_str(&x->v.broken.reason) : "a sound file system");
	if (!status)
		status = write_text(dir, "expected", &text, err);
	buf_clear(&text);
	crash_print_script(s->target, &x->v, &text);
	if (!status && crash_has_script(s))
		status = write_text(dir, "crash.sh", &text, err);
	buf_clear(&text);
	if (x->v.has_tree)
		crash_print_sums(s->target, &x->v, &text);
	if (!status && x->v.has_tree)
		status = write_text(dir, "recovered.sums", &text, err);
	buf_free(&text);
	return status;
}

/* Carried out again, shrunk and explained; counts in f. */
static int crash_improve(struct crash_session *s, struct shown_violation *x, struct run *run,
			 struct finding *f, struct err *err)
{
	unsigned tries = 0, shown = 0;
	struct crash_cause cause;
	int status = 0, to_the_end = 0;

	for (; tries < SHOW_TIMES && status >= 0; tries++) {
		struct crash_violation v;
		struct crash_case c;

		status = crash_shows(s, x->calls, x->count, x->setup_count, x->v.signature, &c, &v,
				     err);
		if (status <= 0)
			continue;
		shown++;
		crash_violation_free(&v);
		crash_case_free(&c);
	}
	if (status >= 0 && shown)
		status = to_the_end = shown_shrink(s, x, err);
	if (status >= 0 && shown)
		status = shown_restore_writes(s, x, err);
	if (status < 0)
		return status;
	finding_free(f);
	describe(s, &x->c, &x->v, f);
	f->tries = tries;
	f->shown = shown;
	f->shrunk = to_the_end > 0;
	cause = cause_of(&x->c, &x->v);
	cause_remember(s, &cause);
	if (run_knows(run, f)) {
		run_withdraw(run);
		return 0;
	}
	run_update(run, f, s->target);
	return run_folder(run) ? write_evidence(s, x, run_folder(run), err) : 0;
}

int crash_report(struct crash_session *s, struct run *run, const struct crash_case *c,
		 const struct crash_violation *v, struct err *err)
{
	struct crash_figures figures = s->figures;
	struct shown_violation x = { .count = c->count, .setup_count = c->setup_count };
	struct crash_cause cause = cause_of(c, v);
	struct finding f;
	int status;

	if (cause_is_known(s, &cause))
		return 0;
	describe(s, c, v, &f);
	if (run_knows(run, &f)) {
		cause_remember(s, &cause); /* longer workloads with it are known as well */
		finding_free(&f);
		return 0;
	}
	run_meet(run, &f, s->target);
	x.calls = must_alloc((c->count + 1) * sizeof(*x.calls));
	memcpy(x.calls, c->calls, c->count * sizeof(*x.calls));
	status = crash_shows(s, x.calls, x.count, x.setup_count, v->signature, &x.c, &x.v, err);
	if (status > 0) {
		status = crash_improve(s, &x, run, &f, err);
		shown_free(&x);
	} else {
		free(x.calls);
	}
	run_settle(run);
	s->figures = figures; /* work on a finding is not part of the search */
	finding_free(&f);
	return status < 0 ? status : 0;
}

/* The disk is recovered once more, whatever is known of it. */
static int disk_shows_again(struct crash_session *s, struct crash_case *c,
			    const struct crash_violation *v, struct err *err)
{
	const struct recovered *r;
	int status;

	recovery_forget(&s->recovery);
	status = v->end == RECOVERY_REPAIR_INTERRUPTED
		       ? recovery_of_repaired(&s->recovery, &c->store, &v->disk, NULL, &r, err)
		       : recovery_of(&s->recovery, &c->store, &v->disk, &r, err);
	if (status)
		return status;
	if (!crash_violation_is_second(v))
		return r->end == v->end;
	return r->end != RECOVERY_FINE ||
	       !hash_equal(tree_hash(&r->tree), tree_hash(&v->uninterrupted));
}

int crash_report_log(struct crash_session *s, struct run *run, struct crash_case *c,
		     const struct crash_violation *v, struct err *err)
{
	struct shown_violation x = { .c = *c };
	struct finding f;
	int shows = 0;

	describe(s, c, v, &f);
	if (run_knows(run, &f)) {
		finding_free(&f);
		return 0;
	}
	run_meet(run, &f, s->target);
	violation_copy(&x.v, c, v);
	for (; f.tries < SHOW_TIMES && shows >= 0; f.tries++) {
		shows = disk_shows_again(s, c, v, err);
		f.shown += shows > 0;
	}
	f.shrunk = true; /* there are no calls to leave out */
	run_update(run, &f, s->target);
	if (shows >= 0 && run_folder(run))
		shows = write_evidence(s, &x, run_folder(run), err);
	crash_violation_free(&x.v);
	run_settle(run);
	finding_free(&f);
	return shows < 0 ? shows : 0;
}

/* What is wrong, without the calls that lead to it. */
static void violation_signature(const struct finding *f, char ret[SIGNATURE_MAX])
{
	const char *signature = f->discrepancy.signature, *end = strstr(signature, ": ");

	snprintf(ret, SIGNATURE_MAX, "%.*s", end ? (int)(end - signature) : (int)strlen(signature),
		 signature);
}

int crash_replay(struct target *t, const struct finding *f, struct buf *seen, struct err *err)
{
	struct crash_options o;
	char signature[SIGNATURE_MAX];
	struct crash_violation v;
	struct crash_session s;
	struct crash_case c;
	int shows;

	violation_signature(f, signature);
	crash_options_init(&o, t);
	o.effort.during_recovery = signature_is_second(signature);
	shows = crash_open(&s, t, &o, SANITY_NEW, err);
	if (shows)
		return shows;
	shows = crash_shows(&s, f->calls, f->count, 0, signature, &c, &v, err);
	if (shows > 0) {
		buf_addf(seen, "%s\n",
			 v.broken.what ? buf_str(&v.broken.seen) : recovery_end_sentences[v.end]);
		crash_violation_free(&v);
		crash_case_free(&c);
	}
	crash_close(&s);
	return shows;
}
