/* notify.c -- what the kernel must no longer believe after a restore.
 *
 * States share what they have in common, so comparing two costs what differs between them,
 * whatever the size of the tree. Stale are: attributes and pages of inodes that differ, and
 * names that appeared, went or lead elsewhere (the kernel remembers absent names, too). */
#include "reffs/notify.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

/* One thing that is stale; name_len 0: the inode itself. The name and a NUL follow. */
struct stale {
	uint64_t ino; /* of the object, or of the directory of the name */
	uint32_t name_len;
};

struct job {
	struct job *next;
	struct buf stale;
	fuse_req_t req;
};

struct notifier {
	struct fuse_session *session;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct job *first, **last;
	bool stop;
};

/* ---- comparing ---- */

struct comparison {
	const struct core *core;
	struct buf *out;
	uint64_t dir;
};

static void add(struct buf *out, uint64_t ino, const char *name, uint32_t len)
{
	struct stale stale = { ino, len };

	buf_add(out, &stale, sizeof(stale));
	buf_add(out, name, len);
	buf_addch(out, 0);
}

static void compare_entry(void *to, uint64_t key, const struct ref *before, const struct ref *after)
{
	struct comparison *c = to;
	const struct entry *entry = (const struct entry *)(before ? before : after);

	add(c->out, c->dir, entry->name, entry->len);
}

static void compare_inode(void *to, uint64_t ino, const struct ref *in_before,
			  const struct ref *in_after)
{
	static const struct pmap none = PMAP_INIT;
	const struct inode *before = (const struct inode *)in_before;
	const struct inode *after = (const struct inode *)in_after;
	struct comparison *c = to;

	if (!core_is_held(c->core, ino))
		return;
	add(c->out, ino, "", 0);
	if (!S_ISDIR((before ? before : after)->mode))
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

/* ---- telling ---- */

/* The kernel may have forgotten any of these already: that is no error. */
static void tell(struct fuse_session *session, const struct buf *stale)
{
	for (size_t at = 0; at < stale->len;) {
		struct stale s;
		const char *name = stale->data + at + sizeof(s);

		memcpy(&s, stale->data + at, sizeof(s));
		if (s.name_len)
			fuse_lowlevel_notify_inval_entry(session, s.ino, name, s.name_len);
		else
			fuse_lowlevel_notify_inval_inode(session, s.ino, 0, 0);
		at += sizeof(s) + s.name_len + 1;
	}
}

static struct job *next_job(struct notifier *n)
{
	struct job *job;

	pthread_mutex_lock(&n->lock);
	while (!n->first && !n->stop)
		pthread_cond_wait(&n->wake, &n->lock);
	job = n->first;
	if (job && !(n->first = job->next))
		n->last = &n->first;
	pthread_mutex_unlock(&n->lock);
	return job;
}

static void *notifier_run(void *of)
{
	struct notifier *n = of;
	struct job *job;

	while ((job = next_job(n))) {
		tell(n->session, &job->stale);
		fuse_reply_ioctl(job->req, 0, NULL, 0);
		buf_free(&job->stale);
		free(job);
	}
	return NULL;
}

struct notifier *notifier_start(struct fuse_session *session)
{
	struct notifier *n = must_alloc(sizeof(*n));

	n->session = session;
	n->last = &n->first;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->wake, NULL);
	must(!pthread_create(&n->thread, NULL, notifier_run, n));
	return n;
}

void notifier_stop(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	pthread_cond_destroy(&n->wake);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

void notifier_tell(struct notifier *n, struct buf *stale, fuse_req_t req)
{
	struct job *job;

	if (!stale->len) {
		fuse_reply_ioctl(req, 0, NULL, 0);
		buf_free(stale);
		return;
	}
	job = must_alloc(sizeof(*job));
	job->stale = *stale;
	job->req = req;
	pthread_mutex_lock(&n->lock);
	*n->last = job;
	n->last = &job->next;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
}
