/* handle.c -- file handles: taken by a path, opened by their bytes. */
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall/caller.h"
#include "syscall/taken.h"

SYSCALL(take_handle)
{
	struct at at = at_cwd(self, &c->take_handle.path);
	union taken_handle taken = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;

	answer_none(ret, syscall(SYS_name_to_handle_at, at.dirfd, at.path, &taken, &mount_id, 0));
	if (!ret->error)
		*handle_taken(c->take_handle.handle.num) = taken;
}

SYSCALL(open_handle)
{
	int fd = fd_free(self);

	if (fd < 0)
		ret->error = EMFILE;
	else
		answer_fd(self, ret, fd,
			  syscall(SYS_open_by_handle_at, self->root_fd,
				  handle_taken(c->open_handle.handle.num),
				  open_flags(c->open_handle.flags.num)));
}
