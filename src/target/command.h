/* command.h -- running the programs that make and check file systems. */
#ifndef TARGET_COMMAND_H
#define TARGET_COMMAND_H

#include <stddef.h>
#include <stdbool.h>

struct buf;
struct err;

/* {name} in a command is replaced by the text. */
struct command_value {
	const char *name, *text;
};

void command_fill(struct buf *out, const char *command, const struct command_value *values,
		  size_t count);
/* Whether the command's program is there; also looked for where only root looks. */
bool command_exists(const char *command);
/* The program's name. */
void command_program(const char *command, struct buf *out);

enum { COMMAND_FD = 3 }; /* what pass_fd is in the command: {image} is /proc/self/fd/3 */

/* Runs it by the shell with no input; *ret_status is its exit status (128 and more: a signal).
 * What it writes is added to output, at most some KiB. Killed with its group after the given
 * time: -ETIME. Ends with us. */
int command_wait(const char *command, int pass_fd, double seconds, int *ret_status,
		struct buf *output, struct err *err);

#endif
