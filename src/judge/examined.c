/* examined.c -- what fsck() and seek_space() found, as a discrepancy.
 *
 * The signature has the first complaint of the checker, or what is lost, without names and numbers:
 * "FSCK e2fsck Inode N, i_blocks is N, should be N.", "SPACE blocks". */
#include "judge/examined.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/checker.h"
#include "target/description.h"

bool examined_found(const struct call *c, const struct outcome *seen)
{
	if (c->op == OP_fsck)
		return seen->error == EUCLEAN;
	return c->op == OP_seek_space && !seen->error && seen->len;
}

static void examined_describe_fsck(const struct target *t, struct discrepancy *ret)
{
	const char *command = t->description->fsck;
	struct buf complaint = BUF_INIT;
	int name_len = (int)strcspn(command, " ");

	checker_complaint(buf_str(&t->report), buf_str(&t->fresh_report), &complaint);
	ret->code = PROBLEM_FSCK;
	snprintf(ret->signature, sizeof(ret->signature), "FSCK %.*s %s", name_len, command,
		 complaint.len ? complaint.data : "complains");
	buf_addf(&ret->title, "%.*s complains of what the calls leave on the disk: %s", name_len,
		 command, buf_str(&complaint));
	buf_addf(&ret->expected, "%s finds nothing", command);
	buf_addf(&ret->seen, "%s, on the disk as unmounting left it:\n%s", command,
		 buf_str(&t->report));
	buf_adds(&ret->rule, "What a clean unmount leaves on the disk is consistent.");
	buf_free(&complaint);
}

/* "2 blocks, 1 inodes" without the numbers. */
static void examined_describe_space(const struct target *t, struct discrepancy *ret)
{
	const char *lost = buf_str(&t->report);
	struct buf what = BUF_INIT;

	for (const char *at = lost; *at; at++)
		if (isalpha((unsigned char)*at) || *at == ',')
			buf_addf(&what, "%s%c", *at != ',' && at[-1] == ' ' && what.len ? " " : "",
				 *at);
	ret->code = PROBLEM_SPACE;
	snprintf(ret->signature, sizeof(ret->signature), "SPACE %s", buf_str(&what));
	buf_addf(&ret->title, "the calls lose space: %s", buf_str(&what));
	buf_adds(&ret->expected, "as much free space as before, once everything is removed");
	buf_addf(&ret->seen, "less each time the calls are repeated and everything is removed: %s",
		 lost);
	buf_adds(&ret->rule, "Space that a file took is free again when the file is gone.");
	buf_free(&what);
}

void examined_describe(const struct target *t, const struct call *c, struct discrepancy *ret)
{
	buf_clear(&ret->title);
	buf_clear(&ret->expected);
	buf_clear(&ret->seen);
	buf_clear(&ret->rule);
	ret->rule_count = 0;
	ret->call = call_copy(c, &ret->arena);
	ret->reach = REACH_OUTSIDE_POSIX;
	if (c->op == OP_fsck)
		examined_describe_fsck(t, ret);
	else
		examined_describe_space(t, ret);
}
