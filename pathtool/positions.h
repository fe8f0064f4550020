/* positions.h -- descriptors of the disk and where they stand: copies of a process share that. */
#ifndef PATHTOOL_POSITIONS_H
#define PATHTOOL_POSITIONS_H

#include "pathtool/tool.h"

Bool positions_is_disk(Int fd);
void positions_save(void);
void positions_restore(void);

#endif
