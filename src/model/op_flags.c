/* op_flags.c -- immutable and append-only: FS_IOC_GETFLAGS, FS_IOC_SETFLAGS. */
#include "model/attr.h"
#include "model/io.h"

static const uint32_t known = FS_IMMUTABLE_FL | FS_APPEND_FL;

static bool refuse_kind(struct step *x, const struct inode *inode)
{
	if (x->model->traits.no_inode_flags)
		return refuse_unsupported(x, RULE_inode_flags_unsupported);
	if (is_special(inode))
		may_refuse(x, RULE_inode_flags_unsupported);
	return false;
}

void model_set_inode_flags(struct step *x)
{
	uint32_t flags = (uint32_t)x->call->set_inode_flags.flags.num & known;
	const struct inode *inode;
	struct inode *edited;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_open_object(x, &x->call->set_inode_flags.fd, false);
	if (!inode || refuse_kind(x, inode))
		return;
	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	if (!is_owner(x, inode))
		refuse(x, RULE_inode_flags_owner);
	if ((flags ^ inode->flags) & known && !is_machine_root(x))
		refuse(x, RULE_inode_flags_privilege);
	if (!proceed(x))
		return;
	edited = tree_edit(&x->state->tree, inode->ino);
	edited->flags = (edited->flags & ~known) | flags;
	touch_change(x, edited->ino);
}

void model_get_inode_flags(struct step *x)
{
	const struct inode *inode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_open_object(x, &x->call->get_inode_flags.fd, false);
	if (!inode || refuse_kind(x, inode))
		return;
	if (proceed(x))
		give_num(x, RESULT_NUM, inode->flags & known);
}
