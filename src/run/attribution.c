/* attribution.c -- whose a complaint of the kernel's is: by device, process or call trace. */
#include "run/attribution.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

/* Where a complaint names the process that was running. */
static const char *const task_forms[] = {
	"PID: ([0-9]+)",              /* CPU: 1 UID: 0 PID: 42 Comm: cat Not tainted */
	", CPU#[0-9]+: .*/([0-9]+)$", /* WARNING: fs/a.c:1 at f+0x1/0x2, CPU#1: cat/42 */
	"INFO: task .*:([0-9]+) (<.*> )?blocked", /* INFO: task cat:42 blocked for more than */
	"stuck for .*\\[.*:([0-9]+)\\]",          /* soft lockup - CPU#1 stuck for 26s! [cat:42] */
	" by task .*/([0-9]+)$",        /* KASAN: Read of size 8 at addr ... by task cat/42 */
	", pid: ([0-9]+), name: ",      /* in_atomic(): 1, ..., pid: 42, name: cat */
	"while atomic: .*/([0-9]+)/0x", /* BUG: scheduling while atomic: cat/42/0x00000002 */
	"/([0-9]+) is (trying|releasing|freeing|exiting|leaving)", /* lockdep: cat/42 is trying to
								    */
};

/* Kernel threads, which run for no process. */
static const char *const kernel_threads[] = { "kworker/", "ksoftirqd/", "swapper/", "rcu",
					      "kswapd",   "khugepaged", "kcompactd" };

/* Functions of a file system begin with its name, but for these. */
static const struct {
	const char *fs, *prefix;
} code_names[] = {
	{ "tmpfs", "shmem_" }, { "overlay", "ovl_" }, { "vfat", "fat_" },     { "msdos", "fat_" },
	{ "ext4", "jbd2_" },   { "ext3", "ext4_" },   { "ext2", "ext4_" },    { "xfs", "xlog_" },
	{ "ntfs3", "ntfs_" },  { "ntfs3", "ni_" },    { "fuseblk", "fuse_" },
};

/* The locks that others hold at the time, which a hung task has the kernel list. */
static const char bystanders[] = "Showing all locks held";

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

/* Does it stand there by itself? "loop1" does not in "loop12". */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; len && (at = strstr(at, word)); at++)
		if ((at == text || !is_word_char(at[-1])) &&
		    (!is_word_char(at[len]) || at[len] == ':'))
			return true;
	return false;
}

static bool names_device(const struct kernel_ours *ours, const char *text)
{
	const struct buf *words = &ours->devices;

	for (size_t at = 0; at < words->len; at += strlen(words->data + at) + 1)
		if (has_word(text, words->data + at))
			return true;
	return false;
}

static bool is_ours(const struct kernel_ours *ours, pid_t pid)
{
	for (size_t i = 0; i < ours->pid_count; i++)
		if (ours->pids[i] == pid)
			return true;
	return false;
}

/* Any process that the text names in this form. */
static bool names_pid(const struct kernel_ours *ours, const char *form, const char *text)
{
	regmatch_t match[2];
	regex_t regex;
	bool ours_too = false;

	must(!regcomp(&regex, form, REG_EXTENDED | REG_NEWLINE));
	while (!ours_too && !regexec(&regex, text, ARRAY_LEN(match), match, 0)) {
		ours_too = is_ours(ours, (pid_t)strtol(text + match[1].rm_so, NULL, 10));
		text += match[0].rm_eo;
	}
	regfree(&regex);
	return ours_too;
}

static bool names_process(const struct kernel_ours *ours, const char *text)
{
	if (has_word(text, ours->comm))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(task_forms); i++)
		if (names_pid(ours, task_forms[i], text))
			return true;
	return false;
}

/* Functions in a trace: behind a blank, a question mark or "RIP: 0010:", with an offset. */
static bool names_function(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	for (const char *at = text; (at = strstr(at, prefix)); at += len) {
		const char *name = at, *end = at + len;

		while (name > text && name[-1] == '_')
			name--;
		while (is_word_char(*end) || *end == '.')
			end++;
		if ((name == text || !is_word_char(name[-1]) || name[-1] == ':') &&
		    !strncmp(end, "+0x", 3))
			return true;
	}
	return false;
}

static bool names_code(const char *fs, const char *text)
{
	struct buf prefix = BUF_INIT;
	bool found;

	buf_addf(&prefix, "%s_", fs);
	found = names_function(text, prefix.data);
	buf_free(&prefix);
	for (size_t i = 0; i < ARRAY_LEN(code_names) && !found; i++)
		found = !strcmp(fs, code_names[i].fs) && names_function(text, code_names[i].prefix);
	return found;
}

/* Was it a thread of the kernel's? Those of a file system bear its name: "btrfs-cleaner". */
static bool is_kernel_thread(const char *fs, const char *text)
{
	const char *comm = strstr(text, " Comm: ");

	if (!comm)
		return false;
	comm += strlen(" Comm: ");
	for (size_t i = 0; i < ARRAY_LEN(kernel_threads); i++)
		if (!strncmp(comm, kernel_threads[i], strlen(kernel_threads[i])))
			return true;
	return !strncmp(comm, fs, strlen(fs)) && strchr("-/_", comm[strlen(fs)]);
}

/* Watchdogs look from an interrupt at whom it interrupts: those do mean the process. */
static bool in_interrupt(enum kernel_alarm alarm, const char *text)
{
	return alarm != ALARM_LOCKUP && strstr(text, "<IRQ>");
}

static enum attribution attribute(const struct kernel_ours *ours, enum kernel_alarm alarm,
				  const char *text)
{
	bool interrupt = in_interrupt(alarm, text);

	if (names_device(ours, text))
		return ATTRIBUTION_DEVICE;
	/* A file system that is damaged says which; ours is not another one that we use. */
	if (alarm == ALARM_CORRUPTION && ours->devices.len)
		return ATTRIBUTION_NONE;
	if (!interrupt && names_process(ours, text))
		return ATTRIBUTION_PROCESS;
	if (ours->fs && ours->alone && (interrupt || is_kernel_thread(ours->fs, text)) &&
	    names_code(ours->fs, text))
		return ATTRIBUTION_CODE;
	return ATTRIBUTION_NONE;
}

enum attribution attribution_of(const struct kernel_ours *ours, enum kernel_alarm alarm,
				const char *text)
{
	const char *end = strstr(text, bystanders);
	enum attribution whose;
	char *own;

	if (!end)
		return attribute(ours, alarm, text);
	own = must_strdup(text);
	own[end - text] = '\0';
	whose = attribute(ours, alarm, own);
	free(own);
	return whose;
}
