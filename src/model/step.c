/* step.c -- a call through the rules: the three questions of model.h, and what operations use.
 *
 * Nothing here allocates but for values with bytes, which live in one buffer per thread. */
#include "model/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "model/giving_up.h"
#include "model/mapping.h"

#define A(name, kind)
#define OP(name, base, result, traits, args) [OP_##name] = model_##name,
static void (*const operations[OP_COUNT])(struct step *) = {
#include "op/ops.def"
};
#undef OP
#undef A

void model_init(struct model *m, enum platform platform, struct version kernel)
{
	*m = (struct model){
		.platform = platform,
		.kernel = kernel,
		.traits = traits_usual,
		.mutant.rule = -1,
	};
}

void model_name(const struct model *m, char ret[MODEL_NAME_MAX])
{
	struct buf version = BUF_INIT;

	version_print(m->kernel, &version);
	snprintf(ret, MODEL_NAME_MAX, "%s %s", platform_names[m->platform], version.data);
	buf_free(&version);
}

static bool rule_covers(const struct rule_info *info, struct version kernel)
{
	return version_compare(kernel, info->since) >= 0 &&
	       (!version_known(info->until) || version_compare(kernel, info->until) <= 0);
}

bool rule_applies(const struct model *m, enum rule rule)
{
	const struct rule_info *info = &rule_table[rule];
	bool dated = m->platform == PLATFORM_LINUX || info->where == 1u << PLATFORM_POSIX;

	if (!(info->where >> m->platform & 1))
		return false;
	if (dated && !rule_covers(info, m->kernel))
		return false;
	return m->mutant.rule != (int)rule || m->mutant.error;
}

bool holds(struct step *x, enum rule rule)
{
	if (!rule_applies(x->model, rule))
		return false;
	if (x->model->rule_hits)
		x->model->rule_hits[rule]++;
	return true;
}

static int rule_error(const struct model *m, enum rule rule)
{
	if (m->mutant.rule == (int)rule)
		return m->mutant.error;
	return rule == RULE_call_refused ? (int)m->traits.lack_errno : rule_table[rule].error;
}

static void envelope_note_rule(struct envelope *env, enum rule rule)
{
	for (unsigned i = 0; i < env->rule_count; i++)
		if (env->rules[i] == rule)
			return;
	if (env->rule_count < ENVELOPE_RULES_MAX)
		env->rules[env->rule_count++] = rule;
}

/* Something came first, and nothing that comes later can be seen. */
static bool too_late(struct step *x)
{
	return refused(x) && holds(x, RULE_first_error_counts);
}

bool refuse(struct step *x, enum rule rule)
{
	if (too_late(x))
		return rule_applies(x->model, rule);
	if (!holds(x, rule)) {
		x->stuck |= x->model->mutant.rule == (int)rule;
		return false;
	}
	envelope_note_rule(x->env, rule);
	errset_add(&x->env->errors, rule_error(x->model, rule));
	if (x->env->success) {
		x->env->success = false;
		x->env->first = rule_error(x->model, rule);
	}
	return true;
}

bool may_end_with(struct step *x, enum rule rule)
{
	if (!holds(x, rule))
		return false;
	envelope_note_rule(x->env, rule);
	errset_add(&x->env->errors, rule_error(x->model, rule));
	return true;
}

bool may_refuse(struct step *x, enum rule rule)
{
	return too_late(x) ? rule_applies(x->model, rule) : may_end_with(x, rule);
}

void may_refuse_unsupported(struct step *x, enum rule rule)
{
	may_refuse(x, RULE_call_unserved);
	may_refuse(x, rule);
	if (x->model->traits.lack_errno)
		may_refuse(x, RULE_call_refused);
}

bool refuse_unsupported(struct step *x, enum rule rule)
{
	may_refuse(x, RULE_call_unserved);
	if (!x->model->traits.lack_errno)
		return refuse(x, rule);
	may_refuse(x, rule);
	return refuse(x, RULE_call_refused);
}

void refuse_by_setting(struct step *x, uint64_t setting, uint64_t level, enum rule rule)
{
	if (setting >= SETTING_UNKNOWN)
		may_refuse(x, rule);
	else if (setting >= level)
		refuse(x, rule);
}

bool leave_undefined(struct step *x, enum rule rule)
{
	if (!holds(x, rule))
		return false;
	envelope_note_rule(x->env, rule);
	x->env->undefined = true;
	return true;
}

bool leave_open(struct step *x, enum rule rule)
{
	if (!leave_undefined(x, rule))
		return false;
	x->env->open = true;
	return true;
}

bool proceed(struct step *x)
{
	return x->follow && x->env->success && !x->env->undefined && !x->stuck;
}

void give_num(struct step *x, enum result result, int64_t num)
{
	x->env->value.result = result;
	x->env->value.num = num;
	x->env->least_num = num;
}

int64_t give_range(struct step *x, int64_t least, int64_t most)
{
	give_num(x, RESULT_NUM, most);
	x->env->least_num = least;
	if (x->seen && x->seen->num >= least && x->seen->num <= most)
		return x->seen->num;
	return most;
}

/* The bytes of this thread's last outcome. */
static _Thread_local struct {
	char *bytes;
	size_t size;
} given;

char *give_bytes(struct step *x, enum result result, size_t len, size_t shortest)
{
	if (len >= given.size) {
		given.size = len + 4096;
		given.bytes = must_realloc(given.bytes, given.size);
	}
	given.bytes[len] = '\0';
	x->env->value.result = result;
	x->env->value.bytes = given.bytes;
	x->env->value.len = len;
	x->env->shortest_len = shortest;
	return given.bytes;
}

void model_end_thread(void)
{
	free(given.bytes);
	given.bytes = NULL;
	given.size = 0;
}

/* Fields that this file system does not maintain are not returned. */
void give_stat(struct step *x, const struct inode *inode)
{
	bool is_dir = S_ISDIR(inode->mode);
	unsigned fields = x->state->tree.fields;
	bool timed = fields & TREE_TIMES, owned = fields & TREE_OWNER;
	bool counted = fields & (is_dir ? TREE_NLINK_DIR : TREE_NLINK);
	bool moded = fields & TREE_MODE;

	if (is_dir && x->model->traits.no_dir_nlink)
		counted = false;
	x->env->value.result = RESULT_STAT;
	x->env->value.stat = (struct stat_result){
		.mode = moded ? inode->mode : (inode->mode & S_IFMT) | STAT_TYPE_ONLY,
		.nlink = counted ? inode->nlink : STAT_UNKNOWN,
		.uid = owned ? inode->uid : STAT_UNKNOWN,
		.gid = owned ? inode->gid : STAT_UNKNOWN,
		.size = is_dir ? STAT_UNKNOWN : (int64_t)inode->size,
		.ino = (int64_t)inode->ino,
		.dev = STAT_UNKNOWN,
		.rdev = (int64_t)inode->rdev,
		.atime = timed ? inode->times.access : STAT_UNKNOWN,
		.mtime = timed ? inode->times.modify : STAT_UNKNOWN,
		.ctime = timed ? inode->times.change : STAT_UNKNOWN,
		.btime = timed ? inode->times.birth : STAT_UNKNOWN,
		.blocks = STAT_UNKNOWN,
	};
}

const struct open_file *need_file(struct step *x, const struct arg *fd, enum rule rule)
{
	const struct open_file *file = state_file(x->state, x->pid, fd->num);

	if (!file && fd->num >= 0 && fd->num < STATE_FD_FIRST)
		leave_undefined(x, RULE_standard_fd);
	else if (!file)
		refuse(x, rule);
	return file;
}

static void envelope_start(struct envelope *env)
{
	env->errors = (struct errset){ 0 };
	env->success = true;
	env->undefined = false;
	env->open = false;
	env->first = 0;
	env->rule_count = 0;
	env->optional_count = 0;
	env->least_num = 0;
	env->shortest_len = 0;
	env->names = NULL;
	env->names_len = 0;
	env->end_allowed = false;
	env->value.error = 0;
	env->value.result = RESULT_NONE;
	env->value.end = false;
	env->value.num = 0;
	env->value.bytes = NULL;
	env->value.len = 0;
}

/* What an object takes besides its data, at most: an inode, its share of directories, attributes
 * and the maps of its blocks, in blocks of 16 KiB where a file system copies on write. */
static const uint64_t object_space = 16384;

/* Could this call need more than the space that surely is there? Blocks that were set aside
 * count, and so do removed files that are held. */
static bool space_may_end(const struct model *m, const struct state *s, const struct call *c)
{
	const struct tree *t = &s->tree;
	uint64_t used = t->blocks * TREE_BLOCK + t->inodes.count * object_space, all;

	if (!m->traits.space_may_end)
		return false;
	/* ext4 keeps what a fallocate got before it failed. */
	if (s->space_ended || __builtin_add_overflow(used, call_extent(c), &all))
		return true;
	return all > m->traits.space_sure;
}

/* Whatever changes something may need space for it, where a file system copies on write. */
static void may_lack_space(struct step *x)
{
	const unsigned changes = TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR | TRAIT_ALLOC;

	if (!x->space_may_end || !(op_table[x->call->op].traits & changes) ||
	    !(x->env->success || x->model->traits.space_ends_early))
		return;
	may_end_with(x, RULE_space_ended);
	may_end_with(x, RULE_quota_ended);
}

/* Failures are met by calls of processes; others only put an end to the waiting for one. */
static void may_meet_failures(struct step *x)
{
	const uint16_t(*failing)[STATE_FAILURES_MAX] = x->state->failing;

	if (op_table[x->call->op].traits & (TRAIT_ENV | TRAIT_PROC))
		return;
	if (failing[FAIL_ALLOC][0])
		may_end_with(x, RULE_memory_ended);
	if (failing[FAIL_READ][0] || failing[FAIL_WRITE][0])
		may_end_with(x, RULE_disk_failed);
}

/* One pass through the operation. seen: an outcome to follow, or NULL. */
static void step_pass(const struct model *m, struct state *s, const struct call *c,
		      const struct outcome *seen, bool follow, struct envelope *env)
{
	struct step x = {
		.model = m,
		.state = s,
		.call = c,
		.pid = c->pid,
		.process = state_process(s, c->pid),
		.seen = seen && !seen->error ? seen : NULL,
		.error = seen ? seen->error : 0,
		.follow = follow,
		.space_may_end = space_may_end(m, s, c),
		.env = env,
	};

	envelope_start(env);
	must(c->op < OP_COUNT);
	if (!x.process && c->op != OP_create_process) {
		leave_undefined(&x, RULE_process_absent);
		return;
	}
	giving_up_before(&x);
	operations[c->op](&x);
	maps_follow(s);
	may_lack_space(&x);
	may_meet_failures(&x);
	giving_up_allow(&x);
	if (!env->success && !env->open)
		env->undefined = false;
	tree_settle(&s->tree);
}

void model_allow(const struct model *m, struct state *s, const struct call *c, struct envelope *ret)
{
	struct state copy = state_copy(s);

	state_pass_time(&copy, 1);
	step_pass(m, &copy, c, NULL, true, ret);
	state_free(&copy);
}

void model_move(const struct model *m, struct state *s, const struct call *c, struct envelope *ret)
{
	state_pass_time(s, 1);
	step_pass(m, s, c, NULL, true, ret);
	giving_up_after(m, s, c, ret->undefined ? 0 : ret->first);
}

void model_run(const struct model *m, struct state *s, const struct call *c, struct outcome *ret)
{
	struct envelope env;

	model_move(m, s, c, &env);
	*ret = env.value;
	ret->error = env.undefined ? EINVAL : env.first;
}

static bool name_allowed(const struct envelope *env, const struct outcome *seen)
{
	if (seen->end || !seen->bytes)
		return seen->end && env->end_allowed;
	for (size_t at = 0; at < env->names_len; at += strlen(env->names + at) + 1)
		if (!strcmp(env->names + at, seen->bytes))
			return true;
	return false;
}

/* Is this success among the ones allowed? */
static bool value_allowed(const struct envelope *env, const struct outcome *seen)
{
	const struct outcome *value = &env->value;

	switch (value->result) {
	case RESULT_NUM:
	case RESULT_FD:
	case RESULT_PERM:
		return seen->num >= env->least_num && seen->num <= value->num;
	case RESULT_BYTES:
	case RESULT_NAMES:
		/* Where only the length was asked for, that is all there is. */
		if (!seen->len && seen->num)
			return seen->num == value->num;
		/* fallthrough */
	case RESULT_TARGET:
		return seen->len >= env->shortest_len && seen->len <= value->len &&
		       !memcmp(seen->bytes, value->bytes, seen->len);
	case RESULT_STAT:
	case RESULT_STATFS:
		return outcome_equal(value, seen);
	case RESULT_NAME:
		return name_allowed(env, seen);
	case RESULT_NONE:
		return true;
	}
	return false;
}

/* Is the error about space, and not (as for an attribute) about another limit? */
static bool lacked_space(const struct envelope *env, int error)
{
	if (error != ENOSPC && error != EDQUOT)
		return false;
	for (unsigned i = 0; i < env->rule_count; i++)
		if (env->rules[i] == RULE_space_ended)
			return true;
	return false;
}

/* Judges the outcome, and goes to where it leads. */
static enum verdict step_to(const struct model *m, struct state *s, const struct call *c,
			    const struct outcome *seen, struct envelope *ret)
{
	step_pass(m, s, c, seen, !seen->error, ret);
	if (ret->undefined)
		return VERDICT_UNKNOWN;
	if (!seen->error)
		return ret->success && value_allowed(ret, seen) ? VERDICT_OK : VERDICT_BAD;
	if (errset_has(&ret->errors, seen->error)) {
		s->space_ended |= lacked_space(ret, seen->error);
		return VERDICT_OK;
	}
	if (ret->success)
		step_pass(m, s, c, NULL, true, ret);
	return VERDICT_BAD;
}

enum verdict model_step(const struct model *m, struct state *s, const struct call *c,
			const struct outcome *seen, struct envelope *ret)
{
	enum verdict verdict;

	state_pass_time(s, 1);
	verdict = step_to(m, s, c, seen, ret);
	giving_up_after(m, s, c, verdict == VERDICT_BAD ? ret->first : seen->error);
	return verdict;
}
