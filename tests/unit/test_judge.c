/* test_judge.c -- broken file systems are found out, the finding shrinks and keeps its signature;
 * whole ones are left alone. */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "judge/signature.h"
#include "run/run.h"
#include "tests/harness/replays.h"
#include "tree/remark.h"

static int replay(struct fixture *f, struct finding *ret)
{
	struct replay_on on = where(f, 0);
	struct err err = { 0 };
	int status = judge_replay(&on, f->calls, f->count, NULL, ret, &err);

	if (status < 0)
		fail_msg("%s", err.text);
	return status;
}

static void whole_ones_pass(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs", "mkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\nunlink(\"x\")\nremount()\n");
	assert_int_equal(replay(&f, &finding), 0);
	end(&f);
}

static void outcome_is_judged(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!mkdir_enoent",
	      "mkdir(\"b\", 0755)\nmkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\nmkdir(\"c\", 0755)\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_int_equal(finding.discrepancy.code, PROBLEM_OUTCOME);
	assert_string_equal(finding.discrepancy.signature, "OUTCOME mkdir ENOENT for EEXIST");
	assert_int_equal(finding.count, 3);
	assert_true(finding.discrepancy.reach == REACH_OUTSIDE_POSIX);
	assert_string_equal(buf_str(&finding.target), "reffs!mkdir_enoent");
	assert_string_equal(buf_str(&finding.discrepancy.title),
			    "mkdir(\"a\", 0755) returned ENOENT, expected EEXIST");
	finding_free(&finding);
	end(&f);
}

static void tree_is_judged(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!unlink_nlink",
	      "create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nlink(\"a\", \"b\")\nunlink(\"a\")\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_string_equal(finding.discrepancy.signature,
			    "TREE unlink nlink (too large, elsewhere)");
	assert_int_equal(finding.discrepancy.fact_count, 1);
	assert_int_equal(finding.discrepancy.facts[0].kind, FACT_NLINK);
	assert_string_equal(finding.discrepancy.facts[0].path, "/b");
	assert_int_equal(finding.discrepancy.facts[0].nlink, 1);
	finding_free(&finding);
	end(&f);
}

static void expect_title(const char *target, const char *calls, const char *title)
{
	struct finding finding;
	struct fixture f;

	begin(&f, target, calls);
	assert_int_equal(replay(&f, &finding), 1);
	assert_string_equal(buf_str(&finding.discrepancy.title), title);
	finding_free(&finding);
	end(&f);
}

static void titles_say_which_bytes_are_wrong(void **state)
{
	expect_title("reffs!truncate_stale",
		     "write_file(\"c\", O_CREAT|O_WRONLY, \"d\", 1, 0)\ntruncate(\"c\", 0)\n"
		     "truncate(\"c\", 1)\n",
		     "after truncate(\"c\", 1), byte 0 of /c is 0x73, expected 0x00 (stale data)");
	expect_title("reffs!truncate_stale",
		     "write_file(\"c\", O_CREAT|O_WRONLY, \"d\", 1, 0)\ntruncate(\"c\", 0)\n"
		     "truncate(\"c\", 2)\n",
		     "after truncate(\"c\", 2), the data of /c from byte 0 on is 73 00, expected "
		     "00 00 (stale data)");
}

/* What comes first in a README: the finding in a few lines. */
static void expect_summary(const char *target, const char *calls, const char *summary)
{
	struct buf readme = BUF_INIT;
	struct finding finding;
	struct fixture f;
	const char *at;

	begin(&f, target, calls);
	assert_int_equal(replay(&f, &finding), 1);
	finding_print_readme(&finding, f.target, &readme);
	at = strstr(buf_str(&readme), "\n\n");
	assert_non_null(at);
	assert_int_equal(strncmp(at + 2, summary, strlen(summary)), 0);
	assert_int_equal(strncmp(at + 2 + strlen(summary), "\n## Where\n", 10), 0);
	finding_free(&finding);
	end(&f);
	buf_free(&readme);
}

static void readmes_open_with_a_summary(void **state)
{
	expect_summary("reffs!mkdir_enoent", "mkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\n",
		       "`mkdir(\"a\", 0755)` returned `ENOENT` on `reffs!mkdir_enoent`. Expected: "
		       "`EEXIST`, by POSIX and Linux.\n"
		       "Severity: outside-posix (the outcome is none that POSIX allows).\n"
		       "It takes 2 calls on a freshly made file system. 1 of 1 replays on a fresh "
		       "file system showed it.\n");
	expect_summary(
		"reffs!truncate_stale",
		"write_file(\"c\", O_CREAT|O_WRONLY, \"d\", 1, 0)\ntruncate(\"c\", 0)\n"
		"truncate(\"c\", 1)\n",
		"`truncate(\"c\", 1)` returned what it should on `reffs!truncate_stale`, but "
		"left a wrong tree: `byte 0 of /c is 0x73, expected 0x00 (stale data)`.\n"
		"Severity: data (data or names are lost or wrong).\n"
		"It takes 3 calls on a freshly made file system. 1 of 1 replays on a fresh "
		"file system showed it.\n");
}

/* Long ways round are cut, names and numbers made plain. */
static void findings_shrink(void **state)
{
	struct replay_on on;
	struct err err = { 0 };
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!truncate_stale",
	      "mkdir(\"d\", 0700)\ncreate_file(\"d/longer\", O_CREAT|O_EXCL|O_RDWR, 0600)\n"
	      "mkdir(\"e\", 0755)\nrename(\"d/longer\", \"e/f\")\nchmod(\"e\", 0777)\n"
	      "write_file(\"e/f\", O_WRONLY|O_SYNC, data(7, 5000), 5000, 100)\nsync()\n"
	      "link(\"e/f\", \"g\")\ntruncate(\"e/f\", 77)\nrmdir(\"d\")\ntruncate(\"g\", 4444)\n"
	      "stat(\"g\")\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_string_equal(finding.discrepancy.signature, "TREE truncate data (stale)");
	on = where(&f, 0);
	assert_int_equal(finding_shrink(&finding, &on, 3000, &err), 0);
	assert_string_equal(finding.discrepancy.signature, "TREE truncate data (stale)");
	assert_true(finding.count <= 4);
	assert_int_equal(finding_verify(&finding, &on, 10, &err), 0);
	assert_int_equal(finding.shown, 10);
	finding_free(&finding);
	end(&f);
}

static void findings_are_read_back(void **state)
{
	char dir[] = "/tmp/assay-test-finding.XXXXXX", command[128];
	struct finding finding, again;
	struct err err = { 0 };
	struct fixture f;

	begin(&f, "reffs!write_short", "write_file(\"a\", O_CREAT|O_WRONLY, \"xyz\", 3, 0)\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_non_null(mkdtemp(dir));
	if (finding_write(&finding, f.target, dir, &err) || finding_read(&again, dir, &err))
		fail_msg("%s", err.text);
	assert_string_equal(again.discrepancy.signature, finding.discrepancy.signature);
	assert_string_equal(buf_str(&again.target), "reffs!write_short");
	assert_int_equal(again.count, finding.count);
	for (size_t i = 0; i < again.count; i++)
		assert_true(call_equal(&again.calls[i], &finding.calls[i]));
	finding_free(&again);
	finding_free(&finding);
	end(&f);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* A call that never answered has no outcome, and what follows from it is read back. */
static void nothing_is_invented(void **state)
{
	static const char said[] = "# target: ext4\\n\\\\x\n# signature: HANG mkdir\n"
				   "mkdir(\"a\", 0755) = 0\nmkdir(\"b\", 0755)\n"
				   "#   predicted, not observed: 0\nmkdir(\"c\", 0755)\n";
	char dir[] = "/tmp/assay-test-finding.XXXXXX", path[64], command[128];
	struct finding f, again;
	struct buf trace = BUF_INIT;
	struct err err = { 0 };

	finding_init(&f);
	f.discrepancy.code = PROBLEM_HANG;
	strcpy(f.discrepancy.signature, "HANG mkdir");
	buf_adds(&f.target, "ext4\n\\x");
	finding_reserve(&f, 3);
	for (int i = 0; i < 3; i++) {
		char name[] = { (char)('a' + i), '\0' };

		f.calls[i] = (struct call){ .op = OP_mkdir, .pid = 1 };
		f.calls[i].mkdir.path.text = arena_strdup(&f.arena, name);
		f.calls[i].mkdir.path.len = 1;
		f.calls[i].mkdir.mode.num = 0755;
	}
	f.evidence[0] = EVIDENCE_OBSERVED;
	f.evidence[1] = EVIDENCE_PREDICTED;
	f.count = 3;
	assert_null(finding_observed(&f, 1));
	assert_null(finding_observed(&f, 2));
	assert_false(finding_is_confirmed(&f));
	assert_non_null(mkdtemp(dir));
	if (finding_write(&f, NULL, dir, &err))
		fail_msg("%s", err.text);
	snprintf(path, sizeof(path), "%s/trace", dir);
	assert_int_equal(buf_read_file(&trace, path, 1 << 20, &err), 0);
	assert_string_equal(buf_str(&trace), said);
	assert_int_equal(finding_read(&again, dir, &err), 0);
	assert_string_equal(buf_str(&again.target), "ext4\n\\x");
	assert_int_equal(again.count, 3);
	finding_free(&again);
	finding_free(&f);
	buf_free(&trace);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* However much data a call has, a title is one line. */
static void titles_are_bounded(void **state)
{
	struct buf text = BUF_INIT;
	struct finding finding;
	struct fixture f;

	buf_adds(&text, "write_file(\"a\", O_CREAT|O_WRONLY, \"");
	for (int i = 0; i < 3000; i++)
		buf_addch(&text, "ab"[i % 2]);
	buf_adds(&text, "\", 3000, 0)\n");
	begin(&f, "reffs!write_short", buf_str(&text));
	assert_int_equal(replay(&f, &finding), 1);
	assert_true(finding.discrepancy.title.len < 400);
	assert_non_null(strstr(buf_str(&finding.discrepancy.title), "... ("));
	finding_free(&finding);
	end(&f);
	buf_free(&text);
}

/* What a file system or a log says cannot leave its place in a README. */
static void data_stays_data_in_a_readme(void **state)
{
	static const char *const parts[] = { "Where", "Steps", "Expected", "Actual", "Cause" };
	struct buf readme = BUF_INIT;
	struct finding f;

	finding_init(&f);
	f.discrepancy.code = PROBLEM_TREE;
	buf_adds(&f.discrepancy.title, "a `tick` in\n# a title");
	buf_adds(&f.target, "fuse:x\n# not a heading");
	buf_adds(&f.discrepancy.diff, "```\n# not a heading\n````\n");
	finding_print_readme(&f, NULL, &readme);
	assert_null(strstr(readme.data, "\n# a title"));
	assert_non_null(strstr(readme.data, "`` a `tick` in # a title ``"));
	assert_non_null(strstr(readme.data, "`fuse:x # not a heading`"));
	assert_non_null(strstr(readme.data, "\n`````\n```\n# not a heading\n````\n`````\n"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char heading[32];

		snprintf(heading, sizeof(heading), "\n## %s\n", parts[i]);
		assert_non_null(strstr(readme.data, heading));
	}
	buf_free(&readme);
	finding_free(&f);
}

/* Processes and descriptors that others can replace go, and what came behind them is renumbered. */
static void processes_and_descriptors_go(void **state)
{
	struct err err = { 0 };
	struct finding finding;
	struct replay_on on;
	struct fixture f;

	begin(&f, "reffs!fallocate_keep",
	      "[2] create_process(1000, 1000)\nmkdir(\"a\", 0777)\nchown(\"a\", 1000, 1000)\n"
	      "[2] create_file(\"a/d\", O_CREAT|O_RDWR, 0755)\nopen(\"a/d\", O_RDWR, 0644)\n"
	      "open(\"a/d\", O_RDWR, 0644)\nfallocate(4, FALLOC_FL_KEEP_SIZE, 0, 1)\n");
	assert_int_equal(replay(&f, &finding), 1);
	on = where(&f, 0);
	assert_int_equal(finding_shrink(&finding, &on, 3000, &err), 0);
	assert_true(finding.count <= 3);
	assert_int_equal(finding.calls[finding.count - 1].pid, 1);
	assert_int_equal(finding.calls[finding.count - 1].fallocate.fd.num, 3);
	finding_free(&finding);
	end(&f);
}

/* Time that is over ends all work; the finding stays as it is. */
static void work_ends_in_time(void **state)
{
	const double over = 1e-9;
	struct replay_on on, ended;
	struct finding finding, again;
	struct fixture f;
	struct err err = { 0 };
	size_t count;

	begin(&f, "reffs!truncate_zero",
	      "mkdir(\"d\", 0755)\nwrite_file(\"a\", O_CREAT|O_WRONLY, \"xyz\", 3, 0)\n"
	      "truncate(\"a\", 0)\n");
	assert_int_equal(replay(&f, &finding), 1);
	count = finding.count;
	on = where(&f, 0);
	ended = where(&f, over);
	assert_int_equal(finding_shrink(&finding, &ended, 3000, &err), 0);
	assert_int_equal(finding_verify(&finding, &ended, 10, &err), 0);
	assert_int_equal(finding.count, count);
	assert_int_equal(finding.tries, 1); /* the one that showed it */
	assert_false(finding.shrunk);
	assert_int_equal(judge_replay(&ended, f.calls, f.count, NULL, &again, &err), -ETIME);
	err = (struct err){ 0 };
	stop_requested = SIGINT;
	assert_int_equal(finding_shrink(&finding, &on, 3000, &err), 0);
	stop_requested = 0;
	assert_false(finding.shrunk);
	assert_int_equal(finding_shrink(&finding, &on, 3000, &err), 0);
	assert_true(finding.shrunk);
	assert_true(finding.count < count);
	finding_free(&finding);
	end(&f);
}

/* An open that would wait for ever is not made, whatever led to the fifo. */
static void nothing_waits(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "dir:/tmp", "mknod(\"f\", S_IFIFO|0600, 0)\ncreate_file(\"f\", O_WRONLY, 0)\n");
	assert_int_equal(replay(&f, &finding), 0);
	end(&f);
}

static void set_mode(struct inode *inode)
{
	inode->mode ^= 0111;
}

static void set_owner(struct inode *inode)
{
	inode->gid++;
}

static void set_nlink(struct inode *inode)
{
	inode->nlink++;
}

static void set_flags(struct inode *inode)
{
	inode->flags ^= 1;
}

/* A tree with a file whose attribute was changed, compared with the tree before. */
static size_t facts_of(void (*change)(struct inode *), struct arena *arena, struct fact *ret)
{
	struct tree expected, seen;
	uint64_t ino;
	size_t count;

	tree_init(&expected, TREE_FIELDS_DEFAULT | TREE_FLAGS, true, 0755, 0, 0);
	ino = tree_new(&expected, S_IFREG | 0644, 0, 0, 0);
	tree_link(&expected, TREE_ROOT, "f", 1, ino);
	tree_settle(&expected);
	seen = tree_copy(&expected);
	if (change)
		change(tree_edit(&seen, ino));
	tree_settle(&seen);
	count = facts_find(&expected, &seen, arena, ret);
	tree_free(&seen);
	tree_free(&expected);
	return count;
}

static void an_attribute_that_differs_is_one_fact(void **state)
{
	static const struct {
		void (*change)(struct inode *);
		enum fact_kind kind;
	} rows[] = {
		{ set_mode, FACT_MODE },
		{ set_owner, FACT_OWNER },
		{ set_nlink, FACT_NLINK },
		{ set_flags, FACT_FLAGS },
	};
	struct fact facts[FACTS_MAX];
	struct arena arena = { 0 };

	assert_int_equal(facts_of(NULL, &arena, facts), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(facts_of(rows[i].change, &arena, facts), 1);
		assert_int_equal(facts[0].kind, rows[i].kind);
		assert_string_equal(facts[0].path, "/f");
	}
	arena_free(&arena);
}

/* An attribute that is as expected by the first name but not by the second. */
static void an_attribute_by_one_name_is_a_fact(void **state)
{
	struct fact facts[FACTS_MAX];
	struct arena arena = { 0 };
	struct inode by_name = { .mode = S_IFREG | 0600, .nlink = 2 };
	struct tree expected, seen;
	uint64_t ino;

	tree_init(&expected, TREE_FIELDS_DEFAULT | TREE_ENTRIES, true, 0755, 0, 0);
	ino = tree_new(&expected, S_IFREG | 0644, 0, 0, 0);
	tree_link(&expected, TREE_ROOT, "f", 1, ino);
	tree_link(&expected, TREE_ROOT, "g", 1, ino);
	tree_settle(&expected);
	seen = tree_copy(&expected);
	assert_true(remark_add_name(&seen, TREE_ROOT, "g", &by_name, ino, seen.next_ino));
	tree_settle(&seen);
	assert_int_equal(facts_find(&expected, &seen, &arena, facts), 1);
	assert_int_equal(facts[0].kind, FACT_MODE);
	assert_string_equal(facts[0].path, "/g");
	assert_int_equal(facts[0].mode, S_IFREG | 0644);
	assert_true(facts[0].by_name);
	tree_free(&seen);
	tree_free(&expected);
	arena_free(&arena);
}

/* The signature of a file that has these bytes at its beginning in place of zeros. */
static void signature_of_bytes(const char *bytes, size_t len, const struct call *c,
			       char ret[SIGNATURE_MAX])
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .hashed = true };
	struct fact facts[FACTS_MAX];
	struct arena arena = { 0 };
	struct state expected;
	struct tree seen;
	uint64_t ino;

	state_init(&expected, &options);
	ino = tree_new(&expected.tree, S_IFREG | 0644, 0, 0, 0);
	tree_link(&expected.tree, TREE_ROOT, "f", 1, ino);
	tree_truncate(&expected.tree, ino, 100);
	tree_settle(&expected.tree);
	seen = tree_copy(&expected.tree);
	tree_write(&seen, ino, 0, bytes, len);
	tree_settle(&seen);
	assert_int_equal(facts_find(&expected.tree, &seen, &arena, facts), 1);
	signature_of_tree(ret, c, facts, &expected, &seen);
	tree_free(&seen);
	state_free(&expected);
	arena_free(&arena);
}

/* Data that a call wrote are stale; what the file system keeps for itself is foreign. */
static void foreign_data_are_told_apart(void **state)
{
	static const char inode[16] =
		"\x0a\x01\x03\x01\xd4\x80\x01\x02\x91\x02\xff\xfe\x05\x06\x07\x08";
	struct call truncate = { .op = OP_truncate, .pid = 1 },
		    rename = { .op = OP_renameat2, .pid = 1 };
	char signature[SIGNATURE_MAX], data[16];

	truncate.truncate.path = (struct arg){ .text = "f", .len = 1 };
	data_fill(2, 777, data, sizeof(data));
	signature_of_bytes(data, sizeof(data), &truncate, signature);
	assert_string_equal(signature, "TREE truncate data (stale)");
	signature_of_bytes("text", 4, &truncate, signature);
	assert_string_equal(signature, "TREE truncate data (stale)");
	signature_of_bytes(inode, sizeof(inode), &truncate, signature);
	assert_string_equal(signature, "TREE truncate data (foreign)");
	rename.arg[1].text = "d/f";
	rename.arg[3].text = "g";
	rename.arg[4].num = RENAME_EXCHANGE;
	signature_of_bytes(inode, sizeof(inode), &rename, signature);
	assert_string_equal(signature, "TREE rename data (foreign, exchange, to another directory, "
				       "elsewhere)");
}

/* The calls of a script in the model alone; the last one returned this. */
static enum verdict judge_last(struct fixture *f, int error, struct discrepancy *ret)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0755 };
	struct outcome seen = { .error = error };
	enum verdict verdict;
	struct envelope env;
	struct state s;

	state_init(&s, &options);
	for (size_t i = 0; i + 1 < f->count; i++)
		model_run(&f->model, &s, &f->calls[i], &(struct outcome){ 0 });
	discrepancy_init(ret);
	verdict = judge_outcome(&f->model, &s, &f->calls[f->count - 1], &seen, &env, ret);
	state_free(&s);
	return verdict;
}

/* A file system without a flag of rename may be asked for it where two names are one file. */
static void missing_flags_may_be_refused_for_one_file(void **state)
{
	struct discrepancy d;
	struct fixture f;

	begin(&f, "reffs",
	      "create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nlink(\"a\", \"b\")\n"
	      "renameat2(AT_FDCWD, \"a\", AT_FDCWD, \"b\", RENAME_WHITEOUT)\n");
	f.model.traits.no_whiteout = false;
	assert_int_equal(judge_last(&f, EINVAL, &d), VERDICT_BAD);
	discrepancy_free(&d);
	f.model.traits.no_whiteout = true;
	assert_int_equal(judge_last(&f, EINVAL, &d), VERDICT_OK);
	discrepancy_free(&d);
	assert_int_equal(judge_last(&f, 0, &d), VERDICT_OK);
	discrepancy_free(&d);
	end(&f);
}

/* A daemon that an ordinary user runs cannot change what only root may. */
static void a_daemon_may_lack_a_privilege(void **state)
{
	struct discrepancy d;
	struct fixture f;

	begin(&f, "reffs",
	      "create_file(\"a\", O_CREAT|O_WRONLY, 0644)\n"
	      "setxattr(\"a\", \"security.a\", \"1\", 1, 0)\n");
	assert_int_equal(judge_last(&f, EPERM, &d), VERDICT_BAD);
	discrepancy_free(&d);
	f.model.traits.one_user = f.model.traits.times_cached = true;
	assert_int_equal(judge_last(&f, EPERM, &d), VERDICT_OK);
	discrepancy_free(&d);
	end(&f);
}

/* Calls about files with several names are marked, by descriptors and by paths. */
static void files_with_several_names_are_marked(void **state)
{
	struct discrepancy d;
	struct fixture f;

	begin(&f, "reffs",
	      "open(\"a\", O_CREAT|O_RDWR, 0644)\nlink(\"a\", \"b\")\n"
	      "flock(3, LOCK_EX|LOCK_NB)\nopen(\"b\", O_RDWR, 0)\nflock(4, LOCK_EX|LOCK_NB)\n");
	assert_int_equal(judge_last(&f, 0, &d), VERDICT_BAD);
	assert_true(d.has_names);
	discrepancy_free(&d);
	end(&f);
	begin(&f, "reffs",
	      "open(\"a\", O_CREAT|O_RDWR, 0644)\nflock(3, LOCK_EX|LOCK_NB)\n"
	      "open(\"a\", O_RDWR, 0)\nflock(4, LOCK_EX|LOCK_NB)\n");
	assert_int_equal(judge_last(&f, 0, &d), VERDICT_BAD);
	assert_false(d.has_names);
	discrepancy_free(&d);
	end(&f);
	begin(&f, "reffs",
	      "create_file(\"a\", O_CREAT|O_RDWR, 0644)\nlink(\"a\", \"b\")\n"
	      "read_file(\"b\", 1, 0)\n");
	assert_int_equal(judge_last(&f, EIO, &d), VERDICT_BAD);
	assert_true(d.has_names);
	discrepancy_free(&d);
	end(&f);
}

/* What was allowed, and nothing else. */
static void what_is_allowed_is_printed(void **state)
{
	struct discrepancy d = { .code = PROBLEM_OUTCOME };
	struct buf text = BUF_INIT;

	errset_add(&d.allowed, ENOENT);
	errset_add(&d.allowed, EEXIST);
	discrepancy_print_allowed(&d, &text);
	assert_string_equal(buf_str(&text), "ENOENT or EEXIST");
	buf_clear(&text);
	d.success_allowed = true;
	discrepancy_print_allowed(&d, &text);
	assert_string_equal(buf_str(&text), "success or ENOENT or EEXIST");
	buf_free(&text);
}

/* A title has room for what is wrong, not for all that stat returns. */
static void only_wrong_fields_are_printed(void **state)
{
	const struct stat_result allowed = { .mode = S_IFREG | 0755, .nlink = 1, .size = 7 };
	struct stat_result seen = { .mode = S_IFREG | 04755, .nlink = 1, .size = 8 };
	struct buf wanted = BUF_INIT, got = BUF_INIT;

	assert_true(stat_print_difference(&allowed, &seen, &wanted, &got));
	assert_string_equal(buf_str(&wanted), "mode=0755 size=7");
	assert_string_equal(buf_str(&got), "mode=4755 size=8");
	seen.mode = S_IFDIR | 04755;
	assert_false(stat_print_difference(&allowed, &seen, &wanted, &got));
	assert_false(stat_print_difference(&allowed, &allowed, &wanted, &got));
	buf_free(&wanted);
	buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_ones_pass),
		cmocka_unit_test(missing_flags_may_be_refused_for_one_file),
		cmocka_unit_test(a_daemon_may_lack_a_privilege),
		cmocka_unit_test(files_with_several_names_are_marked),
		cmocka_unit_test(outcome_is_judged),
		cmocka_unit_test(tree_is_judged),
		cmocka_unit_test(findings_shrink),
		cmocka_unit_test(findings_are_read_back),
		cmocka_unit_test(processes_and_descriptors_go),
		cmocka_unit_test(work_ends_in_time),
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(nothing_is_invented),
		cmocka_unit_test(titles_are_bounded),
		cmocka_unit_test(titles_say_which_bytes_are_wrong),
		cmocka_unit_test(readmes_open_with_a_summary),
		cmocka_unit_test(data_stays_data_in_a_readme),
		cmocka_unit_test(an_attribute_that_differs_is_one_fact),
		cmocka_unit_test(an_attribute_by_one_name_is_a_fact),
		cmocka_unit_test(foreign_data_are_told_apart),
		cmocka_unit_test(what_is_allowed_is_printed),
		cmocka_unit_test(only_wrong_fields_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
