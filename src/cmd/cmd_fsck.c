/* cmd_fsck.c -- `assay fsck CHECKER`: do checkers of file systems do what they say? */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/count_text.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/operands.h"
#include "cli/parts.h"
#include "cli/summary.h"
#include "fsck/against.h"
#include "fsck/corpus.h"
#include "report/findings_text.h"

static struct fsck_settings {
	struct examination_options options;
	const char *against, *corpus, *export_to;
	const char *out, *known, *write_known, *part_text;
	uint64_t jobs;
	struct part_number part;
	const char *disk_of; /* a checker, whose disk is taken; NULL: its own */
	bool json, list_fields, one_disk;
} settings = {
	.options = { .findings = 100, .jobs = 1 },
	.part = PART_ALL,
};

enum { DISKS_MAX = 16 };

#define ROW(field) offsetof(struct fsck_settings, field)

static const struct opt opts[] = {
	{ "field", OPT_LIST, ROW(options.fields), "STRUCTURE[.FIELD]",
	  "only this field is damaged, or those of a structure; may be repeated. Default: all", 0,
	  0 },
	{ "list-fields", OPT_FLAG, ROW(list_fields), NULL,
	  "print the fields of the test disk, and where they lie", 0, 0 },
	{ "pairs", OPT_FLAG, ROW(options.pairs), NULL,
	  "damage two fields at a time, most often of one structure", 0, 0 },
	{ "no-paths", OPT_FLAG, ROW(options.no_paths), NULL,
	  "do not search the checker's code for values that take other paths", 0, 0 },
	{ "image", OPT_TEXT, ROW(options.image), "FILE",
	  "test with this damaged disk only, which may be compressed (gzip)", 0, 0 },
	{ "against", OPT_TEXT, ROW(against), "CHECKER",
	  "compare with another checker: which one loses files that the other keeps, after the "
	  "same damage",
	  0, 0 },
	{ "against-image", OPT_TEXT, ROW(options.against_image), "FILE",
	  "with --against and --image: the damaged disk of the other checker", 0, 0 },
	{ "disk", OPT_TEXT, ROW(options.disk), "FILE",
	  "a disk to damage, instead of one that is made; may be compressed (gzip)", 0, 0 },
	{ "one-disk", OPT_FLAG, ROW(one_disk), NULL,
	  "only the checker's first disk, not the others that its description names", 0, 0 },
	{ "corpus", OPT_TEXT, ROW(corpus), "DIR",
	  "repair every disk below DIR (*.img, *.gz), and damage what was repaired", 0, 0 },
	{ "seconds", OPT_DOUBLE, ROW(options.seconds), "N", "stop after this time; 0 for no limit",
	  0, OPT_SECONDS_MAX },
	{ "seed", OPT_U64, ROW(options.seed), "N", "of values that are drawn", 0, INT64_MAX },
	{ "jobs", OPT_U64, ROW(jobs), "N", "processes that share the work; default: one per CPU", 1,
	  1024 },
	PART_OPT(struct fsck_settings, part_text),
	{ "findings", OPT_U64, ROW(options.findings), "N",
	  "stop after this number of different findings", 1, 1000000 },
	KNOWN_OPTS(struct fsck_settings),
	{ "export", OPT_TEXT, ROW(export_to), "DIR",
	  "also write findings as tests, as e2fsprogs has them", 0, 0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(options.config), "FILE",
	  "an INI file that describes checkers and targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

static const char kernel_prefix[] = "kernel:";

static bool is_kernel(const char *name)
{
	return !strncmp(name, kernel_prefix, strlen(kernel_prefix));
}

/* ---- figures ---- */

static void set_count(json_t *o, const char *name, uint64_t count)
{
	json_object_set_new(o, name, json_integer((json_int_t)count));
}

static json_t *field_row(const struct field_progress *p)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "structure",
			 p->structure->name, "field", p->field->name, "instances",
			 (json_int_t)p->instances, "tried", (json_int_t)p->tried, "in_groups",
			 (json_int_t)p->in_groups, "images", (json_int_t)p->images, "faults",
			 (json_int_t)p->faults, "paths", (json_int_t)p->paths, "all_values",
			 p->all_values, "incomplete_for", buf_str(&p->why_not));
}

static const char *const figure_names[] = { "fields",       "paths",         "images",
					    "checker_runs", "inconsistent",  "crashed",
					    "hung",         "incomplete",    "mounts",
					    "listed",       "refused",       "internal_errors",
					    "behaviours",   "runs_left_out", NULL };

/* A row for each field; returns how many paths there were. */
static uint64_t set_field_table(const struct examination *x)
{
	json_t *rows = json_array();
	uint64_t paths = 0;

	for (size_t i = 0; i < x->campaign.count; i++) {
		paths += x->campaign.fields[i].paths;
		json_array_append_new(rows, field_row(&x->campaign.fields[i]));
	}
	json_object_set_new(x->run->figures, "field_table", rows);
	return paths;
}

/* A way to repair that is not content with a disk that is not damaged, even when it is run again,
 * may wait for an answer, or need another option: little can be said of it. */
static void set_never_content(const struct examination *x)
{
	const struct checker_program *p = x->program.program;
	struct buf text = BUF_INIT;

	for (size_t m = 0; p && m < p->mode_count; m++)
		if (x->program.usual[m][1] != ANSWER_CLEAN)
			buf_addf(&text, "%s`%s` answers \"%s\"", text.len ? ", " : "",
				 p->modes[m].command, checker_answer_names[x->program.usual[m][1]]);
	if (text.len)
		json_object_set_new(x->run->figures, "never_content", json_string(buf_str(&text)));
	buf_free(&text);
}

static void set_figures(const struct examination *x)
{
	const struct fsck_figures *f = &x->program.figures;
	const struct kernel_figures *k = &x->kernel.figures;
	const uint64_t figures[] = {
		x->campaign.count,
		set_field_table(x),
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
		f->behaviours + k->behaviours,
		f->skipped,
	};

	for (size_t i = 0; figure_names[i]; i++)
		set_count(x->run->figures, figure_names[i], figures[i]);
	set_count(x->run->figures, "branches", x->campaign.branches);
	set_never_content(x);
}

static uint64_t figure(const struct run *run, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(run->figures, name));
}

static void print_result(const struct run *run)
{
	double seconds = clock_seconds() - run->started_seconds;
	struct buf out = BUF_INIT;

	findings_text(run->findings, run->unconfirmed, run->target, &out);
	buf_addf(&out, "%s: %s, %s in %.1f s (%.0f/s): ", run->target,
		 count_text(figure(run, "fields"), "field"),
		 count_text(figure(run, "images"), "damaged disk"), seconds,
		 (double)figure(run, "images") / seconds);
	if (is_kernel(run->target))
		buf_addf(&out, "%" PRIu64 " mounted, %" PRIu64 " refused\n", figure(run, "mounts"),
			 figure(run, "refused"));
	else
		buf_addf(&out, "%s of the checker, %s, %s %s\n",
			 count_text(figure(run, "checker_runs"), "run"),
			 count_text(figure(run, "behaviours"), "different behaviour"),
			 count_text(figure(run, "mounts") + figure(run, "listed"), "repaired disk"),
			 figure(run, "listed") ? "read" : "mounted");
	if (figure(run, "corpus_disks"))
		buf_addf(&out,
			 "%s of the corpus, %" PRIu64 " of them not repaired, %" PRIu64
			 " mountable when repaired; %s left out\n",
			 count_text(figure(run, "corpus_disks"), "disk"),
			 figure(run, "corpus_unrepaired"), figure(run, "corpus_mountable"),
			 count_text(figure(run, "corpus_left_out"), "file"));
	if (json_object_get(run->figures, "no_paths_for"))
		buf_addf(&out, "paths of the checker were not searched for: %s\n",
			 json_string_value(json_object_get(run->figures, "no_paths_for")));
	if (json_object_get(run->figures, "never_content"))
		buf_addf(&out,
			 "of a disk that is not damaged, and repaired before, %s: it is judged by "
			 "the rest\n",
			 json_string_value(json_object_get(run->figures, "never_content")));
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

static int examine_corpus(const struct checker_program *p, struct err *err)
{
	struct examination x = { 0 };
	struct corpus_options options = {
		.program = p,
		.folder = settings.corpus,
		.config = settings.options.config,
		.export_to = settings.export_to,
		.seed = settings.options.seed,
		.findings_max = settings.options.findings,
	};
	struct corpus_figures figures = { 0 };
	struct run run;
	int status, code;

	if (run_open(&run, "fsck", p->name, settings.out, settings.options.seed, err))
		return EXIT_UNKNOWN;
	x.run = &run;
	stop_catch_signals();
	if (settings.options.seconds > 0)
		options.until_seconds = run.started_seconds + settings.options.seconds;
	status = run_read_known(&run, settings.known, err);
	known_ask(&run.known, p->name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	if (!status)
		status = corpus_run(&options, &run, &figures, err);
	progress_end();
	set_corpus_figures(&x, &figures);
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
	if (run_open(&run, "fsck", name, settings.out, settings.options.seed, err))
		return EXIT_UNKNOWN;
	/* cppcheck-suppress autoVariables ; only used below */
	x->run = &run;
	stop_catch_signals();
	status = run_read_known(&run, settings.known, err);
	known_ask(&run.known, name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	x->program.export_to = settings.export_to;
	if (!status)
		status = x->other ? against_work(x, err) : examination_work(x, err);
	progress_end();
	examination_end(x);
	if (x->other)
		against_end(x);
	set_figures(x);
	status = finish(&run, status, err);
	code = summary_code(&run, status);
	run_free(&run);
	return code;
}

static int examine_program(const struct checker_program *p, struct err *err)
{
	struct examination x;
	int code = EXIT_UNKNOWN;

	if (!examination_open_program(&x, &settings.options, p, err))
		code = examination_run(&x, p->name, err);
	examination_close(&x);
	return code;
}

static int examine_kernel(const char *name, struct err *err)
{
	struct examination x;
	int code = EXIT_UNKNOWN;

	if (!examination_open_kernel(&x, &settings.options, name, err))
		code = examination_run(&x, name, err);
	examination_close(&x);
	return code;
}

static int examine_against(const struct checker_program *p, struct err *err)
{
	struct examination x, other;
	struct checker_program q;
	char config[PATH_MAX];
	bool described = settings.options.config && realpath(settings.options.config, config);
	int code = EXIT_UNKNOWN;

	if (checker_program_find(&q, settings.against, settings.options.config, err))
		return EXIT_USAGE;
	if (!examination_open_program(&x, &settings.options, p, err) &&
	    !examination_open_program(&other, &settings.options, &q, err)) {
		against_begin(&x, &other, described ? config : NULL);
		code = examination_run(&x, p->name, err);
		examination_close(&other);
	}
	examination_close(&x);
	checker_program_free(&q);
	return code;
}

static int examine_named(const char *name, struct err *err)
{
	struct checker_program p;
	int code;

	if (is_kernel(name))
		return examine_kernel(name, err);
	if (checker_program_find(&p, name, settings.options.config, err))
		return EXIT_UNKNOWN;
	if (settings.disk_of && strcmp(settings.disk_of, name) != 0 &&
	    checker_program_take_disk(&p, settings.disk_of, settings.options.config, err)) {
		checker_program_free(&p);
		return EXIT_UNKNOWN;
	}
	code = settings.corpus  ? examine_corpus(&p, err)
	     : settings.against ? examine_against(&p, err)
				: examine_program(&p, err);
	checker_program_free(&p);
	return code;
}

/* ---- several processes ---- */

/* The checker, and whose disks it is tested with, besides its own, which is the first. */
struct fsck_disks {
	const char *checker;
	const char *names[DISKS_MAX];
	size_t count;
	char *text; /* of the names */
};

/* Those that the description lists; without them where one disk is all that is wanted. */
static int disks_find(struct fsck_disks *ret, const char *name, struct err *err)
{
	struct checker_program p;
	char *save = NULL;
	int r;

	*ret = (struct fsck_disks){ .checker = name, .names = { name }, .count = 1 };
	if (is_kernel(name) || settings.options.image || settings.options.disk ||
	    settings.list_fields || settings.corpus || settings.against ||
	    settings.options.fields.count || settings.one_disk)
		return 0;
	r = checker_program_find(&p, name, settings.options.config, err);
	if (r)
		return r;
	ret->text = p.disks ? must_strdup(p.disks) : NULL;
	checker_program_free(&p);
	for (char *at = ret->text ? strtok_r(ret->text, " ", &save) : NULL;
	     at && ret->count < DISKS_MAX; at = strtok_r(NULL, " ", &save))
		ret->names[ret->count++] = at;
	return 0;
}

static int fsck_job(void *to, unsigned number, const char *dir, struct err *err)
{
	const struct fsck_disks *disks = to;

	settings.options.job += number / (unsigned)disks->count;
	settings.options.order = number % (unsigned)disks->count;
	settings.disk_of = disks->names[number % disks->count];
	settings.out = dir;
	settings.write_known = NULL;
	settings.json = true;
	return examine_named(disks->checker, err);
}

static void add_count(json_t *row, const json_t *other, const char *name)
{
	set_count(row, name,
		  (uint64_t)json_integer_value(json_object_get(row, name)) +
			  (uint64_t)json_integer_value(json_object_get(other, name)));
}

static bool is_same_field(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "structure"), json_object_get(b, "structure")) &&
	       json_equal(json_object_get(a, "field"), json_object_get(b, "field"));
}

/* Rows of the same fields are added up. same_disk: the instances are the same, too. */
static void merge_field_tables(json_t *into, const json_t *from, bool same_disk)
{
	static const char *const sums[] = { "tried", "in_groups", "images", "faults", "paths" };
	size_t i, rows = json_array_size(into);
	json_t *other;

	json_array_foreach(from, i, other)
	{
		size_t at = 0;

		while (at < rows && !is_same_field(json_array_get(into, at), other))
			at++;
		if (at == rows) {
			json_array_append(into, other);
			continue;
		}
		for (size_t k = 0; k < ARRAY_LEN(sums); k++)
			add_count(json_array_get(into, at), other, sums[k]);
		if (json_is_false(json_object_get(other, "all_values")))
			json_object_set_new(json_array_get(into, at), "all_values", json_false());
		if (!same_disk)
			add_count(json_array_get(into, at), other, "instances");
	}
}

static void add_figures(struct run *run, const json_t *summary, bool same_disk)
{
	json_t *table = json_object_get(run->figures, "field_table");

	job_add_figures(run, summary, figure_names);
	/* All have the same branches, as a rule. */
	if (figure(run, "branches") <
	    (uint64_t)json_integer_value(json_object_get(summary, "branches")))
		json_object_set(run->figures, "branches", json_object_get(summary, "branches"));
	if (json_object_get(summary, "never_content"))
		json_object_set(run->figures, "never_content",
				json_object_get(summary, "never_content"));
	if (table)
		merge_field_tables(table, json_object_get(summary, "field_table"), same_disk);
	else
		json_object_set(run->figures, "field_table",
				json_object_get(summary, "field_table"));
	set_count(run->figures, "fields",
		  json_array_size(json_object_get(run->figures, "field_table")));
}

static int merge_job(struct run *run, unsigned job, bool same_disk, struct err *err)
{
	json_t *summary;
	int status = job_merge(run, job, &summary, err);

	if (status)
		return status;
	add_figures(run, summary, same_disk);
	json_decref(summary);
	return 0;
}

static int fsck_jobs(const char *name, struct fsck_disks *disks, struct err *err)
{
	struct job job = { .work = fsck_job, .to = disks };
	unsigned count = (unsigned)(settings.jobs * disks->count);
	struct run all;
	int status, code;
	bool ran;

	if (run_open(&all, "fsck", name, settings.out, settings.options.seed, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&all, settings.known, err);
	ran = !status;
	if (ran)
		status = jobs_run(&all, count, &job, err);
	/* What one has found is reported, whatever became of the others. */
	for (unsigned i = 0; i < count && ran; i++) {
		int merged = merge_job(&all, i, i % disks->count == 0, err);

		status = status ? status : merged;
	}
	run_sample_jobs(&all, count);
	status = finish(&all, status, err);
	code = summary_code(&all, status);
	run_free(&all);
	return code;
}

/* ---- the command line ---- */

static int check_operands(const char *name, struct err *err)
{
	struct checker_program p;
	int code = settings.options.image ? operand_file(settings.options.image, err) : 0, r;

	if (!code && settings.options.disk)
		code = operand_file(settings.options.disk, err);
	if (!code && settings.against &&
	    !settings.options.image != !settings.options.against_image) {
		err_set(err, EINVAL, "--image and --against-image belong together");
		code = EXIT_USAGE;
	}
	if (!code && settings.options.against_image)
		code = operand_file(settings.options.against_image, err);
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
		return code ? code : operand_target(name, settings.options.config, err);
	r = checker_program_find(&p, name, settings.options.config, err);
	if (r)
		return r == -ENOENT || r == -EINVAL ? EXIT_USAGE : EXIT_UNKNOWN;
	checker_program_free(&p);
	return 0;
}

/* For each disk. Tests for another suite are written, and one image is tested, by one process. */
static unsigned choose_jobs(size_t disks)
{
	unsigned jobs = jobs_wanted((unsigned)settings.jobs);

	if (settings.options.image || settings.list_fields || settings.corpus || settings.export_to)
		return 1;
	return settings.jobs || disks < jobs ? jobs : 1;
}

static int run_fsck(int argc, char **argv, struct err *err)
{
	struct fsck_disks disks;
	int code;

	if (argc != 2) {
		err_set(err, EINVAL, argc < 2 ? "no checker given" : "more than one checker given");
		return EXIT_USAGE;
	}
	code = check_operands(argv[1], err);
	if (!code)
		code = part_read(settings.part_text, &settings.part, err);
	if (!code && !settings.list_fields)
		code = operand_run_directory(settings.out, err);
	if (code)
		return code;
	if (disks_find(&disks, argv[1], err))
		return EXIT_UNKNOWN;
	settings.jobs = choose_jobs(disks.count);
	settings.options.job = settings.part.number * (unsigned)settings.jobs;
	settings.options.jobs = settings.part.count * (unsigned)settings.jobs;
	code = settings.jobs * disks.count == 1 ? examine_named(argv[1], err)
						: fsck_jobs(argv[1], &disks, err);
	free(disks.text);
	return code;
}

static const char *const fsck_whole_only[] = { "--image",  "--against-image", "--corpus",
					       "--export", "--list-fields",   NULL };

static void fsck_add_part(struct run *all, const json_t *part)
{
	add_figures(all, part, true);
}

static const struct command_parts fsck_parts = {
	.whole_only = fsck_whole_only,
	.check = check_operands,
	.add = fsck_add_part,
	.finish = finish,
};

const struct command command_fsck = {
	.name = "fsck",
	.usage = "CHECKER | kernel:FS",
	.summary = "test a checker of file systems with damaged disks",
	.text = "Damages one field of a disk at a time, and runs the checker on it, twice and\n"
		"a third time. What it says must fit together: a disk that it calls clean or\n"
		"repaired must be found clean by the next run. It must not crash, run for\n"
		"ever, or write when it is only asked to check. A disk that it calls clean is\n"
		"mounted by a kernel in a process: the kernel must accept it, and no file may\n"
		"be missing that was not damaged. Of ext2, ext3 and ext4, it must keep the\n"
		"rules of the format, which Assay reads by itself.\n"
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
	.parts = &fsck_parts,
	.run = run_fsck,
};
