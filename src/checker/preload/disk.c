/* disk.c -- the disk in shared memory: what a checker reads and writes, without system calls.
 *
 * Before its first write to a page the page is copied, so that the session can tell exactly what
 * a run has changed. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

static uint8_t *disk;

void disk_map(void)
{
	void *at = preload_next()->mmap(NULL, preload_control->capacity, PROT_READ | PROT_WRITE,
					MAP_SHARED, CONTROL_DISK_FD, 0);

	if (at == MAP_FAILED)
		_exit(127);
	disk = at;
}

/* A process that is killed while it holds it ends the run, and the next one begins without. */
static void disk_lock(void)
{
	while (atomic_exchange_explicit(&preload_control->lock, 1, memory_order_acquire))
		sched_yield();
}

static void disk_unlock(void)
{
	atomic_store_explicit(&preload_control->lock, 0, memory_order_release);
}

static void disk_keep_page(uint64_t page)
{
	struct control *c = preload_control;

	if (control_written(c)[page])
		return;
	if (page * CONTROL_PAGE < c->disk_size)
		memcpy(control_before(c, page), disk + page * CONTROL_PAGE, CONTROL_PAGE);
	else
		memset(control_before(c, page), 0, CONTROL_PAGE);
	control_written(c)[page] = 1;
	control_list(c)[c->pages_written++] = (uint32_t)page;
}

static void disk_keep(uint64_t at, uint64_t end)
{
	for (uint64_t page = at / CONTROL_PAGE; page * CONTROL_PAGE < end; page++)
		disk_keep_page(page);
}

static int disk_resize_locked(uint64_t size)
{
	struct control *c = preload_control;
	uint64_t old = c->disk_size;

	if (size > c->capacity) {
		errno = EFBIG;
		return -1;
	}
	if (size < old)
		disk_keep(size, old);
	if (preload_next()->ftruncate(CONTROL_DISK_FD, (off_t)size))
		return -1;
	c->disk_size = size;
	if (size > old)
		disk_keep(old, size);
	return 0;
}

int disk_resize(uint64_t size)
{
	int ret;

	disk_lock();
	ret = disk_resize_locked(size);
	disk_unlock();
	return ret;
}

ssize_t disk_read(uint64_t at, void *to, size_t len)
{
	uint64_t size = preload_control->disk_size;

	if ((int64_t)at < 0) {
		errno = EINVAL;
		return -1;
	}
	if (at >= size)
		return 0;
	if (len > size - at)
		len = size - at;
	memcpy(to, disk + at, len);
	return (ssize_t)len;
}

static ssize_t disk_write_locked(uint64_t at, const void *from, size_t len)
{
	struct control *c = preload_control;

	c->writes++;
	if ((int64_t)at < 0 || (int64_t)(at + len) < 0) {
		errno = EINVAL;
		return -1;
	}
	if (at + len > c->disk_size && len) {
		if (at >= c->capacity) {
			errno = EFBIG;
			return -1;
		}
		if (len > c->capacity - at)
			len = c->capacity - at;
		if (disk_resize_locked(at + len))
			return -1;
	}
	if (memcmp(disk + at, from, len) == 0)
		return (ssize_t)len;
	disk_keep(at, at + len);
	memcpy(disk + at, from, len);
	return (ssize_t)len;
}

ssize_t disk_write(uint64_t at, const void *from, size_t len)
{
	ssize_t ret;

	disk_lock();
	ret = disk_write_locked(at, from, len);
	disk_unlock();
	return ret;
}

int disk_zero(uint64_t at, uint64_t len)
{
	disk_lock();
	preload_control->writes++;
	disk_keep(at, at + len);
	memset(disk + at, 0, len);
	disk_unlock();
	return 0;
}

void disk_lose_sight(void)
{
	disk_lock();
	preload_control->unseen = true;
	disk_keep(0, preload_control->disk_size);
	disk_unlock();
}
