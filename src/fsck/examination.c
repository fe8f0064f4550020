/* examination.c -- a checker is examined: its disk, the map of its fields, and everything that is
 * tried with them. */
#include "fsck/examination.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/count_text.h"
#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "damage/bytes.h"
#include "fsck/fsck_report.h"
#include "fsck/groups.h"
#include "fsck/kernel_report.h"
#include "symbolic/paths.h"

bool examination_is_over(const struct examination *x)
{
	double seconds = x->options->seconds;

	return stop_requested || json_array_size(x->run->findings) >= x->options->findings ||
	       (seconds > 0 && clock_seconds() - x->run->started_seconds >= seconds);
}

static void examination_set_figure(const struct examination *x, const char *name, uint64_t figure)
{
	json_object_set_new(x->run->figures, name, json_integer((json_int_t)figure));
}

void examination_show_progress(const struct examination *x)
{
	uint64_t images = x->program.figures.images + x->kernel.figures.images;
	double seconds = clock_seconds() - x->run->started_seconds;

	if (run_sample_is_due(x->run)) {
		examination_set_figure(x, "images", images);
		examination_set_figure(x, "checker_runs", x->program.figures.checker_runs);
		examination_set_figure(x, "behaviours",
				       x->program.figures.behaviours +
					       x->kernel.figures.behaviours);
		examination_set_figure(x, "paths", x->campaign.path_count);
		examination_set_figure(x, "branches", x->campaign.branches);
		run_sample(x->run);
	}
	if (progress_wanted())
		progress_show("%s: %.0f s, %s (%.0f/s), %s%s", x->run->target, seconds,
			      count_text(images, "damaged disk"), (double)images / seconds,
			      count_text(json_array_size(x->run->findings), "finding"),
			      progress_left(seconds, x->options->seconds));
}

static int found_in_program(struct examination *x, struct fsck_test *t, struct field_progress *p,
			    struct err *err)
{
	int r = 0;

	p->images++;
	p->spoils += t->fault != FSCK_FINE || !fsck_calls_clean(t);
	if (t->fault != FSCK_FINE) {
		p->faults++;
		r = fsck_report(&x->program, x->run, t, err);
	}
	fsck_test_free(t);
	return r;
}

static int test_program(void *to, const struct corruption *c, struct field_progress *p,
			struct err *err)
{
	struct examination *x = to;
	uint64_t behaviours = x->program.figures.behaviours;
	int r = 0;

	for (int mode = 0; mode < (int)x->program.program->mode_count && !r; mode++) {
		struct fsck_test t;

		if (!fsck_is_new(&x->program, c, mode))
			continue;
		r = fsck_try(&x->program, c, mode, &t, err);
		if (!r)
			r = found_in_program(x, &t, p, err);
	}
	p->news += x->program.figures.behaviours > behaviours;
	examination_show_progress(x);
	return r ? r : !examination_is_over(x);
}

/* By all ways to repair. */
static int probe_program(void *to, const struct corruption *c, struct err *err)
{
	struct examination *x = to;
	int found = PROBE_FINE, r = 0;

	for (int mode = 0; mode < (int)x->program.program->mode_count && found == PROBE_FINE && !r;
	     mode++) {
		struct fsck_test t;

		r = fsck_try(&x->program, c, mode, &t, err);
		if (r)
			break;
		found = t.fault == FSCK_HUNG                         ? PROBE_HANGS
		      : t.fault == FSCK_FINE && fsck_calls_clean(&t) ? PROBE_FINE
								     : PROBE_WRONG;
		fsck_test_free(&t);
	}
	examination_show_progress(x);
	return r ? r : found;
}

static int found_in_kernel(struct examination *x, struct kernel_test *t, struct field_progress *p,
			   struct err *err)
{
	int r = 0;

	p->images++;
	if (t->fault != KERNEL_FINE) {
		p->faults++;
		r = kernel_report(&x->kernel, x->run, t, err);
	}
	kernel_test_free(t);
	return r;
}

static int test_kernel(void *to, const struct corruption *c, struct field_progress *p,
		       struct err *err)
{
	struct examination *x = to;
	uint64_t behaviours = x->kernel.figures.behaviours;
	struct kernel_test t;
	int r;

	if (!kernel_checker_is_new(&x->kernel, c))
		return 1;
	r = kernel_checker_try(&x->kernel, c, &t, err);
	if (!r)
		r = found_in_kernel(x, &t, p, err);
	p->news += x->kernel.figures.behaviours > behaviours;
	examination_show_progress(x);
	return r ? r : !examination_is_over(x);
}

const struct ondisk_map *examination_map(const struct examination *x)
{
	return x->own.map.format ? &x->own.map : x->map.format ? &x->map : NULL;
}

/* Paths are sought in programs, of their first way to repair. */
static const char *examination_path_command(struct examination *x)
{
	struct buf missing = BUF_INIT;
	bool wanted = !x->is_kernel && !x->options->no_paths;

	if (wanted && !paths_available(&missing)) {
		wanted = false;
		json_object_set_new(x->run->figures, "no_paths_for",
				    json_string(buf_str(&missing)));
	}
	buf_free(&missing);
	return wanted ? x->program.program->modes[0].command : NULL;
}

enum { ENDLESS_SECONDS = 60 }; /* where no time was given: there is no end of bytes and pairs */

/* Of clock_seconds(); 0: no limit. */
static double examination_end_seconds(const struct examination *x)
{
	double seconds = x->options->seconds;

	if (seconds <= 0 && x->options->pairs)
		seconds = ENDLESS_SECONDS;
	return seconds > 0 ? x->run->started_seconds + seconds : 0;
}

int examination_fields(struct examination *x, campaign_test *test, struct err *err)
{
	struct campaign_options options = {
		.fields = &x->options->fields,
		.seed = x->options->seed,
		.until_seconds = examination_end_seconds(x),
		.job = x->options->job,
		.jobs = x->options->jobs,
		.order = x->options->order,
		.command = examination_path_command(x),
		.image = &x->disk.image,
	};
	int r = campaign_open(&x->campaign, examination_map(x),
			      (const uint8_t *)x->disk.image.bytes, &options, err);

	if (r)
		return r;
	x->campaign.test = test;
	x->campaign.probe = test == test_program ? probe_program : NULL;
	x->campaign.to = x;
	if (x->options->pairs)
		return campaign_run_pairs(&x->campaign, err);
	r = x->campaign.probe ? groups_run(&x->campaign, err) : 1;
	return r > 0 ? campaign_run(&x->campaign, err) : r;
}

enum { POOL_MAX = 64 };

/* Corruptions after which something new was said, the last ones of these. */
struct bytes_pool {
	struct corruption items[POOL_MAX];
	size_t count;
};

/* As often as not a change of one that was rewarding. */
static void pool_draw(const struct bytes_pool *pool, struct corruption *ret,
		      const struct read_sectors *sectors, const uint8_t *disk, struct rng *rng)
{
	size_t count = pool->count < POOL_MAX ? pool->count : POOL_MAX;

	if (count && rng_chance(rng, 1, 2)) {
		*ret = pool->items[rng_below(rng, count)];
		bytes_mutate(ret, sectors, disk, rng);
	} else {
		bytes_draw(ret, sectors, disk, rng);
	}
}

/* Bytes anywhere in what the kernel reads, or in what is on the disk. */
static int examine_bytes(struct examination *x, struct err *err)
{
	double until = x->run->started_seconds +
		       (x->options->seconds > 0 ? x->options->seconds : ENDLESS_SECONDS);
	const uint8_t *disk = (const uint8_t *)x->disk.image.bytes;
	struct bytes_pool *pool = must_alloc(sizeof(*pool));
	struct field_progress any = { 0 };
	struct read_sectors sectors;
	struct rng rng;
	int r = 1;

	rng_seed(&rng, x->options->seed + x->options->job);
	if (x->is_kernel)
		read_sectors_init(&sectors, &x->kernel.read);
	else
		read_sectors_of_disk(&sectors, disk, x->disk.image.size);
	while (r > 0 && sectors.count && clock_seconds() < until) {
		uint64_t news = any.news;
		struct corruption c;

		pool_draw(pool, &c, &sectors, disk, &rng);
		r = x->is_kernel ? test_kernel(x, &c, &any, err) : test_program(x, &c, &any, err);
		if (any.news > news)
			pool->items[pool->count++ % POOL_MAX] = c;
	}
	free(pool);
	read_sectors_free(&sectors);
	return r < 0 ? r : 0;
}

/* A disk that is damaged already. */
static int examine_image(struct examination *x, struct err *err)
{
	struct field_progress any = { 0 };
	struct buf disk = BUF_INIT;
	const uint8_t *bytes;
	int r = disk_file_read(&disk, x->options->image, err);

	bytes = (const uint8_t *)disk.data;
	if (!r && disk.len != x->disk.image.size)
		r = err_set(err, EINVAL,
			    "%s is not as large as the test disk (%" PRIu64
			    " bytes); --disk names another one",
			    x->options->image, x->disk.image.size);
	if (!r && x->is_kernel) {
		struct kernel_test t;

		r = kernel_checker_try_disk(&x->kernel, bytes, &t, err);
		if (!r)
			r = found_in_kernel(x, &t, &any, err);
	}
	for (int mode = 0; !x->is_kernel && !r && mode < (int)x->program.program->mode_count;
	     mode++) {
		struct fsck_test t;

		r = fsck_try_disk(&x->program, bytes, mode, &t, err);
		if (!r)
			r = found_in_program(x, &t, &any, err);
	}
	buf_free(&disk);
	return r;
}

static int examine_undamaged(struct examination *x, struct err *err)
{
	struct field_progress any = { 0 };
	int r = 0;

	for (int mode = 0; mode < (int)x->program.program->mode_count && !r; mode++) {
		struct fsck_test t;

		r = fsck_try_undamaged(&x->program, mode, &t, err);
		if (!r)
			r = found_in_program(x, &t, &any, err);
	}
	return r;
}

int examination_work(struct examination *x, struct err *err)
{
	int r;

	if (x->options->image)
		return examine_image(x, err);
	r = x->is_kernel ? 0 : examine_undamaged(x, err);
	if (!r)
		r = examination_map(x)
			  ? examination_fields(x, x->is_kernel ? test_kernel : test_program, err)
			  : 1;
	if (r > 0)
		r = !x->options->fields.count && (x->is_kernel || !examination_map(x))
			  ? examine_bytes(x, err)
			  : 0;
	return r;
}

/* ---- disk and map ---- */

/* The disk that is damaged: of the user's, or made here. No target: mkfs alone makes it. */
static int examination_make_disk(struct examination *x, struct test_disk_options *made,
				 struct err *err)
{
	struct buf disk = BUF_INIT;
	int r = x->options->disk ? disk_file_read(&disk, x->options->disk, err) : 0;

	made->config = x->options->config;
	if (disk.len) {
		made->size = disk.len;
		made->content = made->crash = NULL;
	}
	if (!r)
		r = made->target ? test_disk_make(&x->disk, made, err)
				 : test_disk_make_alone(&x->disk, made->mkfs, made->size, err);
	if (!r && x->options->disk) {
		r = test_disk_become(&x->disk, &disk, err);
		if (r)
			test_disk_free(&x->disk);
	}
	buf_free(&disk);
	return r;
}

/* fields: those of the checker itself, or NULL. */
static int examination_read_map(struct examination *x, const char *fields, struct err *err)
{
	struct err why = { 0 };
	int r;

	own_map_init(&x->own, x->disk.image.size);
	if (fields) {
		r = own_map_parse(&x->own, fields, err);
		if (!r)
			own_map_finish(&x->own);
		return r;
	}
	r = ondisk_read(&x->map, (const uint8_t *)x->disk.image.bytes, x->disk.image.size, &why);
	if (!r || r == -ENOTSUP || x->options->image)
		return 0;
	if (err)
		*err = why;
	return r;
}

int examination_open_kernel(struct examination *x, const struct examination_options *o,
			    const char *name, struct err *err)
{
	struct test_disk_options made = { .target = name };
	int r;

	*x = (struct examination){ .options = o, .is_kernel = true };
	r = examination_make_disk(x, &made, err);
	if (!r)
		r = examination_read_map(x, NULL, err);
	return r ? r : kernel_checker_open(&x->kernel, &x->disk, examination_map(x), err);
}

/* A kernel that reads a small disk for longer hangs. It is not what is tested here, and hangs on
 * many disks that an unmodified checker calls clean. */
enum { MOUNT_SECONDS = 1 };

int examination_open_program(struct examination *x, const struct examination_options *o,
			     const struct checker_program *p, struct err *err)
{
	struct buf target = BUF_INIT;
	int r;

	*x = (struct examination){ .options = o };
	if (p->file_system)
		buf_addf(&target, "kernel:%s", p->file_system);
	r = examination_make_disk(x,
				  &(struct test_disk_options){ .target = target.data,
							       .mkfs = p->mkfs,
							       .size = p->disk_size,
							       .content = p->content,
							       .crash = p->crash,
							       .call_seconds = MOUNT_SECONDS },
				  err);
	buf_free(&target);
	if (!r)
		r = examination_read_map(x, p->fields, err);
	return r ? r : fsck_open(&x->program, p, &x->disk, examination_map(x), err);
}

void examination_close(struct examination *x)
{
	campaign_close(&x->campaign);
	ondisk_free(&x->map);
	own_map_free(&x->own);
	test_disk_free(&x->disk);
}

void examination_end(struct examination *x)
{
	if (x->is_kernel)
		kernel_checker_close(&x->kernel);
	else
		fsck_close(&x->program);
}
