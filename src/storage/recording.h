/* recording.h -- a log of writes in memory that several processes add to.
 *
 * What serves or watches the disk adds requests; the process that makes calls adds marks; the
 * checker reads. Each addition is whole for a reader, whatever else is under way. */
#ifndef STORAGE_RECORDING_H
#define STORAGE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

struct recording;
/* Shared with all processes that are forked from now on. */
int recording_new(struct recording **ret, struct err *err);
void recording_free(struct recording *r); /* NULL is none */

/* A request (enum disk_request, write_log.h); the data are a write's. */
void recording_add(struct recording *r, uint32_t what, uint64_t offset, const void *data,
		   uint32_t size);

/* The calling process keeps the disk going from now until it ends; and whether it still does. */
void recording_hold(struct recording *r);
bool recording_is_held(struct recording *r);

/* The log is to be empty again from the next mount on, and has then all that is written. */
void recording_ask_restart(struct recording *r);
/* Before mounting: empties the log where that was asked for. Nothing is written meanwhile. */
void recording_begin(struct recording *r);
/* From now on the log is not all that was written, for this reason, until it is emptied. */
void recording_spoil(struct recording *r, const char *why);
/* Adds the log; fails where it does not have everything. */
int recording_copy(const struct recording *r, struct buf *out, struct err *err);

#endif
