/* test_persistence.c -- what a crash may leave: for each level, trees that are allowed and trees
 * that break a promise. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "persistence/persistence.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static struct {
	struct model model;
	struct arena arena;
} w;

static int setup(void **state)
{
	model_init(&w.model, PLATFORM_LINUX, KERNEL_CURRENT);
	w.arena = (struct arena)ARENA_INIT;
	return 0;
}

static int teardown(void **state)
{
	arena_free(&w.arena);
	return 0;
}

static void fresh(struct state *s)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	state_init(s, &options);
}

/* Calls, each on its line. Adds them to the history, unless that is NULL. */
static void run(struct state *s, const char *calls, struct persistence *history)
{
	while (*calls) {
		size_t len = strcspn(calls, "\n");
		char line[256];
		struct outcome outcome;
		struct state before;
		struct err err = { 0 };
		struct call c;

		assert_true(len < sizeof(line));
		memcpy(line, calls, len);
		line[len] = '\0';
		if (call_parse(&c, line, &w.arena, &err))
			fail_msg("%s", err.text);
		before = state_copy(s);
		model_run(&w.model, s, &c, &outcome);
		if (outcome.error)
			fail_msg("%s fails", line);
		if (history)
			persistence_add(history, &before, &c, &outcome, s);
		state_free(&before);
		calls += len + (calls[len] == '\n');
	}
}

static const struct persist_rules posix = { .level = PERSIST_POSIX };
static const struct persist_rules named = {
	.level = PERSIST_POSIX,
	.fsync_keeps_names = true,
	.rename_is_atomic = true,
};
static const struct persist_rules ordered = {
	.level = PERSIST_ORDERED,
	.fsync_keeps_names = true,
	.rename_is_atomic = true,
};
static const struct persist_rules strict = { .level = PERSIST_STRICT };

/* What is broken where the calls of a workload were made, all but `left` have returned, one of
 * these was under way, and then the tree is as the calls of `recovered` make it. "": nothing. */
static const char *judge(const struct persist_rules *rules, const char *workload, size_t left,
			 const char *recovered)
{
	struct broken_promise broken;
	struct persistence history;
	struct state before, after;
	const char *what;
	size_t done, begun;

	fresh(&before);
	fresh(&after);
	persistence_begin(&history, rules, &before.tree);
	run(&before, workload, &history);
	run(&after, recovered, NULL);
	done = history.steps[history.count - 1].calls - left;
	begun = left ? done + 1 : done;
	what = persistence_allows(&history, done, begun, &after.tree, &broken) ? "" : broken.what;
	if (*what)
		assert_true(broken.seen.len && broken.reason.len);
	if (*what && broken.exposed) {
		assert_string_equal(what, "data wrong");
		what = "data exposed";
	}
	broken_promise_free(&broken);
	persistence_free(&history);
	state_free(&before);
	state_free(&after);
	return what;
}

#define ALLOWED(rules, workload, left, recovered) \
	assert_string_equal(judge(rules, workload, left, recovered), "")
#define BROKEN(rules, workload, left, recovered, what) \
	assert_string_equal(judge(rules, workload, left, recovered), what)

#define FOO "open(\"foo\", O_CREAT|O_RDWR, 0644)\n"
#define WRITTEN FOO "write(3, \"hello\", 5)\n"

static void what_was_not_synced_may_be_lost(void **state)
{
	ALLOWED(&strict, WRITTEN, 0, "");
	ALLOWED(&ordered, WRITTEN, 0, "");
	ALLOWED(&ordered, WRITTEN, 0, FOO);
	ALLOWED(&ordered, WRITTEN, 0, WRITTEN);
	ALLOWED(&posix, WRITTEN, 0, FOO "write(3, \"hel\", 3)");
}

static void what_was_synced_must_be_there(void **state)
{
	BROKEN(&posix, WRITTEN "sync()", 0, "", "name missing");
	BROKEN(&posix, WRITTEN "sync()", 0, FOO, "size too small");
	BROKEN(&posix, WRITTEN "sync()", 0, FOO "write(3, \"hellO\", 5)", "data wrong");
	ALLOWED(&posix, WRITTEN "sync()", 0, WRITTEN);
	/* While sync was under way it had promised nothing. */
	ALLOWED(&posix, WRITTEN "sync()", 1, "");
}

static void bytes_that_nothing_wrote_were_promised_by_nothing(void **state)
{
	BROKEN(&posix, WRITTEN, 0, FOO "write(3, \"hellO\", 5)", "data exposed");
	BROKEN(&posix, FOO "fsync(3)\nwrite(3, \"hello\", 5)\n", 0, FOO "write(3, \"hellO\", 5)",
	       "data exposed");
	BROKEN(&posix, WRITTEN "fsync(3)\nwrite(3, \"you\", 3)", 0, FOO "write(3, \"hellOyou\", 8)",
	       "data wrong");
	BROKEN(&posix, WRITTEN "fsync(3)\nwrite(3, \"you\", 3)", 0, FOO "write(3, \"helloyoU\", 8)",
	       "data exposed");
	/* The end was moved there before it was made durable: zeros were. */
	BROKEN(&posix, FOO "ftruncate(3, 8)\nfsync(3)\nwrite(3, \"hello\", 5)", 0,
	       FOO "write(3, \"hello\\000\\000!\", 8)", "data wrong");
}

static void names_are_kept_where_fsync_says_so(void **state)
{
	ALLOWED(&posix, WRITTEN "fsync(3)", 0, "");
	BROKEN(&posix, WRITTEN "fsync(3)", 0, FOO, "size too small");
	BROKEN(&named, WRITTEN "fsync(3)", 0, "", "name missing");
	BROKEN(&named, "mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)\nfsync(3)", 0, "",
	       "name missing");
	/* Others are not. */
	ALLOWED(&named, "mkdir(\"A\", 0755)\n" FOO "fsync(3)", 0, FOO);
	/* Nor is what has an old name of it. */
	ALLOWED(&named, FOO "sync()\nrename(\"foo\", \"bar\")\n" FOO "fsync(3)", 0,
		FOO "rename(\"foo\", \"bar\")");
	BROKEN(&named, FOO "sync()\nrename(\"foo\", \"bar\")\nfsync(3)", 0,
	       FOO "link(\"foo\", \"bar\")", "name is back");
	/* A directory keeps its entries, of what is durable itself. */
	BROKEN(&named, "mkdir(\"A\", 0755)\nopen(\".\", O_RDONLY)\nfsync(3)", 0, "",
	       "name missing");
	ALLOWED(&posix, FOO "open(\".\", O_RDONLY)\nfsync(4)", 0, "");
	BROKEN(&posix, FOO "open(\".\", O_RDONLY)\nfsync(3)\nfsync(4)", 0, "", "name missing");
	BROKEN(&posix, FOO "sync()\nunlink(\"foo\")\nopen(\".\", O_RDONLY)\nfsync(4)", 0, FOO,
	       "name is back");
}

/* A removed file cannot be found; one without a name yet will be. */
static void nothing_is_promised_of_a_removed_file(void **state)
{
#define UNLINKED WRITTEN "sync()\npwrite(3, \"HELLO you\", 9, 0)\nunlink(\"foo\")\n"
	ALLOWED(&named, UNLINKED "fsync(3)", 0, WRITTEN);
	ALLOWED(&named, UNLINKED "fdatasync(3)", 0, WRITTEN);
	ALLOWED(&named, UNLINKED "fsync(3)", 0, "umask(022)");
	ALLOWED(&named,
		"mkdir(\"A\", 0755)\nopen(\"A\", O_RDONLY)\nfsync(3)\nchmod(\"A\", 0700)\n"
		"rmdir(\"A\")\nfsync(3)",
		0, "mkdir(\"A\", 0755)");
	BROKEN(&posix,
	       "open(\".\", O_TMPFILE|O_RDWR, 0644)\nwrite(3, \"hello\", 5)\nfsync(3)\n"
	       "linkat(3, \"\", AT_FDCWD, \"foo\", AT_EMPTY_PATH)",
	       0, FOO, "size too small");
}

static void directories_above_are_kept_unless_renamed(void **state)
{
#define MOVED "mkdir(\"A\", 0755)\nsync()\nrename(\"A\", \"B\")\n"
#define B_FOO "open(\"B/foo\", O_CREAT|O_RDWR, 0644)\n"
	ALLOWED(&named, MOVED B_FOO "fsync(3)", 0,
		"mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)");
	BROKEN(&named, MOVED B_FOO "fsync(3)", 0, "mkdir(\"A\", 0755)", "name missing");
	BROKEN(&named, "mkdir(\"B\", 0755)\n" B_FOO "fsync(3)", 0, "umask(022)", "name missing");
	/* It can have been written before the rename. */
	ALLOWED(&named, "mkdir(\"A\", 0755)\nrename(\"A\", \"B\")\n" B_FOO "fsync(3)", 0,
		"mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)");
	ALLOWED(&named,
		"mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)\nrename(\"A\", \"B\")\n"
		"fsync(3)",
		0, "mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)");
	ALLOWED(&named, FOO "rename(\"foo\", \"bar\")\nfdatasync(3)", 0, FOO);
	BROKEN(&named, FOO "rename(\"foo\", \"bar\")\nfsync(3)", 0, FOO, "name is back");
	/* It has not changed since it was durable elsewhere. */
	ALLOWED(&named,
		"mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)\nsync()\n"
		"mkdir(\"B\", 0755)\nrename(\"A\", \"B/A\")\nfsync(3)",
		0, "mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)");
	/* By the first fsync it was durable already. */
	ALLOWED(&named,
		"mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)\nfsync(3)\n"
		"rename(\"A\", \"B\")\nfsync(3)",
		0, "mkdir(\"A\", 0755)\nopen(\"A/foo\", O_CREAT|O_RDWR, 0644)");
}

static void a_name_that_another_has_had_since_is_not_promised(void **state)
{
#define EXCHANGED \
	FOO "open(\"bar\", O_CREAT|O_RDWR, 0644)\nsync()\n" \
	    "renameat2(AT_FDCWD, \"foo\", AT_FDCWD, \"bar\", RENAME_EXCHANGE)\n"
	/* foo was the name of the synced file before, and has been that of the other. */
	ALLOWED(&named, EXCHANGED "unlink(\"foo\")\nfsync(3)", 0,
		FOO "open(\"bar\", O_CREAT|O_RDWR, 0644)");
	/* What was removed before the file had the name. */
	ALLOWED(&named, FOO "sync()\nunlink(\"foo\")\n" FOO "rename(\"foo\", \"bar\")\nfsync(4)", 0,
		FOO "open(\"bar\", O_CREAT|O_RDWR, 0644)");
	BROKEN(&named, FOO "rename(\"foo\", \"bar\")\nrename(\"bar\", \"foo\")\nfsync(3)", 0,
	       FOO "link(\"foo\", \"bar\")", "name is back");
	BROKEN(&named, EXCHANGED "unlink(\"bar\")\nfsync(4)", 0,
	       "open(\"bar\", O_CREAT|O_RDWR, 0644)", "name missing");
}

/* What it may be then is the other file, or nothing. */
static void a_name_that_was_left_is_not_that_of_the_synced_file(void **state)
{
#define LEFT_NAME \
	FOO "sync()\nunlink(\"foo\")\n" FOO "write(4, \"hello\", 5)\nrename(\"foo\", \"bar\")\n"
#define BAR "open(\"bar\", O_CREAT|O_RDWR, 0644)\nwrite(3, \"hello\", 5)\n"
	BROKEN(&named, LEFT_NAME "fsync(4)", 0, BAR "link(\"bar\", \"foo\")", "name is back");
	ALLOWED(&named, LEFT_NAME "fsync(4)", 0, BAR);
	ALLOWED(&named, LEFT_NAME "fsync(4)", 0, BAR "open(\"foo\", O_CREAT|O_RDWR, 0644)");
	ALLOWED(&posix, LEFT_NAME "fsync(4)", 0, BAR "link(\"bar\", \"foo\")");
	ALLOWED(&named, LEFT_NAME "fsync(4)", 1, FOO "write(3, \"hello\", 5)");
	/* It has the name again. */
	ALLOWED(&named, LEFT_NAME "rename(\"bar\", \"foo\")\nfsync(4)", 0,
		FOO "write(3, \"hello\", 5)");
	/* The other one has it now. */
	BROKEN(&named,
	       WRITTEN
	       "sync()\nrename(\"foo\", \"bar\")\nopen(\"foo\", O_CREAT|O_RDWR, 0600)\nfsync(3)",
	       0, BAR "link(\"bar\", \"foo\")", "name is back");
}

static void fdatasync_keeps_data_and_size_only(void **state)
{
#define CHANGED WRITTEN "sync()\nfchmod(3, 0600)\npwrite(3, \"HELLO you\", 9, 0)\n"
	ALLOWED(&posix, CHANGED "fdatasync(3)", 0, FOO "write(3, \"HELLO you\", 9)");
	BROKEN(&posix, CHANGED "fdatasync(3)", 0, WRITTEN, "size too small");
	BROKEN(&posix, CHANGED "fdatasync(3)", 0, FOO "write(3, \"hello you\", 9)", "data wrong");
	BROKEN(&posix, CHANGED "fsync(3)", 0, FOO "write(3, \"HELLO you\", 9)", "mode wrong");
	/* Where there is no name to read the data by, one is kept; another one is not needed. */
	BROKEN(&named, WRITTEN "fdatasync(3)", 0, "", "name missing");
	ALLOWED(&named, FOO "sync()\nlink(\"foo\", \"bar\")\nfdatasync(3)", 0, FOO);
	ALLOWED(&named, FOO "fsync(3)\nlink(\"foo\", \"bar\")\nfdatasync(3)", 0, FOO);
	BROKEN(&named, FOO "sync()\nlink(\"foo\", \"bar\")\nfsync(3)", 0, FOO, "name missing");
}

static void fdatasync_keeps_no_later_name(void **state)
{
	const char *renamed = WRITTEN "rename(\"foo\", \"bar\")\nfdatasync(3)";

	BROKEN(&named, WRITTEN "fdatasync(3)", 0, "", "name missing");
	/* The file may have been on the disk with its old name, and needs no other. */
	ALLOWED(&named, renamed, 0, WRITTEN);
	ALLOWED(&named, renamed, 0, WRITTEN "rename(\"foo\", \"bar\")");
	BROKEN(&named, renamed, 0, FOO, "size too small");
	BROKEN(&named, WRITTEN "rename(\"foo\", \"bar\")\nfsync(3)", 0, WRITTEN, "name is back");
}

static void synchronous_writes_keep_their_range(void **state)
{
#define DSYNC "open(\"foo\", O_CREAT|O_RDWR|O_DSYNC, 0644)\nsync()\n"
	BROKEN(&posix, DSYNC "write(3, \"hello\", 5)", 0, FOO, "size too small");
	ALLOWED(&posix, DSYNC "write(3, \"hello\", 5)", 1, FOO);
	ALLOWED(&posix, DSYNC "write(3, \"hello\", 5)\nftruncate(3, 9)", 0, WRITTEN);
	BROKEN(&posix, FOO "sync()\nwrite(3, \"hello\", 5)\npwritev2(3, \"J\", 1, 0, RWF_DSYNC)", 0,
	       WRITTEN, "data wrong");
}

static void removal_counts_as_well(void **state)
{
#define REMOVED FOO "sync()\nunlink(\"foo\")\n"
	ALLOWED(&posix, REMOVED, 0, FOO);
	ALLOWED(&posix, REMOVED, 0, "");
	BROKEN(&posix, REMOVED "sync()", 0, FOO, "name is back");
	BROKEN(&posix, "sync()", 0, FOO, "name from nowhere");
	BROKEN(&named, FOO "link(\"foo\", \"bar\")\nsync()\nunlink(\"foo\")\nfsync(3)", 0,
	       FOO "link(\"foo\", \"bar\")", "name is back");
}

static void a_rename_happens_or_does_not(void **state)
{
#define RENAMED WRITTEN "sync()\nrename(\"foo\", \"bar\")"
	ALLOWED(&named, RENAMED, 0, WRITTEN);
	ALLOWED(&named, RENAMED, 0, WRITTEN "rename(\"foo\", \"bar\")");
	BROKEN(&named, RENAMED, 0, "", "lost by rename");
	BROKEN(&named, RENAMED, 0, WRITTEN "link(\"foo\", \"bar\")", "rename in part");
	ALLOWED(&posix, RENAMED, 0, "");
	/* Without the rename, what was made at the new name later. */
	ALLOWED(&named, RENAMED "\nunlink(\"bar\")\nopen(\"bar\", O_CREAT|O_RDWR, 0644)\nfsync(4)",
		0, WRITTEN "open(\"bar\", O_CREAT|O_RDWR, 0644)");
	BROKEN(&named, RENAMED "\nunlink(\"bar\")\nopen(\"bar\", O_CREAT|O_RDWR, 0644)\n", 0,
	       WRITTEN "link(\"foo\", \"bar\")", "rename in part");
	/* A file that was not durable may be lost with both names. */
	ALLOWED(&named, FOO "rename(\"foo\", \"bar\")\n" FOO "fsync(4)", 0, FOO);
	BROKEN(&named, FOO "fsync(3)\nrename(\"foo\", \"bar\")\n" FOO "fsync(4)", 0, FOO,
	       "lost by rename");
	/* What it replaces has either content. */
#define REPLACED \
	WRITTEN "open(\"new\", O_CREAT|O_RDWR, 0644)\nwrite(4, \"other\", 5)\nsync()\n" \
		"rename(\"new\", \"foo\")"
	ALLOWED(&named, REPLACED, 0, FOO "write(3, \"other\", 5)");
	BROKEN(&named, REPLACED, 0, WRITTEN, "lost by rename");
}

static void metadata_is_of_one_moment(void **state)
{
#define TWO "mkdir(\"A\", 0755)\nmkdir(\"B\", 0755)"
	ALLOWED(&named, TWO, 0, "mkdir(\"B\", 0755)");
	BROKEN(&ordered, TWO, 0, "mkdir(\"B\", 0755)", "order");
	ALLOWED(&ordered, TWO, 0, "mkdir(\"A\", 0755)");
	/* To open a file changes nothing of it. */
	ALLOWED(&ordered, FOO "sync()\nmkdir(\"A\", 0755)\nopen(\"foo\", O_RDWR)\nfsync(4)", 0,
		FOO);
	BROKEN(&ordered, FOO "sync()\nmkdir(\"A\", 0755)\nfchmod(3, 0600)\nfsync(3)", 0,
	       FOO "fchmod(3, 0600)", "order");
	/* Data is not part of it, except where all is. */
	ALLOWED(&ordered, WRITTEN "mkdir(\"A\", 0755)", 0, FOO "mkdir(\"A\", 0755)");
	BROKEN(&strict, WRITTEN "mkdir(\"A\", 0755)", 0, FOO "mkdir(\"A\", 0755)", "order");
}

static void fdatasync_of_a_directory_keeps_its_entries(void **state)
{
	static const char removed[] = FOO "sync()\nunlink(\"foo\")\n"
					  "open(\"/\", O_RDONLY|O_DIRECTORY)\nfdatasync(4)\n";

	BROKEN(&posix, removed, 0, FOO, "name is back");
	ALLOWED(&posix, removed, 1, FOO);
	ALLOWED(&posix, removed, 0, "umask(022)\n");
}

static void attributes_survive(void **state)
{
#define ATTRIBUTE FOO "setxattr(\"foo\", \"user.a\", \"v\", 1, 0)\n"
	BROKEN(&posix, ATTRIBUTE "fsync(3)", 0, FOO, "attribute missing");
	BROKEN(&posix, ATTRIBUTE "fsync(3)\nremovexattr(\"foo\", \"user.a\")\nfsync(3)", 0,
	       ATTRIBUTE, "attribute wrong");
	ALLOWED(&posix, ATTRIBUTE "removexattr(\"foo\", \"user.a\")\nfsync(3)", 0, FOO);
}

static void bytes_are_old_or_new(void **state)
{
#define TWICE WRITTEN "sync()\npwrite(3, \"HELLO\", 5, 0)"
	struct persist_rules stale = posix;

	ALLOWED(&posix, TWICE, 0, FOO "write(3, \"HEllo\", 5)");
	BROKEN(&posix, TWICE, 0, FOO "write(3, \"HExlo\", 5)", "data wrong");
	BROKEN(&posix, TWICE, 0, FOO "ftruncate(3, 5)", "data missing");
	stale.stale_data = true;
	ALLOWED(&stale, TWICE, 0, FOO "write(3, \"HExlo\", 5)");
}

/* Names are written before inodes, and inodes used again. */
static void inodes_are_old_or_of_others(void **state)
{
#define REUSED \
	"create_file(\"foo\", O_WRONLY|O_CREAT, 0644)\nsync()\nunlink(\"foo\")\nmkdir(\"A\", " \
	"0755)\n"
	struct persist_rules stale = posix;

	BROKEN(&posix, REUSED, 0, "open(\"A\", O_CREAT|O_RDWR, 0644)", "another object");
	BROKEN(&posix, REPLACED, 0, "umask(022)", "name missing");
	stale.stale_inodes = true;
	ALLOWED(&stale, REUSED, 0, "open(\"A\", O_CREAT|O_RDWR, 0644)");
	ALLOWED(&stale, REUSED, 0, "mkdir(\"foo\", 0700)");
	BROKEN(&stale, REUSED "sync()", 0, "open(\"A\", O_CREAT|O_RDWR, 0644)", "another object");
	BROKEN(&stale, REUSED "open(\"A\", O_RDONLY)\nfsync(3)", 0, "mkdir(\"A\", 0700)",
	       "mode wrong");
	/* The removal of a name was not synced, and its entry is the inode, or half of it is there.
	 */
	BROKEN(&posix, WRITTEN "sync()\nrename(\"foo\", \"bar\")", 0, FOO "link(\"foo\", \"bar\")",
	       "size too small");
	ALLOWED(&stale, WRITTEN "sync()\nrename(\"foo\", \"bar\")", 0,
		FOO "write_file(\"bar\", O_CREAT|O_WRONLY, \"hello\", 5, 0)");
	BROKEN(&stale, WRITTEN "sync()\nrename(\"foo\", \"bar\")\nsync()", 0,
	       WRITTEN "write_file(\"bar\", O_CREAT|O_WRONLY, \"hello\", 5, 0)", "name is back");
	/* Synced was the directory, not its name, which half a repair may have damaged. */
	stale.damage = true;
	ALLOWED(&stale, REUSED "open(\"A\", O_RDONLY)\nfsync(3)", 0, "mkdir(\"A\", 0700)");
	BROKEN(&stale, REUSED "sync()\nopen(\"A\", O_RDONLY)\nfsync(3)", 0, "mkdir(\"A\", 0700)",
	       "mode wrong");
	stale.damage = false;
	/* The new file was not written, so its name means nothing. */
	ALLOWED(&stale, FOO "sync()\nopen(\"new\", O_CREAT|O_RDWR, 0644)\nrename(\"new\", \"foo\")",
		0, "umask(022)");
	BROKEN(&stale,
	       FOO "sync()\nopen(\"new\", O_CREAT|O_RDWR, 0644)\nfsync(4)\n"
		   "rename(\"new\", \"foo\")",
	       0, "umask(022)", "name missing");
}

static void a_file_is_damaged_only_if_it_was_changed(void **state)
{
#define GROWN WRITTEN "sync()\npwrite(3, data(2, 9000), 9000, 4000)\n"
	struct persist_rules stale = posix;

	BROKEN(&posix, GROWN, 0, "umask(022)", "name missing");
	BROKEN(&posix, GROWN, 0, WRITTEN "truncate(\"foo\", 3)", "size too small");
	stale.stale_blocks = true;
	ALLOWED(&stale, GROWN, 0, "umask(022)");
	ALLOWED(&stale, GROWN, 0, WRITTEN "truncate(\"foo\", 3)");
	BROKEN(&stale, GROWN "fsync(3)", 0, "umask(022)", "name missing");
	BROKEN(&stale, GROWN "fdatasync(3)", 0, WRITTEN, "size too small");
	BROKEN(&stale, WRITTEN "sync()\nchmod(\"foo\", 0600)", 0, "umask(022)", "name missing");
}

/* Opening a file comes before writing to it. */
static void a_call_can_be_several_steps(void **state)
{
#define CUT WRITTEN "sync()\nwrite_file(\"foo\", O_WRONLY|O_TRUNC, \"HELLO you\", 9, 0)\n"
#define CUT_DURABLY WRITTEN "sync()\nwrite_file(\"foo\", O_WRONLY|O_TRUNC|O_DSYNC, \"HEL\", 3, 0)\n"
#define MADE "write_file(\"foo\", O_WRONLY|O_CREAT, \"hello\", 5, 0)\n"
	ALLOWED(&posix, CUT, 0, FOO);
	ALLOWED(&posix, CUT, 1, FOO);
	ALLOWED(&strict, CUT, 1, FOO);
	ALLOWED(&strict, CUT, 1, WRITTEN);
	BROKEN(&posix, CUT "fsync(3)", 0, FOO, "size too small");
	BROKEN(&strict, CUT "fsync(3)", 0, FOO, "size too small");
	ALLOWED(&strict, CUT "fsync(3)", 0, FOO "write(3, \"HELLO you\", 9)");
	BROKEN(&posix, CUT, 1, FOO "write(3, \"Jel\", 3)", "data wrong");
	/* The write is durable, so its end must be, although the file was longer before. */
	BROKEN(&posix, CUT_DURABLY, 0, FOO, "size too small");
	BROKEN(&posix, CUT_DURABLY, 0, FOO "write(3, \"HELlo\", 5)", "size wrong");
	ALLOWED(&posix, CUT_DURABLY, 1, WRITTEN);
	/* The file is not cut if nobody asks for it. */
	BROKEN(&posix, WRITTEN "sync()\n" MADE, 1, FOO, "size too small");
	ALLOWED(&strict, MADE, 1, FOO);
	ALLOWED(&strict, MADE, 1, WRITTEN);
	/* Calls are counted, not steps. */
	BROKEN(&posix, CUT MADE "sync()\nmkdir(\"A\", 0755)\nmkdir(\"B\", 0755)", 1, FOO,
	       "size too small");
}

/* Of a daemon that does not hear of it. */
static void sync_may_keep_nothing(void **state)
{
	struct persist_rules deaf = posix;

	BROKEN(&posix, FOO "sync()", 0, "", "name missing");
	deaf.sync_keeps_nothing = true;
	ALLOWED(&deaf, FOO "sync()", 0, "");
	ALLOWED(&deaf, FOO "syncfs(3)", 0, "");
	BROKEN(&deaf, FOO "remount()", 0, "", "name missing");
}

/* Blocks that were moved, and then overwritten where they lie. */
static void moved_data_may_show_where_it_was(void **state)
{
	const char *block = FOO "pwrite(3, data(1, 4096), 4096, 0)\nfsync(3)\n";
	const char *moved = FOO "pwrite(3, data(1, 4096), 4096, 0)\nfsync(3)\n"
				"fallocate(3, FALLOC_FL_INSERT_RANGE, 0, 4096)\n"
				"pwrite(3, data(2, 4096), 4096, 4096)\n";

	ALLOWED(&named, moved, 0, FOO "pwrite(3, data(2, 4096), 4096, 0)");
	ALLOWED(&named, moved, 0, block);
	BROKEN(&named, moved, 0, FOO "pwrite(3, data(3, 4096), 4096, 0)", "data wrong");
	BROKEN(&named, block, 0, FOO "pwrite(3, data(2, 4096), 4096, 0)", "data wrong");
}

/* A call behind fail_write returns EIO, or 0 as the model does here. */
static void a_failed_write_is_reported_once(void **state)
{
	/* Returned 0, it has promised. */
	BROKEN(&named, FOO "fail_write(1)\nfsync(3)", 0, "", "name missing");
	/* These need not report it. */
	ALLOWED(&named, FOO "fail_write(1)\nsync()", 0, "");
	/* What was not durable then is not promised by what follows, */
	ALLOWED(&named, FOO "fail_write(1)\nsync()\nfsync(3)", 0, "");
	ALLOWED(&named, FOO "fail_write(1)\nsync()\nsync()", 0, "");
	/* but what is new, or was durable, is. */
	BROKEN(&named, FOO "fail_write(1)\nsync()\nopen(\"bar\", O_CREAT|O_RDWR, 0644)\nfsync(4)",
	       0, "", "name missing");
	/* So is what was written again, */
#define LOST_WRITE WRITTEN "sync()\npwrite(3, \"Jello\", 5, 0)\nfail_write(1)\nsync()\n"
	ALLOWED(&named, LOST_WRITE "fsync(3)", 0, WRITTEN);
	BROKEN(&named, LOST_WRITE "pwrite(3, \"HELLO\", 5, 0)\nfsync(3)", 0, WRITTEN, "data wrong");
	/* and no other byte, and no attribute. */
	ALLOWED(&named, LOST_WRITE "pwrite(3, \"HE\", 2, 0)\nfsync(3)", 0,
		FOO "write(3, \"HEllo\", 5)");
	ALLOWED(&named, LOST_WRITE "chmod(\"foo\", 0600)\nfsync(3)", 0, WRITTEN);
	BROKEN(&named, FOO "sync()\nfail_write(1)\nsync()\nwrite(3, \"hello\", 5)\nfsync(3)", 0,
	       FOO, "size too small");
	BROKEN(&named, FOO "sync()\nfail_write(1)\nsync()\nwrite(3, \"hello\", 5)\nsync()", 0, FOO,
	       "size too small");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_was_not_synced_may_be_lost),
		TEST(what_was_synced_must_be_there),
		TEST(bytes_that_nothing_wrote_were_promised_by_nothing),
		TEST(names_are_kept_where_fsync_says_so),
		TEST(nothing_is_promised_of_a_removed_file),
		TEST(directories_above_are_kept_unless_renamed),
		TEST(a_name_that_another_has_had_since_is_not_promised),
		TEST(a_name_that_was_left_is_not_that_of_the_synced_file),
		TEST(fdatasync_keeps_data_and_size_only),
		TEST(fdatasync_keeps_no_later_name),
		TEST(synchronous_writes_keep_their_range),
		TEST(removal_counts_as_well),
		TEST(a_rename_happens_or_does_not),
		TEST(metadata_is_of_one_moment),
		TEST(fdatasync_of_a_directory_keeps_its_entries),
		TEST(attributes_survive),
		TEST(bytes_are_old_or_new),
		TEST(inodes_are_old_or_of_others),
		TEST(a_file_is_damaged_only_if_it_was_changed),
		TEST(a_call_can_be_several_steps),
		TEST(sync_may_keep_nothing),
		TEST(moved_data_may_show_where_it_was),
		TEST(a_failed_write_is_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
