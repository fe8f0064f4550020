/* privilege.h -- giving up capabilities, and user namespaces where there are none. */
#ifndef SANDBOX_PRIVILEGE_H
#define SANDBOX_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Whether an unprivileged process may make user namespaces here; tried once. */
bool privilege_user_namespaces(void);
/* In a new user namespace: who outside is whom inside. */
struct user_map {
	uint32_t inside, outside;
};
int privilege_map_user(struct user_map uid, struct user_map gid, struct err *err);
/* Gives up all capabilities, or takes back those that it takes to look at, and to remove,
 * whatever there is. They must have been given up once before. */
void privilege_drop(void);
void privilege_take_back(void);

#endif
