/* target.c -- opening a target by its name, and what all kinds have in common. */
#include "target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/client.h"
#include "model/giving_up.h"
#include "target/content.h"
#include "target/description.h"
#include "target/learned.h"
#include "target/recent_calls.h"
#include "trace/script.h"

static const double deadline_usual_seconds = 10;

const char *const target_cap_names[TARGET_CAPS] = {
	"remount", "save",  "drop-caches", "time", "fsck",  "image", "processes", "faults",
	"record",  "leaks", "mmap",        "code", "space", "kill",  "schedules", "wait",
};

unsigned target_needs(enum op op)
{
	switch (op) {
	case OP_remount:
		return TARGET_REMOUNT;
	case OP_drop_caches:
		return TARGET_DROP_CACHES;
	case OP_advance_time:
		return TARGET_TIME;
	case OP_wait:
		return TARGET_WAIT;
	case OP_fail_alloc:
	case OP_fail_read:
	case OP_fail_write:
		return TARGET_FAULTS;
	case OP_seek_leaks:
		return TARGET_LEAKS;
	case OP_fsck:
		return TARGET_FSCK;
	case OP_seek_space:
		return TARGET_SPACE;
	case OP_mmap:
	case OP_mmap_write:
	case OP_map_read_file:
	case OP_map_write_file:
		return TARGET_MMAP;
	default:
		return op_table[op].traits & TRAIT_PROC ? TARGET_PROCESSES : 0;
	}
}

#define TARGET_KIND(name) extern const struct target_kind target_##name;
#include "gen/targets.h"
#undef TARGET_KIND

const struct target_kind *const target_kinds[] = {
#define TARGET_KIND(name) &target_##name,
#include "gen/targets.h"
#undef TARGET_KIND
	NULL,
};

const struct target_kind *target_kind_find(const char *name)
{
	for (size_t i = 0; target_kinds[i]; i++)
		if (!strcmp(target_kinds[i]->name, name))
			return target_kinds[i];
	return NULL;
}

static int target_visit(const char *name, const char *config,
			void (*visit)(void *to, const char *name, const char *lacks), void *to,
			struct err *err)
{
	struct target_description d;
	struct buf lacks = BUF_INIT;
	const struct target_kind *kind;
	int ret = description_find(&d, name, config, err);

	kind = ret ? NULL : target_kind_find(d.kind);
	/* One that is named like its kind is the kind itself, which asks for a place. */
	if (kind && strcmp(d.name, d.kind)) {
		kind->lacks(&d, &lacks);
		visit(to, name, buf_str(&lacks));
	}
	buf_free(&lacks);
	description_free(&d);
	return ret;
}

int target_each(const char *config, void (*visit)(void *to, const char *name, const char *lacks),
		void *to, struct err *err)
{
	struct buf names = BUF_INIT;
	int ret = description_names(config, &names, err);

	for (size_t at = 0; at < names.len && !ret; at += strlen(names.data + at) + 1)
		ret = target_visit(names.data + at, config, visit, to, err);
	buf_free(&names);
	return ret;
}

int target_adopt(struct target *t, const struct target_description *d, struct err *err)
{
	int ret = 0;

	t->fields &= ~d->fields_off;
	for (size_t i = 0; i < d->trait_count && !ret; i++)
		ret = traits_set(&t->traits, d->traits[i].name, d->traits[i].value, err);
	return ret;
}

static int target_check_kind(const struct target_description *d, const char *fault, struct err *err)
{
	const struct target_kind *kind = target_kind_find(d->kind);
	int ret;

	if (!kind)
		return err_set(err, EINVAL, "%s: %s is no kind of target", d->name, d->kind);
	if (fault && !kind->has_faults)
		return err_set(err, EINVAL, "%s!%s: it cannot be broken on purpose", d->name,
			       fault);
	if (d->argument && (!kind->has_argument || d->command))
		return err_set(err, EINVAL, "%s: nothing is to be named behind it: %s", d->name,
			       d->argument);
	if (d->content && !kind->has_content)
		return err_set(err, EINVAL, "%s: nothing can lie below a target of the kind %s",
			       d->name, d->kind);
	ret = content_check(d, err);
	return ret || !kind->check ? ret : kind->check(d, fault, err);
}

static int target_open_kind(struct target *t, const struct target_description *d,
			    const struct target_options *options, struct err *err)
{
	struct buf lacks = BUF_INIT;
	int ret;

	t->kernel = description_kernel(d);
	t->traits = traits_usual;
	t->fields = (TREE_FIELDS_DEFAULT | TREE_ENTRIES) & ~options->fields_off;
	ret = target_adopt(t, d, err);
	if (ret)
		return ret;
	t->deadline_seconds =
		options->deadline_seconds > 0 ? options->deadline_seconds : deadline_usual_seconds;
	ret = target_check_kind(d, options->fault, err);
	if (ret)
		return ret;
	t->kind = target_kind_find(d->kind);
	t->fields &= ~t->kind->fields_off;
	if (options->learned) {
		t->learned = must_alloc(sizeof(*t->learned));
		*t->learned = *options->learned;
		t->fields &= ~t->learned->fields_off;
		learned_adopt(t->learned, &t->traits);
	}
	t->caps = t->kind->caps(d);
	if (t->traits.space_not_freed)
		t->caps &= ~TARGET_SPACE;
	t->kind->lacks(d, &lacks);
	if (lacks.len)
		ret = err_set(err, ENODEV, "%s: %s", t->name, lacks.data);
	else
		ret = t->kind->open(t, d, options, err);
	buf_free(&lacks);
	return ret;
}

/* "reffs!FAULT:..." or "kernel:FS@NAME!FAULT" without its fault, which is put into the options.
 * Behind the colon of others is a path or a command, which may have any characters. */
static char *target_split_fault(const char *spec, struct target_options *options)
{
	static const char kernel[] = "kernel:";
	size_t prefix_len = strncmp(spec, kernel, strlen(kernel)) ? 0 : strlen(kernel);
	size_t name_len = prefix_len + strcspn(spec + prefix_len, "!:"), fault_len;
	struct buf rest = BUF_INIT;
	char *fault;

	if (spec[name_len] != '!')
		return must_strdup(spec);
	fault_len = strcspn(spec + name_len + 1, ":");
	fault = must_strdup(spec + name_len + 1);
	fault[fault_len] = '\0';
	options->fault = fault;
	buf_add(&rest, spec, name_len);
	buf_adds(&rest, spec + name_len + 1 + fault_len);
	return rest.data;
}

int target_check(const char *spec, const char *config, struct err *err)
{
	struct target_options options = { 0 };
	char *plain = target_split_fault(spec, &options);
	struct target_description d;
	int r = description_find(&d, plain, config, err);

	if (!r)
		r = target_check_kind(&d, options.fault, err);
	description_free(&d);
	free((char *)options.fault);
	free(plain);
	return r;
}

static void target_free(struct target *t)
{
	recent_calls_free(t->recent);
	free(t->learned);
	buf_free(&t->recorder);
	buf_free(&t->report);
	buf_free(&t->fresh_report);
	description_free(t->description);
	free(t->description);
	free(t->fs);
	free(t->name);
	free(t);
}

int target_open(struct target **ret, const char *spec, const struct target_options *options,
		struct err *err)
{
	struct target_options own = options ? *options : (struct target_options){ 0 };
	char *plain = target_split_fault(spec, &own);
	struct target_description *d = must_alloc(sizeof(*d));
	struct target *t = must_alloc(sizeof(*t));
	int r;

	t->name = must_strdup(spec);
	t->description = d;
	r = description_find(d, plain, own.config, err);
	d->image = own.image ? arena_strdup(&d->arena, own.image) : NULL;
	if (own.mkfs)
		d->mkfs = arena_strdup(&d->arena, own.mkfs);
	if (own.image_size)
		d->image_size = own.image_size;
	if (own.whole) /* what is on it is looked at: nothing is to be there that was not written */
		d->old_bytes = 0;
	if (!r)
		r = target_open_kind(t, d, &own, err);
	free(plain);
	if (!options || own.fault != options->fault)
		free((char *)own.fault);
	if (!r) {
		if (t->caps & TARGET_SPACE)
			t->recent = recent_calls_new();
		*ret = t;
		return 0;
	}
	target_free(t);
	return r;
}

void target_variants(const struct target *t, struct buf *ret_names_nul)
{
	const char *names = t->description->variants ? t->description->variants : "";
	const char *rest = t->name + strlen(t->description->name); /* "@KERNEL!FAULT" */

	for (names += strspn(names, " "); *names; names += strspn(names, " ")) {
		size_t len = strcspn(names, " ");

		buf_add(ret_names_nul, names, len);
		buf_add(ret_names_nul, rest, strlen(rest) + 1);
		names += len;
	}
}

/* Not a described target, but a kind that asks for a place. */
static bool description_is_kind(const struct target_description *d, const struct target_kind *kind)
{
	return kind && kind->learns && !strcmp(d->name, d->kind);
}

/* What a question about the description of a target answers; false where there is none. */
static bool target_ask(const char *spec, const char *config,
		       bool (*ask)(const struct target_description *d,
				   const struct target_kind *kind))
{
	struct target_description d;
	struct err unknown = { 0 };
	bool answer =
		!description_find(&d, spec, config, &unknown) && ask(&d, target_kind_find(d.kind));

	description_free(&d);
	return answer;
}

static bool description_is_single(const struct target_description *d,
				  const struct target_kind *kind)
{
	return kind && kind->is_single && kind->is_single(d);
}

bool target_is_single(const char *spec, const char *config)
{
	return target_ask(spec, config, description_is_single);
}

bool target_learns(const char *spec, const char *config)
{
	return target_ask(spec, config, description_is_kind);
}

void target_close(struct target *t)
{
	if (!t)
		return;
	t->kind->close(t);
	target_free(t);
}

int target_admits(struct target *t, const struct call *c, struct err *err)
{
	return t->kind->call ? 0 : channel_admits(t->client, c, err);
}

int target_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	return t->kind->observe ? t->kind->observe(t, ret, ret_fate, err)
				: channel_observe(t->client, ret, ret_fate, err);
}

int target_is_alive(struct target *t, bool *ret_alive, struct err *err)
{
	struct call c = { .op = OP_statfs, .pid = 1 };
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	int r;

	c.arg[0] = (struct arg){ .text = "/", .len = 1 };
	r = target_call(t, &c, &outcome, &fate, err);
	*ret_alive = !r && fate_answers(fate);
	return r;
}

int target_reset(struct target *t, struct err *err)
{
	recent_calls_forget(t->recent);
	return t->kind->reset(t, err);
}

int target_race(struct target *t, const struct call *calls, size_t count, uint64_t seed,
		struct race_outcome *ret, enum target_fate *ret_fate, struct err *err)
{
	must(t->kind->races && count && count <= TARGET_RACE_MAX);
	return t->kind->race ? t->kind->race(t, calls, count, seed, ret, ret_fate, err)
			     : channel_race(t->client, calls, count, seed, ret, ret_fate, err);
}

int target_overlap(struct target *t, uint64_t key, const struct call *calls, size_t count,
		   struct race_outcome *ret, struct tree *ret_tree, enum target_fate *ret_fate,
		   struct err *err)
{
	must(t->caps & TARGET_SCHEDULES && count && count <= TARGET_RACE_MAX);
	return t->kind->overlap(t, key, calls, count, ret, ret_tree, ret_fate, err);
}

struct schedule_board *target_board(struct target *t)
{
	must(t->caps & TARGET_SCHEDULES);
	return t->kind->board(t);
}

int target_run_program(struct target *t, const char *source, double seconds,
		       struct program_report *ret, struct err *err)
{
	must(t->kind->run_program);
	return t->kind->run_program(t, source, seconds, ret, err);
}

int target_clear(struct target *t, struct err *err)
{
	struct err why = { 0 };

	recent_calls_forget(t->recent);
	/* What was there before is to be there again. */
	if (t->kind->clear && !t->description->content && !t->kind->clear(t, &why))
		return 0;
	return target_reset(t, err);
}

void target_model(const struct target *t, struct model *ret)
{
	model_init(ret, PLATFORM_LINUX, t->kernel);
	ret->traits = t->traits;
}

int target_initial_state(struct target *t, struct state *ret, struct err *err)
{
	struct state_options options = {
		.fields = t->fields,
		.hashed = true,
		.uid = t->uid,
		.gid = t->gid,
	};
	enum target_fate fate;
	struct tree seen;
	int r = target_observe(t, &seen, &fate, err);

	/* One that died of being emptied has another begin afresh. */
	if (!r && fate != FATE_FINE)
		r = target_reset(t, err);
	if (!r && fate != FATE_FINE)
		r = target_observe(t, &seen, &fate, err);
	if (r)
		return r;
	if (fate != FATE_FINE)
		return err_set(err, EIO, "%s: a fresh file system cannot be looked at", t->name);
	state_init(ret, &options);
	/* The observed tree replaces the empty one; process 1 is in its root. */
	tree_free(&ret->tree);
	ret->tree = seen;
	tree_adopt(&ret->tree);
	tree_hold(&ret->tree, TREE_ROOT);
	tree_settle(&ret->tree);
	if (t->caps & TARGET_FAULTS)
		giving_up_watch(ret);
	return 0;
}
