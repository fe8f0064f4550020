/* tool.h -- what the parts of the tool share: the log and what is followed.
 *
 * The tool runs one checker. At its first read of the disk the process becomes a server (server.c)
 * that is copied by fork for every run; only the copies follow values. */
#ifndef PATHTOOL_TOOL_H
#define PATHTOOL_TOOL_H

#include "symbolic/expr.h"
#include "symbolic/interval.h"
#include "symbolic/path_log.h"
#include <pub_tool_basics.h>

extern struct path_log *tool_log;
extern struct expr_store tool_store;
extern struct interval_facts tool_facts;
/* This process is a run; one whose values are followed. */
extern Bool tool_is_run, tool_following;
/* Code is translated with what follows values. */
extern Bool tool_symbolic;

/* A run begins: in the new copy of the server. */
void tool_begin_run(void);
/* Something that the log cannot tell. */
void tool_gap(enum path_gap gap);
/* From here on nothing is symbolic any more. */
void tool_stop_following(void);
/* The expression, or 0 if it depends on no input; a full store ends the following. */
uint32_t tool_finished(uint32_t e);

#endif
