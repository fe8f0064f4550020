/* evidence.h -- files of a finding that a damaged disk shows. */
#ifndef FSCK_EVIDENCE_H
#define FSCK_EVIDENCE_H

#include <stdint.h>

#include "base/buf.h"
#include "run/run.h"

struct err;

/* A fence with the beginning of a text. */
void evidence_add_fenced(struct buf *out, const char *text);
int evidence_write_text(const char *folder, const char *name, const struct buf *text,
			struct err *err);
/* Compressed (gzip). */
int evidence_write_disk(const char *folder, const char *name, const uint8_t *disk, uint64_t size,
			struct err *err);
/* What a finding is kept with. */
struct disk_evidence {
	/* Writes README.md, reproduce.sh and the disks. */
	int (*write)(void *to, const char *folder, struct err *err);
	void *to;
	/* How often the script is run, as a maintainer would: only what it shows is a finding. 0:
	 * it would do what was done just now. */
	unsigned script_times;
};
/* Adds the finding to the run. */
int evidence_keep(const struct disk_evidence *e, struct run *run, struct finding *f,
		  struct err *err);

#endif
