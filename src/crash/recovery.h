/* recovery.h -- a crash disk is mounted, and what is there then.
 *
 * Recovering is deterministic where the target is: the same disk gives the same result, which is
 * kept. Recovery that fails, hangs or kills its kernel is a result like any other. */
#ifndef CRASH_RECOVERY_H
#define CRASH_RECOVERY_H

#include "base/map.h"
#include "crash/read_memo.h"
#include "sandbox/recorded_image.h"
#include "storage/image.h"
#include "storage/page_disk.h"
#include "target/target.h"

enum recovery_end {
	RECOVERY_FINE,
	RECOVERY_REFUSED, /* mounting failed */
	RECOVERY_DIED,    /* the kernel or the daemon did */
	RECOVERY_HUNG,
	RECOVERY_UNREADABLE,         /* mounted, and the root directory cannot be read */
	RECOVERY_ALARM,              /* the kernel log has a complaint */
	RECOVERY_UNUSABLE,           /* mounted, but something cannot be made or removed there */
	RECOVERY_UNSTABLE,           /* mounted again, the tree is another one */
	RECOVERY_DAMAGED,            /* its checker finds an error afterwards */
	RECOVERY_UNREPAIRED,         /* its checker could not repair the disk */
	RECOVERY_DISAGREES,          /* its checker recovers another tree than mounting does */
	RECOVERY_INTERRUPTED,        /* crashed and repeated, recovery gives another tree */
	RECOVERY_REPAIR_INTERRUPTED, /* the same of its checker */
	RECOVERY_ENDS
};
extern const char *const recovery_end_names[RECOVERY_ENDS];
extern const char *const recovery_end_sentences[RECOVERY_ENDS];

struct recovered {
	enum recovery_end end;
	int error;       /* RECOVERY_REFUSED */
	struct buf text; /* what mount, kernel or checker said, or what could not be done */
	bool has_tree;   /* mounted and observed: */
	struct tree tree;
	bool checked;
	bool has_log;
	struct buf log; /* what recovery wrote, where that is wanted (storage/write_log.h) */
};

/* Which recovered file systems are used, mounted again and checked by fsck. */
enum sanity { SANITY_NONE, SANITY_NEW, SANITY_ALL };

struct recovery {
	struct target *target;
	struct image base;  /* as mkfs left it */
	struct image stage; /* what is mounted */
	struct page_disk staged;
	bool stage_repaired;  /* a checker wrote to it */
	bool last_was_staged; /* what was mounted last is the stage */
	enum sanity sanity;
	bool keeps_log; /* of what recovery writes; may be changed: what has none is done again */
	struct recorded_image recorded; /* the stage, for a checker whose writes are to be known */
	struct hash_map memo;           /* by disk: index + 1 of what it gave */
	struct read_memo reads;         /* the same by what recovery read, where that is known */
	struct hash_map repaired;       /* by disk that was repaired: the same */
	struct recovered not_repaired;  /* of the last disk whose repair failed */
	struct hash_map trees; /* recovered trees whose file systems were used and checked */
	bool unsound;          /* not for now: what a failed write leaves need not be */
	unsigned check_one_in; /* SANITY_NEW: of these, 0: all; and, */
	bool checks_next;      /* in any case, that of the next disk */
	struct hash behind; /* what led to them: the same tree behind other calls counts as new */
	struct recovered *results;
	size_t count, cap;
	uint64_t recoveries, memo_hits, checked, repairs; /* hits: by what was read */
};

/* The target was opened to record, and is fresh. */
int recovery_open(struct recovery *r, struct target *t, enum sanity sanity, bool keeps_log,
		  struct err *err);
void recovery_close(struct recovery *r);
/* What comes of a disk, valid until the next call. Afterwards the target is to be reset. */
int recovery_of(struct recovery *r, const struct page_store *s, const struct page_disk *d,
		const struct recovered **ret, struct err *err);
/* The same of a disk that its checker repairs before it is mounted. Adds to the log what the
 * checker wrote, unless that is NULL. */
int recovery_of_repaired(struct recovery *r, struct page_store *s, const struct page_disk *d,
			 struct buf *log, const struct recovered **ret, struct err *err);
/* The disk becomes what its checker can repair: itself, or as it is when it was mounted and
 * unmounted. 1; 0: it cannot be unmounted. */
int recovery_prepare_repair(struct recovery *r, struct page_store *s, struct page_disk *d,
			    struct err *err);
const char *recovery_repair_command(const struct recovery *r); /* NULL: there is none */
/* Whether it can: there is a checker that repairs, and what it writes can be recorded. */
bool recovery_records_repair(const struct recovery *r);
/* What is known of disks is forgotten. */
void recovery_forget(struct recovery *r);
/* The disk as a file. */
int recovery_write_image(struct recovery *r, const struct page_disk *d, const char *path,
			 struct err *err);

#endif
