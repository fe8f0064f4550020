/* redis_net.h -- a server, or all nodes of a Redis Cluster: which one has a key.
 *
 * The parts of a run are in keys with their own hash tags, so that a cluster spreads them. Slots
 * are read when connecting; where one moves, the connection counts as lost and is made again. */
#ifndef SWARM_REDIS_NET_H
#define SWARM_REDIS_NET_H

#include "swarm/redis_link.h"

enum { REDIS_NODES_MAX = 128, REDIS_SLOTS = 16384, REDIS_SCRIPTS_MAX = 8 };

struct redis_net {
	struct redis_link *links[REDIS_NODES_MAX]; /* the first is the one that the URL names */
	size_t count;
	unsigned char *slots;                /* number of the link; NULL: there is but one */
	char scripts[REDIS_SCRIPTS_MAX][48]; /* their names on the servers */
};

/* Connects to all nodes and loads the scripts (NULL ends them). */
int redis_net_open(struct redis_net *n, const struct redis_url *u, const char *const *scripts,
		   struct err *err);
void redis_net_close(struct redis_net *n);
bool redis_net_is_cluster(const struct redis_net *n);
bool redis_net_is_open(const struct redis_net *n);
/* The connection that leads to a key. */
struct redis_link *redis_net_link(const struct redis_net *n, const char *key);
/* A number for the processes that serve: another one after any of them was restarted, the same for
 * all who are connected. */
uint32_t redis_net_epoch(const struct redis_net *n);
/* The slot of a key in a cluster. */
unsigned redis_slot(const char *key);

#endif
