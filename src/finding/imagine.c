/* imagine.c -- whether fewer calls lead to the same last call, by the model alone. */
#include "finding/imagine.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "judge/judge.h"
#include "trace/script.h"

static const double seconds_max = 1;

static void imagine_add_inode(const struct imagined *im, const struct inode *inode, struct buf *out)
{
	buf_addf(out, "%o ", inode->mode & S_IFMT);
	if (im->level < IMAGINE_CONTENTS)
		return;
	buf_addf(out, "%o %u %u %u %" PRIu64 " ", inode->mode, inode->uid, inode->gid, inode->nlink,
		 inode->size);
	if (S_ISREG(inode->mode))
		buf_add(out, (const char *)&inode->file.data, sizeof(inode->file.data));
	buf_add(out, (const char *)&inode->xattr_hash, sizeof(inode->xattr_hash));
}

static void imagine_add_object(const struct imagined *im, const struct state *s, uint64_t ino,
			       struct buf *out)
{
	if (ino)
		imagine_add_inode(im, tree_inode(&s->tree, ino), out);
	else
		buf_adds(out, "none ");
}

/* What the call is about, before it is made. */
static void imagine_add_call(const struct imagined *im, const struct state *s, const struct call *c,
			     struct buf *out)
{
	const struct op_info *op = &op_table[c->op];
	const struct open_file *file;

	for (unsigned i = 0; i < op->args; i++) {
		if (op->arg[i].kind == KIND_PATH)
			imagine_add_object(im, s, judge_object(s, c, i), out);
		file = op->arg[i].kind == KIND_FD ? state_file(s, c->pid, c->arg[i].num) : NULL;
		if (!file)
			continue;
		buf_addf(out, "%" PRIx64 " ", (uint64_t)file->flags);
		imagine_add_object(im, s, file->ino, out);
		if (im->level == IMAGINE_CONTENTS)
			buf_addf(out, "%" PRIi64 " ", file->offset);
	}
}

static void imagine_add_answer(const struct imagined *im, const struct envelope *env,
			       const struct call *c, struct buf *out)
{
	buf_addf(out, "%d %d ", env->success, env->undefined);
	buf_add(out, (const char *)&env->errors, sizeof(env->errors));
	for (unsigned i = 0; i < env->rule_count; i++)
		buf_addf(out, " %u", env->rules[i]);
	/* Inode numbers depend on what was made before. */
	if (im->level == IMAGINE_CONTENTS && env->success && env->value.result != RESULT_STAT)
		outcome_print(&env->value, c->op, DIALECT_NATIVE, out);
}

/* What the last call is about and what it may answer, as text. False: the model cannot say. */
static bool imagine_describe(const struct imagined *im, const struct call *calls, size_t count,
			     struct buf *out)
{
	const struct discrepancy *d = im->discrepancy;
	struct state s = state_copy(&im->start);
	const struct call *last = &calls[count - 1];
	struct outcome outcome;
	struct envelope env;
	bool follows = true;

	for (size_t i = 0; i + 1 < count && follows; i++) {
		follows = state_process(&s, calls[i].pid) || calls[i].op == OP_create_process;
		if (follows)
			model_run(im->model, &s, &calls[i], &outcome);
	}
	follows = follows && (state_process(&s, last->pid) || last->op == OP_create_process);
	if (follows) {
		imagine_add_call(im, &s, last, out);
		model_move(im->model, &s, last, &env);
		imagine_add_answer(im, &env, last, out);
		for (size_t i = 0; i < d->fact_count; i++)
			if (d->facts[i].path)
				imagine_add_object(im, &s, fact_inode(&s.tree, d->facts[i].path),
						   out);
	}
	state_free(&s);
	return follows;
}

void imagine_expect(struct imagined *im, const struct finding *f, enum imagine_level level)
{
	im->level = level;
	im->until_seconds = clock_seconds() + seconds_max;
	buf_clear(&im->expected);
	if (!imagine_describe(im, f->calls, f->count, &im->expected))
		im->until_seconds = 0;
}

int imagine_begin(struct imagined *im, const struct discrepancy *met, const struct replay_on *on,
		  struct err *err)
{
	int status = target_reset(on->target, err);

	*im = (struct imagined){ .model = on->model, .discrepancy = met };
	return status ? status : target_initial_state(on->target, &im->start, err);
}

void imagine_end(struct imagined *im)
{
	buf_free(&im->expected);
	state_free(&im->start);
}

bool imagine_shows(const struct imagined *im, const struct call *calls, size_t count)
{
	struct buf is = BUF_INIT;
	bool shows;

	if (clock_seconds() >= im->until_seconds)
		return false;
	shows = imagine_describe(im, calls, count, &is) && is.len == im->expected.len &&
		!memcmp(is.data, im->expected.data, is.len);
	buf_free(&is);
	return shows;
}
