/* ace_files.h -- the names, files and descriptors that exist at one point of a workload.
 *
 * It follows calls that succeed, and knows only what dependencies are resolved by: types, sizes,
 * one attribute, open descriptors. A name that is gone keeps its row, so that the setup does not
 * make it: it would then be there too early. */
#ifndef CRASH_ACE_FILES_H
#define CRASH_ACE_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum { ACE_NAMES_MAX = 64, ACE_FILES_MAX = 32, ACE_FDS_MAX = 32, ACE_PATH_BYTES = 64 };
enum { ACE_FD_NONE = -1 };

struct ace_file {
	uint64_t size;
	bool has_xattr;
	bool used; /* by an operation, or to persist it */
};

struct ace_name {
	char path[ACE_PATH_BYTES]; /* "." is the root directory */
	bool exists;
	bool is_dir;
	bool in_setup; /* made there and never moved */
	int fd;        /* of the file or directory, or ACE_FD_NONE */
	int64_t flags; /* it was opened with, besides the access mode */
	unsigned file; /* of a file: its number */
};

struct ace_files {
	struct ace_name names[ACE_NAMES_MAX];
	unsigned name_count;
	struct ace_file files[ACE_FILES_MAX];
	unsigned file_count;
	bool fd_is_open[ACE_FDS_MAX];
};

void files_init(struct ace_files *f);
/* The name, if it exists; NULL. */
struct ace_name *files_find(struct ace_files *f, const char *path);
/* Did it ever exist? */
bool files_had(struct ace_files *f, const char *path);
/* The path of the directory it lies in. */
void files_parent(const char *path, char ret[ACE_PATH_BYTES]);
/* A name inside the directory that no other name lies in; NULL if it is empty. */
struct ace_name *files_last_inside(struct ace_files *f, const char *dir);

/* A new name: of a directory, a new file, or a file that has one already. */
struct ace_name *files_add_dir(struct ace_files *f, const char *path);
struct ace_name *files_add_file(struct ace_files *f, const char *path);
struct ace_name *files_add_link(struct ace_files *f, const char *path, unsigned file);
/* What lies in a directory moves along. The name that it replaces is gone. */
void files_rename(struct ace_files *f, const char *from, const char *to);

/* The smallest free descriptor. */
int files_open_fd(struct ace_files *f);

#endif
