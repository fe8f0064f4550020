/* live.c -- the tracer's user side: load, let the command run, collect.
 *
 * The command waits before its exec until the tracer is attached, so that its first call counts. */
#include "cover/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "base/version.h"
#include "cover/kernel_event.h"
#include "gen/tracer.h"
#include "process/capability.h"
#include "process/cgroup.h"
#include "process/owner.h"

#ifdef TRACER_MISSING

const char *live_missing(void)
{
	return "built without the tracer, because of missing " TRACER_MISSING;
}

int live_trace(struct coverage *c, const struct live_options *options, int *ret_status,
	       struct err *err)
{
	return err_set(err, EOPNOTSUPP, "%s", live_missing());
}

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

enum { LOOK_MS = 500 }; /* how often it is looked whether we are to stop */

const char *live_missing(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF (/sys/kernel/btf/vmlinux)";
	if (!capability_has(CAP_SYS_ADMIN) &&
	    !(capability_has(CAP_BPF) && capability_has(CAP_PERFMON)))
		return "tracing needs root, or CAP_BPF and CAP_PERFMON";
	return "";
}

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static void fill_rows(struct tracer *t)
{
	const struct syscall *s = syscall_rows();

	for (size_t i = 0; i < syscall_count; i++, s++) {
		memcpy((void *)&t->rodata->rows[i], &s->row, sizeof(s->row));
		t->rodata->request_of[i] = s->request;
		if (s->number >= 0 && s->number < TRACE_NUMBERS_MAX)
			t->rodata->row_of[s->number] = (unsigned char)(i + 1);
	}
}

/* Casts are of Linux 6.2. Reading the kernel's types to be sure takes as long as trying. */
static bool kernel_may_cast(void)
{
	return version_compare(version_running(), (struct version)VERSION(6, 2)) >= 0;
}

static struct tracer *load_as(const struct live_options *options, const struct cgroup *group,
			      bool see_walks, bool can_cast)
{
	struct tracer *t = tracer__open();
	int r;

	if (!t)
		return NULL;
	fill_rows(t);
	t->rodata->mounts_used = (unsigned)options->mount_count;
	t->rodata->cgroup_id = group->id;
	t->rodata->see_walks = see_walks;
	t->rodata->can_cast = can_cast;
	bpf_program__set_autoload(t->progs.walk_end, see_walks);
	bpf_program__set_autoload(t->progs.enter_close, !see_walks);
	bpf_program__set_autoload(t->progs.forked, !group->id);
	/* Memory for all combinations, on every processor, takes longer than most commands;
	 * programs can ask for it when they need it since Linux 6.1. */
	if (version_compare(version_running(), (struct version)VERSION(6, 1)) >= 0)
		bpf_map__set_map_flags(t->maps.values, BPF_F_NO_PREALLOC);
	r = tracer__load(t);
	if (!r)
		return t;
	tracer__destroy(t);
	errno = -r;
	return NULL;
}

/* Walks can be seen where the kernel lets programs attach to its functions. Casts are faster, but
 * not every kernel that has them takes them everywhere. */
static struct tracer *tracer_load(const struct live_options *options, const struct cgroup *group,
				  bool see_walks)
{
	struct tracer *t = NULL;

	if (kernel_may_cast()) {
		t = load_as(options, group, see_walks, true);
		if (t || errno == EPERM) /* that is not because of casts */
			return t;
	}
	return load_as(options, group, see_walks, false);
}

/* What the kernel knows an open directory by. */
static int learn_place(struct tracer *t, const char *path, struct err *err)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), r;
	uint64_t args[1] = { (uint64_t)fd };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	r = bpf_prog_test_run_opts(bpf_program__fd(t->progs.learn), &opts);
	close(fd);
	if (r || opts.retval)
		return err_sys(err, r ? -r : EIO, "cannot stat %s", path);
	return 0;
}

/* The directories on the way to the mount point, and how far each is along it. */
static int learn_ancestors(struct tracer *t, struct trace_mount *m, struct err *err)
{
	char path[TRACE_PATH + 1] = "/";
	unsigned end = 0;
	int r = 0;

	while (!r && end < m->len && m->ancestors < TRACE_ANCESTORS) {
		r = learn_place(t, path, err);
		m->ancestor[m->ancestors] = t->bss->learned;
		m->ancestor[m->ancestors++].at = end;
		m->up[end + 1] = (unsigned char)end;
		for (end++; end < m->len && m->path[end] != '/'; end++)
			m->up[end + 1] = m->up[end];
		memcpy(path, m->path, end);
		path[end] = 0;
	}
	return r;
}

static int learn_mount(struct tracer *t, struct trace_mount *m, const char *mount, struct err *err)
{
	char *path = realpath(mount, NULL);
	struct statx st;
	int r = path ? 0 : err_sys(err, errno, "%s", mount);

	if (!r && statx(AT_FDCWD, path, 0, STATX_TYPE, &st))
		r = err_sys(err, errno, "%s", path);
	if (!r && !S_ISDIR(st.stx_mode))
		r = err_sys(err, ENOTDIR, "%s", path);
	if (!r && strlen(path) >= TRACE_PATH)
		r = err_set(err, ENAMETOOLONG, "%s: path too long", path);
	if (!r)
		r = learn_place(t, path, err);
	if (!r) {
		/* A plain directory is made a mount for the command, at itself. */
		if (!(st.stx_attributes & STATX_ATTR_MOUNT_ROOT)) {
			m->below = t->bss->learned;
		} else {
			m->dev = t->bss->learned.dev;
			m->below = t->bss->learned_below;
		}
		m->len = strcmp(path, "/") ? (unsigned)strlen(path) : 0;
		memcpy(m->path, path, m->len);
		memset(m->mask, 0xff, m->len);
		r = learn_ancestors(t, m, err);
	}
	free(path);
	return r;
}

struct child {
	pid_t pid;
	int gate; /* a byte lets the command begin; closing it, as our death does, makes it end */
	int why;  /* carries the error that prevented its start */
};

/* Of the command alone: each directory that is no mount point is mounted on itself, so that what
 * lies below it can be distinguished from the rest of the file system. */
static int mount_plain_directories(const struct live_options *options)
{
	bool alone = false;
	struct statx st;
	char *here;
	int r = 0;

	for (size_t i = 0; i < options->mount_count && !r; i++) {
		const char *path = options->mounts[i];

		if (statx(AT_FDCWD, path, 0, STATX_TYPE, &st))
			return -1;
		if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
			continue;
		if (!alone)
			r = unshare(CLONE_NEWNS) ||
			    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		alone = true;
		if (!r)
			r = mount(path, path, NULL, MS_BIND | MS_REC, NULL);
	}
	here = alone && !r ? getcwd(NULL, 0) : NULL;
	if (here)
		r = chdir(here); /* which may be below one of them now */
	free(here);
	return r;
}

static _Noreturn void be_command(const struct live_options *options, const struct cgroup *group,
				 int gate, int why, pid_t owner)
{
	int lacks = 0;
	char byte;

	if (options->output_to_stderr)
		dup2(2, 1);
	if (mount_plain_directories(options)) /* before its calls are counted */
		lacks = errno;
	if (group->path && !cgroup_join(group))
		_exit(126);
	if (!group->path)
		owner_follow(owner, SIGKILL);
	if (read(gate, &byte, 1) == 1) {
		if (!lacks) {
			execvp(options->command[0], options->command);
			lacks = errno;
		}
		dprintf(why, "%d", lacks);
	}
	_exit(127);
}

static int child_start(struct child *child, const struct live_options *options,
		       const struct cgroup *group, struct err *err)
{
	pid_t owner = getpid();
	int gate[2], why[2];

	if (pipe2(gate, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(why, O_CLOEXEC)) {
		close(gate[0]);
		close(gate[1]);
		return err_sys(err, errno, "cannot make a pipe");
	}
	child->pid = fork();
	if (!child->pid) {
		close(gate[1]);
		be_command(options, group, gate[0], why[1], owner);
	}
	close(gate[0]);
	close(why[1]);
	child->gate = gate[1];
	child->why = why[0];
	if (child->pid < 0) {
		close(gate[1]);
		close(why[0]);
		return err_sys(err, errno, "cannot fork");
	}
	return 0;
}

/* Is the signal one that the terminal sent to all in front of it, the command among them? */
static bool is_terminals(int number)
{
	int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC);
	bool ours = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();

	if (terminal >= 0)
		close(terminal);
	return number == SIGINT && ours;
}

/* Waits for the command's end, and passes a signal on that asks for it. */
static void await_child(const struct child *child, const struct live_options *options,
			const struct cgroup *group, int *ret_status)
{
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, child->pid, 0), .events = POLLIN };
	int asked = 0;

	while (end.fd >= 0 && poll(&end, 1, LOOK_MS) <= 0) {
		if (asked || !options->stop || !*options->stop)
			continue;
		asked = *options->stop;
		if (is_terminals(asked))
			continue;
		kill(child->pid, asked);
		cgroup_signal(group, asked);
	}
	if (end.fd >= 0)
		close(end.fd);
	while (waitpid(child->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	if (asked)
		cgroup_signal(group, SIGKILL);
}

/* Lets the command begin, or, where something is amiss already, end; and waits for its end. */
static int child_finish(struct child *child, const struct live_options *options,
			const struct cgroup *group, int r, int *ret_status, struct err *err)
{
	char why[16] = "";

	if (!r && write(child->gate, "", 1) != 1)
		r = err_sys(err, errno, "cannot start the command");
	close(child->gate);
	await_child(child, options, group, ret_status);
	if (!r && read(child->why, why, sizeof(why) - 1) > 0)
		r = err_sys(err, atoi(why), "cannot run %s", options->command[0]);
	close(child->why);
	return r;
}

/* Marks the command's process: without a group its descendants inherit the mark. */
static int mark_process(struct tracer *t, pid_t pid, struct err *err)
{
	struct trace_state state = { .traced = true };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;

	if (fd < 0)
		return err_sys(err, errno, "cannot open process %d", (int)pid);
	r = bpf_map_update_elem(bpf_map__fd(t->maps.states), &fd, &state, BPF_ANY);
	close(fd);
	return r ? err_sys(err, -r, "cannot mark process %d", (int)pid) : 0;
}

/* A number of that class. */
static int64_t class_value(unsigned class)
{
	if (class < 3)
		return (int64_t) class - 1;
	return (INT64_C(1) << (class - 1) / 2) + (class % 2 ? 0 : 1);
}

static void collect_arg(struct coverage *c, const struct syscall *s, unsigned a,
			const struct trace_counts *counts)
{
	const __u64 *number = counts->arg[a].number;
	const struct trace_seat *seat = counts->arg[a].seat;

	if (s->row.arg[a].number) {
		for (unsigned class = 0; class < TRACE_CLASSES; class ++)
			if (number[class])
				coverage_value(c, s, a, class_value(class), number[class]);
		return;
	}
	for (; seat < counts->arg[a].seat + (1 << TRACE_SEATS_LOG); seat++)
		if (seat->count)
			coverage_value(c, s, a, (int64_t)seat->value, seat->count);
}

/* Counts of all CPUs, added up. */
static void collect_row(struct coverage *c, struct tracer *t, uint32_t row,
			struct trace_counts *counts, int cpus)
{
	const struct syscall *s = &syscall_rows()[row];

	if (bpf_map_lookup_elem(bpf_map__fd(t->maps.counts), &row, counts))
		return;
	for (int cpu = 0; cpu < cpus; cpu++, counts++) {
		for (int error = 1; error < TRACE_ERRNOS; error++)
			if (counts->error[error])
				coverage_result(c, s, -error, counts->error[error]);
		for (unsigned class = 0; class < TRACE_CLASSES; class ++)
			if (counts->returned[class])
				coverage_result(c, s, class_value(class), counts->returned[class]);
		for (unsigned a = 0; a < s->row.args; a++)
			collect_arg(c, s, a, counts);
	}
}

static void collect_values(struct coverage *c, struct tracer *t, uint64_t *counts, int cpus)
{
	int map = bpf_map__fd(t->maps.values);
	struct trace_value key, *before = NULL;

	while (!bpf_map_get_next_key(map, before, &key)) {
		before = &key;
		if (bpf_map_lookup_elem(map, &key, counts))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			if (counts[cpu])
				coverage_value(c, &syscall_rows()[key.row], key.arg,
					       (int64_t)key.value, counts[cpu]);
	}
}

/* Runs that the kernel skipped, because one was under way. */
static uint64_t program_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
		return 0;
	return info.recursion_misses;
}

static void tracer_collect(struct coverage *c, struct tracer *t)
{
	int cpus = libbpf_num_possible_cpus();
	struct trace_counts *counts = must_alloc((size_t)cpus * sizeof(*counts));

	for (uint32_t row = 0; row < syscall_count; row++)
		collect_row(c, t, row, counts, cpus);
	collect_values(c, t, (uint64_t *)counts, cpus);
	c->unattributed += t->bss->unattributed;
	c->lost += t->bss->lost + program_missed(t->progs.enter) + program_missed(t->progs.leave) +
		   program_missed(t->progs.walk_end);
	free(counts);
}

/* The best that loads, of what the options allow. */
static int load_best(struct tracer **ret, const struct live_options *options,
		     const struct cgroup *group, struct err *err)
{
	struct tracer *t = NULL;

	if (options->paths != LIVE_PATHS_NAMES)
		t = tracer_load(options, group, true);
	if (!t && options->paths == LIVE_PATHS_WALKS)
		return err_sys(err, errno, "the kernel does not allow probes on its path walk");
	if (!t)
		t = tracer_load(options, group, false);
	if (!t)
		return err_set(err, errno,
			       "the kernel (Linux 5.17 or later is needed) does not "
			       "take the tracer: %s; " LIVE_INSTEAD,
			       strerror(errno));
	*ret = t;
	return 0;
}

static int tracer_prepare(struct tracer **ret, struct coverage *c,
			  const struct live_options *options, const struct cgroup *group,
			  struct err *err)
{
	int r = load_best(ret, options, group, err);
	struct tracer *t = *ret;
	uint32_t zero = 0;

	if (r)
		return r;
	c->exact = t->rodata->see_walks;
	c->selected = group->path ? "cgroup" : "descendants";
	if (group->path &&
	    bpf_map_update_elem(bpf_map__fd(t->maps.cgroup), &zero, &group->fd, BPF_ANY))
		return err_sys(err, errno, "cannot trace the control group");
	r = learn_place(t, "/", err);
	t->bss->root = t->bss->learned;
	for (size_t i = 0; !r && i < options->mount_count; i++)
		r = learn_mount(t, &t->bss->mounts[i], options->mounts[i], err);
	return r;
}

/* Where only close is looked at when it begins, its own event is cheaper than that of all calls. */
static void attach_close(struct tracer *t)
{
	int event = t->rodata->see_walks ? -1 : kernel_event_open("syscalls/sys_enter_close");

	bpf_program__set_autoattach(t->progs.enter_close, false);
	if (event < 0)
		return;
	t->links.enter_close = bpf_program__attach_perf_event(t->progs.enter_close, event);
	if (t->links.enter_close)
		bpf_program__set_autoattach(t->progs.enter, false);
	else
		close(event);
}

static int tracer_attach(struct tracer *t, struct err *err)
{
	attach_close(t);
	return tracer__attach(t) ? err_sys(err, errno, "cannot attach the tracer") : 0;
}

static int trace_child(struct tracer *t, const struct live_options *options,
		       const struct cgroup *group, int *ret_status, struct err *err)
{
	struct child child = { .gate = -1, .why = -1 };
	int r = child_start(&child, options, group, err);

	if (r)
		return r;
	if (!group->path)
		r = mark_process(t, child.pid, err);
	if (!r)
		r = tracer_attach(t, err);
	r = child_finish(&child, options, group, r, ret_status, err);
	tracer__detach(t);
	return r;
}

int live_trace(struct coverage *c, const struct live_options *options, int *ret_status,
	       struct err *err)
{
	struct tracer *t = NULL;
	struct cgroup group;
	int r;

	must(options->mount_count && options->mount_count <= TRACE_MOUNTS);
	libbpf_set_print(be_silent);
	cgroup_make(&group, "cover", 0);
	r = tracer_prepare(&t, c, options, &group, err);
	if (!r)
		r = trace_child(t, options, &group, ret_status, err);
	if (!r)
		tracer_collect(c, t);
	tracer__destroy(t);
	cgroup_remove(&group);
	return r;
}

#endif
