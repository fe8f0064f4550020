/* answers.h -- from what a request names to what it gets: pages, their data, files of runs. */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "serve/request_path.h"

struct err;
struct run_index;

enum { ANSWER_NONCE_BYTES = 16 };

struct answer {
	unsigned status;  /* of HTTP */
	const char *type; /* MIME type; NULL: no content */
	struct buf body;
	int fd; /* of a file that is the body; -1: none */
	off_t size;
	char location[4 * REQUEST_PATH_MAX]; /* of another page; "": none */
	char nonce[2 * ANSWER_NONCE_BYTES + 1];
	bool download; /* to be stored and not shown */
};

/* Fills in an answer, which is then to be released; url is the path as it was sent. */
void answer_make(struct answer *a, struct run_index *index, const char *url);
/* One sentence. */
void answer_refuse(struct answer *a, unsigned status, const char *sentence);
/* The file is not closed: the response has it. */
void answer_free(struct answer *a);

#endif
