/* shared.h -- what the tracer in the kernel and its user share. */
#ifndef COVER_BPF_SHARED_H
#define COVER_BPF_SHARED_H

#ifndef __BPF__
#include <linux/types.h>
#endif

enum {
	TRACE_ROWS = 128,
	TRACE_NUMBERS_MAX = 512, /* of system calls */
	TRACE_ARGS = 3,
	TRACE_ERRNOS = 192,
	TRACE_CLASSES = 128, /* of numbers: negative, 0, 1, 2, 2..4, 4, ... */
	TRACE_MOUNTS = 8,
	TRACE_PATH = 256,
	TRACE_ANCESTORS = 32,
	TRACE_SEATS_LOG = 6, /* as many as fit where classes of numbers would be */
	TRACE_COMBINATIONS = 16384,
	SYSCALL_BEHIND = 6, /* the first argument behind a pointer */
	SYSCALL_VALUES = 9,
};

enum trace_where { WHERE_NONE, WHERE_FD, WHERE_PATH, WHERE_ANYWHERE };
enum trace_special {
	SPECIAL_NONE,
	SPECIAL_OPEN,
	SPECIAL_HOW,
	SPECIAL_VECTOR,
	SPECIAL_WORD,
	SPECIAL_IOCTL,
	SPECIAL_CLOSE,
	SPECIAL_CHDIR,
	SPECIAL_REMOVE
};

enum { TRACE_CWD = -1 }; /* no argument: the working directory */

struct trace_arg {
	__u8 from, to;
	__u8 number; /* counted by class; else by value */
};

struct trace_row {
	__u8 where, special;
	/* Descriptors: of directories where there are paths. -1 is none. */
	__s8 fd, path, fd2, path2;
	__u8 args;
	__u8 descriptor; /* success yields one */
	__u8 sized;      /* success yields a size, or another number that says something */
	__u8 makes;      /* its second argument is the mode of a file that the first may make */
	struct trace_arg arg[TRACE_ARGS];
};

/* Of a task. */
struct trace_state {
	__u32 row; /* + 1 of the call it is in, of those that are looked at when they begin; else 0
		    */
	__u8 traced, hit;
	/* The kernel's walks in that call, by the name that was looked up. */
	__u8 walks;
	__u8 walk_hit[2], walk_begun[2];
	__u64 name[2];
};

/* A flag or choice as it was given. */
struct trace_seat {
	__u64 value, count; /* count 0: free */
};

/* One row's counts. */
struct trace_counts {
	__u64 error[TRACE_ERRNOS];
	__u64 returned[TRACE_CLASSES]; /* by calls that succeeded */
	union {
		__u64 number[TRACE_CLASSES];
		struct trace_seat seat[1 << TRACE_SEATS_LOG]; /* by a hash of the value */
	} arg[TRACE_ARGS];
};

/* One that found its seat taken. */
struct trace_value {
	__u32 row, arg;
	__u64 value;
};

/* A place in a file system: enough to know it again after a remount. */
struct trace_place {
	__u64 ino;
	__u32 dev;
	__u32 at; /* ancestors: how much of the mount point's path leads here */
};

struct trace_mount {
	__u32 dev;                /* of the superblock when tracing began */
	__u32 len;                /* of the path */
	struct trace_place below; /* the directory it is mounted on */
	union {
		char path[TRACE_PATH]; /* "/a/b", "" for the root */
		__u64 word[TRACE_PATH / 8];
	};
	__u64 mask[TRACE_PATH / 8]; /* all bits of the path's bytes */
	__u8 up[TRACE_PATH];        /* from the end of a component to the end of the one before */
	__u32 ancestors;
	struct trace_place ancestor[TRACE_ANCESTORS];
};

#endif
