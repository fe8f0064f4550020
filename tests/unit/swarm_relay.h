/* swarm_relay.h -- a line between a worker and its Redis server that a test cuts at one request:
 * before the server gets it, or after the server has done it and before the answer arrives. */
#ifndef TESTS_SWARM_RELAY_H
#define TESTS_SWARM_RELAY_H

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/swarm_graph.h"

enum relay_cut { CUT_REQUEST, CUT_ANSWER };

/* What the process of the relay and the test share. */
struct relay_page {
	_Atomic uint64_t requests;     /* so far */
	_Atomic uint64_t cut_at;       /* the number of a request; 0: none */
	_Atomic enum relay_cut cut_is; /* what of it is lost */
};

struct test_relay {
	char socket[96], to[96], url[128];
	struct relay_page *page;
	pid_t pid;
};

static inline int relay_socket(const char *path, struct sockaddr_un *ret)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0);
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(ret->sun_path, path);
	return fd;
}

/* False at the end of the connection. */
static inline bool relay_pass(int from, int to)
{
	char data[64 << 10];
	ssize_t n = read(from, data, sizeof(data));

	return n > 0 && (to < 0 || send(to, data, (size_t)n, MSG_NOSIGNAL) == n);
}

/* A request: false where the line is cut. */
static inline bool relay_request(struct relay_page *page, int near, int far)
{
	if (atomic_fetch_add(&page->requests, 1) + 1 != page->cut_at)
		return relay_pass(near, far);
	if (page->cut_is == CUT_ANSWER && relay_pass(near, far))
		relay_pass(far, -1);
	return false;
}

/* One connection, until it ends. */
static inline void relay_serve(const struct test_relay *r, int near)
{
	struct sockaddr_un address;
	int far = relay_socket(r->to, &address);
	bool open = !connect(far, (struct sockaddr *)&address, sizeof(address));

	while (open) {
		struct pollfd fds[] = { { .fd = near, .events = POLLIN },
					{ .fd = far, .events = POLLIN } };

		poll(fds, 2, -1);
		if (fds[1].revents)
			open = relay_pass(far, near);
		else if (fds[0].revents)
			open = relay_request(r->page, near, far);
	}
	close(near);
	close(far);
}

static inline void relay_open(struct test_relay *r, const struct test_server *s, int number)
{
	struct sockaddr_un address;
	int listener;

	snprintf(r->socket, sizeof(r->socket), "%.60s/relay-%d", s->dir, number);
	snprintf(r->to, sizeof(r->to), "%.60s/socket", s->dir);
	snprintf(r->url, sizeof(r->url), "unix://%.60s/relay-%d", s->dir, number);
	r->page = mmap(NULL, sizeof(*r->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	must(r->page != MAP_FAILED);
	listener = relay_socket(r->socket, &address);
	must(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, 8));
	r->pid = fork();
	if (r->pid) {
		close(listener);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int near = accept(listener, NULL, NULL);

		if (near >= 0)
			relay_serve(r, near);
	}
}

static inline void relay_cut(struct test_relay *r, uint64_t requests_from_now, enum relay_cut what)
{
	r->page->cut_is = what;
	r->page->cut_at = requests_from_now ? r->page->requests + requests_from_now : 0;
}

static inline void relay_close(struct test_relay *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	munmap(r->page, sizeof(*r->page));
}

#endif
