/* processes.h -- descriptors and working directories of the processes in a trace.
 *
 * Threads and clones may share them. What began before the trace is not known. */
#ifndef COVER_PROCESSES_H
#define COVER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_FDS_MAX = 1 << 16 };

/* An open file: its path where known, else NULL; and whether it is on a mount under test. */
enum whereabouts { PLACE_UNKNOWN, PLACE_OUTSIDE, PLACE_INSIDE };
struct traced_file {
	char *path;
	enum whereabouts place;
};

struct files {
	unsigned refs;
	struct traced_file *file;
	size_t count;
};

struct working_dir {
	unsigned refs;
	char *path; /* NULL where unknown */
};

struct traced_process {
	uint32_t pid;
	struct files *files;
	struct working_dir *cwd;
	char *pending; /* the beginning of a call whose end is still to come */
	size_t pending_len;
	struct traced_process *next;
};

enum { PROCESS_SLOTS = 4096 };
struct traced_processes {
	struct traced_process *slots[PROCESS_SLOTS];
	struct traced_process *last; /* looked up */
};

void processes_free(struct traced_processes *all);
/* The process of that number, or NULL. */
struct traced_process *process_find(struct traced_processes *all, uint32_t pid);
/* Made where absent, with nothing known. */
struct traced_process *process_get(struct traced_processes *all, uint32_t pid);
/* A new one, made by parent: with copies, or sharing. One that is there already is left alone. */
void process_clone(struct traced_processes *all, struct traced_process *parent, uint32_t pid,
		   bool share_files, bool share_dir);
void process_end(struct traced_processes *all, uint32_t pid);

/* The open file, or NULL where nothing is known of it. */
static inline struct traced_file *process_file(const struct traced_process *p, int64_t fd)
{
	if (fd < 0 || (uint64_t)fd >= p->files->count || !p->files->file[fd].place)
		return NULL;
	return &p->files->file[fd];
}

/* The path is copied; it may be NULL. */
void process_open(struct traced_process *p, int64_t fd, const char *path, size_t len,
		  enum whereabouts place);
void process_dup(struct traced_process *p, int64_t fd, int64_t to);
void process_close(struct traced_process *p, int64_t first, int64_t last);
/* The path goes to the process. */
void process_chdir(struct traced_process *p, char *path);
void process_pend(struct traced_process *p, const char *text, size_t len);

#endif
