/* snapshots.c -- one kernel in a process, and the copies of it that are its saved states. */
#include "snapshot/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/must.h"
#include "process/owner.h"
#include "tree/pmap.h"

enum {
	LOOK_MS = 20, /* how often it is looked whether the kernel lives */
	BOOT_SECONDS = 60,
	LOAD_MIN_S = 1,
	WALL_PER_CPU = 20, /* times its limit of CPU time may pass, whatever it waits for */
	FIRST_SLOT = 1,
};

_Static_assert(sizeof(struct kernel_shm) <= 0x18000000, "places do not overlap");

/* A kernel's random numbers come from its command line too: it is always the same, but for its
 * memory, which is the kernel's own (kernels.h). So is the time it begins at. */
static const char *const arguments[] = {
	"linux",           "time-travel=inf-cpu", "time-travel-start=1700000000000000000",
	"rdinit=/dev",     "rootfstype=tmpfs",    "console=assay",
	"con=null",        "con0=null",           "ssl=null",
	"ignore_loglevel",
};

struct snapshot {
	pid_t pid;
	uint32_t slot;
	unsigned keys; /* it is saved as; if any, it is not to run again */
	bool reverts;  /* it is a copy of the first, or of its origin, and has no copies */
	const struct snapshot *origin; /* of a copy for races, while that is saved */
};

struct saved_snapshot {
	struct ref ref;
	struct snapshots *all;
	struct snapshot *snapshot;
};

struct snapshots {
	struct kernel_shm *shm;
	int shm_fd;
	struct channel_client client;
	struct snapshot *first;   /* booted, nothing is mounted */
	struct snapshot *fresh;   /* mounted */
	struct snapshot *present; /* NULL: it died or was given up */
	struct pmap saved;
	uint32_t free_slots[KERNEL_SHM_SLOTS_MAX];
	size_t free_count;
	bool failed; /* the last request, for a reason of ours */
};

static struct snapshot *snapshot_new(pid_t pid, uint32_t slot)
{
	struct snapshot *snapshot = must_alloc(sizeof(*snapshot));

	*snapshot = (struct snapshot){ .pid = pid, .slot = slot };
	return snapshot;
}

static void snapshot_end(struct snapshots *s, struct snapshot *snapshot)
{
	kill(snapshot->pid, SIGKILL);
	while (waitpid(snapshot->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->free_slots[s->free_count++] = snapshot->slot;
	free(snapshot);
}

/* Ends a state that cannot be restored, unless it is the present one. */
static void snapshot_release(struct snapshots *s, struct snapshot *snapshot)
{
	if (snapshot && !snapshot->keys && snapshot != s->present)
		snapshot_end(s, snapshot);
}

static void snapshots_move_to(struct snapshots *s, struct snapshot *to)
{
	struct snapshot *from = s->present;

	s->present = to;
	snapshot_release(s, from);
}

static void saved_snapshot_free(struct ref *object)
{
	struct saved_snapshot *saved = (struct saved_snapshot *)object;

	saved->snapshot->keys--;
	snapshot_release(saved->all, saved->snapshot);
	free(saved);
}

/* They are put and dropped, never changed: nothing copies one. */
static const struct pmap_type saved_type = { .free = saved_snapshot_free };

/* The end of what the kernel logged. */
static const char *last_words(const struct snapshots *s)
{
	enum { WORDS_MAX = 200 };
	uint32_t len = s->shm->console_len;

	return s->shm->console + (len > WORDS_MAX ? len - WORDS_MAX : 0);
}

/* Reports a request that was not run for a reason of ours, as the server would a failure. */
static enum target_fate snapshots_fail(struct snapshots *s, int code, const char *why)
{
	struct channel *c = &s->shm->message.channel;

	c->err = (struct err){ 0 };
	c->failure = err_set(&c->err, code, "%s", why);
	s->failed = true;
	return FATE_FINE;
}

/* A kernel that cannot continue ends itself; nothing that it does has others kill it. */
static enum target_fate snapshots_kernel_ended(struct snapshots *s, const siginfo_t *end)
{
	if (end->si_code == CLD_KILLED && end->si_status == SIGKILL)
		return snapshots_fail(s, ENOMEM,
				      "the kernel's process was killed from outside; "
				      "the machine may be short of memory");
	if (end->si_code == CLD_EXITED && end->si_status == KERNEL_SHM_EXIT_BROKEN)
		return snapshots_fail(s, EIO, last_words(s));
	return end->si_code == CLD_EXITED && end->si_status == KERNEL_SHM_EXIT_HUNG ? FATE_HUNG
										    : FATE_DIED;
}

/* How long a process has been running since the last sign of progress. On a busy machine time
 * passes without it. */
struct kernel_patience {
	pid_t pid;
	uint32_t progress;
	int64_t wall_ns, cpu_ns; /* at that sign */
};

static int64_t cpu_time_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

static bool kernel_patience_ends(struct kernel_patience *p, const struct message *m, pid_t pid,
				 double seconds)
{
	uint32_t progress = atomic_load(&m->progress);
	int64_t limit_ns = (int64_t)(seconds * 1e9);

	if (!p->wall_ns || p->pid != pid || p->progress != progress) {
		*p = (struct kernel_patience){ pid, progress, clock_ns(), cpu_time_ns(pid) };
		return false;
	}
	return cpu_time_ns(pid) - p->cpu_ns > limit_ns ||
	       clock_ns() - p->wall_ns > WALL_PER_CPU * limit_ns;
}

/* Waits for the turn. The process that has it is `pid`, or the copy it made. */
static enum target_fate snapshots_await(struct snapshots *s, pid_t pid, double seconds)
{
	struct message *m = &s->shm->message;
	struct kernel_patience patience = { 0 };

	while (!turn_await(&m->channel.turn, SIDE_CLIENT, clock_ns() + LOOK_MS * NS_PER_MS)) {
		volatile const uint32_t *copy = &s->shm->fork_pid;
		siginfo_t end = { 0 };

		if (*copy)
			pid = (pid_t)*copy;
		/* It is left to be waited for. */
		waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
		if (end.si_pid)
			return snapshots_kernel_ended(s, &end);
		if (kernel_patience_ends(&patience, m, pid, seconds))
			return FATE_HUNG;
	}
	return FATE_FINE;
}

static enum target_fate snapshots_send(void *own, enum message_request request, double seconds)
{
	struct snapshots *s = own;
	struct kernel_shm *shm = s->shm;
	uint32_t slot = 0;
	enum target_fate fate;

	s->failed = false;
	if (!s->present)
		return FATE_DIED;
	if (s->present->keys) {
		if (!s->free_count)
			return snapshots_fail(s, EAGAIN, "too many states of the kernel are saved");
		slot = s->free_slots[--s->free_count];
	}
	shm->fork_to = slot;
	shm->fork_pid = 0;
	shm->console_len = 0;
	shm->console[0] = '\0';
	shm->message.alarm = false;
	shm->message.request = request;
	turn_pass(&shm->message.channel.turn, SIDE_SERVER);
	turn_pass(&shm->slots[s->present->slot], SIDE_SERVER);
	fate = snapshots_await(s, s->present->pid, seconds);
	if (shm->fork_pid)
		snapshots_move_to(s, snapshot_new((pid_t)shm->fork_pid, slot));
	else if (slot)
		s->free_slots[s->free_count++] = slot;
	if (fate != FATE_FINE || (s->failed && shm->fork_pid))
		snapshots_move_to(s, NULL);
	return fate;
}

/* The kernel numbers what it finds of new code by the steps of a plan. */
static void snapshots_begin_plan(void *own)
{
	struct snapshots *s = own;

	s->shm->code.first_step = atomic_load(&s->shm->message.progress) + 1;
	s->shm->code.new_coverage_count = 0;
}

/* ---- beginning and end ---- */

static struct kernel_shm *kernel_shm_map(int fd)
{
	for (unsigned i = 0; i < KERNEL_SHM_PLACES; i++) {
		void *at = (void *)(uintptr_t)kernel_shm_place(i);
		struct kernel_shm *shm =
			mmap(at, sizeof(*shm), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);

		if (shm == at) {
			shm->at = (uintptr_t)at;
			return shm;
		}
	}
	return NULL;
}

static int kernel_shm_describe(struct kernel_shm *shm, const struct snapshots_options *o,
			       struct err *err)
{
	if (strlen(o->fs) >= KERNEL_SHM_TEXT_MAX || strlen(o->source) >= KERNEL_SHM_TEXT_MAX ||
	    strlen(o->options) >= KERNEL_SHM_TEXT_MAX)
		return err_set(err, E2BIG, "more than %d bytes of mount options",
			       KERNEL_SHM_TEXT_MAX);
	strcpy(shm->fs, o->fs);
	strcpy(shm->source, o->source);
	strcpy(shm->options, o->options);
	shm->whole = o->whole;
	if (o->seeded && strlen(o->seeded) >= KERNEL_SHM_TEXT_MAX)
		return err_set(err, E2BIG, "%s: the name of a bug is too long", o->seeded);
	strcpy(shm->seeded, o->seeded ? o->seeded : "");
	memcpy(shm->sysctls, o->sysctls, sizeof(shm->sysctls));
	shm->keeps = o->keeps;
	shm->records = o->records;
	shm->flash = o->flash;
	shm->blank = o->blank;
	shm->fields = o->fields;
	shm->owner_pid = (uint32_t)getpid();
	return 0;
}

static int snapshots_make_shm(struct snapshots *s, const struct snapshots_options *options,
			      struct err *err)
{
	s->shm_fd = memfd_create("assay-shm", MFD_CLOEXEC);
	if (s->shm_fd < 0 || ftruncate(s->shm_fd, sizeof(struct kernel_shm)))
		return err_sys(err, errno, "cannot share memory");
	s->shm = kernel_shm_map(s->shm_fd);
	if (!s->shm)
		return err_set(err, ENOMEM, "cannot map shared memory where a kernel can");
	for (uint32_t slot = KERNEL_SHM_SLOTS_MAX - 1; slot > FIRST_SLOT; slot--)
		s->free_slots[s->free_count++] = slot;
	s->shm->message.channel.text =
		(struct channel_area){ .at = s->shm->text, .max = sizeof(s->shm->text) };
	s->shm->message.channel.data =
		(struct channel_area){ .at = s->shm->data, .max = sizeof(s->shm->data) };
	s->client = (struct channel_client){
		.message = &s->shm->message,
		.fields = options->fields,
		.deadline_seconds = options->deadline_seconds,
		.own = s,
		.send = snapshots_send,
		.begin_plan = snapshots_begin_plan,
	};
	return kernel_shm_describe(s->shm, options, err);
}

/* In the child: nothing is open but what the kernel is to have. */
static _Noreturn void become_kernel(const struct snapshots_options *o, int shm_fd, pid_t owner)
{
	static char *const no_environment[] = { NULL };
	const char *command[ARRAY_LEN(arguments) + 2] = { NULL };
	int shm = fcntl(shm_fd, F_DUPFD, KERNEL_SHM_IMAGE_FD + 1);
	int image = o->image_fd < 0 ? -1 : fcntl(o->image_fd, F_DUPFD, KERNEL_SHM_IMAGE_FD + 1);
	int null = open("/dev/null", O_RDWR);
	char memory[64];

	snprintf(memory, sizeof(memory), "mem=%s", o->memory);
	memcpy(command, arguments, sizeof(arguments));
	command[ARRAY_LEN(arguments)] = memory;
	owner_follow(owner, SIGKILL);
	if (shm < 0 || null < 0)
		_exit(0);
	setsid();
	for (int fd = 0; fd < KERNEL_SHM_FD; fd++)
		dup2(null, fd);
	dup2(shm, KERNEL_SHM_FD);
	if (image >= 0)
		dup2(image, KERNEL_SHM_IMAGE_FD);
	close_range(image < 0 ? KERNEL_SHM_IMAGE_FD : KERNEL_SHM_IMAGE_FD + 1, ~0U, 0);
	execve(o->kernel, (char *const *)command, no_environment);
	_exit(0);
}

/* Some complaints are logged only once: later ones would not be seen. */
static int snapshots_complained(const struct snapshots *s, const char *when, struct err *err)
{
	return s->shm->message.alarm
		     ? err_set(err, EIO, "the kernel complains when it %s: %s", when, last_words(s))
		     : 0;
}

static int snapshots_boot(struct snapshots *s, const struct snapshots_options *options,
			  struct err *err)
{
	pid_t owner = getpid(), pid;

	atomic_store(&s->shm->message.channel.turn.side, SIDE_SERVER);
	pid = fork();
	if (!pid)
		become_kernel(options, s->shm_fd, owner);
	if (pid < 0)
		return err_sys(err, errno, "cannot start a process");
	s->first = snapshot_new(pid, FIRST_SLOT);
	s->first->keys = 1;
	s->present = s->first;
	if (snapshots_await(s, pid, BOOT_SECONDS) != FATE_FINE)
		return err_set(err, EIO, "%s does not start: %s", options->kernel, last_words(s));
	if (s->shm->message.channel.failure)
		return err_set(err, -s->shm->message.channel.failure, "%s: %s",
			       s->shm->message.channel.err.text, last_words(s));
	return snapshots_complained(s, "starts", err);
}

static int snapshots_attach(struct snapshots *s, struct err *err)
{
	if (snapshots_send(s, REQUEST_ATTACH, BOOT_SECONDS) != FATE_FINE)
		return err_set(err, EIO, "mounting ends the kernel: %s", last_words(s));
	if (s->shm->message.channel.failure)
		return err_set(err, -s->shm->message.channel.failure, "%s: %s",
			       s->shm->message.channel.err.text, last_words(s));
	return 0;
}

/* What is to lie below the file system, in the present state. */
static int snapshots_fill_below(struct snapshots *s, const struct snapshots_options *options,
				struct err *err)
{
	int r;

	if (strlen(options->below) >= sizeof(s->shm->below))
		return err_set(err, E2BIG, "%s: the path is too long", options->below);
	strcpy(s->shm->below, options->below);
	r = snapshots_attach(s, err);
	if (!r)
		r = options->fill_below(options->own, &s->client, err);
	s->shm->below[0] = '\0';
	return r;
}

/* The present state, a copy of the first, is to stay. */
static int snapshots_mount_fresh(struct snapshots *s, const struct snapshots_options *options,
				 struct err *err)
{
	int r = options->below ? snapshots_fill_below(s, options, err) : 0;

	if (!r)
		r = snapshots_attach(s, err);
	if (r)
		return r;
	s->fresh = s->present;
	s->fresh->keys = 1;
	return snapshots_complained(s, "mounts", err);
}

int snapshots_start(struct snapshots **ret, const struct snapshots_options *options,
		    struct err *err)
{
	struct snapshots *s = must_alloc(sizeof(*s));
	int r;

	s->shm_fd = -1;
	r = snapshots_make_shm(s, options, err);
	if (!r)
		r = snapshots_boot(s, options, err);
	if (!r)
		r = snapshots_mount_fresh(s, options, err);
	if (r)
		snapshots_stop(s);
	else
		*ret = s;
	return r;
}

/* One that stayed; the present one is gone, too. */
static void snapshots_give_up(struct snapshots *s, struct snapshot *stayed)
{
	if (!stayed)
		return;
	stayed->keys = 0;
	snapshots_move_to(s, stayed);
	snapshots_move_to(s, NULL);
}

void snapshots_stop(struct snapshots *s)
{
	if (!s)
		return;
	pmap_drop(&s->saved, &saved_type);
	snapshots_give_up(s, s->fresh);
	snapshots_give_up(s, s->first);
	if (s->shm)
		munmap(s->shm, sizeof(*s->shm));
	if (s->shm_fd >= 0)
		close(s->shm_fd);
	free(s);
}

/* ---- states ---- */

const struct channel_client *snapshots_client(const struct snapshots *s)
{
	return &s->client;
}

int snapshots_save(struct snapshots *s, uint64_t key, struct err *err)
{
	struct saved_snapshot *saved;

	if (!s->present)
		return err_set(err, EIO, "the kernel is gone");
	saved = must_alloc(sizeof(*saved));
	*saved = (struct saved_snapshot){ { 1 }, s, s->present };
	s->present->keys++;
	s->present->reverts = false;
	pmap_put(&s->saved, &saved_type, key, &saved->ref);
	return 0;
}

int snapshots_restore(struct snapshots *s, uint64_t key, struct err *err)
{
	const struct saved_snapshot *saved =
		(const struct saved_snapshot *)pmap_get(&s->saved, key);

	if (!saved)
		return err_set(err, ENOENT, "nothing is saved as %ju", (uintmax_t)key);
	snapshots_move_to(s, saved->snapshot);
	return 0;
}

void snapshots_drop(struct snapshots *s, uint64_t key)
{
	pmap_remove(&s->saved, &saved_type, key);
}

void snapshots_reset(struct snapshots *s)
{
	snapshots_move_to(s, s->fresh);
}

int snapshots_recorded(struct snapshots *s, struct buf *out, struct err *err)
{
	const struct channel *c = &s->shm->message.channel;

	if (snapshots_send(s, REQUEST_RECORD, s->client.deadline_seconds) != FATE_FINE)
		return err_set(err, EIO, "the kernel is gone");
	if (c->failure)
		return channel_failure(&s->client, err);
	buf_add(out, c->data.at, c->data.used);
	return 0;
}

static bool snapshots_put_pages(struct message *m, const struct page_change *pages, size_t count)
{
	struct disk_page *to = (struct disk_page *)m->channel.data.at;

	if (count > m->channel.data.max / sizeof(*to))
		return false;
	for (size_t i = 0; i < count; i++) {
		to[i].page = pages[i].page;
		memcpy(to[i].bytes, pages[i].bytes, sizeof(to[i].bytes));
	}
	m->page_count = count;
	return true;
}

/* By the copy of the first state that the last load has made, or by another one. */
static enum target_fate snapshots_send_load(struct snapshots *s)
{
	/* Of a small disk: less than a scan may take. */
	double seconds = fmax(s->client.deadline_seconds, LOAD_MIN_S);
	enum target_fate fate;

	if (s->present && s->present->reverts && !s->present->origin && !s->present->keys) {
		s->shm->revert_to = s->present->slot;
		fate = snapshots_send(s, REQUEST_LOAD, seconds);
		if (s->shm->revert_to) {
			s->shm->revert_to = 0;
			return fate;
		}
	}
	snapshots_move_to(s, s->first);
	fate = snapshots_send(s, REQUEST_LOAD, seconds);
	if (s->present && s->present != s->first)
		s->present->reverts = true;
	return fate;
}

int snapshots_load(struct snapshots *s, const struct page_change *pages, size_t count,
		   int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	struct message *m = &s->shm->message;

	if (!snapshots_put_pages(m, pages, count))
		return err_set(err, E2BIG, "%zu pages of a disk are too many to load", count);
	memset(s->shm->read_sectors, 0, kernel_shm_read_bytes(s->shm));
	m->disk_error = 0;
	*ret_fate = snapshots_send_load(s);
	if (*ret_fate == FATE_FINE && m->alarm)
		*ret_fate = FATE_ALARM;
	*ret_error = fate_answers(*ret_fate) ? m->disk_error : 0;
	return fate_answers(*ret_fate) ? channel_failure(&s->client, err) : 0;
}

void snapshots_read(const struct snapshots *s, struct buf *out)
{
	buf_add(out, (const char *)s->shm->read_sectors, kernel_shm_read_bytes(s->shm));
}

/* In a copy of the present state, which stays as it is. */
int snapshots_run_program(struct snapshots *s, const struct buf *program, double seconds,
			  struct program_report *ret, struct err *err)
{
	struct snapshot *before = s->present;
	int r;

	if (!before)
		return err_set(err, EIO, "the kernel is gone");
	before->keys++;
	r = channel_run_program(&s->client, program, seconds, ret, err);
	if (r && !s->failed && !s->present) {
		*err = (struct err){ 0 };
		*ret = (struct program_report){ .fate = PROGRAM_KILLED, .status = SIGKILL };
		buf_addf(&ret->output, "the kernel died: %s", last_words(s));
		r = 0;
	}
	before->keys--;
	snapshots_move_to(s, before);
	return r;
}

int snapshots_unmount(struct snapshots *s, const struct disk_page **ret, size_t *ret_count,
		      int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	const struct message *m = &s->shm->message;
	int r;

	if (!s->present)
		return err_set(err, EIO, "the kernel is gone");
	*ret_fate = snapshots_send(s, REQUEST_DISK, channel_seconds(&s->client));
	r = *ret_fate == FATE_FINE ? channel_failure(&s->client, err) : 0;
	if (*ret_fate == FATE_FINE && m->alarm)
		*ret_fate = FATE_ALARM;
	*ret = (const struct disk_page *)m->channel.data.at;
	*ret_count = m->channel.data.used / sizeof(**ret);
	*ret_error = m->disk_error;
	return r;
}

/* In a copy of the present state, which stays as it is. */
int snapshots_disk(struct snapshots *s, const struct disk_page **ret, size_t *ret_count,
		   int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	struct snapshot *before = s->present;
	int r;

	if (before)
		before->keys++;
	r = snapshots_unmount(s, ret, ret_count, ret_error, ret_fate, err);
	if (before)
		before->keys--;
	snapshots_move_to(s, before);
	return r;
}

const char *snapshots_console(const struct snapshots *s)
{
	return s->shm->console;
}

struct code_map *snapshots_code(const struct snapshots *s)
{
	return &s->shm->code;
}

struct schedule_board *snapshots_board(const struct snapshots *s)
{
	return &s->shm->board;
}

static struct snapshot *snapshots_find(const struct snapshots *s, uint64_t key)
{
	const struct saved_snapshot *saved =
		(const struct saved_snapshot *)pmap_get(&s->saved, key);

	return saved ? saved->snapshot : NULL;
}

int snapshots_begin_race(struct snapshots *s, uint64_t key, bool again, struct err *err)
{
	const struct snapshot *present = s->present, *saved = snapshots_find(s, key);

	if (again && saved && present && present->reverts && !present->keys &&
	    present->origin == saved) {
		s->shm->revert_to = present->slot;
		return 0;
	}
	return snapshots_restore(s, key, err);
}

pid_t snapshots_racer(const struct snapshots *s)
{
	return s->present ? s->present->pid : 0;
}

bool snapshots_end_race(struct snapshots *s, uint64_t key)
{
	const struct snapshot *saved = snapshots_find(s, key);
	bool again = s->present && s->present->reverts, made = !again || s->shm->revert_to;

	s->shm->revert_to = 0;
	if (s->present && s->present != saved) {
		s->present->reverts = true;
		s->present->origin = saved;
	}
	return made;
}
