/* kept.h -- what all targets with a keeper have in common.
 *
 * The kind's own struct begins with struct kept; the functions serve as members of its
 * struct target_kind. */
#ifndef TARGET_KEPT_H
#define TARGET_KEPT_H

#include "target/description.h"
#include "target/disk.h"
#include "target/keeper.h"

struct kept {
	struct target_description d; /* a copy */
	struct disk disk;            /* where the description asks for one */
	struct keeper *keeper;
	/* Starts a keeper: fills in what is kept and calls kept_start(). */
	int (*start)(struct target *t, struct err *err);
};

void kept_init(struct target *t, struct kept *kept, const struct target_description *d,
	       int (*start)(struct target *t, struct err *err));
int kept_start(struct target *t, const struct keeping *keeping, struct err *err);
/* Stops the keeper and frees what is kept here; the struct itself is the kind's. */
void kept_end(struct target *t);
/* Gives up the keeper there is and starts another, on these contents if there is a disk. */
int kept_start_anew(struct target *t, const struct snapshot *contents, struct err *err);
/* Puts these contents on the disk, whatever became of the keeper. */
int kept_put(struct target *t, const struct snapshot *contents, struct err *err);

/* Inside a keeper: the directory in the mounted file system that calls start from, made if need
 * be. The root itself is not the test's alone: mkfs, or a user, leaves things there. */
int kept_open_root(const char *mount, const char *name, int *ret_root_fd, struct err *err);
/* Namespaces for a keeper that mounts. */
unsigned kept_namespaces(void);

/* Capabilities that come with a disk or with privilege. */
unsigned kept_caps(const struct target_description *d);

int kept_call(struct target *t, const struct call *c, struct outcome *ret,
	      enum target_fate *ret_fate, struct err *err);
int kept_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate, struct err *err);
int kept_follow(struct target *t, const struct plan_step *steps, size_t count,
		struct plan_end *ret, struct err *err);
int kept_race(struct target *t, const struct call *calls, size_t count, uint64_t seed,
	      struct raced *ret, enum target_fate *ret_fate, struct err *err);
int kept_clear(struct target *t, struct err *err);
int kept_save(struct target *t, uint64_t key, struct err *err);
int kept_restore(struct target *t, uint64_t key, struct err *err);
void kept_drop(struct target *t, uint64_t key);
int kept_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err);
int kept_image(struct target *t, const char *path, struct err *err);
int kept_run_program(struct target *t, const char *source, double seconds, struct program_end *ret,
		     struct err *err);

#endif
