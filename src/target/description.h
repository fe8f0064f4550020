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
 * the shipped ones, which are written the same way (targets/ *.ini). A base is looked for in the
 * same order; one that has its own name as base means the next one of that name. */
#ifndef TARGET_DESCRIPTION_H
#define TARGET_DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/version.h"

struct err;
struct buf;

struct target_trait {
	const char *name, *value;
	const char *reason; /* why the target has it; NULL only where a user gave none */
};

struct target_description {
	const char *name;         /* "ext4" */
	const char *argument;     /* the text after ':' or '@', or NULL */
	const char *kind;         /* "host", "reffs", "journalfs", "dir", "fuse", "kernel" */
	const char *summary;      /* what it is, in a few words */
	const char *fs;           /* type for mount(2) */
	const char *source;       /* what is mounted, where that is no image */
	const char *mkfs;         /* command with {image} or {dir} */
	const char *mkfs_options; /* are put before {image} of mkfs */
	const char *options;      /* mount options; may name {dir} */
	const char *command;      /* fuse: the daemon, with {mount} (appended where absent) */
	const char *backing;      /* fuse: "image", "dir" or NULL: what saving copies */
	const char *restart;      /* dir: command that kills and starts its server, with {dir} */
	const char *fsck;         /* command with {image} */
	const char *repair;       /* the same, and it repairs what it finds */
	const char *repair_unmounted;      /* the same, of one that was unmounted */
	const char *fsck_clean, *fsck_bad; /* exit codes: "0", "4 8" */
	const char *programs;              /* that its commands start, besides their first words */
	const char *packages;              /* Debian packages it needs */
	/* Other configurations of the same file system, which a search also tries: names of
	 * targets. They are no variants of what has this one as its base. */
	const char *variants;
	/* Calls that are made in a directory before the mount: what lies below a layered file
	 * system. The directory may name {dir}. NULL: nothing lies there. */
	const char *content, *content_dir;
	const char *fields; /* tree fields that mean nothing here: "nlink_dir times" */
	uint64_t image_size;
	const char *image;   /* that a user gives in place of what mkfs makes, or NULL */
	uint64_t old_bytes;  /* of the image that mkfs finds, where the disk is recorded */
	unsigned fields_off; /* the same, enum tree_field */
	struct target_trait *traits;
	size_t trait_count;
	struct arena arena;
};

/* The description that "name", "name:argument" or "name@argument" asks for (a name may have a colon
 * itself). Free it also after a failure. */
int description_find(struct target_description *d, const char *spec, const char *config,
		     struct err *err);
void description_free(struct target_description *d);
/* A deep copy. */
void description_copy(struct target_description *to, const struct target_description *d);
/* The version of the kernel that answers calls to it: of the one in the process, or of the running
 * one. What is no kernel's (RefFS, journalfs) answers as the model's newest does. VERSION_NONE: the
 * kernel is not built. */
struct version description_kernel(const struct target_description *d);
/* Fields of the tree by their names, "nlink_dir xattr": enum tree_field. */
int description_parse_fields(const char *names, unsigned *ret_fields, struct err *err);
void description_add_fields(unsigned fields, struct buf *out);
/* Names of all described targets, each once and followed by NUL: the user's before the shipped. */
int description_names(const char *config, struct buf *ret_names_nul, struct err *err);

#endif
