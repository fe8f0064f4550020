/* request.h -- one FUSE request on its way through the model.
 *
 * A handler begins a request (which takes the core's lock), opens the objects it names, makes
 * calls, and ends with one of the reply functions, which give the lock back before they answer.
 * An object that a restored state does not have makes the request fail with ESTALE. */
#ifndef REFFS_REQUEST_H
#define REFFS_REQUEST_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "reffs/core.h"

struct notifier;
struct transfers;

/* What a session serves. */
struct front {
	struct core core;
	struct fuse_session *session;
	struct notifier *notifier;
	struct transfers *transfers;
	uid_t owner;            /* who may save and restore, besides root */
	double timeout_seconds; /* how long the kernel may keep names and attributes */
};

enum { REQUEST_GROUPS_MAX = 64 };

struct request {
	fuse_req_t req;
	struct front *front;
	struct core *core;
	struct requester caller;
	uint32_t groups[REQUEST_GROUPS_MAX];
	int error; /* the first; calls after it are not made */
	struct outcome outcome;
};

void request_begin(struct request *r, fuse_req_t req);
/* The same for a request that libfuse does not know. */
void request_begin_raw(struct request *r, struct front *f, const struct requester *caller);
/* The object, or NULL with error ESTALE. */
const struct inode *request_inode(struct request *r, fuse_ino_t ino);
/* A descriptor for it, as an argument of a call. */
struct arg request_open(struct request *r, fuse_ino_t ino, int64_t flags);
/* The caller needs this permission (where the model checks it). */
void request_need(struct request *r, fuse_ino_t ino, int want);
/* One more object is about to be made: is there room? */
void request_need_inode(struct request *r, fuse_ino_t parent, const char *name);
int request_call(struct request *r, struct call *call);
int request_call_removing(struct request *r, struct call *call, fuse_ino_t dir, const char *name);

static inline struct arg text_arg(const char *text)
{
	return (struct arg){ .text = text, .len = (uint32_t)__builtin_strlen(text) };
}

static inline struct arg data_arg(const char *bytes, size_t len)
{
	return (struct arg){ .text = bytes, .len = (uint32_t)len };
}

/* The attributes of an object in a reply. An entry in a reply adds one reference of the kernel. */
void request_stat(const struct inode *inode, struct stat *ret);
void request_entry(struct request *r, uint64_t ino, struct fuse_entry_param *ret);

/* Gives the lock back. */
void request_end(struct request *r);
void reply_status(struct request *r);
/* A reply with entries did not reach the kernel: it does not hold these objects. */
void reply_take_back(struct request *r, const uint64_t *inos, size_t count);
/* The entry of that name, just looked up or made. */
void reply_entry(struct request *r, fuse_ino_t parent, const char *name);

#endif
