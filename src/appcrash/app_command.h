/* app_command.h -- a command of the user's: the application, what prepares it, what checks its
 * files. */
#ifndef APPCRASH_APP_COMMAND_H
#define APPCRASH_APP_COMMAND_H

struct buf;
struct err;

struct app_command {
	const char *text;    /* for the shell; {dir} is the directory */
	const char *dir;     /* that it runs in */
	const char *printed; /* the variable ASSAY_PRINTED, a path; NULL: it is not set */
	double seconds;
	int stdout_fd, stderr_fd;    /* -1: both go to `output` */
	void (*in_child)(void *own); /* before it is executed; may be NULL */
	void *own;
};

/* Runs it in its own process group, with no input and our environment. *ret_status is its exit
 * status (128 and more: a signal). What it writes is added to output, at most some KiB. After its
 * time it is killed: -ETIME. */
int app_command_run(const struct app_command *c, int *ret_status, struct buf *output,
		    struct err *err);

#endif
