/* cmd_targets.c -- `assay targets`: what can be tested here, and what is missing for the rest. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "broken/reffs_race.h"
#include "broken/reffs_stale.h"
#include "broken/reffs_times.h"
#include "cli/command.h"
#include "cli/learned_report.h"
#include "cli/operands.h"
#include "journalfs/journal_faults.h"
#include "target/description.h"
#include "target/learn.h"
#include "target/target.h"

static struct {
	bool json, faults;
	const char *config;
} settings;

static const struct opt opts[] = {
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), json),
	  .help = "prints an array of objects" },
	{ .name = "faults",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), faults),
	  .help = "lists the seeded bugs of TARGET, reffs or journalfs, instead" },
	{ .name = "config",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), config),
	  .value = "FILE",
	  .help = "reads descriptions from FILE instead of assay.ini" },
	OPT_END,
};

/* One described target, as it is here. */
struct target_row {
	struct target_description d;
	unsigned caps;
	struct buf lacks;
};

static int fill_target_row(struct target_row *row, const char *name, struct err *err)
{
	const struct target_kind *kind;
	int ret = description_find(&row->d, name, settings.config, err);

	row->caps = 0;
	row->lacks = (struct buf)BUF_INIT;
	if (ret)
		return ret;
	kind = target_kind_find(row->d.kind);
	if (!kind)
		return err_set(err, EINVAL, "%s: %s is no kind of target", name, row->d.kind);
	kind->lacks(&row->d, &row->lacks);
	if (!row->lacks.len)
		row->caps = kind->caps(&row->d);
	return 0;
}

static json_t *caps_json(unsigned caps)
{
	json_t *array = json_array();

	for (size_t i = 0; i < TARGET_CAPS; i++)
		if (caps & 1u << i)
			json_array_append_new(array, json_string(target_cap_names[i]));
	return array;
}

static json_t *target_traits_json(const struct target_description *d)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->trait_count; i++) {
		const struct target_trait *t = &d->traits[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s?}", "name", t->name, "value",
						       t->value, "reason", t->reason));
	}
	return array;
}

static json_t *target_row_json(const struct target_row *row)
{
	return json_pack("{s:s, s:s, s:s?, s:b, s:s?, s:o, s:o}", "name", row->d.name, "kind",
			 row->d.kind, "summary", row->d.summary, "usable", !row->lacks.len, "lacks",
			 row->lacks.len ? row->lacks.data : NULL, "can", caps_json(row->caps),
			 "traits", target_traits_json(&row->d));
}

static void print_target_row(const struct target_row *row, struct buf *out)
{
	buf_addf(out, "%-16s %-9s %s\n", row->d.name, row->d.kind,
		 row->d.summary ? row->d.summary : "");
	if (row->lacks.len) {
		buf_addf(out, "%27slacks: %s\n", "", row->lacks.data);
		return;
	}
	buf_addf(out, "%27scan:", "");
	for (size_t i = 0; i < TARGET_CAPS; i++)
		if (row->caps & 1u << i)
			buf_addf(out, " %s", target_cap_names[i]);
	buf_adds(out, row->caps ? "\n" : " nothing but calls\n");
}

static int print_targets(struct err *err)
{
	struct buf names = BUF_INIT, out = BUF_INIT;
	json_t *array = json_array();
	int ret = description_names(settings.config, &names, err);
	struct target_row row;

	for (size_t at = 0; at < names.len && !ret; at += strlen(names.data + at) + 1) {
		ret = fill_target_row(&row, names.data + at, err);
		if (!ret && settings.json)
			json_array_append_new(array, target_row_json(&row));
		else if (!ret)
			print_target_row(&row, &out);
		description_free(&row.d);
		buf_free(&row.lacks);
	}
	if (!ret && settings.json) {
		json_dumpf(array, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	fputs(buf_str(&out), stdout);
	json_decref(array);
	buf_free(&names);
	buf_free(&out);
	return ret;
}

static void print_fault(json_t *array, const char *name, const char *text)
{
	if (settings.json)
		json_array_append_new(array, json_pack("{s:s, s:s}", "name", name, "text", text));
	else
		printf("%-18s %s\n", name, text);
}

static void print_reffs_faults(json_t *array)
{
	for (size_t i = 0; i < fault_count; i++)
		print_fault(array, fault_table[i].name, fault_table[i].text);
	for (size_t i = 0; i < race_fault_count; i++)
		print_fault(array, race_fault_table[i].name, race_fault_table[i].text);
	for (size_t i = 0; i < time_fault_count; i++)
		print_fault(array, time_fault_table[i].name, time_fault_table[i].text);
	for (size_t i = 0; i < stale_fault_count; i++)
		print_fault(array, stale_fault_table[i].name, stale_fault_table[i].text);
}

static void print_journalfs_faults(json_t *array)
{
	for (size_t i = JOURNAL_FAULT_NONE + 1; i < journal_fault_count; i++)
		print_fault(array, journal_fault_table[i].name, journal_fault_table[i].text);
}

static int print_faults(const char *name, struct err *err)
{
	bool of_journalfs = name && !strcmp(name, "journalfs");
	json_t *array;

	if (name && strcmp(name, "reffs") != 0 && !of_journalfs) {
		err_set(err, EINVAL, "%s: only the seeded bugs of reffs and journalfs are listed",
			name);
		return EXIT_USAGE;
	}
	array = json_array();
	if (of_journalfs)
		print_journalfs_faults(array);
	else
		print_reffs_faults(array);
	if (settings.json) {
		json_dumpf(array, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(array);
	return EXIT_CLEAN;
}

/* Probes a target, described or not, for its own sake. */
static int describe_target(const char *spec, struct err *err)
{
	const struct target_options options = { .config = settings.config };
	struct learned_list *learned = must_alloc(sizeof(*learned));
	struct target *t = NULL;
	int code = operand_target(spec, settings.config, err);

	if (!code && (target_open(&t, spec, &options, err) || learn_probe(t, learned, err)))
		code = EXIT_UNKNOWN;
	if (!code)
		learned_print_target(t, learned, settings.json);
	target_close(t);
	free(learned);
	return code;
}

static int run_targets(int argc, char **argv, struct err *err)
{
	if (settings.faults && argc <= 2)
		return print_faults(argc > 1 ? argv[1] : NULL, err);
	if (argc == 3 && !strcmp(argv[1], "describe"))
		return describe_target(argv[2], err);
	if (argc > 1) {
		err_set(err, EINVAL, "%s: unexpected operand", argv[1]);
		return EXIT_USAGE;
	}
	return operand_code(print_targets(err));
}

const struct command command_targets = {
	.name = "targets",
	.usage = "[describe TARGET] | --faults [TARGET]",
	.summary = "list the file systems that can be tested here, or describe one",
	.text = "*assay targets describe TARGET* probes which features a target lacks and prints a "
		"description to\n"
		"paste into _assay.ini_, with the reason for each trait and what is not judged\n"
		"because of it. Of a target that is described already it also prints where the\n"
		"description is wrong.\n"
		"\n"
		"Lists every described target: its kind, its features on this machine, or what\n"
		"this machine needs to test it.\n"
		"\n"
		"Descriptions are sections *[target.NAME]* of INI files. Assay reads\n"
		"_assay.ini_ (or the file of *--config*),\n"
		"_$XDG\\_CONFIG\\_HOME/assay/targets.ini_, _/etc/assay/targets.ini_ and the\n"
		"shipped files, in this order. A description can extend another one: *base =\n"
		"ext4*. Descriptions contain commands, so Assay rejects files that belong to\n"
		"another user or that others can write to.\n"
		"\n"
		"The name of a target is *NAME*, or *NAME:ARGUMENT* if its kind takes an\n"
		"argument: *dir:PATH*, *fuse:COMMAND*. *reffs!FAULT* is RefFS with one seeded\n"
		"bug, *journalfs!FAULT* a journaling file system with a bug that only a crash\n"
		"shows. Tests run in a new directory, in _PATH_ or in what the command mounts. If\n"
		"a command names an image, the daemon gets a copy of it. If it names a\n"
		"directory or device, one run at a time uses it.",
	.opts = opts,
	.settings = &settings,
	.run = run_targets,
};
