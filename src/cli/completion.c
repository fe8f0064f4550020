/* completion.c -- completion scripts for shells. */
#include "cli/completion.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/table.h"
#include "op/op.h"
#include "target/description.h"

/* What a word may be; a list of each is a variable of the script. */
enum word_list {
	WORDS_NONE,
	WORDS_TARGETS,
	WORDS_PROFILES,
	WORDS_CHECKERS,
	WORDS_OPS,
	WORDS_COMMANDS
};

static const char *const variables[] = {
	[WORDS_NONE] = "",
	[WORDS_TARGETS] = "targets",
	[WORDS_PROFILES] = "profiles",
	[WORDS_CHECKERS] = "checkers",
	[WORDS_OPS] = "operations",
	[WORDS_COMMANDS] = "commands",
};

static void add_targets(struct buf *out)
{
	struct buf names = BUF_INIT;
	struct err err = { 0 };

	/* A description that cannot be read is reported by the commands that need it. */
	if (!description_names(NULL, &names, &err))
		for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
			buf_addf(out, "%s%s", at ? " " : "", names.data + at);
	buf_free(&names);
}

static void add_list(enum word_list list, const struct completion_lists *lists, struct buf *out)
{
	switch (list) {
	case WORDS_TARGETS:
		add_targets(out);
		break;
	case WORDS_PROFILES:
		buf_adds(out, lists->profiles);
		break;
	case WORDS_CHECKERS:
		buf_adds(out, lists->checkers);
		break;
	case WORDS_OPS:
		for (unsigned op = 0; op < OP_COUNT; op++)
			buf_addf(out, "%s%s", op ? " " : "", op_table[op].name);
		break;
	case WORDS_COMMANDS:
		for (size_t i = 0; i < command_count; i++)
			buf_addf(out, "%s%s", i ? " " : "", command_table[i]->name);
		break;
	case WORDS_NONE:
		break;
	}
}

/* By the word that usage and help have for it. */
static enum word_list list_of(const char *word)
{
	static const struct {
		const char *word;
		enum word_list list;
	} rows[] = {
		{ "TARGET", WORDS_TARGETS },          { "CHECKER", WORDS_CHECKERS },
		{ "[COMMAND]", WORDS_COMMANDS },      { "[NAME...]", WORDS_PROFILES },
		{ "FILE... | OPERATION", WORDS_OPS },
	};

	for (size_t i = 0; word && i < ARRAY_LEN(rows); i++)
		if (!strncmp(word, rows[i].word, strlen(rows[i].word)))
			return rows[i].list;
	return WORDS_NONE;
}

static enum word_list list_of_option(const struct opt *o)
{
	if (!strcmp(o->name, "profile"))
		return WORDS_PROFILES;
	return o->type == OPT_FLAG ? WORDS_NONE : list_of(o->value);
}

/* "a|b" as "a b". */
static void add_choices(const char *choices, struct buf *out)
{
	for (; *choices; choices++)
		buf_addch(out, *choices == '|' ? ' ' : *choices);
}

static void bash_add_options(struct buf *out)
{
	buf_adds(out, "\telif [[ $word == -* ]]; then\n\t\tcase $command in\n");
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = command_table[i];

		if (!c->opts || !c->opts->name)
			continue;
		buf_addf(out, "\t\t%s) words='", c->name);
		opt_completion(c->opts, out);
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\t\tesac\n");
}

static void bash_add_values(struct buf *out)
{
	buf_adds(out, "\tcase \"$command $before\" in\n");
	for (size_t i = 0; i < command_count; i++) {
		for (const struct opt *o = command_table[i]->opts; o && o->name; o++) {
			enum word_list list = list_of_option(o);

			if (o->type != OPT_CHOICE && !list)
				continue;
			buf_addf(out, "\t'%s --%s') values=", command_table[i]->name, o->name);
			if (o->type == OPT_CHOICE) {
				buf_addch(out, '\'');
				add_choices(o->value, out);
				buf_addch(out, '\'');
			} else {
				buf_addf(out, "$%s", variables[list]);
			}
			buf_adds(out, " ;;\n");
		}
	}
	buf_adds(out, "\tesac\n");
}

static void bash_add_operands(struct buf *out)
{
	buf_adds(out, "\telse\n\t\tcase $command in\n");
	for (size_t i = 0; i < command_count; i++)
		if (list_of(command_table[i]->usage))
			buf_addf(out, "\t\t%s) words=$%s ;;\n", command_table[i]->name,
				 variables[list_of(command_table[i]->usage)]);
	buf_adds(out, "\t\tesac\n\tfi\n");
}

/* The shell breaks words at colons, but a target has them: the line itself is looked at, and what
 * is before the last colon is not inserted again. */
void completion_bash(const struct completion_lists *lists, struct buf *out)
{
	buf_adds(out, "# bash completion of assay; made by `assay help --completion bash`.\n"
		      "_assay()\n{\n"
		      "\tlocal line=${COMP_LINE:0:COMP_POINT} given word before command words= "
		      "values= colon\n"
		      "\tlocal targets profiles checkers operations commands\n");
	for (unsigned i = WORDS_TARGETS; i < ARRAY_LEN(variables); i++) {
		buf_addf(out, "\t%s='", variables[i]);
		add_list((enum word_list)i, lists, out);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\tread -ra given <<<\"$line\"\n"
		      "\t[[ $line == *[[:space:]] ]] && given+=(\"\")\n"
		      "\tword=${given[-1]} before=${given[-2]} command=${given[1]}\n");
	bash_add_values(out);
	buf_adds(out, "\tif [ \"${#given[@]}\" = 2 ]; then\n\t\twords=$commands\n"
		      "\telif [ -n \"$values\" ]; then\n\t\twords=$values\n");
	bash_add_options(out);
	bash_add_operands(out);
	buf_adds(out, "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
		      "\tcolon=${word%\"${word##*:}\"}\n"
		      "\tCOMPREPLY=(\"${COMPREPLY[@]#\"$colon\"}\")\n"
		      "}\ncomplete -o default -F _assay assay\n");
}

/* Inside quotes of a shell, without what _arguments takes for its own. */
static void add_help(const char *help, struct buf *out)
{
	for (; *help; help++) {
		if (*help == '\'')
			buf_adds(out, "'\\''");
		else if (!strchr("[]:\\", *help))
			buf_addch(out, *help);
	}
}

static void zsh_add_option(const struct opt *o, struct buf *out)
{
	enum word_list list = list_of_option(o);

	buf_addf(out, "\t\t\t'%s--%s[", o->type == OPT_LIST ? "*" : "", o->name);
	add_help(o->help, out);
	buf_addch(out, ']');
	if (o->type == OPT_CHOICE) {
		buf_addf(out, ":%s:(", o->name);
		add_choices(o->value, out);
		buf_addch(out, ')');
	} else if (list) {
		buf_addf(out, ":%s:_assay_words %s", o->name, variables[list]);
	} else if (o->type != OPT_FLAG) {
		buf_addf(out, ":%s:_files", o->name);
	}
	buf_adds(out, "' \\\n");
}

static void zsh_add_command(const struct command *c, struct buf *out)
{
	enum word_list list = list_of(c->usage);

	buf_addf(out, "\t%s)\n\t\t_arguments \\\n", c->name);
	for (const struct opt *o = c->opts; o && o->name; o++)
		zsh_add_option(o, out);
	if (list)
		buf_addf(out, "\t\t\t'*:operand:_assay_words %s'\n\t\t;;\n", variables[list]);
	else
		buf_adds(out, "\t\t\t'*:operand:_files'\n\t\t;;\n");
}

void completion_zsh(const struct completion_lists *lists, struct buf *out)
{
	buf_adds(out, "#compdef assay\n"
		      "# zsh completion of assay; made by `assay help --completion zsh`.\n"
		      "# The list is the last argument: before it are options of compadd.\n"
		      "_assay_words()\n{\n\tlocal -a words_of\n\tcase $@[-1] in\n");
	for (unsigned i = WORDS_TARGETS; i < ARRAY_LEN(variables); i++) {
		buf_addf(out, "\t%s) words_of=(", variables[i]);
		add_list((enum word_list)i, lists, out);
		buf_adds(out, ") ;;\n");
	}
	buf_adds(out, "\tesac\n\tcompadd \"${@[1,-2]}\" -a words_of\n"
		      "\t[[ $@[-1] == targets ]] || _files\n}\n"
		      "_assay()\n{\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; i < command_count; i++) {
		buf_addf(out, "\t\t'%s:", command_table[i]->name);
		add_help(command_table[i]->summary, out);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n"
		      "\t\treturn\n\tfi\n\tlocal command=$words[2]\n\tshift words\n"
		      "\t(( CURRENT-- ))\n\tcase $command in\n");
	for (size_t i = 0; i < command_count; i++)
		zsh_add_command(command_table[i], out);
	buf_adds(out, "\tesac\n}\n_assay \"$@\"\n");
}

/* Inside single quotes of fish, where only quotes and backslashes are special. */
static void fish_add_text(const char *text, struct buf *out)
{
	buf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *text);
	}
	buf_addch(out, '\'');
}

static void fish_add_option(const struct command *c, const struct opt *o, struct buf *out)
{
	enum word_list list = list_of_option(o);

	buf_addf(out, "complete -c assay -n '__fish_seen_subcommand_from %s' -l %s", c->name,
		 o->name);
	if (o->type == OPT_CHOICE) {
		buf_adds(out, " -x -a '");
		add_choices(o->value, out);
		buf_addch(out, '\'');
	} else if (list) {
		buf_addf(out, " -r -a \"$assay_%s\"", variables[list]);
	} else if (o->type != OPT_FLAG) {
		buf_adds(out, " -r");
	}
	buf_adds(out, " -d ");
	fish_add_text(o->help, out);
	buf_addch(out, '\n');
}

void completion_fish(const struct completion_lists *lists, struct buf *out)
{
	buf_adds(out, "# fish completion of assay; made by `assay help --completion fish`.\n");
	for (unsigned i = WORDS_TARGETS; i < ARRAY_LEN(variables); i++) {
		buf_addf(out, "set -g assay_%s '", variables[i]);
		add_list((enum word_list)i, lists, out);
		buf_adds(out, "'\n");
	}
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = command_table[i];
		enum word_list list = list_of(c->usage);

		buf_addf(out, "complete -c assay -f -n __fish_use_subcommand -a %s -d ", c->name);
		fish_add_text(c->summary, out);
		buf_addch(out, '\n');
		if (list)
			buf_addf(out,
				 "complete -c assay -n '__fish_seen_subcommand_from %s' -a "
				 "\"$assay_%s\"\n",
				 c->name, variables[list]);
		for (const struct opt *o = c->opts; o && o->name; o++)
			fish_add_option(c, o, out);
	}
}
