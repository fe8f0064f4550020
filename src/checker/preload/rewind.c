/* rewind.c -- a copy of the process serves many runs: at the end of one its memory becomes again
 * what it was at the beginning.
 *
 * fork() and the page faults behind it cost as much as a checker's own work on a small disk; its
 * memory at the first open of the disk is some hundred KiB. All private writable memory is saved,
 * and copied back on another stack. What lies outside memory must be as before, too: descriptors
 * are closed, the heap is given back. A run that has done more than that (signal handlers,
 * mappings, threads, processes) ends its process for real, and the server makes another copy. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "preload.h"

enum {
	REGIONS_MAX = 128,
	REGIONS_BYTES_MAX = 8 << 20,
	STACK_BYTES = 64 << 10,
	TEXT_BYTES = 32 << 10,
	FIRST_FD = CONTROL_FDS, /* that a run may have opened */
};

struct memory_region {
	char *at;
	size_t len;
	char *saved;
};

/* In shared memory, though no one shares it: so it is no part of what is saved. */
struct rewind {
	jmp_buf beginning;
	ucontext_t restoring; /* on the stack below */
	struct memory_region regions[REGIONS_MAX];
	int count;
	int first_fds[FIRST_FD]; /* copies of them */
	int statm_fd;            /* the last one of ours */
	unsigned long pages;     /* of address space */
	void *heap_end;
	struct rusage used; /* when the run began */
	char text[TEXT_BYTES];
	char stack[STACK_BYTES];
};

static struct rewind *state; /* NULL: this process serves one run */
static bool spoiled;

/* ---- saving ---- */

static size_t rewind_read(const char *path, char *to, size_t room)
{
	int fd = preload_next()->open(path, O_RDONLY);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (len < room - 1 && (n = preload_next()->read(fd, to + len, room - 1 - len)) > 0)
		len += (size_t)n;
	preload_next()->close(fd);
	to[len] = '\0';
	return len;
}

static char *rewind_map(size_t len)
{
	char *at = preload_next()->mmap(NULL, len, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Finds all private writable memory; its size, or 0 where it cannot be all. */
static size_t rewind_find_regions(void)
{
	size_t len = rewind_read("/proc/self/maps", state->text, TEXT_BYTES), sum = 0;
	char *line = state->text, *end;

	if (!len || len == TEXT_BYTES - 1)
		return 0;
	for (; *line; line = end + 1) {
		unsigned long from = strtoul(line, &end, 16), to = strtoul(end + 1, &end, 16);

		if (!strncmp(end, " rw-p", 5)) {
			if (state->count == REGIONS_MAX)
				return 0;
			state->regions[state->count++] =
				(struct memory_region){ .at = (char *)from, .len = to - from };
			sum += to - from;
		}
		end = strchr(end, '\n');
		if (!end)
			break;
	}
	return sum <= REGIONS_BYTES_MAX ? sum : 0;
}

static unsigned long rewind_pages(void)
{
	char text[128];
	ssize_t n = preload_next()->pread(state->statm_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strtoul(text, NULL, 10);
}

/* Those that it began with; some close what they print to, in order to see errors. */
static void rewind_reopen(void)
{
	for (int fd = 0; fd < FIRST_FD; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			preload_next()->dup2(state->first_fds[fd], fd);
}

static void rewind_keep_fds(void)
{
	for (int fd = 0; fd < FIRST_FD; fd++)
		state->first_fds[fd] = fcntl(fd, F_DUPFD_CLOEXEC, PRELOAD_FDS);
	state->statm_fd = fcntl(preload_next()->open("/proc/self/statm", O_RDONLY), F_DUPFD_CLOEXEC,
				PRELOAD_FDS);
	preload_next()->close(FIRST_FD);
}

static bool rewind_has_other_fds(void)
{
	for (int fd = FIRST_FD; fd < PRELOAD_FDS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return true;
	return false;
}

static void rewind_restore(void)
{
	for (int i = 0; i < state->count; i++)
		memcpy(state->regions[i].at, state->regions[i].saved, state->regions[i].len);
	_longjmp(state->beginning, 1);
}

static bool rewind_make_stack(void)
{
	if (getcontext(&state->restoring))
		return false;
	state->restoring.uc_stack.ss_sp = state->stack;
	state->restoring.uc_stack.ss_size = STACK_BYTES;
	makecontext(&state->restoring, rewind_restore, 0);
	return true;
}

bool rewind_prepare(void)
{
	size_t bytes;
	char *saved;

	if (rewind_has_other_fds())
		return false;
	state = (struct rewind *)rewind_map(sizeof(*state));
	if (!state)
		return false;
	rewind_keep_fds();
	bytes = rewind_find_regions();
	saved = bytes ? rewind_map(bytes) : NULL;
	if (!saved || state->statm_fd < 0 || !rewind_make_stack()) {
		state = NULL;
		return false;
	}
	for (int i = 0; i < state->count; saved += state->regions[i++].len)
		state->regions[i].saved = saved;
	state->heap_end = (void *)syscall(SYS_brk, 0);
	state->pages = rewind_pages();
	spoiled = false; /* what was done before is a part of all runs */
	return true;
}

static void rewind_save(void)
{
	for (int i = 0; i < state->count; i++)
		memcpy(state->regions[i].saved, state->regions[i].at, state->regions[i].len);
}

/* The limit counts all runs of the process. The kernel compares it with ticks, which differ from
 * the time of getrusage() by more and more: the clock of the ticks is CPUCLOCK_PROF of process 0,
 * this one, which has no name in a header for programs. */
static void rewind_bound_time(void)
{
	const clockid_t ticks = (clockid_t)(~0u << 3);
	struct timespec used = { 0 };
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };

	syscall(SYS_clock_gettime, ticks, &used);
	limit.rlim_cur = (rlim_t)used.tv_sec + 1 + preload_control->cpu_seconds_max;
	syscall(SYS_prlimit64, 0, RLIMIT_CPU, &limit, NULL);
}

void rewind_begin(void)
{
	if (!_setjmp(state->beginning))
		rewind_save();
	else
		serve_await_request();
	preload_control->busy = true;
	getrusage(RUSAGE_SELF, &state->used);
	rewind_bound_time();
}

/* ---- going back ---- */

void rewind_spoil(void)
{
	spoiled = true;
}

/* From here on the program cannot continue, whether it is. */
static bool rewind_is_possible(void)
{
	if (spoiled)
		return false;
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
		return false;
	close_range(FIRST_FD, PRELOAD_FDS - 1, 0);
	close_range((unsigned)state->statm_fd + 1, ~0U, 0);
	rewind_reopen();
	syscall(SYS_brk, state->heap_end);
	return rewind_pages() == state->pages;
}

static uint64_t rewind_us(struct timeval from, struct timeval to)
{
	return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000 + to.tv_usec - from.tv_usec);
}

void rewind_end(int code)
{
	struct control *c = preload_control;
	struct rusage used;

	if (!state)
		return;
	if (!rewind_is_possible())
		syscall(SYS_exit_group, code);
	getrusage(RUSAGE_SELF, &used);
	c->status = (code & 0xff) << 8;
	c->cpu_us = rewind_us(state->used.ru_utime, used.ru_utime) +
		    rewind_us(state->used.ru_stime, used.ru_stime);
	c->max_rss_kb = (uint64_t)used.ru_maxrss;
	c->rewound++;
	c->busy = false;
	serve_pass_turn(CONTROL_DONE);
	setcontext(&state->restoring);
}

/* ---- the ends of a program, and what cannot be undone ---- */

/* Called behind all other handlers, since it is registered before them. */
static void rewind_at_exit(int code, void *own)
{
	if (!state)
		return;
	fflush(NULL);
	rewind_end(code);
}

void rewind_watch_exit(void)
{
	on_exit(rewind_at_exit, NULL);
}

PRELOAD_EXPORT void _exit(int code)
{
	rewind_end(code);
	syscall(SYS_exit_group, code);
	__builtin_unreachable();
}

PRELOAD_EXPORT int sigprocmask(int how, const sigset_t *new, sigset_t *old)
{
	spoiled |= new != NULL;
	return preload_next()->sigprocmask(how, new, old);
}

PRELOAD_EXPORT unsigned alarm(unsigned seconds)
{
	spoiled = true;
	return preload_next()->alarm(seconds);
}

PRELOAD_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *new,
			     struct itimerval *old)
{
	spoiled = true;
	return preload_next()->setitimer(which, new, old);
}

PRELOAD_EXPORT int chdir(const char *path)
{
	spoiled = true;
	return preload_next()->chdir(path);
}

PRELOAD_EXPORT mode_t umask(mode_t mask)
{
	spoiled = true;
	return preload_next()->umask(mask);
}

PRELOAD_EXPORT int mprotect(void *at, size_t len, int protection)
{
	spoiled = true;
	return preload_next()->mprotect(at, len, protection);
}
