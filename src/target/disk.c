/* disk.c -- the image that a sandbox's file system lies on: made, put back, saved, copied. */
#include "target/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/program.h"
#include "target/description.h"

enum {
	COMMAND_SECONDS = 60,
	OLD_TEXT = 16,
	OLD_PAGE = 4096,
	COPY_BLOCKS_MAX = 1 << 21, /* of 512 bytes: a gigabyte, twice */
};

struct save {
	struct ref ref;
	struct disk_copy *snapshot;
};

static void free_save(struct ref *object)
{
	struct save *save = (struct save *)object;

	disk_copy_free(save->snapshot);
	free(save);
}

/* They are put and dropped, never changed: nothing copies one. */
static const struct pmap_type save_type = { .free = free_save };

bool disk_wanted(const struct target_description *d)
{
	return d->mkfs && strstr(d->mkfs, "{image}");
}

int disk_run_mkfs(struct disk *disk, const struct target_description *d, const char *dir,
		  struct err *err)
{
	struct program_value values[] = { { "image", PROGRAM_FD_PATH }, { "dir", dir } };
	struct buf command = BUF_INIT, output = BUF_INIT;
	int status, ret;

	program_fill(&command, d->mkfs, values, ARRAY_LEN(values));
	ret = program_run(command.data, disk->image.size ? disk->image.fd : -1, COMMAND_SECONDS,
			  &status, &output, err);
	if (!ret && status)
		ret = err_set(err, EIO, "%s ends with status %d: %s", command.data, status,
			      buf_str(&output));
	buf_free(&command);
	buf_free(&output);
	return ret;
}

static int disk_make_image(struct disk *disk, const struct target_description *d, struct err *err)
{
	if (!d->image_size)
		return err_set(err, EINVAL, "%s: its description gives no image_size", d->name);
	disk->size = d->image_size;
	return image_make(&disk->image, disk->size, err);
}

/* Each page has its own, which no file system takes for its. */
static void disk_fill_old(struct disk *disk, uint64_t size)
{
	char text[2 * OLD_TEXT];

	for (uint64_t at = 0; at + OLD_TEXT <= size && at + OLD_TEXT <= disk->size;
	     at += OLD_TEXT) {
		snprintf(text, sizeof(text), "old page %06llx\n",
			 (unsigned long long)at / OLD_PAGE);
		memcpy(disk->image.bytes + at, text, OLD_TEXT);
	}
}

int disk_make(struct disk *disk, const struct target_description *d, bool old, struct err *err)
{
	int ret;

	if (d->image)
		return disk_copy(disk, d->image, err);
	ret = disk_make_image(disk, d, err);
	if (!ret && old)
		disk_fill_old(disk, d->old_bytes);
	if (!ret)
		ret = disk_run_mkfs(disk, d, "", err);
	if (!ret)
		disk_keep(disk);
	return ret;
}

int disk_make_blank(struct disk *disk, const struct target_description *d, int byte,
		    struct err *err)
{
	int ret = disk_make_image(disk, d, err);

	if (!ret)
		memset(disk->image.bytes, byte, disk->image.size);
	return ret;
}

void disk_keep(struct disk *disk)
{
	disk_copy_free(disk->pristine);
	disk->pristine = disk_copy_take(&disk->image);
}

int disk_copy(struct disk *disk, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		ret = err_sys(err, errno, "%s", path);
	} else if (st.st_blocks > COPY_BLOCKS_MAX) {
		ret = err_set(err, EFBIG,
			      "%s is used as a copy in memory, and has more than %d MiB for that: "
			      "mount it yourself and test the directory (dir:PATH)",
			      path, COPY_BLOCKS_MAX >> 11);
	} else {
		disk->size = (uint64_t)st.st_size;
		ret = image_make(&disk->image, disk->size, err);
		if (!ret)
			ret = image_fill(&disk->image, fd, err);
	}
	if (fd >= 0)
		close(fd);
	if (!ret)
		disk_keep(disk);
	return ret;
}

void disk_free(struct disk *disk)
{
	pmap_drop(&disk->saved, &save_type);
	disk_copy_free(disk->pristine);
	image_free(&disk->image);
}

static int disk_put_on_another(struct disk *disk, const struct disk_copy *contents, struct err *err)
{
	int ret;

	image_free(&disk->image);
	ret = image_make(&disk->image, disk->size, err);
	return ret ? ret : disk_copy_put(contents, &disk->image, err);
}

int disk_put(struct disk *disk, struct sandbox *sandbox, const struct disk_copy *contents,
	     struct err *err)
{
	int ret;

	if (!sandbox)
		return disk_put_on_another(disk, contents, err);
	ret = sandbox_abandon(sandbox, err);
	if (!ret)
		ret = disk_copy_put(contents, &disk->image, err);
	return ret ? ret : sandbox_attach(sandbox, err);
}

int disk_save(struct disk *disk, struct sandbox *sandbox, uint64_t key, struct err *err)
{
	struct save *save;
	int ret = sandbox_detach(sandbox, err);

	if (ret)
		return ret;
	save = must_alloc(sizeof(*save));
	*save = (struct save){ { 1 }, disk_copy_take(&disk->image) };
	pmap_put(&disk->saved, &save_type, key, &save->ref);
	return sandbox_attach(sandbox, err);
}

const struct disk_copy *disk_saved(const struct disk *disk, uint64_t key, struct err *err)
{
	const struct save *save = (const struct save *)pmap_get(&disk->saved, key);

	if (!save)
		err_set(err, ENOENT, "nothing is saved as %ju", (uintmax_t)key);
	return save ? save->snapshot : NULL;
}

void disk_drop(struct disk *disk, uint64_t key)
{
	pmap_remove(&disk->saved, &save_type, key);
}

int disk_copy_fresh(const struct disk *disk, struct image *ret, struct err *err)
{
	int r = image_make(ret, disk->size, err);

	if (!r)
		r = disk_copy_put(disk->pristine, ret, err);
	if (r)
		image_free(ret);
	return r;
}

int disk_copy_unmounted(struct disk *disk, struct sandbox *sandbox, struct image *ret,
			int *ret_error, struct err *err)
{
	struct err why = { 0 };
	int r = sandbox_suspend(sandbox, &why), attached, copied = 0;

	*ret_error = -r;
	if (!r)
		copied = image_make(ret, disk->size, err);
	if (!r && !copied)
		copied = image_fill(ret, disk->image.fd, err);
	attached = sandbox_attach(sandbox, &why);
	if (!*ret_error)
		*ret_error = -attached;
	if (failure_is_ours(-*ret_error) || *ret_error == EUSERS || *ret_error == ETIMEDOUT)
		return err_set(err, *ret_error, "cannot unmount and mount: %s", why.text);
	return copied;
}

int disk_write(struct disk *disk, struct sandbox *sandbox, const char *path, struct err *err)
{
	struct err why = { 0 };
	bool detached = sandbox_alive(sandbox) && !sandbox_detach(sandbox, &why);
	int ret = image_write(&disk->image, path, err);

	return ret || !detached ? ret : sandbox_attach(sandbox, err);
}
