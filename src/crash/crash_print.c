/* crash_print.c -- a crash for people: its writes, the recovered tree, a script that shows it. */
#include <stdio.h>
#include <string.h>

#include "base/sha1.h"
#include "crash/crash_report.h"
#include "process/shell.h"
#include "storage/program.h"
#include "target/description.h"
#include "trace/script.h"
#include "tree/list.h"

static void add_call_line(const struct crash_case *c, size_t number, struct buf *out)
{
	if (!c->calls) {
		buf_addf(out, "---- mark %zu: %s\n", number, c->marks[number - 1]);
		return;
	}
	buf_addf(out, "---- call %zu returned: ", number);
	call_print(&c->calls[number - 1], DIALECT_NATIVE, out);
	buf_addch(out, '\n');
}

void crash_print_writes(const struct crash_case *c, const struct crash_point *p, struct buf *out)
{
	size_t returned = 0;

	buf_adds(out, "Disk requests in time, from the beginning to the crash.\n\n");
	for (size_t i = 0; i < p->at; i++) {
		while (returned < c->events.events[i].calls)
			add_call_line(c, ++returned, out);
		view_print_event(&c->events, p, i, out);
	}
	while (returned < p->done)
		add_call_line(c, ++returned, out);
	buf_adds(out, "**** crash");
	if (p->begun > p->done && c->calls) {
		buf_addf(out, ", during call %zu: ", p->begun);
		call_print(&c->calls[p->begun - 1], DIALECT_NATIVE, out);
	}
	buf_addch(out, '\n');
}

void crash_print_promise(const struct broken_promise *b, const struct call *calls, struct buf *out)
{
	if (!b->what)
		return;
	if (b->exposed) {
		buf_adds(out, "The file shows bytes that are not its own: old ones of the disk, or "
			      "those of another file.\n");
	} else if (b->call) {
		buf_addf(out, "Promise made by call %zu: ", b->call);
		call_print(&calls[b->call - 1], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

static void add_contents(const struct tree *t, const struct inode *inode, struct buf *out)
{
	struct sha1 sum = SHA1_INIT;
	char text[41], bytes[TREE_BLOCK];
	size_t len;

	for (uint64_t at = 0; (len = tree_read(t, inode->ino, at, bytes, sizeof(bytes))); at += len)
		sha1_add(&sum, bytes, len);
	sha1_print(&sum, text);
	buf_addf(out, " %s", text);
}

void crash_print_tree(const struct tree *t, struct buf *out)
{
	struct path_list list = { 0 };

	path_list_make(&list, t);
	for (size_t i = 1; i < list.count; i++) {
		const struct inode *inode = list.items[i].inode;
		bool file = S_ISREG(inode->mode);

		add_item_path(out, &list, i);
		buf_addf(out, " %s %o",
			 file                   ? "f"
			 : S_ISDIR(inode->mode) ? "d"
						: "o",
			 inode->mode & 07777);
		if (file) {
			buf_addf(out, " %llu", (unsigned long long)inode->size);
			add_contents(t, inode, out);
		}
		buf_addch(out, '\n');
	}
	path_list_free(&list);
}

void crash_print_look(struct buf *out)
{
	buf_adds(out,
		 "(cd \"$root\" && find . -mindepth 1 | LC_ALL=C sort | while read -r name; do\n"
		 "\tif [ -h \"$name\" ]; then kind=o; elif [ -f \"$name\" ]; then kind=f\n"
		 "\telif [ -d \"$name\" ]; then kind=d; else kind=o; fi\n"
		 "\tprintf '%s %s %s' \"${name#.}\" $kind \"$(stat -c %a \"$name\")\"\n"
		 "\t[ $kind != f ] || printf ' %s %s' \"$(stat -c %s \"$name\")\" \\\n"
		 "\t\t\"$(sha1sum <\"$name\" | cut -d' ' -f1)\"\n"
		 "\techo\n"
		 "done) >\"$work/here\"\n"
		 "LC_ALL=C sort recovered >\"$work/then\"\n"
		 "LC_ALL=C sort \"$work/here\" >\"$work/now\"\n"
		 "if cmp -s \"$work/then\" \"$work/now\"; then\n"
		 "\techo 'the same is wrong here:'\n"
		 "\tcat expected\n"
		 "\tresult=1\n"
		 "else\n"
		 "\techo 'something else was recovered:'\n"
		 "\tdiff \"$work/then\" \"$work/now\" || :\n"
		 "\tresult=0\n"
		 "fi\n");
}

void crash_print_script(const struct target *t, const struct crash_violation *v, struct buf *out)
{
	const struct target_description *d = t->description;
	const struct program_value image = { "image", "\"$image\"" };
	const char *repair = d->repair && *d->repair ? d->repair : d->repair_unmounted;
	bool refused = v->end == RECOVERY_REFUSED || (crash_violation_is_second(v) && !v->has_tree);

	buf_addf(
		out,
		"#!/bin/sh\n"
		"# Mounts the disk that the crash left (crashed.image) and compares what is there\n"
		"# with what was recovered when this was found (recovered). As root.\n"
		"# Exit status: 1 the same is wrong here, 0 it is not, 2 could not tell.\n"
		"cd \"$(dirname \"$0\")\" || exit 2\n");
	shell_add_work_directory(out, "umount \"$work/mnt\" 2>/dev/null; ");
	buf_adds(out,
		 "mkdir \"$work/mnt\" && cp --sparse=always crashed.image \"$work/image\" || exit "
		 "2\n");
	if (repair && (t->traits.crash_needs_fsck || v->end == RECOVERY_REPAIR_INTERRUPTED)) {
		buf_adds(out, "image=$work/image\n");
		program_fill(out, repair, &image, 1);
		buf_adds(out, " >\"$work/repair\" 2>&1\n");
	}
	buf_addf(out,
		 "if ! mount -t %s -o 'loop,%s' \"$work/image\" \"$work/mnt\"; then\n"
		 "\techo 'it cannot be mounted'\n"
		 "\texit %d\n"
		 "fi\n",
		 d->fs ? d->fs : "auto", d->options ? d->options : "defaults", refused ? 1 : 2);
	if (!v->has_tree) {
		buf_adds(out, "echo 'it can be mounted'\nexit 0\n");
		return;
	}
	buf_adds(out, "root=$work/mnt\n");
	/* A crash may have lost the directory that calls start in. */
	if (!d->image && !strcmp(d->kind, "fuse"))
		buf_adds(out, "[ -d \"$root/root\" ] && root=$root/root\n");
	else if (!d->image)
		buf_adds(out, "root=$root/root\nmkdir -p \"$root\" || exit 2\n");
	crash_print_look(out);
	buf_adds(out, "exit \"$result\"\n");
}
