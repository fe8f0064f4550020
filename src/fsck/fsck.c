/* fsck.c -- a checker of file systems is tested: one corruption. */
#include "fsck/fsck.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "fsck/behaviour.h"
#include "fsck/loss.h"
#include "judge/kernel_log.h"
#include "storage/page_disk.h"
#include "target/checker.h"

const char *const fsck_fault_names[FSCK_FAULTS] = {
	[FSCK_FINE] = "fine",
	[FSCK_CRASHED] = "crash",
	[FSCK_HUNG] = "hang",
	[FSCK_CHECK_WRITES] = "check writes",
	[FSCK_INCONSISTENT] = "inconsistent",
	[FSCK_REFUSED] = "kernel refuses",
	[FSCK_KERNEL] = "kernel",
	[FSCK_UNSOUND] = "unsound",
	[FSCK_LOSS] = "loss",
	[FSCK_CHECK_DIFFERS] = "check differs",
	[FSCK_INCOMPLETE] = "incomplete",
};

/* ---- the disk ---- */

/* The checker gets the damaged disk. */
static void session_hand_over(struct fsck_session *s)
{
	const struct damaged_disk *d = &s->damaged;

	checker_disk_restore(s->checker);
	for (size_t i = 0; i < d->count; i++)
		checker_disk_write(s->checker, d->pages[i] * PAGE_DISK_PAGE,
				   d->bytes + d->pages[i] * PAGE_DISK_PAGE, PAGE_DISK_PAGE);
}

/* As the checker left it. */
static struct hash left_disk_hash(struct fsck_session *s)
{
	size_t count;
	uint64_t size;
	const uint64_t *pages = checker_disk_changed(s->checker, &count);
	const uint8_t *disk = checker_disk(s->checker, &size);
	struct hash sum = { 0 };

	for (size_t i = 0; i < count; i++)
		sum = hash_add(sum, hash128(disk + pages[i] * PAGE_DISK_PAGE, PAGE_DISK_PAGE,
					    pages[i] + 1));
	return sum;
}

/* ---- the runs ---- */

/* A signal or a hang is wrong, whatever was said before. */
static bool test_ended_badly(struct fsck_test *t, const struct checker_run *r, const char *which)
{
	const char *name = sigabbrev_np(r->caught ? r->caught : r->status);

	if (r->end == CHECKER_EXITED && !r->caught)
		return false;
	t->fault = r->end == CHECKER_HUNG ? FSCK_HUNG : FSCK_CRASHED;
	if (t->fault == FSCK_HUNG)
		buf_addf(&t->text, "does not end%s", which);
	else if (r->caught)
		buf_addf(&t->text, "fails by a SIG%s that it catches%s", name ? name : "?", which);
	else
		buf_addf(&t->text, "ends by SIG%s%s", name ? name : "?", which);
	return true;
}

static int test_check_only(struct fsck_session *s, struct fsck_test *t, struct err *err)
{
	int r;

	if (!s->program->check.command)
		return 0;
	r = checker_session_run(s->checker, CHECKER_CHECK, &t->check, err);
	if (r)
		return r;
	s->figures.checker_runs++;
	if (!test_ended_badly(t, &t->check, " when it is only asked to check") && t->check.wrote &&
	    (!s->check_writes || t->undamaged)) {
		t->fault = FSCK_CHECK_WRITES;
		buf_adds(&t->text, "changes the disk although it is only asked to check");
	}
	return 0;
}

/* Runs it until it has nothing to do. A run that has changed nothing would be repeated by the next
 * one, which is therefore not made: checkers are deterministic, their clock does not move. */
static int test_repair(struct fsck_session *s, struct fsck_test *t, struct err *err)
{
	static const char *const which[FSCK_RUNS_MAX] = { "", " when it is run again",
							  " in the third run" };
	int r = 0;

	for (size_t i = 0; i < FSCK_RUNS_MAX && !r && t->fault == FSCK_FINE; i++) {
		r = checker_session_run(s->checker, t->mode, &t->runs[i], err);
		if (r)
			break;
		s->figures.checker_runs++;
		t->run_count++;
		t->answers[i] = fsck_run_answer(s, t->mode, &t->runs[i]);
		if (test_ended_badly(t, &t->runs[i], which[i]) || !t->runs[i].wrote ||
		    (i && t->answers[i] == ANSWER_CLEAN))
			break;
	}
	s->figures.skipped += t->run_count < 2;
	return r;
}

/* ---- the kernel ---- */

/* The worst complaint in the kernel's log. That the disk is damaged is none: it was. */
static enum kernel_alarm worst_alarm(const char *log, char ret_place[KERNEL_PLACE_MAX])
{
	enum kernel_alarm worst = ALARM_NONE;

	for (const char *line = log; line && *line;) {
		char place[KERNEL_PLACE_MAX] = "";
		enum kernel_alarm alarm = kernel_log_first(line, place);

		if (alarm != ALARM_CORRUPTION && alarm > worst) {
			worst = alarm;
			memcpy(ret_place, place, sizeof(place));
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return worst;
}

/* Whether it has noticed nothing, or says that it has repaired all. */
static const char *test_verdict(const struct fsck_test *t)
{
	return t->answers[0] == ANSWER_CLEAN ? "calls the disk clean" : "repairs the disk";
}

static void test_blame_kernel(struct fsck_session *s, struct fsck_test *t, enum target_fate fate)
{
	char place[KERNEL_PLACE_MAX] = "";
	struct buf log = BUF_INIT;
	enum kernel_alarm alarm;

	if (s->disk->target->kind->log)
		s->disk->target->kind->log(s->disk->target, &log);
	alarm = worst_alarm(buf_str(&log), place);
	if (fate != FATE_ALARM || alarm != ALARM_NONE) {
		t->fault = FSCK_KERNEL;
		buf_addf(&t->text, "%s, on which the kernel %s%s%s", test_verdict(t),
			 fate == FATE_HUNG   ? "hangs"
			 : fate == FATE_DIED ? "crashes"
					     : "logs an error",
			 place[0] ? " at " : "", place);
		buf_adds(&t->more, buf_str(&log));
	}
	buf_free(&log);
}

static void test_refused(struct fsck_session *s, struct fsck_test *t, int error)
{
	t->fault = FSCK_REFUSED;
	buf_addf(&t->text, "%s, and the kernel does not mount it (%s)", test_verdict(t),
		 errno_name(error));
	if (s->disk->target->kind->log)
		s->disk->target->kind->log(s->disk->target, &t->more);
}

static void test_unreadable(struct fsck_session *s, struct fsck_test *t)
{
	t->fault = FSCK_REFUSED;
	buf_addf(&t->text, "%s, and its root directory cannot be read", test_verdict(t));
	if (s->disk->target->kind->log)
		s->disk->target->kind->log(s->disk->target, &t->more);
}

enum { HANGS_MAX = 2 }; /* one to see it, and one to see it again */

/* A kernel that hangs takes seconds each time: it is not asked again and again for a field. */
static bool session_kernel_hangs(struct fsck_session *s, const struct corruption *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct hash field = { (uintptr_t)c->changes[i].field, 1 };
		const uint64_t *hangs = hash_map_get(&s->hanging, field);

		if (c->changes[i].field && hangs && *hangs >= HANGS_MAX)
			return true;
	}
	return false;
}

static void session_note_hang(struct fsck_session *s, const struct corruption *c)
{
	if (c->count == 1)
		++*hash_map_put(&s->hanging, (struct hash){ (uintptr_t)c->changes[0].field, 1 },
				NULL);
}

/* What of the test disk can be read as long as nothing is repaired. False: it cannot be mounted. */
static bool session_readable(struct fsck_session *s, const struct corruption *c,
			     const struct contents *before, struct contents *ret)
{
	enum target_fate fate = FATE_FINE;
	struct contents all = { 0 };
	struct err ignored = { 0 };
	struct tree tree;
	int error = 0;

	if (session_kernel_hangs(s, c) ||
	    test_disk_mount(s->disk, s->damaged.bytes, &error, &fate, &ignored))
		return false;
	if (!error && fate == FATE_FINE && target_observe(s->disk->target, &tree, &fate, &ignored))
		return false;
	if (fate == FATE_HUNG)
		session_note_hang(s, c);
	if (error || fate != FATE_FINE)
		return false;
	contents_add_tree(&all, &tree);
	contents_common(ret, before, &all);
	contents_free(&all);
	tree_free(&tree);
	return true;
}

/* Where the damaged disk can be mounted, what cannot be read there was not lost by the repair. */
static uint64_t test_count_lost(struct fsck_session *s, struct fsck_test *t,
				const struct contents *after, uint64_t *ret_touched)
{
	/* What damage keeps from being replayed is not there. */
	const struct contents *before =
		s->disk->is_crashed && !t->undamaged ? &s->settled : &s->contents;
	uint64_t lost = loss_count(before, after, &t->corruption, ret_touched, &t->more);
	struct contents readable = { 0 };

	if (lost && s->disk->target && session_readable(s, &t->corruption, before, &readable)) {
		uint64_t all = lost + *ret_touched;

		buf_clear(&t->more);
		lost = loss_count(&readable, after, &t->corruption, ret_touched, &t->more);
		*ret_touched = all - lost;
	}
	contents_free(&readable);
	return lost;
}

/* True if nothing at all is lost. */
static bool test_judge_contents(struct fsck_session *s, struct fsck_test *t)
{
	uint64_t touched, lost;

	t->read = true;
	/* What bytes touch that belong to nothing known, cannot be said. */
	if (t->corruption.count && !t->corruption.changes[0].instance)
		return false;
	lost = test_count_lost(s, t, &t->after, &touched);
	t->missing = lost + touched;
	if (lost) {
		t->fault = FSCK_LOSS;
		buf_addf(&t->text, "loses %llu file%s that the corruption did not touch",
			 (unsigned long long)lost, lost == 1 ? "" : "s");
	}
	return !t->missing;
}

/* True if all is well with it, whatever was damaged. */
static bool test_read(struct fsck_session *s, struct fsck_test *t, enum target_fate *ret_fate,
		      int *ret_status, struct err *err)
{
	struct tree tree;

	*ret_status = target_observe(s->disk->target, &tree, ret_fate, err);
	if (*ret_status || *ret_fate != FATE_FINE)
		return false;
	contents_add_tree(&t->after, &tree);
	tree_free(&tree);
	return test_judge_contents(s, t);
}

static int test_mount(struct fsck_session *s, struct fsck_test *t, bool *ret_fine, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	bool alive = false;
	int error = 0, r;

	if (session_kernel_hangs(s, &t->corruption))
		return 0;
	s->figures.mounts++;
	r = test_disk_mount(s->disk, checker_disk(s->checker, NULL), &error, &fate, err);
	if (r)
		return r;
	if (fate == FATE_HUNG)
		session_note_hang(s, &t->corruption);
	if (fate == FATE_FINE && error)
		test_refused(s, t, error);
	else if (fate == FATE_FINE)
		*ret_fine = test_read(s, t, &fate, &r, err);
	if (!r && fate == FATE_DIED)
		r = target_is_alive(s->disk->target, &alive, err);
	if (!r && alive)
		test_unreadable(s, t);
	else if (!r && fate != FATE_FINE)
		test_blame_kernel(s, t, fate);
	return r;
}

/* Where no kernel mounts it, a program says what is on the disk. */
static int test_list(struct fsck_session *s, struct fsck_test *t, bool *ret_fine, struct err *err)
{
	int r = checker_session_run(s->checker, CHECKER_LIST, &t->list, err);

	if (r)
		return r;
	s->figures.listed++;
	if (t->list.end != CHECKER_EXITED || t->list.status) {
		t->fault = FSCK_REFUSED;
		buf_addf(&t->text, "%s, and `%s` fails", test_verdict(t), s->program->list.command);
		return 0;
	}
	contents_add_lines(&t->after, buf_str(&t->list.output));
	*ret_fine = test_judge_contents(s, t);
	return 0;
}

/* What is wrong with a disk that it calls clean, but for what was wrong with the test disk. */
static void test_audit(struct fsck_session *s, struct fsck_test *t)
{
	struct audit a;
	uint64_t size;
	const uint8_t *disk = checker_disk(s->checker, &size);

	audit_disk(&a, disk, size);
	for (size_t i = 0; i < a.count; i++) {
		const struct audit_breach *b = &a.breaches[i];

		if (audit_has(&s->usual_breaches, b->rule))
			continue;
		if (!t->rule)
			t->rule = b->rule;
		buf_addf(&t->more, "%s (%s)\n", b->rule, b->text);
	}
	if (t->rule) {
		t->fault = FSCK_UNSOUND;
		buf_addf(&t->text, "%s, but %s", test_verdict(t), t->rule);
	}
}

/* What it calls clean can be mounted and read, everything is there, and no rule is broken. */
static int test_contents(struct fsck_session *s, struct fsck_test *t, struct err *err)
{
	struct hash disk = left_disk_hash(s);
	bool fine = false;
	int r = 0;

	if (checker_program_is_partial(s->program, t->mode))
		return 0;
	if (hash_map_get(&s->fine, disk)) {
		t->read = t->whole = true;
		return 0;
	}
	if (s->disk->target)
		r = test_mount(s, t, &fine, err);
	else if (s->program->list.command)
		r = test_list(s, t, &fine, err);
	if (!r && t->fault == FSCK_FINE)
		test_audit(s, t);
	if (fine && t->fault == FSCK_FINE)
		hash_map_put(&s->fine, disk, NULL);
	return r;
}

bool fsck_calls_clean(const struct fsck_test *t)
{
	enum checker_answer last = t->run_count ? t->answers[t->run_count - 1] : ANSWER_UNKNOWN;

	return last == ANSWER_CLEAN || last == ANSWER_REPAIRED;
}

/* ---- one test ---- */

static void session_count(struct fsck_session *s, const struct fsck_test *t)
{
	struct hash behaviour = { 0 };
	bool new;

	s->figures.inconsistent += t->fault == FSCK_INCONSISTENT;
	s->figures.crashed += t->fault == FSCK_CRASHED;
	s->figures.hung += t->fault == FSCK_HUNG;
	for (size_t i = 0; i < t->run_count; i++) {
		struct hash said = behaviour_of_text(buf_str(&t->runs[i].output));
		const uint64_t run[] = { i, t->runs[i].end, (uint64_t)t->runs[i].status, said.lo,
					 said.hi };

		behaviour = hash_add(behaviour, hash128(run, sizeof(run), 0));
	}
	hash_map_put(&s->behaved, behaviour, &new);
	s->figures.behaviours += new;
}

static bool test_ends_clean(const struct fsck_test *t)
{
	return t->run_count && t->answers[t->run_count - 1] == ANSWER_CLEAN;
}

/* What is not noticed comes first: a contradiction that ends in a clean disk shows itself. */
static int test_carry_out(struct fsck_session *s, struct fsck_test *t, struct err *err)
{
	int r = test_check_only(s, t, err);

	if (!r && t->fault == FSCK_FINE)
		r = test_repair(s, t, err);
	if (!r && t->fault == FSCK_FINE && test_ends_clean(t))
		r = test_contents(s, t, err);
	if (!r && t->fault == FSCK_FINE)
		fsck_judge_pair(s, t);
	if (!r && t->fault == FSCK_FINE && fsck_calls_clean(t) && !test_ends_clean(t))
		r = test_contents(s, t, err);
	if (!r && t->fault == FSCK_FINE)
		fsck_judge_check(s, t);
	return r;
}

static int session_test(struct fsck_session *s, struct fsck_test *t, struct err *err)
{
	int r;

	session_hand_over(s);
	s->figures.images++;
	r = test_carry_out(s, t, err);
	if (r)
		fsck_test_free(t);
	else
		session_count(s, t);
	return r;
}

int fsck_try(struct fsck_session *s, const struct corruption *c, int mode, struct fsck_test *ret,
	     struct err *err)
{
	*ret = (struct fsck_test){ .corruption = *c, .mode = mode };
	damaged_disk_set(&s->damaged, c);
	return session_test(s, ret, err);
}

int fsck_try_undamaged(struct fsck_session *s, int mode, struct fsck_test *ret, struct err *err)
{
	const struct corruption none = { 0 };

	*ret = (struct fsck_test){ .undamaged = true, .mode = mode };
	damaged_disk_set(&s->damaged, &none);
	return session_test(s, ret, err);
}

int fsck_try_disk(struct fsck_session *s, const uint8_t *disk, int mode, struct fsck_test *ret,
		  struct err *err)
{
	*ret = (struct fsck_test){ .mode = mode };
	damaged_disk_load(&s->damaged, disk);
	return session_test(s, ret, err);
}

bool fsck_is_new(struct fsck_session *s, const struct corruption *c, int mode)
{
	struct hash disk;
	bool new;

	damaged_disk_set(&s->damaged, c);
	disk = damaged_disk_hash(&s->damaged);
	disk.hi += (uint64_t)mode;
	hash_map_put(&s->seen, disk, &new);
	return new;
}

void fsck_test_free(struct fsck_test *t)
{
	checker_run_free(&t->check);
	for (size_t i = 0; i < FSCK_RUNS_MAX; i++)
		checker_run_free(&t->runs[i]);
	checker_run_free(&t->list);
	contents_free(&t->after);
	buf_free(&t->text);
	buf_free(&t->more);
}

/* ---- the session ---- */

static int calibrate_run(struct fsck_session *s, int mode, struct checker_run *ret, struct err *err)
{
	enum checker_answer answer;
	int r = checker_session_run(s->checker, mode, ret, err);

	if (r)
		return r;
	answer = fsck_run_answer(s, mode, ret);
	if (answer == ANSWER_FAILED || ret->end != CHECKER_EXITED)
		return err_set(err, EIO,
			       "%s fails on a disk that is not damaged: `%s` says: %.200s",
			       s->program->name, checker_program_mode(s->program, mode)->command,
			       buf_str(&ret->output));
	return 0;
}

/* What it says of the disk as it is: a checker that is not content with that (reiserfsck) is judged
 * by what it says else. */
static int session_calibrate(struct fsck_session *s, struct err *err)
{
	struct checker_run run = { 0 };
	int r = s->program->check.command ? calibrate_run(s, CHECKER_CHECK, &run, err) : 0;

	s->check_writes = run.wrote;
	s->usual_check = fsck_run_answer(s, CHECKER_CHECK, &run);
	for (size_t m = 0; m < s->program->mode_count && !r; m++) {
		checker_disk_restore(s->checker);
		for (size_t i = 0; i < 2 && !r; i++) {
			r = calibrate_run(s, (int)m, &run, err);
			s->usual[m][i] = fsck_run_answer(s, (int)m, &run);
			if (!i)
				buf_adds(&s->usual_output[m], buf_str(&run.output));
		}
	}
	checker_run_free(&run);
	return r;
}

/* What was there before the crash, and is there when the journal was replayed. A new file may have
 * the content of one that was removed. */
static void session_take_settled(struct fsck_session *s)
{
	struct contents before = { 0 };

	contents_add_tree(&before, &s->disk->settled);
	contents_unmoved(&s->settled, &s->contents, &before);
	contents_free(&before);
}

/* What is on the disk as it is. */
static int session_take_contents(struct fsck_session *s, struct err *err)
{
	struct checker_run run = { 0 };
	int r;

	if (s->disk->target)
		contents_add_tree(&s->contents, &s->disk->tree);
	if (s->disk->target && s->disk->is_crashed)
		session_take_settled(s);
	if (s->disk->target || !s->program->list.command)
		return 0;
	checker_disk_restore(s->checker);
	r = checker_session_run(s->checker, CHECKER_LIST, &run, err);
	if (!r && (run.end != CHECKER_EXITED || run.status))
		r = err_set(err, EINVAL, "`%s` fails on the test disk: %s",
			    s->program->list.command, buf_str(&run.output));
	contents_add_lines(&s->contents, buf_str(&run.output));
	checker_run_free(&run);
	return r;
}

static int session_start(struct fsck_session *s, const struct checker_program *program,
			 struct test_disk *disk, const struct ondisk_map *map, struct err *err)
{
	*s = (struct fsck_session){ .program = program, .disk = disk };
	damaged_disk_init(&s->damaged, map, (const uint8_t *)disk->image.bytes, disk->image.size);
	/* Of a disk that was crashed, what is to be repaired is no measure. */
	if (map && !disk->is_crashed)
		audit_disk(&s->usual_breaches, s->damaged.base, s->damaged.size);
	s->checker = checker_session_open(program, &disk->image, err);
	return s->checker ? 0 : err->code;
}

int fsck_open_damaged(struct fsck_session *s, const struct checker_program *program,
		      struct test_disk *disk, struct err *err)
{
	int r = session_start(s, program, disk, NULL, err);

	for (size_t m = 0; m < CHECKER_MODES_MAX; m++)
		s->usual[m][0] = s->usual[m][1] = ANSWER_UNKNOWN;
	if (r)
		fsck_close(s);
	return r;
}

int fsck_open(struct fsck_session *s, const struct checker_program *program, struct test_disk *disk,
	      const struct ondisk_map *map, struct err *err)
{
	int r = session_start(s, program, disk, map, err);

	if (!r)
		r = session_calibrate(s, err);
	if (!r)
		r = session_take_contents(s, err);
	if (r)
		fsck_close(s);
	return r;
}

void fsck_close(struct fsck_session *s)
{
	if (s->checker)
		checker_session_close(s->checker);
	for (size_t i = 0; i < CHECKER_MODES_MAX; i++)
		buf_free(&s->usual_output[i]);
	hash_map_free(&s->seen);
	hash_map_free(&s->fine);
	hash_map_free(&s->behaved);
	hash_map_free(&s->hanging);
	contents_free(&s->contents);
	contents_free(&s->settled);
	damaged_disk_free(&s->damaged);
}
