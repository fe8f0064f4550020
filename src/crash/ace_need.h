/* ace_need.h -- what an operation depends on: descriptors, names that exist or do not, data.
 *
 * Each function adds the calls that are missing: to the setup, where it can have made something as
 * if it had been there all the time, else to the run. */
#ifndef CRASH_ACE_NEED_H
#define CRASH_ACE_NEED_H

#include "crash/ace_files.h"
#include "crash/ace_values.h"

struct arena;
struct buf;

enum { ACE_FILE_MODE = 0644, ACE_DIR_MODE = 0755 };
extern const char ace_xattr_name[];

struct ace_calls {
	struct call *calls;
	size_t count, cap;
};

struct ace_builder {
	struct ace_files files;
	struct ace_values *values;
	struct arena *arena;
	struct buf *name;
	struct ace_calls setup, run;
	bool in_place;   /* nothing is made by the setup */
	uint64_t mapped; /* bytes of the mapping; 0: there is none */
};

struct arg ace_num(int64_t num);
struct arg ace_text(struct ace_builder *b, const char *text);
/* A new call of process 1 without arguments, at the end of a list. */
struct call *ace_calls_add(struct ace_calls *list, enum op op);
struct call *ace_run_add(struct ace_builder *b, enum op op);
void ace_add_mkdir(struct ace_builder *b, struct ace_calls *list, const char *path, int64_t mode);

struct ace_file *ace_file_of(struct ace_builder *b, const struct ace_name *name);
void ace_fd_open(struct ace_builder *b, struct ace_name *name, int64_t flags, int64_t mode);
void ace_fd_close(struct ace_builder *b, int fd);
void ace_name_close(struct ace_builder *b, struct ace_name *name);
/* The descriptor of a name that exists, whatever it was opened with. */
int64_t ace_name_fd(struct ace_builder *b, struct ace_name *name);
/* A descriptor of a file that was opened with these flags. */
void ace_name_reopen(struct ace_builder *b, struct ace_name *name, int64_t flags);
/* unlink or, of an empty directory, rmdir. */
void ace_name_remove(struct ace_builder *b, struct ace_name *name);
void ace_set_xattr(struct ace_builder *b, struct ace_name *name);

struct ace_name *ace_need_dir(struct ace_builder *b, const char *path);
struct ace_name *ace_need_file(struct ace_builder *b, const char *path);
/* The directory that the path lies in. */
void ace_need_parent(struct ace_builder *b, const char *path);
/* A file of at least that size. */
void ace_need_data(struct ace_builder *b, struct ace_name *name, uint64_t size);
void ace_need_xattr(struct ace_builder *b, struct ace_name *name);
/* A directory without names in it, if it exists. */
void ace_need_empty(struct ace_builder *b, const char *dir);
/* No such name, in a directory that exists. */
void ace_need_absent(struct ace_builder *b, const char *path);

#endif
