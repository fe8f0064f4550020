/* branches.h -- which conditional branches of the checker were taken, in either direction. */
#ifndef PATHTOOL_BRANCHES_H
#define PATHTOOL_BRANCHES_H

#include "pathtool/tool.h"

/* Where translated code stores 1, for each direction, or NULL: not a branch of the checker, or
 * there are too many. */
UChar *branches_slot(Addr at);

#endif
