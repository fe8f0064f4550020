/* redis_url.c -- where a Redis or Valkey server is, and how it is entered. */
#include "swarm/redis_url.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

enum { REDIS_PORT = 6379, URL_MAX = 4096, URL_FILE_MAX = 8192, DB_MAX = 1 << 20 };

static int url_bad(struct err *err, const char *what)
{
	return err_set(err, EINVAL,
		       "the URL of the server has %s; expected "
		       "redis://[:PASSWORD@]HOST[:PORT][/DB], rediss:// or unix:///PATH",
		       what);
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* A part of the URL, %XX decoded. */
static char *url_part(const char *from, size_t len)
{
	char *part = must_alloc(len + 1), *to = part;

	for (size_t i = 0; i < len; i++) {
		if (from[i] == '%' && i + 2 < len && isxdigit((unsigned char)from[i + 1]) &&
		    isxdigit((unsigned char)from[i + 2])) {
			*to++ = (char)(hex_digit(from[i + 1]) << 4 | hex_digit(from[i + 2]));
			i += 2;
		} else {
			*to++ = from[i];
		}
	}
	return part;
}

static int url_number(const char *text, size_t len, unsigned max, unsigned *ret)
{
	unsigned long value = 0;

	if (!len || len > 7)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -EINVAL;
		value = value * 10 + (unsigned long)(text[i] - '0');
	}
	if (value > max)
		return -EINVAL;
	*ret = (unsigned)value;
	return 0;
}

/* [[USER]:PASSWORD@]; returns what is behind it. */
static const char *url_read_login(struct redis_url *u, const char *at, const char *end)
{
	const char *sign = end, *colon;

	while (sign > at && *sign != '@')
		sign--;
	if (*sign != '@')
		return at;
	colon = memchr(at, ':', (size_t)(sign - at));
	if (colon && colon > at)
		u->user = url_part(at, (size_t)(colon - at));
	if (!colon)
		colon = at - 1;
	u->password = url_part(colon + 1, (size_t)(sign - colon - 1));
	return sign + 1;
}

static int url_read_host(struct redis_url *u, const char *at, const char *end, struct err *err)
{
	const char *close = at < end && *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
	const char *colon = end;

	while (colon > at && colon[-1] != ':')
		colon--;
	colon = colon > at ? colon - 1 : NULL;
	if (close) { /* IPv6 */
		u->host = url_part(at + 1, (size_t)(close - at - 1));
		colon = close + 1 < end && close[1] == ':' ? close + 1 : NULL;
	} else {
		u->host = url_part(at, (size_t)((colon ? colon : end) - at));
	}
	if (!*u->host)
		return url_bad(err, "no host");
	if (colon &&
	    (url_number(colon + 1, (size_t)(end - colon - 1), 65535, &u->port) || !u->port))
		return url_bad(err, "no valid port");
	return 0;
}

static int url_read_option(struct redis_url *u, const char *at, size_t len, struct err *err)
{
	const struct {
		const char *name;
		char **file;
	} files[] = { { "ca=", &u->ca }, { "cert=", &u->cert }, { "key=", &u->key } };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		size_t own = strlen(files[i].name);

		if (len > own && !memcmp(at, files[i].name, own) && !*files[i].file) {
			*files[i].file = url_part(at + own, len - own);
			return 0;
		}
	}
	if (len > 3 && !memcmp(at, "db=", 3) && !url_number(at + 3, len - 3, DB_MAX, &u->db))
		return 0;
	return url_bad(err, "an unknown option behind its question mark");
}

/* ?db=1&ca=FILE */
static int url_read_options(struct redis_url *u, const char *at, struct err *err)
{
	int status = 0;

	while (*at && !status) {
		size_t len = strcspn(at + 1, "&");

		status = url_read_option(u, at + 1, len, err);
		at += 1 + len;
	}
	return status;
}

static int url_read(struct redis_url *u, const char *text, struct err *err)
{
	const char *options = text + strcspn(text, "?"), *at = strstr(text, "://"), *end;
	bool is_socket = !strncmp(text, "unix://", 7);

	u->tls = !strncmp(text, "rediss://", 9);
	if (!is_socket && !u->tls && strncmp(text, "redis://", 8) != 0)
		return url_bad(err, "no known scheme");
	at += 3;
	/* A password may contain a slash; the path of a socket may contain a sign. */
	end = is_socket ? NULL : memrchr(at, '@', (size_t)(options - at));
	end = end ? end : at;
	end += strcspn(end, is_socket ? "?" : "/?");
	if (is_socket && *at == '/') {
		u->socket = url_part(at, (size_t)(options - at));
	} else if (is_socket) {
		at = url_read_login(u, at, at + strcspn(at, "/?"));
		u->socket = url_part(at, (size_t)(options - at));
		if (*u->socket != '/')
			return url_bad(err, "no absolute path of a socket");
	} else {
		at = url_read_login(u, at, end);
		if (url_read_host(u, at, end, err))
			return -EINVAL;
		if (options > end + 1 &&
		    url_number(end + 1, (size_t)(options - end - 1), DB_MAX, &u->db))
			return url_bad(err, "no valid number of a database");
	}
	return url_read_options(u, options, err);
}

int redis_url_parse(struct redis_url *u, const char *text, struct err *err)
{
	*u = (struct redis_url){ .port = REDIS_PORT };
	if (strlen(text) > URL_MAX)
		return url_bad(err, "too many characters");
	if (url_read(u, text, err)) {
		redis_url_free(u);
		return -EINVAL;
	}
	return 0;
}

int redis_url_choose(struct buf *ret, const char *given, const char *file, struct err *err)
{
	const char *environment = getenv("ASSAY_REDIS");
	int status = 0;

	if (given)
		buf_adds(ret, given);
	else if (file)
		status = buf_read_file(ret, file, URL_FILE_MAX, err);
	else if (environment)
		buf_adds(ret, environment);
	else
		return err_set(err, EINVAL,
			       "no server given: --redis, --redis-file or ASSAY_REDIS");
	while (ret->len && isspace((unsigned char)ret->data[ret->len - 1]))
		ret->data[--ret->len] = 0;
	return status;
}

void redis_url_free(struct redis_url *u)
{
	free(u->host);
	free(u->socket);
	free(u->user);
	if (u->password)
		explicit_bzero(u->password, strlen(u->password));
	free(u->password);
	free(u->ca);
	free(u->cert);
	free(u->key);
	*u = (struct redis_url){ 0 };
}

void redis_url_print(const struct redis_url *u, struct buf *out)
{
	if (u->socket)
		buf_addf(out, "unix://%s", u->socket);
	else
		buf_addf(out, "%s://%s:%u", u->tls ? "rediss" : "redis", u->host, u->port);
	if (u->db)
		buf_addf(out, u->socket ? "?db=%u" : "/%u", u->db);
}
