/* internal.h -- inside the model: one call on its way through checks and effect.
 *
 * An operation is one function model_NAME(struct step *). It calls refuse() for every rule that
 * forbids the call, in the order Linux checks them, may_refuse() for errors that are allowed
 * but not required, then
 *
 *	if (!proceed(x))
 *		return;
 *
 * and below that changes x->state and says what success yields with the give_ functions. The
 * same function serves all three questions of model.h: proceed() is false where the question
 * ends with the checks. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/must.h"
#include "model/model.h"

struct step {
	const struct model *model;
	struct state *state;
	const struct call *call;
	unsigned pid;
	const struct process *process; /* of pid; NULL only for create_process */
	const struct outcome *seen;    /* success to follow; NULL: the deterministic one */
	int error;                     /* failure to follow, or 0 */
	bool follow;                   /* the effect is wanted if success is possible */
	bool space_may_end;            /* it may need more space than there surely is */
	bool stuck;                    /* a mutant forgot a rule: success, but no effect */
	int64_t source_fd;             /* of two files that are open for one call, the first */
	struct envelope *env;
};

/* Does this rule or switch hold on the platform (and not fall to a mutant)? Counts it. */
bool holds(struct step *x, enum rule rule);
/* The call is forbidden by this rule, if it holds here: its errno is allowed, success is not.
 * Returns whether it held. */
bool refuse(struct step *x, enum rule rule);
/* The rule's errno is allowed; success stays as it was. */
bool may_refuse(struct step *x, enum rule rule);
/* The same, whatever the call is refused for before. */
bool may_end_with(struct step *x, enum rule rule);
/* The file system does not support the call: by this rule, or as a FUSE daemon says it. Returns
 * whether that held. */
bool refuse_unsupported(struct step *x, enum rule rule);
/* The same where it need not say so. */
void may_refuse_unsupported(struct step *x, enum rule rule);
/* The call is forbidden by this rule if a setting of the kernel is at least `level`; one that is
 * not known may be. */
void refuse_by_setting(struct step *x, uint64_t setting, uint64_t level, enum rule rule);
/* The platform leaves this call undefined, if the rule holds here. */
bool leave_undefined(struct step *x, enum rule rule);
/* The same, whatever other rules refuse: no error says more than another. */
bool leave_open(struct step *x, enum rule rule);
/* True where the effect is to be carried out. */
bool proceed(struct step *x);
/* True if some rule has refused the call so far. */
static inline bool refused(const struct step *x)
{
	return !x->env->success;
}

/* The call fails and is followed nevertheless: this error was seen, or it is refused and a
 * deterministic answer is wanted. For what a failure leaves behind. */
static inline bool fails_with(const struct step *x, int error)
{
	return x->error ? x->error == error : refused(x) && x->follow;
}

/* The value of success. */
void give_num(struct step *x, enum result result, int64_t num);
/* Any number from least to most; returns the one that was seen, or most. */
int64_t give_range(struct step *x, int64_t least, int64_t most);
/* A buffer of len bytes for the value, to be filled by the caller; shortest <= length seen. */
char *give_bytes(struct step *x, enum result result, size_t len, size_t shortest);
void give_stat(struct step *x, const struct inode *inode);

/* In inode.flags, of the model only: made by O_TMPFILE and not yet linked, so linkat may. */
#define INODE_LINKABLE (1u << 31)

/* Credentials and permission bits (access.c). */
static inline bool is_root(const struct step *x)
{
	return x->process->uid == 0;
}
/* The same where a capability in the initial user namespace is asked for (capable(): for devices,
 * immutable files and trusted attributes), which root of another namespace does not have. */
static inline bool is_machine_root(const struct step *x)
{
	return is_root(x) && !x->model->traits.one_user;
}
bool is_owner(const struct step *x, const struct inode *inode);
bool in_group(const struct step *x, uint32_t gid);
enum { MAY_EXEC = 1, MAY_WRITE = 2, MAY_READ = 4 };
bool may_access(struct step *x, const struct inode *inode, unsigned want);
/* The two questions with their answer: refused by the rule, if the trait no_modes is not set. */
bool refuse_stranger(struct step *x, const struct inode *inode, enum rule rule);
bool refuse_denied(struct step *x, const struct inode *inode, unsigned want, enum rule rule);
/* A mode without the bits that a file system without modes surely loses: set-id and sticky. */
uint32_t mode_kept(const struct step *x, uint32_t mode);
/* Sticky directory: may the caller remove or rename this entry? */
bool sticky_forbids(struct step *x, const struct inode *dir, const struct inode *victim);

/* Path resolution (resolve.c). */
enum walk_flag {
	WALK_FOLLOW = 1 << 0,      /* a final symbolic link is followed */
	WALK_KEEP_SLASH = 1 << 1,  /* readlink, lstat, O_NOFOLLOW: Linux follows before a slash */
	WALK_EMPTY = 1 << 2,       /* AT_EMPTY_PATH: "" is the directory itself */
	WALK_OPEN_CREATE = 1 << 3, /* open makes the last name, if it is not there */
};
enum where_kind { WHERE_DIR, WHERE_FILE, WHERE_NONE, WHERE_ERROR };
struct where {
	enum where_kind kind;
	uint64_t ino;     /* DIR, FILE: the object */
	uint64_t parent;  /* FILE, NONE, DIR unless dots: directory of the last name */
	const char *name; /* last name, in the path or a link's target; not terminated */
	size_t name_len;
	bool slash;                 /* the path ends with '/' */
	bool last_dot, last_dotdot; /* the last component is "." or ".." ("/" has none at all) */
	bool is_root;
	bool is_symlink;  /* FILE is a symbolic link that was not followed */
	bool via_symlink; /* the last component was a symbolic link that was followed */
	int error;        /* ERROR: its errno; its rule was not yet refused */
	enum rule rule;
	bool reached;     /* ERROR: the directory of the last name was reached */
	uint64_t blocked; /* ERROR ENOTDIR: the file that only slashes follow, else 0 */
};
void resolve(struct step *x, int64_t dirfd, const struct arg *path, unsigned flags,
	     const int64_t *openat2_resolve, struct where *ret);
/* Refuses by the resolution's own rule, if it is an error. Returns whether it was. */
bool refuse_where(struct step *x, const struct where *w);
const struct inode *where_inode(const struct step *x, const struct where *w);

/* The file of a descriptor argument; refuses with EBADF and returns NULL if there is none. */
const struct open_file *need_file(struct step *x, const struct arg *fd, enum rule rule);
/* Opens an object that is there, without a way to it: its descriptor is the value of success. */
void open_inode(struct step *x, uint64_t ino, int64_t flags);

/* Shared effects (make.c). */
/* A new object without a name in a directory: owner, group, setgid inheritance, umask. */
uint64_t make_unnamed(struct step *x, uint64_t dir, uint32_t mode);
/* A new object named by w (WHERE_NONE): owner, group, setgid inheritance, umask, times. */
uint64_t make_object(struct step *x, const struct where *w, uint32_t mode);
void touch_modify(struct step *x, uint64_t ino); /* mtime and ctime */
void touch_change(struct step *x, uint64_t ino); /* ctime */
void touch_access(struct step *x, uint64_t ino); /* atime, by the traits */
/* The same, where some data of a regular file was read through this descriptor. */
void touch_read(struct step *x, const struct open_file *f);
/* The call may set these times of the object (enum time_bit), or leave them. */
void may_touch(struct step *x, uint64_t ino, unsigned fields);
/* The setuid and setgid bits that writing takes away. */
uint32_t privilege_bits(struct step *x, const struct inode *inode);
/* The capabilities of a file, which a new owner and whatever changes its data take away. */
void drop_capabilities(struct step *x, uint64_t ino);
/* After a write: those bits, and the capabilities. */
void drop_privileges(struct step *x, uint64_t ino);
/* Directory streams open on dir learn that a name came or went. */
void streams_added(struct step *x, uint64_t dir, const char *name, size_t len);
void streams_removed(struct step *x, uint64_t dir, const char *name, size_t len);

#define A(name, kind)
#define OP(name, base, result, traits, args) void model_##name(struct step *x);
#include "op/ops.def"
#undef OP
#undef A

#endif
