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
	const struct trace_text *text;
	__u32 at, off, below;
	__u32 name_len; /* of the name that is being read */
	bool matches;   /* so far it is the mount point's next */
	bool dots;      /* so far it is nothing but dots */
	bool lost;      /* where it began is not known */
	bool shallow;   /* how far below the mount's root it began is not known */
	bool above;     /* it went above where it began, and should know */
};

static __always_inline char mount_byte(const struct trace_mount *m, __u32 i)
{
	return i < TRACE_PATH ? m->path[i] : 0;
}

static __always_inline void go_up(struct trace_position *p)
{
	if (p->off)
		p->off--;
	else if (p->below)
		p->below--;
	else if (p->lost || p->shallow)
		p->above = true;
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
	char c = p->text->path[i % sizeof(p->text->path)];

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
	__u64 ino = BPF_CORE_READ(inode, i_ino);
	__u32 dev = BPF_CORE_READ(inode, i_sb, s_dev);

	for (__u32 a = 0; a < TRACE_ANCESTORS && a < c->mount->ancestors; a++) {
		if (c->mount->ancestor[a].ino == ino && c->mount->ancestor[a].dev == dev) {
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

/* Few paths go above where they begin: only those need the depth of a directory in the mount. */
static __always_inline void begin_at(struct trace_position *p, const struct trace_start *start,
				     bool with_depth)
{
	struct trace_climb climb = { .mount = p->mount, .dentry = start->dentry };
	struct vfsmount *mnt = start->mnt;
	bool inside = on_mount(p->mount, BPF_CORE_READ(mnt, mnt_sb, s_dev), mnt);

	if (!inside || with_depth)
		bpf_loop(256, climb_step, &climb, 0);
	if (inside) {
		p->at = p->mount->len;
		p->below = climb.steps;
		p->shallow = !with_depth;
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

static __always_inline void walk(struct trace_position *p, const struct trace_mount *mount,
				 const struct trace_text *text, const struct trace_start *start,
				 bool with_depth)
{
	*p = (struct trace_position){ .mount = mount, .text = text, .matches = true, .dots = true };
	if (start)
		begin_at(p, start, with_depth);
	bpf_loop(sizeof(text->path), walk_byte, p, 0);
}

/* Does the path, by its names, lead into a mount? Symbolic links are not followed. */
static __noinline int names_hit(int dirfd, __u64 user_path)
{
	struct trace_start start = { 0 }, *from = NULL;
	struct trace_position p;
	struct trace_text *text;
	__u32 zero = 0;
	bool unsure = false;

	text = bpf_map_lookup_elem(&scratches, &zero);
	if (!text)
		return 0;
	text->path[0] = 0;
	if (user_path &&
	    bpf_probe_read_user_str(text->path, sizeof(text->path), (void *)user_path) < 0) {
		__sync_fetch_and_add(&unattributed, 1);
		return 0;
	}
	if (text->path[0] != '/') {
		if (!find_start(dirfd, &start))
			return 0; /* no directory, no walk */
		from = &start;
	}
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++) {
		walk(&p, &mounts[i], text, from, false);
		if (p.shallow && p.above)
			walk(&p, &mounts[i], text, from, true);
		if (p.at == p.mount->len && !p.off && !p.lost)
			return 1;
		unsure |= p.lost && p.above;
	}
	if (unsure)
		__sync_fetch_and_add(&unattributed, 1);
	return 0;
}
