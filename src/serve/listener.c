/* listener.c -- the socket that requests come in by. */
#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"

enum { LISTENER_BACKLOG = 64 };

union listener_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t listener_parse(union listener_address *a, const char *address, unsigned port)
{
	*a = (union listener_address){ .six = { .sin6_family = AF_INET6,
						.sin6_port = htons((uint16_t)port) } };
	if (inet_pton(AF_INET6, address, &a->six.sin6_addr) == 1)
		return sizeof(a->six);
	*a = (union listener_address){ .four = { .sin_family = AF_INET,
						 .sin_port = htons((uint16_t)port) } };
	return inet_pton(AF_INET, address, &a->four.sin_addr) == 1 ? sizeof(a->four) : 0;
}

int listener_open(const char *address, unsigned port, unsigned *ret_port, struct err *err)
{
	union listener_address a;
	socklen_t len = listener_parse(&a, address, port);
	int fd, yes = 1, status = 0;

	if (!len)
		return err_set(err, EINVAL, "%s is no address, such as 127.0.0.1 or ::1", address);
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, errno, "cannot make a socket");
	/* A server that has just ended leaves connections behind that wait for their end. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) || bind(fd, &a.any, len) ||
	    listen(fd, LISTENER_BACKLOG) || getsockname(fd, &a.any, &len))
		status = err_sys(err, errno, "cannot listen on %s, port %u", address, port);
	if (status) {
		close(fd);
		return status;
	}
	*ret_port = ntohs(a.any.sa_family == AF_INET ? a.four.sin_port : a.six.sin6_port);
	return fd;
}
