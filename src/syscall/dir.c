/* dir.c -- directory streams, one name per call; the process's own directory and mask.
 *
 * The library's streams would allocate and hide what the kernel says; these read entries as the
 * file system hands them out, "." and ".." included. */
#include <dirent.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/must.h"
#include "syscall/caller.h"

/* A stream the script does not have is this one, and the kernel says EBADF. */
static struct caller_stream no_stream = { .fd = -1 };

static struct caller_stream *stream_of(struct caller *self, const struct arg *dh)
{
	return dh->num >= 1 && dh->num <= SYSCALL_STREAMS_MAX ? &self->streams[dh->num - 1]
							      : &no_stream;
}

SYSCALL(opendir)
{
	struct caller_stream *s = self->streams;

	while (s < self->streams + SYSCALL_STREAMS_MAX && s->fd >= 0)
		s++;
	if (s == self->streams + SYSCALL_STREAMS_MAX) {
		ret->error = EMFILE;
		return;
	}
	s->fd = open_at(at_cwd(self, &c->opendir.path),
			O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, 0);
	s->at = s->end = s->read = 0;
	answer_num(ret, s->fd < 0 ? -1 : s - self->streams + 1);
}

/* Fills an exhausted stream; false at the end of the directory and on errors. */
static bool refill(struct caller_stream *s, char *entries, struct outcome *ret)
{
	long n = syscall(SYS_getdents64, s->fd, entries, STREAM_BYTES);

	if (n < 0)
		ret->error = errno;
	ret->end = !n;
	s->at = 0;
	s->end = n > 0 ? (uint32_t)n : 0;
	return n > 0;
}

SYSCALL(readdir)
{
	struct caller_stream *s = stream_of(self, &c->readdir.dh);
	char *entries = s == &no_stream ? NULL : self->entries[s - self->streams];
	const struct dirent64 *entry;

	if (s->at == s->end && !refill(s, entries, ret))
		return;
	must(entries);
	entry = (const struct dirent64 *)(entries + s->at);
	s->at += entry->d_reclen;
	if (++s->read < POSITION_MAX)
		self->positions[s - self->streams][s->read] = entry->d_off;
	ret->bytes = entry->d_name;
	ret->len = strnlen(entry->d_name, entry->d_reclen - offsetof(struct dirent64, d_name));
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Adds the names of what getdents64 gave to the list at the start of the buffer. Returns its length
 * now, 0 if there is no room. */
static size_t list_add(struct caller *self, size_t len, const char *entries, long size)
{
	const struct dirent64 *entry;

	for (long at = 0; at < size; at += entry->d_reclen) {
		entry = (const struct dirent64 *)(entries + at);
		if (is_dots(entry->d_name))
			continue;
		if (len + strlen(entry->d_name) >= SYSCALL_NAMES_MAX)
			return 0;
		len = (size_t)(stpcpy(self->buffer + len, entry->d_name) + 1 - self->buffer);
	}
	return len;
}

static void list_names(struct caller *self, int fd, struct outcome *ret)
{
	struct room room = room_take(self, SYSCALL_NAMES_MAX + STREAM_BYTES);
	char *entries = room.at + SYSCALL_NAMES_MAX;
	size_t len = 0;
	long n;

	while ((n = syscall(SYS_getdents64, fd, entries, STREAM_BYTES)) > 0) {
		size_t more = list_add(self, len, entries, n);

		if (more < len) {
			ret->error = E2BIG;
			return;
		}
		len = more;
	}
	sort_names(self, len);
	answer_bytes(self, ret, n < 0 ? n : (long)len, &room);
}

SYSCALL(list_dir)
{
	int fd = open_at(at_cwd(self, &c->list_dir.path),
			 O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, 0);

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	list_names(self, fd, ret);
	if (close(fd) && !ret->error)
		ret->error = errno;
}

SYSCALL(rewinddir)
{
	struct caller_stream *s = stream_of(self, &c->rewinddir.dh);

	answer_none(ret, lseek(s->fd, 0, SEEK_SET));
	s->at = s->end = s->read = 0;
}

/* A position that no telldir gave is -1, and the kernel says EINVAL. The first is 0, as at opendir.
 */
SYSCALL(seekdir)
{
	struct caller_stream *s = stream_of(self, &c->seekdir.dh);
	int64_t position = c->seekdir.position.num, read = position > 0 ? position - 1 : -1;
	off_t to = read ? -1 : 0;

	if (s != &no_stream && read > 0 && read <= s->read && read < POSITION_MAX)
		to = self->positions[s - self->streams][read];
	answer_none(ret, lseek(s->fd, to, SEEK_SET));
	if (ret->error)
		return;
	s->at = s->end = 0;
	s->read = (uint32_t)read;
}

SYSCALL(closedir)
{
	struct caller_stream *s = stream_of(self, &c->closedir.dh);

	answer_none(ret, close(s->fd));
	s->fd = -1;
	s->at = s->end = s->read = 0;
}

/* Rerooted, the process remembers where it is: paths may take it away for one call. */
static void arrived(struct caller *self)
{
	if (!self->rerooted)
		return;
	close(self->cwd_fd);
	self->cwd_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	self->away = false;
}

SYSCALL(chdir)
{
	answer_none(ret, syscall(SYS_chdir, plain_path(self, &c->chdir.path)));
	if (!ret->error)
		arrived(self);
}

SYSCALL(fchdir)
{
	answer_none(ret, fchdir(fd_real(self, &c->fchdir.fd)));
	if (!ret->error)
		arrived(self);
}

SYSCALL(umask)
{
	ret->num = umask((mode_t)c->umask.mask.num);
}
