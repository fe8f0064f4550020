/* corpus.c -- a checker is tested with damaged disks of others.
 *
 * A kernel mounts what is repaired where it can: where mkfs makes a disk of that size, and it has
 * mounted what the checker made of the disk as it was given. That it does not is no fault: such a
 * disk may have features that the kernel lacks. Making a target takes a second, so that it is kept
 * for the next disk, which often has the same size. */
#include "fsck/corpus.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/count_text.h"
#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "damage/own_map.h"
#include "damage/values.h"
#include "fsck/fsck_report.h"

enum {
	DISK_MAX = 64 << 20,
	FIELDS_MAX = 200, /* of one disk: a repair can clear whole tables */
};

struct corpus {
	const struct corpus_options *options;
	const struct checker_program *program;
	struct run *run;
	struct corpus_figures *figures;
	struct test_disk mounted;  /* has a target, or nothing */
	uint64_t mounted_size;     /* what was tried */
	double disk_until_seconds; /* for this disk; 0: no limit */
};

static bool corpus_is_over(const struct corpus *c)
{
	const struct corpus_options *o = c->options;

	return stop_requested || json_array_size(c->run->findings) >= o->findings_max ||
	       (o->until_seconds > 0 && clock_seconds() >= o->until_seconds);
}

static bool disk_is_over(const struct corpus *c)
{
	return corpus_is_over(c) ||
	       (c->disk_until_seconds > 0 && clock_seconds() >= c->disk_until_seconds);
}

/* ---- the disks ---- */

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* e2fsprogs has compressed texts beside its images: expect.1.gz. */
static bool is_disk_name(const char *name)
{
	return !fnmatch("*.img", name, 0) ||
	       (!fnmatch("*.gz", name, 0) && fnmatch("expect.*", name, 0) != 0);
}

static int corpus_paths(const char *folder, struct buf *ret_nul, struct err *err)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_entries);
	FTSENT *entry;

	if (!walk)
		return err_sys(err, errno, "cannot read %s", folder);
	while ((entry = fts_read(walk)))
		if (entry->fts_info == FTS_F && is_disk_name(entry->fts_name)) {
			buf_adds(ret_nul, entry->fts_path);
			buf_addch(ret_nul, '\0');
		}
	fts_close(walk);
	return ret_nul->len ? 0 : err_set(err, ENOENT, "%s: no *.img and no *.gz below it", folder);
}

/* The target of this size; without one where mkfs or the kernel does not do it. */
static void corpus_make_target(struct corpus *c, uint64_t size)
{
	const struct checker_program *p = c->program;
	struct buf target = BUF_INIT;
	struct err why = { 0 };

	if (c->mounted_size == size)
		return;
	test_disk_free(&c->mounted);
	c->mounted_size = size;
	if (p->file_system) {
		buf_addf(&target, "kernel:%s", p->file_system);
		if (test_disk_make(&c->mounted,
				   &(struct test_disk_options){ .target = target.data,
								.mkfs = p->mkfs,
								.size = size,
								.config = c->options->config },
				   &why))
			c->mounted = (struct test_disk){ 0 };
	}
	buf_free(&target);
}

static int disk_without_target(struct test_disk *ret, const struct buf *bytes, struct err *err)
{
	int r = image_make(&ret->image, bytes->len, err);

	if (!r)
		memcpy(ret->image.bytes, bytes->data, bytes->len);
	return r;
}

/* ---- one disk ---- */

static void figures_add(struct fsck_figures *sum, const struct fsck_figures *more)
{
	sum->images += more->images;
	sum->checker_runs += more->checker_runs;
	sum->skipped += more->skipped;
	sum->mounts += more->mounts;
	sum->listed += more->listed;
	sum->inconsistent += more->inconsistent;
	sum->crashed += more->crashed;
	sum->hung += more->hung;
	sum->behaviours += more->behaviours;
}

static bool was_repaired(const struct fsck_test *t)
{
	enum checker_answer last = t->run_count ? t->answers[t->run_count - 1] : ANSWER_UNKNOWN;

	return t->fault != FSCK_CRASHED && t->fault != FSCK_HUNG &&
	       (last == ANSWER_CLEAN || last == ANSWER_REPAIRED);
}

/* Judges what the checker does with the disk; what its first way to repair leaves is *repaired,
 * where it calls that clean. */
static int session_repair(struct corpus *c, struct fsck_session *s, const struct buf *disk,
			  struct buf *repaired, struct err *err)
{
	int r = 0;

	for (int mode = 0; mode < (int)s->program->mode_count && !r; mode++) {
		struct fsck_test t;
		const uint8_t *left;
		uint64_t size;

		r = fsck_try_disk(s, (const uint8_t *)disk->data, mode, &t, err);
		if (r)
			break;
		left = checker_disk(s->checker, &size);
		if (mode == 0 && was_repaired(&t) && size == disk->len)
			buf_add(repaired, (const char *)left, size);
		if (t.fault != FSCK_FINE)
			r = fsck_report(s, c->run, &t, err);
		fsck_test_free(&t);
	}
	return r;
}

static int corpus_repair(struct corpus *c, const struct buf *disk, struct buf *repaired,
			 struct err *err)
{
	struct test_disk without = { 0 };
	struct fsck_session s;
	int r = disk_without_target(&without, disk, err);

	if (!r)
		r = fsck_open_damaged(&s, c->program, &without, err);
	if (!r) {
		s.export_to = c->options->export_to;
		r = session_repair(c, &s, disk, repaired, err);
		figures_add(&c->figures->checker, &s.figures);
		fsck_close(&s);
	}
	test_disk_free(&without);
	return r;
}

/* ---- its fields ---- */

struct corpus_field {
	const struct ondisk_instance *instance;
	const struct ondisk_field *field;
};

static int session_try(struct corpus *c, struct fsck_session *s, const struct corpus_field *f,
		       const uint8_t *value, struct err *err)
{
	const uint8_t *disk = s->damaged.base;
	uint16_t len = corruption_field_len(f->instance, f->field);
	uint64_t at = f->instance->at + f->field->offset;
	struct corruption corruption = { 0 };
	int r = 0;

	if (!memcmp(disk + at, value, len))
		return 0;
	if (own_map_is_difference(f->instance))
		corruption_add_bytes(&corruption, disk, at, value, len);
	else
		corruption_add_field(&corruption, disk, f->instance, f->field, value);
	for (int mode = 0; mode < (int)s->program->mode_count && !r; mode++) {
		struct fsck_test t;

		if (!fsck_is_new(s, &corruption, mode))
			continue;
		r = fsck_try(s, &corruption, mode, &t, err);
		if (r)
			break;
		if (t.fault != FSCK_FINE)
			r = fsck_report(s, c->run, &t, err);
		fsck_test_free(&t);
	}
	return r;
}

/* The bytes that were there, and telling values. */
static int session_try_field(struct corpus *c, struct fsck_session *s, const struct ondisk_map *map,
			     const struct corpus_field *f, const struct buf *original,
			     struct err *err)
{
	const uint8_t *was = (const uint8_t *)original->data + f->instance->at + f->field->offset;
	struct field_values values;
	int r = session_try(c, s, f, was, err);

	values_telling(&values, map, s->damaged.base, f->instance, f->field, c->options->seed);
	for (size_t i = 0; i < values.count && !r && !disk_is_over(c); i++)
		r = session_try(c, s, f, values.items[i], err);
	values_free(&values);
	return r;
}

static int session_try_fields(struct corpus *c, struct fsck_session *s, const struct own_map *own,
			      const struct buf *original, struct err *err)
{
	size_t count = own->map.count < FIELDS_MAX ? own->map.count : FIELDS_MAX;
	int r = 0;

	c->figures->fields_left_out += own->map.count - count;
	for (size_t i = 0; i < count && !r && !disk_is_over(c); i++) {
		struct corpus_field f = { &own->map.instances[i],
					  own->map.instances[i].structure->fields };

		c->figures->fields++;
		r = session_try_field(c, s, &own->map, &f, original, err);
	}
	return r;
}

/* Another way to repair a disk may fail on what the first one calls clean. */
static int corpus_damage_fields(struct corpus *c, struct test_disk *on,
				const struct ondisk_map *known, const struct own_map *own,
				const struct buf *original, struct err *err)
{
	struct err why = { 0 };
	struct fsck_session s;
	int r = fsck_open(&s, c->program, on, known, &why);

	if (r == -EIO) {
		c->figures->unrepaired++;
		return 0;
	}
	if (r) {
		*err = why;
		return r;
	}
	s.export_to = c->options->export_to;
	r = session_try_fields(c, &s, own, original, err);
	figures_add(&c->figures->checker, &s.figures);
	fsck_close(&s);
	return r;
}

/* The fields that the checker lists, or those of the format; false: none are known. */
static bool read_known(const struct checker_program *p, const struct buf *disk, struct own_map *own,
		       struct ondisk_map *map)
{
	struct err why = { 0 };
	bool known;

	own_map_init(own, disk->len);
	known = p->fields ? !own_map_parse(own, p->fields, &why)
			  : !ondisk_read(map, (const uint8_t *)disk->data, disk->len, &why);
	own_map_finish(own);
	return known;
}

static int corpus_damage(struct corpus *c, const struct buf *original, const struct buf *repaired,
			 struct err *err)
{
	struct test_disk without = { 0 }, *on = &c->mounted;
	struct own_map listed, own;
	struct ondisk_map format = { 0 };
	const struct ondisk_map *known = NULL;
	struct err why = { 0 };
	int r = 0;

	if (read_known(c->program, repaired, &listed, &format))
		known = c->program->fields ? &listed.map : &format;
	if (!on->target || test_disk_become(on, repaired, &why)) {
		on = &without;
		r = disk_without_target(on, repaired, err);
	}
	c->figures->mountable += on->target != NULL;
	own_map_init(&own, repaired->len);
	own_map_add_difference(&own, (const uint8_t *)repaired->data,
			       (const uint8_t *)original->data, known);
	own_map_finish(&own);
	if (!r && own.count)
		r = corpus_damage_fields(c, on, known, &own, original, err);
	if (known == &format)
		ondisk_free(&format);
	own_map_free(&listed);
	own_map_free(&own);
	test_disk_free(&without);
	return r;
}

static int corpus_examine(struct corpus *c, const char *path, struct err *err)
{
	struct buf disk = BUF_INIT, repaired = BUF_INIT;
	struct err why = { 0 };
	int r = disk_file_read(&disk, path, &why);

	if (progress_wanted())
		progress_show("%s: %s, %s", c->run->target, path,
			      count_text(json_array_size(c->run->findings), "finding"));
	if (r || !disk.len || disk.len > DISK_MAX) {
		c->figures->left_out++;
		buf_free(&disk);
		return 0;
	}
	c->figures->disks++;
	corpus_make_target(c, disk.len);
	r = corpus_repair(c, &disk, &repaired, err);
	if (!r && repaired.len)
		r = corpus_damage(c, &disk, &repaired, err);
	else if (!r)
		c->figures->unrepaired++;
	buf_free(&disk);
	buf_free(&repaired);
	return r;
}

int corpus_run(const struct corpus_options *o, struct run *run, struct corpus_figures *ret,
	       struct err *err)
{
	/* A repaired disk has the time of its repair, which must not be in the future for the
	 * program as a maintainer runs it. */
	struct checker_program today = *o->program;
	struct corpus c = { .options = o, .program = &today, .run = run, .figures = ret };
	struct buf paths_nul = BUF_INIT;
	int r = corpus_paths(o->folder, &paths_nul, err);
	size_t left = 0;

	today.now = (uint64_t)time(NULL);
	*ret = (struct corpus_figures){ 0 };
	for (size_t at = 0; at < paths_nul.len; at += strlen(paths_nul.data + at) + 1)
		left++;
	for (size_t at = 0; !r && left && !corpus_is_over(&c);
	     at += strlen(paths_nul.data + at) + 1, left--) {
		/* Each disk has its share of the time. */
		if (o->until_seconds > 0)
			c.disk_until_seconds = clock_seconds() +
					       (o->until_seconds - clock_seconds()) / (double)left;
		r = corpus_examine(&c, paths_nul.data + at, err);
	}
	test_disk_free(&c.mounted);
	buf_free(&paths_nul);
	return r;
}
