/* SPDX-License-Identifier: GPL-2.0 */
/* names.h -- where a path leads, told by its names: for when the kernel's walk cannot be seen.
 *
 * Loops keep what they know in a map, not on the stack: verifiers before Linux 6.7 look at a loop's
 * body only once, and take for dead what cannot be reached with the values it begins with. (The
 * context of a loop has to be on the stack: it is the pointer into the map.) */

struct trace_start {
	struct dentry *dentry;
	struct vfsmount *mnt;
};

/* One path and where a walk along its names stands: `at` bytes of the mount point's path are behind
 * it, `off` names lead away from there, or, at its end, `below` names lead into the mount. */
struct trace_walk {
	union {
		char path[4096];
		__u64 word[4096 / 8]; /* for what is decided without looking at every byte */
	};
	__u32 mount; /* which */
	__u32 at, off, below;
	__u32 name_len; /* of the name that is being read */
	bool matches;   /* so far it is the mount point's next */
	bool dots;      /* so far it is nothing but dots */
	bool lost;      /* where it began is not known */
	bool shallow;   /* how far below the mount's root it began is not known */
	bool above;     /* it went above where it began, and should know */
	/* On the way up from where it begins. */
	__u64 dentry;
	__u32 steps;
	bool met; /* an ancestor of the mount point */
	/* Looking at words. */
	__u64 mark_before; /* the last byte of the word before is a mark */
	bool found;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_walk);
} walks SEC(".maps");

static __always_inline const struct trace_mount *mount_of(const struct trace_walk *w)
{
	return &mounts[w->mount % TRACE_MOUNTS];
}

static __always_inline char mount_byte(const struct trace_walk *w, __u32 i)
{
	return i < TRACE_PATH ? mount_of(w)->path[i] : 0;
}

static __always_inline void go_up(struct trace_walk *w)
{
	if (w->off)
		w->off--;
	else if (w->below)
		w->below--;
	else if (w->lost || w->shallow)
		w->above = true;
	else
		w->at = mount_of(w)->up[w->at % TRACE_PATH];
}

static __always_inline void go_down(struct trace_walk *w)
{
	char end = mount_byte(w, w->at + 1 + w->name_len);

	if (w->lost || w->off)
		w->off++;
	else if (w->at == mount_of(w)->len)
		w->below++;
	else if (w->matches && (end == '/' || !end))
		w->at += 1 + w->name_len;
	else
		w->off = 1;
}

static long walk_byte(__u32 i, void *context)
{
	struct trace_walk *w = *(struct trace_walk **)context;
	char c = w->path[i % sizeof(w->path)];

	if (c && c != '/') {
		w->matches = w->matches && mount_byte(w, w->at + 1 + w->name_len) == c;
		w->dots = w->dots && c == '.';
		w->name_len++;
		return 0;
	}
	if (w->dots && w->name_len == 2)
		go_up(w);
	else if (w->name_len && !(w->dots && w->name_len == 1))
		go_down(w);
	w->name_len = 0;
	w->matches = w->dots = true;
	return !c;
}

/* Towards the root, until an ancestor of the mount point, or the mount's own root, is met. */
static long climb_step(__u32 i, void *context)
{
	struct trace_walk *w = *(struct trace_walk **)context;
	struct dentry *dentry = (void *)w->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	struct inode *inode = BPF_CORE_READ(dentry, d_inode);
	__u64 ino = BPF_CORE_READ(inode, i_ino);
	__u32 dev = BPF_CORE_READ(inode, i_sb, s_dev);
	const struct trace_mount *m = mount_of(w);

	for (__u32 a = 0; a < TRACE_ANCESTORS && a < m->ancestors; a++) {
		if (m->ancestor[a].ino == ino && m->ancestor[a].dev == dev) {
			w->at = m->ancestor[a].at;
			w->met = true;
			return 1;
		}
	}
	if (parent == dentry)
		return 1;
	w->dentry = (__u64)parent;
	w->steps++;
	return 0;
}

/* Few paths go above where they begin: only those need the depth of a directory in the mount. */
static __always_inline void begin_at(struct trace_walk *w, const struct trace_start *start,
				     bool with_depth)
{
	struct vfsmount *mnt = start->mnt;
	bool inside = on_mount(mount_of(w), BPF_CORE_READ(mnt, mnt_sb, s_dev), mnt);

	w->dentry = (__u64)start->dentry;
	if (!inside || with_depth)
		bpf_loop(256, climb_step, &w, 0);
	if (inside) {
		w->at = mount_of(w)->len;
		w->below = w->steps;
		w->shallow = !with_depth;
	} else if (w->met) {
		w->off = w->steps;
	} else {
		w->lost = true;
	}
}

/* Processes may have a root of their own: then absolute paths, too, begin at a directory. */
static __always_inline bool find_root(struct trace_start *ret)
{
	struct fs_struct *fs = bpf_get_current_task_btf()->fs;
	struct inode *inode;

	if (!fs)
		return false;
	inode = fs->root.dentry->d_inode;
	ret->dentry = fs->root.dentry;
	ret->mnt = fs->root.mnt;
	return inode->i_ino != root.ino || inode->i_sb->s_dev != root.dev;
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

static __always_inline void walk(struct trace_walk *w, __u32 mount, const struct trace_start *start,
				 bool with_depth)
{
	w->mount = mount;
	w->at = w->off = w->below = w->name_len = w->steps = 0;
	w->matches = w->dots = true;
	w->lost = w->shallow = w->above = w->met = false;
	if (start)
		begin_at(w, start, with_depth);
	bpf_loop(sizeof(w->path), walk_byte, &w, 0);
}

#define EACH_BYTE(c) (0x0101010101010101ULL * (c))

/* The highest bit of every byte that is c. (Of one behind such a byte, perhaps, as well.) */
static __always_inline __u64 bytes_that_are(__u64 word, __u8 c)
{
	__u64 x = word ^ EACH_BYTE(c);

	return (x - EACH_BYTE(1)) & ~x & EACH_BYTE(0x80);
}

static __always_inline __u64 word_at(const struct trace_walk *w, __u32 i)
{
	return w->word[i % (sizeof(w->word) / 8)];
}

static __always_inline long find_two(struct trace_walk *w, __u64 marks)
{
	w->found = marks & (marks << 8 | w->mark_before);
	w->mark_before = marks >> 56;
	return w->found;
}

static long find_two_dots(__u32 i, void *context)
{
	struct trace_walk *w = *(struct trace_walk **)context;

	return find_two(w, bytes_that_are(word_at(w, i), '.'));
}

static long find_two_marks(__u32 i, void *context)
{
	struct trace_walk *w = *(struct trace_walk **)context;
	__u64 word = word_at(w, i);

	return find_two(w, bytes_that_are(word, '.') | bytes_that_are(word, '/'));
}

static long find_difference(__u32 i, void *context)
{
	struct trace_walk *w = *(struct trace_walk **)context;
	__u64 differs = word_at(w, i) ^ *(__u64 *)&mount_of(w)->path[i * 8 % TRACE_PATH];
	__u32 left = mount_of(w)->len - i * 8;

	w->found = left < 8 ? differs & ((1ULL << left * 8) - 1) : differs;
	return w->found;
}

static __always_inline bool has_prefix(struct trace_walk *w, __u32 mount)
{
	__u32 len;
	char next;

	w->mount = mount;
	w->found = false;
	len = mount_of(w)->len;
	next = w->path[len % TRACE_PATH];
	if (next && next != '/')
		return false;
	bpf_loop((len + 7) / 8, find_difference, &w, 0);
	return !w->found;
}

/* Two dots side by side: the path may lead up. In an absolute one, which is to be compared as it is,
 * slashes count as well. Bytes behind the end are looked at, too: that costs time, but no more. */
static __always_inline bool is_winding(struct trace_walk *w, __u32 len, bool absolute)
{
	w->mark_before = 0;
	w->found = false;
	if (absolute)
		bpf_loop((len + 7) / 8, find_two_marks, &w, 0);
	else
		bpf_loop((len + 7) / 8, find_two_dots, &w, 0);
	return w->found;
}

enum { FAR_OUT, WITHIN, UNDECIDED };

/* What most paths need: straight from the root, or from a directory that is on a mount. */
static __always_inline int decide_fast(struct trace_walk *w, __u32 len,
				       const struct trace_start *start)
{
	struct vfsmount *mnt = start ? start->mnt : NULL;

	if (is_winding(w, len, !start))
		return UNDECIDED;
	if (start)
		return on_any_mount(BPF_CORE_READ(mnt, mnt_sb, s_dev), mnt) ? WITHIN : UNDECIDED;
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (has_prefix(w, i))
			return WITHIN;
	return FAR_OUT;
}

/* Does the path, by its names, lead into a mount? Symbolic links are not followed. (Not static: the
 * verifier then looks at it once, and not at every call of it.) */
__noinline int names_hit(int dirfd, __u64 user_path)
{
	struct trace_start start = { 0 }, *from = NULL;
	struct trace_walk *w;
	__u32 zero = 0;
	long len = 0;
	bool unsure = false;
	int fast;

	w = bpf_map_lookup_elem(&walks, &zero);
	if (!w)
		return 0;
	w->path[0] = 0;
	if (user_path)
		len = bpf_probe_read_user_str(w->path, sizeof(w->path), (void *)user_path);
	if (len < 0) {
		__sync_fetch_and_add(&unattributed, 1);
		return 0;
	}
	if (w->path[0] == '/') {
		from = find_root(&start) ? &start : NULL;
	} else {
		if (!find_start(dirfd, &start))
			return 0; /* no directory, no walk */
		from = &start;
	}
	fast = decide_fast(w, len, from);
	if (fast != UNDECIDED)
		return fast;
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++) {
		walk(w, i, from, false);
		if (w->shallow && w->above)
			walk(w, i, from, true);
		if (w->at == mount_of(w)->len && !w->off && !w->lost)
			return 1;
		unsure |= w->lost && w->above;
	}
	if (unsure)
		__sync_fetch_and_add(&unattributed, 1);
	return 0;
}
