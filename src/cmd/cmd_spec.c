/* cmd_spec.c -- `assay spec`: what the model allows for every call of a script, or of an operation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/spec_manual.h"
#include "history/envelope.h"
#include "model/model.h"
#include "process/confine.h"

/* The numbers the published model gives to what has none. */
enum { PUBLISHED_DEVICE = 2049, PUBLISHED_DIR_SIZE = 9999 };

/* Choices of --platform: those of enum platform, then all of them. */
enum { ALL_PLATFORMS = PLATFORM_COUNT };

static struct {
	int platform;
	const char *kernel;
	struct opt_list traits;
	bool rules;
	struct spec_manual manual;
} settings = { .platform = PLATFORM_LINUX, .kernel = "6.18" };

static const struct opt opts[] = {
	{ .name = "platform",
	  .type = OPT_CHOICE,
	  .offset = offsetof(typeof(settings), platform),
	  .value = "posix|linux|macos|freebsd|all",
	  .help = "the platform whose rules apply; all: four columns where they differ" },
	{ .name = "kernel",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), kernel),
	  .value = "VERSION",
	  .help = "version of Linux; the published model describes 3.19" },
	{ .name = "trait",
	  .type = OPT_LIST,
	  .offset = offsetof(typeof(settings), traits),
	  .value = "NAME=VALUE",
	  .help = "a property of the file system, as in the description of a target" },
	{ .name = "rules",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), rules),
	  .help = "prints only the rules that the scripts never exercise" },
	{ .name = "html",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), manual.html),
	  .help = "writes the manual of operations, without operands of all, as one HTML document "
		  "to the file or directory that is the last operand, else to standard output" },
	{ .name = "examples",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), manual.examples),
	  .value = "DIR",
	  .help = "writes the examples that need no special file system as traces to DIR, one "
		  "for each operation and rule" },
	OPT_END,
};

/* One column: a platform, and where it has come to in the script. */
struct column {
	struct model model;
	struct state state;
	bool stopped; /* the platform said nothing about a call: nothing follows from it */
	struct buf text;
};

struct spec_run {
	struct column columns[PLATFORM_COUNT];
	unsigned count;
	uint64_t hits[RULE_COUNT];
	struct script script;
	struct buf out;
};

/* As the columns of the published answers are ordered. */
static const enum platform column_order[PLATFORM_COUNT] = { PLATFORM_LINUX, PLATFORM_POSIX,
							    PLATFORM_MACOS, PLATFORM_FREEBSD };

static int spec_prepare(struct spec_run *r, struct err *err)
{
	struct version kernel;
	int ret = version_parse(settings.kernel, &kernel, err);

	if (ret)
		return ret;
	r->count = settings.platform == ALL_PLATFORMS ? PLATFORM_COUNT : 1;
	for (unsigned i = 0; i < r->count; i++) {
		struct model *m = &r->columns[i].model;

		model_init(m, r->count == 1 ? (enum platform)settings.platform : column_order[i],
			   kernel);
		m->rule_hits = r->hits;
		for (size_t t = 0; t < settings.traits.count && !ret; t++)
			ret = traits_assign(&m->traits, settings.traits.items[t], err);
	}
	return ret;
}

/* Folder and name of a script without what all their names end with. */
static void add_test_name(struct buf *out, const char *path)
{
	static const char *const endings[] = { "-int.trace", ".trace" };
	const char *name = strrchr(path, '/'), *folder = path;
	size_t len;

	for (const char *at = path; name && at < name; at++)
		if (*at == '/')
			folder = at + 1;
	len = strlen(folder);
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && !strcmp(folder + len - ending, endings[i])) {
			len -= ending;
			break;
		}
	}
	buf_add(out, folder, len);
}

static void use_published_numbers(struct envelope *env)
{
	struct stat_result *stat = &env->value.stat;

	if (env->value.result != RESULT_STAT || !env->success)
		return;
	stat->dev = PUBLISHED_DEVICE;
	stat->ino -= TREE_ROOT;
	if (S_ISDIR(stat->mode))
		stat->size = PUBLISHED_DIR_SIZE;
}

static void answer_call(struct column *column, const struct item *item, enum dialect dialect)
{
	struct envelope env;

	model_move(&column->model, &column->state, &item->call, &env);
	column->stopped = env.undefined;
	if (env.undefined) {
		buf_addch(&column->text, '-');
		return;
	}
	if (dialect == DIALECT_PUBLISHED)
		use_published_numbers(&env);
	if (item->has_pid && dialect == DIALECT_PUBLISHED)
		buf_addf(&column->text, "Pid %u <- ", item->pid);
	envelope_print(&env, item->call.op, dialect, &column->text);
}

/* The tree in one line. */
static void answer_dump(struct column *column, const char *path)
{
	size_t start = column->text.len;

	buf_adds(&column->text, "DUMP ");
	tree_dump(&column->state.tree, path, false, &column->text);
	while (column->text.len > start && column->text.data[column->text.len - 1] == '\n')
		column->text.data[--column->text.len] = '\0';
	for (size_t i = start; i < column->text.len; i++)
		if (column->text.data[i] == '\n')
			column->text.data[i] = ' ';
}

static bool is_silent(const struct item *item)
{
	if (item->type == ITEM_CALL)
		return item->call.op == OP_create_process || item->call.op == OP_destroy_process;
	return item->type != ITEM_DUMP;
}

static bool columns_agree(const struct spec_run *r)
{
	for (unsigned i = 1; i < r->count; i++)
		if (strcmp(buf_str(&r->columns[i].text), buf_str(&r->columns[0].text)))
			return false;
	return true;
}

static void spec_print_row(struct spec_run *r, const struct item *item)
{
	unsigned count = columns_agree(r) ? 1 : r->count;

	add_test_name(&r->out, r->script.name);
	buf_addch(&r->out, '\t');
	buf_addu(&r->out, item->line);
	for (unsigned i = 0; i < count; i++) {
		buf_addch(&r->out, '\t');
		buf_add(&r->out, buf_str(&r->columns[i].text), r->columns[i].text.len);
	}
	buf_addch(&r->out, '\n');
}

static void answer_item(struct spec_run *r, const struct item *item)
{
	for (unsigned i = 0; i < r->count; i++) {
		struct column *column = &r->columns[i];

		buf_clear(&column->text);
		if (column->stopped)
			buf_addch(&column->text, '-');
		else if (item->type == ITEM_CALL)
			answer_call(column, item, r->script.dialect);
		else if (item->type == ITEM_DUMP)
			answer_dump(column, item->path);
	}
	if (!is_silent(item))
		spec_print_row(r, item);
}

static int answer_script(struct spec_run *r, const char *path, struct err *err)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0777 };
	int ret = script_read(&r->script, path, err);

	if (ret)
		return ret;
	must_note("spec %s", path);
	for (unsigned i = 0; i < r->count; i++) {
		state_init(&r->columns[i].state, &options);
		r->columns[i].stopped = false;
	}
	for (size_t i = 0; i < r->script.count; i++)
		answer_item(r, &r->script.items[i]);
	for (unsigned i = 0; i < r->count; i++)
		state_free(&r->columns[i].state);
	if (!settings.rules)
		fwrite(buf_str(&r->out), 1, r->out.len, stdout);
	buf_clear(&r->out);
	return 0;
}

/* Rules that hold on one of the platforms and were never met. */
static void print_unexercised(const struct spec_run *r)
{
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		const struct rule_info *info = &rule_table[rule];

		for (unsigned i = 0; i < r->count && !r->hits[rule]; i++) {
			if (!rule_applies(&r->columns[i].model, (enum rule)rule))
				continue;
			printf("%s\t%s\t%s\n", info->name,
			       info->error ? errno_name(info->error) : "-", info->text);
			break;
		}
	}
}

static void spec_release(struct spec_run *r)
{
	for (unsigned i = 0; i < PLATFORM_COUNT; i++)
		buf_free(&r->columns[i].text);
	script_free(&r->script);
	buf_free(&r->out);
	free(r);
}

static int answer_scripts(struct spec_run *r, int argc, char **argv, struct err *err)
{
	confine_reader(NULL, 0);
	for (int i = 1; i < argc; i++)
		if (answer_script(r, argv[i], err))
			return EXIT_USAGE;
	if (settings.rules)
		print_unexercised(r);
	return EXIT_CLEAN;
}

static int run_spec(int argc, char **argv, struct err *err)
{
	bool manual = settings.manual.html || settings.manual.examples ||
		      (argc > 1 && spec_is_operation_meant(argv[1]));
	struct spec_run *r = must_alloc(sizeof(*r));
	int code = EXIT_USAGE;

	if (argc < 2 && !manual)
		err_set(err, EINVAL, "no script and no operation given");
	else if (spec_prepare(r, err))
		code = EXIT_USAGE;
	else if (manual)
		code = spec_manual_run(&settings.manual, &r->columns[0].model, argc, argv, err);
	else
		code = answer_scripts(r, argc, argv, err);
	spec_release(r);
	return code;
}

const struct command command_spec = {
	.name = "spec",
	.usage = "FILE... | OPERATION... | --html [OPERATION...] [FILE|DIR]",
	.summary = "print what the model allows for the calls of a script, or for an operation",
	.text = "Runs each script through the model and prints a line for every value that a\n"
		"call would return: folder and name of the script, line, and the outcome, or\n"
		"all allowed outcomes in braces, separated by tabs. A dump prints the tree.\n"
		"\n"
		"With *--platform all* there are four columns (linux, posix, macos, freebsd)\n"
		"where the platforms differ. A dash means that the platform leaves the call\n"
		"undefined; the state is unknown for the rest of the script.\n"
		"\n"
		"With the name of an operation (*assay ops* lists them) it prints the model as a\n"
		"manual page: every errno in the order in which Linux checks, with its rule, what\n"
		"the rule rests on, a short script that the rule refuses, and how other\n"
		"platforms and earlier versions of Linux answer the same script.",
	.opts = opts,
	.settings = &settings,
	.run = run_spec,
};
