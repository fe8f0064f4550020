/* app.c -- is a program safe in a crash, and on which file systems? */
#include "appcrash/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "appcrash/app_command.h"
#include "appcrash/app_files.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "storage/janitor.h"
#include "storage/remove_tree.h"

enum {
	MINIMISE_CHECKS = 500, /* for each level: to find out what must be lost */
	CHECK_FINE = 1,
	CHECK_FAILS = 2,
	CLEANING_SECONDS = 60,
};

const char *const app_level_sentences[PERSIST_LEVELS] = {
	[PERSIST_STRICT] = "the whole tree is of one moment",
	[PERSIST_ORDERED] = "names are of one moment, unsynced data of any",
	[PERSIST_POSIX] = "only what was synced is sure",
};

const struct persist_rules app_rules[PERSIST_LEVELS] = {
	[PERSIST_STRICT] = { PERSIST_STRICT, true, true, false },
	[PERSIST_ORDERED] = { PERSIST_ORDERED, true, true, false },
	[PERSIST_POSIX] = { PERSIST_POSIX, false, false, false },
};

/* ---- the place ---- */

/* In memory, where that is possible: every check writes all files, and many sync them. */
int app_open(struct app_session *s, const struct app_options *o, struct run *run, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	*s = (struct app_session){ .options = *o, .run = run };
	if (!tmp)
		tmp = access("/dev/shm", W_OK | X_OK) ? "/tmp" : "/dev/shm";
	if (janitor_open(&s->place, tmp, err))
		return err->code;
	buf_addf(&s->dir, "%s/files", janitor_path(s->place));
	buf_addf(&s->printed_path, "%s/printed", janitor_path(s->place));
	if (mkdir(s->dir.data, 0755))
		return err_sys(err, errno, "cannot make %s", s->dir.data);
	return 0;
}

static int app_clear(const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;

	if (fd < 0)
		return err_sys(err, errno, "%s", dir);
	status = remove_tree_below(fd, err);
	close(fd);
	return status;
}

void app_close(struct app_session *s)
{
	janitor_close(s->place, CLEANING_SECONDS);
	for (size_t i = 0; i < s->known_count; i++)
		free(s->known[i].parts);
	free(s->known);
	persistence_free(&s->history);
	free(s->calls);
	free(s->printed_len);
	hash_map_free(&s->verdicts);
	buf_free(&s->printed);
	buf_free(&s->dir);
	buf_free(&s->printed_path);
	arena_free(&s->arena);
}

/* ---- the history ---- */

static void app_begin_history(struct app_session *s, const struct state *state)
{
	size_t steps_max = s->workload.count * PERSIST_STEPS_MAX + 2;

	persistence_begin(&s->history, &app_rules[PERSIST_STRICT], &state->tree);
	s->calls = must_alloc(steps_max * sizeof(*s->calls));
	s->printed_len = must_alloc(steps_max * sizeof(*s->printed_len));
}

/* Steps that change and promise nothing are left out. */
static void app_add_step(struct app_session *s, const struct state *before, size_t index,
			 const struct outcome *o, const struct state *after, bool printed)
{
	struct persistence *h = &s->history;
	size_t first = h->count;

	persistence_add(h, before, &s->workload.calls[index], o, after);
	if (!printed && h->count == first + 1 && !h->steps[first].promise.kind &&
	    hash_equal(tree_hash(&before->tree), tree_hash(&after->tree))) {
		tree_free(&h->steps[--h->count].tree);
		return;
	}
	for (size_t i = first; i < h->count; i++) {
		s->calls[i] = index;
		s->printed_len[i] = (uint32_t)s->printed.len;
	}
}

static int app_repeat(struct app_session *s, const struct model *m, struct state *state,
		      struct err *err)
{
	for (size_t i = 0; i < s->workload.count; i++) {
		const struct call *c = &s->workload.calls[i];
		struct state before = state_copy(state);
		struct outcome o = { 0 };
		bool prints = call_prints(c);

		if (i == s->workload.setup_count)
			app_begin_history(s, state);
		if (prints)
			buf_add(&s->printed, c->write.data.text, c->write.data.len);
		else
			model_run(m, state, c, &o);
		if (!o.error && i >= s->workload.setup_count)
			app_add_step(s, &before, i, &o, state, prints);
		state_free(&before);
		if (o.error)
			return err_set(err, EINVAL, "%s: line %u: the call fails in the model",
				       s->workload.name, c->line);
	}
	return 0;
}

int app_read(struct app_session *s, const char *trace, struct err *err)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					 .hashed = true,
					 .root_mode = 0755 };
	int status = workload_read_printed(&s->workload, trace, &s->arena, err);
	struct state state;
	struct model model;

	if (status)
		return status;
	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	model.traits.no_reflink = false; /* as RefFS */
	state_init(&state, &options);
	status = app_repeat(s, &model, &state, err);
	state_free(&state);
	return status;
}

/* ---- the check ---- */

static int app_write_printed(struct app_session *s, uint32_t len, struct err *err)
{
	int fd = open(s->printed_path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t written = fd < 0 ? -1 : write(fd, buf_str(&s->printed), len);

	if (fd >= 0)
		close(fd);
	return written == (ssize_t)len ? 0 : err_sys(err, errno, "%s", s->printed_path.data);
}

int app_write_tree(struct app_session *s, const struct tree *t, struct err *err)
{
	int status = app_clear(s->dir.data, err);

	return status ? status : app_files_write(t, s->dir.data, err);
}

int app_check(struct app_session *s, const struct tree *t, uint32_t printed_len, struct buf *output,
	      struct err *err)
{
	struct app_command c = { .text = s->options.verify,
				 .dir = s->dir.data,
				 .printed = s->printed_path.data,
				 .seconds = s->options.check_seconds,
				 .stdout_fd = -1,
				 .stderr_fd = -1 };
	struct err late = { 0 };
	int exit_status = 0, status = app_write_tree(s, t, err);

	if (!status)
		status = app_write_printed(s, printed_len, err);
	if (status)
		return status;
	s->checks++;
	status = app_command_run(&c, &exit_status, output, &late);
	if (status == -ETIME) {
		if (output)
			buf_addf(output, "%s\n", late.text);
		return 1;
	}
	return status ? err_set(err, -status, "%s", late.text) : exit_status != 0;
}

/* ---- trees that fail ---- */

static uint64_t *app_verdict(struct app_session *s, const struct tree *t, uint32_t printed_len)
{
	struct {
		struct hash tree;
		uint64_t printed_len;
	} key = { tree_hash(t), printed_len };

	return hash_map_put(&s->verdicts, hash128(&key, sizeof(key), 0), NULL);
}

/* 1: it fails. Each is checked once. */
static int app_judge(struct app_session *s, const struct tree *t, uint32_t printed_len)
{
	uint64_t verdict = *app_verdict(s, t, printed_len);
	struct app_level *level = &s->levels[s->level];
	int fails;

	if (verdict)
		return verdict == CHECK_FAILS;
	fails = app_check(s, t, printed_len, NULL, s->err);
	if (fails < 0) {
		s->status = fails;
		return fails;
	}
	*app_verdict(s, t, printed_len) = fails ? CHECK_FAILS : CHECK_FINE;
	level->states++;
	level->failed += fails > 0;
	return fails;
}

struct app_minimiser {
	struct app_session *s;
	uint32_t printed_len;
};

static bool app_still_fails(void *to, const struct tree *t)
{
	struct app_minimiser *m = to;

	if (!m->s->minimise_left || m->s->status < 0)
		return false;
	m->s->minimise_left--;
	return app_judge(m->s, t, m->printed_len) > 0;
}

static bool lost_is(const struct lost_part *a, const struct lost_part *b)
{
	return a->kind == b->kind && a->ino == b->ino && a->from == b->from && a->len == b->len &&
	       (!a->len || !memcmp(a->name, b->name, a->len));
}

/* Whether all that a known failure loses is lost. */
static bool app_explains(const struct known_loss *k, const struct crash_state *c)
{
	size_t found = 0;

	for (size_t i = 0; i < k->count; i++)
		for (size_t j = 0; j < c->count; j++)
			if (lost_is(&k->parts[i], &c->lost[j])) {
				found++;
				break;
			}
	return found == k->count;
}

static bool app_is_explained(const struct app_session *s, const struct crash_state *c)
{
	for (size_t i = 0; i < s->known_count; i++)
		if (s->known[i].count && app_explains(&s->known[i], c))
			return true;
	return false;
}

static void app_remember(struct app_session *s, const struct crash_state *c)
{
	struct known_loss *k;

	if (s->known_count == s->known_cap) {
		s->known_cap = s->known_cap ? 2 * s->known_cap : 16;
		s->known = must_realloc(s->known, s->known_cap * sizeof(*s->known));
	}
	k = &s->known[s->known_count++];
	k->count = c->count;
	k->parts = must_alloc((c->count + 1) * sizeof(*k->parts));
	for (size_t i = 0; i < c->count; i++) {
		k->parts[i] = c->lost[i];
		if (k->parts[i].len)
			k->parts[i].name = arena_copy(&s->arena, c->lost[i].name, c->lost[i].len);
	}
}

static void app_found(struct app_session *s, struct crash_state *c)
{
	struct app_minimiser m = { s, s->printed_len[c->done] };

	if (app_is_explained(s, c))
		return;
	crash_state_minimise(c, app_still_fails, &m);
	if (s->status < 0 || app_is_explained(s, c))
		return;
	app_remember(s, c);
	s->status = app_report(s, c, s->err);
}

/* ---- levels ---- */

static bool app_is_over(const struct app_session *s)
{
	return stop_requested || s->status < 0 ||
	       json_array_size(s->run->findings) >= s->options.findings ||
	       (s->options.until_seconds > 0 && clock_seconds() >= s->options.until_seconds);
}

/* What fails at a stricter level was reported there. */
static bool app_visit(void *to, struct crash_state *c)
{
	struct app_session *s = to;
	const struct app_level *level = &s->levels[s->level];
	uint32_t printed_len = s->printed_len[c->done];

	if (!*app_verdict(s, &c->tree, printed_len) && app_judge(s, &c->tree, printed_len) > 0)
		app_found(s, c);
	if (run_sample_is_due(s->run)) {
		json_object_set_new(s->run->figures, "checks", json_integer((json_int_t)s->checks));
		run_sample(s->run);
	}
	if (progress_wanted())
		progress_show("%s: %llu states, %llu fail, %llu checks",
			      persist_level_names[s->level], (unsigned long long)level->states,
			      (unsigned long long)level->failed, (unsigned long long)s->checks);
	return !app_is_over(s);
}

/* Without a crash nothing may be wrong, else the check says nothing. */
static int app_check_ends(struct app_session *s, struct err *err)
{
	const struct persistence *h = &s->history;
	struct buf output = BUF_INIT;
	int fails = app_check(s, &h->steps[h->count - 1].tree, s->printed_len[h->count - 1],
			      &output, err);
	bool at_end = fails > 0;

	if (!fails)
		fails = app_check(s, &h->steps[0].tree, 0, &output, err);
	if (fails > 0) {
		for (char *at = output.data; at && (at = strchr(at, '\n')); at++)
			*at = at[1] ? ';' : '\0';
		fails = err_set(err, EINVAL, "the check fails %s: %.300s",
				at_end ? "without a crash"
				       : "before the program has begun (--prepare)",
				buf_str(&output));
	}
	buf_free(&output);
	return fails;
}

int app_crash(struct app_session *s, struct err *err)
{
	struct each_options o = { .states = s->options.states,
				  .seed = s->options.seed,
				  .epochs = s->printed_len };
	int status = app_check_ends(s, err);
	const struct app_level *before = NULL;

	s->err = err;
	for (int level = PERSIST_LEVELS; level-- > 0 && !status && !app_is_over(s);) {
		struct app_level *l = &s->levels[level];

		if (!(s->options.levels & 1u << level))
			continue;
		s->level = (enum persist_level)level;
		s->history.rules = app_rules[level];
		s->minimise_left = MINIMISE_CHECKS;
		/* What a stricter one can leave, this one can. */
		if (before)
			*l = (struct app_level){ .states = before->states,
						 .failed = before->failed };
		before = l;
		l->tried = true;
		l->left_out = persistence_each(&s->history, &o, app_visit, s);
		l->complete = !app_is_over(s);
	}
	progress_end();
	return status ? status : s->status;
}
