/* SPDX-License-Identifier: GPL-2.0 */
/* names.h -- where a path leads, by its names: used if the path walk of the kernel cannot be
 * probed.
 *
 * Loops keep what they know in a map, not on the stack: verifiers before Linux 6.7 look at a loop's
 * body only once, and take for dead what cannot be reached with the values it begins with. (The
 * context of a loop has to be on the stack: it is the pointer into the map.) */

/* A path that is decided by looking at it as it is: on the stack, which is always at hand. */
struct trace_short {
	union {
		char path[128];
		__u64 word[128 / 8];
	};
};
enum { SHORT_WORDS = sizeof(struct trace_short) / 8 };

struct trace_start {
	struct dentry *dentry;
	struct vfsmount *mnt; /* NULL: the root, where the paths of the mounts start */
};

/* One path and the position of a walk along its names: `at` bytes of the mount point's path are
 * behind it, `off` names lead away from there, or, at its end, `below` names lead into the mount.
 */
struct trace_walk {
	char path[4096];
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
	const struct trace_place here = inode_place(inode_of(dentry));
	const struct trace_mount *m = mount_of(w);

	for (__u32 a = 0; a < TRACE_ANCESTORS && a < m->ancestors; a++) {
		if (same_place(&here, &m->ancestor[a])) {
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

static __always_inline bool on_mount(const struct trace_mount *m, struct vfsmount *mnt)
{
	const struct trace_place below = inode_place(mounted_on(mnt));

	return device_of_mount(mnt) == m->dev || same_place(&below, &m->below);
}

/* Few paths go above where they begin: only those need the depth of a directory in the mount. */
static __always_inline void begin_at(struct trace_walk *w, const struct trace_start *start,
				     bool with_depth)
{
	bool inside = on_mount(mount_of(w), start->mnt);

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

/* Where the path begins: nowhere in particular for an absolute one, unless the process has its
 * own root. False where there is no such directory. */
static __always_inline bool find_start(struct task_struct *task, int dirfd, bool absolute,
				       struct trace_start *ret)
{
	struct fs_struct *fs = task->fs;
	struct trace_place here;
	struct file *file;

	if (!fs)
		return false;
	if (absolute) {
		here = inode_place(inode_of(fs->root.dentry));
		ret->dentry = fs->root.dentry;
		ret->mnt = same_place(&here, &root) ? NULL : fs->root.mnt;
		return true;
	}
	if (dirfd == AT_FDCWD) {
		ret->dentry = fs->pwd.dentry;
		ret->mnt = fs->pwd.mnt;
		return true;
	}
	file = task_file(task, dirfd);
	if (!file)
		return false;
	ret->dentry = dentry_of_file(file);
	ret->mnt = mount_of_file(file);
	return true;
}

static __always_inline void walk(struct trace_walk *w, __u32 mount, const struct trace_start *start,
				 bool with_depth)
{
	w->mount = mount;
	w->at = w->off = w->below = w->name_len = w->steps = 0;
	w->matches = w->dots = true;
	w->lost = w->shallow = w->above = w->met = false;
	if (start->mnt)
		begin_at(w, start, with_depth);
	bpf_loop(sizeof(w->path), walk_byte, &w, 0);
}

#define EACH_BYTE(c) (0x0101010101010101ULL * (c))

/* The highest bit of every byte that is c. */
static __always_inline __u64 bytes_that_are(__u64 word, __u8 c)
{
	__u64 x = word ^ EACH_BYTE(c);

	return ~(((x & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | x) & EACH_BYTE(0x80);
}

/* Two dots side by side: the path may lead up. In an absolute one, which is to be compared as it
 * is, slashes count as well. Bytes behind the end are looked at, too: that costs time, but no more.
 */
static __always_inline bool is_winding(const struct trace_short *s, __u32 len, bool absolute)
{
	__u64 marks, before = 0, two = 0;

	for (__u32 i = 0; i < SHORT_WORDS && i * 8 < len; i++) {
		marks = bytes_that_are(s->word[i], '.');
		if (absolute)
			marks |= bytes_that_are(s->word[i], '/');
		two |= marks & (marks << 8 | before);
		before = marks >> 56;
	}
	return two;
}

static __always_inline bool has_prefix(const struct trace_short *s, const struct trace_mount *m)
{
	char next = s->path[m->len % sizeof(s->path)];

	for (__u32 i = 0; i < SHORT_WORDS && m->mask[i]; i++)
		if ((s->word[i] ^ m->word[i]) & m->mask[i])
			return false;
	return m->len < sizeof(s->path) && (!next || next == '/');
}

/* Is it on the way to a mount? */
static __always_inline bool is_ancestor(struct dentry *dentry)
{
	const struct trace_place here = inode_place(inode_of(dentry));

	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		for (__u32 a = 0; a < TRACE_ANCESTORS && a < mounts[i].ancestors; a++)
			if (same_place(&here, &mounts[i].ancestor[a]))
				return true;
	return false;
}

enum { OUTSIDE, INSIDE, UNDECIDED };

/* What most paths need: straight from the root, or from a directory that is on a mount, or that is
 * on no way to one. */
static __always_inline int decide_fast(const struct trace_short *s, __u32 len,
				       const struct trace_start *start)
{
	if (is_winding(s, len, !start->mnt))
		return UNDECIDED;
	if (start->mnt) {
		if (on_any_mount(device_of_mount(start->mnt), start->mnt))
			return INSIDE;
		return len > 1 && is_ancestor(start->dentry) ? UNDECIDED : OUTSIDE;
	}
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (has_prefix(s, &mounts[i]))
			return INSIDE;
	return OUTSIDE;
}

/* Name by name, for the paths that are left. (Not static: the verifier then looks at it once, and
 * not at every call of it.) */
__noinline int names_lead_in(int dirfd, __u64 user_path)
{
	struct trace_start start;
	struct trace_walk *w;
	bool unsure = false;
	__u32 zero = 0;

	w = bpf_map_lookup_elem(&walks, &zero);
	if (!w || bpf_probe_read_user_str(w->path, sizeof(w->path), (void *)user_path) < 0 ||
	    !find_start(bpf_get_current_task_btf(), dirfd, w->path[0] == '/', &start))
		return 0;
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++) {
		walk(w, i, &start, false);
		if (w->shallow && w->above)
			walk(w, i, &start, true);
		if (w->at == mount_of(w)->len && !w->off && !w->lost)
			return 1;
		unsure |= w->lost && w->above;
	}
	if (unsure)
		__sync_fetch_and_add(&unattributed, 1);
	return 0;
}

/* Does the path, by its names, lead into a mount? Symbolic links are not followed. (Not static, as
 * above: four calls of it would take the verifier most of the time that the tracer needs to start.)
 */
__noinline int names_hit(int dirfd, __u64 user_path)
{
	struct trace_start start;
	struct trace_short s;
	long len = 0;
	int fast;

	s.word[0] = 0;
	if (user_path)
		len = bpf_probe_read_user_str(s.path, sizeof(s.path), (void *)user_path);
	if (len < 0) {
		__sync_fetch_and_add(&unattributed, 1);
		return 0;
	}
	if (!find_start(bpf_get_current_task_btf(), dirfd, s.path[0] == '/', &start))
		return 0; /* no directory, no walk */
	fast = len < sizeof(s.path) ? decide_fast(&s, len, &start) : UNDECIDED;
	return fast == UNDECIDED ? names_lead_in(dirfd, user_path) : fast;
}
