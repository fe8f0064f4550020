/* sandbox.h -- a process that makes a file system reachable and carries out plans in it.
 *
 * The sandbox is the init process of its namespaces: when it ends, whatever it mounted or
 * started ends with it, and it ends with the process that started it. Calls are made by the
 * sandbox itself, with the root of the file system as its root directory; processes other than 1
 * belong to a crew below it. Plans and answers lie in shared memory, so that a step costs its
 * system calls and the scan, and a batch of steps one switch there and back.
 *
 * A step that passes the deadline costs the sandbox: it is killed and given up, never waited for.
 * One that another process killed, or starved, is our failure (-ECHILD), not the file
 * system's. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "channel/client.h"
#include "sandbox/sandbox_ops.h"
#include "tree/tree.h"

/* The name of all processes of a sandbox, as the kernel's log and ps show it: whose they are. */
enum { SANDBOX_COMM_MAX = 16 };
void sandbox_comm(char ret[SANDBOX_COMM_MAX]);

struct sandbox;
/* Started and attached. */
int sandbox_start(struct sandbox **ret, const struct sandbox_ops *ops,
		  const struct sandbox_options *options, struct err *err);
/* NULL is none. Detaches first, if it still can. */
void sandbox_stop(struct sandbox *k);
/* False once it hung or died: all that is left to do is to stop it. */
bool sandbox_alive(const struct sandbox *k);

/* Whether it ended as the kernel ends a process that runs into a bug of the kernel. */
bool sandbox_oopsed(const struct sandbox *k);

/* Calls, plans, races, scans and programs go this way; NULL where the sandbox is NULL. */
const struct channel_client *sandbox_client(const struct sandbox *k);

/* Requests between calls. They fail where the sandbox hangs or dies over them, and with -ECHILD
 * where it is NULL: it could not be started again. */
int sandbox_attach(struct sandbox *k, struct err *err);
int sandbox_detach(struct sandbox *k, struct err *err);
/* Detached for good: another file system, or other contents, are attached next. File handles that
 * were taken mean nothing there, and are forgotten. */
int sandbox_abandon(struct sandbox *k, struct err *err);
/* Detached for a moment: the next attach brings back the processes, without their open files. */
int sandbox_suspend(struct sandbox *k, struct err *err);
/* Where ops->kill: kills what serves the file system, with files open, and takes down the mount.
 * The next attach starts it again. */
int sandbox_kill(struct sandbox *k, struct err *err);
/* The same, but for the mount, so many nanoseconds after the next call has begun, or
 * not at all where that returns before. */
void sandbox_kill_during(struct sandbox *k, int64_t after_ns);
int sandbox_clear(struct sandbox *k, struct err *err); /* removes everything below the root */

#endif
