/* notify.c -- invalidates the kernel caches after a restore.
 *
 * States share what they have in common, so comparing two costs what differs between them,
 * whatever the size of the tree. Stale are: attributes and pages of inodes that differ, and
 * names that appeared, went or lead elsewhere (the kernel remembers absent names, too). All else
 * stays cached: a new lookup costs far more than a notification. */
#include "reffs/notify.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

/* One thing that is stale; name_len 0: the inode itself. The name and a NUL follow. */
struct stale {
	uint64_t ino; /* of the object, or of the directory of the name */
	uint32_t name_len;
	bool pages; /* of the inode: also what it holds */
};

struct notify_job {
	struct notify_job *next;
	struct buf stale;
	fuse_req_t req;
};

struct notifier {
	struct fuse_session *session;
	pthread_mutex_t lock;
	struct notify_job *first, **last;
	bool sending; /* a thread works on the list */
	bool finished;
	pthread_cond_t sent;
};

/* ---- comparing ---- */

struct comparison {
	const struct core *core;
	struct buf *out;
	uint64_t dir;
};

static void stale_add(struct buf *out, struct stale stale, const char *name)
{
	buf_add(out, &stale, sizeof(stale));
	buf_add(out, name, stale.name_len);
	buf_addch(out, 0);
}

static void compare_entry(void *to, uint64_t key, const struct ref *before, const struct ref *after)
{
	struct comparison *c = to;
	const struct entry *entry = (const struct entry *)(before ? before : after);

	stale_add(c->out, (struct stale){ c->dir, entry->len, false }, entry->name);
}

static bool same_times(const struct inode_times *a, const struct inode_times *b)
{
	return a->access == b->access && a->modify == b->modify && a->change == b->change;
}

static bool same_attributes(const struct inode *a, const struct inode *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->nlink == b->nlink &&
	       a->size == b->size && same_times(&a->times, &b->times);
}

static bool same_contents(const struct inode *a, const struct inode *b)
{
	switch (a->mode & S_IFMT) {
	case S_IFDIR:
		return a->dir.entries.root == b->dir.entries.root;
	case S_IFREG:
		return a->file.blocks.root == b->file.blocks.root && a->size == b->size;
	}
	return true; /* others never change */
}

/* An inode that was only looked at may be another one, and the same to the kernel. */
static void compare_inode(void *to, uint64_t ino, const struct ref *in_before,
			  const struct ref *in_after)
{
	static const struct pmap none = PMAP_INIT;
	const struct inode *before = (const struct inode *)in_before;
	const struct inode *after = (const struct inode *)in_after;
	struct comparison *c = to;
	bool pages = !before || !after || !same_contents(before, after);

	if (!core_is_held(c->core, ino) || (!pages && same_attributes(before, after)))
		return;
	stale_add(c->out, (struct stale){ ino, 0, pages }, "");
	if (!pages || !S_ISDIR((before ? before : after)->mode))
		return;
	c->dir = ino;
	pmap_diff(before ? &before->dir.entries : &none, after ? &after->dir.entries : &none,
		  compare_entry, c);
}

void notifier_compare(const struct core *core, const struct state *before, struct buf *out)
{
	struct comparison c = { core, out, 0 };

	pmap_diff(&before->tree.inodes, &core->state.tree.inodes, compare_inode, &c);
}

/* ---- notifications ---- */

/* The kernel may have forgotten any of these already: that is no error. */
static void notify_stale(struct fuse_session *session, const struct buf *stale)
{
	for (size_t at = 0; at < stale->len;) {
		struct stale s;
		const char *name = stale->data + at + sizeof(s);

		memcpy(&s, stale->data + at, sizeof(s));
		if (s.name_len)
			fuse_lowlevel_notify_inval_entry(session, s.ino, name, s.name_len);
		else
			fuse_lowlevel_notify_inval_inode(session, s.ino, s.pages ? 0 : -1, 0);
		at += sizeof(s) + s.name_len + 1;
	}
}

struct notifier *notifier_new(struct fuse_session *session)
{
	struct notifier *n = must_alloc(sizeof(*n));

	n->session = session;
	n->last = &n->first;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->sent, NULL);
	return n;
}

void notifier_free(struct notifier *n)
{
	pthread_cond_destroy(&n->sent);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

void notifier_finish(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	n->finished = true;
	while (n->sending)
		pthread_cond_wait(&n->sent, &n->lock);
	pthread_mutex_unlock(&n->lock);
}

static struct notify_job *next_job(struct notifier *n)
{
	struct notify_job *job = n->first;

	if (job && !(n->first = job->next))
		n->last = &n->first;
	return job;
}

/* Until the list is empty; with the lock held. */
static void notify_jobs(struct notifier *n)
{
	bool finished;
	struct notify_job *job;

	while ((job = next_job(n))) {
		finished = n->finished;
		pthread_mutex_unlock(&n->lock);
		if (!finished)
			notify_stale(n->session, &job->stale);
		fuse_reply_ioctl(job->req, 0, NULL, 0);
		buf_free(&job->stale);
		free(job);
		pthread_mutex_lock(&n->lock);
	}
}

void notifier_send(struct notifier *n, struct buf *stale, fuse_req_t req)
{
	struct notify_job *job = must_alloc(sizeof(*job));

	job->stale = *stale;
	job->req = req;
	pthread_mutex_lock(&n->lock);
	*n->last = job;
	n->last = &job->next;
	if (!n->sending) {
		n->sending = true;
		notify_jobs(n);
		n->sending = false;
		pthread_cond_signal(&n->sent);
	}
	pthread_mutex_unlock(&n->lock);
}
