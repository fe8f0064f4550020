/* request_guard.h -- who may ask: the Host header of a request, and its token.
 *
 * A page of another site can make a browser send requests to an address of this machine, under a
 * name of that site that suddenly means that address (DNS rebinding), and read the answers. So a
 * request is answered only if it names this server by an address or by a name of this machine. */
#ifndef SERVE_REQUEST_GUARD_H
#define SERVE_REQUEST_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { REQUEST_TOKEN_MIN = 16, REQUEST_TOKEN_MAX = 256 };

struct request_guard {
	const char *address;               /* where it listens, as text */
	unsigned port;                     /* the one that it got */
	const char *machine;               /* name of this machine; NULL: only on loopback */
	char token[REQUEST_TOKEN_MAX + 1]; /* "": none is needed */
};

/* 127.0.0.0/8 and ::1. */
bool request_guard_is_loopback(const char *address);
/* Whether this is a text of a Host header that means this server. NULL: there was none. */
bool request_guard_host(const struct request_guard *g, const char *host);
/* Whether it is the token; takes the same time for all tokens of a length. NULL: there was none. */
bool request_guard_token(const struct request_guard *g, const char *token);

/* Random bytes, as 2 * count hexadecimal digits. */
int request_guard_random(char *ret, size_t count, struct err *err);
/* The token of a file that no other user can read or change: its first line, of letters, digits,
 * "-" and "_". */
int request_guard_read_token(struct request_guard *g, const char *path, struct err *err);

#endif
