// SPDX-License-Identifier: GPL-2.0
/* agent.c -- carries out what the checker asks, inside the kernel under test.
 *
 * Its calls, here as in syscall and in the scans of trees, are calls of that kernel (guest.c). The
 * file system is mounted below the first root, and a directory in it becomes the root. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"
#include "channel/server.h"
#include "flash.h"
#include "kernel/driver/assay.h"
#include "kmemleak.h"
#include "leaks.h"
#include "program.h"
#include "race.h"
#include "slot.h"
#include "storage/remove_tree.h"
#include "tasks.h"
#include "tree/scan.h"

enum {
	ROOT_MODE = 0755,
	LATE_MS = 60 * 1000, /* after which nothing is still to be written or given back */
};

/* From one call to the next. Virtual time does not pass between them, and all calls would set
 * the same time. More than the unit of any file system but FAT; all digits of a time change. */
static const long call_ns = 2001000003;

/* For overlayfs: the first root is in memory. */
static const char *const layers[] = { "/lower", "/upper", "/work" };

static const struct assay_faults no_faults;
static const char mount_path[] = "/fs", root_path[] = "/fs/root", root_name[] = "/root";
static const char flash_source[] = "ubi0:" FLASH_VOLUME;
static const char control_path[] = "/proc/sys/vm/drop_caches";

static struct agent {
	struct kernel_shm *shm;
	struct channel_server server;
	struct scanner *scanner;
	struct tasks *tasks;
	struct leaks *leaks;
	struct assay_faults faults; /* that the next call meets */
	int root_fd;                /* of the file system; -1: not mounted */
	int outside_fd;             /* the first root */
	int drop_fd;                /* the control of caches */
	int kmemleak_fd;            /* -1: there is none */
} agent;

static struct kernel_shm *kernel_shm_of(struct agent *a)
{
	if (!a->shm)
		a->shm = slot_enter();
	if (!a->shm)
		assay_failed("there is no shared memory");
	return a->shm;
}

/* What a kernel logs that has found an error in itself. */
static bool is_alarm(const char *text, unsigned int len)
{
	static const char *const alarms[] = {
		"WARNING: ",       "BUG: ",          "UBSAN: ",
		"INFO: possible ", "kernel BUG at ", "memory leak of ",
	};

	for (size_t i = 0; i < ARRAY_LEN(alarms); i++)
		if (memmem(text, len, alarms[i], strlen(alarms[i])))
			return true;
	return false;
}

/* The first to come: the kernel speaks before it does anything. */
void assay_agent_console(const char *text, unsigned int len)
{
	struct kernel_shm *shm = kernel_shm_of(&agent);
	uint32_t room;

	shm->message.alarm |= is_alarm(text, len);
	room = KERNEL_SHM_CONSOLE_MAX - 1 - shm->console_len;
	if (len > room)
		len = room;
	memcpy(shm->console + shm->console_len, text, len);
	shm->console_len += len;
	shm->console[shm->console_len] = '\0';
}

static int agent_mount(const struct agent *a, struct err *err)
{
	/* The kernel takes a whole page of options. */
	static _Alignas(4096) char options[4096];

	memcpy(options, a->shm->options, sizeof(a->shm->options));
	if (mount(a->shm->source, mount_path, a->shm->fs, 0, options))
		return err_sys(err, errno, "cannot mount %s", a->shm->fs);
	return 0;
}

static const char *agent_root(const struct agent *a)
{
	return a->shm->whole ? mount_path : root_path;
}

/* Calls start in this directory, which is made if need be. */
static int agent_enter(struct agent *a, const char *root, struct err *err)
{
	umask(0);
	if (mkdir(root, ROOT_MODE) && errno != EEXIST)
		return err_sys(err, errno, "cannot make a directory in the file system");
	a->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->root_fd < 0 || fchdir(a->root_fd) || chroot("."))
		return err_sys(err, errno, "cannot enter the directory for the test");
	if (tasks_enter(a->tasks, a->root_fd))
		return err_sys(err, ENOMEM, "cannot make processes");
	return 0;
}

/* Nothing of ours is in the file system then. */
static int agent_leave(struct agent *a)
{
	tasks_leave(a->tasks);
	if (fchdir(a->outside_fd) || chroot("."))
		return -errno;
	close(a->root_fd);
	a->root_fd = -1;
	return 0;
}

static int agent_attach(struct agent *a, struct err *err)
{
	static char below[KERNEL_SHM_TEXT_MAX + sizeof(root_name)];
	int error;

	if (a->shm->below[0]) {
		snprintf(below, sizeof(below), "%s%s", a->shm->below, root_name);
		return agent_enter(a, below, err);
	}
	/* From below, where something was made before. */
	error = a->root_fd >= 0 ? agent_leave(a) : 0;
	if (error)
		return err_sys(err, -error, "cannot leave the directory below");
	error = agent_mount(a, err);
	return error ? error : agent_enter(a, agent_root(a), err);
}

static int agent_unmount(void)
{
	return umount2(mount_path, 0) ? -errno : 0;
}

static int agent_detach(struct agent *a)
{
	int error = agent_leave(a);

	return error ? error : agent_unmount();
}

static int agent_remount(struct agent *a)
{
	mode_t mask = umask(0);
	int busy = agent_detach(a), error = busy ? 0 : agent_attach(a, NULL);

	umask(mask);
	return busy ? -busy : -error;
}

static int agent_remount_for_program(void *own)
{
	int busy = agent_unmount();

	return -(busy ? busy : agent_mount(own, NULL));
}

/* The program on the channel sees what a test sees, from outside its root. */
static int agent_run_program(struct agent *a, struct err *err)
{
	struct program_host host = { a, a->shm->keeps ? agent_remount_for_program : NULL };
	int error = a->root_fd < 0 ? -EIO : agent_leave(a);

	if (error)
		return err_sys(err, -error, "the file system is not there");
	return program_run_here(&a->shm->message, agent_root(a), &host, err);
}

/* Clean pages, names and inodes; what is dirty stays. */
static int agent_drop_caches(struct agent *a)
{
	return write(a->drop_fd, "3", 1) == 1 ? 0 : errno;
}

static int agent_advance_time(const struct call *c)
{
	int64_t ms = c->advance_time.duration.num;

	if (ms < 0 || ms > ADVANCE_MAX_MS)
		return EINVAL;
	assay_unwatch();
	assay_sleep_ms((unsigned long)ms);
	return 0;
}

/* Waits for the next call. */
static int fail_nth(struct assay_faults *faults, unsigned kind, const struct arg *nth)
{
	unsigned *number = faults->number[kind];

	if (nth->num < 1 || nth->num > UINT16_MAX)
		return EINVAL;
	if (number[0] && number[1])
		return EBUSY;
	number[number[0] != 0] = (unsigned)nth->num;
	faults->any = true;
	return 0;
}

static int agent_call(struct agent *a, const struct call *c, struct outcome *ret, struct err *err);

static bool leaks_begin_round(void *own)
{
	struct agent *a = own;

	atomic_fetch_add(&a->shm->message.progress, 1);
	assay_watch();
	return !agent_attach(a, NULL);
}

static void leaks_call_again(void *own, const struct call *c)
{
	struct outcome outcome;

	agent_call(own, c, &outcome, NULL);
}

/* Memory that is freed late is freed then. */
static bool leaks_end_round(void *own)
{
	struct agent *a = own;

	a->faults = no_faults;
	assay_watch();
	if (remove_tree_below(a->root_fd, NULL) || agent_detach(a))
		return false;
	assay_unwatch();
	assay_sleep_ms(LATE_MS);
	agent_drop_caches(a);
	assay_settle();
	return true;
}

/* By a copy of this kernel. If it dies of it, its last words are an alarm, too. A call may have to
 * wait for ever where it did not before, since another one answers otherwise now. */
static int agent_seek_leaks(struct agent *a, struct err *err)
{
	struct leaks_cycle cycle = { a, leaks_begin_round, leaks_call_again, leaks_end_round };
	struct buf growth = BUF_INIT;
	int child = assay_host_child(), code;

	a->faults = no_faults;
	if (child < 0)
		return err_sys(err, -child, "cannot copy the kernel");
	if (child) {
		code = assay_host_wait(child);
		a->shm->message.alarm |= code != 0 && code != ASSAY_EXIT_DEADLOCK;
		return 0;
	}
	kmemleak_forget(a->kmemleak_fd);
	if (!agent_detach(a))
		leaks_seek(a->leaks, &cycle, &growth);
	if (growth.len) {
		assay_warn(growth.data);
		kmemleak_report(a->kmemleak_fd);
	}
	assay_host_exit(0);
}

/* An errno as the call's outcome. */
static int agent_change_environment(struct agent *a, const struct call *c)
{
	switch (c->op) {
	case OP_fail_alloc:
		return fail_nth(&a->faults, ASSAY_FAULT_ALLOC, &c->fail_alloc.nth);
	case OP_fail_read:
		return fail_nth(&a->faults, ASSAY_FAULT_READ, &c->fail_read.nth);
	case OP_fail_write:
		return fail_nth(&a->faults, ASSAY_FAULT_WRITE, &c->fail_write.nth);
	default:
		a->faults = no_faults;
	}
	switch (c->op) {
	case OP_remount:
		return a->shm->keeps ? agent_remount(a) : ENOSYS;
	case OP_drop_caches:
		return agent_drop_caches(a);
	case OP_advance_time:
		return agent_advance_time(c);
	default:
		return ENOSYS;
	}
}

/* What waits to fail is met by the call, not by what comes behind it. */
static int agent_call_process(struct agent *a, const struct call *c, struct outcome *ret,
			      struct err *err)
{
	int failed;

	if (!(op_table[c->op].traits & TRAIT_PROC))
		assay_faults_arm(&a->faults);
	a->faults = no_faults;
	failed = tasks_call(a->tasks, c, ret, err);
	assay_faults_arm(&no_faults);
	return failed;
}

/* The step that is being made has come to so many new points of code. */
static void agent_report_new_code(struct agent *a, uint32_t points)
{
	struct code_map *code = &a->shm->code;

	if (points && code->new_coverage_count < NEW_COVERAGE_MAX)
		code->new_coverage[code->new_coverage_count++] = (struct new_coverage){
			atomic_load(&a->shm->message.progress) - code->first_step,
			points,
		};
}

static int agent_call(struct agent *a, const struct call *c, struct outcome *ret, struct err *err)
{
	uint32_t reached = a->shm->code.count;
	int failed = 0;

	assay_move_clock(call_ns);
	assay_watch();
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	if (c->op == OP_seek_leaks)
		failed = agent_seek_leaks(a, err);
	else if (op_table[c->op].traits & TRAIT_ENV)
		ret->error = agent_change_environment(a, c);
	else
		failed = agent_call_process(a, c, ret, err);
	assay_settle();
	assay_medium_mark();
	assay_unwatch();
	agent_report_new_code(a, a->shm->code.count - reached);
	return failed;
}

static int agent_make_call(void *own, const struct call *c, struct outcome *ret, struct err *err)
{
	struct agent *a = own;

	if (c->op != OP_seek_leaks)
		leaks_note(a->leaks, c);
	return agent_call(a, c, ret, err);
}

/* Memory and files that a scan lacks are lacking in the kernel under test: its answer, not ours. */
static int agent_scan(void *own, struct tree *ret, struct err *err)
{
	struct agent *a = own;

	return tree_scan(a->scanner, a->root_fd, ret, err) ? -EIO : 0;
}

static bool agent_is_attached(void *own)
{
	const struct agent *a = own;

	return a->root_fd >= 0;
}

/* A kernel that dies takes us with it. */
static bool agent_is_gone(void *own)
{
	return false;
}

/* The pages on the channel, in place of those of the image. */
static int agent_load_pages(struct agent *a, struct err *err)
{
	const struct message *m = &a->shm->message;
	const struct disk_page *pages = (const struct disk_page *)m->channel.data.at;
	int error = 0;

	for (size_t i = 0; i < m->page_count && !error; i++)
		error = assay_medium_load(pages[i].page, pages[i].bytes);
	if (!error && a->shm->records)
		error = assay_medium_note_reads(a->shm->read_sectors, KERNEL_SHM_SECTORS_MAX);
	return error ? err_sys(err, -error, "cannot load these pages of the disk") : 0;
}

static int agent_begin_recording(struct agent *a, struct err *err)
{
	int error = a->shm->records ? assay_medium_record() : 0;

	assay_coverage_begin(a->shm->code.bits, CODE_BITS_MAX, &a->shm->code.count);
	return error ? err_sys(err, -error, "cannot record what is written") : 0;
}

/* For the first time: UBI takes the flash memory only where its volume is to be mounted, since what
 * it keeps in memory is copied with every state. */
static int agent_start_up(struct agent *a, struct err *err)
{
	int error = strcmp(a->shm->source, flash_source) ? 0 : flash_attach(a->shm->blank, err);

	return error ? error : agent_attach(a, err);
}

static void agent_hand_over_record(struct channel *c)
{
	unsigned long size;
	const void *record = assay_medium_recorded(&size);

	if (!record || !channel_fill(&c->data, record, size))
		c->failure = err_set(&c->err, E2BIG, "nothing is recorded, or too much");
}

/* Unmounts, and hands over the pages of the disk that are not as in the first image. For a copy of
 * the kernel: it has no file system any more. */
static void agent_hand_over_disk(struct agent *a, struct channel *c)
{
	char *at = c->data.at, *end = at + c->data.max;
	unsigned long page = 0;
	const void *bytes;

	a->faults = no_faults;
	a->shm->message.disk_error = a->root_fd < 0 ? EIO : -agent_detach(a);
	assay_settle();
	for (; (bytes = assay_medium_changed(&page)); page++) {
		struct disk_page *to = (struct disk_page *)at;

		if ((size_t)(end - at) < sizeof(*to)) {
			c->failure = err_set(&c->err, E2BIG, "too much of the disk has changed");
			return;
		}
		to->page = page;
		memcpy(to->bytes, bytes, sizeof(to->bytes));
		at += sizeof(*to);
	}
	c->data.used = (size_t)(at - c->data.at);
}

/* Calls of a script and of a program are watched one by one, or may wait. */
static bool is_watched(enum message_request request)
{
	return request != REQUEST_FOLLOW && request != REQUEST_PROGRAM;
}

static void agent_serve(struct agent *a)
{
	struct channel *c = &a->shm->message.channel;

	channel_server_begin(&a->server);
	if (is_watched(a->shm->message.request))
		assay_watch();
	switch (a->shm->message.request) {
	case REQUEST_FOLLOW:
		channel_server_follow(&a->server);
		break;
	case REQUEST_OBSERVE:
		channel_server_observe(&a->server);
		break;
	case REQUEST_ATTACH:
		if (!(c->failure = agent_begin_recording(a, &c->err)))
			c->failure = agent_start_up(a, &c->err);
		break;
	case REQUEST_LOAD:
		if (!(c->failure = agent_load_pages(a, &c->err)) &&
		    !(c->failure = agent_begin_recording(a, &c->err)))
			a->shm->message.disk_error = -agent_start_up(a, NULL);
		break;
	case REQUEST_RECORD:
		agent_hand_over_record(c);
		break;
	case REQUEST_DISK:
		agent_hand_over_disk(a, c);
		break;
	case REQUEST_RACE:
		assay_move_clock(call_ns);
		if (!(c->failure = race_serve(a->tasks, a->shm)))
			channel_server_observe(&a->server);
		break;
	case REQUEST_PROGRAM:
		c->failure = agent_run_program(a, &c->err);
		break;
	default:
		c->failure = err_set(&c->err, ENOSYS, "a kernel knows no such request");
	}
	assay_settle();
	assay_unwatch();
}

static int agent_set_sysctls(const struct kernel_shm *shm)
{
	static const char *const paths[SYSCTL_COUNT] = {
#define ROW(name) [SYSCTL_##name] = "/proc/sys/fs/" #name,
		SYSCTLS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < SYSCTL_COUNT; i++) {
		char value = (char)('0' + shm->sysctls[i]);
		int fd = open(paths[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, &value, 1) != 1)
			return -errno;
		close(fd);
	}
	return 0;
}

/* Directories of the first root, and what is needed of /proc. */
static int agent_prepare(struct agent *a)
{
	umask(0);
	mkdir(mount_path, ROOT_MODE);
	mkdir("/proc", ROOT_MODE);
	mkdir("/debug", ROOT_MODE);
	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		mkdir(layers[i], ROOT_MODE);
	if (mount("proc", "/proc", "proc", 0, NULL))
		return -errno;
	a->drop_fd = open(control_path, O_WRONLY | O_CLOEXEC);
	a->kmemleak_fd = kmemleak_open();
	a->outside_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->drop_fd < 0 || a->outside_fd < 0)
		return -errno;
	return agent_set_sysctls(kernel_shm_of(a));
}

static int agent_add_medium(struct kernel_shm *shm)
{
	int error = shm->flash ? assay_flash_add() : assay_disk_add();

	shm->medium_bytes = assay_medium_size();
	if (!error && shm->records)
		error = assay_medium_record(); /* so that states have the memory for it */
	assay_revert_allow();
	return error;
}

static int agent_begin(struct agent *a, struct err *err)
{
	int error;

	assay_seed(kernel_shm_of(a)->seeded);
	error = agent_add_medium(a->shm);
	if (!error)
		error = agent_prepare(a);
	a->server = (struct channel_server){
		.message = &a->shm->message,
		.own = a,
		.call = agent_make_call,
		.scan = agent_scan,
		.attached = agent_is_attached,
		.gone = agent_is_gone,
		.call_ns = call_ns,
	};
	a->scanner = channel_server_scanner(a->shm->fields, false);
	a->tasks = tasks_new();
	a->leaks = leaks_new();
	a->root_fd = -1;
	assay_settle();
	return error ? err_sys(err, -error, "cannot prepare the disk or the first root") : 0;
}

_Noreturn void assay_agent(void)
{
	struct agent *a = &agent;

	kernel_shm_of(a)->message.channel.failure = agent_begin(a, &a->shm->message.channel.err);
	for (;;) {
		slot_wait(a->shm);
		agent_serve(a);
	}
}
