/* app.h -- is a program safe in a crash, and on which file systems?
 *
 * The program's calls on its files were recorded (app_record.h). They are repeated in the model,
 * which gives a history (persistence/persistence.h). Every tree that a crash can leave, at a level
 * of persistence, is written to a directory, and the program's own check runs on it. Levels are
 * tried from the strictest on; what can be left at one can be left at the next. */
#ifndef APPCRASH_APP_H
#define APPCRASH_APP_H

#include "base/arena.h"
#include "base/map.h"
#include "persistence/persistence.h"
#include "run/run.h"
#include "workload/workload.h"

struct app_options {
	const char *verify; /* a command: 0 if all is well */
	unsigned levels;    /* bits of enum persist_level */
	uint64_t states;    /* for each level */
	uint64_t seed;
	uint64_t findings;    /* at most */
	double check_seconds; /* time limit of one check */
	double until_seconds; /* of clock_seconds(); 0: no limit */
};

struct app_level {
	bool tried, complete;    /* it was not ended early */
	uint64_t states, failed; /* different trees, of this level and those before */
	uint64_t left_out;       /* with one or two parts lost */
};

/* A combination of lost parts that is known to fail, without which it does not. */
struct known_loss {
	struct lost_part *parts;
	size_t count;
};

struct app_session {
	struct app_options options;
	struct workload workload;
	struct persistence history; /* of calls that change or promise something */
	size_t *calls;              /* of each step: the call that led to it; step 0 has none */
	struct buf printed;         /* by the program, in all */
	uint32_t *printed_len;      /* of each step */
	struct janitor *place;      /* its directory */
	struct buf dir, printed_path;
	struct hash_map verdicts; /* of trees: 1 fine, 2 not */
	struct app_level levels[PERSIST_LEVELS];
	enum persist_level level; /* that is tried */
	struct known_loss *known;
	size_t known_count, known_cap;
	uint64_t checks, minimise_left;
	struct run *run;
	struct arena arena;
	struct err *err;
	int status;
};

extern const char *const app_level_sentences[PERSIST_LEVELS];
/* What the level lets a file system do, and whether fsync keeps names. */
extern const struct persist_rules app_rules[PERSIST_LEVELS];

/* Makes the directory that the program is to run in, whose path is s->dir. */
int app_open(struct app_session *s, const struct app_options *o, struct run *run, struct err *err);
void app_close(struct app_session *s);
/* Reads the script of its calls. */
int app_read(struct app_session *s, const char *trace, struct err *err);
/* Tries all levels; findings go to the run. */
int app_crash(struct app_session *s, struct err *err);

/* Runs the check on the tree, after so much was printed: 1 if it fails, 0 if not. What it says is
 * added to output, which may be NULL. */
int app_check(struct app_session *s, const struct tree *t, uint32_t printed_len, struct buf *output,
	      struct err *err);

/* The tree becomes the files of s->dir. */
int app_write_tree(struct app_session *s, const struct tree *t, struct err *err);

/* app_report.c: makes a finding of a tree that fails. */
int app_report(struct app_session *s, const struct crash_state *c, struct err *err);
/* The file or directory; its path at that step, or at one before it. */
void app_print_path(const struct app_session *s, uint64_t ino, size_t step, struct buf *out);
/* The call behind which that step is, as strace has it: of much data only the beginning. */
void app_print_call(const struct app_session *s, size_t step, struct buf *out);
/* app_missing.c: which call would have kept what was lost. */
void app_print_missing(const struct app_session *s, const struct crash_state *c, struct buf *out);

#endif
