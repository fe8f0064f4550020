/* loop.h -- reading requests and handing them on. */
#ifndef REFFS_LOOP_H
#define REFFS_LOOP_H

struct front;

/* Serves one thread's share of the requests until the session ends or the thread is cancelled. */
void loop_serve(struct front *f);

#endif
