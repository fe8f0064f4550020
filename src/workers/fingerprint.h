/* fingerprint.h -- what all workers of a swarm must have in common, as lines of text: the program,
 * its operations, model and instruments, the kernel, and files that the command line names. */
#ifndef WORKERS_FINGERPRINT_H
#define WORKERS_FINGERPRINT_H

#include <jansson.h>

#include "base/buf.h"

/* Of a command line: an array of texts, the command first, then the target or options. */
void fingerprint(const json_t *args, struct buf *ret);

#endif
