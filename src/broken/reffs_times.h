/* reffs_times.h -- a RefFS whose times are wrong, one way at a time. */
#ifndef BROKEN_REFFS_TIMES_H
#define BROKEN_REFFS_TIMES_H

#include "broken/faults.h"

/* A call of this base leaves these times of its object, or of the directory of its first name, as
 * they were; or sets them though it should not. */
struct time_fault {
	const char *name, *text;
	enum op base;
	bool of_directory, sets;
	unsigned times; /* enum time_bit */
};

extern const struct time_fault time_fault_table[];
extern const size_t time_fault_count;
/* NULL if there is none of that name. */
const struct time_fault *time_fault_find(const char *name);
void time_fault_run(const struct time_fault *fault, struct faulty *f, const struct call *c,
		    struct outcome *ret);

#endif
