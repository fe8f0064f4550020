/* ace_need.c -- what an operation depends on: descriptors, names that exist or do not, data. */
#include "crash/ace_need.h"

#include <fcntl.h>
#include <string.h>

#include "base/arena.h"
#include "base/must.h"

const char ace_xattr_name[] = "user.ace";

struct arg ace_num(int64_t num)
{
	return (struct arg){ .num = num };
}

struct arg ace_text(struct ace_builder *b, const char *text)
{
	return (struct arg){ .text = arena_strdup(b->arena, text), .len = (uint32_t)strlen(text) };
}

struct call *ace_calls_add(struct ace_calls *list, enum op op)
{
	struct call *call;

	must(list->count < list->cap);
	call = &list->calls[list->count++];
	*call = (struct call){ .op = (uint16_t)op, .pid = 1 };
	return call;
}

struct call *ace_run_add(struct ace_builder *b, enum op op)
{
	return ace_calls_add(&b->run, op);
}

void ace_add_mkdir(struct ace_builder *b, struct ace_calls *list, const char *path, int64_t mode)
{
	struct call *call = ace_calls_add(list, OP_mkdir);

	call->mkdir.path = ace_text(b, path);
	call->mkdir.mode = ace_num(mode);
}

struct ace_file *ace_file_of(struct ace_builder *b, const struct ace_name *name)
{
	return &b->files.files[name->file];
}

void ace_fd_open(struct ace_builder *b, struct ace_name *name, int64_t flags, int64_t mode)
{
	struct call *call = ace_run_add(b, OP_open);

	call->open.path = ace_text(b, name->path);
	call->open.flags = ace_num(flags);
	call->open.mode = ace_num(mode);
	name->fd = files_open_fd(&b->files);
}

void ace_fd_close(struct ace_builder *b, int fd)
{
	ace_run_add(b, OP_close)->close.fd = ace_num(fd);
	b->files.fd_is_open[fd] = false;
}

void ace_name_close(struct ace_builder *b, struct ace_name *name)
{
	if (name->fd != ACE_FD_NONE)
		ace_fd_close(b, name->fd);
	name->fd = ACE_FD_NONE;
}

int64_t ace_name_fd(struct ace_builder *b, struct ace_name *name)
{
	if (name->fd == ACE_FD_NONE) {
		ace_fd_open(b, name, name->is_dir ? OPEN_RDONLY | O_DIRECTORY : O_RDWR,
			    MODE_ABSENT);
		name->flags = 0;
	}
	return name->fd;
}

void ace_name_reopen(struct ace_builder *b, struct ace_name *name, int64_t flags)
{
	if (name->fd != ACE_FD_NONE && name->flags == flags)
		return;
	ace_name_close(b, name);
	ace_fd_open(b, name, O_RDWR | flags, MODE_ABSENT);
	name->flags = flags;
	if (flags & O_TRUNC)
		ace_file_of(b, name)->size = 0;
}

/* Can it be made by the setup, as if it had been there all the time? */
static bool can_precede(struct ace_builder *b, const char *path)
{
	char above[ACE_PATH_BYTES];
	const struct ace_name *dir;

	if (b->in_place || files_had(&b->files, path))
		return false;
	files_parent(path, above);
	dir = files_find(&b->files, above);
	return dir ? dir->in_setup : can_precede(b, above);
}

struct ace_name *ace_need_dir(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);
	char above[ACE_PATH_BYTES];
	bool precedes;

	if (name)
		return name;
	precedes = can_precede(b, path);
	files_parent(path, above);
	ace_need_dir(b, above);
	ace_add_mkdir(b, precedes ? &b->setup : &b->run, path, ACE_DIR_MODE);
	name = files_add_dir(&b->files, path);
	name->in_setup = precedes;
	return name;
}

void ace_need_parent(struct ace_builder *b, const char *path)
{
	char above[ACE_PATH_BYTES];

	files_parent(path, above);
	ace_need_dir(b, above);
}

struct ace_name *ace_need_file(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);
	bool precedes;
	struct call *call;

	if (name)
		return name;
	precedes = can_precede(b, path);
	ace_need_parent(b, path);
	name = files_add_file(&b->files, path);
	name->in_setup = precedes;
	if (!precedes) {
		ace_fd_open(b, name, O_RDWR | O_CREAT, ACE_FILE_MODE);
		return name;
	}
	call = ace_calls_add(&b->setup, OP_create_file);
	call->create_file.path = ace_text(b, path);
	call->create_file.flags = ace_num(O_CREAT | O_WRONLY);
	call->create_file.mode = ace_num(ACE_FILE_MODE);
	return name;
}

/* Is it still as the setup has made it, so that the setup can change it? */
static bool is_of_setup(struct ace_builder *b, const struct ace_name *name)
{
	return name->in_setup && !ace_file_of(b, name)->used;
}

void ace_need_data(struct ace_builder *b, struct ace_name *name, uint64_t size)
{
	struct ace_file *file = ace_file_of(b, name);
	uint64_t length = values_filling(b->values);
	struct call *call;

	if (file->size >= size)
		return;
	if (is_of_setup(b, name)) {
		call = ace_calls_add(&b->setup, OP_write_file);
		call->write_file.path = ace_text(b, name->path);
		call->write_file.flags = ace_num(O_WRONLY);
		call->write_file.data = values_data(b->values, length);
		call->write_file.count = ace_num((int64_t)length);
		call->write_file.offset = ace_num((int64_t)file->size);
	} else {
		int64_t fd = ace_name_fd(b, name);

		call = ace_run_add(b, OP_pwrite);
		call->pwrite.fd = ace_num(fd);
		call->pwrite.data = values_data(b->values, length);
		call->pwrite.count = ace_num((int64_t)length);
		call->pwrite.offset = ace_num((int64_t)file->size);
	}
	file->size += length;
}

void ace_set_xattr(struct ace_builder *b, struct ace_name *name)
{
	int64_t fd = ace_name_fd(b, name);
	struct call *call = ace_run_add(b, OP_fsetxattr);

	call->fsetxattr.fd = ace_num(fd);
	call->fsetxattr.name = ace_text(b, ace_xattr_name);
	call->fsetxattr.value = values_xattr(b->values);
	call->fsetxattr.size = ace_num(call->fsetxattr.value.len);
	ace_file_of(b, name)->has_xattr = true;
}

void ace_need_xattr(struct ace_builder *b, struct ace_name *name)
{
	struct call *call;

	if (ace_file_of(b, name)->has_xattr)
		return;
	if (!is_of_setup(b, name)) {
		ace_set_xattr(b, name);
		return;
	}
	call = ace_calls_add(&b->setup, OP_setxattr);
	call->setxattr.path = ace_text(b, name->path);
	call->setxattr.name = ace_text(b, ace_xattr_name);
	call->setxattr.value = values_xattr(b->values);
	call->setxattr.size = ace_num(call->setxattr.value.len);
	ace_file_of(b, name)->has_xattr = true;
}

void ace_name_remove(struct ace_builder *b, struct ace_name *name)
{
	ace_name_close(b, name);
	ace_run_add(b, name->is_dir ? OP_rmdir : OP_unlink)->arg[0] = ace_text(b, name->path);
	name->exists = false;
}

void ace_need_empty(struct ace_builder *b, const char *dir)
{
	struct ace_name *name;

	while ((name = files_last_inside(&b->files, dir)))
		ace_name_remove(b, name);
}

void ace_need_absent(struct ace_builder *b, const char *path)
{
	struct ace_name *name = files_find(&b->files, path);

	ace_need_parent(b, path);
	if (!name)
		return;
	if (name->is_dir)
		ace_need_empty(b, path);
	ace_name_remove(b, name);
}
