/* redis_net.c -- a server, or all nodes of a Redis Cluster. */
#include "swarm/redis_net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"

/* CRC-16/XMODEM, as the specification of Redis Cluster has it. */
static unsigned redis_crc16(const char *data, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)data[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	return crc & 0xffff;
}

unsigned redis_slot(const char *key)
{
	const char *open = strchr(key, '{'), *close = open ? strchr(open, '}') : NULL;

	if (close && close > open + 1)
		return redis_crc16(open + 1, (size_t)(close - open - 1)) % REDIS_SLOTS;
	return redis_crc16(key, strlen(key)) % REDIS_SLOTS;
}

struct redis_link *redis_net_link(const struct redis_net *n, const char *key)
{
	return n->links[n->slots ? n->slots[redis_slot(key)] : 0];
}

bool redis_net_is_cluster(const struct redis_net *n)
{
	return n->slots;
}

bool redis_net_is_open(const struct redis_net *n)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->links[i]->fd < 0)
			return false;
	return n->count;
}

uint32_t redis_net_epoch(const struct redis_net *n)
{
	uint64_t sum = 0;

	/* The first link of a cluster is to a node that has another link as well. */
	for (size_t i = n->slots ? 1 : 0; i < n->count; i++)
		sum += hash64(n->links[i]->server, strlen(n->links[i]->server), 0);
	return (uint32_t)(sum >> 32);
}

static int net_add(struct redis_net *n, const struct redis_url *u, struct err *err)
{
	struct redis_link *l;
	int status;

	if (n->count == REDIS_NODES_MAX)
		return err_set(err, E2BIG, "the Redis cluster has more than %d nodes",
			       REDIS_NODES_MAX);
	l = must_alloc(sizeof(*l));
	status = redis_link_open(l, u, err);
	if (status)
		free(l);
	else
		n->links[n->count++] = l;
	return status;
}

static int net_load_scripts(struct redis_net *n, const char *const *scripts, struct err *err)
{
	redisReply *reply;
	int status = 0;

	for (size_t i = 0; scripts[i]; i++) {
		must(i < REDIS_SCRIPTS_MAX);
		for (size_t k = 0; k < n->count && !status; k++) {
			status = redis_link_ask(n->links[k], &reply, err, "SCRIPT LOAD %s",
						scripts[i]);
			if (status)
				break;
			snprintf(n->scripts[i], sizeof(n->scripts[i]), "%s",
				 reply->str ? reply->str : "");
			freeReplyObject(reply);
		}
	}
	return status;
}

/* The number of the node at this address, which is connected to where it is new. */
static int net_node(struct redis_net *n, const struct redis_url *u, char (*names)[300],
		    const redisReply *node, size_t *ret, struct err *err)
{
	const redisReply *host = redis_reply_at(node, 0), *port = redis_reply_at(node, 1);
	struct redis_url own = *u;
	char name[300];
	int status = 0;

	if (!host || !port)
		return err_set(err, EPROTO, "the Redis cluster does not say where its nodes are");
	own.host = host->len ? host->str : u->host;
	own.port = (unsigned)redis_reply_number(port);
	own.socket = NULL;
	snprintf(name, sizeof(name), "%.250s:%u", own.host, own.port);
	for (*ret = 1; *ret < n->count; ++*ret)
		if (!strcmp(names[*ret], name))
			return 0;
	status = net_add(n, &own, err);
	if (!status)
		strcpy(names[*ret], name);
	return status;
}

/* Rows of CLUSTER SLOTS: first, last, the node that has them, its replicas. */
static int net_read_slots(struct redis_net *n, const struct redis_url *u, struct err *err)
{
	char(*names)[300] = must_alloc(REDIS_NODES_MAX * sizeof(*names));
	redisReply *rows = NULL;
	int status = redis_link_ask(n->links[0], &rows, err, "CLUSTER SLOTS");

	n->slots = must_alloc(REDIS_SLOTS);
	for (size_t i = 0; !status && i < rows->elements; i++) {
		const redisReply *row = rows->element[i];
		uint64_t first = redis_reply_number(redis_reply_at(row, 0));
		uint64_t last = redis_reply_number(redis_reply_at(row, 1));
		size_t node;

		status = net_node(n, u, names, redis_reply_at(row, 2), &node, err);
		for (uint64_t slot = first; !status && slot <= last && slot < REDIS_SLOTS; slot++)
			n->slots[slot] = (unsigned char)node;
	}
	if (!status && !rows->elements)
		status = err_set(err, ENOTCONN, "the Redis cluster has no slots yet");
	if (rows)
		freeReplyObject(rows);
	free(names);
	return status;
}

int redis_net_open(struct redis_net *n, const struct redis_url *u, const char *const *scripts,
		   struct err *err)
{
	int status;

	*n = (struct redis_net){ 0 };
	status = net_add(n, u, err);
	if (!status && n->links[0]->is_cluster)
		status = net_read_slots(n, u, err);
	if (!status)
		status = net_load_scripts(n, scripts, err);
	if (status)
		redis_net_close(n);
	return status;
}

void redis_net_close(struct redis_net *n)
{
	for (size_t i = 0; i < n->count; i++) {
		redis_link_close(n->links[i]);
		free(n->links[i]);
	}
	free(n->slots);
	*n = (struct redis_net){ 0 };
}
