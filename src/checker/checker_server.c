/* checker_server.c -- the process of a checker, confined. */
#include "checker/checker_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "checker/checker_program.h"
#include "checker/preload/control.h"
#include "process/confine.h"
#include "process/descriptors.h"
#include "process/owner.h"
#include "sandbox/privilege.h"
#include "storage/program.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

enum {
	INPUT_LINES = 1000,
	OUTPUT_MAX = 64 << 10,
	LOOK_MS = 100,      /* how often we look whether the runner is still there */
	START_SECONDS = 30, /* for a checker to open the disk */
	END_SECONDS = 1,
	WALL_FACTOR = 4, /* a run that waits gets so much more time than one that computes */
	WALL_SECONDS = 2,
	PROCESSES_MAX =
		512, /* that a checker may have at once; the kernel allows no less than 301 */
	ADDRESS_FACTOR = 8, /* address space against memory: threads reserve much of it */
};

/* ---- the library ---- */

extern const char checker_preload_bytes[], checker_preload_end[];
__asm__(".section .rodata\n"
	".global checker_preload_bytes, checker_preload_end\n"
	"checker_preload_bytes:\n"
	".incbin \"build/checker-preload.so\"\n"
	"checker_preload_end:\n"
	".previous\n");

int checker_server_preload(struct err *err)
{
	/* cppcheck-suppress comparePointers ; the assembler put them into one */
	size_t len = (size_t)(checker_preload_end - checker_preload_bytes);
	int fd = memfd_create("assay-checker-preload.so", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("assay-checker-preload.so", MFD_CLOEXEC);
	if (fd < 0 || write(fd, checker_preload_bytes, len) != (ssize_t)len) {
		err_sys(err, errno, "cannot keep the library of checkers in memory");
		if (fd >= 0)
			close(fd);
		return err->code;
	}
	return fd;
}

/* ---- making ---- */

static int server_map_control(struct checker_server *s, uint64_t capacity, struct err *err)
{
	size_t bytes = control_bytes(capacity);

	s->control_fd = memfd_create("assay-checker-control", MFD_CLOEXEC);
	if (s->control_fd < 0 || ftruncate(s->control_fd, (off_t)bytes))
		return err_sys(err, errno, "cannot make the memory that a checker shares with us");
	s->control = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->control_fd, 0);
	if (s->control == MAP_FAILED) {
		s->control = NULL;
		return err_sys(err, errno, "cannot map the memory that a checker shares with us");
	}
	s->control->capacity = capacity;
	s->control->now = (int64_t)s->program->now;
	s->control->cpu_seconds_max = (uint32_t)ceil(s->program->seconds);
	return 0;
}

/* It cannot grow, so that a checker that never stops to print fills nothing. */
static int server_map_output(struct checker_server *s, struct err *err)
{
	void *map;

	s->output_fd = memfd_create("assay-checker-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->output_fd < 0 || ftruncate(s->output_fd, OUTPUT_MAX) ||
	    fcntl(s->output_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))
		return err_sys(err, errno, "cannot make the memory of a checker's output");
	map = mmap(NULL, OUTPUT_MAX, PROT_READ, MAP_SHARED, s->output_fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "cannot map the memory of a checker's output");
	s->output = map;
	return 0;
}

/* As a file, so that every run reads it from its beginning. */
static int server_make_input(struct checker_server *s, struct err *err)
{
	struct buf lines = BUF_INIT;
	int ret = 0;

	for (int i = 0; i < INPUT_LINES && s->program->input; i++)
		buf_addf(&lines, "%s\n", s->program->input);
	s->input_fd = memfd_create("assay-checker-input", MFD_CLOEXEC);
	if (s->input_fd < 0 || write(s->input_fd, buf_str(&lines), lines.len) != (ssize_t)lines.len)
		ret = err_sys(err, errno, "cannot make the input of a checker");
	buf_free(&lines);
	return ret;
}

int checker_server_make(struct checker_server *s, const struct checker_program *p,
			const char *command, int disk_fd, int preload_fd, uint64_t capacity,
			struct err *err)
{
	struct program_value image = { "image", CONTROL_DISK_PATH };
	struct buf text = BUF_INIT;
	int ret;

	buf_adds(&text, "exec ");
	program_fill(&text, command, &image, 1);
	*s = (struct checker_server){
		.program = p,
		.command = text.data,
		.control_fd = -1,
		.input_fd = -1,
		.output_fd = -1,
		.disk_fd = disk_fd,
		.preload_fd = preload_fd,
	};
	ret = server_map_control(s, capacity, err);
	if (!ret)
		ret = server_map_output(s, err);
	if (!ret)
		ret = server_make_input(s, err);
	if (ret)
		checker_server_free(s);
	return ret;
}

/* ---- the runner and the program, which shares our memory until it executes ---- */

struct server_start {
	const struct checker_server *server;
	char *const *argv, *const *environment;
	int namespaces; /* CLONE_NEW... */
	uid_t uid;
	gid_t gid;
	int owner_fd; /* of the process that clones */
};

static void server_limit(int resource, uint64_t most)
{
	struct rlimit limit = { most, most };

	setrlimit((__rlimit_resource_t)resource, &limit);
}

/* Ends by SIGXCPU, so that we know the reason. */
static void server_limit_time(const struct control *c)
{
	struct rlimit limit = { c->cpu_seconds_max, c->cpu_seconds_max + 1 };

	setrlimit(RLIMIT_CPU, &limit);
}

static void server_set_limits(const struct checker_server *s)
{
	server_limit(RLIMIT_CORE, 0);
	server_limit(RLIMIT_DATA, s->program->memory);
	server_limit(RLIMIT_AS, s->program->memory * ADDRESS_FACTOR);
	server_limit(RLIMIT_FSIZE, s->control->capacity);
	server_limit(RLIMIT_MEMLOCK, 0);
	/* A copy bounds its time itself: the server lives on. */
	if (!s->control->serves)
		server_limit_time(s->control);
}

/* How many processes there can be at once, however they are started. Root is exempt from the limit
 * of a user; a process namespace has its own since Linux 6.14, where the file below is that of all
 * processes before. */
static void server_limit_processes(const struct server_start *start)
{
	int major = 0, minor = 0, fd;
	struct utsname name;

	if (start->namespaces & CLONE_NEWUSER)
		server_limit(RLIMIT_NPROC, PROCESSES_MAX);
	if (!(start->namespaces & CLONE_NEWPID) || uname(&name) ||
	    sscanf(name.release, "%d.%d", &major, &minor) != 2 || major < 6 ||
	    (major == 6 && minor < 14))
		return;
	fd = open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%d\n", PROCESSES_MAX);
	close(fd);
}

/* Executed as root, it has no more rights than the bounding set. */
static void server_drop_capabilities(void)
{
	for (int i = 0; !prctl(PR_CAPBSET_DROP, i); i++)
		;
}

static _Noreturn void server_execute(const struct server_start *start, pid_t runner)
{
	const struct checker_server *s = start->server;
	const int given[CONTROL_FDS] = {
		s->input_fd, s->output_fd, s->output_fd, s->disk_fd, s->control_fd, s->preload_fd,
	};
	int kept[CONTROL_FDS];

	owner_follow(runner, SIGKILL);
	for (int i = 0; i < CONTROL_FDS; i++)
		kept[i] = fcntl(given[i], F_DUPFD_CLOEXEC, CONTROL_FDS);
	for (int i = 0; i < CONTROL_FDS; i++)
		if (dup2(kept[i], i) < 0)
			_exit(127);
	close_range(CONTROL_FDS, ~0U, 0);
	server_set_limits(s);
	server_drop_capabilities();
	personality(ADDR_NO_RANDOMIZE);
	s->control->program = getpid();
	execve("/bin/sh", start->argv, start->environment);
	_exit(127);
}

static void server_pass_turn(struct control *c, enum control_turn turn)
{
	atomic_store(&c->turn, turn);
	syscall(SYS_futex, &c->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static double server_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* All mounts are read-only; a device that could still be written to is Landlock's. Without both
 * there is nothing that keeps root from it. */
static int server_confine(const struct server_start *start)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID,
				   .propagation = MS_SLAVE };
	struct user_map user = { start->uid, start->uid }, group = { start->gid, start->gid };
	struct err err = { 0 };

	if (start->namespaces & CLONE_NEWUSER && privilege_map_user(user, group, &err))
		return -err.code;
	if (start->namespaces & CLONE_NEWNS &&
	    mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)))
		return errno;
	if (confine_program() || (start->namespaces && start->uid))
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? errno : 0;
	return ENOTSUP;
}

/* Also of what it left behind, which has become our child. */
static void runner_await_end(struct control *c, pid_t program)
{
	struct rusage used;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, 0, &used)) != program)
		if (pid < 0 && errno != EINTR)
			_exit(1);
	c->status = status;
	c->cpu_us =
		(uint64_t)((server_seconds(used.ru_utime) + server_seconds(used.ru_stime)) * 1e6);
	c->max_rss_kb = (uint64_t)used.ru_maxrss;
}

static _Noreturn void runner(const struct server_start *start)
{
	struct control *c = start->server->control;
	sigset_t none;
	pid_t pid = -1, self = getpid();

	owner_follow_fd(start->owner_fd, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	umask(022);
	server_limit_processes(start);
	c->failure = chdir("/") ? errno : server_confine(start);
	if (!c->failure) {
		pid = fork();
		c->failure = pid < 0 ? errno : 0;
	}
	if (!pid)
		server_execute(start, self);
	descriptors_keep(NULL, 0);
	if (pid > 0)
		runner_await_end(c, pid);
	server_pass_turn(c, CONTROL_GONE);
	_exit(0);
}

/* Where namespaces are refused, Landlock and the process group have to do. */
static pid_t server_clone(struct server_start *start)
{
	pid_t pid;

	start->uid = geteuid();
	start->gid = getegid();
	start->owner_fd = owner_open();
	start->namespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
			    (start->uid ? CLONE_NEWUSER : 0);
	pid = (pid_t)syscall(SYS_clone, start->namespaces | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0) {
		start->namespaces = 0;
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	}
	return pid;
}

static int server_spawn(struct checker_server *s, bool serves, struct err *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", s->command, NULL };
	char *environment[] = {
		NULL,
		(char *)"LC_ALL=C",
		(char *)"TZ=UTC0",
		(char *)"LD_BIND_NOW=1", /* once, not in every copy */
		(char *)"LD_PRELOAD=" CONTROL_PRELOAD_PATH,
		(char *)CONTROL_ENVIRONMENT "=1",
		NULL,
	};
	struct server_start start = { .server = s, .argv = argv, .environment = environment };
	struct buf path = BUF_INIT;
	pid_t pid;

	buf_adds(&path, "PATH=");
	program_search_path(&path);
	environment[0] = path.data;
	lseek(s->output_fd, 0, SEEK_SET);
	lseek(s->input_fd, 0, SEEK_SET);
	s->control->serves = serves;
	s->control->failure = 0;
	atomic_store(&s->control->turn, CONTROL_STARTING);
	pid = server_clone(&start);
	if (!pid)
		runner(&start);
	if (start.owner_fd >= 0)
		close(start.owner_fd);
	buf_free(&path);
	if (pid < 0)
		return err_sys(err, errno, "cannot start a checker");
	s->runner = pid;
	return 0;
}

/* ---- runs ---- */

/* How much longer things take where more processes want to run than there are CPUs. */
static double server_load(void)
{
	double load = 0, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	return getloadavg(&load, 1) == 1 && load > cpus ? load / cpus : 1;
}

/* Until it is another's turn; false when the time is over. Here that is time in which a checker may
 * wait for something: its CPU time is bounded by a limit of the process. */
static bool server_await(struct checker_server *s, enum control_turn turn, double seconds)
{
	struct timespec slice = { .tv_nsec = LOOK_MS * NS_PER_MS };
	double began = clock_seconds();
	siginfo_t end;

	while (atomic_load(&s->control->turn) == turn) {
		if (clock_seconds() > began + seconds &&
		    clock_seconds() > began + seconds * server_load())
			return false;
		if (!syscall(SYS_futex, &s->control->turn, FUTEX_WAIT, turn, &slice, NULL, 0) ||
		    errno != ETIMEDOUT)
			continue;
		end = (siginfo_t){ 0 };
		if (!waitid(P_PID, (id_t)s->runner, &end, WEXITED | WNOHANG | WNOWAIT) &&
		    end.si_pid && atomic_load(&s->control->turn) == turn)
			atomic_store(&s->control->turn, CONTROL_GONE);
	}
	return true;
}

static void server_kill(struct checker_server *s)
{
	if (!s->runner)
		return;
	kill(-s->runner, SIGKILL);
	kill(s->runner, SIGKILL);
	waitpid(s->runner, NULL, 0);
	s->runner = 0;
}

/* One that waits for a request ends by itself, so that its CPU time is counted as ours. */
static void server_end(struct checker_server *s)
{
	uint32_t turn;

	if (!s->runner)
		return;
	turn = atomic_load(&s->control->turn);
	if (turn == CONTROL_READY || turn == CONTROL_DONE) {
		server_pass_turn(s->control, CONTROL_END);
		server_await(s, CONTROL_END, END_SECONDS);
	}
	server_kill(s);
}

void checker_server_free(struct checker_server *s)
{
	if (!s->command)
		return;
	server_end(s);
	if (s->output)
		munmap((void *)s->output, OUTPUT_MAX);
	if (s->control)
		munmap(s->control, control_bytes(s->control->capacity));
	if (s->input_fd >= 0)
		close(s->input_fd);
	if (s->output_fd >= 0)
		close(s->output_fd);
	if (s->control_fd >= 0)
		close(s->control_fd);
	free(s->command);
	*s = (struct checker_server){ 0 };
}

static double server_patience(const struct checker_server *s)
{
	return s->program->seconds * WALL_FACTOR + WALL_SECONDS;
}

static int server_started_badly(const struct checker_server *s, struct err *err)
{
	const char *why = s->control->failure == ENOTSUP
				? "this kernel can keep it from writing to other files by no means"
				: strerror(s->control->failure);

	return err_set(err, s->control->failure, "cannot confine %s: %s", s->program->name, why);
}

int checker_server_start(struct checker_server *s, struct err *err)
{
	int ret;

	if (s->anew || s->runner)
		return 0;
	ret = server_spawn(s, true, err);
	if (ret)
		return ret;
	s->copies = server_await(s, CONTROL_STARTING, START_SECONDS) &&
		    atomic_load(&s->control->turn) == CONTROL_READY;
	s->output_start = lseek(s->output_fd, 0, SEEK_CUR);
	s->input_start = lseek(s->input_fd, 0, SEEK_CUR);
	if (s->copies)
		return 0;
	server_end(s);
	if (s->control->failure)
		return server_started_badly(s, err);
	s->anew = true;
	return 0;
}

static int server_run_anew(struct checker_server *s, bool *ret_in_time, struct err *err)
{
	int ret = server_spawn(s, false, err);

	if (ret)
		return ret;
	*ret_in_time = server_await(s, CONTROL_STARTING, server_patience(s));
	server_kill(s);
	return s->control->failure ? server_started_badly(s, err) : 0;
}

static int server_run_copy(struct checker_server *s, bool *ret_in_time, struct err *err)
{
	struct control *c = s->control;

	server_pass_turn(c, CONTROL_RUN);
	*ret_in_time = server_await(s, CONTROL_RUN, server_patience(s));
	if (!*ret_in_time || c->left_processes)
		server_kill(s);
	if (atomic_load(&c->turn) == CONTROL_GONE) {
		server_kill(s);
		return err_set(err, ECHILD, "the process of %s is gone", s->program->name);
	}
	return 0;
}

static void server_take_output(struct checker_server *s, struct buf *output)
{
	off_t len = lseek(s->output_fd, 0, SEEK_CUR);

	if (len > 0)
		buf_add(output, s->output, len < OUTPUT_MAX ? (size_t)len : OUTPUT_MAX);
}

int checker_server_run(struct checker_server *s, uint64_t disk_size, bool once,
		       struct checker_ended *ret, struct buf *output, struct err *err)
{
	struct control *c = s->control;
	double began = clock_seconds();
	bool in_time;
	int r;

	if (once)
		server_end(s);
	c->disk_size = disk_size;
	c->writes = 0;
	c->caught = 0;
	c->unseen = c->left_processes = false;
	atomic_store(&c->processes, 0);
	atomic_store(&c->lock, 0);
	lseek(s->output_fd, s->output_start, SEEK_SET);
	lseek(s->input_fd, s->input_start, SEEK_SET);
	r = once ? server_run_anew(s, &in_time, err) : server_run_copy(s, &in_time, err);
	if (r)
		return r;
	server_take_output(s, output);
	*ret = (struct checker_ended){
		.in_time = in_time,
		.status = c->status,
		.cpu_seconds = in_time ? (double)c->cpu_us * 1e-6 : clock_seconds() - began,
		.max_rss_kb = in_time ? c->max_rss_kb : 0,
	};
	return 0;
}
