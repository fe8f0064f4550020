/* sysctls.h -- settings of a kernel that change what calls answer: fs.protected_*.
 *
 * They belong to a whole machine. Of the running kernel they are read; a kernel in a process gets
 * those that its target's traits ask for. */
#ifndef TARGET_SYSCTLS_H
#define TARGET_SYSCTLS_H

#include <stdint.h>

#include "snapshot/protocol.h"

struct traits;

/* As the running kernel has them; SETTING_UNKNOWN where it does not say. */
void sysctls_read(struct traits *traits);
/* For a kernel whose settings we choose: what no trait names is as distributions set it. */
void sysctls_choose(struct traits *traits, uint8_t ret[SYSCTL_COUNT]);

#endif
