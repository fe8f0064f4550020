/* compare.h -- two checkers and the same damage: what does one lose that the other keeps?
 *
 * The disks hold the same files. On one disk of one format, both get the same bytes changed; on two
 * formats, a field that means the same in both (shared.def), of the same object, gets the same
 * value. A checker that loses a file which the other one keeps could have done better. */
#ifndef FSCK_COMPARE_H
#define FSCK_COMPARE_H

#include "fsck/fsck.h"

struct checker_comparison {
	struct fsck_session *sides[2];
	struct contents common; /* files of both test disks */
	bool one_disk;          /* both have the same test disk */
	const char *config;     /* the file that describes them; NULL: none, they are known */
	uint64_t compared, incomplete;
};

/* One side loses more than the other. */
struct compared {
	struct fsck_test tests[2];
	int loser;      /* which side; -1: none */
	uint64_t count; /* of the files that only the other one keeps */
};

/* The sessions are the caller's. */
void comparison_init(struct checker_comparison *c, struct fsck_session *a, struct fsck_session *b);
void comparison_free(struct checker_comparison *c);
/* Each side gets its corruption. Free the result in any case but an error. The test of the loser
 * says what is wrong: FSCK_INCOMPLETE. */
int comparison_try(struct checker_comparison *c, const struct corruption corruptions[2],
		   struct compared *ret, struct err *err);
/* The same with a disk for each that is damaged already. */
int comparison_try_disks(struct checker_comparison *c, const uint8_t *const disks[2],
			 struct compared *ret, struct err *err);
void compared_free(struct compared *x);

/* Visits the same damage on both disks: corruptions by shared fields, with telling values. visit()
 * returns 1 to go on. field: the name in shared.def. */
int comparison_each(const struct checker_comparison *c, const struct ondisk_map *maps[2],
		    uint64_t seed,
		    int (*visit)(void *to, const char *field,
				 const struct corruption corruptions[2], struct err *err),
		    void *to, struct err *err);

#endif
