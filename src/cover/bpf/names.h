/* SPDX-License-Identifier: GPL-2.0 */
/* names.h -- where a path leads, told by its names: for when the kernel's walk cannot be seen. */

struct trace_text {
	char path[4096];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_text);
} scratches SEC(".maps");

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
