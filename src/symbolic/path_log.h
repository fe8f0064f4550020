/* path_log.h -- memory that the Valgrind tool (pathtool/) shares with us.
 *
 * We fill in the identity of the disk before the tool starts, and `ranges` before each run; the run
 * fills in the rest, so what it computed is there also if it had to be killed. */
#ifndef SYMBOLIC_PATH_LOG_H
#define SYMBOLIC_PATH_LOG_H

#include "symbolic/expr.h"

#define PATH_LOG_MAGIC UINT64_C(0x31676f6c68746170) /* "pathlog1" */

enum {
	PATH_LOG_VERSION = 1,
	PATH_RANGES_MAX = 64,
	PATH_INPUTS_MAX = 4096, /* bytes in all ranges */
	PATH_EXPRS_MAX = 1 << 18,
	PATH_CONDITIONS_MAX = 1 << 14,
	PATH_WRITES_MAX = 1 << 12,
	PATH_TRANSLATED_MAX = 1 << 15,
	PATH_LINKS_MAX = 1 << 16,
	PATH_BRANCHES_MAX = 1 << 16,
};

/* Why a run does not tell everything. */
enum path_gap {
	GAP_EXPRS,      /* too many expressions: the rest of the run was not followed */
	GAP_CONDITIONS, /* too many conditions: the same */
	GAP_LOST,       /* operations that are not modelled */
	GAP_FLAGS,      /* processor flags that are not modelled */
	GAP_MAPPED,     /* the disk is mapped and written through the mapping */
	GAPS
};

enum path_condition_kind {
	CONDITION_BRANCH,  /* has one bit */
	CONDITION_JUMP,    /* where an indirect jump went */
	CONDITION_ADDRESS, /* of a load or store */
	CONDITION_OFFSET,  /* an argument of a system call on the disk */
};

struct path_condition {
	uint32_t expr;
	uint32_t kind;
	uint64_t value; /* that it had */
	uint64_t at;    /* address of the instruction */
};

struct path_range {
	uint64_t at, len;
};

/* A conditional branch of the checker, both directions. */
struct path_branch {
	uint64_t at; /* address of the instruction; 0: a free slot */
	uint8_t taken[2];
	uint8_t unused[6];
};

/* Code that a run translated, with its size, and links between translations. */
struct path_translation {
	uint64_t at;
	uint64_t len;
};

struct path_link {
	uint64_t from;
	uint32_t to_sector, to_entry;
	uint64_t to_fast;
};

enum path_state {
	PATH_STARTING, /* the disk has not been read */
	PATH_SERVING,  /* waits at the first read of it */
	PATH_THREADED, /* has several threads at its first read: cannot be copied */
	PATH_ENDED,    /* ended without reading the disk */
};

struct path_log {
	uint64_t magic;
	uint32_t version;
	uint32_t symbolic; /* values are to be followed; otherwise only branches are counted */
	uint32_t range_count;
	struct path_range ranges[PATH_RANGES_MAX];
	uint64_t disk_device, disk_inode;
	uint32_t run_seconds; /* CPU time of a run */
	uint32_t state;       /* enum path_state */

	/* Of the run. */
	uint32_t expr_count; /* from 1 on */
	uint32_t condition_count;
	uint32_t write_count;
	uint32_t translated_count, link_count;
	uint32_t same_layout; /* the server could make the links of the run before */
	uint32_t whole_disk;  /* it may have written anywhere on the disk */
	uint32_t finished;    /* it got to its end */
	uint32_t gaps[GAPS];  /* how often */
	uint32_t lost_op;     /* the first, a number of VEX */
	uint32_t lost_flags;  /* the last: cc_op << 8 | condition */

	struct path_range writes[PATH_WRITES_MAX];
	/* Code that the next run will need, too. */
	struct path_translation translated[PATH_TRANSLATED_MAX];
	struct path_link links[PATH_LINKS_MAX];
	struct path_condition conditions[PATH_CONDITIONS_MAX];
	uint32_t branch_count;
	struct path_branch branches[PATH_BRANCHES_MAX]; /* of all runs: open addressing */
	struct expr exprs[PATH_EXPRS_MAX];
};

/* Messages on the control socket: we send PATH_RUN; the tool answers the pid, and struct path_end
 * at the end of the run. */
enum { PATH_RUN = 'r' };

struct path_end {
	int32_t status; /* as wait(2) gives it */
};

#endif
