/* repro_sh.c -- a finding as a shell script: makes the file system, then runs repro.c on it. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "judge/finding.h"
#include "target/description.h"

/* mkfs and the like name the image as {image}. */
static void put_command(const char *command, struct buf *out)
{
	const char *place;

	for (; (place = strstr(command, "{image}")); command = place + strlen("{image}")) {
		buf_add(out, command, (size_t)(place - command));
		buf_adds(out, "\"$image\"");
	}
	buf_adds(out, command);
}

static void put_image(const struct target_description *d, struct buf *out)
{
	const char *comma = d->options && *d->options ? "," : "";
	const char *options = d->options ? d->options : "";

	buf_adds(out, "work=$(mktemp -d)\nimage=$work/image\ndirectory=$work/mount\n");
	buf_addf(out, "trap 'umount \"$directory\"; rm -r \"$work\"' EXIT\n");
	buf_addf(out, "truncate -s %" PRIu64 " \"$image\"\n", d->image_size);
	put_command(d->mkfs, out);
	buf_addf(out, "\nmkdir \"$directory\"\nmount -t %s -o loop%s%s \"$image\" \"$directory\"\n",
		 d->fs, comma, options);
	buf_addf(out,
		 "export REMOUNT=\"umount $directory && mount -t %s -o loop%s%s $image "
		 "$directory\"\n",
		 d->fs, comma, options);
}

static void put_directory(const struct finding *f, struct buf *out)
{
	buf_addf(out,
		 "# Found on %s: its first operand is an empty directory there; $REMOUNT may hold\n"
		 "# a command that unmounts and mounts it again.\n"
		 "directory=${1:?an empty directory of the file system under test}\n",
		 buf_str(&f->target));
}

void finding_repro_sh(const struct finding *f, const struct target *t, struct buf *out)
{
	struct target_description d = { 0 };
	struct err err = { 0 };
	bool image;

	image = t && !strcmp(t->kind->name, "host") && !description_find(&d, t->name, NULL, &err) &&
		d.mkfs && d.fs;
	buf_adds(out, "#!/bin/sh\n# repro.sh -- runs repro.c; exit status 1 where the bug shows.\n"
		      "set -eu\ncd \"$(dirname \"$0\")\"\n");
	if (image)
		put_image(&d, out);
	else
		put_directory(f, out);
	buf_adds(out, "program=$(mktemp)\ncc -o \"$program\" repro.c\nstatus=0\n"
		      "\"$program\" \"$directory\" || status=$?\nrm \"$program\"\nexit $status\n");
	description_free(&d);
}
