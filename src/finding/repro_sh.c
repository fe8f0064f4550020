/* repro_sh.c -- a finding as a shell script: makes the file system as its target does, then runs
 * repro.c on it.
 *
 * What a target needs, made and unmade, mounted and unmounted, are functions of the script, which
 * calls itself to remount. Processes and mounts of the script end with it, by namespaces; what
 * would stay (flash memory in RAM, a loop device, a directory) is removed by a guard, which the
 * script starts before it makes anything and which notices its end. Whatever comes from outside
 * (names, options, commands) is data in single quotes; commands are run by a separate shell, as
 * targets run them. */
#include <inttypes.h>
#include <string.h>

#include "base/must.h"
#include "finding/finding.h"
#include "finding/repro.h"
#include "process/shell.h"
#include "target/description.h"
#include "target/disk.h"

enum { NAME_MAX_SHOWN = 200 };

/* {name} in a text means a variable of the script. */
static const struct shell_place {
	const char *name, *variable;
} places[] = {
	{ "{image}", "ASSAY_IMAGE" },
	{ "{device}", "ASSAY_DEVICE" },
	{ "{dir}", "ASSAY_DIR" },
	{ "{mount}", "ASSAY_MOUNT" },
};

static const struct shell_place *place_at(const char *text)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(text, places[i].name, strlen(places[i].name)))
			return &places[i];
	return NULL;
}

/* A command for `sh -c`: there the variables are expanded. */
static void put_command(const char *command, bool mounts, struct buf *out)
{
	struct buf text = BUF_INIT;
	const struct shell_place *place;

	for (const char *at = command; *at; at += place ? strlen(place->name) : 1) {
		place = place_at(at);
		if (place)
			buf_addf(&text, "\"$%s\"", place->variable);
		else
			buf_addch(&text, *at);
	}
	if (mounts && !strstr(command, "{mount}"))
		buf_adds(&text, " \"$ASSAY_MOUNT\"");
	shell_add_quoted(out, buf_str(&text), text.len);
	buf_free(&text);
}

/* One word: the variables stand between quoted pieces. A kernel in a process has its own root
 * directory, in which its options name directories. */
static void put_options(const char *options, bool in_process, struct buf *out)
{
	const struct shell_place *place;
	size_t len;

	for (const char *at = options; *at; at += len) {
		place = place_at(at);
		if (place) {
			len = strlen(place->name);
			buf_addf(out, "\"$%s\"", place->variable);
			continue;
		}
		for (len = 1; at[len] && at[len] != '{' && at[len - 1] != '='; len++)
			;
		shell_add_quoted(out, at, len);
		if (in_process && at[len - 1] == '=' && at[len] == '/')
			buf_adds(out, "\"$ASSAY_DIR\"");
	}
}

static void put_variable(const char *name, const char *value, struct buf *out)
{
	buf_addf(out, "%s=", name);
	shell_add_quoted(out, value, strlen(value));
	buf_addch(out, '\n');
}

/* Nothing is to be checked before, and nothing stays behind that the guard has to remove. */
static void put_no_guard(struct buf *out)
{
	buf_adds(out, "check_fs() {\n\t:\n}\nforget_fs() {\n\t:\n}\n");
}

static void put_image(const struct target_description *d, struct buf *out)
{
	buf_adds(out, "make_fs() {\n");
	buf_addf(out, "\ttruncate -s %" PRIu64 " \"$ASSAY_IMAGE\"\n\tsh -c ", d->image_size);
	put_command(d->mkfs, false, out);
	buf_addch(out, '\n');
}

/* An image in memory, which mount(8) attaches: its loop device goes with the mount. */
static void put_disk(const struct target_description *d, struct buf *out)
{
	put_image(d, out);
	buf_adds(out, "\tASSAY_DEVICE=$ASSAY_IMAGE\n}\nunmake_fs() {\n\t:\n}\n");
	put_no_guard(out);
}

/* The same with a loop device, for a daemon. Between its making and its detaching only the guard
 * knows of it, by its file. */
static void put_loop_device(const struct target_description *d, struct buf *out)
{
	put_image(d, out);
	buf_adds(out, "\tstat -c \"$(mountpoint -d \"$ASSAY_WORK\") %i\" \"$ASSAY_IMAGE\" >&8\n"
		      "\tASSAY_DEVICE=$(losetup --find --show \"$ASSAY_IMAGE\")\n"
		      "\t# Detached while it is open, it goes with the last who has it open.\n"
		      "\texec 7<\"$ASSAY_DEVICE\"\n"
		      "\tlosetup --detach \"$ASSAY_DEVICE\"\n}\n"
		      "unmake_fs() {\n\texec 7<&-\n}\n"
		      "check_fs() {\n\t:\n}\n"
		      "forget_fs() {\n"
		      "\tlosetup --list --noheadings --raw --output NAME,BACK-MAJ:MIN,BACK-INO |\n"
		      "\t\twhile read -r name file; do\n"
		      "\t\t\t[ \"$file\" != \"$said\" ] || losetup --detach \"$name\"\n"
		      "\t\tdone\n}\n");
}

/* Directories in memory, or nothing at all. */
static void put_no_disk(const struct target_description *d, struct buf *out)
{
	buf_adds(out, "make_fs() {\n\tASSAY_DEVICE=none\n");
	if (d->mkfs) {
		buf_adds(out, "\tsh -c ");
		put_command(d->mkfs, false, out);
		buf_addch(out, '\n');
	} else if (d->fs && !strcmp(d->fs, "overlay")) {
		buf_adds(out, "\tmkdir \"$ASSAY_DIR/lower\" \"$ASSAY_DIR/upper\" "
			      "\"$ASSAY_DIR/work\"\n");
	}
	buf_adds(out, "}\nunmake_fs() {\n\t:\n}\n");
	put_no_guard(out);
}

/* Flash memory in RAM, of the size that the kernel in the process has; UBI on it where wanted. What
 * another has made of mtdram is not ours to use. */
static void put_flash(bool ubi, struct buf *out)
{
	buf_adds(out, "check_fs() {\n"
		      "\tif [ -d /sys/module/mtdram ]; then\n"
		      "\t\techo 'cannot tell: the module mtdram is loaded already' >&2\n"
		      "\t\texit 2\n"
		      "\tfi\n}\n"
		      "forget_fs() {\n\tunmake_fs\n}\n"
		      "make_fs() {\n"
		      "\tmodprobe mtdram total_size=1024 erase_size=16\n"
		      "\tnumber=$(sed -n 's/^mtd\\([0-9]*\\):.*mtdram.*/\\1/p' /proc/mtd)\n");
	if (ubi)
		buf_adds(out, "\tmodprobe ubi\n"
			      "\tubiattach --mtdn=\"$number\" --devn=31\n"
			      "\tubimkvol /dev/ubi31 --name=all --maxavsize\n"
			      "\tASSAY_DEVICE=ubi31:all\n}\n"
			      "unmake_fs() {\n"
			      "\tubidetach --devn=31\n"
			      "\tmodprobe -r mtdram\n}\n");
	else
		buf_adds(out, "\tASSAY_DEVICE=mtd$number\n}\n"
			      "unmake_fs() {\n\tmodprobe -r mtdram\n}\n");
}

static void put_mount(const struct target_description *d, bool in_process, struct buf *out)
{
	buf_adds(out, "attach() {\n\tmodprobe -q -- ");
	shell_add_quoted(out, d->fs, strlen(d->fs));
	buf_adds(out, " 2>/dev/null || :\n\tmount -t ");
	shell_add_quoted(out, d->fs, strlen(d->fs));
	buf_addf(out, " -o %snosuid,nodev,noatime", disk_wanted(d) ? "loop," : "");
	if (d->options && *d->options) {
		buf_addch(out, ',');
		put_options(d->options, in_process, out);
	}
	buf_adds(out, " -- \"$ASSAY_DEVICE\" \"$ASSAY_MOUNT\"\n"
		      "\tmkdir -p \"$ASSAY_ROOT\"\n}\n"
		      "detach() {\n\tumount \"$ASSAY_MOUNT\"\n}\n");
}

/* The daemon may go into the background or not: what counts is the mount, and, at its end, the
 * process. */
static void put_daemon(const struct target_description *d, struct buf *out)
{
	buf_adds(out, "attach() {\n\tsh -c ");
	put_command(d->command ? d->command : d->argument, true, out);
	buf_adds(out, " </dev/null >\"$ASSAY_WORK/daemon.log\" 2>&1 7<&- 8>&- 9>&- &\n"
		      "\techo $! >\"$ASSAY_WORK/daemon.pid\"\n"
		      "\ttries=300\n"
		      "\tuntil mountpoint -q \"$ASSAY_MOUNT\"; do\n"
		      "\t\ttries=$((tries - 1))\n"
		      "\t\tif [ $tries = 0 ]; then\n"
		      "\t\t\tcat \"$ASSAY_WORK/daemon.log\" >&2\n"
		      "\t\t\treturn 1\n"
		      "\t\tfi\n"
		      "\t\tsleep 0.1\n"
		      "\tdone\n"
		      "\tmkdir -p \"$ASSAY_ROOT\"\n}\n");
	buf_adds(out, "detach() {\n\tumount \"$ASSAY_MOUNT\"\n"
		      "\tpid=$(cat \"$ASSAY_WORK/daemon.pid\")\n"
		      "\ttries=50\n"
		      "\twhile [ $tries -gt 0 ] && kill -0 \"$pid\" 2>/dev/null; do\n"
		      "\t\ttries=$((tries - 1))\n"
		      "\t\tsleep 0.1\n"
		      "\tdone\n}\n");
}

/* The program calls this to have the disk checked. */
static void put_check(const struct target_description *d, struct buf *out)
{
	buf_adds(out, "# The program calls this to unmount, check and mount.\n"
		      "if [ \"${1-}\" = --check ]; then\n"
		      "\tdetach\n\tstatus=0\n\tsh -c ");
	put_command(d->fsck, false, out);
	buf_adds(out, " || status=$?\n\tattach\n\tfor bad in ");
	buf_adds(out, d->fsck_bad ? d->fsck_bad : "");
	buf_adds(out, "; do\n\t\t[ \"$status\" != \"$bad\" ] || exit 1\n\tdone\n\texit 0\nfi\n"
		      "export CHECK='sh \"$ASSAY_SCRIPT\" --check'\n");
}

static const char script_begin[] =
	"# The program calls this to remount.\n"
	"if [ \"${1-}\" = --remount ]; then\n"
	"	detach\n"
	"	attach\n"
	"	exit 0\n"
	"fi\n"
	"\n"
	"# The guard: waits until no process of the script is left. It keeps the mounts until "
	"then:\n"
	"# a daemon that was killed with the last of them would wait for itself to unmount.\n"
	"if [ \"${1-}\" = --guard ]; then\n"
	"	trap '' HUP INT TERM\n"
	"	said=\n"
	"	while read -r line; do\n"
	"		said=$line\n"
	"	done\n"
	"	umount --recursive --lazy \"$ASSAY_WORK\" 2>/dev/null || :\n"
	"	tries=50\n"
	"	while [ \"$said\" != ended ] && [ $tries -gt 0 ] && ! forget_fs; do\n"
	"		tries=$((tries - 1))\n"
	"		sleep 0.1\n"
	"	done\n"
	"	rm -f \"$ASSAY_WORK/alive\"\n"
	"	rmdir \"$ASSAY_WORK\" 2>/dev/null || :\n"
	"	exit 0\n"
	"fi\n"
	"\n"
	"if [ \"$(id -u)\" != 0 ]; then\n"
	"	echo 'cannot tell: making and mounting the file system needs root' >&2\n"
	"	exit 2\n"
	"fi\n"
	"# In separate namespaces: whatever ends this script, its processes and mounts go with "
	"it.\n"
	"if [ -z \"${ASSAY_PRIVATE-}\" ]; then\n"
	"	check_fs\n"
	"	ASSAY_PRIVATE=mounts exec unshare --mount --propagation private sh "
	"\"$ASSAY_SCRIPT\"\n"
	"fi\n"
	"if [ \"$ASSAY_PRIVATE\" = mounts ]; then\n"
	"	ASSAY_WORK=$(mktemp -d)\n"
	"	export ASSAY_WORK\n"
	"	mkfifo \"$ASSAY_WORK/alive\"\n"
	"	exec 8<>\"$ASSAY_WORK/alive\"\n"
	"	setsid sh \"$ASSAY_SCRIPT\" --guard <\"$ASSAY_WORK/alive\" >/dev/null 2>&1 8>&- &\n"
	"	ASSAY_PRIVATE=yes exec unshare --pid --fork --kill-child sh \"$ASSAY_SCRIPT\"\n"
	"fi\n"
	"result=2 # unless the program says more\n"
	"ASSAY_MOUNT=$ASSAY_WORK/mount\n"
	"ASSAY_DIR=$ASSAY_WORK/back\n"
	"ASSAY_IMAGE=$ASSAY_WORK/image\n"
	"ASSAY_DEVICE=\n"
	"ASSAY_ROOT=$ASSAY_MOUNT/assay-repro-${ASSAY_WORK##*.}\n"
	"clean_up() {\n"
	"	trap - EXIT\n"
	"	set +e\n"
	"	if mountpoint -q \"$ASSAY_MOUNT\"; then\n"
	"		rm -rf \"$ASSAY_ROOT\"\n"
	"		detach\n"
	"	fi\n"
	"	unmake_fs\n"
	"	umount --lazy \"$ASSAY_WORK\"\n"
	"	echo ended >&8\n"
	"	rm -f \"$ASSAY_WORK/alive\"\n"
	"	rmdir \"$ASSAY_WORK\"\n"
	"	exit \"$result\"\n"
	"}\n"
	"mount -t tmpfs -o mode=0755 assay-repro \"$ASSAY_WORK\"\n"
	"trap clean_up EXIT\n"
	"trap 'exit 2' HUP INT TERM\n"
	"mkdir \"$ASSAY_MOUNT\" \"$ASSAY_DIR\"\n"
	"export ASSAY_SCRIPT ASSAY_MOUNT ASSAY_DIR ASSAY_IMAGE ASSAY_DEVICE ASSAY_ROOT\n"
	"cc -o \"$ASSAY_WORK/program\" \"${ASSAY_SCRIPT%.sh}.c\"\n"
	"make_fs\n"
	"attach\n"
	"result=0\n";

static const char script_end[] =
	"\"$ASSAY_WORK/program\" \"$ASSAY_ROOT\" 'sh \"$ASSAY_SCRIPT\" --remount' "
	"7<&- 8>&- || result=$?\n";

/* In a directory that is there: the target's own, or the script's first argument. */
static void put_directory(const char *path, struct buf *out)
{
	if (path) {
		put_variable("parent", path, out);
		buf_adds(out, "parent=${1:-$parent}\n");
	} else {
		buf_adds(out, "parent=${1:?a directory of the file system under test}\n");
	}
	buf_adds(out, "# A second argument may be a command that unmounts and mounts it again.\n"
		      "result=2\n"
		      "program=$(mktemp)\n"
		      "directory=$(mktemp -d \"$parent/assay-repro.XXXXXX\")\n"
		      "chmod 755 \"$directory\"\n"
		      "trap 'rm -rf \"$directory\" \"$program\"; exit \"$result\"' EXIT\n"
		      "trap 'exit 2' HUP INT TERM\n"
		      "cc -o \"$program\" repro.c\n"
		      "result=0\n"
		      "\"$program\" \"$directory\" ${2+\"$2\"} || result=$?\n");
}

/* Everything that makes and mounts; false where that is not known. */
static bool put_target(const struct target *t, const struct target_description *d, struct buf *out)
{
	bool in_process = !strcmp(t->kind->name, "kernel");
	bool ubi = d->source && !strncmp(d->source, "ubi", 3);

	if (!strcmp(t->kind->name, "fuse")) {
		if (disk_wanted(d) && d->command && strstr(d->command, "{device}"))
			put_loop_device(d, out);
		else if (disk_wanted(d))
			put_disk(d, out);
		else
			put_no_disk(d, out);
		put_daemon(d, out);
		return true;
	}
	if (!d->fs || (!in_process && strcmp(t->kind->name, "host")))
		return false;
	if (ubi || (d->source && !strncmp(d->source, "mtd", 3)))
		put_flash(ubi, out);
	else if (disk_wanted(d))
		put_disk(d, out);
	else
		put_no_disk(d, out);
	put_mount(d, in_process, out);
	return true;
}

static void put_head(const char *name, const struct finding *f, struct buf *out)
{
	buf_addf(out,
		 "#!/bin/sh\n"
		 "# %s.sh -- makes the file system and runs %s.c on it.\n"
		 "#\n# Exit status: 1 if the bug shows, 0 if it does not, 2 if the calls "
		 "before it went "
		 "differently.\n# Found on: ",
		 name, name);
	repro_comment(buf_str(&f->target), NAME_MAX_SHOWN, out);
	buf_adds(out,
		 "\n#\n# shellcheck disable=SC2016 # what is quoted is data, or for another shell\n"
		 "set -eu\ncd \"$(dirname \"$0\")\"\n\n");
}

/* Up to where the program is to be run. */
static void put_begin(const char *name, struct buf *out)
{
	buf_addf(out, "\nASSAY_SCRIPT=$PWD/%s.sh\n%s", name, script_begin);
}

void finding_repro_sh(const struct finding *f, const struct target *t, struct buf *out)
{
	const struct target_description *d = t ? t->description : NULL;

	put_head("repro", f, out);
	if (d && t->kind->in_process) {
		buf_adds(out, "echo 'cannot tell: a file system inside Assay serves no programs; "
			      "use assay replay' >&2\nexit 2\n");
		return;
	}
	if (d && d->content) {
		buf_adds(out, "echo 'cannot tell: something has to lie below the file system "
			      "(README.md); use assay replay' >&2\nexit 2\n");
		return;
	}
	if (d && put_target(t, d, out)) {
		if (f->discrepancy.code == PROBLEM_FSCK && d->fsck)
			put_check(d, out);
		put_begin("repro", out);
		buf_adds(out, script_end);
	} else {
		put_directory(d && !strcmp(t->kind->name, "dir") ? d->argument : NULL, out);
	}
}

/* The daemon: what has /dev/fuse open in our PID namespace, in which it has another number than in
 * /proc. */
static const char script_kill[] =
	"kill_fs() {\n"
	"	for process in /proc/[0-9]*; do\n"
	"		space=$(readlink \"$process/ns/pid\" 2>/dev/null) || continue\n"
	"		[ \"$space\" = \"$(readlink /proc/self/ns/pid)\" ] || continue\n"
	"		find \"$process/fd\" -lname /dev/fuse 2>/dev/null | grep -q . || continue\n"
	"		kill -KILL \"$(sed -n 's/^NSpid:.*[[:space:]]//p' \"$process/status\")\" "
	"|| :\n"
	"	done\n"
	"}\n"
	"# The program calls this with its files open.\n"
	"if [ \"${1-}\" = --kill ]; then\n"
	"	kill_fs\n"
	"	exit 0\n"
	"fi\n";

static const char script_restart[] =
	"\"$ASSAY_WORK/program\" \"$ASSAY_ROOT\" 'sh \"$ASSAY_SCRIPT\" --remount' "
	"'sh \"$ASSAY_SCRIPT\" --kill' 7<&- 8>&- || result=$?\n"
	"[ \"$result\" = 0 ] || exit\n"
	"result=2\n"
	"umount --lazy \"$ASSAY_MOUNT\"\n"
	"if ! attach; then\n"
	"	echo 'the daemon does not start again'\n"
	"	result=%d\n"
	"	exit\n"
	"fi\n";

bool finding_crash_sh(const struct finding *f, const struct target *t, const char *look,
		      struct buf *out)
{
	if (strcmp(t->kind->name, "fuse"))
		return false;
	put_head("crash", f, out);
	must(put_target(t, t->description, out));
	buf_adds(out, script_kill);
	put_begin("crash", out);
	buf_addf(out, script_restart, f->discrepancy.code == PROBLEM_RECOVERY ? 1 : 2);
	buf_adds(out, look);
	return true;
}
