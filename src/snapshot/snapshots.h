/* snapshots.h -- one kernel in a process, and the copies of it that are its saved states.
 *
 * Every state is a process that waits in its slot of the shared memory. A state that is saved never
 * runs again: to continue from it takes a copy, made by fork() when it is first needed. All of them
 * are children of this process and end with it. */
#ifndef SNAPSHOT_SNAPSHOTS_H
#define SNAPSHOT_SNAPSHOTS_H

#include <sys/types.h>

#include "channel/client.h"
#include "snapshot/protocol.h"

struct buf;
struct snapshots;

/* What is to be mounted. */
struct snapshots_options {
	const char *kernel; /* the program */
	const char *memory; /* it is to have: "64M" */
	const char *fs, *source, *options;
	const char *seeded; /* the active one of its seeded bugs, or NULL */
	uint8_t sysctls[SYSCTL_COUNT];
	bool keeps;   /* what is there survives unmounting */
	bool whole;   /* its own root is the root of calls, no directory in it */
	bool records; /* what is written to the disk */
	int image_fd; /* -1: none */
	bool flash;   /* the image is that of flash memory, */
	bool blank;   /* which has nothing on it yet */
	unsigned fields;
	double deadline_seconds;
	/* A directory in which something is made before, and what makes it there; NULL: none. */
	const char *below;
	int (*fill_below)(void *own, const struct channel_client *client, struct err *err);
	void *own;
};

/* Started, booted and mounted: the fresh state, which stays. */
int snapshots_start(struct snapshots **ret, const struct snapshots_options *options,
		    struct err *err);
void snapshots_stop(struct snapshots *s); /* NULL is none */

/* Requests go to the present state. */
const struct channel_client *snapshots_client(const struct snapshots *s);
int snapshots_save(struct snapshots *s, uint64_t key, struct err *err);
int snapshots_restore(struct snapshots *s, uint64_t key, struct err *err);
void snapshots_drop(struct snapshots *s, uint64_t key);
void snapshots_reset(struct snapshots *s); /* to the fresh one */
/* What was written to the disk from mounting on. */
int snapshots_recorded(struct snapshots *s, struct buf *out, struct err *err);
/* Mounts the image with these pages in it, in a copy of the state that is not
 * mounted. *ret_error: what mounting answered. What is recorded is what was written since. */
int snapshots_load(struct snapshots *s, const struct page_change *pages, size_t count,
		   int *ret_error, enum target_fate *ret_fate, struct err *err);
/* A bit for each sector of the disk that was read, and not written before, since it was loaded: by
 * all states since, also by one that has died. */
void snapshots_read(const struct snapshots *s, struct buf *out);
/* What unmounting leaves on the disk: the pages that differ from the image, valid until the next
 * request. *ret_error: what unmounting answered. The present state has no file system then. */
int snapshots_unmount(struct snapshots *s, const struct disk_page **ret, size_t *ret_count,
		      int *ret_error, enum target_fate *ret_fate, struct err *err);
/* The same by a copy of the present state, which stays as it is. */
int snapshots_disk(struct snapshots *s, const struct disk_page **ret, size_t *ret_count,
		   int *ret_error, enum target_fate *ret_fate, struct err *err);
/* A compiled program on a copy of the file system as it is now. A kernel that dies kills it. */
int snapshots_run_program(struct snapshots *s, const struct buf *program, double seconds,
			  struct program_report *ret, struct err *err);
/* What the kernel has logged since the last request began. */
const char *snapshots_console(const struct snapshots *s);
/* The next race is one of a copy of the state that is saved so. Where the last one was too, its
 * copy is put back, if `again`. */
int snapshots_begin_race(struct snapshots *s, uint64_t key, bool again, struct err *err);
/* Whether the race was made: a copy could be put back. */
bool snapshots_end_race(struct snapshots *s, uint64_t key);
/* The process that makes the next race, if the last one was of the same state. */
pid_t snapshots_racer(const struct snapshots *s);
/* The schedule of the next race, and what came of the last one. */
struct schedule_board *snapshots_board(const struct snapshots *s);
/* What its kernel reports of its code. */
struct code_map *snapshots_code(const struct snapshots *s);

#endif
