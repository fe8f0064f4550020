/* states.c -- one kernel in a process, and the copies of it that are its saved states. */
#include "target/states.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/pmap.h"

enum {
	LOOK_MS = 20, /* how often it is looked whether the kernel lives */
	BOOT_SECONDS = 60,
	WALL_PER_CPU = 20, /* times its limit of CPU time may pass, whatever it waits for */
	FIRST_SEAT = 1,
};
#define MILLI INT64_C(1000000)

_Static_assert(sizeof(struct hall) <= 0x18000000, "halls do not overlap");

/* A kernel's random numbers come from its command line too: it is always the same, but for its
 * memory, which is the kernel's own (kernels.h). So is the time it begins at. */
static const char *const arguments[] = {
	"linux",           "time-travel=inf-cpu", "time-travel-start=1700000000000000000",
	"rdinit=/dev",     "rootfstype=tmpfs",    "console=assay",
	"con=null",        "con0=null",           "ssl=null",
	"ignore_loglevel",
};

struct sitting {
	pid_t pid;
	uint32_t seat;
	unsigned keys; /* it is saved as; if any, it is not to run again */
};

struct saved {
	struct ref ref;
	struct states *states;
	struct sitting *sitting;
};

struct states {
	struct hall *hall;
	int hall_fd;
	struct errands errands;
	struct sitting *first;   /* booted, nothing is mounted */
	struct sitting *fresh;   /* mounted */
	struct sitting *present; /* NULL: it died or was given up */
	struct pmap saved;
	uint32_t free_seats[HALL_SEATS_MAX];
	size_t free_count;
	bool failed; /* the last errand, for a reason of ours */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static struct sitting *sitting_new(pid_t pid, uint32_t seat)
{
	struct sitting *sitting = must_alloc(sizeof(*sitting));

	*sitting = (struct sitting){ .pid = pid, .seat = seat };
	return sitting;
}

static void sitting_end(struct states *s, struct sitting *sitting)
{
	kill(sitting->pid, SIGKILL);
	while (waitpid(sitting->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->free_seats[s->free_count++] = sitting->seat;
	free(sitting);
}

/* Nobody can come back to it, unless it is the present one. */
static void release(struct states *s, struct sitting *sitting)
{
	if (sitting && !sitting->keys && sitting != s->present)
		sitting_end(s, sitting);
}

static void move_to(struct states *s, struct sitting *to)
{
	struct sitting *from = s->present;

	s->present = to;
	release(s, from);
}

static void free_saved(struct ref *object)
{
	struct saved *saved = (struct saved *)object;

	saved->sitting->keys--;
	release(saved->states, saved->sitting);
	free(saved);
}

/* They are put and dropped, never changed: nothing copies one. */
static const struct pmap_type saved_type = { .free = free_saved };

static void call_to(struct hall *hall, uint32_t seat)
{
	atomic_store(&hall->board.turn, TURN_KEEPER);
	atomic_store(&hall->seats[seat], 1);
	syscall(SYS_futex, &hall->seats[seat], FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The end of what the kernel said. */
static const char *last_words(const struct states *s)
{
	enum { WORDS_MAX = 200 };
	uint32_t len = s->hall->console_len;

	return s->hall->console + (len > WORDS_MAX ? len - WORDS_MAX : 0);
}

/* The errand was not run for a reason that is ours: the board says so, as of errands that fail. */
static enum target_fate errand_fails(struct states *s, int code, const char *why)
{
	struct board *b = &s->hall->board;

	b->err = (struct err){ 0 };
	b->failure = err_set(&b->err, code, "%s", why);
	s->failed = true;
	return FATE_FINE;
}

/* A kernel that cannot go on ends itself; nothing that it does has others kill it. */
static enum target_fate kernel_ended(struct states *s, const siginfo_t *end)
{
	if (end->si_code == CLD_KILLED && end->si_status == SIGKILL)
		return errand_fails(s, ENOMEM, "the kernel's process was killed from outside; "
					       "the machine may be short of memory");
	if (end->si_code == CLD_EXITED && end->si_status == HALL_EXIT_BROKEN)
		return errand_fails(s, EIO, last_words(s));
	return end->si_code == CLD_EXITED && end->si_status == HALL_EXIT_HUNG ? FATE_HUNG
									      : FATE_DIED;
}

/* How long a process has been running since the last sign of progress. On a busy machine time
 * passes without it. */
struct patience {
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
	return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

static bool patience_ends(struct patience *p, const struct board *b, pid_t pid, double seconds)
{
	uint32_t progress = atomic_load(&b->progress);
	int64_t limit_ns = (int64_t)(seconds * 1e9);

	if (!p->wall_ns || p->pid != pid || p->progress != progress) {
		*p = (struct patience){ pid, progress, now_ns(), cpu_time_ns(pid) };
		return false;
	}
	return cpu_time_ns(pid) - p->cpu_ns > limit_ns ||
	       now_ns() - p->wall_ns > WALL_PER_CPU * limit_ns;
}

/* Waits for the turn. The process that has it is `pid`, or the copy it made. */
static enum target_fate await(struct states *s, pid_t pid, double seconds)
{
	struct board *b = &s->hall->board;
	struct patience patience = { 0 };

	while (!board_await(b, TURN_OWNER, LOOK_MS * MILLI)) {
		volatile const uint32_t *copy = &s->hall->fork_pid;
		siginfo_t end = { 0 };

		if (*copy)
			pid = (pid_t)*copy;
		/* It is left to be waited for. */
		waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
		if (end.si_pid)
			return kernel_ended(s, &end);
		if (patience_ends(&patience, b, pid, seconds))
			return FATE_HUNG;
	}
	return FATE_FINE;
}

static enum target_fate send(void *own, enum board_errand errand, double seconds)
{
	struct states *s = own;
	struct hall *hall = s->hall;
	uint32_t seat = 0;
	enum target_fate fate;

	s->failed = false;
	if (!s->present)
		return FATE_DIED;
	if (s->present->keys) {
		if (!s->free_count)
			return errand_fails(s, EAGAIN, "too many states of the kernel are saved");
		seat = s->free_seats[--s->free_count];
	}
	hall->fork_to = seat;
	hall->fork_pid = 0;
	hall->console_len = 0;
	hall->console[0] = '\0';
	hall->board.alarm = false;
	hall->board.errand = errand;
	call_to(hall, s->present->seat);
	fate = await(s, s->present->pid, seconds);
	if (hall->fork_pid)
		move_to(s, sitting_new((pid_t)hall->fork_pid, seat));
	else if (seat)
		s->free_seats[s->free_count++] = seat;
	if (fate != FATE_FINE || (s->failed && hall->fork_pid))
		move_to(s, NULL);
	return fate;
}

/* ---- beginning and end ---- */

static struct hall *hall_new(int fd)
{
	for (unsigned i = 0; i < HALL_PLACES; i++) {
		void *at = (void *)(uintptr_t)hall_place(i);
		struct hall *hall = mmap(at, sizeof(*hall), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);

		if (hall == at) {
			hall->at = (uintptr_t)at;
			return hall;
		}
	}
	return NULL;
}

static int describe(struct hall *hall, const struct states_options *o, struct err *err)
{
	if (strlen(o->fs) >= HALL_TEXT_MAX || strlen(o->source) >= HALL_TEXT_MAX ||
	    strlen(o->options) >= HALL_TEXT_MAX)
		return err_set(err, E2BIG, "more than %d bytes of mount options", HALL_TEXT_MAX);
	strcpy(hall->fs, o->fs);
	strcpy(hall->source, o->source);
	strcpy(hall->options, o->options);
	memcpy(hall->sysctls, o->sysctls, sizeof(hall->sysctls));
	hall->keeps = o->keeps;
	hall->records = o->records;
	hall->image_fd = -1;
	hall->fields = o->fields;
	hall->owner_pid = (uint32_t)getpid();
	return 0;
}

static int make_hall(struct states *s, const struct states_options *options, struct err *err)
{
	s->hall_fd = memfd_create("assay-hall", MFD_CLOEXEC);
	if (s->hall_fd < 0 || ftruncate(s->hall_fd, sizeof(struct hall)))
		return err_sys(err, errno, "cannot share memory");
	s->hall = hall_new(s->hall_fd);
	if (!s->hall)
		return err_set(err, ENOMEM, "cannot map shared memory where a kernel can");
	for (uint32_t seat = HALL_SEATS_MAX - 1; seat > FIRST_SEAT; seat--)
		s->free_seats[s->free_count++] = seat;
	s->errands = (struct errands){
		.board = &s->hall->board,
		.fields = options->fields,
		.deadline_seconds = options->deadline_seconds,
		.own = s,
		.send = send,
	};
	return describe(s->hall, options, err);
}

/* In the child: nothing is open but what the kernel is to have. */
static _Noreturn void become_kernel(const struct states_options *o, int hall_fd, pid_t owner)
{
	static char *const no_environment[] = { NULL };
	const char *command[ARRAY_LEN(arguments) + 2] = { NULL };
	int hall = fcntl(hall_fd, F_DUPFD, HALL_IMAGE_FD + 1);
	int image = o->image_fd < 0 ? -1 : fcntl(o->image_fd, F_DUPFD, HALL_IMAGE_FD + 1);
	int null = open("/dev/null", O_RDWR);
	char memory[64];

	snprintf(memory, sizeof(memory), "mem=%s", o->memory);
	memcpy(command, arguments, sizeof(arguments));
	command[ARRAY_LEN(arguments)] = memory;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != owner || hall < 0 || null < 0)
		_exit(0);
	setsid();
	for (int fd = 0; fd < HALL_FD; fd++)
		dup2(null, fd);
	dup2(hall, HALL_FD);
	if (image >= 0)
		dup2(image, HALL_IMAGE_FD);
	close_range(image < 0 ? HALL_IMAGE_FD : HALL_IMAGE_FD + 1, ~0U, 0);
	execve(o->kernel, (char *const *)command, no_environment);
	_exit(0);
}

/* Some complaints are made only once: of what comes later nobody would hear. */
static int complained(const struct states *s, const char *when, struct err *err)
{
	return s->hall->board.alarm
		     ? err_set(err, EIO, "the kernel complains when it %s: %s", when, last_words(s))
		     : 0;
}

static int boot(struct states *s, const struct states_options *options, struct err *err)
{
	pid_t owner = getpid(), pid;

	atomic_store(&s->hall->board.turn, TURN_KEEPER);
	pid = fork();
	if (!pid)
		become_kernel(options, s->hall_fd, owner);
	if (pid < 0)
		return err_sys(err, errno, "cannot start a process");
	s->first = sitting_new(pid, FIRST_SEAT);
	s->first->keys = 1;
	s->present = s->first;
	if (await(s, pid, BOOT_SECONDS) != FATE_FINE)
		return err_set(err, EIO, "%s does not start: %s", options->kernel, last_words(s));
	if (s->hall->board.failure)
		return err_set(err, -s->hall->board.failure, "%s: %s", s->hall->board.err.text,
			       last_words(s));
	return complained(s, "starts", err);
}

/* The present state, a copy of the first, is to stay. */
static int mount_fresh(struct states *s, struct err *err)
{
	if (send(s, ERRAND_ATTACH, BOOT_SECONDS) != FATE_FINE)
		return err_set(err, EIO, "mounting ends the kernel: %s", last_words(s));
	if (s->hall->board.failure)
		return err_set(err, -s->hall->board.failure, "%s: %s", s->hall->board.err.text,
			       last_words(s));
	s->fresh = s->present;
	s->fresh->keys = 1;
	return complained(s, "mounts", err);
}

int states_start(struct states **ret, const struct states_options *options, struct err *err)
{
	struct states *s = must_alloc(sizeof(*s));
	int r;

	s->hall_fd = -1;
	r = make_hall(s, options, err);
	if (!r)
		r = boot(s, options, err);
	if (!r)
		r = mount_fresh(s, err);
	if (r)
		states_stop(s);
	else
		*ret = s;
	return r;
}

/* One that stayed; the present one is gone, too. */
static void give_up(struct states *s, struct sitting *stayed)
{
	if (!stayed)
		return;
	stayed->keys = 0;
	move_to(s, stayed);
	move_to(s, NULL);
}

void states_stop(struct states *s)
{
	if (!s)
		return;
	pmap_drop(&s->saved, &saved_type);
	give_up(s, s->fresh);
	give_up(s, s->first);
	if (s->hall)
		munmap(s->hall, sizeof(*s->hall));
	if (s->hall_fd >= 0)
		close(s->hall_fd);
	free(s);
}

/* ---- states ---- */

const struct errands *states_errands(const struct states *s)
{
	return &s->errands;
}

int states_save(struct states *s, uint64_t key, struct err *err)
{
	struct saved *saved;

	if (!s->present)
		return err_set(err, EIO, "the kernel is gone");
	saved = must_alloc(sizeof(*saved));
	*saved = (struct saved){ { 1 }, s, s->present };
	s->present->keys++;
	pmap_put(&s->saved, &saved_type, key, &saved->ref);
	return 0;
}

int states_restore(struct states *s, uint64_t key, struct err *err)
{
	const struct saved *saved = (const struct saved *)pmap_get(&s->saved, key);

	if (!saved)
		return err_set(err, ENOENT, "nothing is saved as %ju", (uintmax_t)key);
	move_to(s, saved->sitting);
	return 0;
}

void states_drop(struct states *s, uint64_t key)
{
	pmap_remove(&s->saved, &saved_type, key);
}

void states_reset(struct states *s)
{
	move_to(s, s->fresh);
}

int states_recorded(struct states *s, struct buf *out, struct err *err)
{
	const struct board *b = &s->hall->board;

	if (send(s, ERRAND_RECORD, s->errands.deadline_seconds) != FATE_FINE)
		return err_set(err, EIO, "the kernel is gone");
	if (b->failure)
		return errands_failure(&s->errands, err);
	buf_add(out, b->answer, b->answer_len);
	return 0;
}

int states_load(struct states *s, int image_fd, int *ret_error, enum target_fate *ret_fate,
		struct err *err)
{
	move_to(s, s->first);
	s->hall->image_fd = image_fd;
	*ret_fate = send(s, ERRAND_ATTACH, BOOT_SECONDS);
	s->hall->image_fd = -1;
	*ret_error = *ret_fate == FATE_FINE && !s->failed ? -s->hall->board.failure : 0;
	return s->failed ? errands_failure(&s->errands, err) : 0;
}

/* In a copy of the present state, which stays as it is. */
int states_run_program(struct states *s, const struct buf *program, double seconds,
		       struct program_end *ret, struct err *err)
{
	struct sitting *before = s->present;
	int r;

	if (!before)
		return err_set(err, EIO, "the kernel is gone");
	before->keys++;
	r = errands_run_program(&s->errands, program, seconds, ret, err);
	if (r && !s->failed && !s->present) {
		*err = (struct err){ 0 };
		*ret = (struct program_end){ .end = PROGRAM_KILLED, .status = SIGKILL };
		buf_addf(&ret->output, "the kernel died: %s", last_words(s));
		r = 0;
	}
	before->keys--;
	move_to(s, before);
	return r;
}

const char *states_console(const struct states *s)
{
	return s->hall->console;
}

struct code_map *states_code(const struct states *s)
{
	return &s->hall->code;
}
