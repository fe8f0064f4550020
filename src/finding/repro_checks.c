/* repro_checks.c -- what shows a finding, as checks of a C program.
 *
 * A check that would hold also for what was seen shows nothing. Where no check can tell the two
 * apart, the program says so and does not claim that the bug is gone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "finding/repro.h"
#include "op/c_text.h"

enum { TEXT_MAX = 300, VALUE_MAX = 4096, ERRNOS = 192, NUMBER_DIGITS = 8 };

static void put_title(struct repro *r, const char *title)
{
	size_t len = strlen(title);

	c_string(title, len < TEXT_MAX ? len : TEXT_MAX, r->out);
}

void repro_cannot_see(struct repro *r, const char *what)
{
	r->needs[HELPER_cannot_see] = r->needs[HELPER_unseen] = true;
	buf_adds(r->out, "\tcannot_see(");
	put_title(r, what);
	buf_adds(r->out, ");\n");
}

static void want_begin(struct repro *r)
{
	r->needs[HELPER_want] = true;
	buf_adds(r->out, "\twant(");
}

static void want_end(struct repro *r, const char *what)
{
	buf_adds(r->out, ", ");
	put_title(r, what);
	buf_adds(r->out, ");\n");
}

/* error == 0 || error == ENOENT || ... */
static void want_errors(struct repro *r, const struct finding *f)
{
	const char *separator = "";

	r->needs[HELPER_answer] = true;
	want_begin(r);
	if (f->discrepancy.success_allowed) {
		buf_adds(r->out, "error == 0");
		separator = " || ";
	}
	for (int error = 1; error < ERRNOS; error++)
		if (errset_has(&f->discrepancy.allowed, error)) {
			buf_addf(r->out, "%serror == ", separator);
			repro_errno(error, r->out);
			separator = " || ";
		}
	buf_adds(r->out, *separator ? "" : "0");
	want_end(r, buf_str(&f->discrepancy.title));
}

static bool is_known(int64_t expected, int64_t seen)
{
	return expected != STAT_UNKNOWN && expected != seen;
}

static void want_field(struct repro *r, const char *field, int64_t expected)
{
	if (expected != STAT_UNKNOWN)
		buf_addf(r->out, " && %s == %" PRId64, field, expected);
}

/* Only what every run of the program would find the same. */
static bool want_stat(struct repro *r, const struct outcome *expected, const struct outcome *seen,
		      bool extended)
{
	const struct stat_result *e = &expected->stat, *s = &seen->stat;
	uint32_t mask = e->mode & STAT_TYPE_ONLY ? S_IFMT : S_IFMT | 07777;

	if (((e->mode ^ s->mode) & mask) == 0 && !is_known(e->nlink, s->nlink) &&
	    !is_known(e->size, s->size) && !is_known(e->uid, s->uid) && !is_known(e->gid, s->gid))
		return false;
	want_begin(r);
	buf_addf(r->out, "(%smode & 0%o) == 0%o", extended ? "stx.stx_" : "st.st_", mask,
		 e->mode & mask);
	want_field(r, extended ? "stx.stx_nlink" : "(long)st.st_nlink", e->nlink);
	want_field(r, extended ? "(long)stx.stx_size" : "st.st_size", e->size);
	want_field(r, extended ? "stx.stx_uid" : "st.st_uid", e->uid);
	want_field(r, extended ? "stx.stx_gid" : "st.st_gid", e->gid);
	return true;
}

/* Where only the size was asked for there are no bytes. */
static bool want_bytes(struct repro *r, const struct outcome *value)
{
	if (value->len > VALUE_MAX)
		return false;
	want_begin(r);
	if (!value->len) {
		buf_addf(r->out, "result == %" PRId64, value->num);
		return true;
	}
	r->needs[HELPER_got] = true;
	buf_addf(r->out, "result == %zu && !memcmp(got, ", value->len);
	c_string(value->bytes, value->len, r->out);
	buf_addf(r->out, ", %zu)", value->len);
	return true;
}

static bool want_names(struct repro *r, const struct outcome *value)
{
	if (value->len > VALUE_MAX)
		return false;
	want_begin(r);
	r->needs[HELPER_has_names] = true;
	buf_adds(r->out, "has_names(result, ");
	c_string(value->bytes, value->len, r->out);
	buf_addf(r->out, ", %zu)", value->len);
	return true;
}

static bool want_name(struct repro *r, const struct outcome *value)
{
	want_begin(r);
	r->needs[HELPER_got] = true;
	buf_adds(r->out, "!strcmp(got, ");
	c_string(value->bytes ? value->bytes : "", value->bytes ? value->len : 0, r->out);
	buf_addch(r->out, ')');
	return true;
}

/* The model knows the longest name only; blocks and inodes change from call to call. */
static bool want_statfs(struct repro *r, const struct outcome *value)
{
	if (value->statfs.namelen == STAT_UNKNOWN)
		return false;
	want_begin(r);
	buf_addf(r->out, "(long)stfs.f_namelen == %" PRId64, value->statfs.namelen);
	return true;
}

/* The value of a success that is allowed, but was another one; false: that cannot be checked. */
static bool want_value(struct repro *r, const struct finding *f, const struct outcome *seen)
{
	const struct outcome *value = &f->discrepancy.value;

	switch (value->result) {
	case RESULT_NUM:
	case RESULT_PERM:
		want_begin(r);
		buf_addf(r->out, "result == %" PRId64, value->num);
		return true;
	case RESULT_BYTES:
	case RESULT_TARGET:
		return want_bytes(r, value);
	case RESULT_NAMES:
		return want_names(r, value);
	case RESULT_NAME:
		return want_name(r, value);
	case RESULT_STATFS:
		return want_statfs(r, value);
	case RESULT_STAT:
		return want_stat(r, value, seen, f->calls[f->count - 1].op == OP_statx);
	default:
		return false;
	}
}

void repro_check_outcome(struct repro *r, const struct finding *f)
{
	const struct outcome *seen = f->discrepancy.answered ? &f->discrepancy.answer
							     : finding_observed(f, f->count - 1);

	want_errors(r, f);
	if (!f->discrepancy.success_allowed || !seen || seen->error)
		return;
	if (want_value(r, f, seen))
		want_end(r, buf_str(&f->discrepancy.title));
	else if (!f->expects)
		repro_cannot_see(r, "a value that a program cannot compare");
}

static void put_info(struct repro *r, const char *path, const char *field)
{
	r->needs[HELPER_info] = true;
	buf_adds(r->out, "info(");
	repro_path(r, path);
	buf_addf(r->out, ").%s", field);
}

/* "name(path": the rest is the caller's. */
static void put_about(struct repro *r, const struct fact *fact, enum repro_helper helper,
		      const char *name)
{
	r->needs[helper] = true;
	buf_addf(r->out, "%s(", name);
	repro_path(r, fact->path);
}

/* One is there if it is listed, as the walk finds them. */
static void put_xattr(struct repro *r, const struct fact *fact)
{
	if (fact->absent) {
		put_about(r, fact, HELPER_lists_xattr, "!lists_xattr");
		buf_adds(r->out, ", ");
		c_string(fact->name, strlen(fact->name), r->out);
		buf_addch(r->out, ')');
		return;
	}
	put_about(r, fact, HELPER_has_xattr, "has_xattr");
	buf_adds(r->out, ", ");
	c_string(fact->name, strlen(fact->name), r->out);
	buf_adds(r->out, ", ");
	c_string(fact->bytes, fact->len, r->out);
	buf_addf(r->out, ", %zu)", fact->len);
}

/* How much of a name is not a number that its maker chooses each time: FUSE and NFS hide an
 * open file under such a name. */
static size_t name_before_number(const char *name)
{
	size_t len = strlen(name), end = len;

	while (len && strchr("0123456789abcdef", name[len - 1]))
		len--;
	return len && end - len >= NUMBER_DIGITS ? len : end;
}

/* A directory that gave a name twice holds a name that no object can have (tree/scan.c). */
static void put_extra(struct repro *r, const struct fact *fact)
{
	const char *twice = strstr(fact->path, "//twice");
	const char *slash = twice ? twice : strrchr(fact->path, '/');
	const char *name = slash ? slash + 1 : fact->path;
	size_t len = name_before_number(name);
	char *parent;

	if (!slash || (!twice && !name[len])) {
		put_about(r, fact, HELPER_listed, "!listed");
		buf_addch(r->out, ')');
		return;
	}
	parent = strndup(fact->path, (size_t)(slash - fact->path));
	r->needs[twice ? HELPER_lists_twice : HELPER_lists_numbered] = true;
	buf_adds(r->out, twice ? "!lists_twice(" : "!lists_numbered(");
	repro_path(r, parent && *parent ? parent : "/");
	if (!twice) {
		buf_adds(r->out, ", ");
		c_string(name, len, r->out);
	}
	buf_addch(r->out, ')');
	free(parent);
}

/* What the walk met at the object is met again, or is a loop, which only a walk meets. */
static bool put_readable(struct repro *r, const struct fact *fact)
{
	if (fact->call && !strcmp(fact->call, "walk"))
		return false;
	put_about(r, fact, HELPER_readable, "readable");
	buf_addch(r->out, ')');
	return true;
}

/* The path of what an entry of a directory names. */
static char *entry_object(const char *dir, const char *name)
{
	const char *slash = strrchr(dir, '/');
	struct buf path = BUF_INIT;

	if (!strcmp(name, "."))
		buf_adds(&path, dir);
	else if (!strcmp(name, ".."))
		buf_add(&path, dir, (size_t)(slash - dir));
	else
		buf_addf(&path, "%s/%s", dir[1] ? dir : "", name);
	if (!path.len)
		buf_addch(&path, '/');
	return path.data;
}

/* "listed_as(path, name).field" */
static void put_entry(struct repro *r, const struct fact *fact, const char *field)
{
	put_about(r, fact, HELPER_listed_as, "listed_as");
	buf_adds(r->out, ", ");
	c_string(fact->name, strlen(fact->name), r->out);
	buf_addf(r->out, ").%s", field);
}

static void put_entry_ino(struct repro *r, const struct fact *fact)
{
	char *object = entry_object(fact->path, fact->name);

	put_entry(r, fact, "d_ino");
	buf_adds(r->out, " == ");
	put_info(r, object, "st_ino");
	free(object);
}

static void put_entry_type(struct repro *r, const struct fact *fact)
{
	char *object = entry_object(fact->path, fact->name);

	put_entry(r, fact, "d_type");
	buf_adds(r->out, " == DT_UNKNOWN || ");
	put_entry(r, fact, "d_type");
	buf_adds(r->out, " == IFTODT(");
	put_info(r, object, "st_mode");
	buf_addch(r->out, ')');
	free(object);
}

/* A time compared with one that was read before the call needs a clock that has moved since: by two
 * units. Where that takes too long (FAT's access times have days), a time that has changed still
 * shows if it was another day's before, as after utimensat; one that was not set never does. */
enum { MS_PER_TICK = 20, WAIT_MS_MAX = 10 * 1000 };

static int64_t wait_ms(const struct fact *fact)
{
	int64_t units_ms = fact->unit_ns / 1000000 * 2;

	return MS_PER_TICK + (units_ms < WAIT_MS_MAX ? units_ms : 0);
}

static bool can_see_time(const struct fact *fact)
{
	if (fact->wrong == TIME_NOT_AS_GIVEN)
		return true;
	return fact->path_before &&
	       (fact->wrong != TIME_NOT_SET || fact->unit_ns / 1000000 * 2 < WAIT_MS_MAX);
}

void repro_look_before(struct repro *r, const struct finding *f)
{
	const struct fact *fact = f->discrepancy.facts;

	if (!f->discrepancy.fact_count || fact->kind != FACT_TIMES ||
	    fact->wrong == TIME_NOT_AS_GIVEN || !can_see_time(fact))
		return;
	r->needs[HELPER_stamp] = r->needs[HELPER_pass_time] = true;
	buf_addf(r->out, "\n\tpass_time(%" PRId64 ");\n\tlong long before = stamp(", wait_ms(fact));
	repro_path(r, fact->path_before);
	buf_addf(r->out, ", %u);\n\tpass_time(%" PRId64 ");\n", fact->time, wait_ms(fact));
}

static bool put_time(struct repro *r, const struct fact *fact)
{
	static const char *const comparisons[TIME_WRONGS] = {
		[TIME_NOT_SET] = ">", [TIME_CHANGED] = "==", [TIME_GONE_BACK] = ">="
	};

	if (!can_see_time(fact))
		return false;
	put_about(r, fact, HELPER_stamp, "stamp");
	if (fact->wrong == TIME_NOT_AS_GIVEN)
		buf_addf(r->out, ", %u) / %" PRId64 " == %" PRId64, fact->time, fact->unit_ns,
			 fact->given_ns / fact->unit_ns);
	else
		buf_addf(r->out, ", %u) %s before", fact->time, comparisons[fact->wrong]);
	return true;
}

/* The fact as an expression; false where there is none. */
static bool put_fact(struct repro *r, const struct fact *fact)
{
	switch (fact->kind) {
	case FACT_UNREADABLE:
		return put_readable(r, fact);
	case FACT_MISSING:
		put_about(r, fact, HELPER_listed, "listed");
		buf_addch(r->out, ')');
		return true;
	case FACT_EXTRA:
		put_extra(r, fact);
		return true;
	case FACT_TYPE:
		buf_addch(r->out, '(');
		put_info(r, fact->path, "st_mode");
		buf_addf(r->out, " & S_IFMT) == 0%o", fact->mode & S_IFMT);
		return true;
	case FACT_MODE:
		put_info(r, fact->path, "st_mode");
		buf_addf(r->out, " == 0%o", fact->mode);
		return true;
	case FACT_OWNER:
		put_info(r, fact->path, "st_uid");
		buf_addf(r->out, " == %u && ", fact->uid);
		put_info(r, fact->path, "st_gid");
		buf_addf(r->out, " == %u", fact->gid);
		return true;
	case FACT_NLINK:
		put_info(r, fact->path, "st_nlink");
		buf_addf(r->out, " == %u", fact->nlink);
		return true;
	case FACT_SIZE:
		put_info(r, fact->path, "st_size");
		buf_addf(r->out, " == %" PRIu64, fact->size);
		return true;
	case FACT_RDEV:
		put_info(r, fact->path, "st_rdev");
		buf_addf(r->out, " == %" PRIu64, fact->rdev);
		return true;
	case FACT_LINKS:
		put_info(r, fact->path, "st_ino");
		buf_addf(r->out, " %s ", fact->absent ? "!=" : "==");
		put_info(r, fact->name, "st_ino");
		return true;
	case FACT_DATA:
		put_about(r, fact, HELPER_has_bytes, "has_bytes");
		buf_addf(r->out, ", %" PRIu64 ", ", fact->offset);
		c_string(fact->bytes, fact->len, r->out);
		buf_addf(r->out, ", %zu)", fact->len);
		return true;
	case FACT_TARGET:
		put_about(r, fact, HELPER_has_target, "has_target");
		buf_adds(r->out, ", ");
		c_string(fact->bytes, fact->len, r->out);
		buf_addf(r->out, ", %zu)", fact->len);
		return true;
	case FACT_XATTR:
		put_xattr(r, fact);
		return true;
	case FACT_FLAGS:
		put_about(r, fact, HELPER_inode_flags, "inode_flags");
		buf_addf(r->out, ") == 0x%x", fact->flags);
		return true;
	case FACT_DOTS:
	case FACT_ENTRY_INO:
		put_entry_ino(r, fact);
		return true;
	case FACT_ENTRY_TYPE:
		put_entry_type(r, fact);
		return true;
	case FACT_TIMES:
		return put_time(r, fact);
	default:
		return false;
	}
}

/* "readable of /a: getxattr gave EIO" */
static void name_fact(const struct fact *fact, struct buf *out)
{
	buf_addf(out, "%s of %s", fact_names[fact->kind], fact->path);
	if (fact->kind >= FACT_DOTS && fact->kind <= FACT_ENTRY_TYPE)
		buf_addf(out, ", entry %s", fact->name);
	if (fact->by_name)
		buf_adds(out, " by this name");
	if (fact->kind == FACT_TIMES)
		buf_addf(out, ": the %s time %s", time_field_names[fact->time],
			 time_wrong_names[fact->wrong]);
	if (fact->call)
		buf_addf(out, ": %s gave %s", fact->call, errno_name(fact->error));
}

void repro_check_facts(struct repro *r, const struct finding *f)
{
	struct buf what = BUF_INIT, text = BUF_INIT, *out = r->out;

	buf_adds(out, "\n\t/* What should be so now. */\n");
	for (size_t i = 0; i < f->discrepancy.fact_count; i++) {
		buf_clear(&text);
		buf_clear(&what);
		name_fact(&f->discrepancy.facts[i], &what);
		r->out = &text;
		if (put_fact(r, &f->discrepancy.facts[i])) {
			r->out = out;
			want_begin(r);
			buf_adds(out, buf_str(&text));
			want_end(r, buf_str(&what));
		} else {
			r->out = out;
			repro_cannot_see(r, buf_str(&what));
		}
	}
	if (!f->discrepancy.fact_count)
		repro_cannot_see(r, buf_str(&f->discrepancy.title));
	buf_free(&text);
	buf_free(&what);
}
