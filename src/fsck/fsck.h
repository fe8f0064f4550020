/* fsck.h -- a checker of file systems is tested: bytes of a disk are changed, it is run, and run
 * again; what it says must fit together, and the kernel must agree with it.
 *
 * Nothing needs to be known of the checker, and nothing of the file system beyond where its fields
 * lie (ondisk.h). */
#ifndef FSCK_FSCK_H
#define FSCK_FSCK_H

#include "audit/audit.h"
#include "base/map.h"
#include "checker/checker_session.h"
#include "damage/damage.h"
#include "fsck/contents.h"
#include "fsck/test_disk.h"
#include "judge/problem.h"

enum { FSCK_RUNS_MAX = 3 };

/* What is wrong with a checker, from the most certain on. */
enum fsck_fault {
	FSCK_FINE,
	FSCK_CRASHED,       /* a signal ended it */
	FSCK_HUNG,          /* it does not end, or takes all memory */
	FSCK_CHECK_WRITES,  /* only asked to check, it changes the disk */
	FSCK_INCONSISTENT,  /* what it says is not what it says when it is run again (pairs.h) */
	FSCK_REFUSED,       /* what it calls clean, the kernel does not mount, or cannot be read */
	FSCK_KERNEL,        /* what it calls clean makes the kernel crash, hang or complain */
	FSCK_UNSOUND,       /* what it calls clean breaks a rule of the format (audit.h) */
	FSCK_LOSS,          /* its repair loses files that were not damaged */
	FSCK_CHECK_DIFFERS, /* its check and its repair contradict each other (pairs.h) */
	FSCK_INCOMPLETE,    /* it loses what another checker keeps (compare.h) */
	FSCK_FAULTS
};
extern const char *const fsck_fault_names[FSCK_FAULTS];

/* One test: a corruption, and what came of it. */
struct fsck_test {
	struct corruption corruption;
	bool undamaged; /* there is none: the disk is as it was made */
	int mode;       /* of the checker */
	enum fsck_fault fault;
	struct checker_run check; /* asked only to check; where it has such a mode */
	struct checker_run runs[FSCK_RUNS_MAX];
	enum checker_answer answers[FSCK_RUNS_MAX];
	size_t run_count;
	struct checker_run list; /* what is on the disk it calls clean; where no kernel mounts it */
	bool read;               /* what is on the disk it calls clean was read: */
	bool whole;              /* nothing is missing, */
	struct contents after;   /* or this is there */
	uint64_t missing;        /* files that are lost, with those that were damaged */
	struct buf text;         /* what is wrong, in a sentence */
	const char *rule;        /* of the format, that is broken; NULL: none */
	struct buf more;         /* lines of evidence: the kernel's log, lost files, broken rules */
};

struct fsck_figures {
	uint64_t images;       /* different damaged disks */
	uint64_t checker_runs; /* native ones */
	uint64_t skipped;      /* runs that could not differ from one that was made */
	uint64_t mounts;       /* of disks that the checker calls clean */
	uint64_t listed;       /* such disks that no kernel mounts */
	uint64_t inconsistent, crashed, hung;
	uint64_t behaviours; /* different sequences of answers and messages */
};

struct fsck_session {
	const struct checker_program *program;
	struct checker_session *checker;
	struct test_disk *disk;
	struct damaged_disk damaged;
	struct contents contents; /* of the disk that is not damaged */
	struct contents settled;  /* of one that was crashed: what damage may not undo */
	struct fsck_figures figures;
	const char *export_to; /* a directory for findings as tests (fsck_export.h); NULL: none */
	/* Of the disk that is not damaged, by mode: what is said of it is no finding. */
	enum checker_answer usual[CHECKER_MODES_MAX][2], usual_check;
	struct buf usual_output[CHECKER_MODES_MAX];
	struct audit usual_breaches;
	bool check_writes;    /* it changes even that when it is only asked to check */
	struct hash_map seen; /* damaged disks */
	struct hash_map fine; /* disks that were mounted, and nothing was wrong */
	struct hash_map behaved;
	struct hash_map hanging; /* fields; with one of them damaged the kernel hung on mounting */
};

/* The disk and the map of its fields are the caller's, and stay as they are. No map: whole disks
 * can be tested. -EIO: the checker is not content with the disk. */
int fsck_open(struct fsck_session *s, const struct checker_program *program, struct test_disk *disk,
	      const struct ondisk_map *map, struct err *err);
/* Of a disk that is damaged already: nothing is usual for it, and what is on it is not known. */
int fsck_open_damaged(struct fsck_session *s, const struct checker_program *program,
		      struct test_disk *disk, struct err *err);
void fsck_close(struct fsck_session *s);

/* Whether this disk was not tested before. */
bool fsck_is_new(struct fsck_session *s, const struct corruption *c, int mode);
/* Damages the disk, runs the checker in this mode, and judges. */
int fsck_try(struct fsck_session *s, const struct corruption *c, int mode, struct fsck_test *ret,
	     struct err *err);
/* The same with the test disk as it is. What is wrong with that is no finding of later tests. */
int fsck_try_undamaged(struct fsck_session *s, int mode, struct fsck_test *ret, struct err *err);
/* The same with another damaged disk. */
int fsck_try_disk(struct fsck_session *s, const uint8_t *disk, int mode, struct fsck_test *ret,
		  struct err *err);
enum checker_answer fsck_run_answer(const struct fsck_session *s, int mode,
				    const struct checker_run *r);
/* Sets the fault of a test, and its text, where two runs of a repair contradict each other. */
void fsck_judge_pair(const struct fsck_session *s, struct fsck_test *t);
/* The same of a check and a repair. */
void fsck_judge_check(const struct fsck_session *s, struct fsck_test *t);
/* Whether it said in the end that the disk is clean, or repaired. */
bool fsck_calls_clean(const struct fsck_test *t);
void fsck_test_free(struct fsck_test *t);

/* What is said of it first, by the checker or by the kernel, without names and numbers; "" where
 * the fault says it. */
void fsck_complaint(const struct fsck_session *s, const struct fsck_test *t, struct buf *out);
enum severity fsck_severity(const struct fsck_test *t);
/* One cause has one: no names and no numbers. */
void fsck_sign(const struct fsck_session *s, const struct fsck_test *t, struct buf *out);

#endif
