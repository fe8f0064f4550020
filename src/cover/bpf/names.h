/* SPDX-License-Identifier: GPL-2.0 */
/* names.h -- where a path leads, told by its names: for when the kernel's walk cannot be seen. */

/* Words come in one piece, so that the common path is decided without looking at every byte. */
struct trace_text {
	union {
		char path[4096];
		__u64 word[4096 / 8];
	};
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

#define EACH_BYTE(c) (0x0101010101010101ULL * (c))

/* The highest bit of every byte that is c. (Of one behind such a byte, perhaps, as well.) */
static __always_inline __u64 bytes_that_are(__u64 word, __u8 c)
{
	__u64 x = word ^ EACH_BYTE(c);

	return (x - EACH_BYTE(1)) & ~x & EACH_BYTE(0x80);
}

struct trace_words {
	const struct trace_text *text;
	const struct trace_mount *mount;
	__u64 before; /* is the last byte of the word before a mark? */
	bool found;
};

static __always_inline __u64 word_at(const struct trace_words *w, __u32 i)
{
	return w->text->word[i % (sizeof(w->text->word) / 8)];
}

static long find_two(struct trace_words *w, __u64 marks)
{
	w->found = marks & (marks << 8 | w->before);
	w->before = marks >> 56;
	return w->found;
}

static long find_two_dots(__u32 i, void *context)
{
	return find_two(context, bytes_that_are(word_at(context, i), '.'));
}

static long find_two_marks(__u32 i, void *context)
{
	__u64 word = word_at(context, i);

	return find_two(context, bytes_that_are(word, '.') | bytes_that_are(word, '/'));
}

static long find_difference(__u32 i, void *context)
{
	struct trace_words *w = context;
	__u64 differs = word_at(w, i) ^ *(__u64 *)&w->mount->path[i * 8 % TRACE_PATH];
	__u32 left = w->mount->len - i * 8;

	w->found = left < 8 ? differs & ((1ULL << left * 8) - 1) : differs;
	return w->found;
}

static __always_inline bool has_prefix(const struct trace_text *text, const struct trace_mount *m)
{
	struct trace_words w = { .text = text, .mount = m };
	char next = text->path[m->len % TRACE_PATH];

	if (next && next != '/')
		return false;
	bpf_loop((m->len + 7) / 8, find_difference, &w, 0);
	return !w.found;
}

/* Two dots side by side: the path may lead up. In an absolute one, which is to be compared as it is,
 * slashes count as well. Bytes behind the end are looked at, too: that costs time, but no more. */
static __always_inline bool is_winding(const struct trace_text *text, __u32 len, bool absolute)
{
	struct trace_words w = { .text = text };

	if (absolute)
		bpf_loop((len + 7) / 8, find_two_marks, &w, 0);
	else
		bpf_loop((len + 7) / 8, find_two_dots, &w, 0);
	return w.found;
}

enum { FAR_OUT, WITHIN, UNDECIDED };

/* What most paths need: straight from the root, or from a directory that is on a mount. */
static __always_inline int decide_fast(const struct trace_text *text, __u32 len,
				       const struct trace_start *start)
{
	struct vfsmount *mnt = start ? start->mnt : NULL;

	if (is_winding(text, len, !start))
		return UNDECIDED;
	if (start)
		return on_any_mount(BPF_CORE_READ(mnt, mnt_sb, s_dev), mnt) ? WITHIN : UNDECIDED;
	for (__u32 i = 0; i < TRACE_MOUNTS && i < mounts_used; i++)
		if (has_prefix(text, &mounts[i]))
			return WITHIN;
	return FAR_OUT;
}

/* Does the path, by its names, lead into a mount? Symbolic links are not followed. (Not static: the
 * verifier then looks at it once, and not at every call of it.) */
__noinline int names_hit(int dirfd, __u64 user_path)
{
	struct trace_start start = { 0 }, *from = NULL;
	struct trace_position p;
	struct trace_text *text;
	__u32 zero = 0;
	long len = 0;
	bool unsure = false;
	int fast;

	text = bpf_map_lookup_elem(&scratches, &zero);
	if (!text)
		return 0;
	text->path[0] = 0;
	if (user_path)
		len = bpf_probe_read_user_str(text->path, sizeof(text->path), (void *)user_path);
	if (len < 0) {
		__sync_fetch_and_add(&unattributed, 1);
		return 0;
	}
	if (text->path[0] != '/') {
		if (!find_start(dirfd, &start))
			return 0; /* no directory, no walk */
		from = &start;
	}
	fast = decide_fast(text, len, from);
	if (fast != UNDECIDED)
		return fast;
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
