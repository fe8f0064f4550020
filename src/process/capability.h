/* capability.h -- what this process may do. */
#ifndef PROCESS_CAPABILITY_H
#define PROCESS_CAPABILITY_H

#include <stdbool.h>
#include <sys/capability.h>

/* Whether it has this capability (CAP_...) in effect. */
bool capability_has(cap_value_t capability);

#endif
