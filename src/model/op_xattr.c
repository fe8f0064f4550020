/* op_xattr.c -- extended attributes, file capabilities among them: set, get, list, remove. */
#include "model/acl.h"
#include "model/attr.h"
#include "model/io.h"

#include <linux/limits.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "op/capability.h"

enum { ENTRY_BYTES = 32 }; /* what file systems need for an attribute besides name and value */

enum space { SPACE_USER, SPACE_TRUSTED, SPACE_SECURITY, SPACE_SYSTEM, SPACE_NONE };

static const char *const prefixes[] = {
	[SPACE_USER] = "user.",
	[SPACE_TRUSTED] = "trusted.",
	[SPACE_SECURITY] = "security.",
	[SPACE_SYSTEM] = "system.",
};

static enum space xattr_space_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return (enum space)i;
	return SPACE_NONE;
}

/* Which object a call means: by a path, followed or not, or by a descriptor. */
enum by { BY_PATH, BY_LINK, BY_FD };

static const struct inode *need_by(struct step *x, enum by by)
{
	const struct arg *arg = &x->call->arg[0];

	if (by == BY_FD)
		return need_open_object(x, arg, false);
	return need_object(x, AT_FDCWD, arg, by == BY_PATH ? WALK_FOLLOW : WALK_KEEP_SLASH);
}

/* What a call is given besides the object; value, size and flags are those to set. */
struct arguments {
	const struct arg *name, *value;
	int64_t size, flags;
};

/* What is wrong with them, whatever the object is. */
static void check_arguments(struct step *x, const struct arguments *a,
			    bool (*refuse_by)(struct step *x, enum rule rule))
{
	if (a->flags & ~(int64_t)(XATTR_CREATE | XATTR_REPLACE))
		refuse_by(x, RULE_xattr_flags);
	if (!a->name->text)
		refuse_by(x, RULE_xattr_name_null);
	else if (!a->name->len || a->name->len > XATTR_NAME_MAX)
		refuse_by(x, RULE_xattr_name_length);
	if (a->size < 0 || a->size > XATTR_SIZE_MAX)
		refuse_by(x, RULE_xattr_too_large);
}

/* The object of a call whose arguments are right. Linux looks for it last now, and did so first
 * once; where calls that change something are given a path, stable kernels differ. */
static const struct inode *need_by_and_arguments(struct step *x, enum by by, bool change,
						 const struct arguments *a)
{
	bool change_by_path = change && by != BY_FD;
	const struct inode *inode;

	if (holds(x, change_by_path ? RULE_xattr_path_last : RULE_xattr_object_last))
		check_arguments(x, a, refuse);
	else if (change_by_path)
		check_arguments(x, a, may_refuse);
	inode = need_by(x, by);
	check_arguments(x, a, refuse);
	return refused(x) || !a->name->text || (uint64_t)a->size > XATTR_SIZE_MAX ? NULL : inode;
}

/* Is this the attribute of an access control list, and are they modelled? */
static bool is_acl(const struct step *x, const char *name)
{
	const struct traits *traits = &x->model->traits;

	return (!strcmp(name, NAME_OF_ACCESS_ACL) || !strcmp(name, NAME_OF_DEFAULT_ACL)) &&
	       !traits->no_acl && !traits->no_xattr && !traits->one_user;
}

static bool is_capability(const char *name)
{
	return !strcmp(name, NAME_OF_CAPABILITY);
}

/* A known namespace, and a name after its prefix. What is set for access control lists has a
 * format, which set_acl knows. In a user namespace capabilities have an owner. */
static bool refuse_xattr_space(struct step *x, const char *name)
{
	enum space space = xattr_space_of(name);

	if (!strncmp(name, "system.posix_acl_", 17) ||
	    (is_capability(name) && x->model->traits.one_user))
		return leave_undefined(x, RULE_xattr_formats);
	if (x->model->traits.no_xattr || (space == SPACE_USER && x->model->traits.no_user_xattr))
		return refuse_unsupported(x, RULE_xattr_space);
	if (x->model->traits.own_xattrs &&
	    (space == SPACE_NONE || space == SPACE_SYSTEM || !name[strlen(prefixes[space])]))
		return leave_undefined(x, RULE_xattr_own);
	if (space == SPACE_NONE || space == SPACE_SYSTEM)
		return refuse(x, RULE_xattr_space);
	if (!name[strlen(prefixes[space])])
		return refuse(x, RULE_xattr_name_bare);
	return false;
}

static void check_change(struct step *x, const struct inode *inode, const char *name)
{
	enum space space = xattr_space_of(name);
	bool plain = S_ISREG(inode->mode) || S_ISDIR(inode->mode);
	bool sticky = S_ISDIR(inode->mode) && inode->mode & S_ISVTX;

	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_attr_immutable);
	/* What is trusted takes the capabilities away when it has changed the file. */
	if ((space == SPACE_TRUSTED && !is_machine_root(x)) ||
	    (space == SPACE_SECURITY && !is_root(x) &&
	     !(x->process->trusted && is_capability(name))))
		refuse(x, RULE_xattr_privilege);
	/* A daemon without the privilege passes on the error of the file system below it. */
	else if (space == SPACE_SECURITY && x->model->traits.one_user &&
		 x->model->traits.times_cached)
		may_refuse(x, RULE_xattr_privilege);
	if (space == SPACE_USER && !plain)
		refuse(x, RULE_xattr_user_kind);
	if (space == SPACE_USER && sticky && !is_owner(x, inode))
		refuse(x, RULE_xattr_user_sticky);
	if (space == SPACE_USER || space == SPACE_NONE)
		refuse_denied(x, inode, MAY_WRITE, RULE_xattr_denied);
}

static void check_look(struct step *x, const struct inode *inode, const char *name)
{
	enum space space = xattr_space_of(name);

	if (space == SPACE_TRUSTED && !is_machine_root(x))
		refuse(x, RULE_xattr_hidden);
	if (space == SPACE_USER && !S_ISREG(inode->mode) && !S_ISDIR(inode->mode))
		refuse(x, RULE_xattr_hidden);
	if ((space == SPACE_USER || space == SPACE_NONE) && !may_access(x, inode, MAY_READ))
		refuse(x, RULE_xattr_denied);
}

/* Bytes that the attributes of an inode take up, but for the one of that name. */
static uint64_t bytes_of_others(const struct inode *inode, const char *name)
{
	const struct xattr *attribute;
	uint64_t cookie = 0, sum = 0;

	while ((attribute = tree_next_xattr(inode, &cookie)))
		if (strcmp(attribute->bytes, name))
			sum += attribute->name_len + attribute->value_len + ENTRY_BYTES;
	return sum;
}

static void check_space(struct step *x, const struct inode *inode, const char *name, uint64_t size)
{
	uint64_t sum = bytes_of_others(inode, name) + strlen(name) + size + ENTRY_BYTES;

	if (sum <= x->model->traits.xattr_space)
		return;
	may_refuse(x, RULE_xattr_full);
	may_refuse(x, RULE_xattr_full_large);
}

/* Bytes that are no capabilities are refused first, also to users without privilege. */
static void check_capability(struct step *x, const struct arguments *a)
{
	char bytes[BYTES_OF_CAPABILITY + sizeof(uint32_t)] = { 0 };
	size_t size = (size_t)a->size;

	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	/* The kernel checks no privilege before it sets an empty value. */
	if (!size) {
		leave_open(x, RULE_xattr_formats);
		return;
	}
	data_bytes(a->value, 0, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
	switch (capability_form_of(bytes, size)) {
	case CAPABILITY_PLAIN:
		return;
	case CAPABILITY_OF_ROOT:
		leave_undefined(x, RULE_xattr_formats);
		return;
	case CAPABILITY_NONE:
		refuse(x, RULE_capability_invalid);
		return;
	}
}

static void put_xattr_value(struct step *x, uint64_t ino, const char *name, const struct arg *value,
			    size_t size)
{
	const struct xattr *old = tree_xattr(tree_inode(&x->state->tree, ino), name);
	char bytes[XATTR_SIZE_MAX];

	data_bytes(value, 0, bytes, size);
	/* Nothing changes, and ext4_xattr_set_handle() returns early. */
	if (old && old->value_len == size && !memcmp(old->bytes + old->name_len + 1, bytes, size))
		may_touch(x, ino, TIME_BIT_CHANGE);
	tree_set_xattr(&x->state->tree, ino, name, bytes, size);
	touch_change(x, ino);
}

static void set_value(struct step *x, enum by by, const struct arguments *a)
{
	const struct inode *inode;
	const char *name;
	bool there;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_by_and_arguments(x, by, true, a);
	if (!inode)
		return;
	name = a->name->text;
	/* Bytes that are no list are refused before all else. */
	if (is_acl(x, name) && leave_open(x, RULE_xattr_formats))
		return;
	if (is_capability(name))
		check_capability(x, a);
	check_change(x, inode, name);
	if (refuse_xattr_space(x, name) || refused(x))
		return;
	if ((uint64_t)a->size > x->model->traits.xattr_value_max)
		refuse(x, RULE_xattr_value_length);
	check_space(x, inode, name, (uint64_t)a->size);
	there = tree_xattr(inode, name);
	if (there && a->flags & XATTR_CREATE)
		refuse(x, RULE_xattr_exists);
	/* With both flags some file systems look only at the first. */
	if (!there && a->flags & XATTR_CREATE && a->flags & XATTR_REPLACE)
		may_refuse(x, RULE_xattr_absent);
	else if (!there && a->flags & XATTR_REPLACE)
		refuse(x, RULE_xattr_absent);
	if (proceed(x))
		put_xattr_value(x, inode->ino, name, a->value, (size_t)a->size);
}

static void step_set_xattr(struct step *x, enum by by)
{
	const struct arguments arguments = {
		.name = &x->call->setxattr.name,
		.value = &x->call->setxattr.value,
		.size = x->call->setxattr.size.num,
		.flags = x->call->setxattr.flags.num,
	};

	set_value(x, by, &arguments);
}

void model_set_capabilities(struct step *x)
{
	const struct arg name = { .text = NAME_OF_CAPABILITY, .len = strlen(NAME_OF_CAPABILITY) };
	const char *text = x->call->set_capabilities.capabilities.text;
	char bytes[BYTES_OF_CAPABILITY];
	const struct arg value = { .text = bytes, .len = sizeof(bytes) };
	const struct arguments arguments = { &name, &value, sizeof(bytes), 0 };

	capability_to_value(text ? text : "", bytes);
	set_value(x, BY_PATH, &arguments);
}

/* Size 0 asks how long the answer would be. */
static void give_sized(struct step *x, enum result result, const char *bytes, size_t len,
		       int64_t size)
{
	if (size > 0 && (size_t)size < len) {
		refuse(x, RULE_xattr_buffer);
		return;
	}
	if (!proceed(x))
		return;
	if (size)
		memcpy(give_bytes(x, result, len, len), bytes, len);
	else
		give_bytes(x, result, 0, 0);
	x->env->value.num = (int64_t)len;
}

static void step_get_xattr(struct step *x, enum by by)
{
	const struct arg *name = &x->call->getxattr.name;
	const struct arguments arguments = { .name = name };
	const struct xattr *attribute;
	const struct inode *inode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_by_and_arguments(x, by, false, &arguments);
	if (!inode)
		return;
	if (is_acl(x, name->text)) {
		if (S_ISLNK(inode->mode) && refuse(x, RULE_acl_symlink))
			return;
	} else {
		check_look(x, inode, name->text);
		if (refuse_xattr_space(x, name->text) || refused(x))
			return;
	}
	attribute = tree_xattr(inode, name->text);
	if (!attribute) {
		refuse(x, RULE_xattr_absent);
		return;
	}
	give_sized(x, RESULT_BYTES, attribute->bytes + attribute->name_len + 1,
		   attribute->value_len, x->call->getxattr.size.num);
}

static int by_xattr_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names the caller may see, sorted, each followed by NUL. */
static void collect_names(struct step *x, const struct inode *inode, struct buf *out)
{
	const char **names = must_alloc((inode->xattrs.count + 1) * sizeof(*names));
	const struct xattr *attribute;
	uint64_t cookie = 0;
	size_t count = 0;

	while ((attribute = tree_next_xattr(inode, &cookie)))
		if (is_machine_root(x) || xattr_space_of(attribute->bytes) != SPACE_TRUSTED ||
		    x->model->traits.lists_trusted || !holds(x, RULE_xattr_list_hides))
			names[count++] = attribute->bytes;
	qsort(names, count, sizeof(*names), by_xattr_name);
	for (size_t i = 0; i < count; i++)
		buf_add(out, names[i], strlen(names[i]) + 1);
	free(names);
}

/* Are there names in the list that the tree does not have? */
static bool lists_more(const struct step *x, const struct inode *inode)
{
	return x->model->traits.lists_acl_twice && is_machine_root(x) &&
	       (tree_xattr(inode, NAME_OF_ACCESS_ACL) || tree_xattr(inode, NAME_OF_DEFAULT_ACL));
}

static void step_list_xattrs(struct step *x, enum by by)
{
	struct buf names = BUF_INIT;
	const struct inode *inode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_by(x, by);
	if (!inode)
		return;
	if ((x->model->traits.own_xattrs || lists_more(x, inode)) &&
	    leave_undefined(x, RULE_xattr_own))
		return;
	if (x->model->traits.no_xattr)
		may_refuse_unsupported(x, RULE_xattr_space);
	collect_names(x, inode, &names);
	give_sized(x, RESULT_NAMES, buf_str(&names), names.len, x->call->listxattr.size.num);
	buf_free(&names);
}

static void remove_value(struct step *x, enum by by)
{
	static const struct acl none = { 0 };
	const struct arg *name = &x->call->removexattr.name;
	const struct arguments arguments = { .name = name };
	const struct inode *inode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_by_and_arguments(x, by, true, &arguments);
	if (!inode)
		return;
	if (is_acl(x, name->text)) {
		change_acl(x, inode, !strcmp(name->text, NAME_OF_DEFAULT_ACL), &none);
		return;
	}
	check_change(x, inode, name->text);
	if (refuse_xattr_space(x, name->text) || refused(x))
		return;
	if (!tree_xattr(inode, name->text))
		refuse(x, RULE_xattr_absent);
	if (!proceed(x))
		return;
	tree_remove_xattr(&x->state->tree, inode->ino, name->text);
	touch_change(x, inode->ino);
}

void model_setxattr(struct step *x)
{
	step_set_xattr(x, BY_PATH);
}

void model_lsetxattr(struct step *x)
{
	step_set_xattr(x, BY_LINK);
}

void model_fsetxattr(struct step *x)
{
	step_set_xattr(x, BY_FD);
}

void model_getxattr(struct step *x)
{
	step_get_xattr(x, BY_PATH);
}

void model_lgetxattr(struct step *x)
{
	step_get_xattr(x, BY_LINK);
}

void model_fgetxattr(struct step *x)
{
	step_get_xattr(x, BY_FD);
}

void model_listxattr(struct step *x)
{
	step_list_xattrs(x, BY_PATH);
}

void model_llistxattr(struct step *x)
{
	step_list_xattrs(x, BY_LINK);
}

void model_flistxattr(struct step *x)
{
	step_list_xattrs(x, BY_FD);
}

void model_removexattr(struct step *x)
{
	remove_value(x, BY_PATH);
}

void model_lremovexattr(struct step *x)
{
	remove_value(x, BY_LINK);
}

void model_fremovexattr(struct step *x)
{
	remove_value(x, BY_FD);
}
