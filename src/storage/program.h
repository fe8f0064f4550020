/* program.h -- running the programs that make and check file systems. */
#ifndef STORAGE_PROGRAM_H
#define STORAGE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

/* {name} in a command is replaced by the text. */
struct program_value {
	const char *name, *text;
};

void program_fill(struct buf *out, const char *command, const struct program_value *values,
		  size_t count);
/* Adds the user's path, and behind it where programs for root lie. */
void program_search_path(struct buf *out);
/* Whether the command's program is there; also looked for where only root looks. */
bool program_exists(const char *command);
/* Says which program is missing, and which Debian package has it (as a rule, one of the same
 * name); nothing if it is there, if there is no command, or if something is said already. */
void program_lacking(const char *command, const char *packages, struct buf *out);
/* The same of the first that is missing of a list, which may be NULL. */
void program_lacking_any(const char *programs, const char *packages, struct buf *out);

/* What pass_fd is in the command. */
enum { PROGRAM_FD = 3 };
#define PROGRAM_FD_PATH "/proc/self/fd/3"

/* Starts it with no input, in its own process group, to end with us; by the shell, unless there is
 * nothing for a shell to do. */
pid_t program_start(const char *command, int pass_fd, int output_fd);

/* Whether one that was started has ended. */
bool program_has_ended(pid_t pid);
/* Waits for one that was started; after the given time it is killed with its group: -ETIME.
 * ret_cpu_seconds: what it took of a CPU. */
int program_await(pid_t pid, double seconds, int *ret_status, double *ret_cpu_seconds,
		  struct err *err);

/* Runs it so; *ret_status is its exit status (128 and more: a signal).
 * What it writes is added to output, at most some KiB. Killed with its group after the given
 * time: -ETIME. Ends with us. */
int program_run(const char *command, int pass_fd, double seconds, int *ret_status,
		struct buf *output, struct err *err);
/* The same for one that has files to remove at its end: where it has to end early, also with us,
 * that is by SIGTERM. */
int program_run_terminated(const char *command, int pass_fd, double seconds, int *ret_status,
			   struct buf *output, struct err *err);

#endif
