/* request_guard.c -- who may ask: the Host header of a request, and its token. */
#include "serve/request_guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/trust.h"

/* ---- the host ---- */

enum { HOST_MAX = 256 };

bool request_guard_is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool host_is_address(const char *name)
{
	struct in6_addr any;

	return inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1;
}

/* The port behind the name; 80 where there is none, as of any URL. */
static bool host_port_is(const char *text, unsigned port)
{
	char expected[16];

	snprintf(expected, sizeof(expected), ":%u", port);
	return *text ? !strcmp(text, expected) : port == 80;
}

/* "NAME:PORT", "[ADDRESS]:PORT": the name alone; NULL for another text. */
static const char *host_split(const char *host, char *ret_name)
{
	const char *begin = *host == '[' ? host + 1 : host;
	size_t len = strcspn(begin, *host == '[' ? "]" : ":");

	if (!len || len >= HOST_MAX || (*host == '[' && begin[len] != ']'))
		return NULL;
	memcpy(ret_name, begin, len);
	ret_name[len] = '\0';
	return begin + len + (*host == '[');
}

bool request_guard_host(const struct request_guard *g, const char *host)
{
	char name[HOST_MAX];
	const char *port = host ? host_split(host, name) : NULL;

	if (!port || !host_port_is(port, g->port))
		return false;
	if (!strcasecmp(name, "localhost") || request_guard_is_loopback(name))
		return true;
	/* No one else's name is an address. */
	return g->machine && (host_is_address(name) || !strcasecmp(name, g->machine));
}

/* ---- the token ---- */

bool request_guard_token(const struct request_guard *g, const char *token)
{
	size_t len = token ? strlen(token) : 0;
	unsigned char differs = 0;

	if (!*g->token)
		return true;
	if (len != strlen(g->token))
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(token[i] ^ g->token[i]);
	return !differs;
}

int request_guard_random(char *ret, size_t count, struct err *err)
{
	unsigned char bytes[REQUEST_TOKEN_MAX / 2];

	must(count <= sizeof(bytes));
	if (getrandom(bytes, count, 0) != (ssize_t)count)
		return err_sys(err, EIO, "cannot get random bytes");
	for (size_t i = 0; i < count; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int token_take(struct request_guard *g, const char *path, const char *text, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";
	size_t len = strcspn(text, "\n");

	if (len < REQUEST_TOKEN_MIN || len > REQUEST_TOKEN_MAX || strspn(text, allowed) != len)
		return err_set(err, EINVAL,
			       "%s: its first line is no token: %d to %d letters, digits, \"-\" "
			       "and \"_\"",
			       path, REQUEST_TOKEN_MIN, REQUEST_TOKEN_MAX);
	memcpy(g->token, text, len);
	g->token[len] = '\0';
	return 0;
}

int request_guard_read_token(struct request_guard *g, const char *path, struct err *err)
{
	int fd = trust_open(path, O_RDONLY | O_CLOEXEC, err), status;
	struct buf text = BUF_INIT;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		status = err_sys(err, errno, "%s", path);
	else if (st.st_mode & (S_IRGRP | S_IROTH))
		status = err_set(err, EPERM, "%s is refused: other users can read it", path);
	else
		status = buf_read_fd(&text, fd, 4096, err);
	if (!status)
		status = token_take(g, path, buf_str(&text), err);
	close(fd);
	buf_free(&text);
	return status;
}
