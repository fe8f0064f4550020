/* arms.c -- the arms of a campaign: from patterns to targets. */
#include "campaign/arms.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "checker/checker_program.h"
#include "target/description.h"
#include "target/target.h"

const char *const arm_state_names[ARM_STATES] = {
	[ARM_ACTIVE] = "active",
	[ARM_DONE] = "done",
	[ARM_ASIDE] = "put aside",
	[ARM_LACKING] = "lacking",
};

/* What patterns choose from. */
struct arm_candidate {
	char *name, *lacks;
	unsigned caps; /* enum target_cap */
	bool checker, kernel, races;
};

struct arm_candidates {
	struct arm_candidate *list;
	size_t count;
};

static void candidate_add(struct arm_candidates *c, const char *name, const char *lacks,
			  unsigned caps, bool checker)
{
	c->list = must_realloc(c->list, (c->count + 1) * sizeof(*c->list));
	c->list[c->count++] = (struct arm_candidate){
		.name = must_strdup(name),
		.lacks = must_strdup(lacks),
		.caps = caps,
		.checker = checker,
		.kernel = !strncmp(name, "kernel:", 7),
	};
}

static void candidate_add_target(void *to, const char *name, const char *lacks)
{
	candidate_add(to, name, lacks, 0, false);
}

/* Only of what lacks nothing is it known what it can do here. */
static int candidate_set_caps(struct arm_candidate *c, const char *config, struct err *err)
{
	struct target_description d;
	const struct target_kind *kind;
	int status = 0;

	if (*c->lacks)
		return 0;
	status = description_find(&d, c->name, config, err);
	kind = status ? NULL : target_kind_find(d.kind);
	if (kind) {
		c->caps = kind->caps(&d);
		c->races = kind->races;
	}
	description_free(&d);
	return status;
}

static int candidates_add_checkers(struct arm_candidates *c, const char *config, struct err *err)
{
	struct buf names = BUF_INIT, lacks = BUF_INIT;
	struct checker_program program;
	int status = checker_program_names(config, &names, err);

	for (size_t at = 0; at < names.len && !status; at += strlen(names.data + at) + 1) {
		status = checker_program_find(&program, names.data + at, config, err);
		if (status)
			break;
		buf_clear(&lacks);
		checker_program_lacking(&program, &lacks);
		candidate_add(c, names.data + at, buf_str(&lacks), 0, true);
		checker_program_free(&program);
	}
	buf_free(&names);
	buf_free(&lacks);
	return status;
}

static int candidates_list(struct arm_candidates *c, const char *config, struct err *err)
{
	int status = target_each(config, candidate_add_target, c, err);

	for (size_t i = 0; i < c->count && !status; i++)
		status = candidate_set_caps(&c->list[i], config, err);
	return status ? status : candidates_add_checkers(c, config, err);
}

static void candidates_free(struct arm_candidates *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->list[i].name);
		free(c->list[i].lacks);
	}
	free(c->list);
}

/* ---- arms ---- */

void campaign_arm_update(struct campaign_arms *a, size_t arm)
{
	const struct campaign_arm *m = &a->list[arm];

	a->bandit.arms[arm].out = m->running || m->state != ARM_ACTIVE;
}

void campaign_arm_set_state(struct campaign_arms *a, size_t arm, enum arm_state state,
			    const char *reason)
{
	struct campaign_arm *m = &a->list[arm];
	char *copy = must_strdup(reason);

	free(m->reason);
	m->state = state;
	m->reason = copy;
	campaign_arm_update(a, arm);
}

static char *arm_name(const struct campaign_arm *m)
{
	struct buf name = BUF_INIT;

	buf_addf(&name, "%s %s", m->instrument->name, m->target);
	for (size_t at = 0; at < m->options.len; at += strlen(m->options.data + at) + 1)
		buf_addf(&name, " %s", m->options.data + at);
	return name.data;
}

static bool arm_is_listed(const struct campaign_arms *a, const char *name)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(a->list[i].name, name))
			return true;
	return false;
}

/* One that several sections name belongs to the first. */
static int arm_add(struct campaign_arms *a, const struct campaign_section *s, const char *target,
		   const char *profile, const char *lacks, struct err *err)
{
	struct campaign_arm m = { .section = s,
				  .instrument = &instrument_table[s->instrument],
				  .target = must_strdup(target),
				  .state = *lacks ? ARM_LACKING : ARM_ACTIVE,
				  .reason = must_strdup(lacks) };

	if (profile) {
		buf_adds(&m.options, "--profile");
		buf_add(&m.options, "", 1);
		buf_add(&m.options, profile, strlen(profile) + 1);
	}
	campaign_words(s->options ? s->options : "", &m.options);
	m.name = arm_name(&m);
	if (arm_is_listed(a, m.name) || a->count == ARMS_MAX) {
		free(m.target);
		free(m.reason);
		free(m.name);
		buf_free(&m.options);
		return a->count == ARMS_MAX ? err_set(err, E2BIG, "more than %d arms", ARMS_MAX)
					    : 0;
	}
	a->list = must_realloc(a->list, (a->count + 1) * sizeof(*a->list));
	a->list[a->count++] = m;
	return 0;
}

static int arms_add_profiles(struct campaign_arms *a, const struct campaign_section *s,
			     const char *target, const char *lacks, struct err *err)
{
	struct buf profiles = BUF_INIT;
	int status = 0;

	if (!s->profiles)
		return arm_add(a, s, target, NULL, lacks, err);
	campaign_words(s->profiles, &profiles);
	for (size_t at = 0; at < profiles.len && !status; at += strlen(profiles.data + at) + 1)
		status = arm_add(a, s, target, profiles.data + at, lacks, err);
	buf_free(&profiles);
	return status;
}

/* What a target must be able to do for the instrument and its options. */
static unsigned section_needs(const struct campaign_section *s)
{
	static const struct {
		const char *option;
		unsigned caps;
	} needs[] = { { "--crash", TARGET_RECORD },
		      { "--faults", TARGET_FAULTS },
		      { "--leaks", TARGET_LEAKS },
		      { "--daemon", TARGET_KILL } };
	unsigned caps = instrument_table[s->instrument].needs;
	struct buf words = BUF_INIT;

	campaign_words(s->options ? s->options : "", &words);
	for (size_t at = 0; at < words.len; at += strlen(words.data + at) + 1)
		for (size_t i = 0; i < ARRAY_LEN(needs); i++)
			if (!strncmp(words.data + at, needs[i].option, strlen(needs[i].option)))
				caps |= needs[i].caps;
	buf_free(&words);
	/* It is not a power failure then. */
	return caps & TARGET_KILL ? caps & ~(unsigned)TARGET_RECORD : caps;
}

static bool candidate_suits(const struct arm_candidate *c, const struct campaign_section *s)
{
	const struct instrument *instrument = &instrument_table[s->instrument];
	unsigned needs = section_needs(s);

	if (instrument->of_checkers)
		return c->checker || (c->kernel && c->caps & TARGET_RECORD);
	if (c->checker || (instrument->of_kernels && !c->kernel))
		return false;
	return *c->lacks || ((c->caps & needs) == needs && (c->races || !instrument->of_racers));
}

static bool pattern_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, "all") || !fnmatch(pattern, name, FNM_NOESCAPE);
}

/* "-PATTERN" anywhere leaves targets out. */
static bool section_leaves_out(const struct buf *patterns, const char *name)
{
	for (size_t at = 0; at < patterns->len; at += strlen(patterns->data + at) + 1)
		if (patterns->data[at] == '-' && pattern_matches(patterns->data + at + 1, name))
			return true;
	return false;
}

static bool is_pattern(const char *word)
{
	return !strcmp(word, "all") || strpbrk(word, "*?[");
}

static int section_add_pattern(struct campaign_arms *a, const struct campaign_section *s,
			       const char *pattern, const struct buf *patterns,
			       const struct arm_candidates *c, bool *ret_any, struct err *err)
{
	int status = 0;

	if (!is_pattern(pattern)) {
		*ret_any = true;
		return arms_add_profiles(a, s, pattern, "", err);
	}
	for (size_t i = 0; i < c->count && !status; i++) {
		if (!candidate_suits(&c->list[i], s) ||
		    !pattern_matches(pattern, c->list[i].name) ||
		    section_leaves_out(patterns, c->list[i].name))
			continue;
		*ret_any = true;
		status = arms_add_profiles(a, s, c->list[i].name, c->list[i].lacks, err);
	}
	return status;
}

static int section_add(struct campaign_arms *a, const struct campaign_section *s,
		       const struct arm_candidates *c, struct err *err)
{
	struct buf patterns = BUF_INIT;
	bool any = false;
	int status = 0;

	campaign_words(s->targets, &patterns);
	for (size_t at = 0; at < patterns.len && !status; at += strlen(patterns.data + at) + 1)
		if (patterns.data[at] != '-')
			status = section_add_pattern(a, s, patterns.data + at, &patterns, c, &any,
						     err);
	buf_free(&patterns);
	if (!status && !any)
		status =
			err_set(err, EINVAL, "[arms.%s]: no target that %s can test matches \"%s\"",
				s->name, instrument_table[s->instrument].name, s->targets);
	return status;
}

static void arms_make_bandit(struct campaign_arms *a, const struct campaign_file *f)
{
	a->shares = must_alloc(f->section_count * sizeof(*a->shares));
	for (size_t i = 0; i < f->section_count; i++)
		a->shares[i] = f->sections[i].share / 100;
	a->bandit = (struct bandit){
		.arms = must_alloc(a->count * sizeof(*a->bandit.arms)),
		.count = a->count,
		.floor = f->floor / 100,
		.shares = a->shares,
		.section_count = f->section_count,
	};
	for (size_t i = 0; i < a->count; i++) {
		a->bandit.arms[i] = (struct bandit_arm){
			.section = (size_t)(a->list[i].section - f->sections),
		};
		campaign_arm_update(a, i);
	}
}

int campaign_arms_list(struct campaign_arms *a, const struct campaign_file *f, struct err *err)
{
	struct arm_candidates candidates = { 0 };
	int status = candidates_list(&candidates, f->config, err);

	*a = (struct campaign_arms){ 0 };
	for (size_t i = 0; i < f->section_count && !status; i++)
		status = section_add(a, &f->sections[i], &candidates, err);
	candidates_free(&candidates);
	if (status)
		campaign_arms_free(a);
	else
		arms_make_bandit(a, f);
	return status;
}

void campaign_arms_free(struct campaign_arms *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->list[i].name);
		free(a->list[i].target);
		free(a->list[i].reason);
		buf_free(&a->list[i].options);
	}
	free(a->list);
	free(a->bandit.arms);
	free(a->shares);
	*a = (struct campaign_arms){ 0 };
}
