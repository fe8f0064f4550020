/* server.h -- the process that waits at the first read of the disk, and its copies. */
#ifndef PATHTOOL_SERVER_H
#define PATHTOOL_SERVER_H

#include "pathtool/tool.h"

/* Where we are told what to do. */
void server_init(Int control_fd);
/* Makes this process the server; returns in each copy, once for every run. */
void server_serve(ThreadId tid);

#endif
