/* sandbox_target.h -- what all targets with a sandbox have in common.
 *
 * The kind's own struct begins with struct sandbox_target; the functions serve as members of its
 * struct target_kind. */
#ifndef TARGET_SANDBOX_TARGET_H
#define TARGET_SANDBOX_TARGET_H

#include "sandbox/sandbox.h"
#include "target/description.h"
#include "target/disk.h"
#include "target/target.h"

struct sandbox_target {
	struct target_description d; /* a copy */
	struct disk disk;            /* where the description asks for one */
	struct recorder *recorder;   /* of what is written to the disk; NULL: nothing is */
	struct image base; /* as mkfs left it, for who reads the record; made when asked for */
	struct sandbox *sandbox;
	/* Where the description has content, the sandbox is first attached to the directory below:
	 * what the kind would do, and that directory. */
	struct sandbox_ops mounted;
	bool is_below;
	struct buf below;
	/* Inside the sandbox, from `begin` on: what {dir} means, and the name of the directory for
	 * the test. */
	const char *dir, *root_name;
	/* Starts a sandbox: fills in its functions and calls sandbox_target_start(). */
	int (*start)(struct target *t, struct err *err);
};

void sandbox_target_init(struct target *t, struct sandbox_target *s,
			 const struct target_description *d,
			 int (*start)(struct target *t, struct err *err));
int sandbox_target_start(struct target *t, const struct sandbox_ops *ops, struct err *err);
/* Stops the sandbox and frees what this struct holds; the struct itself is the kind's. */
void sandbox_target_end(struct target *t);
/* Gives up the sandbox there is and starts another, on these contents if there is a disk. */
int sandbox_target_start_anew(struct target *t, const struct disk_copy *contents, struct err *err);
/* Puts these contents on the disk, whatever became of the sandbox. */
int sandbox_target_put(struct target *t, const struct disk_copy *contents, struct err *err);

/* Inside a sandbox: the directory in the mounted file system that calls start from, made if need
 * be. The root itself is not the test's alone: mkfs, or a user, leaves things there. */
int sandbox_target_open_root(const char *mount, const char *name, int *ret_root_fd,
			     struct err *err);
/* Inside a sandbox: a loop device on the disk, as loop_attach() makes one; it is recorded where
 * that was asked for. */
int sandbox_target_attach_disk(struct sandbox_target *s, const char *place, struct buf *device,
			       int *ret_loop_fd, struct err *err);
/* Inside a sandbox, before the disk is mounted: what else was put there is seen. loop_fd may be -1.
 */
int sandbox_target_prepare_disk(struct sandbox_target *s, int loop_fd, struct err *err);
/* Inside a sandbox: whether the process that serves the disk is gone, and as -ECHILD with the
 * reason.
 */
bool sandbox_target_lost_disk(void *own);
int sandbox_target_report_lost_disk(void *own, struct err *err);
/* Namespaces for a sandbox that mounts. */
unsigned sandbox_target_namespaces(void);

/* Capabilities that come with a disk or with privilege. */
unsigned sandbox_target_caps(const struct target_description *d);

/* Before it is started: what is written to the disk is recorded if that is asked for. */
int sandbox_target_record(struct target *t, const struct target_options *options,
			  enum recorder_means means, struct err *err);

int sandbox_target_clear(struct target *t, struct err *err);
int sandbox_target_save(struct target *t, uint64_t key, struct err *err);
int sandbox_target_restore(struct target *t, uint64_t key, struct err *err);
void sandbox_target_drop(struct target *t, uint64_t key);
int sandbox_target_unmounted_disk(struct target *t, struct image *ret, int *ret_error,
				  enum target_fate *ret_fate, struct err *err);
int sandbox_target_fresh_disk(struct target *t, struct image *ret, struct err *err);
int sandbox_target_image(struct target *t, const char *path, struct err *err);
int sandbox_target_reset_disk(struct target *t, struct err *err);
int sandbox_target_recorded(struct target *t, int *ret_image_fd, struct buf *out, struct err *err);
int sandbox_target_load_pages(struct target *t, const struct page_change *pages, size_t count,
			      int *ret_error, enum target_fate *ret_fate, struct err *err);
int sandbox_target_load(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
			struct err *err);
int sandbox_target_run_program(struct target *t, const char *source, double seconds,
			       struct program_report *ret, struct err *err);

#endif
