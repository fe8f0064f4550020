/* transfer.c -- pickles on their way between the daemon and a client, piece by piece. */
#include "reffs/transfer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

enum { TRANSFERS_MAX = 64 };

struct pickle_transfer {
	struct pickle_transfer *next;
	uint64_t number;
	int client; /* pidfd; -1: it cannot be watched */
	struct buf bytes;
	size_t done; /* of them, read */
};

struct transfers {
	pthread_mutex_t lock;
	struct pickle_transfer *first; /* the newest */
	unsigned count;
	uint64_t next_number;
	int wake; /* eventfd: what is to be watched has changed */
	bool finished;
	pthread_t watcher;
};

/* ---- all of these with the lock held ---- */

static struct pickle_transfer **transfer_find(struct transfers *t, uint64_t number)
{
	struct pickle_transfer **at = &t->first;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static void transfer_end(struct transfers *t, struct pickle_transfer **at)
{
	struct pickle_transfer *old = *at;

	*at = old->next;
	t->count--;
	if (old->client >= 0)
		close(old->client);
	buf_free(&old->bytes);
	free(old);
}

/* If there are too many, the oldest one without a watched client is freed. */
static int transfers_make_room(struct transfers *t)
{
	struct pickle_transfer **oldest = NULL;

	if (t->count < TRANSFERS_MAX)
		return 0;
	for (struct pickle_transfer **at = &t->first; *at; at = &(*at)->next) {
		if ((*at)->client < 0)
			oldest = at;
	}
	if (!oldest)
		return -EBUSY;
	transfer_end(t, oldest);
	return 0;
}

/* ---- the processes behind them ---- */

/* The kernel names threads; only a process can be watched. */
static pid_t transfer_process(pid_t thread)
{
	char path[64], line[256];
	int process = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	status = fopen(path, "re");
	while (status && !process && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "Tgid:", 5))
			process = (int)strtol(line + 5, NULL, 10);
	}
	if (status)
		fclose(status);
	return process;
}

/* A pidfd, -1 where the client cannot be seen from here; -ESRCH in *ret_error: it is gone. */
static int client_open(pid_t thread, int64_t *ret_error)
{
	int fd = thread > 0 ? pidfd_open(thread, 0) : -1;

	if (fd < 0 && thread > 0) {
		pid_t process = transfer_process(thread);

		fd = process > 0 ? pidfd_open(process, 0) : -1;
		if (fd < 0)
			*ret_error = -ESRCH;
	}
	return fd;
}

static void transfers_end_dead(struct transfers *t, const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pickle_transfer **at = &t->first;

		while (fds[i].revents && *at && (*at)->client != fds[i].fd)
			at = &(*at)->next;
		if (fds[i].revents && *at)
			transfer_end(t, at);
	}
}

static size_t transfers_watched(const struct transfers *t, struct pollfd *fds)
{
	size_t count = 0;

	for (const struct pickle_transfer *at = t->first; at; at = at->next) {
		if (at->client >= 0)
			fds[count++] = (struct pollfd){ .fd = at->client, .events = POLLIN };
	}
	return count;
}

/* A descriptor may be closed, and its number used again, while it is polled for. Its process then
 * seems dead at the earliest in the next round, since every change wakes: poll only says when to
 * look, and looking is done again with the lock held. */
static void *transfers_watch(void *of)
{
	struct transfers *t = of;
	struct pollfd fds[TRANSFERS_MAX + 1];
	eventfd_t woken;
	size_t count;

	pthread_mutex_lock(&t->lock);
	while (!t->finished) {
		count = transfers_watched(t, fds + 1);
		fds[0] = (struct pollfd){ .fd = t->wake, .events = POLLIN };
		pthread_mutex_unlock(&t->lock);
		poll(fds, count + 1, -1);
		pthread_mutex_lock(&t->lock);
		eventfd_read(t->wake, &woken);
		count = transfers_watched(t, fds);
		if (poll(fds, count, 0) > 0)
			transfers_end_dead(t, fds, count);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- life ---- */

int transfers_new(struct transfers **ret, struct err *err)
{
	struct transfers *t = must_alloc(sizeof(*t));
	int error;

	pthread_mutex_init(&t->lock, NULL);
	t->next_number = 1;
	t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = t->wake < 0 ? errno : pthread_create(&t->watcher, NULL, transfers_watch, t);
	if (error) {
		if (t->wake >= 0)
			close(t->wake);
		pthread_mutex_destroy(&t->lock);
		free(t);
		return err_sys(err, error, "cannot watch clients");
	}
	*ret = t;
	return 0;
}

void transfers_free(struct transfers *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->finished = true;
	eventfd_write(t->wake, 1);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->watcher, NULL);
	while (t->first)
		transfer_end(t, &t->first);
	close(t->wake);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int64_t transfers_begin(struct transfers *t, pid_t client, struct buf *bytes)
{
	int64_t number = 0;
	int fd = client_open(client, &number);

	pthread_mutex_lock(&t->lock);
	if (!number)
		number = transfers_make_room(t);
	if (!number) {
		struct pickle_transfer *new = must_alloc(sizeof(*new));

		number = (int64_t)t->next_number++;
		*new = (struct pickle_transfer){ t->first, (uint64_t)number, fd, *bytes, 0 };
		*bytes = (struct buf)BUF_INIT;
		t->first = new;
		t->count++;
		eventfd_write(t->wake, 1);
	} else if (fd >= 0) {
		close(fd);
	}
	pthread_mutex_unlock(&t->lock);
	return number;
}

int transfers_read(struct transfers *t, uint64_t number, char *to, size_t max)
{
	struct pickle_transfer **at;
	int len = -ESTALE;

	pthread_mutex_lock(&t->lock);
	at = transfer_find(t, number);
	if (*at) {
		size_t left = (*at)->bytes.len - (*at)->done;

		len = (int)(left < max ? left : max);
		memcpy(to, (*at)->bytes.data + (*at)->done, (size_t)len);
		(*at)->done += (size_t)len;
		if ((size_t)len < max)
			transfer_end(t, at);
	}
	pthread_mutex_unlock(&t->lock);
	return len;
}

int transfers_append(struct transfers *t, uint64_t number, const char *bytes, size_t len)
{
	struct pickle_transfer *transfer;

	pthread_mutex_lock(&t->lock);
	transfer = *transfer_find(t, number);
	if (transfer)
		buf_add(&transfer->bytes, bytes, len);
	pthread_mutex_unlock(&t->lock);
	return transfer ? 0 : -ESTALE;
}

int transfers_finish(struct transfers *t, uint64_t number, struct buf *ret)
{
	struct pickle_transfer **at;
	int r = -ESTALE;

	pthread_mutex_lock(&t->lock);
	at = transfer_find(t, number);
	if (*at) {
		*ret = (*at)->bytes;
		(*at)->bytes = (struct buf)BUF_INIT;
		transfer_end(t, at);
		r = 0;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

size_t transfers_bytes(struct transfers *t)
{
	size_t bytes = 0;

	pthread_mutex_lock(&t->lock);
	for (const struct pickle_transfer *at = t->first; at; at = at->next)
		bytes += at->bytes.cap;
	pthread_mutex_unlock(&t->lock);
	return bytes;
}
