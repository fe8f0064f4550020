/* events.h -- calls of a trace: attributed to the mounts, and counted.
 *
 * Readers turn text or binary records into events; everything that is the same for all formats is
 * here: which processes share descriptors, where a path leads, what a mode means. If a trace has
 * the path of a descriptor, it is used; otherwise descriptors are followed from the calls that made
 * them. Paths are resolved by their names alone. */
#ifndef COVER_EVENTS_H
#define COVER_EVENTS_H

#include <string.h>

#include "base/buf.h"
#include "cover/coverage.h"
#include "cover/processes.h"

struct text {
	const char *at; /* NULL: not in the trace */
	size_t len;
};

struct trace_event {
	uint32_t pid;
	const struct syscall *call;
	int64_t value[SYSCALL_VALUES]; /* by position; what is known has its bit in `known` */
	unsigned known;
	struct text path[2];    /* first and second, as the call was given them; NULL is none */
	bool paths_unknown;     /* the trace does not have them */
	struct text fd_path[2]; /* behind the row's descriptors */
	struct text ret_path;   /* behind the descriptor that came back */
	int64_t ret;            /* negative errno */
};

/* An event of which nothing more is known yet. Made field by field: for so many bytes the compiler
 * would take an instruction that is slow to start. */
static inline void event_init(struct trace_event *ev, uint32_t pid, const struct syscall *call)
{
	memset(ev->value, 0, sizeof(ev->value));
	ev->pid = pid;
	ev->call = call;
	ev->known = 0;
	ev->paths_unknown = false;
	for (int i = 0; i < 2; i++)
		ev->path[i] = ev->fd_path[i] = (struct text){ NULL, 0 };
	ev->ret_path = (struct text){ NULL, 0 };
	ev->ret = 0;
}

struct events {
	struct coverage *coverage;
	struct text *mounts; /* resolved, without a slash behind; none: everything counts */
	size_t mount_count;
	const char *cwd; /* of processes that were there at the beginning; NULL: unknown */
	struct traced_processes processes;
	struct buf scratch;
};

void events_open(struct events *e, struct coverage *c, const char *const *mounts,
		 size_t mount_count, const char *cwd);
void events_free(struct events *e);

/* The process of that number, made where absent. */
struct traced_process *events_process(struct events *e, uint32_t pid);
/* A call that is over. */
void events_call(struct events *e, const struct trace_event *event);

/* Calls without a row that change who has what. */
void events_clone(struct events *e, uint32_t parent, uint32_t child, uint64_t flags);
void events_dup(struct events *e, uint32_t pid, int64_t fd, int64_t to);
void events_close_range(struct events *e, uint32_t pid, int64_t first, int64_t last);
/* A descriptor of something that is no file: a pipe, a socket. */
void events_other_fd(struct events *e, uint32_t pid, int64_t fd);
void events_exit(struct events *e, uint32_t pid);

#endif
