/* export_pjdfstest.c -- a finding as a test of pjdfstest: a shell script of `expect RESULT CALL`.
 *
 * The program pjdfstest makes one call, or a few on the descriptors that it opens, and ends. So a
 * finding can be said where each of its calls is one that the program has, with words that the
 * shell does not split. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "finding/export.h"
#include "finding/pjd.h"

static void pjd_setup(struct pjd *p, size_t i)
{
	const struct outcome *o = finding_observed(p->finding, i);
	const struct call *c = &p->finding->calls[i];
	bool asks = op_table[c->op].result == RESULT_STAT;

	if (c->op == OP_create_process || c->op == OP_destroy_process)
		return;
	pjd_call(p, i,
		 !o         ? NULL
		 : o->error ? errno_name(o->error)
		 : asks     ? "'[a-z]*'"
			    : "0",
		 "type");
}

static const char *pjd_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "regular";
	case S_IFDIR:
		return "dir";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFCHR:
		return "char";
	case S_IFBLK:
		return "block";
	default:
		return "socket";
	}
}

static void pjd_add_number(int64_t value, const char *field, struct buf *values, struct buf *fields)
{
	if (value == STAT_UNKNOWN)
		return;
	buf_addf(values, ",%" PRId64, value);
	buf_addf(fields, ",%s", field);
}

/* What stat should have returned, as far as it is known. */
static void pjd_stat_value(const struct stat_result *s, struct buf *values, struct buf *fields)
{
	buf_adds(values, pjd_type(s->mode));
	buf_adds(fields, "type");
	if (!(s->mode & STAT_TYPE_ONLY)) {
		buf_addf(values, ",0%o", s->mode & 07777);
		buf_adds(fields, ",mode");
	}
	pjd_add_number(s->nlink, "nlink", values, fields);
	pjd_add_number(s->uid, "uid", values, fields);
	pjd_add_number(s->gid, "gid", values, fields);
	if (S_ISREG(s->mode))
		pjd_add_number(s->size, "size", values, fields);
}

/* pread is printed up to the first zero, without what the shell would split. */
static bool pjd_printed_bytes(const struct outcome *o, struct buf *out)
{
	size_t len = o->bytes ? strnlen(o->bytes, o->len) : 0;

	buf_add(out, o->bytes ? o->bytes : "", len);
	return !len || pjd_is_word(o->bytes, len);
}

static bool pjd_bytes_value(const struct outcome *expected, const struct outcome *seen,
			    struct buf *values)
{
	struct buf other = BUF_INIT;
	bool differs;

	pjd_printed_bytes(seen, &other);
	differs = pjd_printed_bytes(expected, values) && strcmp(buf_str(values), buf_str(&other));
	buf_free(&other);
	return differs;
}

/* What success should have returned; false where no line of pjdfstest shows that it differs. */
static bool pjd_value(const struct discrepancy *d, const struct outcome *seen, enum result result,
		      struct buf *values, struct buf *fields)
{
	bool other_value = seen && !seen->error;

	switch (result) {
	case RESULT_STAT:
		pjd_stat_value(&d->value.stat, values, fields);
		return true;
	case RESULT_BYTES:
		return other_value && pjd_bytes_value(&d->value, seen, values);
	default:
		buf_addch(values, '0');
		return !other_value;
	}
}

/* The last call with everything that it may return. */
static void pjd_last_outcome(struct pjd *p)
{
	const struct discrepancy *d = &p->finding->discrepancy;
	const struct call *c = &p->finding->calls[p->finding->count - 1];
	const struct outcome *seen = finding_observed(p->finding, p->finding->count - 1);
	struct buf values = BUF_INIT, fields = BUF_INIT, allowed = BUF_INIT, expected = BUF_INIT;

	if (d->success_allowed && !pjd_value(d, seen, op_table[c->op].result, &values, &fields))
		pjd_cannot(p, "compare what was returned by", op_table[c->op].name);
	buf_adds(&allowed, buf_str(&values));
	for (int error = 1; error < 192; error++)
		if (errset_has(&d->allowed, error))
			buf_addf(&allowed, "%s%s", allowed.len || d->success_allowed ? "|" : "",
				 errno_name(error));
	if (strchr(buf_str(&allowed), '|') || !allowed.len)
		buf_addf(&expected, "'(%s)'", buf_str(&allowed));
	else
		buf_adds(&expected, buf_str(&allowed));
	buf_adds(&p->body, "\n# What shows the bug:\n");
	pjd_call(p, p->finding->count - 1, buf_str(&expected),
		 fields.len ? buf_str(&fields) : "type");
	buf_free(&expected);
	buf_free(&values);
	buf_free(&fields);
	buf_free(&allowed);
}

static void pjd_put_path(struct pjd *p, const char *path)
{
	if (!pjd_add_path(path, &p->body) && !p->why.len)
		buf_adds(&p->why, "expect of pjdfstest would split the names");
}

/* "expect VALUE lstat PATH FIELD" */
static void pjd_expect_field(struct pjd *p, const char *path, const char *field, const char *value)
{
	p->tests++;
	buf_addf(&p->body, "expect %s lstat ", value);
	pjd_put_path(p, path);
	buf_addf(&p->body, " %s\n", field);
}

/* Whether the directory lists the name. */
static void pjd_check_listed(struct pjd *p, const char *path, bool listed)
{
	const char *slash = strrchr(path, '/');
	struct buf parent = BUF_INIT;

	buf_adds(&p->body, "test_check $(ls -a ");
	buf_add(&parent, path, (size_t)(slash - path));
	pjd_put_path(p, parent.len ? buf_str(&parent) : "/");
	buf_adds(&p->body, " | grep -Fxc -e ");
	pjd_put_path(p, slash + 1);
	buf_addf(&p->body, ") -eq %d\n", listed);
	p->tests++;
	buf_free(&parent);
}

/* dd and od, since pjdfstest prints no zeros. */
static void pjd_check_data(struct pjd *p, const struct fact *fact)
{
	buf_adds(&p->body, "test_check $(dd if=");
	pjd_put_path(p, fact->path);
	buf_addf(&p->body,
		 " bs=1 skip=%" PRIu64 " count=%zu 2>/dev/null | od -An -v -tx1 | tr -d ' \\n') = ",
		 fact->offset, fact->len);
	for (size_t i = 0; i < fact->len; i++)
		buf_addf(&p->body, "%02x", (unsigned char)fact->bytes[i]);
	buf_addch(&p->body, '\n');
	p->tests++;
}

static void pjd_check_target(struct pjd *p, const struct fact *fact)
{
	if (!pjd_is_word(fact->bytes, fact->len) && !p->why.len)
		buf_adds(&p->why, "test_check of pjdfstest would split the target of the link");
	buf_adds(&p->body, "test_check $(readlink ");
	pjd_put_path(p, fact->path);
	buf_adds(&p->body, ") = ");
	buf_add(&p->body, fact->bytes, fact->len);
	buf_addch(&p->body, '\n');
	p->tests++;
}

static void pjd_check_links(struct pjd *p, const struct fact *fact)
{
	buf_adds(&p->body, "test_check $(${fstest} lstat ");
	pjd_put_path(p, fact->path);
	buf_addf(&p->body, " inode) -%s $(${fstest} lstat ", fact->absent ? "ne" : "eq");
	pjd_put_path(p, fact->name);
	buf_adds(&p->body, " inode)\n");
	p->tests++;
}

static const char *const pjd_times[TIME_FIELDS] = { "atime", "mtime", "ctime" };

/* A time in seconds, before the call and after it, as the other tests of pjdfstest do. */
static void pjd_note_time(struct pjd *p, const char *path, enum time_field time, const char *name)
{
	if (!pjd_times[time] && !p->why.len)
		buf_adds(&p->why, "the program pjdfstest cannot see the time of birth");
	buf_addf(&p->body, "%s=$(${fstest} lstat ", name);
	pjd_put_path(p, path);
	buf_addf(&p->body, " %s)\n", pjd_times[time] ? pjd_times[time] : "");
}

static void pjd_look_before(struct pjd *p)
{
	const struct discrepancy *d = &p->finding->discrepancy;
	const struct fact *fact = d->facts;

	if (d->code != PROBLEM_TIMES || !d->fact_count || fact->wrong == TIME_NOT_AS_GIVEN)
		return;
	if (!fact->path_before) {
		pjd_cannot(p, "see a time before", op_table[d->call.op].name);
		return;
	}
	if (p->chained)
		pjd_cannot(p, "see a time between calls on a descriptor, before",
			   op_table[d->call.op].name);
	pjd_note_time(p, fact->path_before, fact->time, "before");
	buf_adds(&p->body, "sleep 2\n");
}

static void pjd_check_time(struct pjd *p, const struct fact *fact)
{
	static const char *const comparisons[TIME_WRONGS] = {
		[TIME_NOT_SET] = "-gt",
		[TIME_CHANGED] = "-eq",
		[TIME_GONE_BACK] = "-ge",
		[TIME_NOT_AS_GIVEN] = "-eq",
	};

	pjd_note_time(p, fact->path, fact->time, "after");
	buf_addf(&p->body, "test_check $after %s ", comparisons[fact->wrong]);
	if (fact->wrong == TIME_NOT_AS_GIVEN)
		buf_addf(&p->body, "%" PRId64 "\n", fact->given_ns / 1000000000);
	else
		buf_adds(&p->body, "$before\n");
	p->tests++;
}

static void pjd_expect_number(struct pjd *p, const struct fact *fact, const char *field,
			      uint64_t value)
{
	struct buf text = BUF_INIT;

	buf_addu(&text, value);
	pjd_expect_field(p, fact->path, field, text.data);
	buf_free(&text);
}

static void pjd_expect_pair(struct pjd *p, const struct fact *fact, const char *fields,
			    unsigned first, unsigned second)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%u,%u", first, second);
	pjd_expect_field(p, fact->path, fields, text.data);
	buf_free(&text);
}

static void pjd_check_fact(struct pjd *p, const struct fact *fact)
{
	struct buf mode = BUF_INIT;

	switch (fact->kind) {
	case FACT_MISSING:
	case FACT_EXTRA:
		pjd_check_listed(p, fact->path, fact->kind == FACT_MISSING);
		break;
	case FACT_TYPE:
		pjd_expect_field(p, fact->path, "type", pjd_type(fact->mode));
		break;
	case FACT_MODE:
		buf_addf(&mode, "0%o", fact->mode & 07777);
		pjd_expect_field(p, fact->path, "mode", mode.data);
		break;
	case FACT_OWNER:
		pjd_expect_pair(p, fact, "uid,gid", fact->uid, fact->gid);
		break;
	case FACT_NLINK:
		pjd_expect_number(p, fact, "nlink", fact->nlink);
		break;
	case FACT_SIZE:
		pjd_expect_number(p, fact, "size", fact->size);
		break;
	case FACT_RDEV:
		pjd_expect_pair(p, fact, "major,minor", major(fact->rdev), minor(fact->rdev));
		break;
	case FACT_LINKS:
		pjd_check_links(p, fact);
		break;
	case FACT_DATA:
		pjd_check_data(p, fact);
		break;
	case FACT_TARGET:
		pjd_check_target(p, fact);
		break;
	case FACT_TIMES:
		pjd_check_time(p, fact);
		break;
	default:
		if (!p->why.len)
			buf_addf(&p->why,
				 "the program pjdfstest cannot see what is wrong: %s of %s",
				 fact_names[fact->kind], fact->path);
	}
	buf_free(&mode);
}

/* The calls and the checks; p->why where they cannot be said. */
static void pjd_write_body(const struct export *x, struct pjd *p)
{
	const struct discrepancy *d = &x->finding->discrepancy;
	size_t last = x->finding->count - 1;

	if (x->program.rooted)
		buf_adds(&p->why, "its paths lead out of the directory, and pjdfstest does not "
				  "change its root");
	else if (x->finding->proof.watch != WATCH_NOTHING)
		buf_adds(&p->why, "what is read between the calls is part of the cause");
	for (size_t i = 0; i < last; i++)
		pjd_setup(p, i);
	switch (d->code) {
	case PROBLEM_OUTCOME:
		pjd_last_outcome(p);
		break;
	case PROBLEM_TREE:
	case PROBLEM_TIMES:
		pjd_look_before(p);
		pjd_setup(p, last);
		buf_adds(&p->body, "\n# What shows the bug:\n");
		for (size_t i = 0; i < d->fact_count; i++)
			pjd_check_fact(p, &d->facts[i]);
		break;
	default:
		if (!p->why.len)
			buf_addf(&p->why, "its tests do not see this kind of bug (%s)",
				 problem_table[d->code].name);
	}
}

static void pjdfstest_lacks(const struct export *x, struct buf *why)
{
	struct pjd p = { .finding = x->finding };

	pjd_write_body(x, &p);
	buf_adds(why, buf_str(&p.why));
	buf_free(&p.chain);
	buf_free(&p.body);
	buf_free(&p.why);
}

static void pjdfstest_test(const struct export *x, struct buf *out)
{
	struct pjd p = { .finding = x->finding };

	pjd_write_body(x, &p);
	buf_adds(out, "#!/bin/sh\n"
		      "# SPDX-License-Identifier: GPL-2.0\n"
		      "# vim: filetype=sh noexpandtab ts=8 sw=8\n#\n");
	export_story(x, "#", out);
	/* One more for the directory. */
	buf_addf(out,
		 "\ndesc=\"%s\"\n"
		 "\n"
		 "dir=`dirname $0`\n"
		 ". ${dir}/../misc.sh\n"
		 "\n"
		 "echo \"1..%u\"\n"
		 "\n"
		 "n0=`namegen`\n"
		 "expect 0 mkdir ${n0} 0755\n"
		 "cdir=`pwd`\n"
		 "cd ${n0}\n\n",
		 x->name, p.tests + 1);
	buf_add(out, p.body.data, p.body.len);
	buf_adds(out, "\ncd ${cdir}\nrm -rf ${n0}\n");
	buf_free(&p.chain);
	buf_free(&p.body);
	buf_free(&p.why);
}

static void pjdfstest_readme(const struct export *x, struct buf *out)
{
	buf_addf(out,
		 "A test for pjdfstest. Copy tests/%s/%s.t into its tree. In a directory of the "
		 "file\n"
		 "system under test, as root:\n"
		 "\n"
		 "    prove -v PJDFSTEST/tests/%s/%s.t\n"
		 "\n"
		 "\"not ok\" behind \"What shows the bug\": the bug shows. \"not ok\" before it: "
		 "the "
		 "calls\n"
		 "that lead to it went differently.\n\n",
		 export_call(x), x->name, export_call(x), x->name);
	export_story(x, "", out);
}

static void pjdfstest_write(const struct export *x, struct export_dir *dir)
{
	struct buf test = BUF_INIT, readme = BUF_INIT;

	pjdfstest_test(x, &test);
	export_file(dir, &test, 0755, "tests/%s/%s.t", export_call(x), x->name);
	pjdfstest_readme(x, &readme);
	export_file(dir, &readme, 0644, "README");
}

const struct export_suite export_pjdfstest = {
	.name = "pjdfstest",
	.lacks = pjdfstest_lacks,
	.write = pjdfstest_write,
};
