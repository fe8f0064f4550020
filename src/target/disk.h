/* disk.h -- the image that a sandbox's file system lies on: made, put back, saved, copied.
 *
 * It is shared with the sandbox, and touched here only while it is not mounted. */
#ifndef TARGET_DISK_H
#define TARGET_DISK_H

#include "sandbox/sandbox.h"
#include "storage/image.h"
#include "target/target.h"
#include "tree/pmap.h"

struct target_description;
struct buf;

struct disk {
	struct image image; /* size 0: there is none */
	uint64_t size;
	struct disk_copy *pristine;
	struct pmap saved; /* snapshots by key */
};

/* Whether the description asks for one: its mkfs has {image}. */
bool disk_wanted(const struct target_description *d);
/* An image with what mkfs makes on it, or with what the user gave in place of that; old: where mkfs
 * leaves it as it was, it may have old bytes. */
int disk_make(struct disk *disk, const struct target_description *d, bool old, struct err *err);
/* An image of this byte only; disk_keep() once something has been put on it. */
int disk_make_blank(struct disk *disk, const struct target_description *d, int byte,
		    struct err *err);
/* What is on the image now is what it will be put back to. */
void disk_keep(struct disk *disk);
/* An image with what lies in the user's file, which stays as it is. */
int disk_copy(struct disk *disk, const char *path, struct err *err);
void disk_free(struct disk *disk);

/* Puts the contents in place of what there is: by unmounting, or, where sandbox is NULL, on another
 * image, as a sandbox that is gone may still hold the old one. */
int disk_put(struct disk *disk, struct sandbox *sandbox, const struct disk_copy *contents,
	     struct err *err);
int disk_save(struct disk *disk, struct sandbox *sandbox, uint64_t key, struct err *err);
const struct disk_copy *disk_saved(const struct disk *disk, uint64_t key, struct err *err);
void disk_drop(struct disk *disk, uint64_t key);
/* A copy of the image as mkfs made it. */
int disk_copy_fresh(const struct disk *disk, struct image *ret, struct err *err);
/* A copy of the image as unmounting leaves it; it is mounted again. *ret_error: what unmounting or
 * mounting answered, and there is no copy. */
int disk_copy_unmounted(struct disk *disk, struct sandbox *sandbox, struct image *ret,
			int *ret_error, struct err *err);
/* Writes the image to a file, as it is on the disk: unmounted if that can still be done. */
int disk_write(struct disk *disk, struct sandbox *sandbox, const char *path, struct err *err);

/* Runs the description's mkfs; dir replaces {dir}. */
int disk_run_mkfs(struct disk *disk, const struct target_description *d, const char *dir,
		  struct err *err);

#endif
