/* pjd.h -- inside the export to pjdfstest: calls in the words of its program. */
#ifndef FINDING_PJD_H
#define FINDING_PJD_H

#include "finding/finding.h"

enum { PJD_FDS = 256 };

/* Calls of the finding's processes, and checks, one after another. A descriptor is open only while
 * the program runs: from the first one on, all calls are made by one run of it. */
struct pjd {
	const struct finding *finding;
	struct buf body;
	unsigned tests;
	bool chained;
	struct buf chain;          /* the calls of that run so far */
	unsigned opened;           /* descriptors of it */
	int64_t position[PJD_FDS]; /* of the finding's descriptors among them, from 1; 0: none */
	struct buf why;            /* what cannot be said, first of all */
};

/* "the program pjdfstest cannot WHAT CALL()" is the reason, if it is the first. */
void pjd_cannot(struct pjd *p, const char *what, const char *call);
/* One word: expect() hands its arguments on without quotes. */
bool pjd_is_word(const char *text, size_t len);
/* From the root directory, which is where the test runs; false if it is not one word. */
bool pjd_add_path(const char *path, struct buf *out);
/* "expect EXPECTED CALL"; NULL: whatever it returns. fields: what stat is asked for. */
void pjd_call(struct pjd *p, size_t i, const char *expected, const char *fields);

#endif
