/* published_write.c -- writes the published dialect. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/put.h"
#include "op/kind.h"
#include "trace/published.h"

static void published_put_tagged(struct buf *out, const char *tag, int64_t num)
{
	buf_addch(out, '(');
	buf_adds(out, tag);
	buf_addch(out, ' ');
	put_num(out, num);
	buf_addch(out, ')');
}

/* Names between semicolons; that language has no word for both access modes at once. */
static void published_put_flags(struct buf *out, int64_t flags)
{
	const struct kind_name *row = kind_names(KIND_OPEN_FLAGS);
	int64_t left = flags;
	const char *separator = "";

	buf_addch(out, '[');
	for (; (row = name_next(row, flags, &left)); row++) {
		buf_adds(out, separator);
		buf_adds(out, row->value == O_ACCMODE ? "O_WRONLY;O_RDWR" : row->name);
		separator = ";";
	}
	if (left) {
		buf_adds(out, separator);
		put_hex(out, (uint64_t)left);
	}
	buf_addch(out, ']');
}

static void published_put_mode(struct buf *out, int64_t mode)
{
	if (mode < 0) {
		put_num(out, mode);
		return;
	}
	put_literal(out, "0o");
	put_octal(out, (uint64_t)mode, 3);
}

static void published_put_arg(struct buf *out, const struct arg *arg, enum kind kind)
{
	const char *tag = published_tag(kind);

	if (tag)
		published_put_tagged(out, tag, arg->num);
	else if (kind == KIND_OPEN_FLAGS)
		published_put_flags(out, arg->num);
	else if (kind == KIND_MODE)
		published_put_mode(out, arg->num);
	else if (kind_table[kind]->form != FORM_NUM && !arg->generated && !arg->text)
		put_literal(out, "null");
	else
		arg_print(arg, kind, out);
}

static const char *published_op_name(enum op op)
{
	for (const struct published_name *n = published_names; n->name; n++)
		if (n->op == op)
			return n->name;
	return op_table[op].name;
}

/* Creating and destroying always name their process. */
static void published_put_pid(struct buf *out, uint16_t pid, enum op op, const char *arrow)
{
	if (pid == 1 && op != OP_create_process && op != OP_destroy_process)
		return;
	put_literal(out, "Pid ");
	buf_addu(out, pid);
	buf_adds(out, arrow);
}

void published_print_call(const struct call *c, struct buf *out)
{
	const struct op_info *info = &op_table[c->op];
	unsigned args = info->args;

	published_put_pid(out, c->pid, c->op, " -> ");
	buf_adds(out, published_op_name(c->op));
	if (op_last_optional(c->op) && c->arg[args - 1].num == MODE_ABSENT)
		args--;
	for (unsigned i = 0; i < args; i++) {
		buf_addch(out, ' ');
		published_put_arg(out, &c->arg[i], info->arg[i].kind);
	}
}

static void published_put_field(struct buf *out, const char *name, int64_t value)
{
	buf_adds(out, name);
	buf_addch(out, '=');
	put_num(out, value);
	put_literal(out, "; ");
}

static void published_put_statfs(struct buf *out, const struct statfs_result *st)
{
	put_literal(out, "RV_statfs { ");
	for (const struct stat_field *field = statfs_fields; field->name; field++)
		if (field_get(st, field) != STAT_UNKNOWN)
			published_put_field(out, field->published, field_get(st, field));
	buf_addch(out, '}');
}

/* Every field must be there, so unknown ones are 0. The order is that of published traces. */
static void published_put_stat(struct buf *out, const struct stat_result *st)
{
	const struct kind_name *type = kind_names(KIND_NODE_MODE);

	while (type->mask == S_IFMT && type->value != (st->mode & S_IFMT))
		type++;
	put_literal(out, "RV_stat { ");
#define FIELD(name) published_put_field(out, "st_" #name, st->name == STAT_UNKNOWN ? 0 : st->name)
	FIELD(dev);
	FIELD(ino);
	put_literal(out, "st_kind=");
	buf_adds(out, type->mask == S_IFMT ? type->name : "S_IFREG");
	put_literal(out, "; st_perm=");
	published_put_mode(out, st->mode & 07777);
	put_literal(out, "; ");
	FIELD(nlink);
	FIELD(uid);
	FIELD(gid);
	FIELD(rdev);
	FIELD(size);
#undef FIELD
	buf_addch(out, '}');
}

/* The name of a number without one ends in that number. */
static void published_put_error(struct buf *out, int error)
{
	const char *name = errno_name(error);
	char last = name[strlen(name) - 1];

	if (last < '0' || last > '9') {
		buf_adds(out, name);
		return;
	}
	put_literal(out, "EUNKNOWNERR(");
	put_num(out, error);
	buf_addch(out, ')');
}

void published_print_outcome(const struct outcome *o, struct buf *out)
{
	if (o->error) {
		published_put_error(out, o->error);
		return;
	}
	switch (o->result) {
	case RESULT_NONE:
		put_literal(out, "RV_none");
		break;
	case RESULT_NUM:
	case RESULT_FD:
		put_literal(out, "RV_num(");
		put_num(out, o->num);
		buf_addch(out, ')');
		break;
	case RESULT_PERM:
		put_literal(out, "RV_file_perm(");
		published_put_mode(out, o->num);
		buf_addch(out, ')');
		break;
	case RESULT_NAME:
		if (o->end) {
			put_literal(out, "RV_none");
			break;
		}
		/* fall through */
	case RESULT_BYTES:
	case RESULT_TARGET:
		put_literal(out, "RV_bytes(");
		put_quoted(out, o->bytes, o->len);
		buf_addch(out, ')');
		break;
	case RESULT_NAMES:
		write_names(o, ";", out);
		break;
	case RESULT_STAT:
		published_put_stat(out, &o->stat);
		break;
	case RESULT_STATFS:
		published_put_statfs(out, &o->statfs);
		break;
	}
}

static void published_put_return(struct buf *out, const struct item *item)
{
	const struct item_return *ret = &item->ret;
	bool set = ret->count + ret->any_success > 1;

	published_put_pid(out, item->pid, OP_COUNT, " <- ");
	if (set)
		buf_addch(out, '{');
	for (size_t i = 0; i < ret->count; i++) {
		if (i)
			buf_addch(out, ';');
		published_print_outcome(&ret->outcomes[i], out);
	}
	if (ret->any_success)
		buf_adds(out, ret->count ? ";-" : "-");
	buf_adds(out, set ? "}\n" : "\n");
}

/* Our own traces have no internal steps: the call's takes place before its return. */
void published_write(const struct script *s, struct buf *out)
{
	buf_adds(out, s->is_trace ? "@type trace\n" : "@type script\n");
	for (const struct item *item = s->items; item < s->items + s->count; item++) {
		switch (item->type) {
		case ITEM_CALL:
			published_print_call(&item->call, out);
			buf_addch(out, '\n');
			break;
		case ITEM_RETURN:
			if (s->dialect == DIALECT_NATIVE)
				put_literal(out, "Tau\n");
			published_put_return(out, item);
			break;
		case ITEM_TAU:
			put_literal(out, "Tau\n");
			break;
		default:
			write_plain_item(item, out);
		}
	}
}
