/* xattr.c -- extended attributes; access control lists and file capabilities, which are some. */
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "op/acl.h"
#include "op/capability.h"
#include "syscall/caller.h"

SYSCALL(setxattr)
{
	struct room value = room_of_data(self, &c->setxattr.value, c->setxattr.size.num);

	answer_none(ret, syscall(SYS_setxattr, plain_path(self, &c->setxattr.path),
				 c->setxattr.name.text, value.at, value.count,
				 (int)c->setxattr.flags.num));
	room_drop(&value);
}

SYSCALL(lsetxattr)
{
	struct room value = room_of_data(self, &c->lsetxattr.value, c->lsetxattr.size.num);

	answer_none(ret, syscall(SYS_lsetxattr, plain_path(self, &c->lsetxattr.path),
				 c->lsetxattr.name.text, value.at, value.count,
				 (int)c->lsetxattr.flags.num));
	room_drop(&value);
}

SYSCALL(fsetxattr)
{
	struct room value = room_of_data(self, &c->fsetxattr.value, c->fsetxattr.size.num);

	answer_none(ret,
		    syscall(SYS_fsetxattr, fd_real(self, &c->fsetxattr.fd), c->fsetxattr.name.text,
			    value.at, value.count, (int)c->fsetxattr.flags.num));
	room_drop(&value);
}

/* Where only the size was asked for, that is all there is. */
static void answer_value(struct caller *self, struct outcome *ret, long result, struct room *room)
{
	if (room->count)
		answer_bytes(self, ret, result, room);
	else
		answer_num(ret, result);
}

SYSCALL(getxattr)
{
	struct room room = room_take(self, c->getxattr.size.num);

	answer_value(self, ret,
		     syscall(SYS_getxattr, plain_path(self, &c->getxattr.path),
			     c->getxattr.name.text, room.at, room.count),
		     &room);
}

SYSCALL(lgetxattr)
{
	struct room room = room_take(self, c->lgetxattr.size.num);

	answer_value(self, ret,
		     syscall(SYS_lgetxattr, plain_path(self, &c->lgetxattr.path),
			     c->lgetxattr.name.text, room.at, room.count),
		     &room);
}

SYSCALL(fgetxattr)
{
	struct room room = room_take(self, c->fgetxattr.size.num);

	answer_value(self, ret,
		     syscall(SYS_fgetxattr, fd_real(self, &c->fgetxattr.fd), c->fgetxattr.name.text,
			     room.at, room.count),
		     &room);
}

static void answer_names(struct caller *self, struct outcome *ret, long result, struct room *room)
{
	answer_value(self, ret, result, room);
	if (ret->len && ret->len <= XATTR_LIST_MAX)
		sort_names(self, ret->len);
}

SYSCALL(listxattr)
{
	struct room room = room_take(self, c->listxattr.size.num);

	answer_names(self, ret,
		     syscall(SYS_listxattr, plain_path(self, &c->listxattr.path), room.at,
			     room.count),
		     &room);
}

SYSCALL(llistxattr)
{
	struct room room = room_take(self, c->llistxattr.size.num);

	answer_names(self, ret,
		     syscall(SYS_llistxattr, plain_path(self, &c->llistxattr.path), room.at,
			     room.count),
		     &room);
}

SYSCALL(flistxattr)
{
	struct room room = room_take(self, c->flistxattr.size.num);

	answer_names(self, ret,
		     syscall(SYS_flistxattr, fd_real(self, &c->flistxattr.fd), room.at, room.count),
		     &room);
}

SYSCALL(removexattr)
{
	answer_none(ret, syscall(SYS_removexattr, plain_path(self, &c->removexattr.path),
				 c->removexattr.name.text));
}

SYSCALL(lremovexattr)
{
	answer_none(ret, syscall(SYS_lremovexattr, plain_path(self, &c->lremovexattr.path),
				 c->lremovexattr.name.text));
}

SYSCALL(fremovexattr)
{
	answer_none(ret, syscall(SYS_fremovexattr, fd_real(self, &c->fremovexattr.fd),
				 c->fremovexattr.name.text));
}

SYSCALL(set_acl)
{
	char value[BYTES_OF_ACL_MAX];
	struct acl acl;

	acl_from_text(c->set_acl.acl.text ? c->set_acl.acl.text : "", &acl);
	answer_none(ret, syscall(SYS_setxattr, plain_path(self, &c->set_acl.path),
				 acl_attribute(c->set_acl.type.num), value,
				 acl_to_value(&acl, value), 0L));
}

SYSCALL(set_capabilities)
{
	const char *text = c->set_capabilities.capabilities.text;
	char value[BYTES_OF_CAPABILITY];

	capability_to_value(text ? text : "", value);
	answer_none(ret, syscall(SYS_setxattr, plain_path(self, &c->set_capabilities.path),
				 NAME_OF_CAPABILITY, value, sizeof(value), 0L));
}
