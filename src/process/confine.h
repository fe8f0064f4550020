/* confine.h -- a process that reads untrusted files drops the rights that it does not need.
 *
 * Traces, coverage files and trees may come from anyone. Commands that only read them confine
 * themselves first (Landlock): from then on this process and its children can start no program,
 * open no connection, send no signal to others, and write to no file but those that are open
 * already or below chosen directories. A bug in a reader is then of little use to the author of
 * the file. */
#ifndef PROCESS_CONFINE_H
#define PROCESS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* A writable directory may be one that is still to be made: the nearest one above it that exists
 * counts. Where the kernel has no Landlock, or an older one, less is given up, or nothing. */
void confine_reader(const char *const *writable, size_t count);
/* For a process that serves files to others: it can also read no file or directory but these, and
 * what is below them. What is open already stays so. false: this kernel cannot. */
bool confine_server(const char *const *readable, size_t count);
/* For a process that is about to start a program of someone else: it and what it starts can write
 * to no file but those that are open already, files without a name (memfd_create), and /dev/null.
 * false: this kernel cannot. */
bool confine_program(void);

#endif
