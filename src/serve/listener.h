/* listener.h -- the socket that requests come in by. */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

struct err;

/* Listens on a numeric address; port 0: any that is free. Returns a descriptor or a negative errno:
 * -EINVAL for a text that is no address. */
int listener_open(const char *address, unsigned port, unsigned *ret_port, struct err *err);

#endif
