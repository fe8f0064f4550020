/* guard.h -- what the calls of a script cannot reach.
 *
 * A script is foreign input, and is often run by root. It is confined to its directory; behind that
 * are three more lines: devices and setuid programs mean nothing there (guard_root), privileges
 * that no operation needs are given up, and system calls that no operation makes are refused
 * (guard_process). */
#ifndef SANDBOX_GUARD_H
#define SANDBOX_GUARD_H

#include <stdbool.h>

/* The same directory, where device nodes cannot be opened and setuid does nothing; what is mounted
 * below it is not to be seen. Both descriptors are the caller's; the mount lasts as long as the
 * first. Returns 0 or -errno: -EPERM without CAP_SYS_ADMIN. */
int guard_root(int root_fd, int *ret_mount_fd, int *ret_root_fd);

/* Gives up capabilities: `serving` keeps those to mount and to find out who holds a mount. */
void guard_capabilities(bool serving);
/* Refuses, from now on, system calls that no operation makes (EPERM): mounting, tracing, loading
 * code into the kernel, executing, sockets and the like. For processes that only make calls. */
void guard_calls(void);
/* The same, but file handles may be opened: they reach the whole file system, which is to have
 * nothing but what is under test. */
void guard_calls_but_handles(void);

/* Whether a process may make device nodes that it could also open. */
bool guard_may_make_devices(void);

#endif
