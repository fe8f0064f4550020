/* cmd_fsck.c -- `assay fsck CHECKER`: do checkers of file systems do what they say? */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/operands.h"
#include "cli/summary.h"
#include "fsck/bytes.h"
#include "fsck/campaign.h"
#include "fsck/compare_report.h"
#include "fsck/corpus.h"
#include "fsck/fsck_report.h"
#include "fsck/kernel_report.h"
#include "fsck/own_map.h"
#include "report/findings_text.h"
#include "run/run.h"
#include "symbolic/paths.h"

static struct fsck_settings {
	struct opt_list fields;
	const char *against, *against_image;
	const char *image, *disk, *corpus;
	const char *out, *config, *known, *write_known;
	uint64_t seed, findings, jobs;
	double seconds;
	unsigned job; /* of several */
	bool json, list_fields, no_paths;
} settings = {
	.findings = 100,
	.jobs = 1,
};

#define ROW(field) offsetof(struct fsck_settings, field)

static const struct opt opts[] = {
	{ "field", OPT_LIST, ROW(fields), "STRUCTURE[.FIELD]",
	  "only this field is damaged, or those of a structure; may be repeated. Default: all", 0,
	  0 },
	{ "list-fields", OPT_FLAG, ROW(list_fields), NULL,
	  "print the fields of the test disk, and where they lie", 0, 0 },
	{ "no-paths", OPT_FLAG, ROW(no_paths), NULL,
	  "do not search the checker's code for values that take other paths", 0, 0 },
	{ "image", OPT_TEXT, ROW(image), "FILE",
	  "test with this damaged disk only, which may be compressed (gzip)", 0, 0 },
	{ "against", OPT_TEXT, ROW(against), "CHECKER",
	  "compare with another checker: which one loses files that the other keeps, after the "
	  "same damage",
	  0, 0 },
	{ "against-image", OPT_TEXT, ROW(against_image), "FILE",
	  "with --against and --image: the damaged disk of the other checker", 0, 0 },
	{ "disk", OPT_TEXT, ROW(disk), "FILE",
	  "a disk to damage, instead of one that is made; may be compressed (gzip)", 0, 0 },
	{ "corpus", OPT_TEXT, ROW(corpus), "DIR",
	  "repair every disk below DIR (*.img, *.gz), and damage what was repaired", 0, 0 },
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N", "stop after this time; 0 for no limit", 0,
	  OPT_SECONDS_MAX },
	{ "seed", OPT_U64, ROW(seed), "N", "of values that are drawn", 0, INT64_MAX },
	{ "jobs", OPT_U64, ROW(jobs), "N", "processes that share the work", 1, 1024 },
	{ "findings", OPT_U64, ROW(findings), "N", "stop after this number of different findings",
	  1, 1000000 },
	KNOWN_OPTS(struct fsck_settings),
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE",
	  "an INI file that describes checkers and targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

static const char kernel_prefix[] = "kernel:";

static bool is_kernel(const char *name)
{
	return !strncmp(name, kernel_prefix, strlen(kernel_prefix));
}

/* ---- both sorts of checkers ---- */

/* A checker is a program, or a kernel in a process. */
struct examination {
	struct run *run;
	struct test_disk disk;
	struct ondisk_map map; /* no format: nothing is described */
	struct own_map own;    /* instead, where the checker lists its fields */
	struct fsck_session program;
	struct kernel_checker kernel;
	bool is_kernel;
	struct campaign campaign;
	struct examination *other; /* with another checker, that is compared: */
	struct comparison comparison;
	int (*work)(struct examination *x, struct err *err);
};

static bool examination_is_over(const struct examination *x)
{
	return stop_requested || json_array_size(x->run->findings) >= settings.findings;
}

static void examination_show_progress(const struct examination *x)
{
	uint64_t images = x->program.figures.images + x->kernel.figures.images;
	double seconds = clock_seconds() - x->run->started_seconds;

	if (progress_wanted())
		progress_show("%s: %.0f s, %" PRIu64 " damaged disks (%.0f/s), %zu findings",
			      x->run->target, seconds, images, (double)images / seconds,
			      json_array_size(x->run->findings));
}

static int found_in_program(struct examination *x, struct fsck_test *t, struct field_progress *p,
			    struct err *err)
{
	int r = 0;

	p->images++;
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
	int r = 0;

	for (int mode = 0; mode < (int)x->program.program->mode_count && !r; mode++) {
		struct fsck_test t;

		if (!fsck_is_new(&x->program, c, mode))
			continue;
		r = fsck_try(&x->program, c, mode, &t, err);
		if (!r)
			r = found_in_program(x, &t, p, err);
	}
	examination_show_progress(x);
	return r ? r : !examination_is_over(x);
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
	struct kernel_test t;
	int r;

	if (!kernel_checker_is_new(&x->kernel, c))
		return 1;
	r = kernel_checker_try(&x->kernel, c, &t, err);
	if (!r)
		r = found_in_kernel(x, &t, p, err);
	examination_show_progress(x);
	return r ? r : !examination_is_over(x);
}

static const struct ondisk_map *examination_map(const struct examination *x)
{
	return x->own.map.format ? &x->own.map : x->map.format ? &x->map : NULL;
}

/* Paths are sought in programs, of their first way to repair. */
static const char *examination_path_command(struct examination *x)
{
	struct buf missing = BUF_INIT;
	bool wanted = !x->is_kernel && !settings.no_paths;

	if (wanted && !paths_available(&missing)) {
		wanted = false;
		json_object_set_new(x->run->figures, "no_paths_for",
				    json_string(buf_str(&missing)));
	}
	buf_free(&missing);
	return wanted ? x->program.program->modes[0].command : NULL;
}

/* Field by field, in every way that there is. */
static int examine_fields(struct examination *x, campaign_test *test, struct err *err)
{
	struct campaign_options options = {
		.fields = &settings.fields,
		.seed = settings.seed,
		.until_seconds =
			settings.seconds > 0 ? x->run->started_seconds + settings.seconds : 0,
		.job = settings.job,
		.jobs = (unsigned)settings.jobs,
		.command = examination_path_command(x),
		.image = &x->disk.image,
	};
	int r = campaign_open(&x->campaign, examination_map(x),
			      (const uint8_t *)x->disk.image.bytes, &options, err);

	if (r)
		return r;
	x->campaign.test = test;
	x->campaign.to = x;
	return campaign_run(&x->campaign, err);
}

enum { BYTES_SECONDS = 60 }; /* where no time was given: there is no end of bytes */

/* Bytes anywhere in what the kernel reads, or in what is on the disk. */
static int examine_bytes(struct examination *x, struct err *err)
{
	double until =
		x->run->started_seconds + (settings.seconds > 0 ? settings.seconds : BYTES_SECONDS);
	const uint8_t *disk = (const uint8_t *)x->disk.image.bytes;
	struct field_progress any = { 0 };
	struct read_sectors sectors;
	struct rng rng;
	int r = 1;

	rng_seed(&rng, settings.seed + settings.job);
	if (x->is_kernel)
		read_sectors_init(&sectors, &x->kernel.read);
	else
		read_sectors_of_disk(&sectors, disk, x->disk.image.size);
	while (r > 0 && sectors.count && clock_seconds() < until) {
		struct corruption c;

		bytes_draw(&c, &sectors, disk, &rng);
		r = x->is_kernel ? test_kernel(x, &c, &any, err) : test_program(x, &c, &any, err);
	}
	read_sectors_free(&sectors);
	return r < 0 ? r : 0;
}

/* A disk that is damaged already. */
static int examine_image(struct examination *x, struct err *err)
{
	struct field_progress any = { 0 };
	struct buf disk = BUF_INIT;
	const uint8_t *bytes;
	int r = disk_file_read(&disk, settings.image, err);

	bytes = (const uint8_t *)disk.data;
	if (!r && disk.len != x->disk.image.size)
		r = err_set(err, EINVAL,
			    "%s is not as large as the test disk (%" PRIu64
			    " bytes); --disk names another one",
			    settings.image, x->disk.image.size);
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

static int examine(struct examination *x, struct err *err)
{
	int r;

	if (settings.image)
		return examine_image(x, err);
	r = x->is_kernel ? 0 : examine_undamaged(x, err);
	if (!r)
		r = examination_map(x)
			  ? examine_fields(x, x->is_kernel ? test_kernel : test_program, err)
			  : 1;
	if (r > 0)
		r = !settings.fields.count && (x->is_kernel || !examination_map(x))
			  ? examine_bytes(x, err)
			  : 0;
	return r;
}

/* ---- figures ---- */

static void set_count(json_t *o, const char *name, uint64_t count)
{
	json_object_set_new(o, name, json_integer((json_int_t)count));
}

static json_t *field_row(const struct field_progress *p)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "structure",
			 p->structure->name, "field", p->field->name, "instances",
			 (json_int_t)p->instances, "tried", (json_int_t)p->tried, "images",
			 (json_int_t)p->images, "faults", (json_int_t)p->faults, "paths",
			 (json_int_t)p->paths, "all_values", p->all_values, "incomplete_for",
			 buf_str(&p->why_not));
}

static const char *const figure_names[] = { "fields",       "paths",         "images",
					    "checker_runs", "inconsistent",  "crashed",
					    "hung",         "incomplete",    "mounts",
					    "listed",       "refused",       "internal_errors",
					    "behaviours",   "runs_left_out", NULL };

static void set_figures(const struct examination *x)
{
	const struct fsck_figures *f = &x->program.figures;
	const struct kernel_figures *k = &x->kernel.figures;
	json_t *rows = json_array();
	uint64_t paths = 0;

	for (size_t i = 0; i < x->campaign.count; i++) {
		paths += x->campaign.fields[i].paths;
		json_array_append_new(rows, field_row(&x->campaign.fields[i]));
	}
	json_object_set_new(x->run->figures, "field_table", rows);
	{
		const uint64_t figures[] = {
			x->campaign.count,
			paths,
			f->images + k->images,
			f->checker_runs,
			f->inconsistent,
			f->crashed + k->crashed,
			f->hung + k->hung,
			x->comparison.incomplete,
			f->mounts + k->mounted,
			f->listed,
			k->refused,
			k->alarms,
			f->behaviours,
			f->skipped,
		};

		for (size_t i = 0; figure_names[i]; i++)
			set_count(x->run->figures, figure_names[i], figures[i]);
	}
}

static uint64_t figure(const struct run *run, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(run->figures, name));
}

static void print_result(const struct run *run)
{
	double seconds = clock_seconds() - run->started_seconds;
	struct buf out = BUF_INIT;

	findings_text(run->findings, run->unconfirmed, false, &out);
	buf_addf(&out, "%s: %" PRIu64 " fields, %" PRIu64 " damaged disks in %.1f s (%.0f/s): ",
		 run->target, figure(run, "fields"), figure(run, "images"), seconds,
		 (double)figure(run, "images") / seconds);
	if (is_kernel(run->target))
		buf_addf(&out, "%" PRIu64 " mounted, %" PRIu64 " refused\n", figure(run, "mounts"),
			 figure(run, "refused"));
	else
		buf_addf(&out,
			 "%" PRIu64 " runs of the checker, %" PRIu64
			 " different behaviours, %" PRIu64 " repaired disks %s\n",
			 figure(run, "checker_runs"), figure(run, "behaviours"),
			 figure(run, "mounts") + figure(run, "listed"),
			 figure(run, "listed") ? "read" : "mounted");
	if (figure(run, "corpus_disks"))
		buf_addf(&out,
			 "%" PRIu64 " disks of the corpus, %" PRIu64
			 " of them not repaired, %" PRIu64 " mountable when repaired; %" PRIu64
			 " files left out\n",
			 figure(run, "corpus_disks"), figure(run, "corpus_unrepaired"),
			 figure(run, "corpus_mountable"), figure(run, "corpus_left_out"));
	buf_addf(&out, "report: %s/report.html\n", run->dir);
	fputs(out.data, stdout);
	buf_free(&out);
}

/* ---- the run ---- */

static int examination_list_fields(const struct examination *x, struct err *err)
{
	const struct ondisk_map *map = examination_map(x);

	if (!map) {
		err_set(err, ENOTSUP, "the fields of this file system are not described");
		return EXIT_UNKNOWN;
	}
	for (size_t n = 0; n < map->count; n++) {
		const struct ondisk_instance *i = &map->instances[n];

		for (size_t f = 0; f < i->structure->field_count; f++) {
			const struct ondisk_field *field = &i->structure->fields[f];

			uint32_t size = ondisk_field_size(i, field);

			if (size)
				printf("%s.%s\t%" PRIu64 "\t%" PRIu32 "\t%s\n", i->structure->name,
				       field->name, i->at + field->offset, size, i->label);
		}
	}
	return EXIT_CLEAN;
}

static int finish(struct run *run, int status, struct err *err)
{
	if ((status < 0 || !figure(run, "images")) && run->verdict == VERDICT_OK)
		run->verdict = VERDICT_UNKNOWN;
	status = summary_write(run, status, err);
	if (settings.json) {
		summary_print(run);
	} else {
		print_result(run);
		summary_print_known(run);
	}
	return status ? status : summary_write_known(run, settings.write_known, err);
}

/* ---- disks of others ---- */

static void set_corpus_figures(struct examination *x, const struct corpus_figures *f)
{
	json_t *figures = x->run->figures;

	x->program.figures = f->checker;
	set_figures(x);
	set_count(figures, "fields", f->fields);
	set_count(figures, "fields_left_out", f->fields_left_out);
	set_count(figures, "corpus_disks", f->disks);
	set_count(figures, "corpus_left_out", f->left_out);
	set_count(figures, "corpus_unrepaired", f->unrepaired);
	set_count(figures, "corpus_mountable", f->mountable);
}

static int examine_corpus(struct examination *x, const struct checker_program *p, struct err *err)
{
	struct corpus_options options = {
		.program = p,
		.folder = settings.corpus,
		.config = settings.config,
		.seed = settings.seed,
		.findings_max = settings.findings,
	};
	struct corpus_figures figures = { 0 };
	struct run run;
	int status, code;

	if (run_open(&run, "fsck", p->name, settings.out, settings.seed, err))
		return EXIT_UNKNOWN;
	x->run = &run;
	stop_catch_signals();
	if (settings.seconds > 0)
		options.until_seconds = run.started_seconds + settings.seconds;
	status = run_read_known(&run, settings.known, err);
	known_ask(&run.known, p->name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	if (!status)
		status = corpus_run(&options, &run, &figures, err);
	progress_end();
	set_corpus_figures(x, &figures);
	status = finish(&run, status, err);
	code = summary_code(&run, status);
	run_free(&run);
	return code;
}

static int examination_run(struct examination *x, const char *name, struct err *err)
{
	struct run run;
	int status, code;

	if (settings.list_fields)
		return examination_list_fields(x, err);
	if (run_open(&run, "fsck", name, settings.out, settings.seed, err))
		return EXIT_UNKNOWN;
	x->run = &run;
	stop_catch_signals();
	status = run_read_known(&run, settings.known, err);
	known_ask(&run.known, name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	if (!status)
		status = x->work(x, err);
	progress_end();
	/* The time of the checker's processes counts when they have ended. */
	if (x->is_kernel)
		kernel_checker_close(&x->kernel);
	else
		fsck_close(&x->program);
	if (x->other)
		fsck_close(&x->other->program);
	set_figures(x);
	campaign_close(&x->campaign);
	status = finish(&run, status, err);
	code = summary_code(&run, status);
	run_free(&run);
	return code;
}

/* The disk that is damaged: of the user's, or made here. No target: mkfs alone makes it. */
static int examination_make_disk(struct examination *x, const char *target, const char *mkfs,
				 uint64_t size, struct err *err)
{
	struct buf disk = BUF_INIT;
	int r = settings.disk ? disk_file_read(&disk, settings.disk, err) : 0;

	size = disk.len ? disk.len : size;
	if (!r)
		r = target ? test_disk_make(&x->disk, target, mkfs, size, settings.config, err)
			   : test_disk_make_alone(&x->disk, mkfs, size, err);
	if (!r && settings.disk) {
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
	if (!r || r == -ENOTSUP || settings.image)
		return 0;
	if (err)
		*err = why;
	return r;
}

static int examine_kernel(struct examination *x, const char *name, struct err *err)
{
	int code = EXIT_UNKNOWN;

	x->is_kernel = true;
	if (examination_make_disk(x, name, NULL, 0, err))
		return code;
	if (!examination_read_map(x, NULL, err) &&
	    !kernel_checker_open(&x->kernel, &x->disk, examination_map(x), err))
		code = examination_run(x, name, err);
	ondisk_free(&x->map);
	own_map_free(&x->own);
	test_disk_free(&x->disk);
	return code;
}

static int examination_open(struct examination *x, const struct checker_program *p, struct err *err)
{
	struct buf target = BUF_INIT;
	int r;

	if (p->file_system)
		buf_addf(&target, "%s%s", kernel_prefix, p->file_system);
	r = examination_make_disk(x, target.data, p->mkfs, p->disk_size, err);
	buf_free(&target);
	if (!r)
		r = examination_read_map(x, p->fields, err);
	return r ? r : fsck_open(&x->program, p, &x->disk, examination_map(x), err);
}

static void examination_close(struct examination *x)
{
	ondisk_free(&x->map);
	own_map_free(&x->own);
	test_disk_free(&x->disk);
}

static int examine_program(struct examination *x, const struct checker_program *p, struct err *err)
{
	int code = EXIT_UNKNOWN;

	if (!examination_open(x, p, err))
		code = examination_run(x, p->name, err);
	examination_close(x);
	return code;
}

/* ---- two checkers ---- */

static bool examination_is_late(const struct examination *x)
{
	return settings.seconds > 0 &&
	       clock_seconds() - x->run->started_seconds >= settings.seconds;
}

static int against_found(struct examination *x, struct compared *found, const char *field,
			 struct err *err)
{
	int r = found->loser >= 0 ? compare_report(&x->comparison, x->run, found, field, err) : 0;

	compared_free(found);
	examination_show_progress(x);
	return r ? r : !examination_is_over(x) && !examination_is_late(x);
}

static int against_visit(void *to, const char *field, const struct corruption corruptions[2],
			 struct err *err)
{
	struct examination *x = to;
	struct compared found;
	int r = comparison_try(&x->comparison, corruptions, &found, err);

	return r ? r : against_found(x, &found, field, err);
}

/* On one disk, the same bytes. */
static int against_test(void *to, const struct corruption *c, struct field_progress *p,
			struct err *err)
{
	const struct corruption same[2] = { *c, *c };
	struct buf field = BUF_INIT;
	int r;

	p->images++;
	corruption_print_fields(c, &field);
	r = against_visit(to, field.data, same, err);
	buf_free(&field);
	return r;
}

static int against_images(struct examination *x, struct err *err)
{
	struct buf disks[2] = { BUF_INIT, BUF_INIT };
	struct compared found;
	int r = disk_file_read(&disks[0], settings.image, err);

	if (!r)
		r = disk_file_read(&disks[1], settings.against_image, err);
	for (int i = 0; i < 2 && !r; i++)
		if (disks[i].len != x->comparison.sides[i]->damaged.size)
			r = err_set(err, EINVAL, "%s is not as large as the test disk",
				    i ? settings.against_image : settings.image);
	if (!r) {
		const uint8_t *bytes[2] = { (const uint8_t *)disks[0].data,
					    (const uint8_t *)disks[1].data };

		r = comparison_try_disks(&x->comparison, bytes, &found, err);
		if (!r)
			r = against_found(x, &found, "a damaged disk", err);
	}
	buf_free(&disks[0]);
	buf_free(&disks[1]);
	return r < 0 ? r : 0;
}

static bool is_same_disk(const struct test_disk *a, const struct test_disk *b)
{
	return a->image.size == b->image.size &&
	       !memcmp(a->image.bytes, b->image.bytes, a->image.size);
}

static int compare(struct examination *x, struct err *err)
{
	const struct ondisk_map *maps[2] = { examination_map(x), examination_map(x->other) };

	if (settings.image)
		return against_images(x, err);
	if (!maps[0] || !maps[1])
		return err_set(err, ENOTSUP, "the fields of these file systems are not described");
	if (x->comparison.one_disk)
		return examine_fields(x, against_test, err);
	return comparison_each(&x->comparison, maps, settings.seed, against_visit, x, err);
}

static int examine_against(struct examination *x, const struct checker_program *p,
			   const struct checker_program *q, struct err *err)
{
	struct examination other = { 0 };
	char config[PATH_MAX];
	int code = EXIT_UNKNOWN;

	if (!examination_open(x, p, err) && !examination_open(&other, q, err)) {
		x->work = compare;
		x->other = &other;
		comparison_init(&x->comparison, &x->program, &other.program);
		x->comparison.one_disk = is_same_disk(&x->disk, &other.disk);
		if (settings.config && realpath(settings.config, config))
			x->comparison.config = config;
		code = examination_run(x, p->name, err);
		comparison_free(&x->comparison);
	}
	examination_close(x);
	examination_close(&other);
	return code;
}

static int examine_named(const char *name, struct err *err)
{
	struct examination x = { .work = examine };
	struct checker_program p, q;
	int code;

	if (is_kernel(name))
		return examine_kernel(&x, name, err);
	if (checker_program_find(&p, name, settings.config, err))
		return EXIT_UNKNOWN;
	if (settings.corpus) {
		code = examine_corpus(&x, &p, err);
	} else if (!settings.against) {
		code = examine_program(&x, &p, err);
	} else if (checker_program_find(&q, settings.against, settings.config, err)) {
		code = EXIT_UNKNOWN;
	} else {
		code = examine_against(&x, &p, &q, err);
		checker_program_free(&q);
	}
	checker_program_free(&p);
	return code;
}

/* ---- several processes ---- */

static int fsck_job(void *to, unsigned number, const char *dir, struct err *err)
{
	settings.job = number;
	settings.out = dir;
	settings.write_known = NULL;
	settings.json = true;
	return examine_named(to, err);
}

/* Rows of the same fields, in the same order. */
static void merge_field_tables(json_t *into, const json_t *from)
{
	static const char *const sums[] = { "tried", "images", "faults", "paths" };
	json_t *row;
	size_t i;

	json_array_foreach(into, i, row)
	{
		const json_t *other = json_array_get(from, i);

		for (size_t k = 0; k < ARRAY_LEN(sums); k++)
			set_count(row, sums[k],
				  (uint64_t)json_integer_value(json_object_get(row, sums[k])) +
					  (uint64_t)json_integer_value(
						  json_object_get(other, sums[k])));
	}
}

static int merge_job(struct run *run, unsigned job, struct err *err)
{
	char path[PATH_MAX], subdir[32];
	json_t *summary, *table = json_object_get(run->figures, "field_table");

	snprintf(subdir, sizeof(subdir), "job-%u", job);
	snprintf(path, sizeof(path), "%.4000s/%s/run.json", run->dir, subdir);
	summary = json_load_file(path, 0, NULL);
	if (!summary)
		return err_set(err, EINVAL, "%s: cannot be read", path);
	run_merge(run, summary, subdir);
	for (const char *const *name = figure_names; *name; name++)
		if (!job || strcmp(*name, "fields") != 0)
			set_count(run->figures, *name,
				  figure(run, *name) + (uint64_t)json_integer_value(
							       json_object_get(summary, *name)));
	if (table)
		merge_field_tables(table, json_object_get(summary, "field_table"));
	else
		json_object_set(run->figures, "field_table",
				json_object_get(summary, "field_table"));
	json_decref(summary);
	return 0;
}

static int fsck_jobs(const char *name, struct err *err)
{
	struct job job = { .work = fsck_job, .to = (void *)name };
	struct run all;
	int status, code;

	if (run_open(&all, "fsck", name, settings.out, settings.seed, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&all, settings.known, err);
	if (!status)
		status = jobs_run(&all, (unsigned)settings.jobs, &job, err);
	for (unsigned i = 0; i < settings.jobs && !status; i++)
		status = merge_job(&all, i, err);
	status = finish(&all, status, err);
	code = summary_code(&all, status);
	run_free(&all);
	return code;
}

/* ---- the command line ---- */

static int check_operands(const char *name, struct err *err)
{
	struct checker_program p;
	int code = settings.image ? operand_file(settings.image, err) : 0, r;

	if (!code && settings.disk)
		code = operand_file(settings.disk, err);
	if (!code && settings.against && !settings.image != !settings.against_image) {
		err_set(err, EINVAL, "--image and --against-image belong together");
		code = EXIT_USAGE;
	}
	if (!code && settings.against_image)
		code = operand_file(settings.against_image, err);
	if (!code && settings.corpus)
		code = operand_directory(settings.corpus, err);
	if (!code && settings.corpus && is_kernel(name)) {
		err_set(err, EINVAL, "--corpus: a kernel repairs no disks");
		code = EXIT_USAGE;
	}
	if (!code)
		code = operand_new_directory(settings.out, err);
	if (!code)
		code = operand_known(settings.known, settings.write_known, err);
	if (code || is_kernel(name))
		return code ? code : operand_target(name, settings.config, err);
	r = checker_program_find(&p, name, settings.config, err);
	if (r)
		return r == -ENOENT || r == -EINVAL ? EXIT_USAGE : EXIT_UNKNOWN;
	checker_program_free(&p);
	return 0;
}

static int run_fsck(int argc, char **argv, struct err *err)
{
	int code;

	if (argc != 2) {
		err_set(err, EINVAL, argc < 2 ? "no checker given" : "more than one checker given");
		return EXIT_USAGE;
	}
	code = check_operands(argv[1], err);
	if (code)
		return code;
	if (settings.image || settings.list_fields || settings.corpus)
		settings.jobs = 1;
	return settings.jobs == 1 ? examine_named(argv[1], err) : fsck_jobs(argv[1], err);
}

const struct command command_fsck = {
	.name = "fsck",
	.usage = "CHECKER | kernel:FS",
	.summary = "test a checker of file systems with damaged disks",
	.text = "Damages one field of a disk at a time, and runs the checker on it, twice and\n"
		"a third time. What it says must fit together: a disk that it calls clean or\n"
		"repaired must be found clean by the next run. It must not crash, run for\n"
		"ever, or write when it is only asked to check. A disk that it calls clean is\n"
		"mounted by a kernel in a process: the kernel must accept it, and no file may\n"
		"be missing that was not damaged.\n"
		"\n"
		"The disk is made by mkfs and filled by a kernel in a process; no root is\n"
		"needed. Checksums are made right after a change. Nothing outside of the disk,\n"
		"which lies in memory, can be written by the checker.\n"
		"\n"
		"With kernel:FS the kernel itself is the checker: it mounts, reads, uses and\n"
		"unmounts damaged disks in a process, and must not crash, hang or report an\n"
		"internal error. The kernel of this machine is never given one.\n"
		"\n"
		"Checkers are described in a few lines of INI (docs/FSCK.md). _assay fsck_\n"
		"without a known name lists those that are.",
	.opts = opts,
	.settings = &settings,
	.run = run_fsck,
};
