/* http_server.c -- pages of runs by HTTP: read-only, on this machine unless another address is
 * given. */
#include "serve/http_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "process/confine.h"
#include "serve/answers.h"
#include "serve/listener.h"

enum { HTTP_SERVER_WAIT_MS = 500 };

/* ---- answers as responses ---- */

static void response_add_policy(struct MHD_Response *r, const struct answer *a)
{
	char policy[256];

	snprintf(policy, sizeof(policy),
		 "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-%s'; "
		 "connect-src 'self'; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'",
		 a->nonce);
	MHD_add_response_header(r, "Content-Security-Policy",
				a->fd < 0 ? policy : "default-src 'none'; sandbox");
}

static struct MHD_Response *response_make(struct answer *a)
{
	static const char *const headers[][2] = {
		{ "X-Content-Type-Options", "nosniff" },
		{ "Cache-Control", "no-store" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};
	struct MHD_Response *r =
		a->fd >= 0 ? MHD_create_response_from_fd64((uint64_t)a->size, a->fd)
			   : MHD_create_response_from_buffer(a->body.len, (void *)buf_str(&a->body),
							     MHD_RESPMEM_MUST_COPY);

	if (!r) {
		if (a->fd >= 0)
			close(a->fd);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	response_add_policy(r, a);
	if (a->type)
		MHD_add_response_header(r, "Content-Type", a->type);
	if (a->download)
		MHD_add_response_header(r, "Content-Disposition", "attachment");
	if (*a->location)
		MHD_add_response_header(r, "Location", a->location);
	if (a->status == 405)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	return r;
}

/* Browsers send it with every request from then on. Cookies do not depend on the port. */
static void http_server_cookie_name(const struct http_server *s, char *ret, size_t size)
{
	snprintf(ret, size, "assay_%u", s->guard.port);
}

static enum MHD_Result http_server_send(const struct http_server *s, struct MHD_Connection *c,
					struct answer *a, bool set_cookie)
{
	struct MHD_Response *r = response_make(a);
	struct buf cookie = BUF_INIT;
	enum MHD_Result result = MHD_NO;
	char name[32];

	if (r) {
		http_server_cookie_name(s, name, sizeof(name));
		buf_addf(&cookie, "%s=%s; HttpOnly; SameSite=Lax; Path=/", name, s->guard.token);
		if (set_cookie)
			MHD_add_response_header(r, "Set-Cookie", cookie.data);
		result = MHD_queue_response(c, a->status, r);
		MHD_destroy_response(r);
	}
	buf_free(&cookie);
	answer_free(a);
	return result;
}

/* ---- requests ---- */

static const char *request_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static bool request_has_body(struct MHD_Connection *c)
{
	const char *len = request_header(c, "Content-Length");

	return request_header(c, "Transfer-Encoding") || (len && strcmp(len, "0"));
}

static bool request_is_allowed(const struct http_server *s, struct MHD_Connection *c)
{
	const char *header = request_header(c, "Authorization");
	static const char bearer[] = "Bearer ";
	char name[32];

	if (header && !strncmp(header, bearer, strlen(bearer)))
		return request_guard_token(&s->guard, header + strlen(bearer));
	http_server_cookie_name(s, name, sizeof(name));
	return request_guard_token(&s->guard,
				   MHD_lookup_connection_value(c, MHD_COOKIE_KIND, name));
}

/* A link with the token in it leads to the same page without it, which can be shown to others. */
static bool request_brings_token(const struct http_server *s, struct MHD_Connection *c)
{
	const char *token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");

	return *s->guard.token && token && request_guard_token(&s->guard, token);
}

static void http_server_answer(struct http_server *s, struct MHD_Connection *c, const char *url,
			       const char *method, struct answer *a, bool *ret_set_cookie)
{
	*a = (struct answer){ .body = BUF_INIT, .fd = -1 };
	*ret_set_cookie = false;
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		answer_refuse(a, 405, "This server is read-only.");
	} else if (request_has_body(c)) {
		answer_refuse(a, 413, "A request has no content here.");
	} else if (!request_guard_host(&s->guard, request_header(c, "Host"))) {
		answer_refuse(a, 421, "This server has another name: see the URL that it printed.");
	} else if (request_brings_token(s, c) && strncmp(url, "//", 2) && !strchr(url, '\\') &&
		   strlen(url) < sizeof(a->location)) {
		*ret_set_cookie = true;
		a->status = 302;
		snprintf(a->location, sizeof(a->location), "%s", url);
	} else if (!request_is_allowed(s, c)) {
		answer_refuse(a, 401, "A token is needed: use the URL that the server printed.");
	} else {
		answer_make(a, &s->index, url);
	}
}

/* Called once with the headers, and again when the request is complete. What is refused for its
 * method or its content is refused at once, and its connection closed. */
static enum MHD_Result http_server_on_request(void *to, struct MHD_Connection *c, const char *url,
					      const char *method, const char *version,
					      const char *upload, size_t *upload_len, void **seen)
{
	struct http_server *s = to;
	struct answer a;
	bool set_cookie;

	if (!*seen && !request_has_body(c)) {
		*seen = s;
		return MHD_YES;
	}
	http_server_answer(s, c, url, method, &a, &set_cookie);
	return http_server_send(s, c, &a, set_cookie);
}

/* Paths are decoded by us, once (request_path.h). */
static size_t http_server_keep_escapes(void *to, struct MHD_Connection *c, char *text)
{
	return strlen(text);
}

/* ---- the server ---- */

static int http_server_set_guard(struct http_server *s, const char *address, const char *token_path,
				 struct err *err)
{
	s->guard.address = address;
	if (!request_guard_is_loopback(address) && !gethostname(s->machine, sizeof(s->machine) - 1))
		s->guard.machine = s->machine;
	if (token_path)
		return request_guard_read_token(&s->guard, token_path, err);
	return request_guard_is_loopback(address) ? 0
						  : request_guard_random(s->guard.token, 24, err);
}

static int http_server_start(struct http_server *s, int fd, struct err *err)
{
	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_PEDANTIC_CHECKS, 0, NULL, NULL, http_server_on_request, s,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)HTTP_SERVER_CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned)HTTP_SERVER_CONNECTIONS_OF_ONE_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)HTTP_SERVER_IDLE_SECONDS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_SERVER_REQUEST_BYTES_MAX, MHD_OPTION_UNESCAPE_CALLBACK,
		http_server_keep_escapes, s, MHD_OPTION_END);
	if (s->daemon)
		return 0;
	close(fd);
	return err_set(err, EIO, "cannot start the HTTP server");
}

int http_server_open(struct http_server *s, const char *path, const char *address, unsigned port,
		     const char *token_path, struct err *err)
{
	int status, fd;

	*s = (struct http_server){ .daemon = NULL };
	status = served_root_open(&s->root, path, err);
	run_index_init(&s->index, &s->root);
	if (!status)
		status = http_server_set_guard(s, address, token_path, err);
	if (!status) {
		fd = listener_open(address, port, &s->guard.port, err);
		status = fd < 0 ? fd : http_server_start(s, fd, err);
	}
	if (status)
		http_server_close(s);
	return status;
}

void http_server_url(const struct http_server *s, bool show_token, struct buf *out)
{
	const char *address = s->guard.address;
	bool all = !strcmp(address, "0.0.0.0") || !strcmp(address, "::");

	if (strchr(address, ':') && !all)
		buf_addf(out, "http://[%s]:%u/", address, s->guard.port);
	else
		buf_addf(out, "http://%s:%u/", all ? s->machine : address, s->guard.port);
	if (show_token && *s->guard.token)
		buf_addf(out, "?token=%s", s->guard.token);
}

int http_server_run(struct http_server *s, struct err *err)
{
	/* Who is in which group is a matter of trust (base/trust.h). */
	const char *readable[] = { s->root.path, "/etc/passwd", "/etc/group",
				   "/etc/nsswitch.conf" };

	signal(SIGPIPE, SIG_IGN);
	confine_server(readable, ARRAY_LEN(readable));
	while (!stop_requested)
		if (MHD_run_wait(s->daemon, HTTP_SERVER_WAIT_MS) != MHD_YES && !stop_requested)
			return err_set(err, EIO, "the HTTP server failed");
	return 0;
}

void http_server_close(struct http_server *s)
{
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	run_index_free(&s->index);
	served_root_close(&s->root);
	s->daemon = NULL;
}
