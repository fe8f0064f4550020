/* recording.c -- a log of writes in memory that several processes add to. */
#include "storage/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/write_log.h"

/* Memory is taken only where it is written. */
enum { LOG_MAX = 192 << 20, WHY_MAX = 128 };

struct recording {
	pthread_mutex_t lock;  /* of those who add; one may be killed while it has it */
	pthread_mutex_t alive; /* of who serves the disk, for life */
	_Atomic uint64_t size; /* what is before is whole */
	_Atomic bool restart;
	_Atomic bool spoilt;
	char why[WHY_MAX];
	char log[LOG_MAX];
};

int recording_new(struct recording **ret, struct err *err)
{
	struct recording *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_mutexattr_t shared;

	if (r == MAP_FAILED)
		return err_sys(err, errno, "cannot share memory for a log of writes");
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&r->lock, &shared);
	pthread_mutex_init(&r->alive, &shared);
	pthread_mutexattr_destroy(&shared);
	*ret = r;
	return 0;
}

void recording_free(struct recording *r)
{
	if (r)
		munmap(r, sizeof(*r));
}

void recording_spoil(struct recording *r, const char *why)
{
	snprintf(r->why, sizeof(r->why), "%s", why);
	atomic_store(&r->spoilt, true);
}

/* What a killed process has added in part was never counted. */
static void recording_lock(struct recording *r)
{
	if (pthread_mutex_lock(&r->lock) == EOWNERDEAD) {
		pthread_mutex_consistent(&r->lock);
		recording_spoil(r, "a process that recorded writes was killed");
	}
}

void recording_hold(struct recording *r)
{
	if (pthread_mutex_lock(&r->alive) == EOWNERDEAD)
		pthread_mutex_consistent(&r->alive);
}

bool recording_is_held(struct recording *r)
{
	int error = pthread_mutex_trylock(&r->alive);

	if (error == EOWNERDEAD)
		pthread_mutex_consistent(&r->alive);
	if (error != EBUSY)
		pthread_mutex_unlock(&r->alive);
	return error == EBUSY;
}

void recording_add(struct recording *r, uint32_t what, uint64_t offset, const void *data,
		   uint32_t size)
{
	struct disk_record record = { .offset = offset, .size = size, .what = what };
	uint64_t data_size = what & RECORD_WRITE ? size : 0, at;

	recording_lock(r);
	at = atomic_load(&r->size);
	if (sizeof(record) + data_size > LOG_MAX - at) {
		recording_spoil(r, "more was written than a log takes");
	} else {
		memcpy(r->log + at, &record, sizeof(record));
		if (data_size)
			memcpy(r->log + at + sizeof(record), data, data_size);
		atomic_store(&r->size, at + sizeof(record) + data_size);
	}
	pthread_mutex_unlock(&r->lock);
}

void recording_ask_restart(struct recording *r)
{
	atomic_store(&r->restart, true);
}

void recording_begin(struct recording *r)
{
	if (!atomic_exchange(&r->restart, false))
		return;
	recording_lock(r);
	atomic_store(&r->size, 0);
	atomic_store(&r->spoilt, false);
	pthread_mutex_unlock(&r->lock);
}

int recording_copy(const struct recording *r, struct buf *out, struct err *err)
{
	if (atomic_load(&r->spoilt))
		return err_set(err, ENODATA, "the log of writes is not complete: %s", r->why);
	buf_add(out, r->log, atomic_load(&r->size));
	return 0;
}
