/* disk.h -- system calls on the disk: what is read from it is symbolic, what is written is noted.
 */
#ifndef PATHTOOL_DISK_H
#define PATHTOOL_DISK_H

#include "pathtool/tool.h"

void disk_before_call(ThreadId tid, UInt call, UWord *args, UInt count);
void disk_after_call(ThreadId tid, UInt call, UWord *args, UInt count, SysRes result);
/* A run begins: the bytes of the ranges are inputs. */
void disk_begin_run(void);

#endif
