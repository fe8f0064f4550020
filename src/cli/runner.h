/* runner.h -- one script executed by a crew, item by item, and its trace. */
#ifndef CLI_RUNNER_H
#define CLI_RUNNER_H

#include "base/buf.h"
#include "sandbox/crew.h"
#include "trace/script.h"

struct err;
struct scanner;

/* What executing an item gave. */
union item_result {
	struct outcome outcome;
	const char *dump;
};

struct runner {
	int root_fd;
	struct crew *crew;
	struct scanner *scanner;
	struct script script; /* to be executed */
	struct script trace;  /* what came of it; its text is in part the script's */
	union item_result *results;
	struct buf text;
	/* Calls handed over at once, their outcomes, and which items they are. */
	struct call calls[SYSCALL_BATCH_MAX];
	struct outcome outcomes[SYSCALL_BATCH_MAX];
	size_t at[SYSCALL_BATCH_MAX];
};

/* Executes the script; the trace has everything up to a failure, if there is one. */
int runner_run(struct runner *r, struct err *err);

#endif
