/* opt.h -- options as rows: one row is flag, INI key, help, man page and completion.
 *
 * A command has a struct of settings and a table of rows that point into it by offset.
 * Defaults are what the struct holds before parsing; help shows them. */
#ifndef SETTINGS_OPT_H
#define SETTINGS_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum opt_type {
	OPT_FLAG,   /* bool; --name and --no-name */
	OPT_U64,    /* uint64_t, decimal or 0x; suffixes K M G T are powers of 1024; min..max */
	OPT_DOUBLE, /* double; min..max */
	OPT_TEXT,   /* const char *, points into argv or the INI text */
	OPT_CHOICE, /* int, index into choices "a|b|c" */
	OPT_LIST,   /* struct opt_list, may be given several times */
};

struct opt_list {
	const char **items;
	size_t count;
};

struct opt {
	const char *name; /* "seconds": --seconds, INI key seconds */
	enum opt_type type;
	size_t offset;     /* into the settings */
	const char *value; /* what help calls the value: "N"; choices for OPT_CHOICE: "a|b" */
	const char *help;  /* one sentence without its full stop */
	uint64_t min, max; /* numbers; both 0: no bounds */
};

/* The most that a number of seconds can be: some thirty years. */
#define OPT_SECONDS_MAX 1000000000

#define OPT_END \
	{ \
		NULL, OPT_FLAG, 0, NULL, NULL, 0, 0 \
	}

/* Takes the options out of argv (argv[0] is passed over; NULL ends it); what is left are the
 * operands. "--" ends options. Unknown or malformed: -EINVAL with a sentence that names it. */
int opt_parse(const struct opt *opts, void *settings, int *argc, char **argv, struct err *err);
/* One "key = value" of an INI section; the same rules as the command line. */
int opt_set(const struct opt *opts, void *settings, const char *key, const char *value,
	    struct err *err);
/* "  --seconds N   help (default 10)" lines; settings hold the defaults. */
void opt_help(const struct opt *opts, const void *settings, struct buf *out);
/* The same rows as scdoc source. */
void opt_scdoc(const struct opt *opts, const void *settings, struct buf *out);
/* "--seconds --calls ..." */
void opt_completion(const struct opt *opts, struct buf *out);

#endif
