/* redis_link.c -- a connection to a Redis or Valkey server. */
#include "swarm/redis_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/must.h"

enum { CONNECT_MS = 3000, REPLY_SECONDS = 15, READ_SIZE = 16 << 10 };

/* ---- the socket ---- */

static int link_lost(struct redis_link *l, const char *why, struct err *err)
{
	redis_link_close(l);
	return err_set(err, ENOTCONN, "the connection to the Redis server is lost: %s", why);
}

/* Connects within a time limit; afterwards reads and writes have one as well. */
static int socket_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	struct timeval limit = { .tv_sec = REPLY_SECONDS }, soon = { .tv_sec = CONNECT_MS / 1000 };
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (connect(fd, address, len))
		return errno == EINPROGRESS || errno == EAGAIN ? -ETIMEDOUT : -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return 0;
}

static int link_connect_unix(struct redis_link *l, const struct redis_url *u)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int status;

	if (strlen(u->socket) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, u->socket);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return -errno;
	status = socket_connect(l->fd, (struct sockaddr *)&address, sizeof(address));
	return status;
}

static int link_connect_tcp(struct redis_link *l, const struct redis_url *u)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found, *a;
	int status = -EHOSTUNREACH;
	char port[16];

	snprintf(port, sizeof(port), "%u", u->port);
	if (getaddrinfo(u->host, port, &hints, &found))
		return -EHOSTUNREACH;
	for (a = found; a && status; a = a->ai_next) {
		l->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (l->fd < 0)
			continue;
		status = socket_connect(l->fd, a->ai_addr, a->ai_addrlen);
		if (status) {
			close(l->fd);
			l->fd = -1;
		}
	}
	freeaddrinfo(found);
	return status;
}

/* ---- TLS ---- */

static int tls_failed(const char *what, const char *name, struct err *err)
{
	char text[256] = "no reason given";
	unsigned long code = ERR_get_error();

	if (code)
		ERR_error_string_n(code, text, sizeof(text));
	return err_set(err, EACCES, "TLS: %s %s: %s", what, name, text);
}

static int tls_load_files(SSL_CTX *c, const struct redis_url *u, struct err *err)
{
	if (u->ca ? SSL_CTX_load_verify_file(c, u->ca) != 1
		  : SSL_CTX_set_default_verify_paths(c) != 1)
		return tls_failed("cannot read the authorities", u->ca ? u->ca : "", err);
	if (u->cert && SSL_CTX_use_certificate_chain_file(c, u->cert) != 1)
		return tls_failed("cannot read the certificate", u->cert, err);
	if (u->key && SSL_CTX_use_PrivateKey_file(c, u->key, SSL_FILETYPE_PEM) != 1)
		return tls_failed("cannot read the key", u->key, err);
	return 0;
}

/* The server has to show a certificate for the host that the URL names. */
static int link_start_tls(struct redis_link *l, const struct redis_url *u, struct err *err)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	struct in6_addr number;
	bool is_address;
	SSL *tls;
	int status;

	must(context);
	l->tls_context = context;
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	status = tls_load_files(context, u, err);
	if (status)
		return status;
	l->tls = tls = SSL_new(context);
	must(tls);
	is_address = strchr(u->host, ':') || inet_pton(AF_INET, u->host, &number) == 1;
	if (is_address)
		X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), u->host);
	else
		SSL_set1_host(tls, u->host);
	if (!is_address)
		SSL_set_tlsext_host_name(tls, u->host);
	SSL_set_fd(tls, l->fd);
	if (SSL_connect(tls) != 1)
		return tls_failed("cannot connect to", u->host, err);
	return 0;
}

/* ---- bytes ---- */

static ssize_t link_write(struct redis_link *l, const char *data, size_t len)
{
	if (l->tls)
		return SSL_write(l->tls, data, (int)(len > INT32_MAX ? INT32_MAX : len));
	return send(l->fd, data, len, MSG_NOSIGNAL);
}

static ssize_t link_receive(struct redis_link *l, char *data, size_t size)
{
	return l->tls ? SSL_read(l->tls, data, (int)size) : recv(l->fd, data, size, 0);
}

int redis_link_send(struct redis_link *l, struct err *err)
{
	size_t done = 0;
	ssize_t n;

	if (l->fd < 0)
		return link_lost(l, "it was closed", err);
	while (done < l->out.len) {
		n = link_write(l, l->out.data + done, l->out.len - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return link_lost(l, strerror(errno), err);
	}
	buf_clear(&l->out);
	return 0;
}

static int link_fill(struct redis_link *l, struct err *err)
{
	char data[READ_SIZE];
	ssize_t n;

	do
		n = link_receive(l, data, sizeof(data));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return link_lost(l, !n ? "the server has closed it" : strerror(errno), err);
	if (redisReaderFeed(l->reader, data, (size_t)n) != REDIS_OK)
		return link_lost(l, "a reply cannot be read", err);
	return 0;
}

/* ---- commands ---- */

void redis_link_begin(struct redis_link *l, size_t count)
{
	buf_addch(&l->out, '*');
	buf_addu(&l->out, count);
	buf_add(&l->out, "\r\n", 2);
}

void redis_link_arg(struct redis_link *l, const void *data, size_t len)
{
	buf_addch(&l->out, '$');
	buf_addu(&l->out, len);
	buf_add(&l->out, "\r\n", 2);
	buf_add(&l->out, data, len);
	buf_add(&l->out, "\r\n", 2);
}

void redis_link_args(struct redis_link *l, const char *text)
{
	redis_link_arg(l, text, strlen(text));
}

void redis_link_argu(struct redis_link *l, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	redis_link_args(l, text);
}

int redis_reply_check(const redisReply *r, struct err *err)
{
	static const struct {
		const char *begins;
		int code;
		const char *says;
	} errors[] = {
		{ "OOM", ENOMEM, "the Redis server is out of memory; it refuses" },
		{ "MISCONF", ENOSPC, "the Redis server cannot write to its disk" },
		{ "NOAUTH", EACCES, "the Redis server asks for a password" },
		{ "WRONGPASS", EACCES, "the Redis server refuses the password" },
		{ "NOPERM", EACCES, "the Redis server refuses" },
		{ "LOADING", ENOTCONN, "the Redis server is starting" },
		{ "MASTERDOWN", ENOTCONN, "the Redis server is not ready" },
		{ "READONLY", ENOTCONN, "the Redis server is a replica" },
		{ "CLUSTERDOWN", ENOTCONN, "the Redis cluster is not ready" },
	};

	if (r->type != REDIS_REPLY_ERROR)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (!strncmp(r->str, errors[i].begins, strlen(errors[i].begins)))
			return err_set(err, errors[i].code, "%s: %.200s", errors[i].says, r->str);
	return err_set(err, EPROTO, "the Redis server refuses: %.200s", r->str);
}

int redis_link_read(struct redis_link *l, redisReply **ret, struct err *err)
{
	void *reply = NULL;
	int status;

	if (l->fd < 0)
		return link_lost(l, "it was closed", err);
	for (;;) {
		if (redisReaderGetReply(l->reader, &reply) != REDIS_OK)
			return link_lost(l, "a reply cannot be read", err);
		if (reply)
			break;
		status = link_fill(l, err);
		if (status)
			return status;
	}
	status = redis_reply_check(reply, err);
	if (status)
		freeReplyObject(reply);
	else
		*ret = reply;
	/* What is not ready yet is tried again by a new connection. */
	if (status == -ENOTCONN)
		redis_link_close(l);
	return status;
}

static int link_vask(struct redis_link *l, redisReply **ret, struct err *err, const char *format,
		     va_list args)
{
	char *command = NULL;
	int len = redisvFormatCommand(&command, format, args), status;

	must(len > 0);
	buf_add(&l->out, command, (size_t)len);
	redisFreeCommand(command);
	status = redis_link_send(l, err);
	return status ? status : redis_link_read(l, ret, err);
}

int redis_link_finish(struct redis_link *l, struct err *err)
{
	redisReply *reply;
	int status = redis_link_send(l, err);

	if (!status)
		status = redis_link_read(l, &reply, err);
	if (!status)
		freeReplyObject(reply);
	return status;
}

int redis_link_ask(struct redis_link *l, redisReply **ret, struct err *err, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = link_vask(l, ret, err, format, args);
	va_end(args);
	return status;
}

int redis_link_do(struct redis_link *l, struct err *err, const char *format, ...)
{
	redisReply *reply;
	va_list args;
	int status;

	va_start(args, format);
	status = link_vask(l, &reply, err, format, args);
	va_end(args);
	if (!status)
		freeReplyObject(reply);
	return status;
}

uint64_t redis_reply_number(const redisReply *r)
{
	if (!r)
		return 0;
	if (r->type == REDIS_REPLY_INTEGER)
		return r->integer < 0 ? 0 : (uint64_t)r->integer;
	return r->type == REDIS_REPLY_STRING ? strtoull(r->str, NULL, 10) : 0;
}

const redisReply *redis_reply_at(const redisReply *r, size_t i)
{
	return r && r->type == REDIS_REPLY_ARRAY && i < r->elements ? r->element[i] : NULL;
}

bool redis_info(const redisReply *r, const char *name, char *ret, size_t size)
{
	const char *at = r->type == REDIS_REPLY_STRING ? r->str : "";
	size_t len = strlen(name);

	for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, name, len) != 0 || at[len] != ':')
			continue;
		snprintf(ret, size, "%.*s", (int)strcspn(at + len + 1, "\r\n"), at + len + 1);
		return true;
	}
	return false;
}

/* ---- opening ---- */

static int link_log_in(struct redis_link *l, const struct redis_url *u, struct err *err)
{
	char enabled[8] = "0";
	redisReply *info;
	int status = 0;

	if (u->password && u->user)
		status = redis_link_do(l, err, "AUTH %s %s", u->user, u->password);
	else if (u->password)
		status = redis_link_do(l, err, "AUTH %s", u->password);
	if (!status && u->db)
		status = redis_link_do(l, err, "SELECT %u", u->db);
	if (!status)
		status = redis_link_ask(l, &info, err, "INFO");
	if (status)
		return status;
	if (!redis_info(info, "run_id", l->server, sizeof(l->server)))
		snprintf(l->server, sizeof(l->server), "unknown");
	redis_info(info, "cluster_enabled", enabled, sizeof(enabled));
	l->is_cluster = enabled[0] == '1';
	freeReplyObject(info);
	return 0;
}

int redis_link_open(struct redis_link *l, const struct redis_url *u, struct err *err)
{
	struct buf name = BUF_INIT;
	int status;

	*l = (struct redis_link)REDIS_LINK_INIT;
	status = u->socket ? link_connect_unix(l, u) : link_connect_tcp(l, u);
	if (status) {
		redis_url_print(u, &name);
		redis_link_close(l);
		err_sys(err, -status, "cannot connect to the Redis server %s", buf_str(&name));
		buf_free(&name);
		return -ENOTCONN;
	}
	l->reader = redisReaderCreate();
	must(l->reader);
	if (u->tls)
		status = link_start_tls(l, u, err);
	if (!status)
		status = link_log_in(l, u, err);
	if (status)
		redis_link_close(l);
	return status;
}

void redis_link_close(struct redis_link *l)
{
	SSL_free(l->tls);
	SSL_CTX_free(l->tls_context);
	if (l->fd >= 0)
		close(l->fd);
	if (l->reader)
		redisReaderFree(l->reader);
	buf_free(&l->out);
	l->fd = -1;
	l->tls = l->tls_context = NULL;
	l->reader = NULL;
}
