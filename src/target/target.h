/* target.h -- a file system under test behind one small interface.
 *
 * A kind (src/target/target_X.c) knows how to make and drive one sort of target; a description
 * (INI, shipped or the user's) says with which commands and which traits. A target never
 * touches what it did not make, and leaves nothing behind even if this process is killed.
 *
 * What the file system does is data: outcomes, trees, a death, a hang. Only our own failures
 * are errors. */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "channel/request.h"
#include "model/model.h"
#include "op/op.h"
#include "storage/recorder.h"
#include "storage/write_log.h"
#include "tree/tree.h"

struct channel_client;
struct checker;
struct code_map;
struct disk_page; /* channel/message.h */
struct err;
struct image;
struct learned_list;
struct recent_calls;

enum target_cap {
	TARGET_REMOUNT = 1 << 0,
	TARGET_SAVE = 1 << 1, /* saving is cheap, and restores processes and open files */
	TARGET_DROP_CACHES = 1 << 2,
	TARGET_TIME = 1 << 3,       /* advance_time */
	TARGET_FSCK = 1 << 4,       /* fsck */
	TARGET_IMAGE = 1 << 5,      /* has an image to keep with a finding */
	TARGET_PROCESSES = 1 << 6,  /* several processes and users */
	TARGET_FAULTS = 1 << 7,     /* fail_alloc, fail_read, fail_write */
	TARGET_RECORD = 1 << 8,     /* knows what was written to its disk, and mounts any image */
	TARGET_LEAKS = 1 << 9,      /* seek_leaks */
	TARGET_MMAP = 1 << 10,      /* mappings of files */
	TARGET_CODE = 1 << 11,      /* knows which of its code was run */
	TARGET_SPACE = 1 << 12,     /* seek_space */
	TARGET_KILL = 1 << 13,      /* what serves it can be killed and started again */
	TARGET_SCHEDULES = 1 << 14, /* overlapping calls can be given a schedule */
	TARGET_WAIT = 1 << 15,      /* wait: it has caches that time out */
};

/* One word for each bit, "remount" the first. */
enum { TARGET_CAPS = 16 };
extern const char *const target_cap_names[TARGET_CAPS];

/* What a target must be able to do for this operation: enum target_cap. */
unsigned target_needs(enum op op);

struct target;
struct target_options;
struct target_description; /* description.h */

struct target_kind {
	const char *name;    /* "host" */
	const char *summary; /* one line for `assay targets` */
	/* What this machine lacks for it, as a sentence; empty if nothing. */
	void (*lacks)(const struct target_description *d, struct buf *out);
	/* Whether what is named besides the description is there: a directory, a fault, a kernel. A
	 * mistake of who named it, unlike what is lacking. NULL: nothing is. */
	int (*check)(const struct target_description *d, const char *fault, struct err *err);
	unsigned fields_off; /* enum tree_field: what is not known to mean anything in this kind */
	bool has_argument;   /* NAME:ARGUMENT, or NAME@ARGUMENT, means something */
	bool learns;         /* what it lacks is to be found out, unless it is described */
	bool has_content;    /* something may lie below it before it is mounted (content.h) */
	bool has_faults;     /* NAME!FAULT is one that is broken on purpose */
	bool in_process;     /* the model answers its calls: no kernel does, and no program can */
	/* Whether it uses something of the user that only one run may use; NULL: never. */
	bool (*is_single)(const struct target_description *d);
	/* What it can do here, where it lacks nothing: enum target_cap. */
	unsigned (*caps)(const struct target_description *d);
	int (*open)(struct target *t, const struct target_description *d,
		    const struct target_options *options, struct err *err);
	void (*close)(struct target *t);
	/* The next four are NULL where a server makes the calls: target->client reaches it. ENV
	 * operations are calls, too. -errno only for our failures. */
	int (*call)(struct target *t, const struct call *c, struct outcome *ret,
		    enum target_fate *ret_fate, struct err *err);
	int (*observe)(struct target *t, struct tree *ret, enum target_fate *ret_fate,
		       struct err *err);
	/* Carries out steps up to the first mismatch; where it fails, ret->done says at which.
	 * *ret is zero before. */
	int (*follow)(struct target *t, const struct plan_step *steps, size_t count,
		      struct plan_report *ret, struct err *err);
	int (*race)(struct target *t, const struct call *calls, size_t count, uint64_t seed,
		    struct race_outcome *ret, enum target_fate *ret_fate, struct err *err);
	bool races; /* calls of several processes can be made at once */
	/* TARGET_SCHEDULES: the same by the schedule on the board, and the tree afterwards. */
	int (*overlap)(struct target *t, uint64_t key, const struct call *calls, size_t count,
		       struct race_outcome *ret, struct tree *ret_tree, enum target_fate *ret_fate,
		       struct err *err);
	struct schedule_board *(*board)(struct target *t);
	/* From the next schedule on gdb stops at every switch, until the user has left it
	 * (process/debugger.h). One schedule was run before. */
	int (*debug)(struct target *t, pid_t *ret_debugger, pid_t *ret_pid, struct err *err);
	/* The line and function of code of its kernel, as far as it has any. */
	void (*name_code)(struct target *t, uint64_t address, struct buf *out);
	/* What the kernel under test logged during the last call or scan. NULL: it cannot be read.
	 */
	void (*log)(struct target *t, struct buf *out);
	/* Of a daemon that has died: "signal 11 (SIGSEGV)", and the last lines that it wrote, as
	 * far as they are known. NULL: there is none. */
	void (*print_end)(struct target *t, struct buf *ended, struct buf *output);
	/* Back to a freshly made file system; also after a hang or a death. */
	int (*reset)(struct target *t, struct err *err);
	/* The same by removing what is there, which is faster. NULL: no faster than reset. */
	int (*clear)(struct target *t, struct err *err);
	int (*save)(struct target *t, uint64_t key, struct err *err);
	int (*restore)(struct target *t, uint64_t key, struct err *err);
	void (*drop)(struct target *t, uint64_t key);
	/* TARGET_FSCK: a copy of the disk, as unmounting leaves it now. The file system is as
	 * before, but see the trait checks_unmounted. *ret_error: what unmounting answered. Without
	 * a copy where that is not 0, or *ret_fate, which is FATE_FINE before, is another. */
	int (*unmounted_disk)(struct target *t, struct image *ret, int *ret_error,
			      enum target_fate *ret_fate, struct err *err);
	/* The same of one that mkfs has just made. */
	int (*fresh_disk)(struct target *t, struct image *ret, struct err *err);
	int (*image)(struct target *t, const char *path, struct err *err);
	/* TARGET_RECORD, opened to record: the image as mkfs left it, and what was written since
	 * (struct disk_record); after a load, what was written to the loaded image. The descriptor
	 * is the target's. */
	int (*recorded)(struct target *t, int *ret_image_fd, struct buf *out, struct err *err);
	/* TARGET_RECORD: the disk as mkfs left it, but for these pages, is mounted until the next
	 * load, reset or restore, and the record starts from empty. What mounting it answers is an
	 * errno in *ret_error, where fate_answers(); 0: it is there. */
	int (*load_pages)(struct target *t, const struct page_change *pages, size_t count,
			  int *ret_error, enum target_fate *ret_fate, struct err *err);
	/* The same of another image, of the same size: slower, as all of it is compared. */
	int (*load)(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
		    struct err *err);
	/* TARGET_RECORD, opened to record: a bit for each sector of 512 bytes, the lowest of a byte
	 * first, that was read since the last load and that the state which read it had not written
	 * before. Mounting, calls and unmounted disks since count, also those of a kernel that has
	 * died: another disk with the same bytes in these sectors does the same. NULL: not known.
	 */
	int (*disk_read)(struct target *t, struct buf *ret_sectors, struct err *err);
	/* TARGET_RECORD: unmounts; there is no file system then until the next load, reset or
	 * restore. The pages that may differ from those of mkfs, each once, in order, valid until
	 * the next call. *ret_error and *ret_fate: as unmounted_disk, which takes longer, since it
	 * keeps the file system. NULL: only unmounted_disk. */
	int (*unmounted_pages)(struct target *t, const struct disk_page **ret, size_t *ret_count,
			       int *ret_error, enum target_fate *ret_fate, struct err *err);
	/* TARGET_KILL: the daemon or server that serves the file system is killed, with files open,
	 * and started again on what it has left. What that answers is an errno in *ret_error, 0: it
	 * is there again; and in words. Processes other than 1 are gone. */
	int (*kill)(struct target *t, int *ret_error, struct buf *said, struct err *err);
	/* It is killed so long after the next call has begun, unless that has returned by then; it
	 * has FATE_DIED. kill() starts it again. NULL: cannot. */
	void (*kill_during)(struct target *t, int64_t after_ns);
	/* TARGET_CODE: what its states have run since it was opened (code_map.h), and the path of
	 * the table of what that can be. ret_table may be NULL. */
	struct code_map *(*code)(struct target *t, struct buf *ret_table);
	/* Compiles a C program (a reproducer, compile.h) and runs it on the file system as it is
	 * now, as process 1 of a script would: its first argument is the root directory, its second
	 * a command that unmounts and mounts the file system again, absent where that is not
	 * possible. The file system may be unusable afterwards, until the next reset. NULL: no
	 * program can run there. */
	int (*run_program)(struct target *t, const char *source, double seconds,
			   struct program_report *ret, struct err *err);
};

struct target {
	const struct target_kind *kind;
	char *name; /* as the user wrote it: "ext4", "dir:/mnt/x" */
	char *fs;   /* what the running kernel calls the file system; NULL: not known */
	/* What serves it; NULL where there is none, or it could not be started again. */
	const struct channel_client *client;
	struct target_description *description; /* what it was opened by */
	unsigned caps;                          /* enum target_cap */
	unsigned fields;                        /* enum tree_field that mean something here */
	struct version kernel;                  /* whose VFS answers */
	struct traits traits;
	uint32_t uid, gid; /* of process 1 */
	double deadline_seconds;
	struct medium medium;         /* TARGET_RECORD: what is recorded */
	uint64_t saved_bytes;         /* of memory that a saved state takes, about; 0: little */
	struct learned_list *learned; /* what it was found to lack; NULL: it was not probed */
	struct recent_calls *recent;  /* for seek_space; NULL: it cannot be asked for */
	struct buf recorder;          /* how writes are recorded (recorder_describe), if they are */
	struct buf report;            /* what the last fsck or seek_space has to say */
	struct buf fresh_report;      /* what the checker says of a fresh disk, */
	bool fresh_is_clean;          /* once it was asked and found it clean */
	void *own;                    /* the kind's */
};

struct target_options {
	double deadline_seconds; /* per call; 0: 10 */
	const char *config;      /* an INI file with targets, or NULL */
	const char *fault;       /* reffs, journalfs, kernel: a fault to carry, or NULL */
	/* Instead of what the description says; NULL and 0: as it says. */
	const char *mkfs;
	uint64_t image_size;
	uint64_t space_bytes; /* that calls may take of a disk of the user's; 0: the usual */
	unsigned fields_off;  /* enum tree_field to leave out, besides those it lacks */
	const struct learned_list *learned; /* what it lacks, or NULL */
	const char *image; /* a file that takes the place of what mkfs makes, or NULL; then calls
			      start in the root of the file system */
	bool whole;        /* kernel: they do so anyway, and the disk is blank before mkfs */
	bool overlaps;     /* calls are made at the same time: use all CPUs */
	bool record;       /* what is written to the disk, where it can be (TARGET_RECORD), */
	enum recorder_means record_by; /* and on the host how; 0: as is best */
};

/* "reffs", "reffs!FAULT", "journalfs", "journalfs!FAULT", "dir:PATH", "ext4", "kernel:ext4",
 * "kernel:ext4@6.1", "kernel:ext4@NAME!BUG" or another described name, "fuse:COMMAND". */
/* Fails where there is no such target: -ENOENT, -EINVAL, or -EPERM where a description of it is
 * refused. One that lacks something here is one. */
int target_check(const char *spec, const char *config, struct err *err);
int target_open(struct target **ret, const char *spec, const struct target_options *options,
		struct err *err);
void target_close(struct target *t);
/* Adds the names of its variants (description.h), each followed by NUL: of the same kernel, with
 * the same fault. */
void target_variants(const struct target *t, struct buf *ret_names_nul);
/* Whether what it lacks is to be found out (learn.h): nothing describes it. */
bool target_learns(const char *spec, const char *config);
/* Whether only one run at a time may open it: it uses a directory or device of the user. */
bool target_is_single(const char *spec, const char *config);

int target_call(struct target *t, const struct call *c, struct outcome *ret,
		enum target_fate *ret_fate, struct err *err);
/* 0, or -LIMITS_NOT_MADE (channel/limits.h) and why the target would not make this call. One that
 * it would make may still not be made, for what is there already. */
int target_admits(struct target *t, const struct call *c, struct err *err);
int target_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate, struct err *err);
/* Whether it looks at a part of the tree where a step asks for no more (plan_step.part). */
bool target_scans_parts(const struct target *t);
int target_follow(struct target *t, const struct plan_step *steps, size_t count,
		  struct plan_report *ret, struct err *err);
/* Calls of processes that exist, not 1 among them, each process's in their order and all of them
 * at once; the seed shifts them a little. Outcomes are valid until the next call. At most
 * TARGET_RACE_MAX. */
int target_race(struct target *t, const struct call *calls, size_t count, uint64_t seed,
		struct race_outcome *ret, enum target_fate *ret_fate, struct err *err);
/* TARGET_SCHEDULES: in a copy of the state saved so, calls of two such processes by the schedule on
 * target_board() (schedule.h), and the tree when all is quiet. */
int target_overlap(struct target *t, uint64_t key, const struct call *calls, size_t count,
		   struct race_outcome *ret, struct tree *ret_tree, enum target_fate *ret_fate,
		   struct err *err);
struct schedule_board *target_board(struct target *t);
/* Only where kind->run_program. */
int target_run_program(struct target *t, const char *source, double seconds,
		       struct program_report *ret, struct err *err);
/* The verdict of its checker on what unmounting leaves on the disk. */
int target_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err);
/* Starts its checker on that, which then runs beside the file system (checker.h). It was not
 * started where *ret_error, what unmounting answered, is not 0, or *ret_fate not FATE_FINE. */
int target_check_disk(struct target *t, struct checker *ret, int *ret_error,
		      enum target_fate *ret_fate, struct err *err);
/* Of one whose tree could not be observed (FATE_DIED): whether it still answers calls. Then only
 * its root directory cannot be read. */
int target_is_alive(struct target *t, bool *ret_alive, struct err *err);
int target_reset(struct target *t, struct err *err);
/* An empty file system by the fastest way; whether nothing else is left of what was there is for
 * the caller to see. */
int target_clear(struct target *t, struct err *err);

/* For kinds: the traits and fields of a description, over what the target has. */
int target_adopt(struct target *t, const struct target_description *d, struct err *err);

/* Visits every described target that can be tested without an argument (dir and fuse cannot),
 * with what this machine lacks for it: "" if nothing. */
int target_each(const char *config, void (*visit)(void *to, const char *name, const char *lacks),
		void *to, struct err *err);

/* Every kind, by name; and the list of all, NULL-terminated. */
const struct target_kind *target_kind_find(const char *name);
extern const struct target_kind *const target_kinds[];

/* The model that judges the target: Linux as its kernel is, with its traits. */
void target_model(const struct target *t, struct model *ret);
/* The model's state that corresponds to a freshly reset target: its root's mode and owner and
 * whatever mkfs left there, with the caller as process 1. */
int target_initial_state(struct target *t, struct state *ret, struct err *err);

#endif
