/* kernel_event.h -- an event of the kernel that a program can be attached to. */
#ifndef COVER_KERNEL_EVENT_H
#define COVER_KERNEL_EVENT_H

/* Opens the event of that name ("syscalls/sys_enter_close"); a negative errno where there is none,
 * or it may not be had. Programs attached to it run on every CPU. */
int kernel_event_open(const char *name);

#endif
