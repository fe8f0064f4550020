/* modules.h -- modules of an unpacked kernel, with those that they need, in the order to load them.
 *
 * Packages have no modules.dep, which depmod makes at installation: what a module needs is read
 * from itself. */
#ifndef CONFIRM_MODULES_H
#define CONFIRM_MODULES_H

#include <stddef.h>

#include "base/buf.h"

struct err;

struct module {
	char *name; /* as the kernel has it: "crc_itu_t" */
	const char *parameters;
	struct buf object; /* not compressed */
};

struct modules {
	char **paths; /* of all modules that there are, and their names */
	char **names;
	size_t path_count;
	struct module *chosen; /* in the order to load them */
	size_t count;
};

/* Looks what modules lie below the directory (lib/modules/VERSION); NULL: there are none. */
int modules_open(struct modules *m, const char *dir, struct err *err);
void modules_close(struct modules *m);
/* Chooses a module, and before it those that it needs. One that is not there may be built into the
 * kernel: nothing is chosen then. The parameters are for it alone, and stay the caller's. */
int modules_choose(struct modules *m, const char *name, const char *parameters, struct err *err);

#endif
