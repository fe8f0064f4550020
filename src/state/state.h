/* state.h -- what the model knows: a tree, processes, open files, directory streams, mappings.
 *
 * All parts are persistent: state_copy() and state_free() of a shared state cost a few counts,
 * whatever the size. A state belongs to one thread at a time. */
#ifndef STATE_STATE_H
#define STATE_STATE_H

#include "op/handle.h"
#include "tree/tree.h"

enum { STATE_FD_FIRST = 3, STATE_GROUPS_MAX = 32 };

/* Injected failures: allocations, disk requests; and how many of each can be pending. */
enum { FAIL_ALLOC, FAIL_READ, FAIL_WRITE, STATE_FAILURES };
enum { STATE_FAILURES_MAX = 2 };

/* Has the file system met a failure, and given up since (giving_up.h)? */
enum health { HEALTH_SOUND, HEALTH_DOUBTFUL, HEALTH_GIVEN_UP, HEALTH_RECOVERED };

/* An open file description. */
struct open_file {
	struct ref ref;
	uint64_t ino;  /* held in the tree */
	int64_t flags; /* as given to open, with the access mode */
	int64_t offset;
	uint32_t slots; /* descriptors that refer to it */
	uint8_t lock;   /* LOCK_SH, LOCK_EX or 0 */
};

/* A descriptor of a process: which open file. */
struct fd_slot {
	struct ref ref;
	uint64_t file; /* key in state.files */
};

/* A directory stream: names that must still come, and names that may, sorted; and names that came,
 * in their order, each behind a mark. Each is followed by NUL; changed only through copies. */
struct dir_stream {
	struct ref ref;
	uint64_t ino; /* held in the tree */
	struct blob *must, *may, *read;
};

/* The marks: after seekdir a name must come again if it was there all the time, else it may. */
enum { READ_STAYED = '=', READ_CHANGED = '~' };

/* A page of a private mapping that was stored to: the mapping's own from then on. */
struct map_page {
	struct ref ref;
	bool doubtful; /* not all of its bytes are known */
	struct hash hash;
	char bytes[TREE_BLOCK];
};

/* A mapping of a file, which keeps the file open. */
struct mapping {
	struct ref ref;
	uint64_t file;           /* key in state.files */
	uint64_t offset, length; /* of the file; the length is that of whole pages */
	uint64_t size_seen;      /* of the file, when the mapping last learned of it */
	uint32_t prot;           /* PROT_ bits */
	bool shared;
	struct pmap pages; /* private: struct map_page by page of the file */
};

/* The last page of a file, behind its end, was stored to through a shared mapping. */
struct map_tail {
	struct ref ref;
	uint64_t page;
};

struct process {
	struct ref ref;
	uint32_t uid, gid;
	uint32_t umask;
	bool trusted;        /* permissions were checked elsewhere: by the kernel above RefFS */
	uint64_t cwd;        /* held in the tree */
	struct pmap fds;     /* struct fd_slot */
	struct pmap streams; /* struct dir_stream by handle, from 1 */
	struct pmap maps;    /* struct mapping by handle, from 1 */
};

struct group_list {
	struct ref ref;
	uint32_t count;
	uint32_t gids[STATE_GROUPS_MAX];
};

struct state {
	struct tree tree;
	struct pmap processes;         /* struct process by pid */
	struct pmap files;             /* struct open_file */
	struct pmap groups;            /* struct group_list by user: supplementary groups */
	struct pmap tails;             /* struct map_tail by inode */
	uint64_t handles[HANDLES_MAX]; /* the object of each, which may be gone; 0: none */
	uint64_t next_file;
	int64_t now;      /* clock: ticks by one each call unless set from outside */
	uint32_t streams; /* directory streams open, over all processes */
	uint32_t maps;    /* mappings, likewise */
	bool read_only;   /* mounted read-only: EROFS */
	bool space_ended; /* a call got ENOSPC; the space it used before may still be taken */
	enum health health;
	bool writes_failed; /* data may not be on the disk, and their pages are clean */
	bool watches_sync;  /* the next one is kept */
	struct tree synced; /* as it was when all was on the disk */
	/* What is to fail within the next call: which of them, 0 for none. */
	uint16_t failing[STATE_FAILURES][STATE_FAILURES_MAX];
};

struct state_options {
	unsigned fields; /* enum tree_field */
	bool hashed;
	uint32_t root_mode; /* permission bits of the root directory */
	uint32_t uid, gid;  /* of process 1; the root directory's owner is 0:0 unless owner_1 */
	bool owner_1;       /* the root directory belongs to process 1 */
};

/* Process 1, working directory and root "/", umask 022, descriptors 0 to 2 in use. */
void state_init(struct state *s, const struct state_options *options);
struct state state_copy(const struct state *s);
void state_free(struct state *s);
/* Of everything: tree, descriptors, offsets, working directories, streams. */
struct hash state_hash(const struct state *s);
/* The same of a state that a call led to, by the hash of the state before: faster where the call
 * changed the tree alone, and nothing of it that is held by other than its names. */
struct hash state_hash_after(const struct state *before, struct hash hash,
			     const struct state *after);

const struct process *state_process(const struct state *s, unsigned pid);
struct process *state_edit_process(struct state *s, unsigned pid);
/* The file behind a descriptor, NULL if there is none. */
const struct open_file *state_file(const struct state *s, unsigned pid, int64_t fd);
struct open_file *state_edit_file(struct state *s, unsigned pid, int64_t fd);
/* The smallest free descriptor, opened on ino (which is held). */
int state_open(struct state *s, unsigned pid, uint64_t ino, int64_t flags);
bool state_close(struct state *s, unsigned pid, int64_t fd);
/* Does a descriptor refer to the open file, and not mappings alone? key: in s->files. */
bool state_has_descriptor(const struct state *s, uint64_t key);
/* Another descriptor for the same open file: at newfd (replacing it), or the smallest free. */
int state_dup(struct state *s, unsigned pid, int64_t fd, int64_t newfd);
/* Directory streams. Putting one takes over its count; where the handle is new its directory is
 * held, else the new stream replaces the old one (of the same directory). */
const struct dir_stream *state_stream(const struct state *s, unsigned pid, int64_t handle);
void state_put_stream(struct state *s, unsigned pid, uint64_t handle, struct dir_stream *stream);
bool state_close_stream(struct state *s, unsigned pid, int64_t handle);
/* Mappings. A new one is of the file behind a descriptor; it gets the smallest free handle. */
const struct mapping *state_mapping(const struct state *s, unsigned pid, int64_t handle);
struct mapping *state_edit_mapping(struct state *s, unsigned pid, int64_t handle);
uint64_t state_mapping_ino(const struct state *s, const struct mapping *map);
int64_t state_map(struct state *s, unsigned pid, int64_t fd, const struct mapping *map);
bool state_unmap(struct state *s, unsigned pid, int64_t handle);
void state_put_map_page(struct mapping *map, struct map_page *page, uint64_t number);
void state_drop_map_page(struct mapping *map, uint64_t number);
void state_put_tail(struct state *s, uint64_t ino, uint64_t page);
void state_drop_tail(struct state *s, uint64_t ino);
void state_drop_tails(struct state *s);
/* Where the handle of that number is. */
uint64_t *state_handle(struct state *s, int64_t number);
bool state_has_handles(const struct state *s);
void state_set_cwd(struct state *s, unsigned pid, uint64_t ino);
/* False where the user has STATE_GROUPS_MAX groups already. */
bool state_add_group(struct state *s, uint32_t uid, uint32_t gid);
/* The user's supplementary groups are these, at most STATE_GROUPS_MAX of them. */
void state_set_groups(struct state *s, uint32_t uid, const uint32_t *gids, size_t count);
bool state_in_group(const struct state *s, uint32_t uid, uint32_t gid);
void state_create_process(struct state *s, unsigned pid, uint32_t uid, uint32_t gid);
void state_destroy_process(struct state *s, unsigned pid);
/* Advances the clock by this number of nanoseconds, or ticks; it stops at its maximum. */
void state_pass_time(struct state *s, int64_t ticks);
/* How many failures the next call is to meet. */
unsigned state_failures(const struct state *s);
/* Closes all descriptors and streams of a process and takes it to the root. */
void state_reset_process(struct state *s, unsigned pid);

#endif
