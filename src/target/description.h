/* description.h -- targets in a few lines of INI.
 *
 *	[target.ext4-nojournal]
 *	base = ext4
 *	mkfs = mkfs.ext4 -q -F -b 1024 -O ^has_journal {image}
 *	image_size = 256K
 *	trait.link_max = 65000 ; because: ext4's i_links_count stops there
 *
 * Looked for beside the run (assay.ini, or --config), in the user's configuration
 * ($XDG_CONFIG_HOME/assay/targets.ini), in the system's (/etc/assay/targets.ini), then among
 * the shipped ones, which are written the same way (targets/ *.ini). */
#ifndef TARGET_DESCRIPTION_H
#define TARGET_DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/model.h"

struct err;
struct buf;

struct target_trait {
	const char *name, *value, *reason;
};

struct target_description {
	const char *name;      /* "ext4" */
	const char *kind;      /* "host", "reffs", "dir", "fuse" */
	const char *argument;  /* what stood behind ':', or NULL */
	const char *fs;        /* type for mount(2) */
	const char *mkfs;      /* command with {image} or {dir} */
	const char *options;   /* mount options */
	const char *command;   /* fuse: the daemon, with {mount} (appended where absent) */
	const char *backing;   /* fuse: "image", "dir" or NULL: what saving copies */
	const char *fsck;      /* command with {image} */
	const char *fsck_clean, *fsck_bad; /* exit codes: "0", "4 8" */
	const char *packages;  /* Debian packages it needs */
	const char *ignore;    /* names in the root that are not the test's: "lost+found" */
	uint64_t image_size;
	unsigned fields_off;   /* tree fields that mean nothing here */
	struct target_trait *traits;
	size_t trait_count;
	struct arena arena;
};

int description_find(struct target_description *d, const char *spec, const char *config,
		     struct err *err);
void description_free(struct target_description *d);
/* Names of all described targets, each once, in order: the user's before the shipped. */
int description_names(const char *config, struct buf *ret_names_nul, struct err *err);

#endif
