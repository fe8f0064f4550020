/* native_write.c -- writes our own dialect. */
#include <sys/stat.h>

#include "base/put.h"
#include "op/kind.h"
#include "trace/dialect.h"

static void native_put_pid(struct buf *out, uint16_t pid)
{
	buf_addch(out, '[');
	buf_addu(out, pid);
	put_literal(out, "] ");
}

void native_print_call(const struct call *c, struct buf *out)
{
	const struct op_info *info = &op_table[c->op];
	unsigned args = info->args;

	if (c->pid != 1)
		native_put_pid(out, c->pid);
	if (op_last_optional(c->op) && c->arg[args - 1].num == MODE_ABSENT)
		args--;
	buf_adds(out, info->name);
	buf_addch(out, '(');
	for (unsigned i = 0; i < args; i++) {
		if (i)
			put_literal(out, ", ");
		arg_print(&c->arg[i], info->arg[i].kind, out);
	}
	buf_addch(out, ')');
}

static void native_put_fields(struct buf *out, const struct stat_field *fields, const void *record)
{
	const char *separator = out->data[out->len - 1] == '{' ? "" : " ";
	int64_t value;

	for (; fields->name; fields++) {
		value = field_get(record, fields);
		if (value == STAT_UNKNOWN)
			continue;
		buf_adds(out, separator);
		buf_adds(out, fields->name);
		buf_addch(out, '=');
		put_num(out, value);
		separator = " ";
	}
}

static void native_put_stat(struct buf *out, const struct stat_result *st)
{
	const struct file_type *type = file_types;

	while (type->name && type->mode != (st->mode & S_IFMT))
		type++;
	put_literal(out, "{type=");
	if (type->name)
		buf_adds(out, type->name);
	else
		num_print(st->mode & S_IFMT, KIND_MODE, out);
	if (!(st->mode & STAT_TYPE_ONLY)) {
		put_literal(out, " mode=");
		num_print(st->mode & ~(uint32_t)S_IFMT, KIND_MODE, out);
	}
	native_put_fields(out, stat_fields, st);
	buf_addch(out, '}');
}

static void native_put_statfs(struct buf *out, const struct statfs_result *st)
{
	buf_addch(out, '{');
	native_put_fields(out, statfs_fields, st);
	buf_addch(out, '}');
}

/* Of bytes or names only the number was asked for, as by listxattr with a size of 0. */
static bool native_is_length(const struct outcome *o)
{
	return (o->result == RESULT_BYTES || o->result == RESULT_NAMES) && !o->len && o->num > 0;
}

void native_print_outcome(const struct outcome *o, enum op op, struct buf *out)
{
	if (o->error) {
		buf_adds(out, errno_name(o->error));
		return;
	}
	if (native_is_length(o)) {
		put_num(out, o->num);
		return;
	}
	switch (o->result) {
	case RESULT_NONE:
		buf_addch(out, '0');
		break;
	case RESULT_NUM:
	case RESULT_FD:
		if (op == OP_get_inode_flags)
			num_print(o->num, KIND_INODE_FLAGS, out);
		else
			put_num(out, o->num);
		break;
	case RESULT_PERM:
		num_print(o->num, KIND_MODE, out);
		break;
	case RESULT_NAME:
		if (o->end) {
			put_literal(out, "end");
			break;
		}
		/* fallthrough */
	case RESULT_BYTES:
	case RESULT_TARGET:
		put_quoted(out, o->bytes, o->len);
		break;
	case RESULT_NAMES:
		write_names(o, ", ", out);
		break;
	case RESULT_STAT:
		native_put_stat(out, &o->stat);
		break;
	case RESULT_STATFS:
		native_put_statfs(out, &o->statfs);
		break;
	}
}

static void native_put_return(struct buf *out, const struct item_return *ret, enum op op)
{
	put_literal(out, "= ");
	for (size_t i = 0; i < ret->count; i++) {
		if (i)
			put_literal(out, " or ");
		native_print_outcome(&ret->outcomes[i], op, out);
	}
	if (ret->any_success)
		buf_adds(out, ret->count ? " or -" : "-");
	buf_addch(out, '\n');
}

/* Internal steps are not written: here a return says that its call was done. */
static const struct item *native_next_item(const struct script *s, size_t *i)
{
	while (*i < s->count && s->items[*i].type == ITEM_TAU)
		++*i;
	return *i < s->count ? &s->items[(*i)++] : NULL;
}

void native_write(const struct script *s, struct buf *out)
{
	uint16_t last_op[SCRIPT_PID_MAX + 1] = { 0 };
	const struct item *item, *call = NULL;

	for (size_t i = 0; (item = native_next_item(s, &i));
	     call = item->type == ITEM_CALL ? item : NULL) {
		if (call)
			buf_addch(out,
				  item->type == ITEM_RETURN && item->pid == call->pid ? ' ' : '\n');
		switch (item->type) {
		case ITEM_CALL:
			native_print_call(&item->call, out);
			last_op[item->pid] = item->call.op;
			break;
		case ITEM_RETURN:
			if (!call || call->pid != item->pid)
				native_put_pid(out, item->pid);
			native_put_return(out, &item->ret, last_op[item->pid]);
			break;
		default:
			write_plain_item(item, out);
		}
	}
	if (call)
		buf_addch(out, '\n');
}
