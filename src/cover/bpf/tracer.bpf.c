// SPDX-License-Identifier: GPL-2.0
/* tracer.bpf.c -- counts, in the kernel, the calls that act on the file systems under test.
 *
 * At the entry of a call on a descriptor the file's superblock decides: right for descriptors that
 * were duplicated, inherited or passed. A call on a path is decided at its exit: by the walk that
 * the kernel made, where that can be seen (program walk_end), else by what it yielded or by the
 * names in the path. All programs run with preemption off, so counters of a CPU need no atomics. */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "shared.h"

char LICENSE[] SEC("license") = "GPL";

#define AT_FDCWD -100
#define TS_COMPAT 2
#define O_MAKES (00000100 | 020000000) /* O_CREAT, __O_TMPFILE */
#define ERRNO_RESTARTS 512             /* the first of those that only the kernel sees */
#define EINTR 4
#define EBADF 9
#define EAGAIN 11
#define EXDEV 18
#define ENOTDIR 20
#define UIO_MAXIOV 1024

const volatile struct trace_row rows[TRACE_ROWS];
const volatile __u8 row_of[TRACE_NUMBERS_MAX]; /* row + 1 of a system call */
const volatile __u32 request_of[TRACE_ROWS];   /* of ioctl, by row */
const volatile __u32 rows_used, mounts_used;
const volatile bool by_cgroup, see_walks;

struct trace_mount mounts[TRACE_MOUNTS];
__u64 unattributed, lost;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct trace_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_ROWS);
	__type(key, __u32);
	__type(value, struct trace_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, TRACE_COMBINATIONS);
	__type(key, struct trace_value);
	__type(value, __u64);
} values SEC(".maps");

struct trace_text {
	char path[4096];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_text);
} scratches SEC(".maps");

/* The remainder is for the verifier, which cannot know that rows are in bounds. */
static __always_inline const volatile struct trace_row *row_at(__u32 i)
{
	return &rows[i % TRACE_ROWS];
}

static __always_inline struct trace_state *state_of_current(__u64 flags)
{
	return bpf_task_storage_get(&states, bpf_get_current_task_btf(), 0, flags);
}

/* Is the current task the command's, or a descendant of it? */
static __always_inline bool selected(void)
{
	struct trace_state *s;

	if (by_cgroup)
		return bpf_current_task_under_cgroup(&cgroup, 0) == 1;
	s = state_of_current(0);
	return s && s->traced;
}

/* Calls of 32-bit programs have other numbers. */
static __always_inline bool is_compat(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return bpf_core_field_exists(task->thread_info.status) &&
	       (BPF_CORE_READ(task, thread_info.status) & TS_COMPAT);
}

static __always_inline bool same_place(struct inode *inode, const struct trace_place *place)
{
	return BPF_CORE_READ(inode, i_ino) == place->ino &&
	       BPF_CORE_READ(inode, i_sb, s_dev) == place->dev;
}

static __always_inline struct inode *mounted_on(struct vfsmount *mnt)
{
	struct mount *m = (void *)mnt - bpf_core_field_offset(struct mount, mnt);

	return BPF_CORE_READ(m, mnt_mountpoint, d_inode);
}

/* A superblock made by a later mount has another device: its mount point is the same. */
static __always_inline bool on_mount(const struct trace_mount *m, __u32 dev, struct vfsmount *mnt)
{
	return dev == m->dev || (mnt && same_place(mounted_on(mnt), &m->below));
}

static __always_inline bool on_any_mount(__u32 dev, struct vfsmount *mnt)
{
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (on_mount(&mounts[i], dev, mnt))
			return true;
	return false;
}

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots, *file = NULL;

	if (!table || (unsigned)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	slots = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), slots + (unsigned)fd);
	return file;
}

static __always_inline bool fd_hits(int fd)
{
	struct file *file = file_of(fd);

	return file && on_any_mount(BPF_CORE_READ(file, f_inode, i_sb, s_dev),
				    BPF_CORE_READ(file, f_path.mnt));
}

static __always_inline __u64 argument(struct pt_regs *regs, int i)
{
	switch (i) {
	case 0:
		return PT_REGS_PARM1_CORE_SYSCALL(regs);
	case 1:
		return PT_REGS_PARM2_CORE_SYSCALL(regs);
	case 2:
		return PT_REGS_PARM3_CORE_SYSCALL(regs);
	case 3:
		return PT_REGS_PARM4_CORE_SYSCALL(regs);
	case 4:
		return PT_REGS_PARM5_CORE_SYSCALL(regs);
	default:
		return BPF_CORE_READ(regs, r9);
	}
}

/* ---- paths by their names, where the kernel's walk cannot be seen ---- */

/* Where a walk by names stands: `at` bytes of the mount point's path are behind it, `off` names
 * lead away from there, or, at its end, `below` names lead into the mount. */
struct trace_position {
	const struct trace_mount *mount;
	const char *path;
	__u32 at, off, below;
	__u32 name_len; /* of the name that is being read */
	bool matches;   /* so far it is the mount point's next */
	bool dots;      /* so far it is nothing but dots */
	bool above;     /* it went above where it began, which is not known */
	bool lost;      /* where it began is not known */
};

static __always_inline char mount_byte(const struct trace_mount *m, __u32 i)
{
	return i < TRACE_PATH ? m->path[i] : 0;
}

static __always_inline void go_up(struct trace_position *p)
{
	if (p->off)
		p->off--;
	else if (p->lost)
		p->above = true;
	else if (p->below)
		p->below--;
	else
		p->at = p->mount->up[p->at % TRACE_PATH];
}

static __always_inline void go_down(struct trace_position *p)
{
	char end = mount_byte(p->mount, p->at + 1 + p->name_len);

	if (p->lost || p->off)
		p->off++;
	else if (p->at == p->mount->len)
		p->below++;
	else if (p->matches && (end == '/' || !end))
		p->at += 1 + p->name_len;
	else
		p->off = 1;
}

static long walk_byte(__u32 i, void *context)
{
	struct trace_position *p = context;
	char c = 0;

	if (bpf_probe_read_kernel(&c, 1, p->path + i))
		return 1;
	if (c && c != '/') {
		p->matches = p->matches && mount_byte(p->mount, p->at + 1 + p->name_len) == c;
		p->dots = p->dots && c == '.';
		p->name_len++;
		return 0;
	}
	if (p->dots && p->name_len == 2)
		go_up(p);
	else if (p->name_len && !(p->dots && p->name_len == 1))
		go_down(p);
	p->name_len = 0;
	p->matches = p->dots = true;
	return !c;
}

struct trace_start {
	struct dentry *dentry;
	struct vfsmount *mnt;
};

struct trace_climb {
	const struct trace_mount *mount;
	struct dentry *dentry;
	__u32 steps;
	__u32 at;
	bool found;
};

/* Towards the root, until an ancestor of the mount point, or the mount's own root, is met. */
static long climb_step(__u32 i, void *context)
{
	struct trace_climb *c = context;
	struct dentry *dentry = c->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	struct inode *inode = BPF_CORE_READ(dentry, d_inode);

	for (__u32 a = 0; a < TRACE_ANCESTORS && a < c->mount->ancestors; a++) {
		if (same_place(inode, &c->mount->ancestor[a])) {
			c->at = c->mount->ancestor[a].at;
			c->found = true;
			return 1;
		}
	}
	if (parent == dentry)
		return 1;
	c->dentry = parent;
	c->steps++;
	return 0;
}

static __always_inline void begin_at(struct trace_position *p, const struct trace_start *start)
{
	struct trace_climb climb = { .mount = p->mount, .dentry = start->dentry };
	struct vfsmount *mnt = start->mnt;
	__u32 dev = BPF_CORE_READ(mnt, mnt_sb, s_dev);

	bpf_loop(256, climb_step, &climb, 0);
	if (on_mount(p->mount, dev, mnt)) {
		p->at = p->mount->len;
		p->below = climb.steps;
	} else if (climb.found) {
		p->at = climb.at;
		p->off = climb.steps;
	} else {
		p->lost = true;
	}
}

static __always_inline bool find_start(int dirfd, struct trace_start *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	if (dirfd == AT_FDCWD) {
		ret->dentry = BPF_CORE_READ(task, fs, pwd.dentry);
		ret->mnt = BPF_CORE_READ(task, fs, pwd.mnt);
		return true;
	}
	file = file_of(dirfd);
	if (!file)
		return false;
	ret->dentry = BPF_CORE_READ(file, f_path.dentry);
	ret->mnt = BPF_CORE_READ(file, f_path.mnt);
	return true;
}

/* Does the path, by its names, lead into a mount? Symbolic links are not followed. */
static __noinline int names_hit(int dirfd, __u64 user_path)
{
	struct trace_start start = { 0 };
	struct trace_position p;
	struct trace_text *s;
	__u32 zero = 0;
	bool unsure = false;

	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!s)
		return 0;
	s->path[0] = 0;
	if (user_path && bpf_probe_read_user_str(s->path, sizeof(s->path), (void *)user_path) < 0) {
		unattributed++;
		return 0;
	}
	if (s->path[0] != '/' && !find_start(dirfd, &start))
		return 0; /* no directory, no walk */
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++) {
		p = (struct trace_position){ .mount = &mounts[i], .path = s->path };
		p.matches = p.dots = true;
		if (s->path[0] != '/')
			begin_at(&p, &start);
		bpf_loop(sizeof(s->path), walk_byte, &p, 0);
		if (p.at == p.mount->len && !p.off && !p.lost)
			return 1;
		unsure |= p.above;
	}
	if (unsure)
		unattributed++;
	return 0;
}

static __always_inline int dirfd_argument(struct pt_regs *regs, int i)
{
	return i < 0 ? AT_FDCWD : (int)argument(regs, i);
}

/* A call that opened a descriptor, or changed the directory, shows where it went. */
static __always_inline bool path_hits(const volatile struct trace_row *row, struct pt_regs *regs,
				      long ret)
{
	if (row->descriptor && ret >= 0)
		return fd_hits((int)ret);
	if (names_hit(dirfd_argument(regs, row->fd), argument(regs, row->path)))
		return true;
	return row->path2 >= 0 &&
	       names_hit(dirfd_argument(regs, row->fd2), argument(regs, row->path2));
}

/* ---- paths by the kernel's own walks ---- */

static __always_inline bool starts_badly(long ret)
{
	return ret == -EBADF || ret == -ENOTDIR || ret == -EXDEV || ret == -EAGAIN;
}

/* A walk that never began (a bad descriptor, a name that is too long) is told by names. */
static __always_inline bool walk_hits(struct trace_state *s, int i, int dirfd, __u64 path, long ret)
{
	if (s->walks > i && (s->walk_begun[i] || !starts_badly(ret)))
		return s->walk_hit[i];
	return names_hit(dirfd, path);
}

static __always_inline bool walks_hit(struct trace_state *s, const volatile struct trace_row *row,
				      struct pt_regs *regs, long ret)
{
	if (walk_hits(s, 0, dirfd_argument(regs, row->fd), argument(regs, row->path), ret))
		return true;
	return row->path2 >= 0 && walk_hits(s, 1, dirfd_argument(regs, row->fd2),
					    argument(regs, row->path2), ret);
}

SEC("fentry/terminate_walk")
int BPF_PROG(walk_end, struct nameidata *nd)
{
	struct trace_state *s = state_of_current(0);
	struct vfsmount *mnt;
	__u64 name;
	__u32 dev;
	int i = 0;

	if (!s || !s->row || nd->saved) /* walks within walks are the file system's own */
		return 0;
	mnt = nd->path.mnt;
	dev = mnt ? BPF_CORE_READ(mnt, mnt_sb, s_dev) : BPF_CORE_READ(nd, inode, i_sb, s_dev);
	name = (__u64)nd->name;
	/* The same name again is a retry of the same walk: the last one counts. */
	if (s->walks && s->name[0] != name)
		i = 1;
	s->name[i] = name;
	s->walk_hit[i] = on_any_mount(dev, mnt);
	s->walk_begun[i] = mnt != NULL;
	if (s->walks <= i)
		s->walks = i + 1;
	return 0;
}

/* ---- counting ---- */

static __always_inline __u32 log2_of(__u64 n)
{
	__u32 log = 0;

	if (n >> 32) {
		n >>= 32;
		log += 32;
	}
	if (n >> 16) {
		n >>= 16;
		log += 16;
	}
	if (n >> 8) {
		n >>= 8;
		log += 8;
	}
	if (n >> 4) {
		n >>= 4;
		log += 4;
	}
	if (n >> 2) {
		n >>= 2;
		log += 2;
	}
	return log + (n >> 1);
}

/* negative, 0, 1, 2, 2..4, 4, ... as the partitions of numbers are. */
static __always_inline __u32 class_of(__s64 n)
{
	if (n <= 1)
		return n < 0 ? 0 : n + 1;
	return 1 + 2 * log2_of(n) + !!(n & (n - 1));
}

struct trace_sum {
	__u64 pieces, total;
	__u32 count;
	bool failed;
};

static long add_piece(__u32 i, void *context)
{
	struct trace_sum *sum = context;
	struct iovec piece;

	if (i >= sum->count)
		return 1;
	if (bpf_probe_read_user(&piece, sizeof(piece),
				(void *)(sum->pieces + i * sizeof(piece)))) {
		sum->failed = true;
		return 1;
	}
	sum->total += piece.iov_len;
	return 0;
}

/* What SPECIAL finds behind a pointer; false where it cannot be read. */
static __always_inline bool read_behind(__u8 special, struct pt_regs *regs, __u64 behind[3])
{
	struct trace_sum sum = { .pieces = argument(regs, 1) };
	__u32 word = 0;

	switch (special) {
	case SPECIAL_HOW:
		return !bpf_probe_read_user(behind, 24, (void *)argument(regs, 2));
	case SPECIAL_WORD:
		if (bpf_probe_read_user(&word, sizeof(word), (void *)argument(regs, 2)))
			return false;
		behind[0] = word;
		return true;
	case SPECIAL_VECTOR:
		sum.count = argument(regs, 2);
		if (sum.count > UIO_MAXIOV)
			return false;
		bpf_loop(UIO_MAXIOV, add_piece, &sum, 0);
		behind[0] = sum.total;
		return !sum.failed;
	default:
		return true;
	}
}

static __always_inline void count_value(__u32 row, __u32 arg, __u64 value)
{
	struct trace_value key = { .row = row, .arg = arg, .value = value };
	__u64 *count = bpf_map_lookup_elem(&values, &key), one = 1;

	if (count)
		*count += 1;
	else if (bpf_map_update_elem(&values, &key, &one, BPF_ANY))
		__sync_fetch_and_add(&lost, 1);
}

static __always_inline bool makes_file(struct pt_regs *regs, const volatile struct trace_row *row)
{
	return argument(regs, row->arg[0].from) & O_MAKES;
}

static __always_inline void count_args(struct trace_counts *c, __u32 i, struct pt_regs *regs)
{
	const volatile struct trace_row *row = row_at(i);
	__u64 behind[3] = { 0 }, value;

	if (!read_behind(row->special, regs, behind))
		return;
	for (__u32 a = 0; a < TRACE_ARGS && a < row->args; a++) {
		__u8 from = row->arg[a].from;

		if (row->special == SPECIAL_OPEN && a == 1 && !makes_file(regs, row))
			break;
		if (row->special == SPECIAL_HOW && a == 1 && !(behind[0] & O_MAKES))
			continue;
		if (from == SYSCALL_BEHIND)
			value = behind[0];
		else if (from == SYSCALL_BEHIND + 1)
			value = behind[1];
		else if (from == SYSCALL_BEHIND + 2)
			value = behind[2];
		else
			value = argument(regs, from);
		if (row->arg[a].number)
			c->number[a][class_of(value) % TRACE_CLASSES] += 1;
		else
			count_value(i, a, from < SYSCALL_BEHIND ? (__u32)value : value);
	}
}

static __always_inline void count_call(__u32 i, struct pt_regs *regs, long ret)
{
	struct trace_counts *c = bpf_map_lookup_elem(&counts, &i);
	__u32 error = ret < 0 ? (__u32)-ret : 0;

	if (!c)
		return;
	if (error >= ERRNO_RESTARTS)
		error = EINTR;
	c->made += 1;
	if (error < TRACE_ERRNOS)
		c->error[error] += 1;
	else
		__sync_fetch_and_add(&lost, 1);
	if (!error)
		c->returned[class_of(ret) % TRACE_CLASSES] += 1;
	count_args(c, i, regs);
}

/* ---- the programs ---- */

/* The row of a call + 1; 0 where it has none. */
static __always_inline __u32 find_row(struct pt_regs *regs, long number)
{
	__u32 found, request;

	if ((unsigned long)number >= TRACE_NUMBERS_MAX)
		return 0;
	found = row_of[number];
	if (!found || row_at(found - 1)->special != SPECIAL_IOCTL)
		return found;
	request = argument(regs, 1);
	for (__u32 i = 1; i < 8; i++) {
		__u32 row = found - 1 + i;

		if (row >= TRACE_ROWS || !request_of[row])
			return 0;
		if (request_of[row] == request)
			return row + 1;
	}
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long number)
{
	const volatile struct trace_row *row;
	bool hit = false;
	struct trace_state *s;
	__u32 found;

	found = find_row(regs, number);
	if (!found || !selected())
		return 0;
	if (is_compat()) {
		__sync_fetch_and_add(&unattributed, 1);
		return 0;
	}
	row = row_at(found - 1);
	if (row->where == WHERE_FD) {
		hit = fd_hits((int)argument(regs, row->fd));
		if (!hit && row->fd2 >= 0)
			hit = fd_hits((int)argument(regs, row->fd2));
		if (!hit)
			return 0;
	} else if (row->where == WHERE_ANYWHERE) {
		hit = true;
	}
	s = state_of_current(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	s->row = found;
	s->hit = hit;
	s->walks = 0;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long ret)
{
	struct trace_state *s = state_of_current(0);
	const volatile struct trace_row *row;
	__u32 found;
	bool hit;

	if (!s || !s->row)
		return 0;
	found = s->row;
	s->row = 0;
	row = row_at(found - 1);
	hit = s->hit;
	if (row->where == WHERE_PATH)
		hit = see_walks ? walks_hit(s, row, regs, ret) : path_hits(row, regs, ret);
	if (hit)
		count_call(found - 1, regs, ret);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	struct trace_state *s = bpf_task_storage_get(&states, parent, 0, 0);

	if (by_cgroup || !s || !s->traced)
		return 0;
	s = bpf_task_storage_get(&states, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		s->traced = true;
	else
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

/* Run by the user for an open directory: what the kernel knows it by. */
struct trace_place learned, learned_below;

SEC("raw_tp")
int learn(struct bpf_raw_tracepoint_args *args)
{
	struct file *file = file_of((int)args->args[0]);
	struct inode *below;

	if (!file)
		return 1;
	learned.ino = BPF_CORE_READ(file, f_inode, i_ino);
	learned.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	below = mounted_on(BPF_CORE_READ(file, f_path.mnt));
	learned_below.ino = BPF_CORE_READ(below, i_ino);
	learned_below.dev = BPF_CORE_READ(below, i_sb, s_dev);
	return 0;
}
