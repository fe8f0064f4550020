// SPDX-License-Identifier: GPL-2.0
/* tracer.bpf.c -- counts, in the kernel, the calls that act on the file systems under test.
 *
 * Calls are decided when they end, by the registers they began with. For a call on a descriptor the
 * file's superblock decides: right for descriptors that were duplicated, inherited or passed. Only
 * close is looked at when it begins. A call on a path is decided by the walk that the kernel made,
 * where that can be seen (program walk_end), else by what it yielded or by the names in the path.
 *
 * What a program costs is mostly being called at all: where walks are not seen, nothing runs at the
 * beginning of a call but close (program enter_close, where the kernel's events can be had). All
 * programs run with preemption off, so counters of a CPU need no atomics. */
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
#ifdef __TARGET_ARCH_x86
#define SIXTH_ARGUMENT(regs) ((regs)->r9)
#define SYSCALL_NUMBER(regs) ((regs)->orig_ax)
#else
#define SIXTH_ARGUMENT(regs) ((regs)->regs[5])
#define SYSCALL_NUMBER(regs) ((regs)->syscallno)
#endif

const volatile struct trace_row rows[TRACE_ROWS];
const volatile __u8 row_of[TRACE_NUMBERS_MAX]; /* row + 1 of a system call */
const volatile __u32 request_of[TRACE_ROWS];   /* the argument that names a row behind another */
const volatile __u32 rows_used, mounts_used;
const volatile __u64 cgroup_id; /* 0: processes are recognised by descent */
const volatile bool see_walks;

struct trace_mount mounts[TRACE_MOUNTS];
struct trace_place root; /* of the file system, where the mounts' paths begin */
__u64 cgroup_address;    /* once a task of it was met; it is there as long as we are */
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
static __always_inline bool task_selected(struct task_struct *task)
{
	struct trace_state *s;
	struct cgroup *group;

	if (!cgroup_id) {
		s = bpf_task_storage_get(&states, task, 0, 0);
		return s && s->traced;
	}
	group = task->cgroups->dfl_cgrp;
	if ((__u64)group == cgroup_address)
		return true;
	if (group->kn->id != cgroup_id)
		return bpf_current_task_under_cgroup(&cgroup, 0) == 1; /* in one below it */
	cgroup_address = (__u64)group;
	return true;
}

/* Calls of 32-bit programs have other numbers. */
static __always_inline bool is_compat(struct task_struct *task)
{
	return bpf_core_field_exists(task->thread_info.status) &&
	       (task->thread_info.status & TS_COMPAT);
}

/* Since Linux 6.2 the verifier accepts the type of a pointer. Helpers that read memory are
 * what costs most: pointers that the verifier knows are followed without. */
extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;
const volatile bool can_cast;

/* A pointer as the verifier knows it. */
#define CAST(type, pointer) ((type *)bpf_rdonly_cast(pointer, bpf_core_type_id_kernel(type)))

static __always_inline struct trace_place inode_place(struct inode *inode)
{
	if (can_cast) {
		inode = CAST(struct inode, inode);
		return (struct trace_place){ .ino = inode->i_ino, .dev = inode->i_sb->s_dev };
	}
	return (struct trace_place){ .ino = BPF_CORE_READ(inode, i_ino),
				     .dev = BPF_CORE_READ(inode, i_sb, s_dev) };
}

static __always_inline bool same_place(const struct trace_place *a, const struct trace_place *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

static __always_inline struct inode *inode_of(struct dentry *dentry)
{
	return can_cast ? CAST(struct dentry, dentry)->d_inode : BPF_CORE_READ(dentry, d_inode);
}

static __always_inline struct inode *mounted_on(struct vfsmount *mnt)
{
	struct mount *m = (void *)mnt - bpf_core_field_offset(struct mount, mnt);

	if (can_cast)
		return CAST(struct mount, m)->mnt_mountpoint->d_inode;
	return BPF_CORE_READ(m, mnt_mountpoint, d_inode);
}

static __always_inline __u32 device_of_mount(struct vfsmount *mnt)
{
	return can_cast ? CAST(struct vfsmount, mnt)->mnt_sb->s_dev
			: BPF_CORE_READ(mnt, mnt_sb, s_dev);
}

static __always_inline bool has_device(__u32 dev)
{
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (dev == mounts[i].dev)
			return true;
	return false;
}

/* A superblock made by a later mount has another device: its mount point is the same. */
static __always_inline bool on_any_mount(__u32 dev, struct vfsmount *mnt)
{
	struct trace_place below;

	if (has_device(dev))
		return true;
	if (!mnt)
		return false;
	below = inode_place(mounted_on(mnt));
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (same_place(&below, &mounts[i].below))
			return true;
	return false;
}

static __always_inline struct file *task_file(struct task_struct *task, int fd)
{
	struct files_struct *files = task->files;
	struct file *file = NULL;
	struct hlist_head *slot; /* any structure that is a pointer */
	struct fdtable *table;

	if (!files)
		return NULL;
	table = files->fdt;
	if ((unsigned)fd >= table->max_fds)
		return NULL;
	if (can_cast) {
		slot = CAST(struct hlist_head, table->fd + (unsigned)fd);
		return (struct file *)slot->first;
	}
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + (unsigned)fd);
	return file;
}

static __always_inline __u32 file_device(struct file *file)
{
	if (can_cast)
		return CAST(struct file, file)->f_inode->i_sb->s_dev;
	return BPF_CORE_READ(file, f_inode, i_sb, s_dev);
}

static __always_inline struct vfsmount *mount_of_file(struct file *file)
{
	return can_cast ? CAST(struct file, file)->f_path.mnt : BPF_CORE_READ(file, f_path.mnt);
}

static __always_inline struct dentry *dentry_of_file(struct file *file)
{
	return can_cast ? CAST(struct file, file)->f_path.dentry
			: BPF_CORE_READ(file, f_path.dentry);
}

static __always_inline bool file_hits(struct file *file)
{
	return on_any_mount(file_device(file), mount_of_file(file));
}

enum { FD_ELSEWHERE, FD_HITS, FD_NONE };

/* Not static: the verifier then looks at it once, and not at every call of it. */
__noinline int look_at_fd(int fd)
{
	struct file *file = task_file(bpf_get_current_task_btf(), fd);

	if (!file)
		return FD_NONE;
	return file_hits(file) ? FD_HITS : FD_ELSEWHERE;
}

static __always_inline bool fd_hits(int fd)
{
	return look_at_fd(fd) == FD_HITS;
}

/* At the end of a call. One that found a file where there is none now was overtaken by another
 * thread that closed it. */
static __always_inline bool used_fd_hits(int fd, long ret)
{
	int where = look_at_fd(fd);

	if (where == FD_NONE && ret != -EBADF)
		__sync_fetch_and_add(&unattributed, 1);
	return where == FD_HITS;
}

static __always_inline __u64 call_argument(struct pt_regs *regs, int i)
{
	switch (i) {
	case 0:
		return PT_REGS_PARM1_SYSCALL(regs);
	case 1:
		return PT_REGS_PARM2_SYSCALL(regs);
	case 2:
		return PT_REGS_PARM3_SYSCALL(regs);
	case 3:
		return PT_REGS_PARM4_SYSCALL(regs);
	case 4:
		return PT_REGS_PARM5_SYSCALL(regs);
	default:
		return SIXTH_ARGUMENT(regs);
	}
}

#include "names.h"

static __always_inline int dirfd_argument(struct pt_regs *regs, int i)
{
	return i < 0 ? AT_FDCWD : (int)call_argument(regs, i);
}

static __always_inline bool cwd_hits(struct task_struct *task)
{
	struct vfsmount *mnt = BPF_CORE_READ(task, fs, pwd.mnt);

	return on_any_mount(device_of_mount(mnt), mnt);
}

/* A call that opened a descriptor, or changed the directory, shows where it went. */
static __always_inline bool path_hits(struct task_struct *task,
				      const volatile struct trace_row *row, struct pt_regs *regs,
				      long ret)
{
	if (row->descriptor && ret >= 0)
		return fd_hits((int)ret);
	if (row->special == SPECIAL_CHDIR && !ret)
		return cwd_hits(task);
	if (names_hit(dirfd_argument(regs, row->fd), call_argument(regs, row->path)))
		return true;
	return row->path2 >= 0 &&
	       names_hit(dirfd_argument(regs, row->fd2), call_argument(regs, row->path2));
}

static __always_inline bool starts_badly(long ret)
{
	return ret == -EBADF || ret == -ENOTDIR || ret == -EXDEV || ret == -EAGAIN;
}

/* A walk that never began (a bad descriptor, a name that is too long) is attributed by names. */
static __always_inline bool walk_hits(struct task_struct *task, struct trace_state *s, int i,
				      int dirfd, __u64 path, long ret)
{
	if (s->walks > i && (s->walk_begun[i] || !starts_badly(ret)))
		return s->walk_hit[i];
	return names_hit(dirfd, path);
}

static __always_inline bool walks_hit(struct task_struct *task, struct trace_state *s,
				      const volatile struct trace_row *row, struct pt_regs *regs,
				      long ret)
{
	if (walk_hits(task, s, 0, dirfd_argument(regs, row->fd), call_argument(regs, row->path),
		      ret))
		return true;
	return row->path2 >= 0 && walk_hits(task, s, 1, dirfd_argument(regs, row->fd2),
					    call_argument(regs, row->path2), ret);
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
	dev = mnt ? device_of_mount(mnt) : BPF_CORE_READ(nd, inode, i_sb, s_dev);
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

#include "count.h"

/* The row of a call + 1; 0 where it has none. */
static __always_inline __u32 find_trace_row(struct pt_regs *regs, long number)
{
	__u32 found, otherwise, request;
	__u8 special;

	if ((unsigned long)number >= TRACE_NUMBERS_MAX)
		return 0;
	found = row_of[number];
	if (!found)
		return 0;
	special = row_at(found - 1)->special;
	if (special != SPECIAL_IOCTL && special != SPECIAL_REMOVE)
		return found;
	otherwise = special == SPECIAL_IOCTL ? 0 : found;
	request = special == SPECIAL_IOCTL ? call_argument(regs, 1) : call_argument(regs, 2);
	for (__u32 i = 1; i < 8; i++) {
		__u32 row = found - 1 + i;

		if (row >= TRACE_ROWS || !request_of[row])
			return otherwise;
		if (request_of[row] == request)
			return row + 1;
	}
	return otherwise;
}

/* Is the call looked at when it begins? */
static __always_inline bool has_entry(const volatile struct trace_row *row)
{
	return row->special == SPECIAL_CLOSE || (see_walks && row->where == WHERE_PATH);
}

static __always_inline void note_entry(__u32 found, bool hit)
{
	struct trace_state *s = state_of_current(BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!s) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	s->row = found;
	s->hit = hit;
	s->walks = 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long number)
{
	__u32 found = find_trace_row(regs, number);
	const volatile struct trace_row *row = row_at(found - 1);
	struct task_struct *task;

	if (!found || !has_entry(row))
		return 0;
	task = bpf_get_current_task_btf();
	if (task_selected(task))
		note_entry(found,
			   row->where == WHERE_FD && fd_hits((int)call_argument(regs, row->fd)));
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_close")
int enter_close(struct trace_event_raw_sys_enter *event)
{
	__u32 found = row_of[(__u32)event->id % TRACE_NUMBERS_MAX];
	struct task_struct *task = bpf_get_current_task_btf();

	if (found && task_selected(task) && fd_hits((int)event->args[0]))
		note_entry(found, true);
	return 0;
}

/* What was found when the call began: false where it began before us. */
static __always_inline bool entry_hits(struct task_struct *task, __u32 found,
				       const volatile struct trace_row *row, struct pt_regs *regs,
				       long ret)
{
	struct trace_state *s = state_of_current(0);

	if (!s || s->row != found)
		return false;
	s->row = 0;
	return row->where == WHERE_PATH ? walks_hit(task, s, row, regs, ret) : s->hit;
}

static __always_inline bool call_hits(struct task_struct *task, __u32 found, struct pt_regs *regs,
				      long ret)
{
	const volatile struct trace_row *row = row_at(found - 1);

	if (has_entry(row))
		return entry_hits(task, found, row, regs, ret);
	if (row->where == WHERE_FD)
		return used_fd_hits((int)call_argument(regs, row->fd), ret) ||
		       (row->fd2 >= 0 && used_fd_hits((int)call_argument(regs, row->fd2), ret));
	return row->where == WHERE_ANYWHERE || path_hits(task, row, regs, ret);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long ret)
{
	__u32 found = find_trace_row(regs, SYSCALL_NUMBER(regs));
	struct task_struct *task;

	if (!found)
		return 0;
	task = bpf_get_current_task_btf();
	if (!task_selected(task))
		return 0;
	if (is_compat(task))
		__sync_fetch_and_add(&unattributed, 1);
	else if (call_hits(task, found, regs, ret))
		count_call(found - 1, regs, ret);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	struct trace_state *s = bpf_task_storage_get(&states, parent, 0, 0);

	if (!s || !s->traced)
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
	struct file *file = task_file(bpf_get_current_task_btf(), (int)args->args[0]);

	if (!file)
		return 1;
	learned = inode_place(BPF_CORE_READ(file, f_inode));
	learned_below = inode_place(mounted_on(mount_of_file(file)));
	return 0;
}
